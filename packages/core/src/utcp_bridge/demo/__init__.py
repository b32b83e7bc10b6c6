"""The demo's story, and what an adapter brings to take part in it.

An adapter offers a `Demo` as an entry point of the group `utcp_bridge.demos`, so that the core runs the demo in
every framework that is installed, and knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from utcp_bridge.toolset import Toolset

ENTRY_POINT_GROUP = "utcp_bridge.demos"


@dataclass(frozen=True, slots=True)
class Script:
    """What the scripted model does.

    Attributes:
        question: What the user asks.
        calls: The tool calls (name, arguments), one for each turn of the model.
    """

    question: str
    calls: tuple[tuple[str, dict[str, Any]], ...]

    def answer(self, results: Sequence[str]) -> str:
        """The model's last turn; it repeats the results that it was shown, so that one sees they arrived."""
        return "".join(f"\n    {name}: {result}" for (name, _), result in zip(self.calls, results, strict=True))


@dataclass(frozen=True, slots=True)
class Step:
    """Something that happened in an agent's run.

    Attributes:
        kind: `"tools"` names what the model was shown, `"call"` what it called, `"result"` and `"error"` what it
            got, `"answer"` what it said in the end.
        text: The step in words.
    """

    kind: Literal["tools", "call", "result", "error", "answer"]
    text: str


Demo: TypeAlias = "Callable[[Toolset, Script], Iterator[Step]]"


def demos() -> Iterator[EntryPoint]:
    """The demos of the adapters that are installed, in order of their names."""
    yield from sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name)
