"""The call template of a tool whose author wrote out where its arguments go, made one that says so in our terms.

utcp-http 1.1.15 knows `{name}` in the URL, `body_field` and `header_fields`. UTCP's documents and manuals in the wild
also write `query_params`, a `body` and `headers`, with placeholders in them (see `placeholders`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_plus

from pydantic import BaseModel

from utcp_bridge.config.legacy import QUERY_KEYS, query_credential
from utcp_bridge.transports.http.marks import mark, marked_arguments
from utcp_bridge.transports.http.template import (
    MappedHttpCallTemplate,
    MappedSseCallTemplate,
    MappedStreamableHttpCallTemplate,
)
from utcp_bridge.transports.http.url import parse_url_template
from utcp_bridge.transports.manuals.bodies import written_body
from utcp_bridge.transports.manuals.commands import placed_commands
from utcp_bridge.transports.manuals.placeholders import DeclaredArguments, Placeholders

BODY_KEYS = ("body", "body_template", "request_body", "json")
"""Names under which a body is written out; UTCP's documents have `body`."""

_MODELS: Mapping[str, type[BaseModel]] = {
    "http": MappedHttpCallTemplate,
    "sse": MappedSseCallTemplate,
    "streamable_http": MappedStreamableHttpCallTemplate,
}
# Placeholders as UTCP itself has them in a path need nothing.
_MORE_THAN_A_PATH: Final = re.compile(r"\$\{|\{\{|\{[^{}]*\.|\?.*\{", re.DOTALL)
_MOST_NAMED = 5
_LEFT_OUT: Final = object()


@dataclass(frozen=True, slots=True)
class PlacedTemplate:
    """A call template whose arguments have their places.

    Attributes:
        fields: The template, in the form of its model.
        model: The model, where it is one of ours; None for UTCP's own.
        read: Keys of the author's template that became something else.
        warnings: What is odd about its placeholders.
    """

    fields: dict[str, Any]
    model: type[BaseModel] | None = None
    read: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()


def placed_template(
    template: Mapping[str, Any], inputs: Mapping[str, Any] | bool, is_variable: Callable[[str], bool]
) -> PlacedTemplate:
    """Find the places of a tool's arguments in its call template.

    Args:
        template: The template, in the form of UTCP 1.1; it is not changed.
        inputs: JSON Schema of the arguments.
        is_variable: Tells whether a variable of this name is defined for the manual: `${name}` is the argument only
            where it is not, so that what a model says never takes the place of what the operator has set.
    """
    kind = str(template.get("call_template_type"))
    fields = dict(template)
    if kind == "cli":
        places = Placeholders(DeclaredArguments.of(inputs), is_variable)
        return PlacedTemplate(placed_commands(fields, places), warnings=_warnings(places))
    if kind not in _MODELS or not _may_have_places(fields) or not isinstance(fields.get("url"), str):
        return PlacedTemplate(fields)
    request = _Request(fields, Placeholders(DeclaredArguments.of(inputs), is_variable))
    request.place_url()
    request.place_query()
    request.place_headers()
    request.place_body()
    written = request.mapped()
    model = _MODELS[kind] if written else None
    return PlacedTemplate(request.fields, model, frozenset(request.read), _warnings(request.places))


def _may_have_places(fields: Mapping[str, Any]) -> bool:
    """Whether to look at all: most tools say no more than where they are."""
    if any(key in fields for key in (*QUERY_KEYS, *BODY_KEYS)):
        return True
    url, headers = fields.get("url"), fields.get("headers")
    if isinstance(url, str) and "{" in url and _MORE_THAN_A_PATH.search(url) is not None:
        return True
    texts = headers.values() if isinstance(headers, Mapping) else ()
    return any(isinstance(text, str) and "{" in text for text in texts)


class _Request:
    """One template on its way; each method moves one part of it."""

    def __init__(self, fields: dict[str, Any], places: Placeholders) -> None:
        self.fields = fields
        self.places = places
        self.read: set[str] = set()
        self._query: dict[str, Any] = {}
        self._headers: dict[str, str] = {}
        self._body: dict[str, Any] = {}
        self._unused: frozenset[str] = frozenset()
        self._parameters: list[dict[str, Any]] = []

    def place_url(self) -> None:
        """UTCP's own spelling everywhere; pairs of the query that an optional argument may leave out stand apart."""
        url = self.places.replaced(self.fields["url"], "{{{}}}".format, unlisted=True)
        head, _, query = url.partition("#")[0].partition("?")
        listed = self.places.arguments.names
        optional = listed - self.places.arguments.required
        kept: list[str] = []
        for pair in query.split("&") if query else ():
            name, _, text = pair.partition("=")
            arguments = parse_url_template(f"?{text}").placeholders
            if "{" in name or not arguments & optional or not arguments <= listed:
                kept.append(pair)
            elif len(arguments) == 1 and text == f"{{{next(iter(arguments))}}}":
                # A list is written with commas there, as in the URL of any template.
                place = {"argument": next(iter(arguments)), "name": unquote_plus(name), "location": "query"}
                self._parameters.append({**place, "style": "form", "explode": False})
            else:
                self._query[unquote_plus(name)] = self.places.replaced(unquote_plus(text), mark)
        if len(kept) < query.count("&") + bool(query):
            self.fields["url"] = f"{head}?{'&'.join(kept)}" if kept else head
        else:
            self.fields["url"] = url

    def place_query(self) -> None:
        """`query_params`, but for the one that `auth` sets."""
        credential = query_credential(self.fields)
        for key in QUERY_KEYS:
            if not isinstance(self.fields.get(key), Mapping):
                continue
            self.read.add(key)
            for name, value in self.fields.pop(key).items():
                if name == credential:
                    self._unused |= marked_arguments(self._marked_body(value))
                elif (marked := self._marked(value)) is not _LEFT_OUT:
                    self._query[str(name)] = marked

    def place_headers(self) -> None:
        """Headers that arguments have a place in, but for those that `auth` sets."""
        headers = self.fields.get("headers")
        if not isinstance(headers, Mapping):
            return
        kept, auth = {}, self.fields.get("auth")
        for name, text in headers.items():
            marked = self.places.replaced(text, mark, unlisted=True) if isinstance(text, str) else text
            if marked == text and (not isinstance(text, str) or "{" not in text):
                kept[name] = text
            elif (marked == text and _is_set_by(auth, name)) or self.places.has_unknown(marked):
                continue
            elif marked == text:
                kept[name] = text
            else:
                self._headers[name] = marked
        self.fields["headers"] = kept or None

    def place_body(self) -> None:
        """A body that is written out; one that is a single argument needs no more than UTCP's own `body_field`."""
        key = next((key for key in BODY_KEYS if isinstance(self.fields.get(key), (Mapping, list, str))), None)
        if key is None or not self.fields[key] or self.fields.get("body_field"):
            return
        value = self.fields.pop(key)
        self.read.add(key)
        named = value if isinstance(value, str) and value in self.places.arguments.names else None
        whole = self.places.whole(value) if isinstance(value, str) else None
        if whole or named:
            self.fields["body_field"] = whole or named
        elif not isinstance(value, str) or not self.places.is_unknown(value):
            self._body = written_body(value, self.fields, self.places, self._marked_body)

    def mapped(self) -> bool:
        """Add what only a template of ours can say; False if there is nothing of it."""
        unused = self._unused | self.places.variables
        parts = {"query": self._query, "headers": self._headers, **self._body, "unused": sorted(unused)}
        written = {key: value for key, value in parts.items() if value or key in self._body}
        if not written and not self._parameters:
            return False
        placed = {item["argument"] for item in self._parameters} | unused
        placed |= marked_arguments([self._query, self._headers, self._body])
        placed |= parse_url_template(self.fields["url"]).placeholders
        placed |= {self.fields.get("body_field"), *(self.fields.get("header_fields") or ())}
        # UTCP's own rule for what has no other place; it holds for the arguments that the tool has, and no others.
        rest = sorted(self.places.arguments.names - placed)
        self._parameters += [{"argument": name, "name": name, "location": "query"} for name in rest]
        self.fields["written"] = written or None
        self.fields["parameters"] = self._parameters
        self.fields["undeclared"] = "refuse" if self.places.arguments.is_complete else "query"
        return True

    def _marked(self, value: Any) -> Any:
        """A value of the query with marks; what has a placeholder of no argument is never right as it stands."""
        if isinstance(value, str):
            marked = self.places.replaced(value, mark, unlisted=True)
            return _LEFT_OUT if self.places.has_unknown(marked) else marked
        if isinstance(value, (list, tuple)):
            return [item for item in map(self._marked, value) if item is not _LEFT_OUT]
        return self._marked_body(value)

    def _marked_body(self, value: Any) -> Any:
        """A value of a body with marks; a brace within a text may mean something else there."""
        if isinstance(value, str):
            whole = self.places.whole(value)
            if whole is not None:
                return mark(whole)
            return _LEFT_OUT if self.places.is_unknown(value) else self.places.replaced(value, mark)
        if isinstance(value, Mapping):
            items = ((str(key), self._marked_body(item)) for key, item in value.items())
            return {key: item for key, item in items if item is not _LEFT_OUT}
        if isinstance(value, (list, tuple)):
            return [item for item in map(self._marked_body, value) if item is not _LEFT_OUT]
        return value


def _is_set_by(auth: Any, header: str) -> bool:
    if not isinstance(auth, Mapping):
        return False
    name = auth.get("var_name", "X-Api-Key") if auth.get("auth_type") == "api_key" else "Authorization"
    return auth.get("location", "header") == "header" and str(name).lower() == header.lower()


def _warnings(places: Placeholders) -> tuple[str, ...]:
    warnings = [
        f"${{{name}}} is an argument and a defined variable: the variable is sent, and what a model gives is not"
        for name in sorted(places.variables)
    ]
    if places.unknown:
        written = ", ".join(list(places.unknown)[:_MOST_NAMED])
        warnings.append(f"its call template has placeholders of no argument, which are left out: {written}")
    return tuple(warnings)
