"""`langchain-utcp-adapters` beside ours, in an environment of its own: it requires `langchain-core<0.4`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.certificates import make_certificate
from benchmarks.figures import Figure, advantage
from benchmarks.measuring import Effort, Work, awaited, in_turns
from benchmarks.own_interpreter import Unavailable, trusting

_SUBJECT = "`langchain-utcp-adapters` 0.1.0, against our `langchain-utcp-toolkit`"
_PEER = "langchain-utcp-adapters"


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure one call over HTTP and over TLS, many at once, and a list of tools."""
    with TemporaryDirectory() as folder:
        certificate = make_certificate(Path(folder))
        if certificate is None:
            raise Unavailable("there is no openssl to make a certificate with")
        with trusting(certificate):
            try:
                import langchain_utcp_adapters  # noqa: F401 - not among our own dependencies
            except ImportError as error:
                raise Unavailable(str(error)) from error
            yield from _calls(effort, "over HTTP", None)
            yield from _calls(effort, "over TLS", certificate)
            yield from _loading(effort)


def _calls(effort: Effort, transport: str, certificate: Path | None) -> Iterator[Figure]:
    from langchain_utcp_adapters import load_utcp_tools
    from utcp.utcp_client import UtcpClient

    from benchmarks.servers import ARGUMENTS, QUERY, source, tool_server
    from langchain_utcp_toolkit import UTCPToolkit

    with tool_server(certificate=certificate) as base_url:
        loop = asyncio.new_event_loop()
        configuration = source(f"{base_url}/utcp")
        toolkit = loop.run_until_complete(UTCPToolkit.aopen(configuration))
        client = loop.run_until_complete(UtcpClient.create(config=configuration))
        [ours], [theirs] = toolkit.get_tools(), loop.run_until_complete(load_utcp_tools(client))
        # Booleans are not among its arguments, for upstream's HTTP protocol raises at one in a query.
        given = {name: value for name, value in ARGUMENTS.items() if QUERY[name] == str(value)}

        def sides(at_once: int) -> dict[str, Work]:
            return {
                "ours": awaited(loop, lambda: ours.ainvoke(ARGUMENTS), at_once),
                _PEER: awaited(loop, lambda: theirs.ainvoke(given), at_once),
            }

        for at_once in (at_once for at_once in effort.at_once if at_once in {1, 8, 64} and not (certificate and at_once > 1)):
            calls = max(effort.calls // at_once, 2) * at_once
            rounds = in_turns(sides(at_once), rounds=effort.rounds, calls=calls)
            case = f"a call {transport}" if at_once == 1 else f"{at_once} calls at once {transport}"
            yield advantage(_SUBJECT, case, rounds, "ours", _PEER)
        loop.run_until_complete(toolkit.aclose())
        loop.run_until_complete(client.close())
        loop.close()


def _loading(effort: Effort) -> Iterator[Figure]:
    from benchmarks.servers import manual_of, source, tool_server
    from benchmarks.subjects.loading import many_sided_tool

    case, count = list(effort.tools.items())[0]
    manual = json.dumps(manual_of([many_sided_tool(index) for index in range(count)])).encode()
    with tool_server(manual) as base_url:
        loop = asyncio.new_event_loop()
        configuration = source(f"{base_url}/utcp")
        sides = {
            "ours": awaited(loop, lambda: _ours_loaded(configuration)),
            _PEER: awaited(loop, lambda: _theirs_loaded(configuration)),
        }
        rounds = in_turns(sides, rounds=max(2, effort.rounds // 4), calls=1)
        loop.close()
    yield advantage(_SUBJECT, f"a list of {case}", rounds, "ours", _PEER, unit="ms")


async def _ours_loaded(configuration: Mapping[str, Any]) -> None:
    from langchain_utcp_toolkit import UTCPToolkit

    async with await UTCPToolkit.aopen(configuration) as toolkit:
        toolkit.get_tools()


async def _theirs_loaded(configuration: Mapping[str, Any]) -> None:
    from langchain_utcp_adapters import load_utcp_tools
    from utcp.utcp_client import UtcpClient

    client = await UtcpClient.create(config=dict(configuration))
    await load_utcp_tools(client)
    await client.close()
