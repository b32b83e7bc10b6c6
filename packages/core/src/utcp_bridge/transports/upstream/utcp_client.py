"""Our `UtcpClient`: upstream's, with calls that cost nothing but the call and protocols of our own.

Nothing here changes what other UTCP users in the process get: our protocols stand in this client's own table, and the
registries of `utcp` are only read.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from utcp.data.call_template import CallTemplate
from utcp.data.tool import Tool
from utcp.data.utcp_client_config import UtcpClientConfig
from utcp.data.utcp_manual import UtcpManual
from utcp.exceptions import UtcpVariableNotFound
from utcp.implementations.default_variable_substitutor import DefaultVariableSubstitutor
from utcp.implementations.utcp_client_implementation import UtcpClientImplementation
from utcp.interfaces.communication_protocol import CommunicationProtocol
from utcp_cli.cli_communication_protocol import CliCommunicationProtocol
from utcp_http.http_communication_protocol import HttpCommunicationProtocol
from utcp_http.sse_communication_protocol import SseCommunicationProtocol
from utcp_http.streamable_http_communication_protocol import StreamableHttpCommunicationProtocol

from utcp_bridge.transports.cli.protocol import CliProtocol
from utcp_bridge.transports.drafts import DraftTool, SkippedTool
from utcp_bridge.transports.http.caller import HttpCaller
from utcp_bridge.transports.http.protocol import HttpOptions, HttpProtocol
from utcp_bridge.transports.secrets.scrubber import SecretScrubber
from utcp_bridge.transports.streaming.pieces import closing
from utcp_bridge.transports.streaming.protocol import SseProtocol, StreamableHttpProtocol
from utcp_bridge.transports.upstream.mcp import mended
from utcp_bridge.transports.upstream.repository import LateRepository, upstream_tool
from utcp_bridge.transports.variable_values import UndefinedVariableError, Variables, VariableUse
from utcp_bridge.transports.variables import fill_in

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class RegisteredTool:
    """A tool ready to be called.

    Attributes:
        name: Its UTCP name.
        draft: What its manual says of it.
        template: Its call template; one that holds no variable is used as it is.
        use: The variables of the template.
        fields: The template as a dict, variables unfilled; empty if there are none.
        rebuild: Makes a call template of such a dict whose variables are filled in.
    """

    name: str
    draft: DraftTool
    template: CallTemplate = field(repr=False)
    use: VariableUse
    fields: Mapping[str, Any] = field(repr=False)
    rebuild: Callable[[dict[str, Any]], CallTemplate]
    _tool: Tool | None = field(default=None, repr=False)
    _filled: tuple[dict[str, str], CallTemplate] | None = field(default=None, repr=False)

    @property
    def tool(self) -> Tool:
        """Upstream's object, as post-processors and search strategies see it; made on first use."""
        if self._tool is None:
            self._tool = upstream_tool(self.name, self.draft, self.template)
        return self._tool

    def template_now(self, variables: Variables, secrets: SecretScrubber) -> CallTemplate:
        """The template with the values that its variables have now.

        Raises:
            UndefinedVariableError: Some have none.
        """
        if not self.use.names:
            return self.template
        values = self.use.values(variables)
        if self._filled is None or self._filled[0] != values:
            filled = fill_in(self.fields, values)
            for name in values.keys() - self.use.public:
                secrets.add(values[name])
            secrets.add_template(filled)
            template = self.rebuild(filled)
            if template.call_template_type != self.template.call_template_type:
                raise ValueError("a variable changes the call_template_type, which decides whether the tool is allowed")
            self._filled = values, template
        return self._filled[1]


@dataclass(frozen=True, slots=True)
class RegisteredManual:
    """A manual that is ready to be stored.

    Attributes:
        template: Its call template, variables filled in.
        version: Its `manual_version`.
        tools: The tools that can be called.
        skipped: The tools that cannot, and why.
        warnings: What is odd about the tools that can, in whole sentences.
        variable_descriptions: What variables of the tools take, by name without the manual's before it.
    """

    template: CallTemplate = field(repr=False)
    version: str
    tools: tuple[RegisteredTool, ...] = field(repr=False)
    skipped: tuple[SkippedTool, ...]
    warnings: tuple[str, ...] = ()
    variable_descriptions: Mapping[str, str] = field(default_factory=dict)

    def manual(self) -> UtcpManual:
        """Upstream's object of it, made anew."""
        return UtcpManual.model_construct(manual_version=self.version, tools=[tool.tool for tool in self.tools])


class BridgeUtcpClient(UtcpClientImplementation):
    """The client that our toolsets call with. Make it with `Client.create`."""

    def __init__(self, config: UtcpClientConfig, root_dir: str, http_options: Mapping[str, Any]) -> None:
        # Values of `variables` may refer to variables; they are resolved one by one when they are needed, because
        # in utcp 1.2.0 a single undefined one takes every manual away.
        self.variables = Variables(config.variables or {}, config.load_variables_from or ())
        self.secrets = SecretScrubber()
        super().__init__(config, _Substitutor(self.variables), root_dir)
        self._tools: dict[str, RegisteredTool] = {}
        self._names_by_manual: dict[str, frozenset[str]] = {}
        caller = HttpCaller(HttpOptions(**http_options), on_token=self.secrets.add)
        ours: Mapping[str, tuple[type[CommunicationProtocol], Callable[[], CommunicationProtocol]]] = {
            "http": (HttpCommunicationProtocol, lambda: HttpProtocol(caller=caller)),
            "sse": (SseCommunicationProtocol, lambda: SseProtocol(caller=caller)),
            "streamable_http": (
                StreamableHttpCommunicationProtocol,
                lambda: StreamableHttpProtocol(caller=caller),
            ),
            "cli": (CliCommunicationProtocol, CliProtocol),
        }
        for kind, (upstreams, factory) in ours.items():
            if _is_upstreams_own(kind, upstreams):
                self._adopt(kind, factory)
            else:
                logger.info("The protocol %r is not upstream's own; it is used as it is.", kind)

    def _adopt(self, protocol_type: str, factory: Callable[[], CommunicationProtocol]) -> CommunicationProtocol:
        return super()._adopt(protocol_type, mended(factory))

    def discard(self) -> None:
        """Close, without waiting, what this client opened and can be closed so."""
        for protocol in self._owned_comm_protocols:
            if isinstance(protocol, HttpProtocol | SseProtocol | StreamableHttpProtocol):
                protocol.discard()

    def protocol(self, kind: str) -> CommunicationProtocol:
        """The protocol of a call template type.

        Raises:
            ValueError: There is none; lists the types that are installed.
        """
        return self._protocol_for(kind)

    async def save(self, registered: RegisteredManual) -> None:
        """Store a manual, in the place of an older version of it, and make its tools callable."""
        repository = self.config.tool_repository
        if isinstance(repository, LateRepository):
            repository.save_later(registered.template, registered.manual)
        else:
            await repository.save_manual(registered.template, registered.manual())
        name = registered.template.name
        by_name = {tool.name: tool for tool in registered.tools}
        for gone in self._names_by_manual.get(name, frozenset()) - by_name.keys():
            self._tools.pop(gone, None)
        self._tools.update(by_name)
        self._names_by_manual[name] = frozenset(by_name)

    async def deregister_manual(self, manual_name: str) -> bool:
        """Remove a manual and its tools."""
        for name in self._names_by_manual.pop(manual_name, ()):
            self._tools.pop(name, None)
        return bool(await super().deregister_manual(manual_name))

    async def call_tool(self, tool_name: str, tool_args: dict[str, Any]) -> Any:
        """Call a tool; one that this client did not load itself goes upstream's way."""
        registered = await self._ready(tool_name)
        if registered is None:
            return await super().call_tool(tool_name, tool_args)
        template = registered.template_now(self.variables, self.secrets)
        reply = await self._protocol_for(template.call_template_type).call_tool(self, tool_name, tool_args, template)
        for post_processor in self.config.post_processing:
            reply = post_processor.post_process(self, registered.tool, template, reply)
        return reply

    async def call_tool_streaming(  # type: ignore[override]  # upstream's own generators are annotated as coroutines
        self, tool_name: str, tool_args: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        """Call a tool and yield its reply in the pieces that its protocol receives."""
        registered = await self._ready(tool_name)
        if registered is None:
            async with closing(super().call_tool_streaming(tool_name, tool_args)) as pieces:
                async for piece in pieces:
                    yield piece
            return
        template = registered.template_now(self.variables, self.secrets)
        protocol: Any = self._protocol_for(template.call_template_type)
        begun = False
        try:
            async with closing(protocol.call_tool_streaming(self, tool_name, tool_args, template)) as pieces:
                async for piece in pieces:
                    begun = True
                    for post_processor in self.config.post_processing:
                        piece = post_processor.post_process(self, registered.tool, template, piece)
                    yield piece
        except NotImplementedError:  # how plugins say that they have no streams
            if begun:
                raise
            yield await self.call_tool(tool_name, tool_args)

    async def _ready(self, tool_name: str) -> RegisteredTool | None:
        """The tool as it was loaded; None where a repository of the user's own says something else by now."""
        registered = self._tools.get(tool_name)
        repository = self.config.tool_repository
        if registered is None or isinstance(repository, LateRepository):
            return registered
        stored = await repository.get_tool(tool_name)
        return registered if stored is not None and stored.tool_call_template == registered.template else None


def _is_upstreams_own(kind: str, protocol: type[CommunicationProtocol]) -> bool:
    """Whether this type is still what upstream registered; what a user put in its place is left there."""
    return (
        kind not in CommunicationProtocol.communication_protocol_factories
        and type(CommunicationProtocol.communication_protocols.get(kind)) is protocol
    )


class _Substitutor(DefaultVariableSubstitutor):
    """Our rule of what a variable is, for upstream's own code and for plugins that ask the client."""

    def __init__(self, variables: Variables) -> None:
        self._variables = variables

    def substitute(self, obj: Any, config: UtcpClientConfig, variable_namespace: str | None = None) -> Any:
        use = VariableUse.of(obj, variable_namespace or "", self._variables)
        try:
            return fill_in(obj, use.values(self._variables)) if use.names else obj
        except UndefinedVariableError as error:
            raise UtcpVariableNotFound(error.variable_name) from error

    def find_required_variables(self, obj: Any, variable_namespace: str | None = None) -> list[str]:
        return list(VariableUse.of(obj, variable_namespace or "", self._variables).keys)
