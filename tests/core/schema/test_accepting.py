"""What is taken, mended and refused, and how a refusal reads."""

from __future__ import annotations

import gc
import inspect
import json
import sys
import threading
from enum import StrEnum
from typing import Any

import pytest

from utcp_bridge.schema import InvalidArguments, arguments_schema, validator
from utcp_bridge.schema._pure import PureEngine
from utcp_bridge.schema._rust import RustEngine

ENGINES = pytest.mark.parametrize("engine", [RustEngine, PureEngine], ids=["jsonschema-rs", "jsonschema"])


def _refusal(schema: dict[str, Any], given: Any) -> str:
    with pytest.raises(InvalidArguments) as refused:
        # A title of its own, so that no validator of another engine is found for it.
        arguments_schema({"title": validator.engine.__name__, **schema}).accept(given)
    return str(refused.value)


_CLOSED = {"unevaluatedProperties": False}
_PARCEL_OR_ID = {
    "anyOf": [
        {"properties": {"id": {}}},
        {"properties": {"parcel": {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}}},
    ]
}
_PARCEL = {"allOf": [{"properties": {"a": {}}}], **_PARCEL_OR_ID, **_CLOSED}
_INTEGER = {"type": "integer"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


TAGGED = [
    {"type": "object", "properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind"]},
    {"type": "object", "properties": {"kind": {"const": "dog"}, "bark": {"type": "string"}}, "required": ["kind"]},
]


@ENGINES
@pytest.mark.parametrize(
    ("schema", "given", "text"),
    [
        (_object(x={"type": "string"}), {"x": 5}, "x: must be a string; got 5"),
        *(
            (
                {**_object(location={}, maxResults={}, city={}), "additionalProperties": False},
                {written: 1},
                f"{written}: is not an argument of this tool; did you mean {meant}? "
                "the arguments are: location, maxResults, city",
            )
            for written, meant in {
                "locaton": "location",
                "Location": "location",
                "loc": "location",
                "max_results": "maxResults",
                "MAX-RESULTS": "maxResults",
                "ctiy": "city",
                "CITY": "city",
            }.items()
        ),
        (
            {**_object(city={}), "additionalProperties": False},
            {"q": 1},
            "q: is not an argument of this tool; the arguments are: city",
        ),
        (
            _object(a={**_object(userId={}), "additionalProperties": False}),
            {"a": {"user_id": 1}},
            "a.user_id: is not a property of a; did you mean userId? its properties are: userId",
        ),
        (
            {**_object(city={"type": "string"}), "required": ["city"]},
            {"City": "Paris"},
            "city: is missing; it must be a string; if City was meant for it, use this name",
        ),
        (
            {**_object(city={"type": "string"}), "required": ["city"]},
            {"zone": "Paris"},
            "city: is missing; it must be a string",
        ),
        (
            _object(unit={"enum": ["celsius", "kelvin"]}),
            {"unit": "Celsius"},
            'unit: must be one of "celsius", "kelvin"; got "Celsius"; did you mean "celsius"?',
        ),
        (_object(x={"type": ["integer", "null"]}), {"x": "a"}, 'x: must be an integer or null; got "a"'),
        (_object(x={"type": "string"}), {"x": {"a": 1}}, "x: must be a string; got an object with 1 property"),
        (_object(x={"type": "object"}), {"x": [1, 2]}, "x: must be an object; got an array with 2 items"),
        (_object(x={"enum": ["a", 1, None]}), {"x": "b"}, 'x: must be one of "a", 1, null; got "b"'),
        (_object(x={"const": "v1"}), {"x": 2}, 'x: must be "v1"; got 2'),
        (_object(x={"minimum": 1}), {"x": 0}, "x: must be at least 1; got 0"),
        (_object(x={"maximum": 1.5}), {"x": 2}, "x: must be at most 1.5; got 2"),
        (_object(x={"exclusiveMinimum": 1}), {"x": 1}, "x: must be above 1; got 1"),
        (_object(x={"exclusiveMaximum": 1}), {"x": 1}, "x: must be below 1; got 1"),
        (_object(x={"multipleOf": 5}), {"x": 3}, "x: must be a multiple of 5; got 3"),
        (_object(x={"minLength": 2}), {"x": "a"}, "x: must have at least 2 characters; got 1"),
        (_object(x={"maxItems": 1}), {"x": [1, 2]}, "x: must have at most 1 item; got 2"),
        (_object(x={"minProperties": 1}), {"x": {}}, "x: must have at least 1 property; got 0"),
        (_object(x={"pattern": "^a"}), {"x": "b"}, 'x: must match the regular expression ^a; got "b"'),
        (
            _object(x={"uniqueItems": True}),
            {"x": [1, 1]},
            "x: must not hold the same item twice; got an array with 2 items",
        ),
        (
            _object(x={"contains": {"type": "string"}}),
            {"x": [1]},
            "x: must have at least 1 of its items be a string; got an array with 1 item",
        ),
        (_object(x={"not": {"type": "string"}}), {"x": "a"}, 'x: must not be a string; got "a"'),
        (_object(x=False), {"x": 1}, "x: must not be given"),
        (_object(x={"prefixItems": [True], "items": False}), {"x": [1, 2]}, "x[1]: must not be given"),
        (
            _object(x={"propertyNames": {"pattern": "^a"}}),
            {"x": {"b": 1}},
            'x: has the property name "b", which is not allowed; it must be a string matching ^a',
        ),
        ({**_object(x={"type": "string"}), "required": ["x"]}, {}, "x: is missing; it must be a string"),
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "b: is missing, and needed beside a"),
        (
            {**_object(location={}, days={}), "additionalProperties": False},
            {"locaton": 1},
            "locaton: is not an argument of this tool; did you mean location? the arguments are: location, days",
        ),
        ({**_object(), "additionalProperties": False}, {"x": 1}, "x: is not an argument of this tool; it takes none"),
        (
            _object(o={"properties": {"a": {}}, "additionalProperties": False}),
            {"o": {"zzz": 1}},
            "o.zzz: is not a property of o; its properties are: a",
        ),
        (
            {"allOf": [_object(a={"type": "integer"})], "unevaluatedProperties": False},
            {"b": 1},
            "b: is not an argument of this tool; the arguments are: a",
        ),
        # What only a form is for that does not fit: why it does not.
        (_PARCEL, {"parcel": {}}, "parcel.to: is missing; it must be a string"),
        (_PARCEL, {"parcel": 5, "a": 1}, "parcel: must be an object; got 5"),
        (_object(x={"items": _PARCEL}), {"x": [{"parcel": {"to": 5}}]}, "x[0].parcel.to: must be a string; got 5"),
        (
            {"properties": {"a": {}}, "allOf": [{"$ref": "#/$defs/P"}], "$defs": {"P": _PARCEL_OR_ID}} | _CLOSED,
            {"parcel": {}},
            "parcel.to: is missing; it must be a string",
        ),
        (
            {"anyOf": [_object(a={}), {**_object(b={}, c={}), "required": ["c"]}], **_CLOSED},
            {"b": 1},
            "c: is missing",
        ),
        (
            {"oneOf": TAGGED, **_CLOSED},
            {"kind": "cat", "bark": "x"},
            "bark: is not an argument of this tool beside the others that were given",
        ),
        (
            _object(x={"if": _object(a={"const": 1}), "then": _object(b={}), **_object(a={}), **_CLOSED}),
            {"x": {"a": 2, "b": 1}},
            "x.b: is not a property of x beside the others that were given",
        ),
        (
            {**_object(a={}), "allOf": [_object(b={})], "additionalProperties": False},
            {"b": 1},
            "b: is not an argument of this tool; the arguments are: a",
        ),
        (
            {"anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]},
            {},
            "the arguments: must have at least one of: a, b with c; got none of them",
        ),
        (
            {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"a": 1, "b": 2},
            "the arguments: must have only one of: a, b; got a and b",
        ),
        (
            _object(x={"oneOf": TAGGED}),
            {"x": {}},
            'x.kind: is missing; it must be "cat" or "dog"',
        ),
        (
            _object(x={"enum": ["Europe/Paris", "UTC"]}),
            {"x": "Europe/Pari"},
            'x: must be one of "Europe/Paris", "UTC"; got "Europe/Pari"; did you mean "Europe/Paris"?',
        ),
        (_object(x={"type": "string", "format": "date"}), {"x": 5}, "x: must be a string (date); got 5"),
        (_object(x={"anyOf": [_INTEGER, {"enum": ["a"]}]}), {"x": "b"}, 'x: must be an integer or "a"; got "b"'),
        (_object(x={"anyOf": [{"minimum": 5}, {"type": "null"}]}), {"x": 3}, "x: must be at least 5; got 3"),
        (_object(p={"oneOf": TAGGED}), {"p": {"kind": "cow"}}, 'p.kind: must be one of "cat", "dog"; got "cow"'),
        (_object(p={"oneOf": TAGGED}), {"p": {"kind": "dog", "bark": 1}}, "p.bark: must be a string; got 1"),
        (_object(p={"oneOf": TAGGED}), {"p": {}}, 'p.kind: is missing; it must be "cat" or "dog"'),
        (
            _object(x={"oneOf": [{}, {}]}),
            {"x": 1},
            "x: must fit exactly one of the 2 forms that it may have, but fits 2 of them",
        ),
        (
            _object(x={"items": {"required": ["a.b"], "properties": {"a.b": {"type": "null"}}}}),
            {"x": [{}, {"a.b": 1}]},
            'x[0]["a.b"]: is missing; it must be null; x[1]["a.b"]: must be null; got 1',
        ),
        (_object(), [1], "the arguments: must be an object of arguments by name, not an array"),
        (_object(), "{", "the arguments: must be a JSON object; the text given is not JSON"),
        (_object(), '{"a": 1, "a": 2}', "the arguments: the JSON text has the key 'a' twice in one object"),
        (_object(), "[1]", "the arguments: must be an object of arguments by name, not an array"),
        (_object(), '"x"', "the arguments: must be an object of arguments by name, not a string"),
    ],
)
def test_a_refusal_says_what_came_and_what_was_expected(
    engine: Any, schema: dict[str, Any], given: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    assert _refusal(schema, given) == text


def test_a_long_value_is_cut_and_many_faults_are_counted() -> None:
    text = _refusal(_object(x={"type": "integer"}), {"x": "y" * 500})
    assert len(text) < 150
    assert "502 characters" in text
    many = _refusal({"additionalProperties": {"type": "null"}}, {f"a{number}": number for number in range(100)})
    assert many.endswith("; and 75 more")
    assert many.count(";") == 50


@ENGINES
@pytest.mark.parametrize(
    ("schema", "given"),
    [
        (_object(x={"type": "integer", "format": "password"}), {"x": "hunter2"}),
        (_object(x={"type": "string", "writeOnly": True, "pattern": "^$"}), {"x": "hunter2"}),
        (_object(x={"allOf": [{"writeOnly": True}], "maxLength": 1}), {"x": "hunter2"}),
        (_object(x={"$ref": "#/$defs/S"}) | {"$defs": {"S": {"enum": ["a"], "format": "password"}}}, {"x": "hunter2"}),
        (_object(x={"writeOnly": True, "properties": {"y": {"type": "null"}}}), {"x": {"y": "hunter2"}}),
        (_object(x={"type": "object", "properties": {"y": {"writeOnly": True}}}), {"x": "y=hunter2"}),
        (_object(x={"type": "array", "items": {"format": "password"}}), {"x": "hunter2"}),
        (_object(x={"items": {"anyOf": [{"format": "password", "type": "null"}]}}), {"x": ["hunter2"]}),
        ({"additionalProperties": {"format": "password", "type": "integer"}}, {"x": "hunter2"}),
        ({"patternProperties": {"x": {"format": "password", "maxLength": 3}}}, {"x": "hunter2"}),
        (_object(), '{"x": "hunter2"'),
    ],
)
def test_no_value_of_a_secret_argument_is_told(
    engine: Any, schema: dict[str, Any], given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    assert "hunter2" not in _refusal(schema, given)


def _closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


_ANY_OF_LISTS = {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}


@ENGINES
@pytest.mark.parametrize(
    ("schema", "given", "sent"),
    [
        ({"type": "array", "items": {"type": "string"}}, '["a"]', ["a"]),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, '{"n": "5"}', {"n": 5}),
        ({"type": "integer"}, "5", 5),
        ({"type": "integer"}, "5.0", 5),
        ({"type": "integer"}, "12345678901234567890123", 12345678901234567890123),
        ({"type": "integer"}, "1e23", 10**23),  # the float of this text is another number
        ({"type": "integer"}, " 5 ", 5),
        ({"type": "number"}, "0.10", 0.1),
        ({"type": "number"}, "-1e3", -1000.0),
        ({"type": "boolean"}, "true", True),
        ({"type": "boolean"}, "False", False),
        ({"enum": [1, 2]}, "2", 2),
        ({"const": {"a": [1]}}, '{"a": [1]}', {"a": [1]}),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, "true", True),
        (_ANY_OF_LISTS, '["1", 2]', [1, 2]),
        (_ANY_OF_LISTS, ["1"], [1]),
        ({"oneOf": TAGGED}, '{"kind": "cat", "lives": "9"}', {"kind": "cat", "lives": 9}),
        ({"oneOf": TAGGED}, {"kind": "cat", "lives": None}, {"kind": "cat"}),
        (
            {"anyOf": [_closed(a={"type": ["null", "string"]}, b={"type": "integer"}), _closed(c={"type": "string"})]},
            {"a": None, "b": None, "c": None},
            {"a": None},  # a null that the form allows stays
        ),
        ({"properties": {"a": {"type": "string"}}}, {"a": None, "b": None}, {"b": None}),
        (_PARCEL, {"parcel": '{"to": "x"}'}, {"parcel": {"to": "x"}}),
        (_PARCEL, {"id": "1", "parcel": None}, {"id": "1"}),
        ({"type": "array", "items": {"properties": {"a": {"enum": ["x"]}}}}, [{"a": None}], [{}]),
    ],
)
def test_a_slip_that_loses_nothing_is_mended(
    engine: Any, schema: Any, given: Any, sent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    read = arguments_schema({"title": engine.__name__, "properties": {"x": schema}, "required": ["x"]})
    before = json.dumps(given)
    assert json.dumps(read.accept({"x": given})) == json.dumps({"x": sent})
    assert json.dumps(given) == before
    with pytest.raises(InvalidArguments):
        read.accept({"x": given}, repair=False)


@pytest.mark.parametrize(
    ("schema", "given"),
    [
        ({"type": "string"}, 5),  # the model may well have meant a number
        ({"type": "string"}, True),
        ({"type": "integer"}, "5.5"),
        ({"type": "integer"}, "007"),
        ({"type": "integer"}, "five"),
        ({"type": "integer"}, True),
        ({"type": "boolean"}, 1),
        ({"type": "boolean"}, "yes"),
        ({"type": "number"}, "NaN"),
        ({"type": "number"}, "1e999"),
        ({"type": "integer"}, "1e400"),
        ({"type": "integer"}, "9" * 5_000),  # more digits than Python writes
        ({"type": "integer"}, "True"),
        ({"type": "integer"}, "null"),
        ({"type": "array", "items": {"type": "integer"}}, 5),  # one item, or none and a mistake?
        ({"type": "array", "items": {"type": "object"}}, {"a": 1}),
        ({"enum": ["1", "2"]}, 1),
        ({"enum": ["null", "x"]}, None),
        ({"type": "object"}, '{"a": 1, "a": 2}'),  # one of the two would be lost
        ({"type": "array"}, '[{"a": 1, "a": 1}]'),
        ({"type": "number"}, "0.12345678901234567890123"),  # more than a float can hold
        ({"type": "array"}, "a"),
        ({"type": "array"}, {}),
        ({"type": "object"}, "[1]"),
        ({"type": "integer", "minimum": 9}, "5"),
        ({"type": "string"}, None),  # required, so null cannot be left out
        ({"type": "array", "items": {"type": "string"}}, [None]),
    ],
)
def test_what_would_lose_or_guess_something_is_not_mended(schema: Any, given: Any) -> None:
    with pytest.raises(InvalidArguments):
        arguments_schema({"properties": {"x": schema}, "required": ["x"]}).accept({"x": given})


@pytest.mark.parametrize(
    "given",
    [
        {"x": "5", "y": "[1]", "z": "true", "n": None},
        {"x": '{"a": 1}', "unknown": None, "other": {"deep": [None, "7"]}},
    ],
)
def test_a_valid_value_is_never_changed(given: dict[str, Any]) -> None:
    schema = _object(x={"type": "string"}, y={"type": ["array", "string"]}, z={}, n={"type": ["integer", "null"]})
    assert json.dumps(arguments_schema(schema).accept(given)) == json.dumps(given)


class Unit(StrEnum):
    CELSIUS = "c"


def test_tuples_and_enum_members_are_sent_as_the_json_they_stand_for() -> None:
    accepted = arguments_schema({}).accept({"x": (1, [Unit.CELSIUS]), "y": {Unit.CELSIUS: Unit.CELSIUS}})
    assert json.dumps(accepted) == '{"x": [1, ["c"]], "y": {"c": "c"}}'
    assert type(accepted["x"][1][0]) is str


NOT_JSON = [{1, 2}, b"x", object(), 2**20_000, float("nan"), float("inf"), "\ud800", {1: 2}, {"\ud800": 1}]


@ENGINES
@pytest.mark.parametrize("index", range(len(NOT_JSON)))
def test_what_is_not_json_is_refused_with_its_path(engine: Any, index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    assert _refusal({}, {"a": [{"b": NOT_JSON[index]}]}).startswith("a[0].b: ")


@ENGINES
def test_arguments_nested_without_end_are_refused_and_not_followed(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(validator, "engine", engine)
    deep: dict[str, Any] = {}
    inner = deep
    for _ in range(100_000):
        inner["a"] = inner = {}
    recursive = {"properties": {"a": {"$ref": "#"}}}
    assert "nested deeper than" in _refusal(recursive, deep)
    itself: dict[str, Any] = {}
    itself["a"] = itself
    assert "nested deeper than" in _refusal(recursive, itself)
    while deep:  # taken apart by hand: freeing so deep a value may need more stack than there is
        deep = deep.pop("a")


def test_one_schema_serves_many_threads_from_its_first_use() -> None:
    for number in range(20):
        read = arguments_schema({"$comment": str(number), "properties": {"x": {"type": "integer"}}, "required": ["x"]})
        barrier, results = threading.Barrier(6), list[dict[str, Any]]()

        def use(read: Any = read, barrier: threading.Barrier = barrier, results: list[Any] = results) -> None:
            barrier.wait()
            results.append(read.accept({"x": "7"}))

        threads = [threading.Thread(target=use) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [{"x": 7}] * 6


def test_a_schema_that_nobody_holds_is_let_go() -> None:
    schema = {"$comment": "held by nobody", "properties": {"x": {}}}
    first = id(arguments_schema(schema))
    held = arguments_schema(schema)
    del first
    gc.collect()
    assert arguments_schema(schema) is held


# -- the two engines ---------------------------------------------------------------------------------------------------


def test_the_pure_engine_judges_where_the_compiled_one_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = validator.engine.__wrapped__  # without the memory of the first choice
    assert isinstance(choose(), RustEngine)
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)  # what makes Python's own import fail
    assert isinstance(choose(), PureEngine)


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        ({"properties": {"x": {"allOf": [{"pattern": r"^\p{Script=Greek}"}]}}}, "/properties/x/allOf/0/pattern"),
        ({"properties": {"x": {"patternProperties": {"(?<=a+)b": False}}}}, "/properties/x/patternProperties/(?<=a+)b"),
        ({"$defs": {"A": {"pattern": "(?<=a+)b"}}, "properties": {"x": {"$ref": "#/$defs/A"}}}, "/$defs/A/pattern"),
    ],
)
def test_what_an_engine_cannot_use_is_left_out_and_reported(
    schema: dict[str, Any], pointer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = arguments_schema(schema)
    assert not read.problems  # as the compiled engine sees it, which takes these
    monkeypatch.setattr(validator, "engine", PureEngine)
    assert read.accept({"x": "b"}) == {"x": "b"}
    assert [problem.pointer for problem in read.problems] == [pointer]
    assert read.problems[0].reason.startswith("cannot be used")


def test_arguments_too_deep_for_the_pure_engine_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validator, "engine", PureEngine)
    deep: dict[str, Any] = {}
    for _ in range(120):
        deep = {"a": deep}
    again: dict[str, Any] = {"$ref": "#"}
    for _ in range(6):
        again = {"allOf": [again]}
    assert "nested too deeply" in _refusal({"properties": {"a": again}}, deep)


def test_a_schema_can_be_read_where_little_of_the_stack_is_left() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(40):
        schema = {"properties": {"a": schema}}
    read = arguments_schema(schema)

    def below(frames: int) -> dict[str, Any]:
        return below(frames - 1) if frames else read.shown

    assert below(sys.getrecursionlimit() - len(inspect.stack()) - 80) == {"type": "object", "properties": {}}
    assert [problem.reason for problem in read.problems] == ["is nested too deeply"]
