"""UTCP tools as LlamaIndex tools.

Example:
    ```python
    from llama_index.core.agent.workflow import FunctionAgent
    from llama_index.tools.utcp import UTCPToolSpec

    agent = FunctionAgent(tools=UTCPToolSpec("utcp.json").to_tool_list(), llm=llm)
    ```
"""

from llama_index.tools.utcp.metadata import UTCPToolMetadata
from llama_index.tools.utcp.spec import UTCPToolSpec
from llama_index.tools.utcp.tool import UTCPTool, UTCPToolChunk

__all__ = ["UTCPTool", "UTCPToolChunk", "UTCPToolMetadata", "UTCPToolSpec"]
