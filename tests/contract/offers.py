"""One face for the three adapters, so that one test speaks to all of them, sync and async."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from utcp_bridge.schema import ShownArguments


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an agent of the framework gets from a call."""

    content: str
    is_error: bool


class Offer(ABC):
    """The tools of a source, as one framework offers them."""

    @abstractmethod
    def descriptions(self) -> dict[str, str]:
        """What models are told of each tool, by name, in the framework's own order."""

    @abstractmethod
    def schema(self, name: str) -> dict[str, Any]:
        """The JSON Schema of the arguments that the framework sends to a model."""

    def as_sent(self, shown: ShownArguments) -> dict[str, Any]:
        """What the framework itself makes of a schema on its way to the model: nothing, unless it says so here."""
        return shown.schema

    @abstractmethod
    def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call a tool as the framework's agents do, from plain code."""

    @abstractmethod
    def report(self) -> str:
        """The discovery report, as the adapter shows it."""


class Adapter(ABC):
    """One framework, in one mode.

    Attributes:
        blocks: Whether `Offer.call` uses the framework's sync calls; the async ones run in a loop of their own.
    """

    def __init__(self, *, blocks: bool) -> None:
        self.blocks = blocks

    @contextmanager
    @abstractmethod
    def offer(self, source: Any, **options: Any) -> Iterator[Offer]:
        """The tools of a source, until the end of the block."""
        yield  # type: ignore[misc]  # a context manager needs a generator, and this one is abstract
