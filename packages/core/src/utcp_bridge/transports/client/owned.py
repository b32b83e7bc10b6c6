"""The client of a configuration: opens a `UtcpClient` of our own and closes it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from utcp.data.utcp_client_config import UtcpClientConfig
from utcp.implementations.in_mem_tool_repository import InMemToolRepository
from utcp.interfaces.concurrent_tool_repository import ConcurrentToolRepository

from utcp_bridge.config import BridgeConfig, ManualTemplate
from utcp_bridge.errors import ConfigError
from utcp_bridge.transports.client.client import Client
from utcp_bridge.transports.client.loaded import FetchedManual, LoadedManual, ManualVariable, discovered_tool
from utcp_bridge.transports.client.settings import settings_fault, settings_warnings
from utcp_bridge.transports.drafts import DraftTool, SkippedTool
from utcp_bridge.transports.failures import reason
from utcp_bridge.transports.manuals.fetching import fetch, variables_of
from utcp_bridge.transports.manuals.template_keys import unknown_keys_of_manual
from utcp_bridge.transports.secrets.leaks import guard_upstream_loggers
from utcp_bridge.transports.upstream.repository import LateRepository
from utcp_bridge.transports.upstream.utcp_client import BridgeUtcpClient, RegisteredManual
from utcp_bridge.transports.variable_values import namespaced
from utcp_bridge.transports.variables import broken_references

logger = logging.getLogger(__name__)

# They keep no state that is bound to a loop, or keep it per loop.
_FREE_OF_LOOPS = frozenset({"http", "sse", "streamable_http", "cli", "text", "file"})
_KNOWN = frozenset({"utcp_bridge", "utcp_http", "utcp_cli", "utcp_text", "utcp_file"})


class OwnedClient(Client):
    """Holds no manual at first. Make it with `Client.create`."""

    def __init__(
        self,
        config: BridgeConfig,
        utcp_config: UtcpClientConfig,
        broken_plugins: Mapping[str, str],
        http_options: Mapping[str, Any],
    ) -> None:
        self._ours = BridgeUtcpClient(utcp_config, str(config.root_dir or Path.cwd()), http_options)
        super().__init__(self._ours)
        self.secrets = self._ours.secrets
        self._manuals = config.manuals
        self._broken_plugins = broken_plugins
        guard_upstream_loggers(self.secrets)

    @classmethod
    def of(
        cls, config: BridgeConfig, broken_plugins: Mapping[str, str], http_options: Mapping[str, Any]
    ) -> OwnedClient:
        """Open a client with this configuration; see `Client.create`."""
        for warning in settings_warnings(config.client):
            logger.warning("The client configuration: %s", warning)
        try:
            utcp_config = UtcpClientConfig.model_validate(config.client)
        except Exception as error:  # noqa: BLE001 - upstream's validators raise more than Pydantic's own error
            complaint = settings_fault(config.client) or reason(error)
        else:
            is_ours = not isinstance(config.client.get("tool_repository"), ConcurrentToolRepository)
            if is_ours and type(utcp_config.tool_repository) is InMemToolRepository:
                utcp_config.tool_repository = LateRepository()
            return cls(config, utcp_config, broken_plugins, http_options)
        # Out here, because the error itself shows what was given.
        end = "" if complaint.endswith("?") else "."
        raise ConfigError(f"UTCP does not take this client configuration: {complaint}{end}")

    async def manual_templates(self) -> tuple[ManualTemplate, ...]:
        """See `Client.manual_templates`."""
        return self._manuals

    def warnings_of(self, template: ManualTemplate) -> tuple[str, ...]:
        """See `Client.warnings_of`."""
        if template.problem is not None:
            return ()
        unknown = [self.secrets.scrub(str(key)) for key in unknown_keys_of_manual(template.template)]
        broken = [
            f"{place!r} has a '${{' that begins no variable; expected '${{NAME}}', of letters, digits and '_'"
            for place in broken_references(template.template)
        ]
        return (*unknown, *broken)

    def loop_bound(self, protocol: str) -> bool:
        """See `Client.loop_bound`."""
        if protocol not in _FREE_OF_LOOPS:
            return True
        # What a user registered in the place of one of these may keep anything.
        return type(self._ours.protocol(protocol)).__module__.partition(".")[0] not in _KNOWN

    def works_on_any_loop(self, protocol: str) -> bool:
        """See `Client.works_on_any_loop`."""
        return not self.loop_bound(protocol)

    async def close(self) -> None:
        """See `Client.close`."""
        await self._without_secrets(self._ours.close)

    def discard(self) -> None:  # noqa: D102 - see `Client`
        self._ours.discard()

    async def _fetched(self, template: ManualTemplate) -> FetchedManual:
        registered = await fetch(self._ours, template, self._broken_plugins)
        # Once more: a plugin may have imported what it needs, and its loggers with it, only now.
        guard_upstream_loggers(self.secrets)
        return FetchedManual(template.name, self._loaded(registered), registered)

    async def _store(self, fetched: FetchedManual) -> None:
        if fetched.registered is not None:
            await self._ours.save(fetched.registered)

    def _own_keys(self, template: ManualTemplate) -> tuple[str, ...]:
        return variables_of(template, self._ours.variables).keys

    def _defined(self, key: str) -> bool:
        return self._ours.variables.defined(key)

    def _is_at_hand(self, template: ManualTemplate) -> bool:
        return template.template.get("call_template_type") in {"file", "text"}

    def _loaded(self, registered: RegisteredManual) -> LoadedManual:
        return LoadedManual(
            tuple(discovered_tool(tool.name, self._scrubbed(tool.draft), tool.template) for tool in registered.tools),
            tuple(SkippedTool(tool.name, self.secrets.scrub(tool.reason)) for tool in registered.skipped),
            tuple(self._variables_of(registered)),
            tuple(map(self.secrets.scrub, registered.warnings)),
        )

    def _variables_of(self, registered: RegisteredManual) -> Iterator[ManualVariable]:
        tools: defaultdict[str, list[str]] = defaultdict(list)
        optional_tools: defaultdict[str, list[str]] = defaultdict(list)
        for tool in registered.tools:
            for key in tool.use.keys:
                tools[key].append(tool.name)
            for name in tool.draft.alternative_variables:
                optional_tools[namespaced(registered.template.name, name)].append(tool.name)
        descriptions = {
            namespaced(registered.template.name, name): self.secrets.scrub(words)
            for name, words in registered.variable_descriptions.items()
        }
        for key in dict.fromkeys((*tools, *optional_tools)):
            yield ManualVariable(
                key,
                self._ours.variables.defined(key),
                tuple(tools.get(key, ())),
                tuple(optional_tools.get(key, ())),
                descriptions.get(key, ""),
            )

    def _scrubbed(self, draft: DraftTool) -> DraftTool:
        """What a manual says of a tool, for a server may write the key into it that it was asked with."""
        if not len(self.secrets):
            return draft
        said = f"{draft.description} {draft.tags} {draft.inputs} {draft.outputs}"
        if self.secrets.scrub(said) == said:
            return draft
        clean = self.secrets.scrub_value
        return replace(
            draft,
            description=clean(draft.description),
            tags=clean(draft.tags),
            inputs=clean(draft.inputs),
            outputs=clean(draft.outputs),
        )
