"""What an argument schema costs: to be read when its tool is first used, and to judge a call."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel, Field, create_model

from benchmarks.figures import Figure, amount
from benchmarks.measuring import Effort, in_turns, repeated
from benchmarks.subjects.loading import many_sided_tool
from utcp_bridge.schema import arguments_schema, model_from_schema, wire_arguments

_SUBJECT = "Argument schemas"
_BY_HAND = "a Pydantic class by hand"
_ARGUMENTS = {"owner": "Ada", "limit": 20, "order": "name", "labels": ["a", "b"]}


def measure(effort: Effort) -> Iterator[Figure]:
    """Measure reading and judging, with a Pydantic class of the same fields as the yardstick."""
    fresh = itertools.count()

    def schema() -> Any:
        # Of its own name each time, for equal ones are read once; parsed, as from a manual.
        return json.loads(json.dumps(many_sided_tool(next(fresh))["inputs"]))

    sides = {
        "shown": repeated(lambda: arguments_schema(schema()).shown),
        "judged": repeated(lambda: arguments_schema(schema()).accept(_ARGUMENTS)),
        "modelled": repeated(lambda: model_from_schema("Things", schema()).model_validate(_ARGUMENTS)),
        _BY_HAND: repeated(lambda: _by_hand(schema()).model_validate(_ARGUMENTS)),
    }
    cases = {
        "shown": "read and shown to a model",
        "judged": "read, until the first call is judged",
        "modelled": "read, until its Pydantic model has judged a call",
    }
    rounds = in_turns(sides, rounds=effort.rounds, calls=effort.calls)
    for name, case in cases.items():
        yield amount(_SUBJECT, case, rounds, name, _BY_HAND, unit="us", at_most=1_000.0)

    known, by_hand = arguments_schema(schema()), _by_hand(schema())
    model = model_from_schema("Things", schema())
    judging: dict[str, Callable[[], object]] = {
        "judged": lambda: known.accept(_ARGUMENTS),
        "modelled": lambda: wire_arguments(model.model_validate(_ARGUMENTS)),
        _BY_HAND: lambda: by_hand.model_validate(_ARGUMENTS).model_dump(exclude_unset=True),
    }
    rounds = in_turns(
        {name: repeated(call) for name, call in judging.items()}, rounds=effort.rounds, calls=effort.calls * 10
    )
    yield amount(_SUBJECT, "a call judged", rounds, "judged", _BY_HAND, unit="us", at_most=20.0)
    yield amount(_SUBJECT, "a call judged by the Pydantic model", rounds, "modelled", _BY_HAND, unit="us", at_most=20.0)


def _by_hand(schema: dict[str, Any]) -> type[BaseModel]:
    *_, last = schema["properties"]
    fields: dict[str, Any] = {
        "owner": (str, Field(description="Whose things to list", min_length=1)),
        "limit": (int, Field(20, ge=1, le=100)),
        "order": (str | None, None),
        "labels": (list[str] | None, None),
        last: (bool | None, None),
    }
    return create_model("Things", **fields)
