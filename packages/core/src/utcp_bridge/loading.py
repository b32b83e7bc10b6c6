"""A toolset that is loaded in the background, and looked at again now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utcp_bridge.errors import BridgeError, DiscoveryError, RunnerError

if TYPE_CHECKING:
    from utcp_bridge import Toolset


class LoadingToolset:
    """A toolset that begins to load when this is made; only who needs its tools waits for them.

    A host makes its toolboxes while it starts, and asks every toolbox for the names that belong to another. Neither
    may have to wait for a server that does not answer.

    Args:
        source: Where the tools come from, as `Toolset.of` takes it.
        options: The options of the toolset.
        label: What log lines begin with.
        interval: The least time between two looks at the manuals, in seconds.
        log: Where problems are told, with the methods of a `logging.Logger`; one that lasts is told once.
    """

    def __init__(self, source: Any, options: Mapping[str, Any], *, label: str, interval: float, log: Any) -> None:
        self._source = source
        self._options = dict(options)
        self._label = label
        self._interval = interval
        self._log = log
        self._lock = threading.Lock()
        self._toolset: Toolset | None = None
        self._error: BridgeError | None = None
        self._told: tuple[str, ...] = ()
        self._closed = False
        self._looked_at = time.monotonic()
        self._first_look = self._look = self._started_look()

    def toolset(self) -> Toolset:
        """The toolset, as soon as its manuals have been looked at once.

        Raises:
            BridgeError: It could not be opened.
        """
        self._first_look.join()
        toolset = self._toolset
        if toolset is None:
            raise self._error or DiscoveryError(f"The tools of {self._label} are not loaded.")
        return toolset

    def look_again(self, patience: float) -> None:
        """Look at the manuals again, unless that was done less than `interval` seconds ago.

        Args:
            patience: The most time to wait for the outcome, in seconds; the look itself goes on.
        """
        with self._lock:
            if not self._look.is_alive():
                if self._closed or time.monotonic() - self._looked_at < self._interval:
                    return
                self._look = self._started_look()
            look = self._look
        look.join(patience)

    def close(self) -> None:
        """Release everything, without waiting for a look that is under way; a second time does nothing."""
        with self._lock:
            self._closed = True
            toolset, self._toolset = self._toolset, None
        self._release(toolset)

    def _started_look(self) -> threading.Thread:
        thread = threading.Thread(target=self._load, name=f"{self._label}-loading", daemon=True)
        thread.start()
        return thread

    def _load(self) -> None:
        try:
            from utcp_bridge import Toolset  # takes a while, which the host's start is spared

            toolset = self._toolset
            if toolset is None:
                toolset = self._keep(Toolset.of(self._source, **self._options))
            else:
                toolset.refresh()
            self._succeeded(toolset)
        except RunnerError as error:  # closed meanwhile, or the program ends: nothing to tell the operator
            self._error = error
        except BridgeError as error:
            self._failed(error)
        except Exception as error:  # noqa: BLE001 - a UTCP plugin may raise anything, and the host must go on
            self._failed(DiscoveryError(f"{type(error).__name__}: {error}"))
        finally:
            self._looked_at = time.monotonic()

    def _keep(self, toolset: Toolset) -> Toolset:
        with self._lock:
            closed = self._closed
            if not closed:
                self._toolset = toolset
        if closed:
            self._release(toolset)
            raise RunnerError("Closed before the tools were loaded.")
        return toolset

    def _release(self, toolset: Toolset | None) -> None:
        if toolset is not None and toolset is not self._source:
            toolset.close()

    def _succeeded(self, toolset: Toolset) -> None:
        report = toolset.report
        failed = "; ".join(f"manual {manual.name!r} failed: {manual.error}" for manual in report.failed)
        loaded = f"{_count(len(toolset.tools), 'tool')} of {_count(len(report.manuals), 'manual')}"
        if self._is_news(failed, loaded):
            if failed:
                self._log.warning(f"{self._label}: {failed}")
            self._log.info(f"{self._label}: {loaded}")

    def _failed(self, error: BridgeError) -> None:
        self._error = error
        if self._is_news(str(error), ""):
            self._log.error(f"{self._label}: the UTCP tools could not be loaded: {error}")

    def _is_news(self, *telling: str) -> bool:
        known, self._told = self._told, telling
        return telling != known


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
