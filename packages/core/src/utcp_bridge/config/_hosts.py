"""The configuration of a host, such as an OVOS persona, with UTCP's configuration somewhere in it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from utcp_bridge.errors import ConfigError
from utcp_bridge.options import split_options

logger = logging.getLogger("utcp_bridge.config")

_KEY = "utcp_config"
_DEEPEST = 5


def hosted_configuration(document: Mapping[str, Any], subject: str) -> Any | None:
    """The one `utcp_config` in a document, or None if there is none.

    Options that stand beside it are the host's to hand over; a warning names them.

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
    if options:
        logger.warning(
            "The options beside %s%s are for its host, and are not used here: %s.", place, _KEY, ", ".join(options)
        )
    return holder[_KEY]


def _found(document: Mapping[str, Any], place: str, depth: int = 0) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if document.get(_KEY) is not None:
        yield place, document
    elif depth < _DEEPEST:
        for key, value in document.items():
            if isinstance(value, Mapping):
                yield from _found(value, f"{place}{key}.", depth + 1)
