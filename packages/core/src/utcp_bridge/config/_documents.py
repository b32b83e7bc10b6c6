"""Documents in JSON's types: read from files, copied, described, without ever showing what they hold."""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import yaml
from pydantic import BaseModel

from utcp_bridge.config.json_faults import json_fault, markup_name
from utcp_bridge.errors import ConfigError

_MARKS = {
    (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE): "utf-32",
    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE): "utf-16",
}

YAML_SUFFIXES = frozenset({".yaml", ".yml"})

if TYPE_CHECKING:
    _Base: TypeAlias = yaml.SafeLoader
else:
    # libyaml where it is built in: it is about ten times as fast, and a large OpenAPI document can be a source.
    _Base = yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader


class _JsonLikeLoader(_Base):
    """YAML as far as JSON can say it: `2024-01-31` stays text."""

    yaml_implicit_resolvers = {  # noqa: RUF012 - PyYAML's own class attribute
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in _Base.yaml_implicit_resolvers.items()
    }


def read_document(path: Path, *, what: str) -> Any:
    """Read a JSON or YAML file.

    A file is JSON or YAML by its suffix; JSON is accepted under every name, and YAML under every name
    but `.json`.

    Args:
        path: The file.
        what: What the file is for, as the subject of an error message, such as "the configuration".

    Returns:
        The document: objects, lists and plain values.

    Raises:
        ConfigError: The file cannot be read, or is not JSON or YAML; with the line.
    """
    try:
        text = _decoded(path.read_bytes())
    except FileNotFoundError as error:
        where = "" if path.is_absolute() else f" in {str(Path.cwd())!r}"
        raise ConfigError(f"Cannot read {what}: there is no file {str(path)!r}{where}.") from error
    except IsADirectoryError as error:
        raise ConfigError(f"Cannot read {what}: {str(path)!r} is a folder; name the file in it.") from error
    except OSError as error:
        raise ConfigError(f"Cannot read {what} from {str(path)!r}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        # Not `from error`: its arguments hold the whole file.
        raise ConfigError(
            f"Cannot read {what} from {str(path)!r}: it is not UTF-8 text ({error.reason}); save it as UTF-8."
        ) from None
    except ValueError as error:
        raise ConfigError(f"Cannot read {what}: {str(path)!r} is not the name of a file ({error}).") from error
    suffix = path.suffix.lower()
    if not text.strip() and suffix not in YAML_SUFFIXES:
        raise ConfigError(f"Cannot read {what} from {str(path)!r}: the file is empty.")
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ConfigError(f"Cannot read {what} from {str(path)!r}: it is nested too deeply.") from error
    except json.JSONDecodeError as error:
        json_error = error
    if (page := markup_name(text)) is not None:
        raise ConfigError(f"Cannot read {what} from {str(path)!r}: it is {page}, expected JSON or YAML.")
    fault = f"not JSON: {json_fault(json_error, text)}"
    if suffix == ".json":
        fault = "it is YAML; end the file's name in .yaml, or write it as JSON" if _is_yaml(text) else fault
        raise ConfigError(f"Cannot read {what} from {str(path)!r}: {fault}.") from json_error
    try:
        document = yaml.load(text, Loader=_JsonLikeLoader)  # noqa: S506 - a subclass of the safe loader
    except (yaml.YAMLError, RecursionError) as error:
        kinds = "not YAML" if suffix in YAML_SUFFIXES else f"neither JSON ({fault}) nor YAML"
        raise ConfigError(f"Cannot read {what} from {str(path)!r}: {kinds}{_yaml_place(error)}.") from None
    if isinstance(document, str):
        # Any sentence is a YAML scalar, so a broken JSON file would otherwise pass for text.
        raise ConfigError(f"Cannot read {what} from {str(path)!r}: neither JSON ({fault}) nor YAML.")
    return document


def _decoded(content: bytes) -> str:
    # Editors and shells on Windows write UTF-16, always with its mark; that of UTF-32 begins with the same bytes.
    for marks, encoding in _MARKS.items():
        if content.startswith(marks):
            return content.decode(encoding)
    return content.decode("utf-8-sig")


def _is_yaml(text: str) -> bool:
    if text.lstrip()[:1] in {"{", "[", '"'}:
        return False
    try:
        return isinstance(yaml.load(text, Loader=_JsonLikeLoader), dict)  # noqa: S506 - as above
    except (yaml.YAMLError, RecursionError):
        return False


def _yaml_place(error: Exception) -> str:
    # Never `str(error)`: it quotes the file, and the quoted line may hold a secret.
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        mark = error.problem_mark
        return f": {error.problem or 'broken'} at line {mark.line + 1}, column {mark.column + 1}"
    return ""


def from_home(path: str) -> str:
    """The path with the home folder in place of `~`; unlike `Path.expanduser`, it leaves unknown users alone."""
    return os.path.expanduser(path)  # noqa: PTH111


def plain_copy(value: Any) -> Any:
    """A deep copy in JSON's types; paths become text, and UTCP's own models (call templates, auth) objects."""
    if isinstance(value, BaseModel):
        return plain_copy(value.model_dump())
    if isinstance(value, Mapping):
        return {key: plain_copy(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_copy(item) for item in value]
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def shape_of(value: Any) -> str:
    """What a value is, in words for an error message, without the value."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, type):
        return f"the class {value.__name__}, not an instance of it"
    words: dict[type, str] = {
        bool: "true or false",
        str: "text",
        int: "a number",
        float: "a number",
        type(None): "null",
        bytes: "bytes",
    }
    return words.get(type(value), f"an instance of {type(value).__name__}")
