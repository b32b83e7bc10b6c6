"""Whatever the output goes to: a terminal, a pipe or a file, in any encoding."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

import click

if TYPE_CHECKING:
    from rich.console import Console

# All but tab and line feed: a tool's words must not move the cursor or change the terminal (ECMA-48).
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_INTERRUPTED = 130
_TERMINATED = 143
_WIDEST_ROW = 10_000  # characters; a table takes no more than its longest row


class Command(click.Group):
    """A group of commands that ends as Unix commands do: by Ctrl-C, a signal, or an output that nobody takes."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that was asked for."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                # A terminal without Unicode shows `?`, which is better than a traceback.
                stream.reconfigure(errors="replace")
        try:
            with _ending_when_terminated():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("Interrupted.", err=True)
            sys.exit(_INTERRUPTED)
        except BrokenPipeError:  # whoever reads has enough; Click ends without a word
            raise
        except OSError as error:
            raise click.ClickException(f"The output cannot be written: {error.strerror or error}.") from error


def table_console() -> Console:
    """Where tables are printed: as wide as the terminal; into a file or pipe, each row on one line."""
    from rich.console import Console  # `--help` does not wait for it

    console = Console()
    return console if console.is_terminal or "COLUMNS" in os.environ else Console(width=_WIDEST_ROW)


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON that the standard output can say; what its encoding lacks is written as JSON's own escapes."""
    unicode = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    return json.dumps(value, ensure_ascii=not unicode, indent=indent)


def visible(text: str) -> str:
    """The text without control characters but line feeds and tabs."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def print_content(content: str, *, error: bool) -> None:
    """Print what a tool said: to a terminal what can be seen of it, to a file or pipe all of it."""
    stream = sys.stderr if error else sys.stdout
    # With `color` Click leaves escape sequences where they are.
    click.echo(visible(content) if stream is not None and stream.isatty() else content, err=error, color=True)


@contextmanager
def _ending_when_terminated() -> Iterator[None]:
    """Let SIGTERM end the command as an exception does: else the processes of command-line tools would live on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminated(*_: object) -> NoReturn:
    sys.exit(_TERMINATED)
