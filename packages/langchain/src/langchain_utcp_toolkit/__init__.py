"""UTCP tools as LangChain tools. The toolkit itself is not part of this version yet."""
