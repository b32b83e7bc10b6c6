"""Keys of call templates that nobody reads: UTCP's models drop what they do not know, and say nothing.

What is known comes from the models themselves, those of plugins too: the fields of the class that the registered
serializer gives back, and whatever models these are made of.
"""

from __future__ import annotations

import types
import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from pydantic import AliasChoices, AliasPath, BaseModel
from utcp.data.auth import Auth, AuthSerializer
from utcp.data.call_template import CallTemplate, CallTemplateSerializer

from utcp_bridge.nearest import nearest
from utcp_bridge.options import split_options

MANUAL_KEYS: Final = frozenset({"auth_tools", "base_url", "openapi"})
"""What a manual's call template may say besides its fields, where it comes as a document; see `fetching`."""

_DOCUMENTS: Final = frozenset({"http", "sse", "streamable_http", "cli", "file", "text"})
# They tell readers something, and UTCP's own examples have them; nobody misses what they do.
_DESCRIPTIVE: Final = frozenset({"comment", "comments", "description", "metadata", "notes", "tags", "title", "version"})
_COMMENT_MARKS: Final = ("x-", "x_", "$", "_", "//", "#")
_LONGEST_KEY: Final = 60
_MOST_NAMED: Final = 5
_MOST_KNOWN: Final = 12


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A key that has no effect.

    Attributes:
        key: The key.
        place: Where it stands in the template, such as `auth` or `commands[0]`; empty for the template itself.
        known: What the place may have.
    """

    key: str
    place: str
    known: tuple[str, ...]

    @property
    def advice(self) -> str:
        """What was most likely meant."""
        if (close := nearest(self.key, self.known)) is not None:
            return f"did you mean {close!r}?"
        if not self.place and split_options({self.key: 0})[0]:
            return f"the option {self.key!r} stands beside the configuration, not in a call template"
        return f"it may have {', '.join(map(repr, self.known[:_MOST_KNOWN]))}"

    def __str__(self) -> str:
        where = f" in {self.place!r}" if self.place else ""
        return f"unknown key {self.key!r}{where}, which has no effect; {self.advice}"


def unknown_keys(template: Mapping[str, Any], more: Iterable[str] = ()) -> list[UnknownKey]:
    """The keys of a call template that its type does not know; none where the type is not installed.

    Args:
        template: The template as it is written, in the form of UTCP 1.1.
        more: Keys that count as known besides the fields of its model.
    """
    kind = template.get("call_template_type")
    model = model_of(CallTemplateSerializer.call_template_serializers.get(kind)) if isinstance(kind, str) else None
    if model is None:
        return []
    found = list(unknown_in(model, template, "", tuple(more)))
    if "auth_tools" in more and "auth_tools" not in model.model_fields:
        found += _within(Auth, template.get("auth_tools"), "auth_tools")
    return found


def unknown_keys_of_manual(template: Mapping[str, Any]) -> list[UnknownKey]:
    """The same for the call template of a manual, which may say more; see `MANUAL_KEYS`."""
    more = MANUAL_KEYS if template.get("call_template_type") in _DOCUMENTS else ()
    return unknown_keys(template, more)


def told_of_tools(found: Sequence[tuple[str, UnknownKey]]) -> tuple[str, ...]:
    """What is unknown in the templates of a manual's tools, as one sentence, however many there are.

    Args:
        found: The name of a tool and a key in its template.
    """
    if not found:
        return ()
    counts = Counter((unknown.key, unknown.place) for _, unknown in found)
    first = {(unknown.key, unknown.place): (tool, unknown) for tool, unknown in reversed(found)}
    words = []
    for place, count in counts.most_common(_MOST_NAMED):
        tool, unknown = first[place]
        where = f" in {unknown.place!r}" if unknown.place else ""
        others = f" and {count - 1} more" if count > 1 else ""
        words.append(f"{unknown.key!r}{where} ({tool}{others}; {unknown.advice})")
    more = f", and {len(counts) - _MOST_NAMED} more" if len(counts) > _MOST_NAMED else ""
    return (f"unknown keys in the call templates of its tools, which have no effect: {', '.join(words)}{more}",)


@lru_cache(maxsize=256)
def _return_type(serializer: type) -> Any:
    try:
        return typing.get_type_hints(getattr(serializer, "validate_dict", None)).get("return")
    except (NameError, TypeError, AttributeError):  # a plugin may annotate it anyhow, or not at all
        return None


def model_of(serializer: Any) -> type[BaseModel] | None:
    """The model that a registered serializer makes; None where it does not say, or reads more than its fields."""
    its_class: Any = type(serializer)
    kind = None if serializer is None else _return_type(its_class)
    if not isinstance(kind, type) or not issubclass(kind, BaseModel) or kind in {Auth, BaseModel, CallTemplate}:
        return None
    return kind


@lru_cache(maxsize=256)
def _known(model: type[BaseModel]) -> dict[str, None] | None:
    """The keys that a model reads; None where it may read any."""
    before = [item for item in model.__pydantic_decorators__.model_validators.values() if item.info.mode != "after"]
    if model.model_config.get("extra") == "allow" or before:
        return None
    names: dict[str, None] = {}
    for name, field in model.model_fields.items():
        names[name] = None
        for alias in (field.alias, field.validation_alias):
            choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
            for choice in choices:
                first = choice.path[0] if isinstance(choice, AliasPath) else choice
                if isinstance(first, str):
                    names[first] = None
    return names


def unknown_in(
    model: type[BaseModel], value: Mapping[str, Any], place: str, more: tuple[str, ...] = ()
) -> Iterator[UnknownKey]:
    """The keys of an object that a model does not know, at any depth.

    Args:
        model: The model that reads the object.
        value: The object.
        place: Where it stands.
        more: Keys that count as known besides the model's own.
    """
    known = _known(model)
    if known is None:
        return
    if not value.keys() <= known.keys():
        for key in value:
            if not (key in known or key in more or key in _DESCRIPTIVE or str(key).startswith(_COMMENT_MARKS)):
                yield UnknownKey(str(key)[:_LONGEST_KEY], place, tuple(dict.fromkeys((*known, *sorted(more)))))
    for name, annotation in _nested(model):
        if value.get(name):
            yield from _within(annotation, value[name], f"{place}.{name}" if place else name)


@lru_cache(maxsize=256)
def _nested(model: type[BaseModel]) -> tuple[tuple[str, Any], ...]:
    """The fields of a model that hold models, and what they are."""
    return tuple(
        (name, field.annotation) for name, field in model.model_fields.items() if _holds_models(field.annotation)
    )


def _holds_models(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return True
    return any(map(_holds_models, typing.get_args(annotation)))


def _within(annotation: Any, value: Any, place: str) -> Iterator[UnknownKey]:
    """What is unknown in the value of a field, which may hold models at any depth."""
    if isinstance(value, (list, tuple)):
        for item_type in _item_types(annotation, list, tuple, Sequence):
            for index, item in enumerate(value):
                yield from _within(item_type, item, f"{place}[{index}]")
    elif isinstance(value, Mapping):
        models = [_resolved(kind, value) for kind in _members(annotation)]
        certain = [kind for kind in models if kind is not None]
        if len(certain) == 1:  # of several, whichever fits is for Pydantic to decide
            yield from unknown_in(certain[0], value, place)
        for item_type in _item_types(annotation, dict, Mapping):
            for key, item in value.items():
                yield from _within(item_type, item, f"{place}.{key}")


def _members(annotation: Any) -> Iterator[Any]:
    if typing.get_origin(annotation) in {typing.Union, types.UnionType}:
        for member in typing.get_args(annotation):
            yield from _members(member)
    elif typing.get_origin(annotation) is typing.Annotated:
        yield from _members(typing.get_args(annotation)[0])
    else:
        yield annotation


def _item_types(annotation: Any, *containers: Any) -> Iterator[Any]:
    """What the values of a list or an object are, as far as the annotation tells."""
    for member in _members(annotation):
        arguments = [argument for argument in typing.get_args(member) if argument is not Ellipsis]
        if typing.get_origin(member) in containers and arguments:
            yield arguments[-1]


def _resolved(kind: Any, value: Mapping[str, Any]) -> type[BaseModel] | None:
    if kind is Auth:
        name = value.get("auth_type")
        return model_of(AuthSerializer.auth_serializers.get(name)) if isinstance(name, str) else None
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return None
