"""UTCP tools as LlamaIndex tools. The tool spec itself is not part of this version yet."""
