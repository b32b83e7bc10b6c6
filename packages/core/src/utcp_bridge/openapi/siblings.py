"""Descriptions in several files: which documents may stand beside the main one, and how they are fetched.

A reference may lead to the main document's own origin, or for a file into its own folder, and nowhere else: a document
must not make its reader ask other servers, or read other files, on its behalf. A `$self` at another origin (OpenAPI
3.2, section 4.1.1) changes nothing about that: it tells the documents apart, and they are fetched from where they stand
to each other at the main document's own place, never from the origin that `$self` names. So a description that was
mirrored is read in full, and one that lies about itself gains nothing.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from utcp_bridge.openapi.references import joined_address, relocated

MAX_SIBLINGS: Final = 5_000
"""The most documents beside the main one; the largest public description has about 2,000."""

MAX_ROUNDS: Final = 32
"""The most documents that may lead from one to the next."""

TIMEOUT: Final = 10.0
"""The most seconds to wait for one document, so that one that does not answer costs only what needs it."""

_AT_ONCE: Final = 16
_NO_REFERENCES = frozenset({"example", "examples"})
_DEFAULT_PORTS = {"http": 80, "https": 443}

Fetch = Callable[[str], Awaitable[Any]]
"""Fetches and parses the document at a URL; raises with the reason where it cannot."""


async def fetch_siblings(
    wanted: Iterable[str],
    url: str,
    fetch: Fetch,
    known: Mapping[str, Any] | None = None,
    *,
    max_siblings: int = MAX_SIBLINGS,
    timeout: float = TIMEOUT,
    until: float | None = None,
    identity: str = "",
) -> dict[str, Any]:
    """Fetch the documents that a document refers to, and those that they refer to.

    Args:
        wanted: The URLs that `tools_from_openapi` has found to be wanted.
        url: Where the main document came from, after redirects.
        fetch: Fetches one document.
        known: What an earlier call returned; default None.
        max_siblings: The most documents to have; default 5,000.
        timeout: The most seconds to wait for one of them; default 10.
        until: When all of them must have come, by `time.monotonic`; each may take half of what is left. Default None,
            whenever they come.
        identity: The URL that the main document gives itself, if it differs from `url`; default none.

    Returns:
        The documents by URL; in place of one that cannot be had, the reason as a text.
    """
    found: dict[str, Any] = dict(known or {})
    gate = asyncio.Semaphore(_AT_ONCE)

    async def one(address: str) -> Any:
        place = relocated(address, identity or url, url)
        refusal = refused(place, url)
        if refusal is not None:
            return refusal
        async with gate:
            # Of what is left, so that one that never answers leaves something for those that it does not lead to.
            share = timeout if until is None else min(timeout, (until - time.monotonic()) / 2)
            if share <= 0:
                return "no time was left to fetch it"
            clock = asyncio.timeout(share)
            try:
                async with clock:
                    document = await fetch(place)
            except TimeoutError as error:
                return (
                    f"it does not answer within {share:.2g} seconds"
                    if clock.expired()
                    else f"it cannot be read: {error}"
                )
            except Exception as error:  # noqa: BLE001 - whatever the transport raises; it costs what needs this document
                return f"it cannot be read: {error}"
        return document if isinstance(document, (Mapping, list)) else "it is not an object"

    waiting = {address for address in wanted if address not in found}
    for _ in range(MAX_ROUNDS):
        if not waiting:
            break
        addresses = sorted(waiting)[: max(0, max_siblings - len(found))]
        found |= dict.fromkeys(waiting.difference(addresses), f"there are more than {max_siblings} documents")
        documents = await asyncio.gather(*map(one, addresses))
        found.update(zip(addresses, documents, strict=True))
        waiting = {
            address
            for base, document in zip(addresses, documents, strict=True)
            for address in addresses_in(document, base)
            if address not in found and address != url
        }
    return found


def addresses_in(document: Any, base: str) -> Iterator[str]:
    """The URLs of the documents that references in a document lead to, without fragments."""
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            reference = value.get("$ref")
            if isinstance(reference, str) and not reference.startswith("#"):
                address = joined_address(base, reference)
                if address:
                    yield address
            waiting.extend(
                child
                for key, child in value.items()
                if isinstance(child, (Mapping, list)) and key not in _NO_REFERENCES
            )
        elif isinstance(value, list):
            waiting.extend(child for child in value if isinstance(child, (Mapping, list)))


def refused(address: str, url: str) -> str | None:
    """Why a document must not be fetched on behalf of the one at `url`; None if it may."""
    try:
        here, there = urlsplit(url), urlsplit(address)
        ports = here.port, there.port
    except ValueError:
        return "its address cannot be read"
    if not here.scheme:
        return "this document came without an address, so no other can be beside it"
    if here.scheme == "file" == there.scheme:
        inside = is_inside(Path(unquote(there.path)), Path(unquote(here.path)).parent)
        return None if inside and not there.netloc else "it is outside the folder of the main document"
    if here.scheme not in _DEFAULT_PORTS or (here.scheme, here.hostname, ports[0] or _DEFAULT_PORTS[here.scheme]) != (
        there.scheme,
        there.hostname,
        ports[1] or _DEFAULT_PORTS.get(there.scheme),
    ):
        return "it is not at the origin of the main document"
    return None


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a file lies in a folder, every symbolic link followed."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False
