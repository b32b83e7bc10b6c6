"""From where a manual comes to tools that can be called, each by itself."""
