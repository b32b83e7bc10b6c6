"""One UTCP tool as a LangChain tool.

LangChain keeps a tool's arguments as keywords of a function and its schema as a Pydantic class. Both lose things
(langchain-core 1.8.3: arguments called `config`, `run_manager` or `self`; every constraint and keyword that Pydantic
fields do not know), so here the arguments travel as one dict, and the schema is shown as its author wrote it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

from langchain_core.callbacks import adispatch_custom_event, dispatch_custom_event
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import BaseModel, PrivateAttr

from langchain_utcp_toolkit.arguments import input_model, readable
from utcp_bridge import BridgedTool, ToolResult
from utcp_bridge.results import within_64_bits


class UTCPArtifact(TypedDict):
    """The artifact of a `ToolMessage`: what the application may want of a result, and the model does not.

    A plain dict of JSON values, so that checkpoints and stores keep it whatever they know of this package. Integers
    beyond 64 bits are JSON text here, because LangGraph's checkpoints (MessagePack) have no larger ones.
    """

    is_error: bool
    """Whether the call failed."""
    raw: list[dict[str, Any]]
    """The original reply as a list of blocks, uncut."""
    data: Any
    """The reply as a JSON value, or None when it is text, bytes or empty."""


class UTCPToolError(ToolException):
    """A failed call of a tool whose `handle_tool_error` is not `True`.

    Attributes:
        result: What the call came to; its `content` is the exception's message.
    """

    def __init__(self, result: ToolResult) -> None:
        super().__init__(result.content)
        self.result = result


class UTCPTool(StructuredTool):
    """One UTCP tool as a LangChain tool, sync and async.

    A call returns the result's content, or, called with a `ToolCall`, a `ToolMessage` with the content and a
    `UTCPArtifact`. Every failure, arguments that do not fit included, is such a reply too (`status="error"`), so that
    an agent can go on. `handle_tool_error` has LangChain's meaning, with the default `True`: `False` raises
    `UTCPToolError`, a text replaces the reason, a function makes one of the exception. Where the toolset was opened
    with `on_tool_error="raise"`, its `ToolCallError` reaches the caller whatever `handle_tool_error` says.

    A reply that comes in pieces is shown while it comes, each as `{"tool": ..., "tool_call_id": ..., "chunk": ...}` in
    LangGraph's stream mode `custom`, and as a custom event called `utcp_tool_chunk`.

    Args:
        bridged: The tool of a `Toolset`, which must stay open while the tool is used.
        **fields: Fields of `StructuredTool` that replace the tool's own, such as `description` or `return_direct`.

    Example:
        ```python
        with Toolset.open("utcp.json") as toolset:
            weather = UTCPTool(toolset.tools["weather_get_weather"], return_direct=True)
            weather.invoke({"city": "Paris"})
        ```
    """

    _bridged: BridgedTool = PrivateAttr()

    def __init__(self, bridged: BridgedTool, **fields: Any) -> None:
        func, coroutine = _functions(bridged)
        defaults = {
            "name": bridged.name,
            "description": bridged.whole_description,  # LangChain drops the one at the schema's root
            "args_schema": BaseModel,
            "func": func,
            "coroutine": coroutine,
            "tags": list(bridged.tags) or None,
            "metadata": {
                "utcp_name": bridged.utcp_name,
                "manual": bridged.manual,
                "read_only": bridged.read_only,
                "destructive": bridged.destructive,
            },
            "handle_tool_error": True,
            "response_format": "content_and_artifact",
        }
        super().__init__(**{**defaults, **fields})
        self._bridged = bridged
        if "args_schema" not in fields:
            del self.__dict__["args_schema"]  # see `__getattr__`

    @property
    def bridged(self) -> BridgedTool:
        """The tool as the toolset knows it: its UTCP name, tags and schemas."""
        return self._bridged

    # -- what models are shown

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # A Pydantic class costs about a millisecond, and neither showing nor calling a tool needs one.
            if name == "args_schema":
                return self._bridged.args_model
            return super().__getattr__(name)

    @property
    def _replaced(self) -> bool:
        return "args_schema" in self.__dict__

    @property
    def tool_call_schema(self) -> Any:
        """The JSON Schema that models are shown: `bridged.input_schema`.

        What LangChain would drop of it is told in another way, see `bridged.standalone_schema`.
        An `args_schema` that you set yourself is shown as LangChain shows it. The tool's own schema still judges.
        """
        if self._replaced:
            return super().tool_call_schema
        return dict(self._readable_schema)

    @property
    def args(self) -> dict[str, Any]:
        """The JSON Schema of each argument, by name."""
        return super().args if self._replaced else dict(self._bridged.input_schema["properties"])

    def get_input_schema(self, config: Any = None) -> Any:
        """A Pydantic class with the verdict and the JSON Schema of the tool, and without fields."""
        return super().get_input_schema(config) if self._replaced else self._input_model

    @cached_property
    def _readable_schema(self) -> dict[str, Any]:
        return readable(self._bridged)

    @cached_property
    def _input_model(self) -> type[BaseModel]:
        return input_model(self._bridged)

    def as_tool(self, args_schema: Any = None, *, arg_types: Any = None, **texts: str | None) -> BaseTool:
        """A copy under another `name` or `description`; with a class or types, what LangChain makes of a runnable."""
        if args_schema is not None or arg_types is not None:
            return super().as_tool(args_schema, arg_types=arg_types, **texts)
        return self.model_copy(update={field: text for field, text in texts.items() if text is not None})

    # -- calling

    def _to_args_and_kwargs(self, tool_input: Any, tool_call_id: str | None = None) -> tuple[tuple[Any, ...], Any]:
        arguments = self._named(tool_input) if isinstance(tool_input, str) else tool_input
        if self.handle_validation_error and isinstance(arguments, Mapping):
            self._bridged.args_model.model_validate(arguments)
        return (arguments, tool_call_id), {}

    def _named(self, text: str) -> Any:
        """A text in place of arguments: the only argument, as in LangChain, or the arguments as JSON."""
        names = self._bridged.input_schema["properties"].keys()
        if len(names) != 1 or not text:
            return text
        try:
            given = json.loads(text)
        except ValueError:
            given = None
        return given if isinstance(given, dict) and given.keys() & names else {next(iter(names)): text}

    def _filter_injected_args(self, tool_input: dict[str, Any]) -> dict[str, Any]:
        # Nothing is injected, and LangChain would hide arguments called `callbacks` and `run_manager` from tracers.
        return dict(tool_input)

    def _run(self, arguments: Any, tool_call_id: str | None = None, /) -> Any:  # type: ignore[override]  # see above
        on_chunk = self._shown_by(dispatch_custom_event, tool_call_id)
        return self._answer(self._bridged.call(arguments, on_chunk=on_chunk), tool_call_id)

    async def _arun(self, arguments: Any, tool_call_id: str | None = None, /) -> Any:  # type: ignore[override]
        on_chunk = self._shown_by(adispatch_custom_event, tool_call_id)
        return self._answer(await self._bridged.acall(arguments, on_chunk=on_chunk), tool_call_id)

    def _shown_by(self, dispatch: Callable[..., Any], tool_call_id: str | None) -> Callable[[Any], Any] | None:
        if not self._bridged.streams:
            return None
        try:
            write = sys.modules["langgraph.config"].get_stream_writer()
        except (KeyError, RuntimeError):  # LangGraph is not loaded, or not at work here
            write = None

        def show(chunk: Any) -> Any:
            event = {"tool": self.name, "tool_call_id": tool_call_id, "chunk": chunk}
            if write is not None:
                write(event)
            return dispatch("utcp_tool_chunk", event)

        return show

    def _answer(self, result: ToolResult, tool_call_id: str | None) -> Any:
        artifact = within_64_bits(UTCPArtifact(is_error=result.is_error, raw=result.raw, data=result.data))
        content: Any = result.content
        if result.is_error:
            if self.handle_tool_error is not True or tool_call_id is None:
                raise UTCPToolError(result)
            content = ToolMessage(content, artifact=artifact, tool_call_id=tool_call_id, name=self.name, status="error")
        return (content, artifact) if self.response_format == "content_and_artifact" else content


def _functions(tool: BridgedTool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The functions that callers find who take a LangChain tool apart; both return the content."""

    def call(**arguments: Any) -> str:
        return tool.call(arguments).content

    async def acall(**arguments: Any) -> str:
        return (await tool.acall(arguments)).content

    return call, acall
