"""Names of tools: the author's `operationId`, or one that reads like the method and the path."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from utcp_bridge.openapi.operations import Operation
from utcp_bridge.openapi.paths import PLACEHOLDER

_WORDS = re.compile(r"[^\W_]+")
_READABLE = re.compile(r"[A-Za-z0-9]")
_SIGNS = {
    "-": "dash",
    "_": "underscore",
    ".": "dot",
    "~": "tilde",
    ":": "colon",
    ";": "semicolon",
    ",": "comma",
    "@": "at",
    "$": "dollar",
    "*": "star",
    "+": "plus",
    "=": "equals",
    "!": "not",
    "?": "query",
    "#": "hash",
    "&": "and",
    "%": "percent",
    "(": "open",
    ")": "close",
    "'": "quote",
}


def tool_names(operations: Sequence[Operation]) -> list[str]:
    """A name for each operation, all different, whatever the order of the operations.

    Operations of one `operationId` all get what sets them apart behind it: the method, else the path, else both.
    Those without one are named after method and path, and only where that leaves several alike with the signs in it.
    """
    wanted = [_own_name(operation) or _from_request(operation) for operation in operations]
    groups: dict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(wanted):
        groups[name].append(index)
    names = list(wanted)
    numbers: dict[str, int] = {}
    taken = {name for name, members in groups.items() if len(members) == 1}
    for name, members in groups.items():
        if len(members) == 1:
            continue
        for index, told_apart in zip(
            members, _told_apart(name, [operations[index] for index in members], taken), strict=True
        ):
            names[index] = _free(told_apart, taken, numbers)
            taken.add(names[index])
    return names


def _own_name(operation: Operation) -> str:
    """The `operationId`, if models can read it: they are shown ASCII letters, digits, `_` and `-`."""
    name = operation.operation_id
    return name if _READABLE.search(unicodedata.normalize("NFKD", name)) else ""


def _from_request(operation: Operation) -> str:
    """`get_users_by_id` for `GET /users/{id}`."""
    return "_".join(filter(None, (operation.method.lower(), _path_words(operation))))


def _path_words(operation: Operation) -> str:
    words: list[str] = []
    for segment in operation.path.split("/"):
        spelt = PLACEHOLDER.sub(lambda match: f" by {match.group(1)} ", segment)
        words += _WORDS.findall(spelt)
    return "_".join(words) or "root"


def _path_signs(operation: Operation) -> str:
    """The words of a path with the names of the signs between them."""
    spelt = PLACEHOLDER.sub(lambda match: f" by {match.group(1)} ", operation.path)
    for sign, name in _SIGNS.items():
        spelt = spelt.replace(sign, f" {name} ")
    words = _WORDS.findall(spelt)
    if operation.path.endswith("/"):
        words.append("slash")
    return "_".join(words)


def _told_apart(name: str, operations: list[Operation], taken: set[str]) -> list[str]:
    by_request = name == _from_request(operations[0])
    spellings: tuple[Callable[[Operation], str], ...] = (
        lambda operation: f"{name}_{operation.method.lower()}",
        lambda operation: f"{name}_{_path_words(operation)}",
        lambda operation: f"{name}_{_from_request(operation)}",
        lambda operation: f"{name}_{operation.method.lower()}_{_path_signs(operation)}",
    )
    if by_request:
        spellings = (lambda operation: f"{operation.method.lower()}_{_path_signs(operation)}",)
    found: list[str] = []
    for spell in spellings:
        found = [spell(operation) for operation in operations]
        if max(Counter(found).values()) == 1 and taken.isdisjoint(found):
            break
    return found


def _free(name: str, taken: set[str], numbers: dict[str, int]) -> str:
    free = name
    while free in taken:
        numbers[name] = numbers.get(name, 1) + 1
        free = f"{name}_{numbers[name]}"
    return free
