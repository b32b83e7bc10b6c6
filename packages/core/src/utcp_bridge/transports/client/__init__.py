"""The UTCP client: behind a typed face, opened by us or by its user, with tools kept ready."""
