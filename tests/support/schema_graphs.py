"""Graphs of definitions, small as they are written and without end once they are written out."""

from __future__ import annotations

from typing import Any


def dense(count: int) -> dict[str, Any]:
    """Definitions that each refer to every other one, as in DocuSign's envelopes."""
    properties = {f"p{number}": {"$ref": f"#/$defs/D{number}"} for number in range(count)}
    definitions = {f"D{number}": {"type": "object", "properties": properties} for number in range(count)}
    return {"properties": {"x": {"$ref": "#/$defs/D0"}}, "required": ["x"], "$defs": definitions}


def layered(layers: int, width: int = 2) -> dict[str, Any]:
    """Layers of definitions, each with several ways into the next; `width` 1 is a chain."""
    definitions: dict[str, Any] = {f"D{layers}": {"type": "integer"}}
    for layer in range(layers):
        properties = {f"p{number}": {"$ref": f"#/$defs/D{layer + 1}"} for number in range(width)}
        definitions[f"D{layer}"] = {"type": "object", "description": f"Layer {layer}", "properties": properties}
    return {"properties": {"x": {"$ref": "#/$defs/D0"}}, "required": ["x"], "$defs": definitions}


GRAPHS = {
    "dense-5": dense(5),
    "dense-40": dense(40),
    "layers-12": layered(12),
    "layers-60": layered(60),
    "chain-200": layered(200, 1),
    "chain-2000": layered(2000, 1),
}
