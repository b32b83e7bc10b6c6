"""Regular expressions mean what ECMA-262 says, with both validators."""

from __future__ import annotations

from typing import Any

import pytest

from utcp_bridge.schema._ecma import PatternError, compiled, to_python
from utcp_bridge.schema._pure import PureEngine
from utcp_bridge.schema._rust import RustEngine

ENGINES = pytest.mark.parametrize("engine", [RustEngine(), PureEngine()], ids=["jsonschema-rs", "jsonschema"])


@ENGINES
@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        (r"^\d+$", ["0"], ["٣", "1\n"]),
        (r"^\w$", ["a", "_", "0"], ["é", "-"]),
        (r"^\W$", ["é", "-"], ["a"]),
        (r"^\s$", [" ", "\u00a0", "\ufeff", "\u2028"], ["\u200b", "a"]),
        (r"^[\d\-a-c]+$", ["1-b"], ["d", "٣"]),
        (r"^[^\S]$", [" "], ["a"]),
        (r"^\p{Lu}\p{Letter}*$", ["Ünï"], ["ü", "A1"]),
        (r"^[\p{L}\d ]+$", ["é 1"], ["!"]),
        (r"^\P{L}$", ["1"], ["a"]),
        (r"^(?=.*[A-Z])(?!.*\s).{3,}$", ["abC"], ["abc", "a C"]),
        (r"(?<=\$)\d+", ["$5"], ["5"]),
        (r"^\u00e9\x41\u{1F600}$", ["éA😀"], ["eA"]),
        (r"^[\u{1F600}-\u{1F64F}]$", ["😃"], ["a"]),
        (r"^a\/b\.c$", ["a/b.c"], ["a/bxc"]),
        (r"^.$", ["a", "é"], ["\n", ""]),
        (r"^[&&||~~]$", ["&", "~"], ["a"]),
        ("a", ["bab"], ["b"]),
        ("", ["", "x"], []),
    ],
)
def test_a_pattern_matches_what_ecma_says(engine: Any, pattern: str, matching: list[str], others: list[str]) -> None:
    by_value = engine.compile({"pattern": pattern}, assert_formats=False)
    by_name = engine.compile({"patternProperties": {pattern: False}}, assert_formats=False)
    for text in matching:
        assert by_value.is_valid(text), text
        assert not by_name.is_valid({text: 1}), text
    for text in others:
        assert not by_value.is_valid(text), text
        assert by_name.is_valid({text: 1}), text


@pytest.mark.parametrize(
    "pattern",
    [
        *["(", "[a", "a\\", r"\p{Nope}", r"\p{Script=Greek}", r"\pL", "(?<=a+)b", "[b-a]"],
        *[r"\u{110000}", r"\x4", r"\uZZZZ", r"\y", r"\k<a"],
    ],
)
def test_what_python_cannot_express_is_told(pattern: str) -> None:
    with pytest.raises(PatternError):
        to_python(pattern)


def test_a_named_group_can_be_referred_to() -> None:
    assert compiled(r"^(?<year>\d{4})-\k<year>$").search("2020-2020")
    assert not compiled(r"^(?<year>\d{4})-\k<year>$").search("2020-2021")


def test_an_empty_set_matches_nothing_and_its_complement_everything() -> None:
    assert not compiled("[]").search("a")
    assert compiled("^[^]$").search("\n")
