"""Calls of command-line tools: one shell for a template, and whatever it starts ended with it."""
