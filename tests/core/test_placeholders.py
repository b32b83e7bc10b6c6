"""Call templates that write out where arguments go: on the wire, in every spelling, sync and async.

The spellings are those of UTCP's documents (`${name}`), of manuals in the wild (`{name}`) and of template languages
(`{{name}}`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.echo import events, threaded_server
from tests.support.http_server import HttpServer, Received
from tests.support.manuals import config, text_manual
from utcp_bridge import ToolResult, Toolset

PROTOCOLS = ("http", "cli", "sse", "streamable_http", "text", "file")
SPELLINGS = ("{%s}", "${%s}", "{{%s}}", "{{ %s }}", "${args.%s}", "{{inputs.%s}}")
TRICKY = ["a b", "ä☃😀", "a&b=c#d?e/f%20", '"quoted" \\ \n', "${SECRET} {other} {{x}}", "\0", "", "+"]
VALUES = [*TRICKY, 0, 1.5, -7, True, False, [1, "a,b", None], [], {"k": {"l": [1]}, "m": None}, {}]


@pytest.fixture(scope="module")
def server() -> Iterator[HttpServer]:
    with threaded_server() as serving:
        yield serving


def _tool(url: str, properties: Any = ("a", "b"), required: Any = (), **template: Any) -> dict[str, Any]:
    inputs = {"type": "object", "properties": {name: {} for name in properties}, "required": list(required)}
    fields = {"call_template_type": "http", "url": url, "http_method": "POST", **template}
    return {"name": "t", "description": "", "inputs": inputs, "tool_call_template": fields}


def _toolset(tool: Mapping[str, Any], **variables: str) -> Toolset:
    return Toolset.open(config(text_manual("m", [tool], *PROTOCOLS), variables=variables))


def _sent(server: HttpServer, tool: Mapping[str, Any], arguments: dict[str, Any], **variables: str) -> Received:
    """The request that a call makes; the same from sync and from async code."""

    async def call() -> ToolResult:
        async with await Toolset.aopen(config(text_manual("m", [tool], *PROTOCOLS), variables=variables)) as toolset:
            return await toolset.acall("m_t", arguments)

    with _toolset(tool, **variables) as toolset:
        assert toolset.report.ok, toolset.report
        assert not toolset.report.manuals[0].missing_variables
        result = toolset.call("m_t", arguments)
    assert not result.is_error, result.content
    first = server.last
    assert not asyncio.run(call()).is_error
    assert (first.method, first.target, first.body) == (server.last.method, server.last.target, server.last.body)
    assert dict(first.headers) == dict(server.last.headers)
    return first


# -- every spelling, in every place


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_declared_argument_stands_in_the_path_the_query_a_header_and_the_body(
    server: HttpServer, spelling: str
) -> None:
    tool = _tool(
        f"{server.url}/x/{spelling % 'a'}/y",
        "abcd",
        query_params={"q": spelling % "b", "fixed": 1, "flag": True, "none": None, "mix": f"<{spelling % 'b'}>"},
        headers={"X-C": spelling % "c", "X-Mix": f"v {spelling % 'c'}", "X-Fixed": "f"},
        body={"d": spelling % "d", "n": 5, "deep": [{"d": spelling % "d"}, f"= {spelling % 'd'}"], "null": None},
    )
    sent = _sent(server, tool, {"a": "p/1", "b": "q 1", "c": "h1", "d": [1, {"e": None}]})
    assert sent.method == "POST"
    assert sent.path == "/x/p%2F1/y"
    assert sent.query == [("q", "q 1"), ("fixed", "1"), ("flag", "true"), ("mix", "<q 1>")]
    assert [sent.headers[name] for name in ("X-C", "X-Mix", "X-Fixed")] == ["h1", "v h1", "f"]
    d = [1, {"e": None}]
    assert json.loads(sent.body) == {"d": d, "n": 5, "deep": [{"d": d}, '= [1,{"e":null}]'], "null": None}
    assert sent.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("value", [*VALUES, None], ids=repr)
@pytest.mark.parametrize("spelling", SPELLINGS[:3])
def test_a_body_has_the_value_of_any_json_type_exactly(server: HttpServer, spelling: str, value: Any) -> None:
    tool = _tool(f"{server.url}/", body={"parameters": spelling % "a", "list": [spelling % "a"]})
    assert json.loads(_sent(server, tool, {"a": value}).body) == {"parameters": value, "list": [value]}


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("spelling", SPELLINGS[:3])
def test_a_query_has_the_value_as_an_argument_without_a_place_would(
    server: HttpServer, spelling: str, value: Any
) -> None:
    written = _sent(server, _tool(f"{server.url}/", query_params={"a": spelling % "a"}), {"a": value})
    plain = _sent(server, _tool(f"{server.url}/"), {"a": value})
    assert written.target == plain.target


def test_an_argument_that_looks_like_a_placeholder_or_a_variable_is_text(server: HttpServer) -> None:
    tool = _tool(f"{server.url}/", query_params={"q": "${a}"}, headers={"X-A": "{a}"}, body={"a": "{{a}}", "b": "{b}"})
    text = "${SECRET} $SECRET {b} {{b}} ${b}"
    sent = _sent(server, tool, {"a": text, "b": "other"}, m_SECRET="never", m_KEY="k")  # noqa: S106 - none
    assert sent.query == [("q", text)]
    assert sent.headers["X-A"] == text
    assert json.loads(sent.body) == {"a": text, "b": "other"}


def test_a_variable_whose_value_looks_like_a_placeholder_is_text(server: HttpServer) -> None:
    tool = _tool(f"{server.url}/", headers={"X-K": "${KEY} {a}"}, body={"k": "${KEY}", "a": "{a}"})
    sent = _sent(server, tool, {"a": "1"}, m_KEY="x{a}{{a}}$${a}")
    assert sent.headers["X-K"] == "x{a}{{a}}$${a} 1"
    assert json.loads(sent.body) == {"k": "x{a}{{a}}$${a}", "a": "1"}


@pytest.mark.parametrize("name", ["user-id", "a.b", "$top", "größe", "args.x"])
def test_an_argument_may_have_any_name(server: HttpServer, name: str) -> None:
    tool = _tool(f"{server.url}/{{{name}}}", (name,), query_params={"q": f"${{{name}}}"}, body={"b": f"{{{{{name}}}}}"})
    sent = _sent(server, tool, {name: "1"})
    assert (sent.target, sent.body) == ("/1?q=1", b'{"b":"1"}')


# -- what is not given


@pytest.mark.parametrize("given", [{}, {"a": None}])
def test_what_is_not_given_leaves_out_its_pair_its_header_and_its_member(
    server: HttpServer, given: dict[str, Any]
) -> None:
    tool = _tool(
        f"{server.url}/x?u={{a}}&v=1&w={{a}}-{{b}}",
        query_params={"other_name": "{a}", "mix": "{a},{b}", "list": ["1", "{a}"]},
        headers={"X-A": "{a}", "X-Mix": "{a} {b}"},
        body={"m": "t {a}", "list": ["{b}", "x {a}"], "gone": {"deep": {"m": "- {a}"}}, "kept": {}},
    )
    sent = _sent(server, tool, {**given, "b": "b"})
    assert sent.target == "/x?v=1&list=1"
    assert {"X-A", "X-Mix"}.isdisjoint(sent.headers)
    assert json.loads(sent.body) == {"list": ["b"], "kept": {}}
    body = json.loads(_sent(server, _tool(f"{server.url}/", body={"a": "{a}", "b": "{b}"}), {**given, "b": 1}).body)
    assert body == {**given, "b": 1}  # null is a value of JSON


def test_a_body_of_nothing_that_was_given_is_empty(server: HttpServer) -> None:
    assert _sent(server, _tool(f"{server.url}/", body={"a": "{a}"}), {}).body == b"{}"
    assert _sent(server, _tool(f"{server.url}/", body=["{a}"]), {}).body == b"[]"
    assert _sent(server, _tool(f"{server.url}/", body="{a}"), {}).body == b""


def test_an_optional_argument_under_another_name_stays_optional(server: HttpServer) -> None:
    tool = _tool(f"{server.url}/", required=["a"], http_method="GET", query_params={"q": "{a}", "units": "{b}"})
    assert _sent(server, tool, {"a": "x"}).target == "/?q=x"
    assert _sent(server, tool, {"a": "x", "b": "y"}).target == "/?q=x&units=y"
    with _toolset(tool) as toolset:
        assert "a: is missing" in toolset.call("m_t", {}).content


def test_a_list_in_the_url_of_a_template_is_written_with_commas_whether_optional_or_not(server: HttpServer) -> None:
    url = f"{server.url}/?ids={{a}}&n=%2B+{{b}}"
    for required in ([], ["a", "b"]):
        sent = _sent(server, _tool(url, required=required, http_method="GET"), {"a": [1, "x y"], "b": 2})
        assert sorted(sent.query) == [("ids", "1,x y"), ("n", "+ 2")]


# -- where the rest goes


def test_declared_arguments_without_a_place_go_to_the_query_and_undeclared_ones_nowhere(server: HttpServer) -> None:
    tool = _tool(f"{server.url}/", body={"a": "{a}"})
    assert _sent(server, tool, {"a": 1, "b": 2}).target == "/?b=2"
    with _toolset(tool) as toolset:
        before = len(server.received)
        result = toolset.call("m_t", {"a": 1, "stray": "x"})
        assert (result.is_error, len(server.received)) == (True, before)
        assert "no place for 'stray'" in result.content


def test_a_tool_that_takes_any_argument_sends_the_rest_in_the_query(server: HttpServer) -> None:
    tool = _tool(f"{server.url}/", body={"a": "{a}"})
    tool["inputs"]["additionalProperties"] = True
    assert _sent(server, tool, {"a": 1, "more": "x"}).target == "/?more=x"


def test_the_placeholders_of_a_tool_that_lists_no_arguments_are_its_arguments(server: HttpServer) -> None:
    tool = _tool(
        f"{server.url}/{{{{a}}}}", (), query_params={"q": "{b}-{c}"}, headers={"X-D": "{d}"}, body={"e": "{e}"}
    )
    sent = _sent(server, tool, {"a": "1", "b": "2", "c": "3", "d": "4", "e": 5})
    assert (sent.target, sent.headers["X-D"], sent.body) == ("/1?q=2-3", "4", b'{"e":5}')


def test_arguments_are_found_in_the_branches_of_a_schema(server: HttpServer) -> None:
    tool = _tool(f"{server.url}/", (), body={"a": "${a}", "b": "${b}"})
    branch = {"oneOf": [{"properties": {"b": {"type": "integer"}}}, {"required": ["c"]}]}
    tool["inputs"] = {"allOf": [{"properties": {"a": {}}}, branch]}
    assert json.loads(_sent(server, tool, {"a": 1, "b": 2}).body) == {"a": 1, "b": 2}


# -- bodies that are texts


@pytest.mark.parametrize(
    ("body", "content_type", "sent_type", "sent"),
    [
        ('{"a": "{a}", "n": {b}, "m": "x {a}"}', None, "application/json", b'{"a":"<1>","n":2,"m":"x <1>"}'),
        ('{"a": ${a}, "q": "\\"{{b}}\\""}', "application/json", "application/json", b'{"a":"<1>","q":"\\"2\\""}'),
        ('[{"deep": "${a}"}]', None, "application/json", b'[{"deep":"<1>"}]'),
        ("a={a}&b={b}&a=2&c=x+y", "application/x-www-form-urlencoded", ..., b"a=%3C1%3E&a=2&b=2&c=x+y"),
        ("<x a='{a}'>${b}</x>", "text/xml", "text/xml", b"<x a='&lt;1&gt;'>2</x>"),
        ("say {a} {{b}} {c}", "text/plain", "text/plain", b"say <1> 2 {c}"),
        ("say {a}", None, "text/plain; charset=utf-8", b"say <1>"),
        ("no placeholder", "text/plain", "text/plain", b"no placeholder"),
        ("{a}", None, "application/json", b'"<1>"'),
        ("${a}", "text/plain", "text/plain", b"<1>"),
        ("a", None, "application/json", b'"<1>"'),
    ],
)
@pytest.mark.parametrize("where", ["content_type", "header"])
def test_a_body_that_is_written_as_text_is_read_as_its_content_type_says(
    server: HttpServer, body: str, content_type: str | None, sent_type: Any, sent: bytes, where: str
) -> None:
    field = {"headers": {"content-type": content_type}} if where == "header" else {"content_type": content_type}
    tool = _tool(f"{server.url}/", body=body, **(field if content_type else {}))
    request = _sent(server, tool, {"a": "<1>", "b": 2})
    assert request.body == sent
    assert request.headers["Content-Type"] == (content_type if sent_type is ... else sent_type)


@pytest.mark.parametrize(
    "content_type", ["application/x-www-form-urlencoded", "multipart/form-data"], ids=["form", "multipart"]
)
def test_a_body_object_becomes_a_form_where_the_template_says_so(server: HttpServer, content_type: str) -> None:
    tool = _tool(f"{server.url}/", content_type=content_type, body={"x": "{a}", "y": "n {b}"})
    sent = _sent_once(server, tool, {"a": "1 2", "b": 3})
    if content_type.startswith("multipart"):
        assert b'name="x"\r\n\r\n1 2\r\n' in sent.body
        assert b'name="y"\r\n\r\nn 3\r\n' in sent.body
    else:
        assert sent.body == b"x=1+2&y=n+3"
    assert sent.target == "/"


def _sent_once(server: HttpServer, tool: Mapping[str, Any], arguments: dict[str, Any], **variables: str) -> Received:
    with _toolset(tool, **variables) as toolset:
        result = toolset.call("m_t", arguments)
    assert not result.is_error, result.content
    return server.last


def test_the_keys_of_a_body_are_no_fields_of_a_template(server: HttpServer) -> None:
    """`variables`, `auth`, `headers`, `parameters` and the like mean nothing there."""
    keys = ["variables", "auth", "headers", "parameters", "body_field", "commands", "url", "name"]
    body = {key: {"v": "${V}", "plain": "$lower", "a": "{a}"} for key in keys}
    sent = json.loads(_sent(server, _tool(f"{server.url}/", body=body), {"a": 1}, m_V="v").body)
    assert sent == {key: {"v": "v", "plain": "$lower", "a": 1} for key in keys}


def test_other_names_of_the_query_and_the_body_are_known(server: HttpServer) -> None:
    for query in ("query_params", "query_parameters", "queryParams", "params"):
        for body in ("body", "request_body", "json", "body_template"):
            sent = _sent_once(
                server, _tool(f"{server.url}/", **{query: {"q": "{a}"}, body: {"x": "{b}"}}), {"a": 1, "b": 2}
            )
            assert (sent.target, sent.body) == ("/?q=1", b'{"x":2}')


def test_what_is_read_is_no_unknown_key(server: HttpServer) -> None:
    tool = _tool(f"{server.url}/", query_params={"q": "{a}"}, body={"b": "{b}"}, unheard_of=1)
    with _toolset(tool) as toolset:
        [warning] = toolset.report.manuals[0].warnings
    assert "'unheard_of'" in warning
    assert "body'" not in warning.partition("it may have")[0]


# -- an argument and a variable of one name


def test_a_defined_variable_is_never_replaced_by_what_a_model_says(server: HttpServer) -> None:
    tool = _tool(
        f"{server.url}/",
        ("token", "a"),
        query_params={"q": "${a}"},
        headers={"X-Token": "Bearer ${token}"},
        body={"t": "${token}"},
    )
    sent = _sent(server, tool, {"token": "of-the-model", "a": "1"}, m_token="of-the-operator")  # noqa: S106 - none
    assert sent.headers["X-Token"] == "Bearer of-the-operator"
    assert json.loads(sent.body) == {"t": "of-the-operator"}
    assert sent.target == "/?q=1"
    assert "of-the-model" not in f"{sent.target} {sent.headers} {sent.body!r}"
    with _toolset(tool, m_token="of-the-operator") as toolset:  # noqa: S106 - none
        assert "${token} is an argument and a defined variable: the variable is sent" in str(toolset.report)
        assert "of-the-operator" not in str(toolset.report)


def test_a_variable_of_another_manual_or_without_a_name_in_front_is_not_in_the_way(
    server: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("a", "env")
    monkeypatch.setenv("other_a", "env")
    assert _sent(server, _tool(f"{server.url}/", query_params={"q": "${a}"}), {"a": "1"}).target == "/?q=1"


def test_credentials_are_never_an_argument(server: HttpServer) -> None:
    auth = {"auth_type": "api_key", "api_key": "${key}", "var_name": "X-K", "location": "header"}
    tool = _tool(f"{server.url}/", ("key",), query_params={"q": "{key}"}, auth=auth)
    with _toolset(tool) as toolset:
        before = len(server.received)
        result = toolset.call("m_t", {"key": "of-the-model"})
        assert (result.is_error, len(server.received)) == (True, before)
        assert "'m_key' is not defined" in result.content
        assert "has arguments of that name ('${key}'), but none can stand there" in result.content
    sent = _sent_once(server, tool, {"key": "1"}, m_key="of-the-operator")
    assert (sent.headers["X-K"], sent.target) == ("of-the-operator", "/?q=1")


def test_a_protocol_that_takes_no_arguments_says_so() -> None:
    tool = _tool("", ("name",))
    tool["tool_call_template"] = {"call_template_type": "file", "file_path": "/nowhere/${name}.json"}
    with _toolset(tool) as toolset:
        assert (
            "arguments of that name ('${name}'), but none can stand there" in toolset.call("m_t", {"name": "x"}).content
        )


def test_an_undefined_variable_that_is_no_argument_is_told_as_ever(server: HttpServer) -> None:
    tool = _tool(f"{server.url}/", query_params={"q": "${a}", "appid": "${KEY}"})
    with _toolset(tool) as toolset:
        assert [missing.key for missing in toolset.report.manuals[0].missing_variables] == ["m_KEY"]
        assert "'m_KEY' is not defined" in toolset.call("m_t", {"a": "1"}).content
    assert _sent(server, tool, {"a": "1"}, m_KEY="k").target == "/?q=1&appid=k"


@pytest.mark.parametrize("properties", [(), ("other",)])
def test_a_variable_that_may_be_meant_as_an_argument_is_told_as_both(
    server: HttpServer, properties: tuple[str, ...]
) -> None:
    for template in (
        {"url": f"{server.url}/${{id}}"},
        {"url": f"{server.url}/", "query_params": {"q": "${id}"}},
        {"url": f"{server.url}/", "headers": {"X-Id": "${id}"}},
        {"call_template_type": "cli", "url": "", "commands": [{"command": "echo ${id}"}]},
    ):
        with _toolset(_tool(properties=properties, **template)) as toolset:
            told = toolset.call("m_t", {}).content
        assert "'m_id' is not defined" in told
        assert "The tool declares no argument of that name ('${id}'); if one is meant, its 'inputs' must list" in told
    auth = {"auth_type": "api_key", "api_key": "${key}", "var_name": "X-K"}
    for tool in (_tool(f"{server.url}/${{KEY}}", properties), _tool(f"{server.url}/", properties, auth=auth)):
        with _toolset(tool) as toolset:
            told = toolset.call("m_t", {}).content
        assert "is not defined" in told
        assert "argument" not in told


def test_what_stands_for_nothing_is_left_out_and_told(server: HttpServer) -> None:
    auth = {"auth_type": "bearer", "token": "sk-1"}
    tool = _tool(
        f"{server.url}/",
        query_params={"apiKey": "{api_key}", "user": "${config.user}", "q": "{a}"},
        headers={"Authorization": "Bearer {api_key}", "X-Key": "{{key}}"},
        body={"now": "{{now}}", "a": "{a}", "graphql": "query { user { id } } {name}"},
        auth=auth,
    )
    sent = _sent(server, tool, {"a": "1"})
    assert sent.query == [("q", "1")]
    assert sent.headers["Authorization"] == "Bearer sk-1"
    assert "X-Key" not in sent.headers
    assert json.loads(sent.body) == {"a": "1", "graphql": "query { user { id } } {name}"}
    with _toolset(tool) as toolset:
        [warning] = toolset.report.manuals[0].warnings
    placeholders = "{api_key}, ${config.user}, {{key}}, {{now}}"
    assert warning == f"m.t: its call template has placeholders of no argument, which are left out: {placeholders}"


def test_a_body_that_stands_for_nothing_is_no_body(server: HttpServer) -> None:
    tool = _tool(f"{server.url}/", body="{data}")
    assert _sent(server, tool, {"a": "1"}).body == b""
    with _toolset(tool) as toolset:
        assert "placeholders of no argument, which are left out: {data}" in str(toolset.report)


def test_the_query_parameter_that_credentials_set_is_theirs(server: HttpServer) -> None:
    auth = {"auth_type": "api_key", "api_key": "k", "var_name": "key", "location": "query"}
    tool = _tool(f"{server.url}/", ("key", "a"), query_params={"key": "{key}", "q": "{a}"}, auth=auth)
    assert _sent(server, tool, {"key": "of-the-model", "a": "1"}).query == [("q", "1"), ("key", "k")]


# -- a manual's own defaults


def test_a_manual_may_give_its_tools_credentials_and_values_of_variables(server: HttpServer) -> None:
    tool = _tool("${base_url}/x", ("a", "b"), query_params={"v": "${version}", "b": "${b}"})
    free = {**_tool(f"{server.url}/free", auth={"type": "none"}), "name": "free"}
    manual = {
        "tools": [tool, free],
        "auth": {"auth_type": "bearer", "token": "${TOKEN}"},
        "variables": {"base_url": server.url, "version": 2, "b": "default of a variable"},
    }
    template = {**text_manual("m", [], *PROTOCOLS), "content": json.dumps(manual)}
    with Toolset.open(config(template, variables={"m_TOKEN": "t-1", "m_version": "3"})) as toolset:
        assert not toolset.call("m_t", {"b": "1"}).is_error
        assert server.last.target == "/x?v=3&b=1"
        assert server.last.headers["Authorization"] == "Bearer t-1"
        assert not toolset.call("m_free", {}).is_error
        assert "Authorization" not in server.last.headers


def test_credentials_of_a_manual_that_hold_none_cost_no_tool(server: HttpServer) -> None:
    manual = {"tools": [_tool(f"{server.url}/")], "auth": {"auth_type": "bearer", "location": "header"}}
    template = {**text_manual("m", [], *PROTOCOLS), "content": json.dumps(manual)}
    with Toolset.open(config(template)) as toolset:
        assert not toolset.call("m_t", {}).is_error
        assert "the manual's own 'auth' is left out" in str(toolset.report)


# -- streams


@pytest.mark.parametrize("kind", ["sse", "streamable_http"])
@pytest.mark.parametrize("spelling", SPELLINGS[:3])
def test_streams_write_out_their_requests_the_same_way(kind: str, spelling: str) -> None:
    with threaded_server(events("one", "two")) as server:
        tool = _tool(
            f"{server.url}/{spelling % 'a'}",
            "abc",
            call_template_type=kind,
            query_params={"symbols": spelling % "b", "format": "json"},
            headers={"X-C": spelling % "c"},
        )
        if kind == "sse":
            tool["tool_call_template"].pop("http_method")
        sent = _sent(server, tool, {"a": "s", "b": ["x", "y"], "c": "h"})
        assert sent.target == "/s?symbols=x&symbols=y&format=json"
        assert (sent.headers["X-C"], sent.method) == ("h", "GET" if kind == "sse" else "POST")
        tool["tool_call_template"]["body"] = {"n": spelling % "c"}
        sent = _sent(server, tool, {"a": "s", "c": 7})
        assert (sent.method, sent.target, sent.body) == ("POST", "/s?format=json", b'{"n":7}')


# -- commands


def _ran(template: dict[str, Any], arguments: dict[str, Any], properties: Any = ("a", "b"), **variables: str) -> str:
    tool = _tool("", properties)
    tool["tool_call_template"] = {"call_template_type": "cli", **template}
    with _toolset(tool, **variables) as toolset:
        assert toolset.report.ok, toolset.report
        result = toolset.call("m_t", arguments)
    assert not result.is_error, result.content
    return result.content


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("value", ["x y", "$(echo no) `echo no` ; echo no", "'\"\\", "ä☃", "-n", "*"])
def test_an_argument_in_a_command_is_one_literal_word(spelling: str, value: str) -> None:
    shown = "printf '[%s]'"
    a = spelling % "a"
    assert _ran({"command": "printf", "args": ["[%s]", a, f"/data/{a}"]}, {"a": value}) == f"[{value}][/data/{value}]"
    assert _ran({"command": ["printf", "[%s]", a]}, {"a": value}) == f"[{value}]"
    assert _ran({"command_name": f"{shown} {a}"}, {"a": value}) == f"[{value}]"
    assert _ran({"commands": [{"command": f"{shown} {a} '{a}' \"{a}\""}]}, {"a": value}) == f"[{value}]" * 3


def test_values_of_every_type_are_written_as_for_utcps_own_placeholders() -> None:
    for value in (1.5, True, [1, "a"], {"k": None}, ""):
        own = _ran({"commands": ["printf '[%s]' UTCP_ARG_a_UTCP_END"]}, {"a": value})
        assert _ran({"command": "printf", "args": ["[%s]", "${a}"]}, {"a": value}) == own


def test_a_command_with_places_gets_no_flags_besides() -> None:
    assert _ran({"command": "echo", "args": ["${a}"]}, {"a": "1", "b": "2"}) == "1"
    assert _ran({"command": "echo", "args": ["x"]}, {"a": "1"}) == "x --a 1"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ({"commands": ["a=own; echo ${a} UTCP_ARG_b_UTCP_END"]}, "own 2"),
        ({"commands": ["echo ${a}"], "env_vars": {"a": "env"}}, "env"),
        ({"commands": ["for a in 1 2; do printf %s ${a}; done"]}, "12"),
        ({"commands": ["echo '{b}' UTCP_ARG_b_UTCP_END"]}, "{b} 2"),
        ({"commands": ["echo {x} ${b}"]}, "{x} 2"),
    ],
)
def test_what_belongs_to_the_shell_stays_the_shells(template: dict[str, Any], expected: str) -> None:
    assert _ran(template, {"a": "1", "b": "2"}) == expected


def test_a_defined_variable_wins_in_a_command_too() -> None:
    template = {"command": "echo", "args": ["${a}", "${b}"]}
    assert _ran(template, {"a": "of-the-model", "b": "2"}, m_a="of-the-operator") == "*** 2"


def test_a_working_directory_may_be_an_argument(tmp_path: Path) -> None:
    folder = tmp_path / 'a "b" $(c)'
    folder.mkdir()
    base = {"command": "pwd", "working_directory": "${a}"}
    assert _ran(base, {"a": str(folder)}) == str(folder)
    assert _ran({**base, "working_directory": f"{tmp_path}/{{a}}"}, {"a": folder.name}) == str(folder)
    tool = _tool("", ("a",))
    tool["tool_call_template"] = {"call_template_type": "cli", **base}
    with _toolset(tool) as toolset:
        result = toolset.call("m_t", {"a": str(tmp_path / "nowhere")})
    assert (result.is_error, "No such file or directory" in result.content) == (True, True)
