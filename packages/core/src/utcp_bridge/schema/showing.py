"""What a model is shown of a tool's arguments, within a budget and for a provider, and the way back from it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from utcp_bridge.schema.arguments import ArgumentsSchema
from utcp_bridge.schema.budget import trimmed
from utcp_bridge.schema.folded import standalone
from utcp_bridge.schema.given import given_arguments
from utcp_bridge.schema.provider import Provider, ProviderSchema, export_schema
from utcp_bridge.schema.titles import without_title_keys


class ShownArguments:
    """A tool's arguments as a model is shown them. The tool's own schema judges.

    Args:
        own: The tool's own schema.
        provider: Whose limits the schema must keep to; None for no provider's.
        max_bytes: The most bytes of the schema; None never trims.

    Attributes:
        own: The tool's own schema.
        schema: What the model is shown; do not change it.
        left_out: What the budget made it leave out, in words; empty if nothing.
    """

    def __init__(self, own: ArgumentsSchema, provider: Provider | None, max_bytes: int | None) -> None:
        self.own = own
        self._max_bytes = max_bytes
        self._exported: ProviderSchema | None = None
        if provider is None:
            within = trimmed(own.shown, max_bytes)
            self.schema, self.left_out = within.schema, within.left_out
        else:
            self._exported = export_schema(own.shown, provider, max_bytes=max_bytes)
            self.schema, self.left_out = self._exported.schema, self._exported.left_out

    @cached_property
    def standalone(self) -> dict[str, Any]:
        """The same for readers that lose `$defs` and every key called `title`; do not change it."""
        whole = self.own.shown if self._exported is None else self._exported.whole
        result: dict[str, Any] = without_title_keys(standalone(whole, self._max_bytes))
        return result

    @property
    def problems(self) -> tuple[str, ...]:
        """What of the author's schema could not be read, and what the budget left out."""
        unread = tuple(str(problem) for problem in self.own.problems)
        if not self.left_out:
            return unread
        return (*unread, f"shown without {', '.join(self.left_out)}, to keep to {self._max_bytes:,} bytes")

    def accept(self, given: Mapping[str, Any] | str | None, *, repair: bool = True) -> dict[str, Any]:
        """Judge arguments as the model gave them, and give exactly what goes on the wire.

        Args:
            given: The arguments by name, or their JSON text; None and `""` for none.
            repair: See `ArgumentsSchema.accept`; where a provider's limits make models write text for objects, that
                is read back in any case.

        Raises:
            InvalidArguments: They do not fit; the error lists every fault, in the names that the model was shown.
        """
        if self._exported is None:
            return self.own.accept(given, repair=repair)
        restored = self._exported.restore(given_arguments(given))
        return self.own.judge(
            restored, repair=repair, holds_text=self._exported.is_reduced, shown_names=self._exported.shown_names
        )

    def shown_name(self, name: str) -> str:
        """Give the name that the model is shown of an argument."""
        return name if self._exported is None else self._exported.shown_names.get(name, name)
