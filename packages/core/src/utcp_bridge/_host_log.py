"""What is told in a host's log, where its users look."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from utcp_bridge.reports import ManualReport

_MOST_REMARKS = 20
_LONGEST_LINE = 2_000


class HostLog(logging.Handler):
    """Brings the core's own warnings into a host's log, where its users look, instead of to the standard error."""

    def __init__(self, log: Any) -> None:
        super().__init__(logging.WARNING)
        self.log = log
        self.users = 0

    @classmethod
    def begin(cls, log: Any) -> None:
        """Relay to this log, unless that is done already, until `end` has been called as often."""
        with _relaying:
            relay = cls._of(log) or cls(log)
            relay.users += 1
            _core_logger.addHandler(relay)  # a second time does nothing

    @classmethod
    def end(cls, log: Any) -> None:
        """Undo one `begin`."""
        with _relaying:
            relay = cls._of(log)
            if relay is not None:
                relay.users -= 1
                if not relay.users:
                    _core_logger.removeHandler(relay)

    @classmethod
    def _of(cls, log: Any) -> HostLog | None:
        return next((each for each in _core_logger.handlers if isinstance(each, cls) and each.log is log), None)

    def emit(self, record: logging.LogRecord) -> None:
        try:
            tell = self.log.error if record.levelno >= logging.ERROR else self.log.warning
            tell(f"{record.name}: {_one_line(record.getMessage())}")
        except Exception:  # noqa: BLE001 - as every handler: who logs is not to blame
            self.handleError(record)


_core_logger = logging.getLogger("utcp_bridge")
_relaying = threading.Lock()


def remarks_of(manual: ManualReport) -> list[str]:
    """What is odd about a manual, a line each: 20 at most, and how many more there are."""
    lines = [f"manual {manual.name!r}: {_one_line(remark)}" for remark in manual.remarks]
    if (more := len(lines) - _MOST_REMARKS) > 0:
        lines[_MOST_REMARKS:] = [f"manual {manual.name!r}: and {more} more, which its report lists"]
    return lines


def _one_line(text: str) -> str:
    line = " ".join(part.strip() for part in text.splitlines())
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}..."
