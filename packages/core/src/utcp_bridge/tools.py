"""One tool of a toolset, framework-neutral."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from utcp_bridge.errors import ToolNotFoundError
from utcp_bridge.options import Options
from utcp_bridge.results import ToolResult
from utcp_bridge.schema import ShownArguments, arguments_schema, model_of_shown, provider_description

if TYPE_CHECKING:
    from pydantic import BaseModel

    from utcp_bridge.toolset import Toolset
    from utcp_bridge.transports.client.loaded import DiscoveredTool

_IN_PIECES = frozenset({"sse", "streamable_http"})
# RFC 9110, section 9.2.1, and QUERY of OpenAPI 3.2 (draft-ietf-httpbis-safe-method-w-body).
_SAFE_HTTP_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "QUERY", "TRACE"})
_TELLING_OF_ALL = frozenset({"description", "$ref", "allOf", "anyOf", "oneOf"})


@dataclass(frozen=True)
class BridgedTool:
    """One tool. Its schemas and its model are built on first use and shared by tools with equal schemas.

    Attributes:
        name: The name that models are shown: `[a-zA-Z0-9_-]`, at most `max_name_length` characters.
        utcp_name: The name that UTCP knows, `manual.tool`.
        manual: The manual that the tool comes from.
        description: What the tool does; never empty.
        tags: Its tags.
        protocol: The `call_template_type` that calls it, such as `"http"`.
        output_schema: JSON Schema of its reply, empty if the manual gives none.
        read_only: Whether a call changes nothing, as far as the manual tells.
        destructive: Whether a call deletes something, as far as the manual tells.
    """

    name: str
    utcp_name: str
    manual: str
    description: str
    tags: tuple[str, ...]
    protocol: str
    output_schema: dict[str, Any] = field(repr=False)
    read_only: bool
    destructive: bool
    _inputs: Any = field(repr=False)
    _options: Options = field(repr=False, compare=False)
    _toolset: Toolset = field(repr=False, compare=False)

    @cached_property
    def arguments(self) -> ShownArguments:
        """The arguments as models are shown them, which also judges what models give."""
        return ShownArguments(arguments_schema(self._inputs), self._options.provider, self._options.max_schema_bytes)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The self-contained JSON Schema of the arguments, with `type: object` and `properties`; do not change it.

        It is the author's own, but for what the options `max_schema_bytes` and `provider` make it leave out.
        """
        return self.arguments.schema

    @property
    def standalone_schema(self) -> dict[str, Any]:
        """`input_schema` for readers that lose `$defs` and every key called `title`, with the same verdict.

        Definitions stand where they are used; one that comes up inside of itself is a `$ref` to its first place.
        """
        return self.arguments.standalone

    @property
    def whole_description(self) -> str:
        """`description` and what `input_schema` tells of the arguments as a whole, for readers that lose the latter."""
        if not (isinstance(self._inputs, Mapping) and _TELLING_OF_ALL & self._inputs.keys()):
            return self.description  # the schema need not be read
        about = self.input_schema.get("description", "").strip()
        if not about or about in self.description:
            return self.description
        return provider_description(f"{self.description}\n\n{about}", self._options.provider)

    @property
    def schema_problems(self) -> tuple[str, ...]:
        """What of the author's schema could not be read, or was left out to keep to `max_schema_bytes`."""
        return self.arguments.problems

    @cached_property
    def args_model(self) -> type[BaseModel]:
        """A Pydantic model of the arguments as models are shown them; its verdict is the author's schema's.

        `utcp_bridge.schema.wire_arguments` gives back what goes on the wire.
        """
        return model_of_shown(self.name, self.arguments, repair=self._options.repair)

    def __hash__(self) -> int:
        # The generated one would hash the schema, a dict.
        return hash(self.utcp_name)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """The tool itself: it cannot change, and the connection that it calls through is shared by copies."""
        return self

    @property
    def streams(self) -> bool:
        """Whether a reply comes in pieces, as far as its protocol tells."""
        return self.protocol in _IN_PIECES

    def call(
        self,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        timeout: float | None = None,
        on_chunk: Callable[[Any], object] | None = None,
    ) -> ToolResult:
        """Call the tool from any thread, also inside a running loop; see `Toolset.call`."""
        return self._toolset.call(self._name_now(), arguments, timeout=timeout, on_chunk=on_chunk)

    async def acall(
        self,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        timeout: float | None = None,
        on_chunk: Callable[[Any], object] | None = None,
    ) -> ToolResult:
        """Call the tool from async code; see `Toolset.acall`."""
        return await self._toolset.acall(self._name_now(), arguments, timeout=timeout, on_chunk=on_chunk)

    def stream(
        self, arguments: Mapping[str, Any] | str | None = None, *, timeout: float | None = None
    ) -> AsyncGenerator[Any, None]:
        """Call the tool from async code and yield its reply as it comes; see `Toolset.stream`."""
        return self._toolset.stream(self._name_now(), arguments, timeout=timeout)

    def _name_now(self) -> str:
        """What the toolset finds this tool by; if a refresh took it away, the name that models were shown."""
        known = self._toolset.tools.get(self.name)
        if known is not None:
            return self.name if known.utcp_name == self.utcp_name else self.utcp_name
        try:
            return self._toolset.find(self.utcp_name).name
        except ToolNotFoundError:
            return self.name


def bridged(tool: DiscoveredTool, name: str, *, options: Options, toolset: Toolset) -> BridgedTool:
    """The tool as agents see it, from the tool as its manual describes it."""
    return BridgedTool(
        name=name,
        utcp_name=tool.utcp_name,
        manual=tool.utcp_name.partition(".")[0],
        description=provider_description(tool.description.strip() or f"Calls {name}.", options.provider),
        tags=tool.tags,
        protocol=tool.protocol,
        output_schema=tool.outputs,
        read_only=is_read_only(tool),
        destructive=(tool.http_method or "").upper() == "DELETE",
        _inputs=tool.inputs,
        _options=options,
        _toolset=toolset,
    )


def is_read_only(tool: DiscoveredTool) -> bool:
    """Whether a call changes nothing, as far as the manual tells: the HTTP method is a safe one."""
    return (tool.http_method or "").upper() in _SAFE_HTTP_METHODS
