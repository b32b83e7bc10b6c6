"""YAML as far as JSON can say it, built straight from the parser's events.

PyYAML's own way makes a node of every scalar first and then constructs values of YAML 1.1: several times slower for
a large OpenAPI document, and with surprises in it (`no` is false, `12:30` is 750, `200:` is a key that is no text).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

MAX_DEPTH: Final = 500
MAX_NODES: Final = 20_000_000  # with every alias written out
MAX_KEY_NODES: Final = 1_000  # of a key that is an object or an array, as above

_Parser: Any = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader
_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = object()

# The core schema, https://yaml.org/spec/1.2.2/#1032-tag-resolution
_WORDS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_TEXT_TAGS: Final = frozenset({"!", "str", "timestamp", "binary"})
_JSON_TAGS: Final = frozenset({"null", "bool", "int", "float"})
_QUOTED: Final = frozenset("'\"|>")
_NUMBER_STARTS: Final = frozenset("-+.0123456789")


class YamlError(ValueError):
    """A text is not YAML, or says more than JSON can; the message says where, and quotes nothing."""


def load_yaml(text: str) -> Any:
    """Read one YAML document as a JSON value.

    Dates are text, keys are text as they are written (the JSON text of those that are objects or arrays), anchors and
    merge keys (`<<`) are followed. A tag that JSON knows nothing of (`!Sub`, `!!set`, `!!python/name`) leaves the value
    that it stands at as if it were not there: https://yaml.org/spec/1.2.2/#333-resolved-tags; nothing is constructed.

    Raises:
        YamlError: It is not YAML, is nested more than 500 levels deep, its aliases stand for more than 20 million
            values, or one of its keys for more than 1,000.
    """
    builder = _Builder()
    try:
        parser = _Parser(text)
        try:
            while not isinstance(event := parser.get_event(), yaml.StreamEndEvent):
                builder.take(event)
        finally:
            parser.dispose()
    except yaml.MarkedYAMLError as error:
        raise YamlError(f"{error.problem or 'broken'}{_place(error.problem_mark)}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise YamlError("it holds a character that YAML does not allow") from error
    if builder.has_aliases and _expanded_size(builder.document) > MAX_NODES:
        raise YamlError("its aliases stand for too much to be read")
    return builder.document


class _Builder:
    """Makes values of events; a stack of open containers takes the place of recursion."""

    def __init__(self) -> None:
        self.document: Any = None
        self.has_aliases = False
        self._documents = 0
        self._anchors: dict[str, Any] = {}
        self._known: dict[str, Any] = dict(_WORDS)
        self._open: list[dict[Any, Any] | list[Any]] = []
        self._keys: list[Any] = []
        self._outer_keys: list[dict[Any, Any] | list[Any]] = []  # the open containers that are keys themselves

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._scalar(event)
        elif kind is yaml.MappingStartEvent:
            self._start({}, event)
        elif kind is yaml.SequenceStartEvent:
            self._start([], event)
        elif kind is yaml.MappingEndEvent:
            done = self._open.pop()
            self._keys.pop()
            if _MERGE in done and isinstance(done, dict):
                _merge(done, event)
            self._end(done, event)
        elif kind is yaml.SequenceEndEvent:
            self._keys.pop()
            self._end(self._open.pop(), event)
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self._documents += 1
            if self._documents > 1:
                raise YamlError(f"it holds more than one document{_place(event.start_mark)}")

    def _scalar(self, event: Any) -> None:
        text = event.value
        is_key = self._awaits_key()
        if is_key:
            value: Any = _MERGE if text == "<<" and event.implicit[0] else text
        elif event.implicit[0]:
            value = self._plain(text)
        else:
            value = self._tagged(text, event)
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        self._put(value, is_key=is_key)

    def _plain(self, text: str) -> Any:
        try:
            return self._known[text]
        except KeyError:
            value = self._known[text] = _number(text) if text[0] in _NUMBER_STARTS else text
            return value

    def _tagged(self, text: str, event: Any) -> Any:
        """Give a scalar that is quoted or has a tag."""
        tag = (event.tag or "!").removeprefix(_TAG)
        if tag in _TEXT_TAGS:
            return text
        if tag not in _JSON_TAGS:
            return text if event.style in _QUOTED else self._plain(text)
        value = self._plain(text)
        return float(value) if tag == "float" and type(value) is int else value

    def _start(self, container: dict[Any, Any] | list[Any], event: Any) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise YamlError(f"it is nested too deeply{_place(event.start_mark)}")
        if event.anchor is not None:
            self._anchors[event.anchor] = container
        if self._awaits_key():
            self._outer_keys.append(container)
        else:
            self._put(container)
        self._open.append(container)
        self._keys.append(None)

    def _end(self, container: dict[Any, Any] | list[Any], event: Any) -> None:
        if self._outer_keys and self._outer_keys[-1] is container:
            self._outer_keys.pop()
            self._keys[-1] = _key_text(container, event)

    def _awaits_key(self) -> bool:
        return bool(self._open) and self._keys[-1] is None and isinstance(self._open[-1], dict)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise YamlError(f"an alias has no anchor{_place(event.start_mark)}")
        self.has_aliases = True
        value = self._anchors[event.anchor]
        if self._awaits_key():
            self._put(value if isinstance(value, str) else _key_text(value, event), is_key=True)
        else:
            self._put(value)

    def _put(self, value: Any, *, is_key: bool = False) -> None:
        if not self._open:
            self.document = value
            return
        container = self._open[-1]
        if isinstance(container, list):
            container.append(value)
        elif is_key:
            self._keys[-1] = value
        else:
            container[self._keys[-1]] = value
            self._keys[-1] = None


def _key_text(key: Any, event: Any) -> str:
    if _expanded_size(key) > MAX_KEY_NODES:
        raise YamlError(f"a key is too large{_place(event.start_mark)}")
    return json.dumps(key, ensure_ascii=False)


def _number(text: str) -> Any:
    if _INTEGER.fullmatch(text) and len(text) < 4000:  # CPython refuses to read longer ones
        return int(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0)
    return float(text) if _FLOAT.fullmatch(text) else text


def _merge(mapping: dict[Any, Any], event: Any) -> None:
    merged = mapping.pop(_MERGE)
    own = dict(mapping)
    mapping.clear()
    for source in reversed(merged if isinstance(merged, list) else [merged]):  # the first one counts
        if not isinstance(source, dict):
            raise YamlError(f"'<<' merges something that is not an object{_place(event.start_mark)}")
        mapping.update(source)
    mapping.update(own)


def _expanded_size(document: Any) -> float:
    """How many values the document has with every alias written out; infinite where one holds itself."""
    sizes: dict[int, float] = {}
    stack = [document]
    while stack:
        node = stack[-1]
        children = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
        nested = [child for child in children if isinstance(child, (dict, list))]
        if id(node) not in sizes:
            sizes[id(node)] = 0  # under way: whoever meets it now is inside it
            if any(sizes.get(id(child)) == 0 for child in nested):
                return float("inf")
            stack.extend(child for child in nested if id(child) not in sizes)
            continue
        if sizes[id(node)] == 0:
            sizes[id(node)] = 1 + len(children) - len(nested) + sum(sizes[id(child)] for child in nested)
        stack.pop()
    return sizes[id(document)]


def _place(mark: Any) -> str:
    return f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
