"""Calls whose replies come in pieces: SSE and streamable HTTP."""
