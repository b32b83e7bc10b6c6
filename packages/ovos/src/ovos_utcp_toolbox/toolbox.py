"""The toolbox: OPM's plugin interface over a toolset."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from ovos_plugin_manager.templates.agent_tools import AgentTool, ToolArguments, ToolBox
from ovos_utils.log import LOG

from ovos_utcp_toolbox.tools import AdapterToolOutput, UTCPTool
from utcp_bridge.errors import BridgeError, ConfigError, ToolArgumentsError
from utcp_bridge.loading import LoadingToolset
from utcp_bridge.options import split_options

if TYPE_CHECKING:
    from utcp_bridge import BridgedTool, Toolset

PLUGIN_ID = "ovos-utcp-toolbox"

# What OVOS and OPM keep beside the options.
HOST_KEYS = frozenset({"utcp_config", "toolbox_id", "module", "enabled", "lang"})

# Seconds; shorter than the core's own 30, because a voice assistant that says nothing seems broken.
DEFAULT_LIMITS = {"timeout": 20.0, "discovery_timeout": 10.0}

# What the critic and self-ask loops of ovos-agentic-loop 0.2.5 call the text that they have for a tool, whatever its
# schema says: they try one name after the other, and go on where that raises.
GUESSED_NAMES = ("query", "q", "text")

_EXAMPLE_MANUAL = {"name": "my_tools", "call_template_type": "http", "url": "http://localhost:8000/utcp"}
# For hosts that offer configurations to users (entry point group `opm.agents.toolbox.config`).
TOOLBOX_CONFIGS = [{"utcp_config": {"manual_call_templates": [_EXAMPLE_MANUAL]}, "timeout": 30}]


class UTCPToolBox(ToolBox):
    """A toolbox of UTCP tools, the plugin `ovos-utcp-toolbox` of OPM's group `opm.agents.toolbox`.

    The manuals are loaded in the background from the moment that the toolbox is made. Whoever asks for the tools before
    they are loaded waits 2 seconds for those that are slow, or until the first has arrived; a tool that has arrived is
    called at once. They are looked at again when a name is unknown, when the bus asks for the tools, and, while one of
    them has failed, when the tools are listed: at most every 30 seconds.

    Args:
        config: `utcp_config` says where the tools come from: a UTCP client configuration, the path of one, or an
            open `Toolset`, which stays the caller's. Beside it the options of `utcp_bridge.Toolset.open`, but that
            `timeout` is 20 seconds and `discovery_timeout` 10 where nothing is said, and that a number may be text.
            Without `utcp_config` there are no tools. Nothing here ever raises: what is wrong is logged.
        bus: The message bus to answer on.
        toolbox_id: The name of this toolbox on the bus, for hosts with several of them; default None, `PLUGIN_ID`.
        **unknown: Tolerated with a warning, because hosts differ in how they make toolboxes.

    Attributes:
        rediscovery_interval: The least time between two looks at the manuals, in seconds; 30.
        rediscovery_patience: The most time that a caller waits for a look while there are tools, in seconds from its
            start; 2, because callers on the bus wait 3 for an answer.

    Example:
        ```python
        toolbox = UTCPToolBox(config={"utcp_config": "utcp.json", "timeout": 10})
        print(toolbox.call_tool("weather_get_weather", {"city": "Paris"}))
        ```
    """

    toolbox_id: str = PLUGIN_ID
    rediscovery_interval: ClassVar[float] = 30.0
    rediscovery_patience: ClassVar[float] = 2.0

    def __init__(
        self, config: dict[str, Any] | None = None, bus: Any = None, toolbox_id: str | None = None, **unknown: Any
    ) -> None:
        toolbox_id = toolbox_id or PLUGIN_ID
        self._lock = threading.Lock()
        self._loading: LoadingToolset | None = None
        self._snapshot: tuple[Mapping[str, BridgedTool] | None, dict[str, UTCPTool]] = (None, {})
        # None while OPM's constructor asks for the tools, so that it waits for none.
        self._source: Any = None
        self._options: dict[str, Any] = {}
        for name in unknown:
            LOG.warning(f"{toolbox_id}: the argument {name!r} is not known and was ignored")
        super().__init__(toolbox_id=toolbox_id, config=config, bus=None)
        self._read_config(self.config)
        self._load()
        if hasattr(bus, "on"):
            self.bind(bus)
        elif bus is not None:
            LOG.error(f"{toolbox_id}: it does not answer on the bus, because that is no bus: {type(bus).__name__}")

    # -- the toolset

    @property
    def toolset(self) -> Toolset:
        """The toolset behind the tools; its `report` says what came of each manual, and which are still loading.

        Raises:
            BridgeError: There is none: the toolbox is not configured, its configuration is wrong, or its `on_failure`
                is `"raise"` and not all manuals are loaded.
        """
        loading = self._load()
        if loading is None:
            raise ConfigError(f"{self.toolbox_id} has no 'utcp_config' in its configuration.")
        return loading.toolset()

    def close(self) -> None:
        """Close the toolset; the next use of the toolbox opens it again."""
        with self._lock:
            loading, self._loading = self._loading, None
            self._snapshot = (None, {})
        if loading is not None:
            loading.close()

    # -- OPM's interface: looking

    @property
    def tools(self) -> dict[str, AgentTool]:
        """The tools by name, as far as they have been loaded."""
        return dict(self._tools())

    @tools.setter
    def tools(self, _found: Mapping[str, AgentTool]) -> None:
        """OPM keeps here what `discover_tools` gave it; the toolset knows already."""

    def discover_tools(self) -> list[AgentTool]:
        """All tools, after another look at the manuals if the last one is long enough ago."""
        self._look_again()
        return list(self._tools().values())

    def get_tool(self, name: str) -> UTCPTool | None:
        """The tool of this name or UTCP name; for an unknown one the manuals may be looked at again."""
        if not isinstance(name, str):
            return None  # type: ignore[unreachable] # a message on the bus may say anything
        tool = self._find(name)
        if tool is None:
            self._look_again()
            tool = self._find(name, wait=True)
        return tool

    @property
    def tool_json_list(self) -> list[dict[str, Any]]:
        """The tools as models and the bus are shown them; each argument schema is the manual's own."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "argument_schema": copy.deepcopy(tool.bridged.input_schema),
                # The same for all; loops put all of this into the prompt of every turn.
                "output_schema": {"type": "object"},
            }
            for tool in self._tools().values()
        ]

    # -- OPM's interface: calling

    def call_tool(
        self, name: str, tool_kwargs: ToolArguments | Mapping[str, Any] | str | None = None
    ) -> AdapterToolOutput:
        """Call a tool. Its own schema judges the arguments, and a failure comes back with its reason.

        Args:
            name: The name of the tool, or its UTCP name.
            tool_kwargs: The arguments by name, their JSON text, or an instance of the tool's `argument_schema`.

        Returns:
            The result; one with `is_error` and the reason as its content if the call failed.

        Raises:
            ValueError: There is no such tool; the message lists the closest names. Or the caller guesses the name of a
                tool's only argument, and another of its guesses fits (`GUESSED_NAMES`).
            ToolCallError: The call failed and the option `on_tool_error` is `"raise"`.
        """
        tool = self.get_tool(name)
        if tool is None:
            raise ValueError(f"Unknown tool {name!r} for ToolBox {self.toolbox_id!r}. {self._why_unknown(name)}")
        output = tool.call(tool_kwargs)
        if output.is_error and self._is_wrong_guess(tool, tool_kwargs):
            raise ToolArgumentsError(output.content, tool=tool.name, manual=tool.bridged.manual)
        return output

    def _is_wrong_guess(self, tool: UTCPTool, arguments: Any) -> bool:
        """Whether the arguments did not fit, and another guess of the same text would."""
        if not (isinstance(arguments, Mapping) and len(arguments) == 1):
            return False
        [(guess, value)] = arguments.items()
        declared = tool.bridged.input_schema["properties"]
        if guess not in GUESSED_NAMES or guess in declared or self._fits(tool, guess, value):
            return False
        return any(name in declared and self._fits(tool, name, value) for name in GUESSED_NAMES)

    def _fits(self, tool: UTCPTool, name: str, value: Any) -> bool:
        try:
            self.validate_input(tool, {name: value})
        except ValueError:
            return False
        return True

    # -- OPM's interface: the bus

    def bind(self, bus: Any) -> None:
        """Answer on this bus from now on, and on no other."""
        self._stop_answering()
        super().bind(bus)
        self._load()

    def unbind(self) -> None:
        """Stop answering on the bus and close the toolset; binding or using the toolbox opens it again."""
        self._stop_answering()
        self.close()

    def shutdown(self) -> None:
        """The same as `unbind`, by the name that OVOS gives it in other plugins."""
        self.unbind()

    def _stop_answering(self) -> None:
        bus = self.bus
        if bus is None:
            return
        if hasattr(ToolBox, "unbind"):
            super().unbind()
        else:  # OPM before 3.0.1
            bus.remove("ovos.persona.tools.discover", self.handle_discover)
            bus.remove(f"ovos.persona.tools.{self.toolbox_id}.call", self.handle_call)
            self.bus = None

    # -- behind it

    def _read_config(self, config: Any) -> None:
        if not isinstance(config, Mapping):
            LOG.error(f"{self.toolbox_id}: no tools, because its configuration is no dict: {type(config).__name__}")
        elif not config.get("utcp_config"):
            if "utcp_config" in config:
                why = "its 'utcp_config' is empty"
            else:
                found = f"which has {', '.join(map(repr, config))}" if config else "which is empty"
                why = f"its configuration, {found}, has no 'utcp_config'"
            LOG.warning(f"{self.toolbox_id}: no tools, because {why}")
        else:
            self._source = config["utcp_config"]
            options, warnings = split_options(config, HOST_KEYS)
            # An open toolset has its own.
            self._options = {**DEFAULT_LIMITS, **options} if _is_configuration(self._source) else options
            for warning in warnings:
                LOG.warning(f"{self.toolbox_id}: {warning}")

    def _load(self) -> LoadingToolset | None:
        """Start to load the tools, if that has not been done; None where there is nothing to load."""
        with self._lock:
            if self._loading is None and self._source is not None:
                self._loading = LoadingToolset(
                    self._source,
                    self._options,
                    label=self.toolbox_id,
                    interval=self.rediscovery_interval,
                    patience=self.rediscovery_patience,
                    log=LOG,
                )
            return self._loading

    def _look_again(self, *, wait: bool = True) -> None:
        loading = self._load()
        if loading is not None:
            loading.look_again(wait=wait)

    def _tools(self, *, wait: bool = True) -> dict[str, UTCPTool]:
        loading = self._load()
        if loading is None:
            return {}
        try:
            toolset = loading.toolset(wait=wait)
        except BridgeError:  # logged when it happened
            self._look_again(wait=False)
            return {}
        if toolset.report.failed:
            self._look_again(wait=False)
        catalog, tools = self._snapshot
        if catalog is not toolset.tools:
            catalog = toolset.tools
            tools = {name: UTCPTool(tool) for name, tool in catalog.items()}
            self._snapshot = (catalog, tools)
        return tools

    def _find(self, name: str, *, wait: bool = False) -> UTCPTool | None:
        tools = self._tools(wait=wait)
        by_utcp_name = (tool for tool in tools.values() if tool.bridged.utcp_name == name)
        return tools.get(name) or next(by_utcp_name, None)

    def _why_unknown(self, name: str) -> str:
        reasons: list[str] = []
        try:
            toolset = self.toolset
            reasons = [f"Manual {manual.name!r} failed: {manual.error}" for manual in toolset.report.failed]
            reasons += [f"Manual {manual.name!r} is still loading." for manual in toolset.report.loading]
            toolset.find(name)
        except BridgeError as error:
            reasons.insert(0, str(error))
        return " ".join(reasons)


def _is_configuration(source: Any) -> bool:
    return isinstance(source, str | os.PathLike | Mapping)
