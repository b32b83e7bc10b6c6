"""The manifest and the tests match, both ways."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.contract.manifest import BEHAVIOURS


def _promised_in_tests() -> list[str]:
    found: list[str] = []
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                found.extend(_behaviours(node))
    return found


def _behaviours(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [
        argument.value
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("mark.behaviour")
        for argument in decorator.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def test_every_behaviour_has_a_test_and_every_test_a_behaviour() -> None:
    tested = set(_promised_in_tests())
    assert sorted(BEHAVIOURS.keys() - tested) == []
    assert sorted(tested - BEHAVIOURS.keys()) == []


def test_every_behaviour_says_what_holds_and_where_it_comes_from() -> None:
    for behaviour in BEHAVIOURS.values():
        assert behaviour.sentence.endswith(".")
        assert behaviour.source
