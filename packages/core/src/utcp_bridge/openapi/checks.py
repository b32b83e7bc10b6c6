"""What is handed to a conversion, looked at before it begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from utcp_bridge.openapi.nodes import OpenApiError, mapping
from utcp_bridge.openapi.references import joined_address


def version_of(document: Mapping[str, Any]) -> tuple[int, int]:
    """The version of OpenAPI that a document is of.

    Raises:
        OpenApiError: It is of none that is known, or has nothing to call.
    """
    written = str(document.get("openapi") or document.get("swagger") or "")
    if not written and isinstance(document.get("paths"), Mapping):
        return (2, 0) if "definitions" in document else (3, 0)
    major, _, rest = written.partition(".")
    if major not in ("2", "3"):
        raise OpenApiError(f"it is of the OpenAPI version {written!r}; expected 2.0, 3.0, 3.1 or 3.2")
    if not isinstance(document.get("paths"), Mapping) and not mapping(document.get("webhooks")):
        raise OpenApiError("it is an OpenAPI document without 'paths'")
    minor = rest.partition(".")[0]
    return int(major), int(minor) if minor.isdecimal() else 0


def check_options(*, server_variables: Any, media_types: Any, flatten_body: Any) -> None:
    """Check options of `tools_from_openapi`.

    Raises:
        OpenApiError: One of them is of another type than it says there.
    """
    if server_variables is not None and not (
        isinstance(server_variables, Mapping) and all(isinstance(name, str) for name in server_variables)
    ):
        raise OpenApiError(f"'server_variables': expected an object of names and values, got {server_variables!r}")
    if not isinstance(media_types, (list, tuple)) or not all(isinstance(kind, str) for kind in media_types):
        raise OpenApiError(f"'media_types': expected a list of media types, got {media_types!r}")
    if not isinstance(flatten_body, bool):
        raise OpenApiError(f"'flatten_body': expected true or false, got {flatten_body!r}")


def checked_base(base_url: Any, location: str) -> str:
    """The server that a user gives, a relative one against where the document came from.

    Raises:
        OpenApiError: It is no URL of a server.
    """
    if isinstance(base_url, str) and base_url.strip():
        written = base_url.strip()
        if written.lower().startswith(("http://", "https://")) or written.startswith(("{", "$")):
            return written
        if location.startswith(("http://", "https://")) and "://" not in written:
            return joined_address(location, written) or written
    raise OpenApiError(f"'base_url': expected the URL of a server, such as https://api.example.com, got {base_url!r}")
