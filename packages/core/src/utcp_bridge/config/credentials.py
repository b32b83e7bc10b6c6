"""The spellings of `auth` in call templates, put into UTCP's own three: `api_key`, `basic` and `oauth2`.

They come from python-utcp 0.2 (no type at all), go-utcp (`"type"`, `"none"`), manuals in the wild (`"bearer"`) and
OpenAPI (`"apiKey"`, `"in"`, `"type": "http"` with a `"scheme"`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NO_LETTERS = re.compile(r"[^a-z0-9]")
_NONE = frozenset({"none", "noauth", "anonymous", "public"})
_BEARER = frozenset({"bearer", "bearertoken", "bearerauth", "httpbearer", "jwt", "token"})
_KINDS = {
    **dict.fromkeys(("apikey", "key", "apikeyauth", "header"), "api_key"),
    **dict.fromkeys(("basic", "basicauth", "httpbasic"), "basic"),
    **dict.fromkeys(("oauth", "oauth2", "oauth20", "clientcredentials", "oauth2clientcredentials"), "oauth2"),
}
# python-utcp 0.2 needed no type: its union told the models apart by their fields.
_MARKS = {"api_key": "api_key", "username": "basic", "token_url": "oauth2"}
_NEEDED = {
    "api_key": ("api_key",),
    "basic": ("username", "password"),
    "oauth2": ("token_url", "client_id", "client_secret"),
}
_TOKEN_KEYS = ("api_key", "token", "bearer_token", "access_token", "apiKey", "key", "value")
_HEADER_NAMES = {
    **dict.fromkeys(("varName", "header", "header_name", "headerName", "name"), "var_name"),
    "in": "location",
}
_NAMES: dict[str, dict[str, str]] = {
    "api_key": {**dict.fromkeys(_TOKEN_KEYS[1:], "api_key"), **_HEADER_NAMES},
    "basic": {"user": "username", "pass": "password"},
    "oauth2": {
        **dict.fromkeys(("tokenUrl", "token_endpoint"), "token_url"),
        "clientId": "client_id",
        "clientSecret": "client_secret",
        "scopes": "scope",
    },
}


def credentials(auth: Mapping[str, Any]) -> dict[str, Any] | None:
    """Put an `auth` into UTCP's own form.

    A bearer token becomes an API key in the header `Authorization` that begins with `Bearer`.

    Args:
        auth: The object as it is written; it is not changed.

    Returns:
        A new object, or None for credentials that say there are none. What has no translation is kept as it is, so
        that UTCP itself names it.
    """
    written = next((auth[key] for key in ("auth_type", "type") if auth.get(key) is not None), None)
    fields = {key: value for key, value in auth.items() if key not in {"auth_type", "type"}}
    if written is None:
        written = next((kind for mark, kind in _MARKS.items() if mark in fields), None)
        if written is None:
            return dict(auth)
    kind = _NO_LETTERS.sub("", written.lower()) if isinstance(written, str) else ""
    if kind == "http" and isinstance(fields.get("scheme"), str):
        kind = _NO_LETTERS.sub("", fields.pop("scheme").lower())
    if kind in _NONE:
        return None
    if kind in _BEARER:
        return _bearer(fields) or {"auth_type": written, **fields}
    known = _KINDS.get(kind)
    if known is None:
        return {"auth_type": written, **fields}
    fields = _renamed(fields, _NAMES[known])
    if known == "oauth2" and isinstance(fields.get("scope"), (list, tuple)):
        fields["scope"] = " ".join(map(str, fields["scope"]))
    return {"auth_type": known, **fields}


def is_complete(auth: Mapping[str, Any]) -> bool:
    """Whether credentials, in UTCP's own form, have all that their type needs."""
    kind = auth.get("auth_type")
    if not isinstance(kind, str) or _NO_LETTERS.sub("", kind.lower()) in _BEARER:
        return False
    return all(isinstance(auth.get(name), str) for name in _NEEDED.get(kind, ()))


def _bearer(fields: Mapping[str, Any]) -> dict[str, Any] | None:
    key = next((key for key in _TOKEN_KEYS if isinstance(fields.get(key), str) and fields[key].strip()), None)
    if key is None:
        return None
    token = fields[key].strip()
    scheme = str(fields.get("prefix") or fields.get("scheme") or "Bearer").strip()
    rest = {name: value for name, value in fields.items() if name not in {key, "prefix", "scheme"}}
    rest = {"var_name": "Authorization", "location": "header", **_renamed(rest, _HEADER_NAMES)}
    if not token.lower().startswith(f"{scheme.lower()} "):
        token = f"{scheme} {token}"
    return {"auth_type": "api_key", "api_key": token, **rest}


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for key, value in fields.items():
        name = names.get(key, key)
        renamed[key if name in fields or name in renamed else name] = value
    return renamed
