"""What a model is shown of a tool's arguments, within a budget and for a provider, and the way back from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from utcp_bridge.schema.arguments import ArgumentsSchema
from utcp_bridge.schema.budget import trimmed
from utcp_bridge.schema.provider import Provider, ProviderSchema, export_schema
from utcp_bridge.schema.refusal import ArgumentFault, InvalidArguments


class ShownArguments:
    """A tool's arguments as a model is shown them. The tool's own schema judges.

    Args:
        arguments: The tool's own schema.
        provider: Whose limits the schema must keep to; None for no provider's.
        max_bytes: The most bytes of the schema; None never trims.

    Attributes:
        schema: What the model is shown; do not change it.
        left_out: What the budget made it leave out, in words; empty if nothing.
    """

    __slots__ = ("_arguments", "_exported", "left_out", "schema")

    def __init__(self, arguments: ArgumentsSchema, provider: Provider | None, max_bytes: int | None) -> None:
        within = trimmed(arguments.shown, max_bytes)
        self._arguments = arguments
        self._exported: ProviderSchema | None = None if provider is None else export_schema(within.schema, provider)
        self.schema = within.schema if self._exported is None else self._exported.schema
        self.left_out = within.left_out

    def accept(self, given: Mapping[str, Any] | str | None, *, repair: bool) -> dict[str, Any]:
        """Judge arguments as the model gave them, and give exactly what goes on the wire.

        Raises:
            InvalidArguments: They do not fit; the error lists every fault, in the names that the model was shown.
        """
        if self._exported is None or not self._exported.names:
            return self._arguments.accept(given, repair=repair)
        try:
            return self._arguments.accept(self._restored(given, self._exported), repair=repair)
        except InvalidArguments as error:
            shown = [
                ArgumentFault.at(self._exported.shown_path(fault.location), fault.message) for fault in error.faults
            ]
            raise InvalidArguments(shown) from None

    @staticmethod
    def _restored(given: Mapping[str, Any] | str | None, exported: ProviderSchema) -> Mapping[str, Any] | str | None:
        if isinstance(given, str):
            try:
                value = json.loads(given)
            except (ValueError, RecursionError):
                return given  # refused with its reason
            return exported.restore(value) if isinstance(value, Mapping) else given
        return exported.restore(given) if isinstance(given, Mapping) else given
