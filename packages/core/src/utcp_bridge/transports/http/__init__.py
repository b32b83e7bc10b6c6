"""Calls of HTTP tools: requests from templates and arguments, connections that are kept, replies and their reasons."""
