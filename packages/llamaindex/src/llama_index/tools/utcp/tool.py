"""One UTCP tool as a LlamaIndex tool.

LlamaIndex hands a tool's arguments to a function as keywords and shows the model whatever the function returns, as a
success (llama-index-core 0.14.25: no validation, no way to say that a call failed, no argument called `self`). Here
the arguments travel as one dict to the bridge, and its result becomes the output, error or not.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from llama_index.core.tools import FunctionTool, ToolOutput
from llama_index.core.workflow import Context, Event, WorkflowRuntimeError
from pydantic import BaseModel

from llama_index.tools.utcp.metadata import UTCPToolMetadata
from utcp_bridge import BridgedTool, ToolResult

Replacement = ToolOutput | str | None


class UTCPToolChunk(Event):
    """A piece of a tool's reply, in the event stream of the workflow that the tool is called in."""

    tool_name: str
    chunk: Any


class UTCPTool(FunctionTool):
    """One UTCP tool as a LlamaIndex tool, sync and async.

    A call returns a `ToolOutput`, whose `raw_output` is the `ToolResult`. Every failure, arguments that do not fit
    included, is such an output too (`is_error=True`, the reason as its content), so that an agent can go on. Where the
    toolset was opened with `on_tool_error="raise"`, a call raises its `ToolCallError`.

    Args:
        bridged: The tool of a `Toolset`, which must stay open while the tool is used.
        name: A name in place of the tool's own.
        description: A description in place of the tool's own.
        return_direct: Whether the agent's answer is this tool's result; a failed call goes back to the model.
        fn_schema: A Pydantic class to show models in place of the tool's own schema, which still judges.
        callback: Is given the `ToolResult` of each call, failed ones included. A `ToolOutput` that it returns is the
            output, a text is its content, None changes nothing.
        async_callback: The same for async calls; without `callback`, for sync ones too.
        partial_params: Arguments that are sent with every call and that models are not shown; a caller's own win.

    Example:
        ```python
        with Toolset.open("utcp.json") as toolset:
            weather = UTCPTool(toolset.tools["weather_get_weather"], partial_params={"unit": "celsius"})
            weather(city="Paris").content
        ```
    """

    _metadata: UTCPToolMetadata

    def __init__(
        self,
        bridged: BridgedTool,
        *,
        name: str | None = None,
        description: str | None = None,
        return_direct: bool = False,
        fn_schema: type[BaseModel] | None = None,
        callback: Callable[[ToolResult], Replacement] | None = None,
        async_callback: Callable[[ToolResult], Awaitable[Replacement]] | None = None,
        partial_params: Mapping[str, Any] | None = None,
    ) -> None:
        partial = dict(partial_params or {})
        metadata = UTCPToolMetadata(bridged, name, description, return_direct, fn_schema, hidden=partial)
        fn, async_fn = _functions(bridged, metadata.get_name(), partial)
        super().__init__(fn, metadata, async_fn, callback, async_callback, partial)
        self._bridged = bridged

    @property
    def bridged(self) -> BridgedTool:
        """The tool as the toolset knows it: its UTCP name, tags and schemas."""
        return self._bridged

    @property
    def metadata(self) -> UTCPToolMetadata:
        """What models are shown; it can be changed in place."""
        return self._metadata

    @property
    def real_fn(self) -> Callable[..., Any]:
        """A function that calls the tool and returns its content; `CodeActAgent` shows its docstring to models."""
        function = super().real_fn
        if function.__doc__ is None:
            schema = self.metadata.fn_schema_str
            function.__doc__ = f"{self.metadata.description}\n\nJSON Schema of the arguments: {schema}"
        return function

    def __call__(self, /, *args: Any, **arguments: Any) -> ToolOutput:  # noqa: D102 - see `call`
        return self.call(*args, **arguments)

    def call(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        """Call the tool from any thread, also inside a running loop.

        Args:
            *args: Refused; the arguments of a UTCP tool have names and no order.
            **arguments: The arguments, whatever their names.

        Returns:
            The output; one with `is_error` if the call failed and `on_tool_error` is `"return"`.

        Raises:
            TypeError: An argument without a name.
            ToolCallError: The call failed and `on_tool_error` is `"raise"`.
            RunnerError: The toolset is closed, or this is the runner's own thread; use `acall` there.
        """
        given = self._given(args, arguments)
        result = self._bridged.call(given)
        return self._output(given, result, self._run_sync_callback(result))

    async def acall(self, /, *args: Any, **arguments: Any) -> ToolOutput:
        """The same as `call`, from async code."""
        given = self._given(args, arguments)
        result = await self._bridged.acall(given, on_chunk=self._shown_by_the_run())
        return self._output(given, result, await self._run_async_callback(result))

    def _shown_by_the_run(self) -> Callable[[Any], None] | None:
        if not self._bridged.streams:
            return None
        try:
            context: Any = Context.get_step_context()
        except (AttributeError, WorkflowRuntimeError):  # before llama-index-workflows 2.17, or not within a workflow
            return None
        name = self.metadata.get_name()
        return lambda chunk: context.write_event_to_stream(UTCPToolChunk(tool_name=name, chunk=chunk))

    def _given(self, args: tuple[Any, ...], arguments: dict[str, Any]) -> dict[str, Any]:
        if args:
            # Raised rather than guessed at: up to llama-index-core 0.14.24, `call_tool` first tries a lone argument
            # without its name, and with it after this error, so that the name that the model gave arrives.
            names = ", ".join(f"{name}=..." for name in self._bridged.input_schema["properties"])
            raise TypeError(f"{self.metadata.name} takes its arguments by name: ({names}), or (**arguments).")
        return {**self.partial_params, **arguments}

    def _output(self, given: dict[str, Any], result: ToolResult, replacement: Replacement) -> ToolOutput:
        if isinstance(replacement, ToolOutput):
            return replacement
        return ToolOutput(
            content=result.content if replacement is None else str(replacement),
            tool_name=self.metadata.get_name(),
            raw_input={"args": (), "kwargs": given},
            raw_output=result,
            is_error=result.is_error,
        )


def _functions(tool: BridgedTool, name: str, partial: Mapping[str, Any]) -> tuple[Callable[..., Any], ...]:
    """The functions that callers find who take a LlamaIndex tool apart; both return the content."""

    def call(**arguments: Any) -> str:
        return tool.call({**partial, **arguments}).content

    async def acall(**arguments: Any) -> str:
        return (await tool.acall({**partial, **arguments})).content

    call.__name__ = acall.__name__ = name
    return call, acall
