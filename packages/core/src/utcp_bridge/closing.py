"""What is opened and closed: as a context manager, sync and async, and what it means for who holds a toolset."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from utcp_bridge.discovery import DiscoveryReport
    from utcp_bridge.toolset import Toolset


class Closing:
    """Ends with its `with` block."""

    @abstractmethod
    def close(self) -> None:
        """Release everything that is held; a second time does nothing."""

    @abstractmethod
    async def aclose(self) -> None:
        """The same as `close`, from async code."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.aclose()


class ToolsetHolder(Closing):
    """Holds a toolset for a framework, and closes it if it was opened here."""

    @property
    @abstractmethod
    def toolset(self) -> Toolset:
        """The open connection: to refresh, to search, and to call without the framework."""

    @abstractmethod
    def _opened_here(self) -> Toolset | None:
        """The toolset to close; None where there is none, or it was handed in."""

    @property
    def report(self) -> DiscoveryReport:
        """What came of each manual."""
        return self.toolset.report

    def close(self) -> None:
        """Release everything that was opened here; a second time does nothing."""
        if (opened := self._opened_here()) is not None:
            opened.close()

    async def aclose(self) -> None:
        """The same as `close`, from async code."""
        if (opened := self._opened_here()) is not None:
            await opened.aclose()
