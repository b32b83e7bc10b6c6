"""The documents of an API description, and what a `$ref` in them points to (RFC 3986, RFC 6901)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

from utcp_bridge.openapi.nodes import Node, OperationError, key_text, mapping, text

MAX_REFERENCES = 64
"""The most references that may lead from one to the next."""

_MAX_INDEXED_DEPTH = 64
_COMPONENTS = ("definitions", "components")
_HIERARCHICAL = frozenset({"", "file", "http", "https"})


class DanglingReferenceError(OperationError):
    """A `$ref` leads nowhere; the message names it and says why."""


class Documents:
    """A document and those beside it that it refers to.

    Args:
        document: The main document.
        url: Where it came from; empty if it came from nowhere that others could be beside.
        siblings: The documents beside it by URL, without fragments; a text in place of one is the reason why it
            could not be had.

    Attributes:
        location: Where the main document came from; an empty string if it came from nowhere.
        url: The URL that references in the main document start from.
        wanted: URLs of documents that a reference led to and that are not here.
    """

    def __init__(self, document: Mapping[str, Any], url: str = "", siblings: Mapping[str, Any] | None = None) -> None:
        location = joined_address(url, "")
        self.location = location
        self.url = identity_of(document, url)
        self.wanted: set[str] = set()
        names = dict.fromkeys((text(document.get("$self")) or location, location, self.url), document)
        self._documents: dict[str, Any] = {**(siblings or {}), **names}
        self._resolved: dict[tuple[str, str], Node | DanglingReferenceError] = {}
        self._anchors: dict[tuple[str, str], Any] | None = None

    @property
    def root(self) -> Node:
        """The main document."""
        return Node(self._documents[self.url], self.url)

    @property
    def roots(self) -> list[Node]:
        """The main document and those beside it, each once."""
        found = {id(document): Node(document, base) for base, document in self._documents.items()}
        return [self.root, *(node for key, node in found.items() if key != id(self.root.value))]

    def location_of(self, base: str) -> str:
        """Where the document with this base came from, which is what URLs of the API start from."""
        return self.location if base == self.url else relocated(base, self.url, self.location)

    def resolve(self, reference: str, base: str) -> Node:
        """What a reference points to; not followed if it is a reference again.

        Raises:
            DanglingReferenceError: It points to nothing that is here.
        """
        key = reference, base
        found = self._resolved.get(key)
        if found is None:
            try:
                found = self._find(reference, base, 0)
            except DanglingReferenceError as error:
                found = error
            self._resolved[key] = found
        if isinstance(found, DanglingReferenceError):
            raise found
        return found

    def follow(self, node: Node) -> Node:
        """The node itself, or what it refers to in the end.

        `summary` and `description` beside a reference count instead of those that it leads to (OpenAPI 3.1,
        section 4.8.23).

        Raises:
            DanglingReferenceError: A reference leads nowhere, or round in a circle.
        """
        start = node
        own: dict[str, Any] = {}
        for _ in range(MAX_REFERENCES):
            fields = mapping(node.value)
            reference = fields.get("$ref")
            if not isinstance(reference, str):
                return Node({**fields, **own}, node.base, node.name) if own and fields else node
            own = {key: fields[key] for key in ("summary", "description") if text(fields.get(key))} | own
            node = self.resolve(reference, node.base)
        raise DanglingReferenceError(
            f"the reference {start.fields.get('$ref')!r} leads round in a circle, or on through too many others"
        )

    def identified(self, schema: Mapping[Any, Any], base: str) -> str:
        """The base of what is below a schema, its own `$id` applied (JSON Schema 2020-12 core, section 8.2.1)."""
        identifier = schema.get("$id")
        if not isinstance(identifier, str) or not identifier.partition("#")[0]:
            return base
        address = joined_address(base, identifier)
        if not address:
            return base
        self._documents.setdefault(address, schema)
        return address

    def _find(self, reference: str, base: str, depth: int) -> Node:
        if reference.startswith("#"):
            address, fragment = base, reference[1:]
        else:
            address, _, fragment = reference.partition("#")
            address = joined_address(base, address)
            if not address:
                raise DanglingReferenceError(f"the reference {reference!r} is no URL")
        document = self._document(address, reference)
        fragment = unquote(fragment)
        if fragment == "/" and "" not in mapping(document):
            fragment = ""  # authors mean the whole document
        if not fragment or "/" in fragment:  # no anchor has a slash, so that one is missing in front
            pointer = fragment if fragment.startswith("/") or not fragment else f"/{fragment}"
            return self._by_pointer(document, pointer, address, reference, depth)
        anchored = self._index().get((address, fragment))
        if anchored is None:
            raise DanglingReferenceError(f"the reference {reference!r} points to an anchor that does not exist")
        return Node(anchored, address, fragment)

    def _document(self, address: str, reference: str) -> Any:
        if address not in self._documents:
            self._index()
        if address not in self._documents:
            named = self._by_bare_name(reference)
            if named is None:
                self.wanted.add(address)
                raise DanglingReferenceError(
                    f"the reference {reference!r} leads to another document, which is not here"
                )
            return named
        document = self._documents[address]
        if isinstance(document, str):
            raise DanglingReferenceError(f"the reference {reference!r} leads to another document: {document}")
        return document

    def _by_bare_name(self, reference: str) -> Any:
        # Swagger 1.2 wrote `Pet` for what is `#/definitions/Pet` since 2.0, and some still do.
        return mapping(self.root.fields.get("definitions")).get(reference)

    def _by_pointer(self, value: Any, pointer: str, base: str, reference: str, depth: int) -> Node:
        name = ""
        for token in pointer.split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            step = _step(value, name)
            onward = mapping(value).get("$ref")
            if step is None and isinstance(onward, str) and depth < MAX_REFERENCES:
                target = self._find(onward, base, depth + 1)
                value, base = target.value, target.base
                step = _step(value, name)
            if step is None:
                raise DanglingReferenceError(f"the reference {reference!r} points to nothing: there is no {name!r}")
            (value,) = step
        if name.isdecimal():  # the place in a list says nothing without the list
            name = "_".join(pointer.split("/")[-2:])
        return Node(value, base, name or base.rpartition("/")[2].partition(".")[0])

    def _index(self) -> dict[tuple[str, str], Any]:
        """Anchors by document and name; on the way, schemas that have an `$id` become documents of their own."""
        if self._anchors is None:
            self._anchors = {}
            for address, document in list(self._documents.items()):
                for name in _COMPONENTS:
                    self._anchors |= self._anchors_in(mapping(document).get(name), address)
                if not any(name in mapping(document) for name in _COMPONENTS):
                    self._anchors |= self._anchors_in(document, address)
        return self._anchors

    def _anchors_in(self, value: Any, base: str) -> dict[tuple[str, str], Any]:
        found: dict[tuple[str, str], Any] = {}
        waiting = [(value, base, 0)]
        while waiting:
            value, base, depth = waiting.pop()
            if isinstance(value, Mapping):
                base = self.identified(value, base)
                for keyword in ("$anchor", "$dynamicAnchor"):
                    if isinstance(value.get(keyword), str):
                        found.setdefault((base, value[keyword]), value)
            if depth < _MAX_INDEXED_DEPTH:
                waiting.extend((child, base, depth + 1) for child in _containers(value))
        return found


def joined_address(base: str, reference: str) -> str:
    """The URL of the document that a reference leads to, without a fragment; empty if it is no URL."""
    try:
        return urldefrag(urljoin(base, reference)).url
    except ValueError:  # such as an address in brackets that is none
        return ""


def with_absolute_references(value: Any, base: str) -> Any:
    """A copy whose references lead to the same places, wherever it stands.

    Args:
        value: The piece of a document.
        base: The URL that references in it start from.
    """
    if isinstance(value, list):
        return [with_absolute_references(item, base) for item in value]
    if not isinstance(value, Mapping):
        return value
    copied = {key: with_absolute_references(item, base) for key, item in value.items()}
    if isinstance(reference := copied.get("$ref"), str):
        address, _, fragment = reference.partition("#")
        copied["$ref"] = f"{joined_address(base, address)}#{fragment}"
    return copied


def identity_of(document: Mapping[str, Any], url: str) -> str:
    """The URL that references in a main document start from: its `$self`, or where it came from."""
    location = joined_address(url, "")
    own = joined_address(location, text(document.get("$self")))  # OpenAPI 3.2, section 4.1
    return own if urlsplit(own).scheme in _HIERARCHICAL else location  # nothing is relative to a URN


def relocated(address: str, identity: str, location: str) -> str:
    """Where a document is to be found, whose address starts from what the main document calls itself.

    Args:
        address: The document's address.
        identity: The main document's own URL, its `$self` applied (OpenAPI 3.2, section 4.1.1).
        location: Where the main document came from.

    Returns:
        The same place as seen from `location`, if `identity` is at another origin; else the address itself.
    """
    try:
        there, own, here = urlsplit(address), urlsplit(identity), urlsplit(location)
    except ValueError:
        return address
    if not location or there[:2] != own[:2] or own[:2] == here[:2]:
        return address
    path = posixpath.relpath(there.path or "/", posixpath.dirname(own.path) or "/")
    return joined_address(location, f"{path}?{there.query}" if there.query else path)


def _step(value: Any, token: str) -> tuple[Any] | None:
    if isinstance(value, Mapping):
        if token in value:
            return (value[token],)
        return next(((item,) for key, item in value.items() if key_text(key) == token), None)
    if isinstance(value, list) and token.isdecimal() and int(token) < len(value):
        return (value[int(token)],)
    return None


def _containers(value: Any) -> Iterator[Any]:
    children = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return (child for child in children if isinstance(child, (Mapping, list)))
