"""The two ways by which upstream's packages would let a secret out: their log lines and their exceptions."""

from __future__ import annotations

import logging
import re
import sys
import traceback
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from utcp_bridge.transports.secrets.scrubber import SecretScrubber

_URL_WITH_QUERY = re.compile(r"\b([a-z][a-z0-9+.-]*://)(?:[^\s/?#'\"@]*@)?([^\s?#'\"]*)\?[^\s'\"]*", re.I)

# utcp and its plugins, and what utcp-mcp 1.2.0 calls with.
_UPSTREAM = ("utcp", "mcp")

_FORMAT_OF_MCP_USE = "%(asctime)s - %(name)s - %(levelname)s - %(message)s"  # 1.3.11, mcp_use.logging.Logger

_in_our_client: ContextVar[bool] = ContextVar("utcp_bridge_in_our_client", default=False)
_scrubbers: weakref.WeakSet[SecretScrubber] = weakref.WeakSet()


def without_queries(text: str) -> str:
    """The text with the query, and the user and password, of every URL in it cut off."""
    return _URL_WITH_QUERY.sub(r"\1\2", text) if "?" in text else text


class ScrubbedError(Exception):
    """Stands for an exception of a plugin that held a secret which could not be taken out of it."""


def scrubbed_error(error: Exception, secrets: SecretScrubber) -> Exception:
    """The exception itself, if no secret is in it or its causes; else one of the same type without them.

    The causes of an exception that held a secret are dropped: they repeat it in other words.
    """
    if not any(_leaks(link, secrets) for link in _chain(error)):
        return error
    clean = _clean_copy(error, secrets)
    if _leaks(clean, secrets):
        clean = ScrubbedError(secrets.scrub(f"{type(error).__name__}: {error}"))
    clean.__cause__ = clean.__context__ = None
    return clean.with_traceback(error.__traceback__)


def guard_upstream_loggers(secrets: SecretScrubber) -> None:
    """Let no log line of the UTCP packages loaded so far carry one of these secrets, as long as they are known.

    Nor let one of our clients' be printed to standard output, which belongs to the program, by the handler that
    mcp-use 1.3.11 gives its logger when it is imported. A handler that somebody else gave it is left as it is.
    """
    _scrubbers.add(secrets)
    for name in list(logging.root.manager.loggerDict):
        # A filter of a logger does not see what its children log, so each one gets it.
        if name.startswith(_UPSTREAM) and not name.startswith("utcp_bridge"):
            logger = logging.getLogger(name)
            logger.addFilter(_FILTER)
            for handler in logger.handlers:
                if _is_made_by_mcp_use(handler):
                    handler.addFilter(_not_ours)


class our_client_at_work:  # noqa: N801 - used like a function, once in each call; see `begun.noticing`
    """Mark what runs inside as done by one of our clients, which report failures themselves."""

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = _in_our_client.set(True)

    def __exit__(self, *_: object) -> None:
        _in_our_client.reset(self._token)


class _UpstreamLogFilter(logging.Filter):
    """Scrubs the records of upstream's loggers, and demotes what our clients report anyway.

    utcp 1.2.0 and its plugins log each failure at ERROR with the whole URL before they raise or return it; without
    any logging configured that line ends up on standard error. Within our clients such a record is only let through
    where its logger is set to DEBUG.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        ours = _in_our_client.get()
        if ours and record.levelno >= logging.ERROR and not logging.getLogger(record.name).isEnabledFor(logging.DEBUG):
            return False
        message = record.getMessage()
        clean = without_queries(message) if ours else message
        for secrets in tuple(_scrubbers):
            clean = secrets.scrub(clean)
        if clean != message:
            record.msg, record.args = clean, None
        if record.exc_info and record.exc_info[1] is not None:
            text = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
            clean = text
            for secrets in tuple(_scrubbers):
                clean = secrets.scrub(clean)
            if clean != text:
                record.exc_info, record.exc_text = None, clean
        return True


_FILTER = _UpstreamLogFilter()


def _not_ours(_record: logging.LogRecord) -> bool:
    return not _in_our_client.get()


def _is_made_by_mcp_use(handler: logging.Handler) -> bool:
    return (
        type(handler) is logging.StreamHandler
        and (handler.stream in (sys.stdout, sys.__stdout__) or getattr(handler.stream, "name", "") == "<stdout>")
        and getattr(handler.formatter, "_fmt", None) == _FORMAT_OF_MCP_USE
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _leaks(error: BaseException, secrets: SecretScrubber) -> bool:
    text = f"{error!s}\n{error!r}\n{error.args!r}\n{vars(error)!r}"
    return secrets.scrub(text) != text


def _clean_copy(error: Exception, secrets: SecretScrubber) -> Exception:
    if isinstance(error, aiohttp.ClientResponseError):
        return _clean_response_error(error, secrets)
    try:
        # As copying and pickling do it: of an OSError, too, it gives all parts.
        reduced: Any = error.__reduce__()
        kind, args, *state = reduced
        clean: Exception = kind(*secrets.scrub_value(args))
        for name, value in (state[0] if state else {}).items():
            setattr(clean, name, secrets.scrub_value(value))
    except Exception:  # noqa: BLE001 - an exception of a plugin may refuse to be copied in any way
        return ScrubbedError(secrets.scrub(f"{type(error).__name__}: {error}"))
    return clean


def _clean_response_error(error: aiohttp.ClientResponseError, secrets: SecretScrubber) -> Exception:
    request = error.request_info
    url = URL(secrets.scrub(str(request.real_url)))
    headers: CIMultiDictProxy[str] = CIMultiDictProxy(CIMultiDict())
    clean: Any = aiohttp.ClientResponseError(
        aiohttp.RequestInfo(url, request.method, headers, url),
        (),
        status=error.status,
        message=secrets.scrub(error.message),
    )
    clean.body = secrets.scrub(getattr(error, "body", "") or "")
    return clean  # type: ignore[no-any-return]
