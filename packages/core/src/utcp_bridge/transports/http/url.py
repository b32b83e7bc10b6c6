"""URL templates of call templates: where their placeholders are, and how arguments fill them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote, unquote

from utcp_bridge.errors import ToolArgumentsError
from utcp_bridge.transports.http.template import HttpParameter
from utcp_bridge.transports.http.values import (
    form_text,
    json_text,
    path_text,
    percent_encoded,
    reserved_kept_in_path,
    simple,
)

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_PARTS = re.compile(r"^(?P<origin>[^/?#]*//[^/?#]*)?(?P<path>[^?#]*)(?P<query>\?[^#]*)?", re.DOTALL)
_PART_OF_URL: Final = "it must have a value, as it is part of the URL."
_LEGAL: Final = "%/:?#[]@!$&'()*+,;=~"  # reserved characters and ready escapes, RFC 3986


@dataclass(frozen=True, slots=True)
class UrlTemplate:
    """A URL with placeholders, taken apart once.

    Attributes:
        text: The template as it is written.
        origin: Scheme and authority, as literal texts and (at odd indices) names of placeholders.
        path: The path, likewise; the literals escaped where RFC 3986 asks for it.
        query: The query that the template itself has, likewise, without its `?`.
    """

    text: str
    origin: tuple[str, ...]
    path: tuple[str, ...]
    query: tuple[str, ...]

    @property
    def placeholders(self) -> frozenset[str]:
        """The names of all placeholders."""
        return frozenset(self.origin[1::2] + self.path[1::2] + self.query[1::2])

    @property
    def has_fixed_origin(self) -> bool:
        """Whether no argument can change scheme, host or port."""
        return len(self.origin) == 1

    def expand(
        self, arguments: Mapping[str, Any], parameters: Mapping[str, HttpParameter]
    ) -> tuple[str, str, list[str], set[str]]:
        """Fill in the arguments.

        Args:
            arguments: The arguments of the call.
            parameters: How single path parameters are written, by placeholder; for the others an argument of the
                placeholder's name is written in RFC 6570 simple form.

        Returns:
            Origin, path, the pairs of the query, and the arguments that were used.

        Raises:
            ToolArgumentsError: An argument is missing, or its value would change the path's shape.
        """
        used: set[str] = set()

        def value_of(name: str) -> Any:
            argument = parameters[name].argument if name in parameters else name
            if arguments.get(argument) is None:
                # Begins as upstream's, whose users and tests look for it.
                raise ToolArgumentsError(f"Missing required path parameter: {argument}; {_PART_OF_URL}")
            used.add(argument)
            return arguments[argument]

        def in_path(name: str) -> str:
            return _path_value(name, value_of(name), parameters.get(name))

        origin = _filled(self.origin, lambda name: percent_encoded(value_of(name)))
        path = _filled(self.path, in_path) or "/"
        if len(self.path) > 1:
            _refuse_dot_segments(path, self.path)
        query = _filled(self.query, lambda name: simple(value_of(name), percent_encoded))
        return origin, path, [query] if query else [], used


@lru_cache(maxsize=4096)
def parse_url_template(text: str, *, dollars: bool = False) -> UrlTemplate:
    """Take a URL template apart; a fragment is dropped, as it never reaches a server.

    Args:
        text: The template.
        dollars: Whether `%24` in it stands for a dollar sign, which would begin a variable; default False.
    """
    match = _PARTS.match(text.strip())
    origin, path, query = match.group("origin", "path", "query") if match else ("", text, "")
    if dollars:
        path = path.replace("%24", "$")
    return UrlTemplate(text, _split(origin or ""), _split(path, escape=True), _split((query or "")[1:], escape=True))


def _split(text: str, *, escape: bool = False) -> tuple[str, ...]:
    parts = _PLACEHOLDER.split(text)
    return tuple(quote(part, safe=_LEGAL) if escape and not index % 2 else part for index, part in enumerate(parts))


def _filled(parts: tuple[str, ...], value: Callable[[str], str]) -> str:
    if len(parts) == 1:
        return parts[0]
    return "".join(value(part) if index % 2 else part for index, part in enumerate(parts))


def _path_value(name: str, value: Any, parameter: HttpParameter | None) -> str:
    if parameter is None:
        text = path_text(value)
    elif parameter.json_content:
        text = percent_encoded(json_text(value))
    elif parameter.form_content:
        text = percent_encoded(form_text(value))
    else:
        style: Any = parameter.style if parameter.style not in {None, "form", "deepObject"} else "simple"
        encode = reserved_kept_in_path if parameter.allow_reserved else percent_encoded
        text = path_text(value, style=style, explode=bool(parameter.explode), name=parameter.name, encode=encode)
    if not text:
        argument = name if parameter is None else parameter.argument
        raise ToolArgumentsError(f"The path parameter {argument!r} is empty; {_PART_OF_URL}")
    return text


def _refuse_dot_segments(path: str, template: tuple[str, ...]) -> None:
    # Servers and proxies remove dot segments (RFC 3986, section 5.2.4), some of them after decoding once more than
    # they should, so a value that is or holds one would call another operation than the tool's own.
    fixed = {segment for literal in template[::2] for segment in literal.split("/")}
    for segment in path.split("/"):
        if segment in fixed:
            continue
        decoded = segment
        while "%" in decoded and (further := unquote(decoded)) != decoded:
            decoded = further
        if not {".", ".."}.isdisjoint(re.split(r"[/\\]", decoded)):
            raise ToolArgumentsError(
                f"A path parameter must not be or hold a '.' or '..' segment, because it would change the path: "
                f"{decoded[:80]!r}."
            )
