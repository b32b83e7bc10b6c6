"""The parts that speak to tools: the only modules that import `utcp` and its plugins."""
