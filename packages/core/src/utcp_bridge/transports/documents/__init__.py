"""Documents as they come, over HTTP or from a file: JSON or YAML, to what JSON can say."""
