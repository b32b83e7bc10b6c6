"""How manuals spell the place of an argument: `{name}`, `${name}` and `{{name}}`.

`{name}` in a URL is UTCP's own (utcp-http 1.1.15); `${name}` is what its documents show
(https://www.utcp.io/protocols/http, "Variable Substitution"); `{{name}}` and `{name}` in every field are how manuals in
the wild have it. `${name}` may be a variable as well: docs/decisions/0002-variables.md has the rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_SPELLED = re.compile(
    r"(?<!\$)(?:(?P<dollar>\$)?\{\{\s*(?P<double>[^{}]+?)\s*\}\}|\$\{\s*(?P<braced>[^{}]+?)\s*\}|\{(?P<single>[^{}\s]+)\})"
)
_WORD = re.compile(r"[A-Za-z_][\w.-]*")
_OWNERS = ("args.", "arguments.", "input.", "inputs.", "params.", "parameters.")
_BRANCHES = ("allOf", "anyOf", "oneOf")
# They may let an object have more properties than its schema lists.
_OPENING = frozenset(
    {"$ref", "$dynamicRef", "patternProperties", "if", "then", "else", "dependentSchemas", "dependencies"}
)


@dataclass(frozen=True, slots=True)
class DeclaredArguments:
    """The arguments of a tool, as far as its schema lists them.

    Attributes:
        names: Those that it lists.
        required: Those of them that every call has.
        is_complete: Whether no others are to be expected. JSON Schema lets an object have more, but who writes nothing
            of them does not think of any.
    """

    names: frozenset[str]
    required: frozenset[str]
    is_complete: bool

    @classmethod
    def of(cls, inputs: Mapping[str, Any] | bool) -> DeclaredArguments:
        """Read the schema of a tool's arguments."""
        if isinstance(inputs, bool):
            return cls(frozenset(), frozenset(), not inputs)
        names, required, is_open = _read(inputs, depth=0)
        is_complete = inputs.get("additionalProperties") is False or (bool(names) and not is_open)
        return cls(frozenset(names), frozenset(required & names), is_complete)

    @property
    def are_unlisted(self) -> bool:
        """Whether the schema lists none, so that the placeholders alone tell of them."""
        return not self.names and not self.is_complete


def _read(schema: Mapping[str, Any], depth: int) -> tuple[set[str], set[str], bool]:
    properties, listed = schema.get("properties"), schema.get("required")
    names = set(properties) if isinstance(properties, Mapping) else set()
    required = {name for name in listed if isinstance(name, str)} if isinstance(listed, list) else set()
    is_open = bool(schema.get("additionalProperties", False)) or not _OPENING.isdisjoint(schema)
    for key in _BRANCHES if depth < 3 else ():  # deeper ones are not how arguments are listed
        branches = schema.get(key)
        for branch in branches if isinstance(branches, list) else ():
            if isinstance(branch, Mapping):
                found, needed, more = _read(branch, depth + 1)
                names |= found
                required |= needed if key == "allOf" else set()
                is_open = is_open or more
    return names, required, is_open


@dataclass(slots=True)
class Placeholders:
    """The placeholders in the template of one tool, and what was odd about them.

    Attributes:
        arguments: The tool's arguments.
        is_variable: Tells whether a variable of this name is defined for the manual.
        variables: Arguments for which a variable of the same name stands in their place.
        unknown: Placeholders that belong to no argument, as they are written.
    """

    arguments: DeclaredArguments
    is_variable: Callable[[str], bool]
    variables: set[str] = field(default_factory=set)
    unknown: dict[str, None] = field(default_factory=dict)

    def replaced(self, text: str, write: Callable[[str], str], *, single: bool = True, unlisted: bool = False) -> str:
        """A text with each placeholder of an argument written anew; everything else stays.

        Args:
            text: The text.
            write: How an argument is written.
            single: Whether `{name}` counts; default True. In a command it may mean something else.
            unlisted: Whether a tool that lists no arguments has those of its placeholders; default False. In a body
                a brace may mean something else.
        """
        if "{" not in text:
            return text

        def written(match: re.Match[str]) -> str:
            if match["single"] is not None and not single:
                return match[0]
            name = self._argument(match) or (_unlisted(match) if unlisted and self.arguments.are_unlisted else None)
            return match[0] if name is None else write(name)

        return _SPELLED.sub(written, text)

    def whole(self, text: str) -> str | None:
        """The argument that a text is the placeholder of, with nothing around it; None if it is something else."""
        match = _SPELLED.fullmatch(text.strip())
        if match is None:
            return None
        return self._argument(match) or (_unlisted(match) if self.arguments.are_unlisted else None)

    def has_unknown(self, text: str) -> bool:
        """Whether a text in which arguments are replaced already has a placeholder left, which is noted."""
        left = [match for match in _SPELLED.finditer(text) if _unlisted(match) is not None]
        self.unknown.update(dict.fromkeys(match[0] for match in left))
        return bool(left)

    def is_unknown(self, text: str) -> bool:
        """Whether a text is nothing but the placeholder of something that is no argument, which is noted."""
        return _SPELLED.fullmatch(text.strip()) is not None and self.has_unknown(text)

    def spelled(self, text: str) -> Iterator[re.Match[str]]:
        """All that is spelled like a placeholder of one of the arguments."""
        return (match for match in _SPELLED.finditer(text) if self._argument(match) is not None)

    def _argument(self, match: re.Match[str]) -> str | None:
        written = str(match["single"] or match["double"] or match["braced"])
        owner = next((owner for owner in _OWNERS if written.startswith(owner)), "")
        name = next((name for name in (written, written[len(owner) :]) if name in self.arguments.names), None)
        if name is not None and match["braced"] is not None and self.is_variable(written):
            self.variables.add(name)
            return None
        return name


def _unlisted(match: re.Match[str]) -> str | None:
    """The name in a placeholder that cannot be a variable's, as UTCP's `${config.name}` cannot."""
    written = str(match["single"] or match["double"] or match["braced"])
    may_be_a_variable = match["braced"] is not None and written.isidentifier()
    return written if _WORD.fullmatch(written) and not may_be_a_variable else None
