"""Whatever happens to a call, no secret comes out of it: every way in for a secret, over every way out."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
import pickle
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from aiohttp import web
from click.testing import CliRunner

from tests.support.echo import event, streaming, threaded_server
from tests.support.http_server import HttpServer, http_server, replying
from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import ToolResult, Toolset
from utcp_bridge.errors import BridgeError

# Characters that are written in another way in a URL, in JSON and in HTML.
KEY = 'sk-3f9a"7&7c=/d1+é%20e5'
VARIABLES = {"m_KEY": KEY, "m_TOKEN": "tok-82b1c6f09d"}
LITERAL = "lit-5d0c9e7ab3"
FETCHED = "tok-fetched-77aa01"

# Of every length modulo 3, for base64 writes what follows in another way after each.
USERS = ("me", "you", "them")


def _oauth2(user: str, path: str) -> dict[str, str]:
    return {"auth_type": "oauth2", "client_id": user, "client_secret": "${KEY}", "token_url": f"{{base}}/{path}"}


PLACES: dict[str, dict[str, Any]] = {
    "header": {"headers": {"X-Key": "${KEY}"}},
    "bearer": {"headers": {"Authorization": "Bearer ${TOKEN}"}},
    "literal header": {"headers": {"Authorization": f"Bearer {LITERAL}"}},
    "query": {"url": "{base}/op?key=${TOKEN}&v=1"},
    "literal query": {"url": f"{{base}}/op?api_key={LITERAL}"},
    "path": {"url": "{base}/op/${TOKEN}/x"},
    **{f"user of the url of {len(user)}": {"url": f"{{base of {user}}}/op"} for user in USERS},
    "api key": {"auth": {"auth_type": "api_key", "api_key": "${KEY}", "var_name": "X-Key", "location": "header"}},
    "api key in query": {"auth": {"auth_type": "api_key", "api_key": "${KEY}", "var_name": "k", "location": "query"}},
    "api key in cookie": {"auth": {"auth_type": "api_key", "api_key": "${KEY}", "var_name": "k", "location": "cookie"}},
    "literal api key": {"auth": {"auth_type": "api_key", "api_key": LITERAL, "var_name": "k", "location": "query"}},
    **{
        f"basic of {len(user)}": {"auth": {"auth_type": "basic", "username": user, "password": "${KEY}"}}
        for user in USERS
    },
    "basic without a password": {"auth": {"auth_type": "basic", "username": "${KEY}", "password": ""}},
    **{f"oauth2 of {len(user)}": {"auth": _oauth2(user, "token")} for user in USERS},
    **{f"refused oauth2 of {len(user)}": {"auth": _oauth2(user, "refused")} for user in USERS},
}


BEGINNINGS = [secret[:7] for secret in (KEY, VARIABLES["m_TOKEN"], LITERAL, FETCHED)]
ENCODED = [
    base64.b64encode(text.encode()).decode()[:-4]
    for secret in (KEY, VARIABLES["m_TOKEN"], LITERAL, FETCHED)
    for text in (secret, *(f"{user}:{secret}" for user in USERS))
]


def _leaks(text: str) -> list[str]:
    return [part for part in (*BEGINNINGS, *ENCODED) if part in text]


def _echoing(status: int, shape: Callable[[str], tuple[str, str]]) -> Callable[[web.Request], Any]:
    """Answers with everything that it was asked, in this shape and with this status."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/token":
            return web.json_response({"access_token": FETCHED, "expires_in": 60})
        authorization = request.headers.get("Authorization", "")
        decoded = ""
        with suppress(ValueError):
            decoded = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        asked = [str(request.url), request.raw_path, str(dict(request.headers)), str(dict(request.query)), decoded]
        text, content_type = shape("\n".join([*asked, await request.text()]))
        answered = max(status, 401) if request.path == "/refused" else status
        return web.Response(text=text, status=answered, headers={"Content-Type": content_type, "X-Said": "yes"})

    return answer


async def _redirecting(request: web.Request) -> web.StreamResponse:
    if request.path == "/token":
        return web.json_response({"access_token": FETCHED})
    return await replying("", status=302, Location=f"http://198.51.100.1{request.raw_path}")(request)


SHAPES: dict[str, Callable[[web.Request], Any]] = {
    "text": _echoing(200, lambda said: (said, "text/plain; charset=utf-8")),
    "json": _echoing(200, lambda said: (json.dumps({"said": said, said: [said]}), "application/json")),
    "json as text": _echoing(200, lambda said: (json.dumps({"said": said}), "text/plain")),
    "blob": _echoing(200, lambda said: ("\x00\x01" + said, "application/x-thing")),
    "error text": _echoing(400, lambda said: (said, "text/plain")),
    "error json": _echoing(401, lambda said: (json.dumps({"error": {"message": said}}), "application/json")),
    "error page": _echoing(500, lambda said: (f"<html><title>Oops</title><p>{said}</p></html>", "text/html")),
    "redirect": _redirecting,
}


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that any logger writes at any level, as a handler formats it."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
    root = logging.getLogger()
    loggers = [root, *map(logging.getLogger, ("utcp", "utcp_http", "utcp_cli", "aiohttp", "asyncio", "utcp_bridge"))]
    levels = [(logger, logger.level) for logger in loggers]
    root.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    yield written
    root.removeHandler(handler)
    for logger, level in levels:
        logger.setLevel(level)


def _source(server: HttpServer, place: Mapping[str, Any], kind: str = "http") -> dict[str, Any]:
    fields = json.loads(
        json.dumps({"url": "{base}/op", **place})
        .replace("{base}", server.url)
        .replace("{base of ", "http://")
        .replace("}/op", f":${{TOKEN}}@127.0.0.1:{server.port}/op")
    )
    tool = http_tool("op", fields.pop("url"), call_template_type=kind, **fields)
    return config(text_manual("m", [tool], kind), variables=VARIABLES)


def _said_by(error: BaseException | None) -> str:
    """Everything that an exception and what is behind it say."""
    said = []
    while error is not None:
        said += [str(error), repr(error), repr(error.args), repr(vars(error))]
        said += traceback.format_exception(error)
        with suppress(Exception):
            said.append(repr(vars(pickle.loads(pickle.dumps(error)))))
        error = error.__cause__ or error.__context__
    return "\n".join(said)


def _said_of(toolset: Toolset) -> str:
    said = [repr(toolset), repr(toolset.report), str(toolset.report), json.dumps(toolset.report.to_dict())]
    for tool in toolset.tools.values():
        said += [repr(tool), repr(tool.input_schema), tool.description, repr(tool.args_model)]
    inside: Any = vars(toolset)
    return "\n".join([*said, *(repr(inside[name]) for name in ("_client", "_options", "_catalog"))])


@asynccontextmanager
async def _opened(server: HttpServer, place: str, kind: str = "http", **options: Any) -> AsyncIterator[Toolset]:
    async with await Toolset.aopen(_source(server, PLACES[place], kind), **options) as toolset:
        assert toolset.report.ok, str(toolset.report)
        yield toolset


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("place", PLACES)
async def test_no_echo_of_a_server_comes_out(place: str, shape: str, log: io.StringIO) -> None:
    arrived: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        arrived.append(f"{request.url} {request.raw_path} {dict(request.headers)} {await request.text()}")
        response: web.StreamResponse = await SHAPES[shape](request)
        return response

    async with http_server(answer) as server:
        async with _opened(server, place) as toolset:
            result = await toolset.acall("m.op", {})
            pieces = [piece async for piece in toolset.stream("m.op", {})]
            said = [repr(result), str(result), json.dumps(result.raw), repr(pieces), _said_of(toolset)]
            said += [base64.b64decode(block["blob"]).decode() for block in result.raw if "blob" in block]
        async with _opened(server, place, on_tool_error="raise") as toolset:
            try:
                said.append(repr(await toolset.acall("m.op", {})))
            except BridgeError as error:
                said.append(_said_by(error))
    assert _leaks("\n".join(arrived)), "the secret never travelled"
    assert not _leaks("\n".join(said))
    assert not _leaks(log.getvalue())


@pytest.mark.parametrize("kind", ["http", "sse", "streamable_http"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fate", ["gone", "slow", "cut", "garbage"])
async def test_no_failure_of_the_connection_says_one(place: str, kind: str, fate: str, log: io.StringIO) -> None:
    stuck = asyncio.Event()
    fates: dict[str, Any] = {
        "gone": replying("{}"),
        "slow": streaming(b"x", stuck.wait),
        "cut": streaming(event("x"), cut=True),
        "garbage": streaming(b"\x00", content_type="text/event-stream"),
    }

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path == "/token":
            return web.json_response({"access_token": FETCHED})
        response: web.StreamResponse = await fates[fate](request)
        return response

    retry = {"reconnect": False} if kind == "sse" else {}
    said = []
    async with http_server(answer, notices=True) as server:
        source = _source(server, {**PLACES[place], **retry}, kind)
        toolset = await Toolset.aopen(source, timeout=0.05, on_tool_error="raise")
        if fate != "gone":
            try:
                said.append(repr(await toolset.acall("m.op", {})))
            except BridgeError as error:
                said.append(_said_by(error))
    if fate == "gone":
        with pytest.raises(BridgeError) as raised:
            await toolset.acall("m.op", {})
        said.append(_said_by(raised.value))
    said.append(_said_of(toolset))
    await toolset.aclose()
    assert not _leaks("\n".join(said))
    assert not _leaks(log.getvalue())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fate", ["echo", "gone", "no manual"])
async def test_no_report_says_one(place: str, fate: str, log: io.StringIO) -> None:
    """The manual's own address and credentials hold the secret here."""
    answers = {
        "echo": SHAPES["error json"],
        "gone": replying("{}"),
        "no manual": _echoing(200, lambda said: (f"{said}: [", "text/plain")),
    }
    async with http_server(answers[fate]) as server:
        fields = dict(PLACES[place])
        tool = _source(server, fields)["manual_call_templates"][0]
        template = json.loads(tool["content"])["tools"][0]["tool_call_template"]
        source = config({**template, "name": "m"}, variables=VARIABLES)
        if fate != "gone":
            said = await _all_said_of_opening(source)
    if fate == "gone":
        said = await _all_said_of_opening(source)
    assert "'m' (http): failed" in said
    assert not _leaks(said)
    assert not _leaks(log.getvalue())


async def _all_said_of_opening(source: dict[str, Any]) -> str:
    async with await Toolset.aopen(source) as toolset:
        said = [_said_of(toolset)]
    try:
        await Toolset.aopen(source, on_failure="raise")
    except BridgeError as error:
        said.append(_said_by(error))
    return "\n".join(said)


async def test_no_failure_of_a_proxy_says_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", f"http://me:{LITERAL}@127.0.0.1:9")
    tool = http_tool("op", "https://api.example.com/op")
    source = config(text_manual("m", [tool], "http"))
    async with await Toolset.aopen(source, trust_env=True, on_tool_error="raise") as toolset:
        with pytest.raises(BridgeError, match="proxy") as raised:
            await toolset.acall("m.op", {})
    assert not _leaks(_said_by(raised.value))


def test_no_command_says_one(log: io.StringIO) -> None:
    """The environment and the commands hold it, the command prints it, and fails."""
    template = {
        "call_template_type": "cli",
        "env_vars": {"API_TOKEN": "${TOKEN}", "MY_SECRET": LITERAL},
        "commands": [{"command": 'echo "$API_TOKEN" $MY_SECRET ${KEY@Q} >&2; env; exit 3'}],
    }
    tool = {"name": "op", "inputs": {"type": "object"}, "tool_call_template": template}
    with Toolset.open(config(text_manual("m", [tool], "cli"), variables=VARIABLES)) as toolset:
        result = toolset.call("m.op", {})
        said = [repr(result), _said_of(toolset)]
    assert result.is_error
    assert "***" in result.content
    assert not _leaks("\n".join(said))
    assert not _leaks(log.getvalue())


@pytest.mark.parametrize(
    "client",
    [
        {"variables": {"m_KEY": [LITERAL]}},
        {"variables": LITERAL},
        {"load_variables_from": [{"variable_loader_type": "dotenv", "env_file_path": [LITERAL]}]},
        {"tool_repository": {"tool_repository_type": "in_memory", "password": {"a": LITERAL}}},
        {"post_processing": [{"tool_post_processor_type": "nothing", "key": LITERAL}]},
        {"manual_call_templates": [{"name": "m", "call_template_type": "http", "url": [f"{LITERAL}"]}]},
        {
            "manual_call_templates": [
                {"name": "m", "call_template_type": "http", "url": "x", "auth": {"auth_type": "basic", "k": LITERAL}}
            ]
        },
        {"manual_call_templates": [{"name": "m", "call_template_type": "cli", "commands": [{"api_key": LITERAL}]}]},
    ],
)
async def test_no_refused_configuration_says_one(client: dict[str, Any], log: io.StringIO) -> None:
    said = ""
    try:
        said = await _all_said_of_opening(client)
    except BridgeError as error:
        said = _said_by(error)
    assert said
    assert not _leaks(said)
    assert not _leaks(log.getvalue())


async def test_what_a_manual_says_of_its_tools_is_scrubbed() -> None:
    """A server that writes the key it was asked with into its manual."""

    async def answer(request: web.Request) -> web.StreamResponse:
        key = request.headers["X-Key"]
        tool = http_tool("op", f"http://127.0.0.1:9/op?key={quote(key)}", {"key": {"default": key, "enum": [key]}})
        tool |= {"description": f"Asks with {key}.", "tags": [key], "outputs": {"type": "object", "title": key}}
        document = {"manual_version": "1.0.0", "utcp_version": "1.0.1", "tools": [tool, {**tool, "name": ""}, 5]}
        return web.json_response(document)

    async with http_server(answer) as server:
        manual = {"name": "m", "call_template_type": "http", "url": server.url, "headers": {"X-Key": "${TOKEN}"}}
        async with await Toolset.aopen(config(manual, variables=VARIABLES)) as toolset:
            assert "m_op" in toolset.tools
            assert not _leaks(_said_of(toolset))
            result = await toolset.acall("m.op", {})
    assert isinstance(result, ToolResult)
    assert not _leaks(repr(result))


def test_the_command_line_prints_none(tmp_path: Path) -> None:
    from utcp_bridge.cli import main

    with threaded_server(SHAPES["error json"]) as server:
        path = tmp_path / "utcp.json"
        for place in ("query", "basic of 3", "user of the url of 4", "refused oauth2 of 4", "literal query"):
            path.write_text(json.dumps(_source(server, PLACES[place])))
            for command in (["list"], ["list", "--json"], ["check"], ["show", "m_op"], ["call", "m_op"]):
                name, *rest = command
                ran = CliRunner().invoke(main, [name, str(path), *rest])
                assert ran.output
                assert not _leaks(ran.output), (place, command)
