"""UTCP tools for OVOS personas, as a toolbox plugin. The toolbox itself is not part of this version yet."""
