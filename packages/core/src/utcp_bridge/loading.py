"""A toolset that is loaded in the background, and looked at again now and then."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utcp_bridge._host_log import HostLog, remarks_of
from utcp_bridge._look import Look
from utcp_bridge.errors import BridgeError, ConfigError, DiscoveryError, RunnerError
from utcp_bridge.options import Options

if TYPE_CHECKING:
    from utcp_bridge import Toolset


class LoadingToolset:
    """A toolset that begins to load when this is made, manual by manual; nobody waits long for those that are slow.

    A host makes its toolboxes while it starts, and asks every toolbox for the names that belong to another. Neither
    may have to wait for a server that does not answer.

    Args:
        source: Where the tools come from, as `Toolset.of` takes it.
        options: The options of the toolset. A host may give numbers, and true and false, as text.
        label: What log lines begin with.
        interval: The least time between two looks at the manuals, in seconds.
        patience: The most time that anyone waits for a look at the manuals, in seconds from its start. What has
            arrived by then is handed out, and the look goes on; before anything has arrived for the first time, it is
            waited for until that look is over.
        log: Where problems are told, with the methods of a `logging.Logger`; one that lasts is told once. While the
            toolset is open, so are the core's own warnings.
    """

    def __init__(
        self, source: Any, options: Mapping[str, Any], *, label: str, interval: float, patience: float, log: Any
    ) -> None:
        self._source = source
        self._options = {key: _as_meant(key, value) for key, value in options.items()}
        self._label = label
        self._interval = interval
        self._patience = patience
        self._log = log
        self._lock = threading.Lock()
        self._toolset: Toolset | None = None
        self._error: BridgeError | None = None
        self._told: frozenset[str] = frozenset()
        self._is_loaded = False
        self._closed = False
        self._looked_at = time.monotonic()
        HostLog.begin(log)
        self._look = self._new_look()

    def toolset(self, *, wait: bool = True) -> Toolset:
        """The toolset, with the tools that have arrived; its report tells which manuals are still loading.

        Args:
            wait: Whether to wait, if nothing was ever loaded: for the end of the look that is under way, or, when the
                patience is over, for the first tools; default true.

        Raises:
            BridgeError: It could not be opened, or has not been yet.
        """
        if wait and not self._is_loaded:
            with self._lock:
                look = self._look_at_hand()
            look.wait(self._patience)
            while not (look.is_over or self._has_tools):
                look.wait_a_moment()
        toolset = self._toolset
        if toolset is None or not (self._is_loaded or toolset.report.manuals):
            raise self._error or DiscoveryError(f"The tools of {self._label} are still loading.")
        return toolset

    @property
    def _has_tools(self) -> bool:
        return self._toolset is not None and bool(self._toolset.tools)

    def look_again(self, *, wait: bool = True) -> None:
        """Look at the manuals again, unless that was done less than `interval` seconds ago.

        Args:
            wait: Whether to wait for the outcome, until the patience is over; default true.
        """
        with self._lock:
            look = self._look_at_hand()
            if look.is_over:
                if self._closed or time.monotonic() - self._looked_at < self._interval:
                    return
                look = self._look = self._new_look()
        if wait:
            look.wait(self._patience)

    def _look_at_hand(self) -> Look:
        if self._look.is_lost and not self._closed:
            self._look = self._new_look()
        return self._look

    def _new_look(self) -> Look:
        return Look(self._load, f"{self._label}-loading")

    def close(self) -> None:
        """Release everything, without waiting for a look that is under way; a second time does nothing."""
        with self._lock:
            was_closed, self._closed = self._closed, True
            toolset, self._toolset = self._toolset, None
        self._release(toolset)
        if not was_closed:
            HostLog.end(self._log)

    def _load(self, look: Look) -> None:
        try:
            from utcp_bridge import Toolset  # takes a while, which the host's start is spared

            toolset = self._toolset
            if toolset is None:
                make = Toolset.of if isinstance(self._source, Toolset) else Toolset.unloaded
                toolset = self._keep(make(self._source, **self._options))
            look.begin()
            if self._is_loaded or toolset is not self._source:
                toolset.refresh(piecemeal=True)
            self._succeeded(toolset)
            self._is_loaded = True
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
        remarks = [line for manual in report.manuals for line in remarks_of(manual)]
        loaded = f"{_count(len(toolset.tools), 'tool')} of {_count(len(report.manuals), 'manual')}"
        warnings = [line for line in (failed, *remarks) if line]
        known, self._told = self._told, frozenset([*warnings, loaded])
        if self._told != known and not self._closed:
            for line in warnings:
                if line not in known:
                    self._log.warning(f"{self._label}: {line}")
            self._log.info(f"{self._label}: {loaded}")

    def _failed(self, error: BridgeError) -> None:
        self._error = error
        if not self._is_loaded:
            with self._lock:
                toolset, self._toolset = self._toolset, None
            self._release(toolset)
        known, self._told = self._told, frozenset([str(error)])
        # While the program ends, not even modules can be imported, and nobody is left to act on it.
        if self._told != known and not self._closed and threading.main_thread().is_alive():
            self._log.error(f"{self._label}: the UTCP tools could not be loaded: {error}")


def _as_meant(key: str, value: Any) -> Any:
    """The value, or what its text says where the option takes that and not the text."""
    said = {name: _said(item) for name, item in value.items()} if isinstance(value, Mapping) else _said(value)
    return said if not _is_taken(key, value) and _is_taken(key, said) else value


def _said(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value


def _is_taken(key: str, value: Any) -> bool:
    try:
        Options.parse({key: value})
    except ConfigError:
        return False
    return True


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
