"""The UTCP client behind a typed wrapper: the one place where `utcp` is touched.

`utcp` 1.2.0 has no `py.typed` (universal-tool-calling-protocol/python-utcp), so its types stay in here.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utcp.data.tool import JsonSchema, Tool
    from utcp.utcp_client import UtcpClient

_import_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class DiscoveredTool:
    """A tool as its manual describes it; the schemas are the author's own, as JSON Schema."""

    utcp_name: str
    description: str
    tags: tuple[str, ...]
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    http_method: str | None


class ManualRefusedError(Exception):
    """UTCP did not register a manual; the message is the reason alone, without the traceback."""


class Client:
    """An open UTCP client that holds no manual yet. Make it with `create`, end it with `close`."""

    def __init__(self, utcp_client: UtcpClient) -> None:
        self._utcp_client = utcp_client

    @classmethod
    async def create(cls, config: Mapping[str, Any]) -> Client:
        """Open a client with this UTCP client configuration, its `manual_call_templates` left aside.

        Manuals are registered one by one instead, because UTCP 1.2.0 loses the good ones of a batch
        when a variable of another is undefined.
        """
        with _import_lock, _root_logger_unchanged():
            from utcp.plugins.plugin_loader import ensure_plugins_initialized
            from utcp.utcp_client import UtcpClient

            ensure_plugins_initialized()
        without_manuals = {key: value for key, value in config.items() if key != "manual_call_templates"}
        return cls(await UtcpClient.create(config=without_manuals))

    async def register_manual(self, template: Mapping[str, Any]) -> list[DiscoveredTool]:
        """Fetch a manual and register its tools.

        Args:
            template: The manual call template, as UTCP writes it.

        Returns:
            Its tools, named `manual.tool`.

        Raises:
            ManualRefusedError: UTCP answered that it could not load the manual.
            Exception: Whatever else UTCP lets through, such as an undefined variable.
        """
        from utcp.data.call_template import CallTemplateSerializer

        result = await self._utcp_client.register_manual(CallTemplateSerializer().validate_dict(dict(template)))
        if not result.success:
            raise ManualRefusedError(_last_line("\n".join(result.errors)) or "UTCP gave no reason")
        return [_discovered(tool) for tool in result.manual.tools]

    async def call_tool(self, utcp_name: str, arguments: dict[str, Any]) -> Any:
        """Call a registered tool; returns its reply as UTCP hands it over."""
        return await self._utcp_client.call_tool(utcp_name, arguments)

    async def close(self) -> None:
        """Close the protocols that this client created."""
        await self._utcp_client.close()


@contextmanager
def _root_logger_unchanged() -> Iterator[None]:
    # See docs/decisions/0001-root-logger.md. `basicConfig` does nothing while the root logger has a handler.
    root = logging.getLogger()
    placeholder = logging.NullHandler()
    root.addHandler(placeholder)
    try:
        yield
    finally:
        root.removeHandler(placeholder)


def _discovered(tool: Tool) -> DiscoveredTool:
    return DiscoveredTool(
        utcp_name=tool.name,
        description=tool.description,
        tags=tuple(tool.tags),
        inputs=_author_schema(tool.inputs),
        outputs=_author_schema(tool.outputs),
        http_method=getattr(tool.tool_call_template, "http_method", None),
    )


def _author_schema(schema: JsonSchema) -> dict[str, Any]:
    """The schema as its author wrote it: UTCP's model adds nulls and turns `minimum: 1` into `1.0`."""
    written: dict[str, Any] = {}
    for attribute in schema.model_fields_set:
        field = type(schema).model_fields.get(attribute)
        keyword = (field.alias or attribute) if field else attribute
        value = getattr(schema, attribute)
        if value is not None or keyword in {"default", "const"}:
            written[keyword] = _author_value(value)
    return written


def _author_value(value: Any) -> Any:
    if hasattr(value, "model_fields_set"):
        return _author_schema(value)
    if isinstance(value, dict):
        return {key: _author_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_author_value(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")
