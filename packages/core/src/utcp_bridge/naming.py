"""UTCP names (`manual.tool`) and the names that models are shown.

The providers of models agree on `[a-zA-Z0-9_-]`, a first character that is a letter or `_`, and at most
64 characters. Names are matched by a table, never by reversing a rule: `shown_names` maps one way, and
whoever needs the other way inverts its result.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable

from utcp_bridge.errors import ConfigError
from utcp_bridge.options import DEFAULT_MAX_NAME_LENGTH, SMALLEST_MAX_NAME_LENGTH

_SEPARATORS = re.compile(r"[^a-zA-Z0-9_-]+")
_HASH_LENGTH = 8
_HASH_STEP = 2


def shown_names(utcp_names: Iterable[str], max_length: int = DEFAULT_MAX_NAME_LENGTH) -> dict[str, str]:
    """Map each UTCP name to a name that is valid for every provider, readable and unique.

    The result does not depend on the order of the names. A name that is too long, that would collide
    with another, or that loses letters (`工具`) ends in a short hash of its UTCP name; colliding names all
    get one, so that neither of them is mistaken for the other.

    Args:
        utcp_names: UTCP names; duplicates count once.
        max_length: The most characters a name may have, its hash included; at least 16, default 64.

    Returns:
        UTCP name to shown name, in sorted order of the UTCP names.

    Raises:
        ConfigError: `max_length` is below 16.
    """
    if max_length < SMALLEST_MAX_NAME_LENGTH:
        raise ConfigError(
            f"max_name_length: expected an integer of at least {SMALLEST_MAX_NAME_LENGTH}, got {max_length!r}."
        )
    originals = sorted(set(utcp_names))
    hash_lengths = {name: _HASH_LENGTH if _loses_letters(name) else 0 for name in originals}
    while True:
        shown = {name: _shown(name, hash_lengths[name], max_length) for name in originals}
        collisions = _collisions(shown)
        if not collisions:
            return shown
        for group in collisions:
            plain = [name for name in group if len(_readable(name)) <= max_length and not hash_lengths[name]]
            for name in plain or group:
                hash_lengths[name] = max(_HASH_LENGTH, hash_lengths[name] + _HASH_STEP)


def may_be_shown_as(name: str, manual: str, max_length: int = DEFAULT_MAX_NAME_LENGTH) -> bool:
    """Whether a manual whose tools are not known yet may have one that would be shown under this name.

    Such a tool would rename the one that has the name, because colliding names all end in a hash.

    Args:
        name: The name of a tool, as `shown_names` gives it.
        manual: The name of the other manual, as UTCP registers it.
        max_length: The most characters that a name may have.
    """
    whole = _readable(manual).rstrip("_-")
    stem = whole[: max_length - _HASH_LENGTH - 1].rstrip("_-")
    return name.startswith(stem) and (len(stem) < len(whole) or name[len(stem) :].startswith(("_", "-")))


def _shown(utcp_name: str, hash_length: int, max_length: int) -> str:
    readable = _readable(utcp_name)
    if not hash_length and len(readable) <= max_length:
        return readable
    # One character must stay for the name and one for the joint, whatever the limit.
    hash_length = min(hash_length or _HASH_LENGTH, max_length - 2)
    digest = hashlib.sha256(utcp_name.encode("utf-8", "surrogatepass")).hexdigest()[:hash_length]
    stem = readable[: max_length - hash_length - 1].rstrip("_-") or "_"
    return f"{stem}_{digest}"


def _readable(utcp_name: str) -> str:
    name = _SEPARATORS.sub("_", _without_accents(utcp_name))
    return name if name and (name[0].isalpha() or name[0] == "_") else f"_{name}"


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def _loses_letters(utcp_name: str) -> bool:
    return any(c.isalnum() and not c.isascii() for c in _without_accents(utcp_name))


def _collisions(shown: dict[str, str]) -> list[list[str]]:
    by_shown_name: dict[str, list[str]] = defaultdict(list)
    for utcp_name, name in shown.items():
        by_shown_name[name].append(utcp_name)
    return [group for group in by_shown_name.values() if len(group) > 1]
