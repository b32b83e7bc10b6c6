"""A source, as a user hands it in, read into a UTCP client configuration."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from utcp_bridge.errors import ConfigError

Source: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any]"


def load_config(source: Source) -> dict[str, Any]:
    """Read a UTCP client configuration.

    Args:
        source: The path of a JSON file, or the configuration itself.

    Returns:
        A configuration of its own, whose `manual_call_templates` is a list of dicts.

    Raises:
        ConfigError: The file cannot be read or is not JSON, or the configuration has another shape.
    """
    config = dict(source) if isinstance(source, Mapping) else _read(Path(source))
    templates = config.get("manual_call_templates", [])
    if not isinstance(templates, list) or not all(isinstance(template, Mapping) for template in templates):
        raise ConfigError("manual_call_templates: expected a list of objects, one for each manual.")
    return {**config, "manual_call_templates": [dict(template) for template in templates]}


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"Cannot read the configuration {str(path)!r}: {error.strerror}.") from error
    except ValueError as error:
        raise ConfigError(f"The configuration {str(path)!r} is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise ConfigError(f"The configuration {str(path)!r} holds a {type(document).__name__}, expected an object.")
    return document
