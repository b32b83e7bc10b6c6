"""The facade: an open connection to all manuals of one source."""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, Self, TypeAlias, Unpack

from utcp_bridge import runner
from utcp_bridge._relay import relayed
from utcp_bridge.calls import OnChunk, PreparedCall, in_a_thread, put_together, told_to_the_model
from utcp_bridge.catalog import Catalog
from utcp_bridge.closing import Closing
from utcp_bridge.discovery import Discovery, DiscoveryReport, ManualReport, ToolsetChanges, changes_between, discover
from utcp_bridge.errors import (
    ConfigError,
    RunnerError,
    RunnerStoppedError,
    ToolArgumentsError,
    ToolCallError,
    ToolTransportError,
)
from utcp_bridge.naming import may_be_shown_as, shown_names
from utcp_bridge.options import Limit, Options, OptionsDict
from utcp_bridge.results import ToolResult, normalise
from utcp_bridge.schema import InvalidArguments
from utcp_bridge.tools import BridgedTool, bridged, is_read_only
from utcp_bridge.transports.client.client import Client, Source, open_client
from utcp_bridge.transports.client.loaded import RequiredVariable

logger = logging.getLogger(__name__)

Arguments: TypeAlias = Mapping[str, Any] | str | None


class Toolset(Closing):
    """The tools of one source, ready to be called. Make it with `open` or `aopen`, and close it.

    Attributes:
        tools: The tools by the name that models are shown, sorted by name.
        report: What came of each manual.

    Example:
        ```python
        with Toolset.open("utcp.json", timeout=10) as toolset:
            print(toolset.call("weather_get_weather", {"city": "Paris"}).content)
        ```
    """

    def __init__(self, client: Client, options: Options, lease: runner.Lease | None = None) -> None:
        self._client = client
        self._options = options
        self._catalog = Catalog.of(())
        self._report = DiscoveryReport()
        self._lock = threading.Lock()
        self._leases = [] if lease is None else [lease]
        self._forgotten = weakref.finalize(self, _let_go, client, self._leases)
        self._forgotten.atexit = False
        # By loop, because one that was held when a fork came is never let go in the child.
        self._refreshing: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock]
        self._refreshing = weakref.WeakKeyDictionary()
        self._filters_checked = False
        self._closed = False

    # -- opening and closing

    @classmethod
    def open(cls, source: Source, **options: Unpack[OptionsDict]) -> Self:
        """Load all manuals of a source, from any thread, also inside a running loop.

        Args:
            source: The path of a UTCP client configuration (JSON or YAML), the configuration itself as a dict or
                a `UtcpClientConfig`, or a ready `UtcpClient`, which stays open when the toolset is closed.
            **options: See `Options`.

        Returns:
            The open toolset.

        Raises:
            ConfigError: The source cannot be read, or an option is unknown or has a wrong value.
            DiscoveryError: A manual failed and `on_failure` is `"raise"`.
            RunnerError: Called on the runner's own thread; use `aopen` there.
        """
        return cls._open(source, options, load=True)

    @classmethod
    def unloaded(cls, source: Source, **options: Unpack[OptionsDict]) -> Self:
        """The same as `open`, but without a look at the manuals: there are no tools before `refresh`.

        It is for hosts that may not wait, and load in a thread of their own with `refresh(piecemeal=True)`.

        Raises:
            ConfigError: The source cannot be read, or an option is unknown or has a wrong value.
            RunnerError: Called on the runner's own thread.
        """
        return cls._open(source, options, load=False)

    @classmethod
    def _open(cls, source: Source, options: OptionsDict, *, load: bool) -> Self:
        parsed = Options.parse(options)
        lease = runner.acquire()
        try:
            return lease.run(lambda: cls._opened(source, parsed, lease, load=load))
        except BaseException:
            lease.release()
            raise

    @classmethod
    async def aopen(cls, source: Source, **options: Unpack[OptionsDict]) -> Self:
        """Load all manuals of a source from async code; see `open`."""
        _require_asyncio("open")
        return await cls._opened(source, Options.parse(options))

    @classmethod
    def required_variables(cls, source: Source) -> tuple[RequiredVariable, ...]:
        """The variables that a source needs, without connecting to anything; from any thread, also inside a loop.

        They are those of the manuals' call templates, and those of the tools of manuals that are at hand (in a file or
        in the configuration itself). What the tools of other manuals need, `report` tells when they are loaded.

        Args:
            source: See `open`.

        Returns:
            Each key that is looked up, whether it has a value now, and the manual that needs it.

        Raises:
            ConfigError: The source cannot be read.
        """
        lease = runner.acquire()
        try:
            return lease.run(lambda: _required_variables(source))
        finally:
            lease.release()

    @classmethod
    def of(cls, source: Source | Toolset, **options: Unpack[OptionsDict]) -> Toolset:
        """A toolset as it is, or the one that `open` makes of a source; what adapters take.

        Raises:
            ConfigError: Options were given beside an open toolset, which has its own.
        """
        return _with_its_own_options(source, options) if isinstance(source, Toolset) else cls.open(source, **options)

    @classmethod
    async def aof(cls, source: Source | Toolset, **options: Unpack[OptionsDict]) -> Toolset:
        """The same as `of`, from async code."""
        if isinstance(source, Toolset):
            return _with_its_own_options(source, options)
        return await cls.aopen(source, **options)

    def close(self) -> None:
        """Release everything that the toolset holds; a second time does nothing."""
        if not self._mark_closed():
            return
        lease = self._leases[0] if self._leases else runner.acquire()
        try:
            # At exit the runner has stopped before, and everything that it held with it.
            with suppress(RunnerStoppedError):
                lease.run(self._client.close)
        finally:
            lease.release()

    async def aclose(self) -> None:
        """The same as `close`, from async code."""
        if not self._mark_closed():
            return
        if not self._leases:
            await self._client.close()
            return
        [lease] = self._leases
        try:
            with suppress(RunnerStoppedError):
                await lease.arun(self._client.close)
        finally:
            # In a thread, because work that refuses to end can hold it up for a second.
            await asyncio.to_thread(lease.release)

    @property
    def closed(self) -> bool:
        """Whether the toolset has been closed."""
        return self._closed

    # -- looking

    @property
    def tools(self) -> Mapping[str, BridgedTool]:
        """The tools by the name that models are shown, sorted by name."""
        return self._catalog.tools

    @property
    def report(self) -> DiscoveryReport:
        """What came of each manual when it was last loaded."""
        return self._report

    def find(self, name: str) -> BridgedTool:
        """The tool of this name, or of this UTCP name.

        Raises:
            ToolNotFoundError: There is none; the message lists the closest names.
        """
        return self._catalog.find(name)

    def search(self, query: str, limit: int = 5) -> list[BridgedTool]:
        """The tools that fit a query best, best first, by the search strategy of the UTCP configuration.

        Args:
            query: What is looked for, in plain words.
            limit: The most tools to return; default 5.

        Returns:
            At most `limit` tools. Whether tools that do not fit at all fill it up is the strategy's choice.
        """
        return self._leased().run(lambda: self.asearch(query, limit))

    async def asearch(self, query: str, limit: int = 5) -> list[BridgedTool]:
        """The same as `search`, from async code."""
        self._require_open("search")
        by_utcp_name = self._catalog.by_utcp_name
        found = await self._client.search_tools(query)
        return [by_utcp_name[name] for name in found if name in by_utcp_name][:limit]

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return f"<Toolset {state}: {len(self.tools)} tools of {len(self.report.manuals)} manuals>"

    # -- calling

    def call(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        timeout: float | None = None,
        on_chunk: OnChunk | None = None,
    ) -> ToolResult:
        """Call a tool from any thread, also inside a running loop.

        Args:
            name: The name that models are shown, or the UTCP name.
            arguments: The arguments by name, or their JSON text; None or empty text for none.
            timeout: The limit of this call in seconds; default None, the limit of the options.
            on_chunk: Is given each piece of the reply as it comes, as `stream` yields them, in order and in another
                thread; default None. What it raises ends the call and is raised here.

        Returns:
            The result; one with `is_error` if the call failed and `on_tool_error` is `"return"`.

        Raises:
            RunnerError: The toolset is closed, or this is the runner's own thread; use `acall` there.
            ConfigError: `timeout` is no number of seconds.
            ToolCallError: The call failed and `on_tool_error` is `"raise"`.
        """
        lease = self._leased(f"call {name!r}")
        try:
            prepared = self._prepared(name, arguments, timeout)
            with told_to_the_model(prepared.tool):
                if on_chunk is None:
                    is_free = self._client.works_on_any_loop(prepared.tool.protocol)
                    reply = (lease.run_here if is_free else lease.run)(prepared.run)
                else:
                    # Not on the runner's own thread, where a slow function would hold up every other call.
                    told = in_a_thread(on_chunk)
                    reply = lease.run(lambda: put_together(prepared.pieces(), told, self._client.secrets))
        except ToolCallError as error:
            return self._failed(error)
        return self._succeeded(prepared.tool, reply)

    async def acall(
        self,
        name: str,
        arguments: Arguments = None,
        *,
        timeout: float | None = None,
        on_chunk: OnChunk | None = None,
    ) -> ToolResult:
        """Call a tool from async code, on the caller's own loop wherever its protocol allows; see `call`.

        Here `on_chunk` is called on the caller's loop, and what it returns is awaited if it can be.
        """
        self._require_open(f"call {name!r}")
        _require_asyncio("call")
        try:
            prepared = self._prepared(name, arguments, timeout)
            if on_chunk is not None:
                reply = await put_together(self._pieces(prepared), on_chunk, self._client.secrets)
            elif self._client.loop_bound(prepared.tool.protocol):
                lease = self._leased(f"call {name!r}")
                with told_to_the_model(prepared.tool):
                    reply = await lease.arun(prepared.run)
            else:
                reply = await prepared.run()
        except ToolCallError as error:
            return self._failed(error)
        return self._succeeded(prepared.tool, reply)

    async def stream(
        self, name: str, arguments: Arguments = None, *, timeout: float | None = None
    ) -> AsyncGenerator[Any, None]:
        """Call a tool from async code and yield its reply as it comes.

        Tools of SSE and of streamable HTTP reply in pieces, and so may those of other plugins; any other tool gives
        its whole reply as one piece. No piece is cut. Leaving the loop early, or `aclose`, ends the call and its
        connection.

        Args:
            name: The name that models are shown, or the UTCP name.
            arguments: The arguments by name, or their JSON text; None or empty text for none.
            timeout: The limit in seconds for all the time that the tool is waited for, without the caller's own between
                two pieces; default None, the limit of the options.

        Yields:
            Text, bytes or JSON values. If the call fails and `on_tool_error` is `"return"`, the last item is a
            `ToolResult` with `is_error` and the reason; no other item is a `ToolResult`.

        Raises:
            RunnerError: The toolset is closed.
            ToolCallError: The call failed and `on_tool_error` is `"raise"`.
        """
        self._require_open(f"call {name!r}")
        try:
            async with aclosing(self._pieces(self._prepared(name, arguments, timeout))) as pieces:
                async for piece in pieces:
                    yield piece
        except ToolCallError as error:
            yield self._failed(error)

    async def _pieces(self, prepared: PreparedCall) -> AsyncGenerator[Any, None]:
        if self._client.loop_bound(prepared.tool.protocol):
            pieces = relayed(prepared.pieces, self._leased(f"call {prepared.tool.name!r}").arun)
        else:
            pieces = prepared.pieces()
        with told_to_the_model(prepared.tool):
            async with aclosing(pieces):
                async for piece in pieces:
                    yield piece

    def _prepared(self, name: str, arguments: Arguments, timeout: float | None) -> PreparedCall:
        tool = self._catalog.find(name)
        try:
            accepted = tool.arguments.accept(arguments, repair=self._options.repair)
        except InvalidArguments as error:
            raise ToolArgumentsError(f"{tool.name}: {error}", tool=tool.name, manual=tool.manual) from error
        if timeout is None:
            limit = self._options.timeout_for(tool.utcp_name, tool.name)
        else:
            limit = Limit(Options.parse({"timeout": timeout}).timeout, "timeout of this call")
        return PreparedCall(self._client, tool, accepted, limit)

    def _succeeded(self, tool: BridgedTool, reply: Any) -> ToolResult:
        return normalise(reply, max_chars=self._options.max_chars_for(tool.utcp_name, tool.name))

    def _failed(self, error: ToolCallError) -> ToolResult:
        # The second, for what refuses to begin because its connections are closed already.
        if self._closed and (isinstance(error, ToolTransportError) or isinstance(error.__cause__, RunnerError)):
            words = f"{error.tool} was not finished: its toolset was closed while the call was running."
            error = ToolTransportError(words, tool=error.tool, manual=error.manual)
        if self._options.on_tool_error == "raise":
            raise error
        return ToolResult(str(error), is_error=True, raw=list(error.raw) or [{"type": "text", "text": str(error)}])

    # -- discovering

    def refresh(self, *, piecemeal: bool = False) -> ToolsetChanges:
        """Load all manuals anew and swap the tools at once; a manual that fails keeps the tools it had.

        Args:
            piecemeal: Whether `tools` and `report` change with each manual that arrives, so that a slow one holds back
                its own tools alone, and what is wrong with manuals is left to the reader of the report instead of
                logged. Default false: with the last manual, as always where `on_failure` is `"raise"`. No name
                changes because of a manual that arrives later: a tool whose name may turn out to be shared with a
                tool of a manual that was never loaded waits for that manual.

        Returns:
            The names of the tools that were added, removed and changed.

        Raises:
            RunnerError: The toolset is closed, or this is the runner's own thread; use `arefresh` there.
            DiscoveryError: A manual failed and `on_failure` is `"raise"`; the toolset stays as it was.
        """
        return self._leased("refresh").run(lambda: self._refreshed(piecemeal))

    async def arefresh(self, *, piecemeal: bool = False) -> ToolsetChanges:
        """The same as `refresh`, from async code."""
        return await self._leased("refresh").arun(lambda: self._refreshed(piecemeal))

    @classmethod
    async def _opened(
        cls, source: Source, options: Options, lease: runner.Lease | None = None, *, load: bool = True
    ) -> Self:
        client = await open_client(source, options.http)
        toolset = cls(client, options, lease)
        try:
            if load:
                await toolset._load(piecemeal=False)
        except BaseException:
            if lease is None:
                await toolset.aclose()
            else:
                # Not `aclose`: that would release the lease, and so cancel this very work. `open` releases it.
                toolset._mark_closed()
                await client.close()
            raise
        return toolset

    async def _refreshed(self, piecemeal: bool) -> ToolsetChanges:
        async with self._refreshing.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            before = self._catalog
            await self._load(piecemeal)
        return changes_between(before.tools, self._catalog.tools)

    async def _load(self, piecemeal: bool) -> None:
        found = await discover(
            self._client,
            timeout=self._options.discovery_timeout,
            on_runner=lambda work: self._leased().arun(work),
            on_failure=self._options.on_failure,
            on_arrival=self._swap if piecemeal else None,
            before=self._report,
        )
        self._swap(found)
        self._warn_of_dead_filters(found)

    def _swap(self, found: Discovery) -> None:
        # Names are given before the filters apply, so that a filter never renames a tool.
        names = shown_names((tool.utcp_name for tool in found.tools), self._options.max_name_length)
        selected = [
            tool for tool in found.tools if self._options.selects(tool.utcp_name, tool.tags, is_read_only(tool))
        ]
        if loading := found.report.loading:
            selected = [tool for tool in selected if not self._may_be_renamed(names[tool.utcp_name], loading)]
        catalog = Catalog.of(
            bridged(tool, names[tool.utcp_name], options=self._options, toolset=self) for tool in selected
        )
        self._report, self._catalog = found.report, catalog

    def _may_be_renamed(self, name: str, loading: Sequence[ManualReport]) -> bool:
        return any(may_be_shown_as(name, manual.name, self._options.max_name_length) for manual in loading)

    def _warn_of_dead_filters(self, found: Discovery) -> None:
        if self._filters_checked or not found.tools or found.report.failed:
            return  # what fits nothing now may fit a manual that is missing
        self._filters_checked = True
        if dead := self._options.dead_patterns(tool.utcp_name for tool in found.tools):
            logger.warning("No UTCP tool fits %s of the options.", "; ".join(dead))
        elif not self.tools:
            logger.warning("No UTCP tool passes the filters of the options; %d had been loaded.", len(found.tools))

    # -- the runner, held only by a toolset that needs it

    def _leased(self, purpose: str = "use") -> runner.Lease:
        self._require_open(purpose)
        with self._lock:
            if not self._leases:
                self._leases.append(runner.acquire())
            return self._leases[0]

    def _require_open(self, purpose: str) -> None:
        if self._closed:
            raise RunnerError(f"The toolset is closed; open a new one to {purpose}.")

    def _mark_closed(self) -> bool:
        with self._lock:
            was_open, self._closed = not self._closed, True
        self._forgotten.detach()
        return was_open


async def _required_variables(source: Source) -> tuple[RequiredVariable, ...]:
    client = await open_client(source)
    try:
        return await client.required_variables()
    finally:
        await client.close()


def _require_asyncio(sync_form: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise RunnerError(
            f"This is no asyncio event loop (Trio's, perhaps). Call `{sync_form}` in a worker thread instead, for "
            "example with `anyio.to_thread.run_sync`."
        ) from None


def _let_go(client: Client, leases: list[runner.Lease]) -> None:
    """Close what a toolset held that nobody closed; called by the garbage collector, so it may wait for nothing."""
    for lease in leases:
        with suppress(RunnerError):
            lease.release_after(client.close)
            return
    client.discard()


def _with_its_own_options(toolset: Toolset, options: Mapping[str, Any]) -> Toolset:
    if options:
        raise ConfigError(
            f"The options {', '.join(map(repr, sorted(options)))} were given beside an open toolset, which has its "
            "own; pass them to Toolset.open instead."
        )
    return toolset
