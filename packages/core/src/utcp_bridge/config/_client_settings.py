"""Checks of UTCP's client configuration, all but its manuals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from utcp_bridge.config._documents import plain_copy, shape_of
from utcp_bridge.errors import ConfigError


def client_settings(document: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a UTCP client, checked and copied; null counts as not given.

    Raises:
        ConfigError: A setting has another shape; names the key, never the value.
    """
    return {key: check(key, document[key]) for key, check in _CHECKS.items() if document.get(key) is not None}


def _variables(key: str, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ConfigError(f'{key}: expected an object such as {{"weather_TOKEN": "..."}}, got {shape_of(value)}.')
    for name, text in value.items():
        if not isinstance(text, str):
            raise ConfigError(f"{key}.{name}: expected text, got {shape_of(text)}; write it in quotes.")
    return dict(value)


def _objects(key: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ConfigError(f"{key}: expected a list of objects such as {_EXAMPLES[key]}, got {shape_of(value)}.")
    return [_object(f"{key}[{index}]", item) for index, item in enumerate(value)]


def _object(key: str, value: Any) -> Any:
    if value is None or isinstance(value, str | bytes | bool | int | float | list | tuple):
        raise ConfigError(f"{key}: expected an object, got {shape_of(value)}.")
    # UTCP also takes its own objects, such as a tool repository that several clients share.
    return plain_copy(value) if isinstance(value, Mapping) else value


_EXAMPLES = {
    "load_variables_from": '{"variable_loader_type": "dotenv", "env_file_path": ".env"}',
    "post_processing": '{"tool_post_processor_type": "limit_strings", "limit": 1000}',
}

# utcp 1.2.0, utcp/data/utcp_client_config.py
_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "variables": _variables,
    "load_variables_from": _objects,
    "tool_repository": _object,
    "tool_search_strategy": _object,
    "post_processing": _objects,
}

CLIENT_KEYS = tuple(_CHECKS)
