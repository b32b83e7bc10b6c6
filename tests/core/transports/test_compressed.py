"""Compressed replies and documents: what can be read is, and what cannot is named, never handed on as garbage."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from tests.support.http_server import HttpServer, http_server
from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset

DOCUMENT = {"tools": [http_tool("t", "https://example.com/t")]}
PLAIN = json.dumps(DOCUMENT).encode()


def _raw_deflate(content: bytes) -> bytes:
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(content) + compressor.flush()


BODIES: dict[str, tuple[str, bytes]] = {
    "gzip": ("gzip", gzip.compress(PLAIN)),
    "GZIP": ("GZIP", gzip.compress(PLAIN)),
    "deflate": ("deflate", zlib.compress(PLAIN)),
    "raw-deflate": ("deflate", _raw_deflate(PLAIN)),
    "identity": ("identity", PLAIN),
    "utf-8": ("utf-8", PLAIN),  # no coding of HTTP, and yet servers send it
    "broken": ("gzip", b"this is no gzip"),
    "br": ("br", b"\x8b\x02\x80hello\x03"),
    "zstd": ("zstd", b"\x28\xb5\x2f\xfd\x04\x00\x41\x00\x00hello"),
    "x-gzip": ("x-gzip", gzip.compress(PLAIN)),
    "compress": ("compress", b"\x1f\x9d\x90hello"),
    "two": ("gzip, br", gzip.compress(PLAIN)),
    "empty": ("x-gzip", b""),
}


@pytest.fixture
async def server() -> AsyncIterator[HttpServer]:
    async def answer(request: web.Request) -> web.Response:
        coding, body = BODIES[request.path.strip("/")]
        return web.Response(body=body, headers={"Content-Encoding": coding, "Content-Type": "application/json"})

    async with http_server(answer) as running:
        yield running


async def _both(server: HttpServer, name: str) -> tuple[str, Any]:
    """What came of it as a document, and as the reply of a tool."""
    manual = {"name": "m", "call_template_type": "http", "url": f"{server.url}/{name}"}
    tools = text_manual("tools", [http_tool("t", f"{server.url}/{name}")], "http")
    async with await Toolset.aopen(config(manual, tools)) as toolset:
        return str(toolset.report.manuals[0]), await toolset.acall("tools.t")


@pytest.mark.parametrize("name", ["gzip", "GZIP", "deflate", "raw-deflate", "identity", "utf-8"])
async def test_what_was_asked_for_is_read(server: HttpServer, name: str) -> None:
    report, result = await _both(server, name)
    assert report == "'m' (http): 1 tool"
    assert (result.is_error, result.data) == (False, DOCUMENT)


def _decodable() -> frozenset[str]:
    from aiohttp import compression_utils

    installed = {"br": compression_utils.HAS_BROTLI, "zstd": compression_utils.HAS_ZSTD}
    return frozenset({"gzip", "deflate", *(name for name, there in installed.items() if there)})


async def test_only_what_can_be_read_is_asked_for(server: HttpServer) -> None:
    await _both(server, "gzip")
    for request in server.received:
        asked = {coding.strip() for coding in request.headers["Accept-Encoding"].split(",")}
        assert asked <= _decodable()


@pytest.mark.parametrize("name", sorted({"br", "zstd", "x-gzip", "compress", "two"} - _decodable()))
async def test_what_cannot_be_read_is_named_with_what_to_do(server: HttpServer, name: str) -> None:
    report, result = await _both(server, name)
    assert result.is_error
    for words in (report, result.content):
        assert f"127.0.0.1:{server.port} sent its reply compressed as {BODIES[name][0]!r}" in words
        assert "have it send 'gzip'" in words
        assert "\x1f" not in words


async def test_the_package_that_reads_it_is_named(server: HttpServer) -> None:
    packages = {"br": "Brotli", "zstd": "backports.zstd"}
    for name in packages.keys() - _decodable():
        report, _ = await _both(server, name)
        assert f"or install {packages[name]!r}" in report


async def test_what_is_broken_is_said_to_be_so(server: HttpServer) -> None:
    report, result = await _both(server, "broken")
    for words in (report, result.content):
        assert "sent a reply that cannot be decompressed" in words


async def test_an_empty_reply_is_not_compressed(server: HttpServer) -> None:
    _, result = await _both(server, "empty")
    assert (result.is_error, result.content) == (False, "(no content)")
