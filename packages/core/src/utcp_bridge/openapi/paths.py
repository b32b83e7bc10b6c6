"""Paths as authors write them: placeholders in other spellings, and parameters of the query among them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

PLACEHOLDER = re.compile(r"\{([^{}]+)\}")

_LOOSE = re.compile(r"[^a-z0-9]+")
_QUERY_EXPRESSION = re.compile(r"\{[?&]([^{}]*)\}")  # RFC 6570, sections 3.2.8 and 3.2.9
_OPERATOR = re.compile(r"\{[+#./;]?([^{}+#/;?&*][^{}*]*)\*?\}")  # the others of RFC 6570, section 3.2
_DOUBLED = re.compile(r"\{\{([^{}]+)\}\}|\$\{([^{}]+)\}")  # `{{id}}` of Mustache, `${id}` of JavaScript
_COLON = re.compile(r"(?<=/):([A-Za-z_]\w*)(?=/|$|\?)")


@dataclass(frozen=True, slots=True)
class PathTemplate:
    """A path with its placeholders in OpenAPI's spelling, which are those that the path is to be filled in at.

    Attributes:
        text: The path.
        query_names: Declared parameters of the query that the path wrote, each with its name on the wire.
        implied_query: Names that the path gives to parameters of the query that nobody declares.
    """

    text: str
    query_names: dict[str, str]
    implied_query: tuple[str, ...] = ()

    @property
    def placeholders(self) -> list[str]:
        """The names of the placeholders, each once, in order; a fragment is not sent, so it has none."""
        return list(dict.fromkeys(PLACEHOLDER.findall(self.text.partition("#")[0])))


def path_template(path: str, in_path: Collection[str], in_query: Collection[str]) -> PathTemplate:
    """Read a path.

    A parameter of the query that the path writes too (`/search?q={q}`) is left to its declaration.

    Args:
        path: The path as the document writes it.
        in_path: The names of its path parameters.
        in_query: The names of its query parameters.
    """
    path = _DOUBLED.sub(lambda match: f"{{{match[1] or match[2]}}}", path)
    implied: list[str] = []

    def expression(match: re.Match[str]) -> str:
        implied.extend(name.strip(" *") for name in match[1].split(","))
        return ""

    path = _QUERY_EXPRESSION.sub(expression, path)
    path = _OPERATOR.sub(lambda match: f"{{{match[1]}}}", path)
    path = _COLON.sub(lambda match: f"{{{match[1]}}}" if match[1] in in_path else match[0], path)
    path, _, fragment = path.partition("#")
    path, _, query = path.partition("?")
    kept: list[str] = []
    query_names: dict[str, str] = {}
    for pair in query.split("&") if query else ():
        key, equals, value = pair.partition("=")
        match = PLACEHOLDER.fullmatch(value if equals else key)
        if match and match[1] in in_query and match[1] not in in_path:
            query_names[match[1]] = key if equals else match[1]
        else:
            kept.append(pair)
    text = path + ("?" + "&".join(kept) if kept else "") + (f"#{fragment}" if fragment else "")
    return PathTemplate(text, query_names, tuple(name for name in implied if name and name not in in_query))


def placeholder_for(name: str, placeholders: Collection[str]) -> str | None:
    """The placeholder that a path parameter is for: of its name, or of one that differs in spelling only."""
    if name in placeholders:
        return name
    alike = [placeholder for placeholder in placeholders if _loose(placeholder) == _loose(name)]
    return alike[0] if len(alike) == 1 else None


def _loose(name: str) -> str:
    return _LOOSE.sub("", name.lower())
