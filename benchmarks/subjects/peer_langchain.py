"""`langchain-utcp-adapters` beside ours, in an environment of its own: it requires `langchain-core<0.4`."""

from __future__ import annotations

import asyncio
import functools
import importlib
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.certificates import make_certificate
from benchmarks.figures import Figure, cost
from benchmarks.measuring import Effort, Work, awaited, in_turns
from benchmarks.own_interpreter import UnavailableError, trusting

_SUBJECT = "LangChain, beside `langchain-utcp-adapters` 0.1.0"
_PEER = "langchain-utcp-adapters"


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure one call over HTTP and over TLS, many at once, and a list of tools."""
    with TemporaryDirectory() as folder:
        certificate = make_certificate(Path(folder))
        if certificate is None:
            raise UnavailableError("there is no openssl to make a certificate with")
        with trusting(certificate):
            try:
                importlib.import_module("langchain_utcp_adapters")  # not among our own dependencies
            except ImportError as error:
                raise UnavailableError(str(error)) from error
            several = [at_once for at_once in effort.at_once if at_once <= 64]
            yield from _calls(effort, "over HTTP", None, several)
            yield from _calls(effort, "over TLS", certificate, [1])
            yield from _loading(effort)


def _calls(effort: Effort, transport: str, certificate: Path | None, several: list[int]) -> Iterator[Figure]:
    from utcp.utcp_client import UtcpClient

    from benchmarks.floors import requests_to
    from benchmarks.frameworks import langchain_calls
    from benchmarks.servers import QUERY, source, tool_server

    with tool_server(certificate=certificate) as base_url, requests_to(base_url) as requests:
        configuration = source(f"{base_url}/utcp")
        client = requests.loop.run_until_complete(UtcpClient.create(config=configuration))
        [peer] = requests.loop.run_until_complete(_adapters().load_utcp_tools(client))
        # Upstream's HTTP protocol raises at a boolean in a query; its own tool declares one.
        given = {name: value for name, value in QUERY.items() if name != "metric"}
        with langchain_calls(configuration, requests) as calls:
            sides: dict[str, Callable[[], Awaitable[object]]] = {
                **calls.awaited,
                _PEER: functools.partial(peer.ainvoke, given),
            }
            for at_once in several:
                works: dict[str, Work] = {name: awaited(requests.loop, call, at_once) for name, call in sides.items()}
                rounds = in_turns(works, rounds=effort.rounds, calls=max(effort.calls // at_once, 2) * at_once)
                case = f"a call {transport}" if at_once == 1 else f"{at_once} calls at once {transport}"
                for side in ("ours", _PEER):
                    yield cost(_SUBJECT, f"{side}: {case}", rounds, side, "floor")
        requests.loop.run_until_complete(client.close())


def _loading(effort: Effort) -> Iterator[Figure]:
    from benchmarks.servers import manual_of, source, tool_server
    from benchmarks.subjects.loading import BARE, langchain_list, many_sided_tool, only_upstream

    case, count = next(iter(effort.tools.items()))
    manual = json.dumps(manual_of([many_sided_tool(index) for index in range(count)])).encode()
    with tool_server(manual) as base_url:
        loop = asyncio.new_event_loop()
        lists = {"ours": langchain_list, _PEER: _peers_list, BARE: only_upstream}
        sides = {
            name: awaited(loop, functools.partial(work, source(f"{base_url}/utcp"), count))
            for name, work in lists.items()
        }
        rounds = in_turns(sides, rounds=max(1, effort.rounds // 4), calls=1)
        loop.close()
    for side in ("ours", _PEER):
        yield cost(_SUBJECT, f"{side}: a list of {case}", rounds, side, BARE, unit="ms")


async def _peers_list(configuration: Mapping[str, Any], count: int) -> None:
    from utcp.utcp_client import UtcpClient

    client = await UtcpClient.create(config=dict(configuration))
    tools = await _adapters().load_utcp_tools(client)
    if len(tools) != count:
        raise RuntimeError(f"{len(tools)} of {count} tools were loaded")
    await client.close()


def _adapters() -> Any:
    return importlib.import_module("langchain_utcp_adapters")
