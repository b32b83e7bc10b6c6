"""OpenAPI documents (2.0 to 3.2) as tools: every operation, each argument at its place.

`tools_from_openapi` needs neither a network nor `utcp`:

```python
from utcp_bridge.openapi import tools_from_openapi

conversion = tools_from_openapi(document, url="https://api.example.com/openapi.json")
for tool in conversion.tools:
    print(tool.name, tool.inputs)
for operation in conversion.skipped:
    print(operation.name, operation.reason)
```
"""

from utcp_bridge.openapi.conversion import Conversion, OpenApiTool, SkippedOperation, tools_from_openapi
from utcp_bridge.openapi.nodes import NoServerError, OpenApiError
from utcp_bridge.openapi.siblings import fetch_siblings, is_inside, refused

__all__ = [
    "Conversion",
    "NoServerError",
    "OpenApiError",
    "OpenApiTool",
    "SkippedOperation",
    "fetch_siblings",
    "is_inside",
    "refused",
    "tools_from_openapi",
]
