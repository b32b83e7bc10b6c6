"""URLs that cannot be asked over HTTP are named with what was expected, for manuals and for tools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.manuals import config, http_tool, text_manual
from utcp_bridge import Toolset

EXAMPLE = "expected one such as 'https://example.com/utcp'"
WRONG = [
    ("api.example.com/x", "'api.example.com/x' has no scheme; expected one such as 'https://api.example.com/x'"),
    ("localhost:8000/utcp", "'localhost:8000/utcp' has no scheme; expected one such as 'http://localhost:8000/utcp'"),
    ("127.0.0.1:8000", "has no scheme; expected one such as 'http://127.0.0.1:8000'"),
    ("homeassistant.local:8123/api", "has no scheme; expected one such as 'http://homeassistant.local:8123/api'"),
    ("//example.com/x", "'//example.com/x' has no scheme; expected one such as 'https://example.com/x'"),
    ("://example.com/x", "has no scheme; expected one such as 'https://example.com/x'"),
    ("http//example.com/x", "has no scheme; expected one such as 'https://example.com/x'"),
    ("/utcp", "'/utcp' has no scheme; it is a path only, expected a whole URL such as 'https://example.com/utcp'"),
    ("", f"is empty; {EXAMPLE}"),
    ("  ", f"is empty; {EXAMPLE}"),
    ("ftp://example.com/x", "has the scheme 'ftp', expected 'http' or 'https'"),
    ("file:///etc/hosts", 'a file is reached by {"call_template_type": "file", "file_path": "..."}'),
    ("./manual.json", 'a file is reached by {"call_template_type": "file"'),
    ("manual.yaml", 'a file is reached by {"call_template_type": "file"'),
    ("C:\\manuals\\m.json", 'a file is reached by {"call_template_type": "file"'),
    ("http:/example.com/x", f"has no '//' after its scheme; {EXAMPLE}"),
    ("https:example.com", f"has no '//' after its scheme; {EXAMPLE}"),
    ("http://", f"has no host; {EXAMPLE}"),
    ("http:///x", f"has no host; {EXAMPLE}"),
    ("http://:8000/x", f"has no host; {EXAMPLE}"),
    ("http://127.0.0.1:99999/x", "has the port '99999', expected a number from 1 to 65535"),
    ("http://127.0.0.1:0/x", "has the port '0', expected a number from 1 to 65535"),
    ("http://127.0.0.1:-1/x", "has the port '-1', expected a number from 1 to 65535"),
    ("http://127.0.0.1:80a/x", "has the port '80a', expected a number from 1 to 65535"),
    ("http://[::1]:123456/x", "has the port '123456', expected a number from 1 to 65535"),
    ("http://[::1/x", "an IPv6 address stands in brackets"),
    ("http://my host/x", f"has a character in its host that no host can have; {EXAMPLE}"),
    ("http://{host/x", f"has a character in its host that no host can have; {EXAMPLE}"),
    ("https://example..com/x", f"has an empty or too long part in its host; {EXAMPLE}"),
    ("https://.example.com/x", f"has an empty or too long part in its host; {EXAMPLE}"),
    (f"https://{'a' * 64}.com/x", f"has an empty or too long part in its host; {EXAMPLE}"),
    ("https://xn--/x", f"has an empty or too long part in its host; {EXAMPLE}"),
    ("{server}/x", "has no scheme; it has to stand in the call template, no argument can bring it"),
    ("just some words", f"has no scheme; {EXAMPLE}"),
]
KINDS = ["http", "sse", "streamable_http"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("url", "words"), WRONG)
def test_the_url_of_a_manual_is_said_to_be_wrong_and_how(kind: str, url: str, words: str) -> None:
    with Toolset.open(config({"name": "w", "call_template_type": kind, "url": url})) as toolset:
        [report] = toolset.report.manuals
    assert f"The URL {words}" in str(report.error) or words in str(report.error)
    assert "Security error" not in str(report.error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("url", "words"), WRONG)
def test_the_url_of_a_tool_is_said_to_be_wrong_at_the_call(kind: str, url: str, words: str) -> None:
    tool = http_tool("t", url, {"server": {"type": "string"}}, call_template_type=kind)
    if kind == "sse":
        del tool["tool_call_template"]["http_method"]
    with Toolset.open(config(text_manual("m", [tool], kind))) as toolset:
        result = toolset.call("m.t", {"server": "https://example.com"})
    assert result.is_error
    assert words in result.content


@pytest.mark.parametrize(
    "url",
    [
        "example.com/x?api_key=sk-LIVE-1",
        "ann:sk-LIVE-1@example.com/x",
        "ftp://ann:sk-LIVE-1@example.com/x",
        "http://ann:sk-LIVE-1@example.com:99999/x",
        "http://ann:sk-LIVE/1@example.com/x",
        "http:///x?api_key=sk-LIVE-1#sk-LIVE-1",
    ],
)
def test_neither_the_query_nor_the_password_of_a_wrong_url_is_shown(url: str) -> None:
    tool = http_tool("t", url)
    manual = {"name": "w", "call_template_type": "http", "url": url}
    with Toolset.open(config(manual, text_manual("m", [tool], "http"))) as toolset:
        told = [str(toolset.report), toolset.call("m.t", {}).content]
    for words in told:
        assert "The URL '" in words
        assert "LIVE" not in words


def test_the_url_that_a_variable_completes_is_judged_with_its_value() -> None:
    manual = {"name": "w", "call_template_type": "http", "url": "${BASE}/utcp"}
    with Toolset.open(config(manual, variables={"w_BASE": "localhost:8000"})) as toolset:
        assert "expected one such as 'http://localhost:8000/utcp'" in str(toolset.report)


def test_the_url_of_a_token_is_named_as_what_it_is() -> None:
    auth = {
        "auth_type": "oauth2",
        "client_id": "c",
        "client_secret": "sk-LIVE-1",
        "token_url": "auth.example.com/token",
    }
    manual = {"name": "w", "call_template_type": "http", "url": "https://example.com/utcp", "auth": auth}
    with Toolset.open(config(manual)) as toolset:
        assert "The OAuth2 token URL 'auth.example.com/token' has no scheme" in str(toolset.report)


def test_a_host_of_the_own_network_is_said_how_to_be_allowed() -> None:
    manual = {"name": "w", "call_template_type": "http", "url": "http://192.168.1.5:8123/api"}
    with Toolset.open(config(manual)) as toolset:
        assert "name it in the option allow_http_hosts, such as ['192.168.1.5']" in str(toolset.report)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/{id}",
        "HTTP://127.0.0.1:9/x",
        "http://[::1]:9/x",
        " http://127.0.0.1:9/x ",
        "http://127.0.0.1:9",
    ],
)
def test_a_url_that_is_right_is_asked(url: str) -> None:
    tool = http_tool("t", url, {"id": {"type": "string"}})
    with Toolset.open(config(text_manual("m", [tool], "http"))) as toolset:
        assert "No connection to" in toolset.call("m.t", {"id": "a"}).content


def test_what_arguments_fill_in_is_judged_as_it_will_be() -> None:
    """Whether a placeholder may stand there is another question, and not answered by its name."""
    arguments: dict[str, Any] = {"port": {"type": "integer"}}
    tool = http_tool("t", "http://127.0.0.1:{port}/x", arguments)
    with Toolset.open(config(text_manual("m", [tool], "http"))) as toolset:
        assert "expected a number from 1 to 65535" in toolset.call("m.t", {"port": 99999}).content
        assert "No connection to 127.0.0.1:9" in toolset.call("m.t", {"port": 9}).content
