"""UTCP tools as LangChain tools.

Example:
    ```python
    from langchain.agents import create_agent
    from langchain_utcp_toolkit import load_tools

    agent = create_agent("openai:gpt-4o-mini", load_tools("utcp.json"))
    ```
"""

from langchain_utcp_toolkit.tool import UTCPArtifact, UTCPTool, UTCPToolError
from langchain_utcp_toolkit.toolkit import UTCPToolkit, aload_tools, load_tools

__all__ = ["UTCPArtifact", "UTCPTool", "UTCPToolError", "UTCPToolkit", "aload_tools", "load_tools"]
