"""Known secrets leave in no text, value, exception or log line, and nothing else is touched."""

from __future__ import annotations

import base64
import html
import json
import logging
import sys
from typing import Any
from urllib.parse import quote, quote_plus

import aiohttp
import pytest
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from utcp_bridge.errors import ToolExecutionError
from utcp_bridge.transports.secrets.leaks import (
    guard_upstream_loggers,
    our_client_at_work,
    scrubbed_error,
    without_queries,
)
from utcp_bridge.transports.secrets.scrubber import SecretScrubber

SECRET = 'sk-LIVE/"ü+ &<1>%'  # noqa: S105 - made up


def _basic(credentials: str, encoding: str = "utf-8") -> str:
    return base64.b64encode(credentials.encode(encoding)).decode()


def _scrubber(*secrets: str) -> SecretScrubber:
    scrubber = SecretScrubber()
    for secret in secrets:
        scrubber.add(secret)
    return scrubber


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET),
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower().replace("live", "LIVE").replace("sk-live", "sk-LIVE"),
        quote_plus(SECRET),
        str(URL("http://h/").with_query({"k": SECRET})).partition("k=")[2],
        json.dumps(SECRET)[1:-1],
        json.dumps(SECRET, ensure_ascii=False)[1:-1],
        repr(SECRET)[1:-1],
        html.escape(SECRET),
        base64.b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_secret_is_found_in_every_spelling(form: str) -> None:
    assert _scrubber(SECRET).scrub(f"before {form} after") == "before *** after"


def test_a_password_is_found_in_basic_authentication() -> None:
    scrubber = SecretScrubber()
    scrubber.add_basic("user", "pass-word-1")
    sent = base64.b64encode(b"user:pass-word-1").decode()
    assert scrubber.scrub(f"Authorization: Basic {sent}, pass-word-1") == "Authorization: Basic ***, ***"


@pytest.mark.parametrize("value", ["", "abc", "true", "localhost", "8080", "en-us", "https://api.example.com", "----"])
def test_what_is_no_secret_is_not_taken_for_one(value: str) -> None:
    assert _scrubber(value).scrub(f"a {value} b") == f"a {value} b"


def test_a_short_secret_is_replaced_only_as_a_word() -> None:
    scrubber = _scrubber("k3y1")
    assert scrubber.scrub("key=k3y1&x, 'k3y1'; monk3y12") == "key=***&x, '***'; monk3y12"


def test_a_secret_within_another_leaves_nothing_behind() -> None:
    assert _scrubber("secret-one", "secret-one-and-two").scrub("secret-one-and-two secret-one") == "*** ***"


def test_json_values_are_scrubbed_through_and_through_and_kept_where_clean() -> None:
    scrubber = _scrubber("secret-one")
    dirty = {"a": [1, None, {"secret-one": "x secret-one"}], "b": True, "c": b"secret-one", "d": ("secret-one",)}
    assert scrubber.scrub_value(dirty) == {"a": [1, None, {"***": "x ***"}], "b": True, "c": b"***", "d": ("***",)}
    clean = {"a": [1, {"b": "text"}]}
    assert scrubber.scrub_value(clean) is clean


@pytest.mark.parametrize(
    ("template", "secrets"),
    [
        ({"auth": {"auth_type": "api_key", "api_key": "the-api-key", "var_name": "X-Api-Key"}}, ["the-api-key"]),
        ({"auth": {"auth_type": "api_key", "api_key": "Bearer the-token-1"}}, ["the-token-1"]),
        ({"auth": {"auth_type": "basic", "username": "u", "password": "pass-word-1"}}, ["dTpwYXNzLXdvcmQtMQ=="]),
        ({"auth": {"auth_type": "oauth2", "client_id": "id", "client_secret": "client-s3cret"}}, ["client-s3cret"]),
        ({"headers": {"Authorization": "Basic dTpwYXNzLXdvcmQtMQ=="}}, ["pass-word-1", "dTpwYXNzLXdvcmQtMQ=="]),
        ({"headers": {"X-Api-Key": "the-api-key", "Cookie": "session=abcdef"}}, ["the-api-key", "session=abcdef"]),
        ({"url": "https://user:pass-word-1@h/x?api_key=abcdefgh"}, ["pass-word-1", "abcdefgh"]),
        ({"url": "https://user:pass-word-1@h/x"}, [_basic("user:pass-word-1")]),
        ({"url": "https://us%40er:p%2Fss-w%C3%B6rd@h/x"}, ["p%2Fss-w%C3%B6rd", "p/ss-wörd", _basic("us@er:p/ss-wörd")]),
        ({"url": "https://user:it's-<mine>@h/x"}, ["it's-<mine>", _basic("user:it's-<mine>")]),
        ({"url": "https://sk-live-0123@h/x"}, ["sk-live-0123", _basic("sk-live-0123:")]),
        ({"auth": {"auth_type": "basic", "username": "sk-live-0123", "password": ""}}, [_basic("sk-live-0123:")]),
        ({"auth": {"auth_type": "basic", "username": "ü", "password": "wörter"}}, [_basic("ü:wörter", "latin-1")]),
        ({"auth": {"auth_type": "oauth2", "client_id": "id", "client_secret": "s3cret"}}, [_basic("id:s3cret")]),
        ({"auth_tools": {"flows": [{"client_id": "", "client_secret": "s3cret"}]}}, [_basic(":s3cret")]),
        ({"env_vars": {"GITHUB_TOKEN": "ghp_abcdefgh", "LEVEL": "debugging"}}, ["ghp_abcdefgh"]),
        ({"config": {"mcpServers": {"s": {"env": {"API_KEY": "nested-key-1"}}}}}, ["nested-key-1"]),
        ({"config": {"args": ["--level", "shown-1", "--api-key", "listed-key-1", "-v"]}}, ["listed-key-1"]),
        ({"config": {"args": ["--token=listed-key-2", "shown-2"]}}, ["listed-key-2"]),
        ({"inherit_env_vars": ["MY_TEST_TOKEN", "PATH"]}, ["inherited-1"]),
    ],
)
def test_the_secrets_of_a_template_are_known(
    template: dict[str, Any], secrets: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TEST_TOKEN", "inherited-1")
    scrubber = SecretScrubber()
    scrubber.add_template(template)
    for secret in secrets:
        assert scrubber.scrub(f"<{secret}>") == "<***>"


def test_what_a_template_says_openly_stays() -> None:
    scrubber = SecretScrubber()
    scrubber.add_template(
        {
            "url": "https://api.example.com/keyboards?keyword=python&max_tokens=something",
            "auth": {"auth_type": "oauth2", "token_url": "https://auth.example.com/token", "client_id": "client-id"},
            "headers": {"Content-Type": "application/xml", "X-Author": "somebody"},
            "args": ["--level", "shown-1", "--token=abcdefgh", "shown-2"],
            "inherit_env_vars": ["PATH"],
        }
    )
    text = (
        "shown-1 shown-2 python something https://auth.example.com/token client-id application/xml somebody X-Api-Key"
    )
    assert scrubber.scrub(text) == text


def test_the_representation_tells_no_secret() -> None:
    assert SECRET not in repr(_scrubber(SECRET))


def test_urls_lose_their_query_and_credentials() -> None:
    text = "403, url='https://u:p@h.example/a/b?key=1&x=2' and http://h/?q (see http://h/doc)"
    assert without_queries(text) == "403, url='https://h.example/a/b' and http://h/ (see http://h/doc)"


# -- exceptions


def _response_error() -> aiohttp.ClientResponseError:
    url = URL("http://h/fail?api_key=secret-one")
    info = aiohttp.RequestInfo(url, "GET", CIMultiDictProxy(CIMultiDict({"X": "secret-one"})), url)
    error = aiohttp.ClientResponseError(info, (), status=403, message="Forbidden: secret-one is refused")
    error.body = "secret-one is refused"  # type: ignore[attr-defined]
    return error


def _everything_in(error: BaseException | None) -> str:
    text = ""
    while error is not None:
        text += f"{error} {error!r} {error.args!r} {vars(error)!r}"
        error = error.__cause__ or error.__context__
    return text


class StubbornError(Exception):
    """Keeps a secret where it cannot be replaced."""

    def __init__(self) -> None:
        super().__init__("no")

    def __str__(self) -> str:
        return "always secret-one"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("bad secret-one"),
        OSError(2, "no file", "/tmp/secret-one"),  # noqa: S108 - only a name
        _response_error(),
        ToolExecutionError("HTTP 403: secret-one", raw=[{"body": "secret-one"}]),
        StubbornError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_exception_comes_out_clean(error: Exception) -> None:
    clean = scrubbed_error(error, _scrubber("secret-one"))
    assert "secret-one" not in _everything_in(clean)
    assert isinstance(clean, type(error)) or isinstance(error, StubbornError)
    assert "***" in str(clean)


def test_a_response_error_keeps_its_status_and_reason() -> None:
    clean = scrubbed_error(_response_error(), _scrubber("secret-one"))
    assert isinstance(clean, aiohttp.ClientResponseError)
    assert (clean.status, clean.message) == (403, "Forbidden: *** is refused")


def test_a_secret_in_a_cause_goes_with_the_cause() -> None:
    error = ValueError("harmless")
    error.__cause__ = KeyError("secret-one")
    clean = scrubbed_error(error, _scrubber("secret-one"))
    assert str(clean) == "harmless"
    assert "secret-one" not in _everything_in(clean)


def test_an_exception_without_secrets_stays_the_same_object() -> None:
    error = ValueError("harmless")
    assert scrubbed_error(error, _scrubber("secret-one")) is error


# -- log lines


@pytest.fixture
def upstream_logger(caplog: pytest.LogCaptureFixture) -> logging.Logger:
    logger = logging.getLogger("utcp_http.for_this_test")
    caplog.set_level(logging.INFO, logger=logger.name)
    return logger


def test_upstreams_log_lines_carry_no_secret(caplog: pytest.LogCaptureFixture, upstream_logger: logging.Logger) -> None:
    scrubber = _scrubber("secret-one")
    guard_upstream_loggers(scrubber)
    upstream_logger.error("calling %s failed", "http://h/x?k=secret-one")
    try:
        raise ValueError("secret-one")  # noqa: TRY301 - a traceback is needed
    except ValueError:
        upstream_logger.exception("unexpected")
    assert "secret-one" not in caplog.text
    assert "http://h/x?k=***" in caplog.text
    assert "ValueError: ***" in caplog.text


def test_what_other_clients_log_stays_as_it_is(
    caplog: pytest.LogCaptureFixture, upstream_logger: logging.Logger
) -> None:
    scrubber = _scrubber("secret-one")
    guard_upstream_loggers(scrubber)
    upstream_logger.error("calling %s failed", "http://h/x?page=2")
    assert caplog.messages == ["calling http://h/x?page=2 failed"]


def test_failures_that_our_clients_report_are_logged_for_debugging_only(
    caplog: pytest.LogCaptureFixture, upstream_logger: logging.Logger
) -> None:
    scrubber = _scrubber("secret-one")
    guard_upstream_loggers(scrubber)
    with our_client_at_work():
        upstream_logger.error("calling http://h/x?k=unknown failed")
        upstream_logger.warning("slow")
        caplog.set_level(logging.DEBUG, logger=upstream_logger.name)
        upstream_logger.error("calling http://h/x?k=unknown failed again")
    assert caplog.messages == ["slow", "calling http://h/x failed again"]


def test_our_clients_print_nothing_by_the_handler_that_mcp_use_makes(
    capsys: pytest.CaptureFixture[str], upstream_logger: logging.Logger, caplog: pytest.LogCaptureFixture
) -> None:
    """What others log is printed by it as before, and what somebody else has set up prints everything."""
    made, own, errors = (logging.StreamHandler(stream) for stream in (sys.stdout, sys.stdout, sys.stderr))
    made.setFormatter(logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s"))
    own.setFormatter(logging.Formatter("own: %(message)s"))
    for handler in (made, own, errors):
        upstream_logger.addHandler(handler)
    try:
        for _ in range(2):
            guard_upstream_loggers(_scrubber("secret-one"))
        with our_client_at_work():
            upstream_logger.warning("ours")
        upstream_logger.warning("not ours")
    finally:
        for handler in (made, own, errors):
            upstream_logger.removeHandler(handler)
    printed = capsys.readouterr()
    assert [line.rpartition("WARNING - ")[2] for line in printed.out.splitlines()] == [
        "own: ours",
        "not ours",
        "own: not ours",
    ]
    assert printed.err == "ours\nnot ours\n"
    assert caplog.messages == ["ours", "not ours"]
