"""The Pydantic model of a tool's arguments."""

from __future__ import annotations

import json
import threading
from typing import Annotated, Any

import pytest
from annotated_types import Gt
from pydantic import BaseModel, Field, TypeAdapter, ValidationError, create_model

from utcp_bridge.schema import model_from_schema, wire_arguments

WEATHER = {
    "type": "object",
    "description": "Weather.",
    "properties": {
        "location": {"type": "string", "description": "Where"},
        "days": {"type": "integer", "default": 3},
        "model_config": {"type": "string"},
        "_id": {"type": "string"},
    },
    "required": ["location"],
}


def test_a_model_is_a_pydantic_class_with_the_authors_names_and_texts() -> None:
    model = model_from_schema("Weather", WEATHER)
    assert issubclass(model, BaseModel)
    assert model.__name__ == "Weather"
    assert model.__doc__ == "Weather."
    assert {name: field.description for name, field in model.model_fields.items()} == {
        "location": "Where",
        "days": None,
    }
    assert model.model_fields["location"].is_required()
    assert not model.model_fields["days"].is_required()


def test_the_schema_is_the_authors_and_a_copy() -> None:
    model = model_from_schema("Weather", WEATHER)
    assert model.model_json_schema() == WEATHER
    model.model_json_schema()["properties"].clear()
    assert model.model_json_schema() == WEATHER


def test_only_what_was_given_is_sent_in_its_order() -> None:
    model = model_from_schema("Weather", WEATHER)
    given = {"_id": "1", "extra": None, "location": "x", "model_config": "y"}
    instance = model.model_validate(given)
    assert list(wire_arguments(instance).items()) == list(given.items())
    assert (instance.location, instance.days) == ("x", 3)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "make",
    [
        lambda model, given: model.model_validate(given),
        lambda model, given: model(**given),
        lambda model, given: TypeAdapter(model).validate_python(given),
    ],
)
def test_every_way_to_make_an_instance_judges_alike(make: Any) -> None:
    model = model_from_schema("Weather", WEATHER)
    assert wire_arguments(make(model, {"location": "x", "days": "5"})) == {"location": "x", "days": 5}
    with pytest.raises(ValidationError) as refused:
        make(model, {"location": 1, "days": "x"})
    assert [(error["loc"], error["type"]) for error in refused.value.errors()] == [
        (("location",), "json_schema"),
        (("days",), "json_schema"),
    ]


def test_repair_can_be_switched_off() -> None:
    model = model_from_schema("Weather", WEATHER, repair=False)
    with pytest.raises(ValidationError, match="must be an integer"):
        model.model_validate({"location": "x", "days": "5"})


def test_json_text_is_judged_and_kept_too() -> None:
    model = model_from_schema("Weather", WEATHER)
    assert wire_arguments(model.model_validate_json('{"location": "x", "e": [1, 1.0]}')) == {
        "location": "x",
        "e": [1, 1.0],
    }


def test_no_value_of_a_secret_is_in_the_error() -> None:
    model = model_from_schema("Login", {"properties": {"pin": {"type": "integer", "format": "password"}}})
    with pytest.raises(ValidationError) as refused:
        model.model_validate({"pin": "hunter2"})
    assert "hunter2" not in f"{refused.value}{refused.value.errors()}{refused.value.json()}"


def test_a_changed_copy_is_sent_as_it_was_changed() -> None:
    instance = model_from_schema("Weather", WEATHER).model_validate({"e": 1, "location": "x"})
    assert wire_arguments(instance.model_copy(update={"location": "y", "days": 1})) == {
        "e": 1,
        "location": "y",
        "days": 1,
    }
    with pytest.raises(ValidationError, match="frozen"):
        instance.location = "z"  # type: ignore[attr-defined]


def test_a_model_of_another_kind_is_refused() -> None:
    class Other(BaseModel):
        x: int = 1

    with pytest.raises(TypeError, match="Other was not made by model_from_schema"):
        wire_arguments(Other())


def test_the_same_name_and_schema_give_the_same_class() -> None:
    first = model_from_schema("Weather", WEATHER)
    assert model_from_schema("Weather", dict(WEATHER)) is first
    assert model_from_schema("Other", WEATHER) is not first
    assert model_from_schema("Weather", WEATHER, repair=False) is not first


def test_a_model_stands_in_for_its_schema_inside_other_models() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    model = model_from_schema("Node", {**node, "$defs": {"Node": node}})
    outer = create_model("Outer", node=(model, ...))
    inner: dict[str, Any] = {"type": "object"}
    for _ in range(3):
        inner = {"type": "object", "properties": {"next": inner}}
    assert outer.model_json_schema()["$defs"]["Node"] == inner


_NODE = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
FIELDS: dict[str, Any] = {
    "unit": {"type": "string", "enum": ["c", "f"], "title": "Unit"},
    "days": {"type": "integer", "minimum": 1, "default": 3, "description": "How many", "title": "Days"},
    "deep": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "title": "Deep"},
    "size": {"$ref": "#/$defs/Size", "description": "own", "title": "Size"},
    "tree": {"$ref": "#/$defs/Node", "title": "Tree"},
    "named": {"type": "object", "description": "odd", "properties": {"$ref": {"type": "string"}}, "title": "Named"},
    "data": {"type": "object", "examples": [{"a": [{"$ref": "#/nowhere"}]}], "title": "Data"},
    "never": False,
    "any": True,
}
SHOWN: dict[str, Any] = {
    **FIELDS,
    "size": {"type": "string", "pattern": "^a", "description": "own", "title": "Size"},
    "named": {"type": "object", "description": "odd"},
    "data": {"type": "object"},
    "never": {"not": {}},
    "any": {},
}


def _remade(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model that is made of another's fields, as LangChain makes them."""
    fields: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        fields[name] = (field.annotation, Field(description=field.description))
        fields[name][1].metadata = field.metadata
    schema: dict[str, Any] = create_model("Remade", **fields).model_json_schema()
    return schema


def test_fields_carry_their_schemas_to_models_that_are_made_of_them() -> None:
    schema = {
        "type": "object",
        "properties": FIELDS,
        "required": ["unit"],
        "$defs": {"Node": _NODE, "Size": {"type": "string", "pattern": "^a"}},
    }
    model = model_from_schema("Fields", schema)
    used = model_from_schema("UsedFields", schema)
    used.model_validate({"unit": "c"})
    for made in (model, used):
        shown = _remade(made)["properties"]
        tree = shown.pop("tree")
        assert {name: {"title": name.title(), **of} for name, of in SHOWN.items() if name != "tree"} == {
            name: {"title": name.title(), **of} for name, of in shown.items()
        }
        assert tree["properties"]["kids"]["items"]["properties"]["kids"]["type"] == "array"
        assert "$ref" not in json.dumps(tree)
        assert made.model_json_schema() == schema
        given = {"unit": "c", "days": 2, "deep": {"a": "x"}}
        assert json.dumps(wire_arguments(made.model_validate(given))) == json.dumps(given)
        with pytest.raises(ValidationError):
            made.model_validate({"unit": "k"})


def test_a_subclass_keeps_what_its_own_fields_tell() -> None:
    base = model_from_schema("Base", {"type": "object", "properties": {"x": {"type": "integer"}}})
    other = create_model("Other", __base__=base, days=(int, 1), size=(Annotated[int, Gt(3)], 4))
    for _ in range(2):
        assert [type(each) for each in other.model_fields["size"].metadata] == [Gt]
        assert other.model_fields["days"].metadata == []
    assert _remade(other)["properties"] == {
        "x": {"type": "integer", "title": "X"},
        "days": {"type": "integer", "title": "Days"},
        "size": {"type": "integer", "title": "Size", "exclusiveMinimum": 3},
    }


def test_each_model_has_the_schemas_of_its_own_fields() -> None:
    first = model_from_schema("Same", {"type": "object", "properties": {"x": {"type": "integer"}}})
    second = model_from_schema("Same", {"type": "object", "properties": {"x": {"type": "boolean"}}})
    assert [_remade(model)["properties"]["x"]["type"] for model in (first, second)] == ["integer", "boolean"]
    assert model_from_schema("None", {"type": "object"}).model_fields == {}


def test_a_model_is_built_once_whoever_uses_it_first() -> None:
    for number in range(20):
        model = model_from_schema(f"Race{number}", WEATHER)
        barrier, failures = threading.Barrier(6), list[BaseException]()

        def use(model: Any = model, barrier: threading.Barrier = barrier, failures: list[Any] = failures) -> None:
            barrier.wait()
            try:
                assert wire_arguments(model.model_validate({"location": "x"})) == {"location": "x"}
            except BaseException as error:  # noqa: BLE001 - told by the main thread
                failures.append(error)

        threads = [threading.Thread(target=use) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
