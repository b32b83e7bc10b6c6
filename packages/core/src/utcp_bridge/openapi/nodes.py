"""Reading what an author wrote without trusting its shape: a piece of the wrong kind counts as not written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


class OperationError(ValueError):
    """One operation cannot become a tool; the message is the reason, in words for the document's author."""


class OpenApiError(ValueError):
    """A document cannot be read as OpenAPI at all; the message says why."""


class NoServerError(OpenApiError):
    """A document does not say where any of its operations are served; `base_url` must."""


@dataclass(frozen=True, slots=True)
class Node:
    """A piece of a document, and where references in it start from.

    Attributes:
        value: The JSON value as the author wrote it.
        base: The URL of the document that it stands in; empty for a document without one.
        name: What its author calls it: the last token of the reference that led here, or an empty string.
    """

    value: Any
    base: str
    name: str = ""

    def get(self, key: str) -> Node:
        """The value under a key of an object; a node of None if there is none."""
        return Node(mapping(self.value).get(key), self.base)

    def items(self) -> Iterator[tuple[str, Node]]:
        """The entries of an object."""
        for key, value in mapping(self.value).items():
            yield key_text(key), Node(value, self.base, key_text(key))

    def elements(self) -> Iterator[Node]:
        """The items of a list."""
        for value in sequence(self.value):
            yield Node(value, self.base)

    @property
    def fields(self) -> Mapping[Any, Any]:
        """The object itself; empty if it is none."""
        return mapping(self.value)


def mapping(value: Any) -> Mapping[Any, Any]:
    """The value if it is an object, else an empty one."""
    # Almost all are dicts, and asking for the abstract class takes ten times as long.
    return value if type(value) is dict or isinstance(value, Mapping) else {}


def sequence(value: Any) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def is_container(value: Any) -> bool:
    """Whether a value is an object or a list."""
    return not isinstance(value, (str, int, float)) and isinstance(value, (Mapping, list))


def text(value: Any) -> str:
    """The value if it is a text, else an empty one; without white space around it."""
    return value.strip() if isinstance(value, str) else ""


def key_text(key: Any) -> str:
    """An object's key as text: YAML 1.1 reads `200:` as a number and `on:` as true."""
    if isinstance(key, str):
        return key
    return {True: "true", False: "false"}[key] if isinstance(key, bool) else str(key)
