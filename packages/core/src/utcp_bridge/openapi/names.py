"""Names of tools: the author's `operationId`, or one that reads like the method and the path."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from utcp_bridge.openapi.operations import Operation

_PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
_WORDS = re.compile(r"[^\W_]+")


def tool_names(operations: Sequence[Operation]) -> list[str]:
    """A name for each operation, all different, whatever the order of the operations.

    Operations of one `operationId` all get what sets them apart behind it: the method, else the path, else both.
    """
    wanted = [operation.operation_id or _from_request(operation) for operation in operations]
    groups: dict[str, list[int]] = defaultdict(list)
    for index, name in enumerate(wanted):
        groups[name].append(index)
    names = list(wanted)
    taken = {name for name, members in groups.items() if len(members) == 1}
    for name, members in groups.items():
        if len(members) == 1:
            continue
        endings = _endings([operations[index] for index in members])
        for index, ending in zip(members, endings, strict=True):
            names[index] = _free(f"{name}_{ending}", taken)
            taken.add(names[index])
    return names


def _from_request(operation: Operation) -> str:
    """`get_users_by_id` for `GET /users/{id}`."""
    return "_".join(filter(None, (operation.method.lower(), _path_words(operation))))


def _path_words(operation: Operation) -> str:
    words: list[str] = []
    for segment in operation.path.split("/"):
        spelt = _PLACEHOLDER.sub(lambda match: f" by {match.group(1)} ", segment)
        words += _WORDS.findall(spelt)
    return "_".join(words)


def _endings(operations: list[Operation]) -> list[str]:
    spellings: tuple[Callable[[Operation], str], ...] = (
        lambda operation: operation.method.lower(),
        _path_words,
        _from_request,
    )
    endings: list[str] = []
    for spell in spellings:
        endings = [spell(operation) for operation in operations]
        if all(endings) and max(Counter(endings).values()) == 1:
            break
    return endings


def _free(name: str, taken: set[str]) -> str:
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free
