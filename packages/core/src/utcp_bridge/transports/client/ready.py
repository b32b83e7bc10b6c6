"""The client of a `UtcpClient` that its user opened: used as it is, and left open."""

from __future__ import annotations

from utcp.data.call_template import CallTemplateSerializer
from utcp.utcp_client import UtcpClient

from utcp_bridge.config import ManualTemplate
from utcp_bridge.transports.client.client import Client
from utcp_bridge.transports.client.loaded import FetchedManual, LoadedManual, ManualVariable, discovered_tool
from utcp_bridge.transports.drafts import draft_of
from utcp_bridge.transports.secrets.leaks import guard_upstream_loggers
from utcp_bridge.transports.variable_values import UndefinedVariableError, Variables, VariableUse
from utcp_bridge.transports.variables import fill_in


class ReadyClient(Client):
    """Its manuals are those of the tool repository. Make it with `Client.around`."""

    def __init__(self, utcp_client: UtcpClient) -> None:
        super().__init__(utcp_client)
        config = utcp_client.config
        self._repository = config.tool_repository
        self._variables = Variables(config.variables or {}, config.load_variables_from or ())
        guard_upstream_loggers(self.secrets)

    async def manual_templates(self) -> tuple[ManualTemplate, ...]:
        """See `Client.manual_templates`."""
        templates = await self._repository.get_manual_call_templates()
        return tuple(ManualTemplate(each.name, CallTemplateSerializer().to_dict(each)) for each in templates)

    def loop_bound(self, protocol: str) -> bool:
        """See `Client.loop_bound`."""
        # Its sessions are bound to the loop of its user, if to any, and so not to the runner's.
        return False

    def works_on_any_loop(self, protocol: str) -> bool:
        """See `Client.works_on_any_loop`."""
        return False

    async def close(self) -> None:
        """Nothing: the client belongs to its user."""

    def discard(self) -> None:
        """Nothing, likewise."""

    async def _fetched(self, template: ManualTemplate) -> FetchedManual:
        self._learn_secrets(template.template, template.name)
        tools = await self._repository.get_tools_by_manual(template.name) or []
        users: dict[str, list[str]] = {}
        for tool in tools:
            written = CallTemplateSerializer().to_dict(tool.tool_call_template)
            self._learn_secrets(written, template.name)
            for key in VariableUse.of(written, template.name, self._variables).keys:
                users.setdefault(key, []).append(tool.name)
        discovered = tuple(discovered_tool(tool.name, draft_of(tool), tool.tool_call_template) for tool in tools)
        variables = tuple(ManualVariable(key, self._defined(key), tuple(names)) for key, names in users.items())
        return FetchedManual(template.name, LoadedManual(discovered, variables=variables))

    async def _store(self, fetched: FetchedManual) -> None:
        """Nothing: it is stored already."""

    def _own_keys(self, template: ManualTemplate) -> tuple[str, ...]:
        return VariableUse.of(template.template, template.name, self._variables).keys

    def _defined(self, key: str) -> bool:
        return self._variables.defined(key)

    def _is_at_hand(self, template: ManualTemplate) -> bool:
        return True

    def _learn_secrets(self, template: object, namespace: str) -> None:
        use = VariableUse.of(template, namespace, self._variables)
        try:
            values = use.values(self._variables)
        except UndefinedVariableError:
            values = {}  # its call will say so
        for name in values.keys() - use.public:
            self.secrets.add(values[name])
        self.secrets.add_template(fill_in(template, values))
