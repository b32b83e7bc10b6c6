"""Real schemas of ../shared/corpus, where that folder is: all of them are read, none with a problem."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from utcp_bridge.schema import ArgumentsSchema, arguments_schema, provider_schema, size_of, trimmed
from utcp_bridge.schema.provider import Provider

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"there is no {CORPUS.name} beside the repository")


def _schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each named schema of each specification as that of an argument."""
    for file in sorted((CORPUS / "openapi").iterdir()):
        text = file.read_text(encoding="utf-8")
        document = json.loads(text) if file.suffix == ".json" else yaml.load(text, Loader=LOADER)  # noqa: S506 - safe
        components = document.get("components") or {}
        for container, path in (("components", ["schemas"]), ("definitions", [])):
            held = components.get("schemas", {}) if path else document.get("definitions", {})
            for name in held:
                pointer = "/".join(["#", container, *path, name])
                yield (
                    f"{file.stem} {name}",
                    {"properties": {"value": {"$ref": pointer}}, container: document[container]},
                )


def test_every_real_schema_is_read_shown_and_fits_each_provider() -> None:
    count = 0
    for name, schema in _schemas():
        count += 1
        shown = ArgumentsSchema(schema).shown
        read = arguments_schema(shown)
        assert read.problems == (), name
        assert read.shown == shown, name
        json.dumps(shown, allow_nan=False)
        assert read.accept({}) == {}, name
        assert size_of(trimmed(shown).schema) <= 16_000, name
        for provider in get_args(Provider):
            assert provider_schema(shown, provider)["type"] == "object", name
    assert count > 300
