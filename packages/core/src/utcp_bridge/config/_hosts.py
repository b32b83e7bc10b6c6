"""The configuration of a host, such as an OVOS persona, with UTCP's configuration somewhere in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from utcp_bridge.errors import ConfigError
from utcp_bridge.options import split_options

_KEY = "utcp_config"
_DEEPEST = 5


@dataclass(frozen=True, slots=True)
class Hosted:
    """UTCP's configuration within that of a host.

    Attributes:
        source: The value of `utcp_config`.
        place: Where it stands, such as `persona.utcp_config`.
        options: The options of a toolset that stand beside it, unchecked.
    """

    source: Any
    place: str
    options: dict[str, Any]


def hosted_configuration(document: Mapping[str, Any], subject: str) -> Hosted | None:
    """The one `utcp_config` in a document, or None if there is none.

    Raises:
        ConfigError: There are several.
    """
    found = dict(_found(document, ""))
    if not found:
        return None
    if len(found) > 1:
        places = ", ".join(f"{place}{_KEY}" for place in found)
        raise ConfigError(f"{subject} has more than one {_KEY!r} ({places}); hand in the value of one of them.")
    [(place, holder)] = found.items()
    options, _ = split_options(holder)
    return Hosted(holder[_KEY], f"{place}{_KEY}", options)


def _found(document: Mapping[str, Any], place: str, depth: int = 0) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if document.get(_KEY) is not None:
        yield place, document
    elif depth < _DEEPEST:
        for key, value in document.items():
            if isinstance(value, Mapping):
                yield from _found(value, f"{place}{key}.", depth + 1)
