"""Keeping secrets in: what is one, where it would leak, and how it is replaced."""
