"""The operations of a description, one by one, each with what its path says for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from utcp_bridge.openapi.nodes import Node, OperationError, is_container, key_text, mapping, sequence, text
from utcp_bridge.openapi.references import Documents, with_absolute_references

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
"""The fields of a Path Item Object that are operations; `query` came with OpenAPI 3.2."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, section 5.6.2


@dataclass(frozen=True, slots=True)
class Operation:
    """An Operation Object where it stands.

    Attributes:
        method: The HTTP method, in capitals.
        path: The path as the document writes it.
        node: The Operation Object.
        path_item: The Path Item Object that it is part of.
        error: Why it cannot be read at all, or an empty string.
    """

    method: str
    path: str
    node: Node
    path_item: Node
    error: str = ""

    @property
    def operation_id(self) -> str:
        """Its `operationId`, or an empty string."""
        return text(self.node.fields.get("operationId"))

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags."""
        return tuple(tag for tag in map(text, sequence(self.node.fields.get("tags"))) if tag)

    def parameters(self, documents: Documents) -> list[Node]:
        """Its parameters and those of its path that it does not replace, in that order of the document.

        Raises:
            OperationError: One of them cannot be read.
        """
        found: dict[tuple[str, str], Node] = {}
        for owner, where in ((self.path_item, "its path's parameters"), (self.node, "its parameters")):
            for index, element in enumerate(_listed(documents, owner, where)):
                try:
                    parameter = documents.follow(element)
                except OperationError as error:
                    raise OperationError(f"number {index + 1} of {where} cannot be read: {error}") from error
                name, place = parameter.fields.get("name"), text(parameter.fields.get("in"))
                if not place or ((name is None or is_container(name)) and place not in ("body", "querystring")):
                    raise OperationError(f"number {index + 1} of {where} has no 'name' or no 'in'")
                # The names of headers are alike in any case (RFC 9110, section 5.1).
                key = key_text(name).lower() if place == "header" else key_text(name)
                found[key, place] = parameter
        return list(found.values())


def operations(documents: Documents) -> Iterator[Operation]:
    """Every operation of the main document's paths, in order; webhooks and callbacks are calls of the server's."""
    for path, item in _paths(documents).items():
        if not path.startswith("/") and path.startswith("x-"):
            continue
        if path == "$ref":
            if isinstance(item.value, str):
                yield Operation("", "paths", item, item, f"the reference {item.value!r} leads nowhere")
            continue
        try:
            resolved = _path_item(documents, item)
        except OperationError as error:
            yield Operation("", path, item, item, str(error))
            continue
        for key, node in resolved.items():
            if key.lower() in METHODS:
                yield _operation(documents, key.upper(), path, node, resolved)
        for method, node in resolved.get("additionalOperations").items():  # OpenAPI 3.2, section 4.9.1
            problem = "" if _TOKEN.fullmatch(method) and method.upper() != "CONNECT" else "its method cannot be called"
            yield _operation(documents, method, path, node, resolved, problem)


def _paths(documents: Documents) -> Node:
    """The paths, also where the whole of them stands in another document, as authors of several files write it."""
    node = documents.root.get("paths")
    try:
        return documents.follow(node)
    except OperationError:
        return node


def _listed(documents: Documents, owner: Node, where: str) -> Iterator[Node]:
    try:
        return documents.follow(owner.get("parameters")).elements()
    except OperationError as error:
        raise OperationError(f"{where} cannot be read: {error}") from error


def _path_item(documents: Documents, item: Node) -> Node:
    if not isinstance(item.fields.get("$ref"), str):
        return item
    target = documents.follow(item)
    own = {key: value for key, value in item.fields.items() if key != "$ref"}
    # What stands beside the reference is undefined up to 3.0, and meant.
    if not own:
        return target
    if target.base != item.base:
        own = with_absolute_references(own, item.base)
    return Node({**mapping(target.value), **own}, target.base, target.name)


def _operation(
    documents: Documents, method: str, path: str, node: Node, path_item: Node, problem: str = ""
) -> Operation:
    try:
        node = documents.follow(node)
    except OperationError as error:
        return Operation(method, path, node, path_item, str(error))
    if not problem and not isinstance(node.value, dict):
        problem = "it is no object"
    return Operation(method, path, node, path_item, problem)
