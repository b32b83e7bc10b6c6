"""The UTCP client behind a typed wrapper: what the rest of the core knows of `utcp`.

`utcp` 1.2.0 has no `py.typed`, and importing it takes a while; nothing in here imports it before a client is opened.
"""

from __future__ import annotations

import logging
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from utcp_bridge.config import BridgeConfig, ManualTemplate, load_config
from utcp_bridge.transports.client.loaded import FetchedManual, LoadedManual, RequiredVariable
from utcp_bridge.transports.client.plugins import load_plugins
from utcp_bridge.transports.failures import ManualRefusedError
from utcp_bridge.transports.secrets.leaks import our_client_at_work, scrubbed_error
from utcp_bridge.transports.secrets.scrubber import SecretScrubber, StreamScrubber
from utcp_bridge.transports.streaming.pieces import closing

if TYPE_CHECKING:
    from utcp.utcp_client import UtcpClient

Source: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Any"
"""A path, a configuration, a `BridgeConfig` that was loaded already, a `UtcpClientConfig`, or a ready `UtcpClient`."""

logger = logging.getLogger(__name__)

_END = object()

T = TypeVar("T")


class Client(ABC):
    """An open UTCP client. Make it with `create` or `around`, end it with `close`.

    Attributes:
        secrets: The secrets of the configuration, as far as they are known by now. What the methods return and raise
            is scrubbed already.
    """

    def __init__(self, utcp_client: UtcpClient) -> None:
        self.secrets = SecretScrubber()
        self._utcp_client = utcp_client
        self._kept: dict[str, LoadedManual] = {}

    @staticmethod
    async def create(config: BridgeConfig, http_options: Mapping[str, Any] | None = None) -> Client:
        """Open a client with this configuration; no manual is fetched.

        Args:
            config: The configuration.
            http_options: The fields of `transports.http.caller.HttpOptions` by name; default None, all as they are.

        Raises:
            ConfigError: UTCP does not take the client part of the configuration.
        """
        broken_plugins = load_plugins()
        from utcp_bridge.transports.client.owned import OwnedClient

        return OwnedClient.of(config, broken_plugins, http_options or {})

    @staticmethod
    def around(utcp_client: UtcpClient) -> Client:
        """A user's ready `UtcpClient`: its tools are used as they are, and `close` leaves it open.

        What is bound to a loop in it stays bound to the loop that its user opened it on.
        """
        from utcp_bridge.transports.client.ready import ReadyClient

        return ReadyClient(utcp_client)

    @abstractmethod
    async def manual_templates(self) -> tuple[ManualTemplate, ...]:
        """The manuals of the source, in order."""

    async def required_variables(self) -> tuple[RequiredVariable, ...]:
        """The variables that the manuals need, without connecting to anything.

        They are those of the call templates, and of the tools where the manual is at hand: written into the
        configuration, in a file, or in the tool repository. What other manuals' tools need is known when these are
        loaded; see `LoadedManual.variables`.
        """
        required: list[RequiredVariable] = []
        for template in await self.manual_templates():
            if template.problem is None:
                keys = await self._described_keys(template)
                required += [RequiredVariable(key, self._defined(key), template.name, keys[key]) for key in keys]
        return tuple(required)

    async def _described_keys(self, template: ManualTemplate) -> dict[str, str]:
        """The keys that a manual needs, each with what it takes, as far as that is known."""
        own = dict.fromkeys(self._own_keys(template), "")
        if not self._is_at_hand(template):
            return own
        try:
            fetched = await self.fetch_manual(template)
        except Exception:  # noqa: BLE001 - it may be that very variable; why else, loading it will tell
            return own
        return own | {each.key: each.description for each in fetched.loaded.variables if each.tools}

    @abstractmethod
    def _own_keys(self, template: ManualTemplate) -> tuple[str, ...]:
        """The keys that a manual's call template needs."""

    @abstractmethod
    def _defined(self, key: str) -> bool:
        """Whether a variable has a value now."""

    @abstractmethod
    def _is_at_hand(self, template: ManualTemplate) -> bool:
        """Whether a manual can be fetched without connecting to anything, or starting anything."""

    def warnings_of(self, template: ManualTemplate) -> tuple[str, ...]:
        """What is odd about a manual's call template, which can be used all the same; in whole sentences."""
        return ()

    @abstractmethod
    def loop_bound(self, protocol: str) -> bool:
        """Whether a protocol keeps state that is bound to one loop, so that everything it does must run there."""

    @abstractmethod
    def works_on_any_loop(self, protocol: str) -> bool:
        """Whether each call of a protocol may run on another loop than the one before."""

    async def fetch_manual(self, template: ManualTemplate) -> FetchedManual:
        """Fetch a manual and judge its tools; nothing is stored. Run it on the loop that `loop_bound` calls for.

        Raises:
            ManualRefusedError: The entry or the document cannot be used; the message says why.
            Exception: Whatever else the protocol raises, without secrets.
        """
        if template.problem is not None:
            raise ManualRefusedError(template.problem)
        return await self._without_secrets(lambda: self._fetched(template))

    async def keep_manual(self, fetched: FetchedManual) -> LoadedManual:
        """Store a fetched manual in the tool repository, in the place of an older version of it."""
        await self._without_secrets(lambda: self._store(fetched))
        self._kept[fetched.name] = fetched.loaded
        return fetched.loaded

    def kept_manual(self, name: str) -> LoadedManual | None:
        """What was last stored of a manual, or None."""
        return self._kept.get(name)

    async def call_tool(self, utcp_name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool.

        Returns:
            Its reply as the protocol and the post-processors hand it over, without secrets.

        Raises:
            Exception: Whatever the protocol raises, without secrets.
        """
        reply = await self._without_secrets(lambda: self._utcp_client.call_tool(utcp_name, arguments))
        return self.secrets.scrub_value(reply)

    async def stream_tool(self, utcp_name: str, arguments: dict[str, Any]) -> AsyncGenerator[Any, None]:
        """Call a tool and yield its reply in the pieces in which the protocol receives it; else as `call_tool`."""
        scrubber = StreamScrubber(self.secrets)
        failure: Exception | None = None
        async with closing(self._utcp_client.call_tool_streaming(utcp_name, arguments)) as pieces:
            try:
                while (piece := await self._without_secrets(lambda: anext(pieces, _END))) is not _END:
                    for clean in scrubber.feed(piece):
                        yield clean
            except Exception as error:  # noqa: BLE001 - raised again below
                failure = error
        for clean in scrubber.end():
            yield clean
        if failure is not None:
            raise failure

    async def search_tools(self, query: str, limit: int = 1_000_000, tags: Sequence[str] | None = None) -> list[str]:
        """The UTCP names of the tools that fit a query, best first, by the configuration's search strategy.

        Args:
            query: What is looked for.
            limit: The most to return; by default more than there are. utcp 1.2.0 finds nothing with 0.
            tags: One of these is required; default None, no tag is.
        """
        found = await self._utcp_client.search_tools(query, limit, list(tags) if tags else None)
        return [tool.name for tool in found]

    @abstractmethod
    async def close(self) -> None:
        """Close what this client opened, on the loop that its loop-bound protocols were used on.

        Raises:
            UtcpProtocolCloseError: Some protocols did not close; it lists them all.
        """

    @abstractmethod
    def discard(self) -> None:
        """Close, without waiting, what keeps no state that is bound to a loop: for finalizers, from any thread."""

    @abstractmethod
    async def _fetched(self, template: ManualTemplate) -> FetchedManual:
        """`fetch_manual`, before secrets are taken out."""

    @abstractmethod
    async def _store(self, fetched: FetchedManual) -> None:
        """`keep_manual`, before secrets are taken out."""

    async def _without_secrets(self, work: Callable[[], Awaitable[T]]) -> T:
        failure: Exception
        try:
            with our_client_at_work():
                return await work()
        except Exception as error:  # noqa: BLE001 - raised again below
            failure = scrubbed_error(error, self.secrets)
        # Outside of the handler, so that an original that holds a secret does not come along as its context.
        raise failure


async def open_client(source: Source, http_options: Mapping[str, Any] | None = None) -> Client:
    """Open a client of any source; see `Client.create`.

    Raises:
        ConfigError: The source cannot be read, or UTCP does not take it.
    """
    if is_utcp_client(source):
        ready: Any = source
        return Client.around(ready)
    if isinstance(source, BridgeConfig):
        return await Client.create(source, http_options)
    config = load_config(config_mapping(source) if _is_utcp_config(source) else source)
    if config.host_options:
        logger.warning(
            "The options beside %s are for its host, and are not used here: %s.",
            config.host_place,
            ", ".join(config.host_options),
        )
    return await Client.create(config, http_options)


def is_utcp_client(source: Any) -> bool:
    """Whether a source is a ready `UtcpClient`; imports nothing, for without `utcp` there can be none."""
    module = sys.modules.get("utcp.utcp_client")
    return module is not None and isinstance(source, module.UtcpClient)


def config_mapping(source: Any) -> dict[str, Any]:
    """A `UtcpClientConfig` as the mapping that `load_config` reads; repositories and the like stay the same objects."""
    from utcp.data.call_template import CallTemplateSerializer

    templates = [
        {key: value for key, value in CallTemplateSerializer().to_dict(template).items() if value is not None}
        for template in source.manual_call_templates
    ]
    return {
        "variables": source.variables or {},
        "load_variables_from": list(source.load_variables_from or ()),
        "tool_repository": source.tool_repository,
        "tool_search_strategy": source.tool_search_strategy,
        "post_processing": list(source.post_processing),
        "manual_call_templates": templates,
    }


def _is_utcp_config(source: Any) -> bool:
    module = sys.modules.get("utcp.data.utcp_client_config")
    return module is not None and isinstance(source, module.UtcpClientConfig)
