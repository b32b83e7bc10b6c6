"""Arguments as callers give them, made a plain dict of JSON values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from utcp_bridge.schema.faults import ArgumentFault, InvalidArguments, value_fault
from utcp_bridge.schema.plain import NotJsonError, check_arguments, plain, unique


def given_arguments(arguments: Mapping[str, Any] | str | None) -> dict[str, Any]:
    """Read arguments: by name, as their JSON text, or None and `""` for none.

    Raises:
        InvalidArguments: They are no JSON object.
    """
    given: Any = _parsed(arguments) if isinstance(arguments, str) else arguments
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidArguments([value_fault(f"must be an object of arguments by name, not {_kind(given)}")])
    given = dict(given)
    try:
        if not check_arguments(given):
            given = plain(given)
    except NotJsonError as error:
        raise InvalidArguments([ArgumentFault.at(error.path, str(error))]) from None
    return cast("dict[str, Any]", given)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=unique) if text.strip() else None
    except NotJsonError as error:
        raise InvalidArguments([value_fault(str(error))]) from None
    except (ValueError, RecursionError):
        raise InvalidArguments([value_fault("must be a JSON object; the text given is not JSON")]) from None


def _kind(value: Any) -> str:
    names = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "an array",
        tuple: "an array",
    }
    return names.get(type(value), f"a Python {type(value).__name__}")
