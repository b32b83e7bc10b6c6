"""One UTCP tool as `ovos-plugin-manager` knows tools, and its result as OVOS shows results."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolOutput
from pydantic import Field

from utcp_bridge.schema import wire_arguments

if TYPE_CHECKING:
    from utcp_bridge import BridgedTool


class AdapterToolOutput(ToolOutput):
    """What a call came to: its text, whether it failed, and the original reply."""

    # A short docstring: OPM puts it into the output schema of every tool that a model is shown.

    content: str
    is_error: bool = False
    raw: list[dict[str, Any]] = Field(default_factory=list)

    def __str__(self) -> str:
        """The text alone, once: OVOS agents show the model `str(output)`."""
        return self.content


class UTCPTool(AgentTool):
    """A `BridgedTool` as an `AgentTool` of OPM.

    Attributes:
        bridged: The tool.
    """

    # Not the dataclass' own `__init__`, which would need the argument model before anyone asks for it.
    def __init__(self, bridged: BridgedTool) -> None:
        self.bridged = bridged
        self.name = bridged.name
        self.description = bridged.description
        self.output_schema = AdapterToolOutput
        self.tool_call = self.call

    @cached_property
    def argument_schema(self) -> type[ToolArguments]:  # type: ignore[override] # built on first use
        """The tool's argument model, as the kind of model that OPM accepts for arguments."""
        return type(self.name, (self.bridged.args_model, ToolArguments), {})

    def call(self, arguments: ToolArguments | Mapping[str, Any] | str | None = None) -> AdapterToolOutput:
        """Call the tool.

        Args:
            arguments: An instance of `argument_schema`, or the arguments by name, or their JSON text.

        Returns:
            The result; one with `is_error` and the reason as its content if the call failed.

        Raises:
            ToolCallError: The call failed and the option `on_tool_error` is `"raise"`.
            RunnerError: The toolbox has been unbound since.
        """
        given = wire_arguments(arguments) if isinstance(arguments, ToolArguments) else arguments
        result = self.bridged.call(given)
        return AdapterToolOutput(content=result.content, is_error=result.is_error, raw=result.raw)
