"""A source, as a user hands it in, read into a UTCP client configuration.

Whatever is wrong with the configuration as a whole raises a `ConfigError`; what is wrong with one manual
costs that manual alone and stays with it as `ManualTemplate.problem`.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from utcp_bridge.config._client_settings import CLIENT_KEYS, client_settings
from utcp_bridge.config._documents import YAML_SUFFIXES, from_home, plain_copy, read_document, shape_of
from utcp_bridge.config._entries import Entry, assign_names, entries_of, translate
from utcp_bridge.config._hosts import Hosted, hosted_configuration
from utcp_bridge.config._notice import translation_notice
from utcp_bridge.config.legacy import FILE_MANUAL_PROTOCOLS, looks_like_template, translated_variable_loader
from utcp_bridge.errors import ConfigError
from utcp_bridge.nearest import nearest

logger = logging.getLogger(__name__)

Source: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"

_KEY_LIKE = re.compile(r"[\w $.-]{1,60}")
_TEMPLATES = "manual_call_templates"
_LEGACY_LISTS = ("tool_providers", "providers")
_PROVIDERS_FILE = "providers_file_path"
_LOADERS = "load_variables_from"
_MCP_EXAMPLE = (
    '{"manual_call_templates": [{"name": "...", "call_template_type": "mcp", "config": {"mcpServers": {...}}}]}. '
    "It needs the plugin 'utcp-mcp'."
)
_UTCP_KEYS = (_TEMPLATES, *CLIENT_KEYS)
_KNOWN_KEYS = (*_UTCP_KEYS, *_LEGACY_LISTS, _PROVIDERS_FILE)


@dataclass(frozen=True, slots=True)
class ManualTemplate:
    """Where one manual comes from.

    Attributes:
        name: The manual's name as UTCP registers it: every character that is no letter, digit or `_`
            became `_`. An entry whose name cannot be used goes by its place in the source.
        template: The manual call template in the form of UTCP 1.1, its `name` included; empty where the
            entry is not an object.
        problem: Why this entry cannot be used, or None. Discovery reports it; the other manuals load.
    """

    name: str
    template: dict[str, Any] = field(repr=False)  # it may hold secrets
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class BridgeConfig:
    """What a source says.

    Attributes:
        manuals: The manuals, in the order of the source; no two have the same name.
        client: UTCP's client configuration without `manual_call_templates`.
        root_dir: What UTCP resolves the relative paths of `file` templates against; None means the current
            directory, which is UTCP's own default.
        host_options: The options of a toolset that stand beside `utcp_config` in the configuration of a host,
            unchecked; they are the host's to hand over.
        host_place: Where that `utcp_config` stands; empty where there is no host.
    """

    manuals: tuple[ManualTemplate, ...] = ()
    client: dict[str, Any] = field(default_factory=dict, repr=False)  # so may this
    root_dir: Path | None = None
    host_options: dict[str, Any] = field(default_factory=dict, repr=False)
    host_place: str = ""


def load_config(source: Source) -> BridgeConfig:
    """Read a source.

    A source is UTCP's client configuration: a mapping, or the path of a JSON or YAML file. Also accepted,
    and translated with one warning that shows the new form: `tool_providers`, `providers` and
    `providers_file_path` of UTCP 0.x, entries in an older spelling, a bare list of entries, and a single
    entry. A manual or an OpenAPI document stands for itself: it becomes one manual. Of the configuration of a host,
    such as an OVOS persona, the one `utcp_config` in it counts.

    Relative paths are UTCP's own (1.2.0): looked up from the current directory. What is not there, and
    came from a file, is looked up beside that file.

    Args:
        source: A path or a mapping; neither is changed.

    Returns:
        The configuration, independent of the source.

    Raises:
        ConfigError: The file cannot be read, or the configuration as a whole has another shape.
    """
    try:
        return _read(source)
    except RecursionError as error:
        raise ConfigError("The configuration holds itself, or is nested too deeply.") from error


def _read(source: Source) -> BridgeConfig:
    if isinstance(source, Mapping | list | tuple):
        return _Reader(None).read(source)
    if not isinstance(source, str | bytes | os.PathLike):
        raise ConfigError(
            f"Expected the path of a configuration, or the configuration as a mapping; got {shape_of(source)}."
        )
    path = _config_path(source)
    return _Reader(path).read(read_document(path, what="the configuration"))


class _Reader:
    """Reads one document; `path` is the file that it came from, if any."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._folder = None if path is None else path.absolute().parent
        self._subject = "The configuration" if path is None else f"The configuration {str(path)!r}"

    def read(self, document: Any) -> BridgeConfig:
        """Read a document of any of the accepted forms."""
        document = {} if document is None else document
        if isinstance(document, list | tuple):
            return self._config(entries_of("a bare list", document, older=True), {})
        if not isinstance(document, Mapping):
            raise ConfigError(f"{self._subject} is {shape_of(document)}; expected an object with {_TEMPLATES!r}.")
        if not any(key in document for key in _KNOWN_KEYS):
            if _is_manual(document):
                return self._config([Entry("the manual", self._manual_template(document))], {})
            if looks_like_template(document):
                return self._config(entries_of("a single entry", document, older=True), {})
            if (hosted := hosted_configuration(document, self._subject)) is not None:
                return self._hosted(hosted)
        self._refuse_unknown_keys(document)
        return self._config(list(self._entries(document)), client_settings(document))

    def _hosted(self, hosted: Hosted) -> BridgeConfig:
        source = hosted.source
        inner = load_config(self._found(os.fsdecode(source))) if _is_path(source) else self.read(source)
        return replace(inner, host_options={**inner.host_options, **hosted.options}, host_place=hosted.place)

    def _entries(self, document: Mapping[str, Any]) -> Iterator[Entry]:
        yield from entries_of(_TEMPLATES, document.get(_TEMPLATES), older=False)
        for key in _LEGACY_LISTS:
            yield from entries_of(key, document.get(key), older=True)
        if document.get(_PROVIDERS_FILE) is not None:
            yield from self._entries_of_file(document[_PROVIDERS_FILE])

    def _entries_of_file(self, value: Any) -> list[Entry]:
        if not isinstance(value, str | os.PathLike):
            raise ConfigError(f"{_PROVIDERS_FILE}: expected the path of a file, got {shape_of(value)}.")
        path = Path(from_home(self._found(os.fspath(value))))
        document = read_document(path, what=f"the providers of {_PROVIDERS_FILE!r}")
        if isinstance(document, Mapping) and not looks_like_template(document):
            key = next((key for key in (*_LEGACY_LISTS, _TEMPLATES) if key in document), None)
            document = document if key is None else document[key]
        entries = entries_of(_PROVIDERS_FILE, document, older=True)
        for entry in entries:
            # python-utcp 0.2 read the files of text providers from the folder of the providers file.
            if isinstance(entry.value, dict) and isinstance(entry.value.get("file_path"), str):
                beside = path.absolute().parent / entry.value["file_path"]
                entry.value["file_path"] = str(beside) if beside.exists() else entry.value["file_path"]
        return entries

    def _config(self, entries: list[Entry], client: dict[str, Any]) -> BridgeConfig:
        for entry in entries:
            translate(entry)
        assign_names(entries)
        written = client.get(_LOADERS, [])
        loaders = [translated_variable_loader(item) if isinstance(item, dict) else item for item in written]
        self._give_notice(entries, [new for new, old in zip(loaders, written, strict=True) if new != old])
        for entry in entries:
            if entry.template.get("call_template_type") == "file" and isinstance(entry.template.get("file_path"), str):
                entry.template["file_path"] = self._found(entry.template["file_path"])
            # A shell would do this; utcp-cli 1.1.5 hands it over as it is.
            if entry.template.get("call_template_type") == "cli" and isinstance(entry.template.get("working_dir"), str):
                entry.template["working_dir"] = from_home(entry.template["working_dir"])
        for loader in loaders:
            # utcp 1.2.0 reads it from the current directory, whatever the client's root_dir is.
            if isinstance(loader, dict) and isinstance(loader.get("env_file_path"), str):
                loader["env_file_path"] = self._found(from_home(loader["env_file_path"]))
        manuals = tuple(ManualTemplate(entry.name, entry.template, entry.problem) for entry in entries)
        return BridgeConfig(manuals, {**client, _LOADERS: loaders} if loaders else client, self._folder)

    def _give_notice(self, entries: list[Entry], loaders: list[Any]) -> None:
        older = [entry for entry in entries if entry.older and entry.problem is None]
        if not older and not loaders:
            return
        places = [
            entry.place if entry.place.startswith(_TEMPLATES) else entry.place.partition("[")[0] for entry in older
        ]
        how = [*dict.fromkeys(places), *([_LOADERS] if loaders else [])]
        new_form = {_LOADERS: loaders, _TEMPLATES: [entry.template for entry in older]}
        logger.warning("%s", translation_notice(self._subject, how, new_form))

    def _found(self, path: str) -> str:
        """Pin a relative path of a file's configuration: the current directory first, then beside that file."""
        if self._folder is None or "$" in path or "://" in path or Path(from_home(path)).is_absolute():
            return path
        here = Path.cwd() / path
        return str(here if here.exists() else self._folder / path)

    def _manual_template(self, document: Mapping[str, Any]) -> dict[str, Any]:
        allowed = {"allowed_communication_protocols": list(FILE_MANUAL_PROTOCOLS)}
        # utcp-file 1.1.0 reads every suffix but these as JSON.
        if self._path is not None and self._path.suffix.lower() in {".json", *YAML_SUFFIXES}:
            template = {"call_template_type": "file", "file_path": str(self._path.absolute()), **allowed}
        else:
            content = json.dumps(plain_copy(document), default=str)
            template = {"call_template_type": "text", "content": content, **allowed}
        return template if self._path is None else {"name": self._path.stem, **template}

    def _refuse_unknown_keys(self, document: Mapping[str, Any]) -> None:
        for key in document:
            if key in _KNOWN_KEYS or key == "$schema" or str(key).startswith("x-"):
                continue
            if key == "utcp_config":
                shape = "is null" if document[key] is None else "stands beside other settings of UTCP"
                raise ConfigError(
                    f"{self._subject}: 'utcp_config' {shape}; expected all of UTCP's configuration in it, or a path."
                )
            if key == "mcpServers":
                raise ConfigError(f"{self._subject} is one of MCP servers, which are one manual here: {_MCP_EXAMPLE}")
            if (close := nearest(key, _KNOWN_KEYS)) is not None:
                advice = f"Did you mean {close!r}?"
            else:
                advice = (
                    f"It may have {', '.join(_UTCP_KEYS)}, and keys that start with 'x-'; "
                    f"options such as 'timeout' stand beside it, not in it."
                )
            raise ConfigError(f"{self._subject} has an unknown key{_shown_key(key)}. {advice}")


def _shown_key(key: object) -> str:
    # A file that is no configuration at all, such as one of passwords, may have anything in the place of a key.
    return f" {key!r}" if isinstance(key, str) and _KEY_LIKE.fullmatch(key) else ""


def _is_path(source: Any) -> bool:
    return isinstance(source, str | os.PathLike)


def _config_path(source: str | bytes | os.PathLike[str]) -> Path:
    text = os.fsdecode(source)
    if not text.strip():
        raise ConfigError("Expected the path of a configuration, got an empty text.")
    if text.lstrip().startswith(("{", "[")):
        raise ConfigError(
            "The source looks like JSON text; hand in what `json.loads` makes of it, or the path of a file."
        )
    if text.lower().startswith("file://"):
        raise ConfigError("A URL is not a source; hand in the path of the file itself.")
    if "://" in text:
        raise ConfigError(
            "A URL is not a source; write "
            '{"manual_call_templates": [{"name": "...", "call_template_type": "http", "url": "..."}]} instead.'
        )
    return Path(from_home(text))


def _is_manual(document: Mapping[str, Any]) -> bool:
    return isinstance(document.get("tools"), list | Mapping) or "openapi" in document or "swagger" in document
