"""The exception tree."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest

from utcp_bridge import errors

CLASSES = [getattr(errors, name) for name in errors.__all__]


@pytest.mark.parametrize("error", CLASSES)
def test_the_docstring_draws_the_tree_as_it_is(error: type[errors.BridgeError]) -> None:
    drawn = re.search(rf"\b{error.__name__}\b(?: \((\w+)\))?", str(errors.__doc__))
    assert drawn is not None
    builtin = [base.__name__ for base in error.__bases__ if base.__module__ == "builtins"]
    assert builtin == ([drawn[1]] if drawn[1] else ["Exception"] if error is errors.BridgeError else [])


def test_every_error_is_exported() -> None:
    defined = {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
    assert defined == set(errors.__all__)


@pytest.mark.parametrize("error", [cls for cls in CLASSES if issubclass(cls, errors.ToolCallError)])
def test_call_errors_survive_pickling(error: type[errors.ToolCallError]) -> None:
    copy = pickle.loads(pickle.dumps(error("failed", tool="t", manual="m")))
    assert (type(copy), str(copy), copy.tool, copy.manual) == (error, "failed", "t", "m")
