"""UTCP's own client, objects and MCP plugin, with what they get wrong put right for our client alone."""
