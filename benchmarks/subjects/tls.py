"""One call over TLS on loopback, against the floor and against upstream's own client.

The certificate is trusted by `SSL_CERT_FILE`, which aiohttp reads when it is imported, so that is imported late here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.certificates import make_certificate
from benchmarks.figures import Figure, advantage, cost
from benchmarks.measuring import Effort, awaited, in_turns
from benchmarks.own_interpreter import UnavailableError, trusting

_SUBJECT = "One call over TLS"


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure `Toolset.acall`, LangChain's `ainvoke` and `UtcpClient.call_tool`."""
    with TemporaryDirectory() as folder:
        certificate = make_certificate(Path(folder))
        if certificate is None:
            raise UnavailableError("there is no openssl to make a certificate with")
        with trusting(certificate):
            yield from _measured(effort, certificate)


def _measured(effort: Effort, certificate: Path) -> Iterator[Figure]:
    from utcp.utcp_client import UtcpClient

    from benchmarks.floors import requests_to
    from benchmarks.frameworks import core_calls, langchain_calls
    from benchmarks.servers import QUERY, source, tool_server

    with tool_server(certificate=certificate) as base_url, requests_to(base_url) as requests:
        configuration = source(f"{base_url}/utcp")
        loop = requests.loop
        upstream = loop.run_until_complete(UtcpClient.create(config=configuration))
        with core_calls(configuration, requests) as core, langchain_calls(configuration, requests) as langchain:
            sides = {
                "ours": awaited(loop, core.awaited["ours"]),
                "UtcpClient.call_tool": awaited(loop, lambda: upstream.call_tool("m.get_weather", QUERY)),
            }
            rounds = in_turns(sides, rounds=effort.rounds, calls=max(effort.calls // 2, 1))
            case = "upstream's `UtcpClient.call_tool`, against `Toolset.acall`"
            yield advantage(_SUBJECT, case, rounds, "ours", "UtcpClient.call_tool", at_least=5.0)
            both = {
                "ours": awaited(loop, langchain.awaited["ours"]),
                "floor": awaited(loop, langchain.awaited["floor"]),
            }
            rounds = in_turns(both, rounds=effort.rounds, calls=effort.calls)
            yield cost(_SUBJECT, "LangChain `ainvoke`", rounds, "ours", "floor", at_most=1.25)
        loop.run_until_complete(upstream.close())
