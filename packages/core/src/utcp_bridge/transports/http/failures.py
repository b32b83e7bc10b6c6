"""What goes wrong between here and a server, as an error that names the server and never the URL."""

from __future__ import annotations

import re
import ssl

import aiohttp
from yarl import URL

from utcp_bridge.errors import ToolTransportError

# The words of aiohttp 3.14: "Can not decode content-encoding: brotli (br). Please install `Brotli`".
_UNREADABLE = re.compile(r"decode content-encoding: (?:\w+ )?\(?(\w+)")
# Likewise: "Got more than 262144 bytes when reading: b'...'", "Too many headers received".
_HEADER_TOO_LONG = re.compile(r"Got more than (\d+) bytes when reading")
_TOO_MANY_HEADERS = "Too many headers"
_DECODED = frozenset({"gzip", "deflate", "br", "zstd"})
_CODINGS = _DECODED | {"compress", "x-compress", "x-gzip", "xz", "lzma"}  # RFC 9110, section 8.4.1, and in the wild
_DECODERS = {"br": "Brotli", "zstd": "backports.zstd"}
_HOLD_THE_URL = (aiohttp.ClientResponseError, aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError)


def connection_error(error: Exception, url: URL) -> ToolTransportError:
    """The error for a request that got no whole reply.

    Args:
        error: What aiohttp or the socket raised; becomes the cause, unless it holds the URL, or the proxy's.
        url: The URL that was asked; only its host and port are named.
    """
    server = f"{url.host}:{url.port}"
    failure = ToolTransportError(_sentence(error, server, url.host or ""), raw=[_block(server)])
    if isinstance(error, aiohttp.ClientConnectorError):
        failure.__cause__ = error.os_error
    elif not isinstance(error, _HOLD_THE_URL):
        failure.__cause__ = error
    return failure


def coding_error(content_encoding: str, url: URL) -> ToolTransportError | None:
    """The error for a reply that aiohttp 3.14 leaves compressed; None where it does not, or it is not compressed.

    Args:
        content_encoding: The header `Content-Encoding`. What is no coding of HTTP, such as `utf-8`, means nothing.
        url: The URL that was asked; only its host and port are named.
    """
    codings = [coding.strip().lower() for coding in content_encoding.split(",")]
    codings = [coding for coding in codings if coding in _CODINGS]
    if not codings or (len(codings) == 1 and codings[0] in _DECODED):
        return None
    server = f"{url.host}:{url.port}"
    return ToolTransportError(_unreadable(", ".join(codings), server, ""), raw=[_block(server)])


def _unreadable(coding: str, server: str, more: str) -> str:
    return (
        f"{server} sent its reply compressed as {coding!r}, which it was not asked for and which cannot be read here; "
        f"have it send 'gzip'{more}."
    )


def _block(server: str) -> dict[str, str]:
    return {"type": "connection_error", "server": server}


def _sentence(error: Exception, server: str, host: str) -> str:
    if isinstance(error, (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError)):
        return f"The tool's URL, on {host!r}, is not one that can be asked over HTTP."
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return f"The certificate of {server} was not accepted: {_certificate_reason(error.certificate_error)}."
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return f"The host {host!r} was not found; check its name and the network."
    if isinstance(error, (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError)):
        return f"The proxy for {server} could not be used; check HTTP_PROXY and HTTPS_PROXY."
    if isinstance(error, (aiohttp.ClientSSLError, ssl.SSLError)):
        return f"No TLS connection to {server} could be made; check that it speaks HTTPS on this port."
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"No connection to {server}: {_os_reason(error.os_error)}."
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return f"{server} closed the connection without an answer; whether it acted on the request is not known."
    if isinstance(error, aiohttp.ClientPayloadError) and "content-encoding" in str(error).lower():
        return f"{server} sent a reply that cannot be decompressed."
    if isinstance(error, aiohttp.ClientPayloadError):
        return f"{server} broke off its reply before the end."
    if isinstance(error, aiohttp.ClientResponseError) and (coding := _UNREADABLE.search(error.message)) is not None:
        # Only what can be read is asked for (`Accept-Encoding`), and yet some servers send it.
        return _unreadable(coding[1], server, f", or install {_DECODERS.get(coding[1], coding[1])!r}")
    if isinstance(error, aiohttp.ClientResponseError) and (size := _HEADER_TOO_LONG.search(error.message)) is not None:
        return (
            f"{server} answered with a header of more than {int(size[1]):,} bytes, which is not read; have it send "
            "less in its headers, such as shorter cookies."
        )
    if isinstance(error, aiohttp.ClientResponseError) and _TOO_MANY_HEADERS in error.message:
        return f"{server} answered with more header lines than are read; have it send fewer headers."
    if isinstance(error, aiohttp.ClientResponseError):
        return f"{server} answered with something that is not HTTP."
    if isinstance(error, TimeoutError):
        return f"The connection to {server} timed out."
    if isinstance(error, OSError):
        return f"The connection to {server} broke: {_os_reason(error)}."
    return f"The connection to {server} failed ({type(error).__name__})."


def _os_reason(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "it was refused, so nothing listens there"
    if isinstance(error, ConnectionResetError):
        return "it was reset by the server"
    if isinstance(error, TimeoutError):
        return "it timed out"
    return _after_address(error.strerror or "") or type(error).__name__


def _after_address(text: str) -> str:
    # asyncio puts the address into `strerror`: "Connect call failed ('127.0.0.1', 9)".
    return text.partition(" (")[0].strip().rstrip(".")


def _certificate_reason(error: Exception) -> str:
    return str(getattr(error, "verify_message", "") or getattr(error, "reason", "") or type(error).__name__)
