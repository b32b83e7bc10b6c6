"""A tool's arguments as they come together from parameters, body and server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Arguments:
    """The arguments of one tool, and where each of them goes.

    Attributes:
        properties: Argument to converted schema.
        required: The arguments that must be given.
        rules: Keywords of the root besides, such as `dependentRequired`.
        uses: The definitions that the schemas refer to.
        template: The fields of the call template that say where the arguments go.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    rules: dict[str, Any] = field(default_factory=dict)
    uses: dict[str, None] = field(default_factory=dict)
    template: dict[str, Any] = field(default_factory=dict)

    def add(self, name: str, schema: Any, uses: Iterable[str], *, required: bool) -> str:
        """Add an argument under this name, or a similar one if it is taken; give the name that it got."""
        while name in self.properties:
            name += "_"
        self.properties[name] = schema
        self.uses |= dict.fromkeys(uses)
        if required:
            self.required.append(name)
        return name

    def schema(self, definitions: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON Schema of the arguments; closed, since every argument has its place."""
        schema: dict[str, Any] = {"type": "object", "properties": self.properties}
        if self.required:
            schema["required"] = self.required
        schema |= self.rules
        schema["additionalProperties"] = False
        return {**schema, "$defs": definitions} if definitions else schema
