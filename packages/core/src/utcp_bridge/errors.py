"""Every exception that utcp-bridge raises on purpose.

Divided by who must act::

    BridgeError
    ├── ConfigError (ValueError)         the developer: the configuration or an option is wrong
    ├── DiscoveryError                   the operator: manuals that could not be loaded
    ├── SchemaError (ValueError)         the author of the tool: a schema that cannot be used
    ├── RunnerError (RuntimeError)       the developer: closed, or called where it would deadlock
    │   ├── RunnerStoppedError           the work was not finished: its toolset was closed, or the program ends
    │   └── WorkCancelledError           the work cancelled itself
    └── ToolCallError                    one call of one tool went wrong
        ├── ToolNotFoundError (LookupError)
        ├── ToolArgumentsError (ValueError)
        ├── ToolConfigError              the configuration lacks what the call needs, such as a variable
        ├── ToolExecutionError           the tool ran, or its server answered, and reported a failure
        ├── ToolTransportError           the tool could not be reached
        └── ToolTimeoutError (TimeoutError)

All of them survive pickling, so that they cross process boundaries whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "BridgeError",
    "ConfigError",
    "DiscoveryError",
    "RunnerError",
    "RunnerStoppedError",
    "SchemaError",
    "ToolArgumentsError",
    "ToolCallError",
    "ToolConfigError",
    "ToolExecutionError",
    "ToolNotFoundError",
    "ToolTimeoutError",
    "ToolTransportError",
    "WorkCancelledError",
]


class BridgeError(Exception):
    """The root: `except BridgeError` catches everything that utcp-bridge raises on purpose."""


class ConfigError(BridgeError, ValueError):
    """A configuration or an option is wrong; names the key, the value's shape and the accepted form."""


class DiscoveryError(BridgeError):
    """Manuals could not be loaded; one line for each, naming it and the reason."""


class SchemaError(BridgeError, ValueError):
    """A schema cannot be used; names the place by its JSON pointer (RFC 6901)."""


class RunnerError(BridgeError, RuntimeError):
    """A toolset was used after it was closed, or from a thread where waiting would deadlock."""


class RunnerStoppedError(RunnerError):
    """The runner stopped before the work was finished: its toolset was closed, or the interpreter is exiting."""


class WorkCancelledError(RunnerError):
    """The work raised `asyncio.CancelledError` although nobody cancelled it; its cause is that error."""


class ToolCallError(BridgeError):
    """A call failed.

    Args:
        message: What happened and what to do next, in words fit for a model.
        tool: The name of the tool as models are shown it, or None if there is no such tool.
        manual: The manual that the tool comes from, or None if there is no such tool.
        raw: The original reply as blocks, where there was one, such as `{"type": "http_error", "status": 404}`.
    """

    # Keyword arguments with defaults, because unpickling calls the class with `args` alone and then
    # restores `__dict__`.
    def __init__(
        self,
        message: str,
        *,
        tool: str | None = None,
        manual: str | None = None,
        raw: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        super().__init__(message)
        self.tool = tool
        self.manual = manual
        self.raw = tuple(dict(block) for block in raw)


class ToolNotFoundError(ToolCallError, LookupError):
    """No tool has this name; the message lists the closest names."""


class ToolArgumentsError(ToolCallError, ValueError):
    """The arguments do not fit the tool's schema; the message says which, and what was expected."""


class ToolConfigError(ToolCallError):
    """The configuration lacks what the call needs: a variable (by the key that is looked up), a folder, a shell."""


class ToolExecutionError(ToolCallError):
    """The tool reported a failure: an HTTP status of 400 or above, a non-zero exit code, an MCP error."""


class ToolTransportError(ToolCallError):
    """The tool could not be reached: a refused or broken connection, a host that is not found."""


class ToolTimeoutError(ToolCallError, TimeoutError):
    """The call took longer than its limit and was cancelled; the message says which limit."""
