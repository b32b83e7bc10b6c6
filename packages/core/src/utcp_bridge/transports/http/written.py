"""The parts of a request that a call template writes out itself: query, headers and body, with places for arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any
from xml.sax.saxutils import escape

from pydantic import BaseModel, ConfigDict, Field

from utcp_bridge.content_types import media_type
from utcp_bridge.transports.http.marks import NOT_GIVEN, filled, filled_document, marked_arguments
from utcp_bridge.transports.http.values import plain_text


class WrittenRequest(BaseModel):
    """Query, headers and body as their author wrote them; see `marks` for the places of arguments in them.

    Attributes:
        query: The parameters of the query; a list repeats its parameter.
        headers: The headers that arguments have a place in.
        body: The body as a JSON value; None (default) for none.
        document: A body that is no JSON value, such as XML, as its text; None (default) for none.
        unused: Arguments that are accepted and not sent, because the operator has set a variable of the same name.
    """

    model_config = ConfigDict(frozen=True)

    query: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict)
    body: Any = None
    document: str | None = None
    unused: list[str] = Field(default_factory=list)

    @cached_property
    def arguments(self) -> frozenset[str]:
        """The arguments that have their place here."""
        parts = (self.query, self.headers, self.body, self.document)
        return frozenset(self.unused).union(*map(marked_arguments, parts))

    @property
    def has_body(self) -> bool:
        """Whether there is a body, whatever the arguments are."""
        return self.body is not None or self.document is not None

    def query_values(self, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The parameters of the query that have a value."""
        return _given(self.query, arguments)

    def header_values(self, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The headers that have a value."""
        return _given(self.headers, arguments)

    def content(self, arguments: Mapping[str, Any], content_type: str) -> Any:
        """What is to be sent as the body, or `NOT_GIVEN` where that is one argument, which was not given.

        Args:
            arguments: The arguments of the call.
            content_type: What it is sent as; in XML and HTML the characters of an argument are escaped.
        """
        if self.document is not None:
            kind = media_type(content_type)
            is_markup = kind.endswith(("xml", "html"))
            return filled_document(self.document, arguments, _escaped if is_markup else plain_text)
        content = filled(self.body, arguments)
        if content is NOT_GIVEN and isinstance(self.body, (dict, list)):
            return type(self.body)()
        return content


def _given(texts: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, text in texts.items():
        if (value := filled(text, arguments)) is not NOT_GIVEN:
            yield name, value


def _escaped(value: Any) -> str:
    return escape(plain_text(value), {'"': "&quot;", "'": "&apos;"})
