"""The forms that a schema's root chooses among, described as one, for when there is no room to describe each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from utcp_bridge.schema.bundled import pointed
from utcp_bridge.schema.levels import is_leaf, put_together
from utcp_bridge.schema.outline import expectation
from utcp_bridge.schema.steps import unique

_CHOICES = ("$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas")


@dataclass(slots=True)
class _Form:
    """What a schema says about the arguments.

    Attributes:
        taken: By name, the schemas one of which the value fits; None where the schema takes other values too.
        hints: By name, the first schema that describes it.
        required: The names that it requires.
        is_open: Whether it takes names that it does not speak of.
    """

    taken: dict[str, list[Any] | None] = field(default_factory=dict)
    hints: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    is_open: bool = True


def in_one_form(schema: dict[str, Any]) -> dict[str, Any] | None:
    """Describe the arguments of all forms at the root of a bundled schema as properties of the root.

    An argument that only some forms describe, while others take anything under its name, is described in words. What
    is required is what every form requires. So the result takes whatever the schema takes.

    Returns:
        The schema without choices at its root; None if its root has none that describe or require arguments.
    """
    form = _Reader(schema).read(schema)
    own = schema.get("properties", {})
    names = [name for name in form.taken if name not in own]
    if not names and len(form.required) == len(set(schema.get("required", ()))):
        return None
    merged = {key: value for key, value in schema.items() if key not in (*_CHOICES, "unevaluatedProperties", "$defs")}
    merged["properties"] = {**own, **{name: _described(form, name, schema) for name in names}}
    if form.required:
        merged["required"] = form.required
    return put_together(merged, dict(schema.get("$defs", {})), {id(merged): merged})


def argument_names(schema: dict[str, Any]) -> set[str]:
    """Tell the arguments that a bundled schema describes, in its root or in what its root chooses among."""
    return set(_Reader(schema).read(schema).taken)


def _described(form: _Form, name: str, root: dict[str, Any]) -> Any:
    schemas = form.taken[name]
    if schemas is None:
        hint = form.hints[name]
        wanted = expectation(hint, root)
        about = hint.get("description", "") if isinstance(hint, dict) else ""
        said = [*([about] if about else []), *([f"Usually {wanted}."] if wanted else [])]
        return {"description": " ".join(said)} if said else {}
    different = unique(schemas)
    if any(schema in ({}, True) for schema in different):
        return {}
    if len(different) > 1 and all(_is_list_of_values(schema) for schema in different):
        return _one_list(different)
    return different[0] if len(different) == 1 else {"anyOf": different} if different else False


def _is_list_of_values(schema: Any) -> bool:
    return isinstance(schema, dict) and not schema.keys().isdisjoint(("const", "enum")) and is_leaf(schema)


def _one_list(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    """Give what takes the values that any of several lists of values names, such as the tags of the forms."""
    values = [value for schema in schemas for value in ([schema["const"]] if "const" in schema else schema["enum"])]
    result: dict[str, Any] = {"enum": unique(values)}
    types = {schema["type"] if isinstance(schema.get("type"), str) else "" for schema in schemas}
    if len(types) == 1 and types != {""}:
        result = {"type": types.pop(), **result}
    about = next((schema["description"] for schema in schemas if schema.get("description")), "")
    return {**result, "description": about} if about else result


class _Reader:
    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._forms: dict[str, _Form] = {}

    def read(self, schema: Any) -> _Form:
        if not isinstance(schema, dict):
            return _Form(is_open=schema is not False)
        own = schema.get("properties", {})
        form = _Form({name: [child] for name, child in own.items()}, dict(own), list(schema.get("required", ())))
        if schema.get("additionalProperties") is False and "patternProperties" not in schema:
            form.is_open = False
            self._also_require(form, schema)
            return form
        for part in self._all_of(schema):
            _join(form, part)
        for keyword in ("anyOf", "oneOf"):
            if branches := [self.read(branch) for branch in schema.get(keyword, ()) if branch is not False]:
                _join(form, _either(branches))
        conditional = [schema[keyword] for keyword in ("if", "then", "else") if keyword in schema]
        for part in (self.read(child) for child in (*conditional, *schema.get("dependentSchemas", {}).values())):
            _join(form, _Form(dict.fromkeys(part.taken), part.hints))
        return form

    def _all_of(self, schema: dict[str, Any]) -> list[_Form]:
        found = [self.read(part) for part in schema.get("allOf", ())]
        if "$ref" in schema:
            place = schema["$ref"]
            if place not in self._forms:
                self._forms[place] = _Form()  # what leads back to itself says nothing
                self._forms[place] = self.read(pointed(self._root, place))
            found.append(self._forms[place])
        return found

    def _also_require(self, form: _Form, schema: dict[str, Any]) -> None:
        for part in self._all_of(schema):
            form.required = list(dict.fromkeys([*form.required, *part.required]))


def _join(form: _Form, part: _Form) -> None:
    """Add what a part says that must hold as well."""
    for name, schemas in part.taken.items():
        if form.taken.get(name) is None:
            form.taken[name] = schemas
    form.hints = {**part.hints, **form.hints}
    form.required = list(dict.fromkeys([*form.required, *part.required]))
    form.is_open = form.is_open and part.is_open


def _either(branches: list[_Form]) -> _Form:
    """Give what holds where one of several does."""
    result = _Form(is_open=any(branch.is_open for branch in branches))
    for name in dict.fromkeys(name for branch in branches for name in branch.taken):
        found = [branch.taken.get(name, None if branch.is_open else []) for branch in branches]
        known = [schemas for schemas in found if schemas is not None]
        result.taken[name] = [schema for schemas in known for schema in schemas] if len(known) == len(found) else None
        result.hints[name] = next(branch.hints[name] for branch in branches if name in branch.hints)
    first, *others = [branch.required for branch in branches]
    result.required = [name for name in first if all(name in names for names in others)]
    return result
