"""Where `load_variables_from` looks: each loader asked for a key, and told in words with what is wrong with it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?(?:'[^']+'|[^\s=#'\"]+)\s*=\s*([\"']?)")


class Loader(Protocol):
    """What `load_variables_from` is made of: upstream's `VariableLoader`."""

    def get(self, key: str) -> str | None:
        """The value of a variable, or None."""


def reader(loader: Loader) -> Callable[[str], str | None]:
    """How a loader is asked.

    One for a `.env` file is asked only when the file has changed, for it reads the whole file anew; a file that cannot
    be read has no values, which `described` tells.
    """
    path = _env_file(loader)
    if path is None:
        return loader.get
    known: dict[tuple[int, int, str], str | None] = {}

    def read(key: str) -> str | None:
        try:
            status = os.stat(path)  # noqa: PTH116 - half the time of Path.stat, and this is asked at each call
        except OSError:
            return None
        version = (status.st_mtime_ns, status.st_size, key)
        if version not in known:
            for outdated in [old for old in known if old[:2] != version[:2]]:
                known.pop(outdated, None)
            known[version] = None
            with suppress(OSError, UnicodeDecodeError):
                known[version] = loader.get(key)
        return known[version]

    return read


def described(loader: Any) -> str:
    """A loader in words, such as `the file '/srv/.env' (dotenv), which does not exist`."""
    path = getattr(loader, "env_file_path", None)
    kind = getattr(loader, "variable_loader_type", type(loader).__name__)
    if not path:
        return f"the {kind!r} loader"
    fault = _fault_of_file(Path(path)) if _env_file(loader) is not None else None
    return f"the file {str(path)!r} ({kind}{f': {fault}' if fault else ''})"


def _env_file(loader: Any) -> str | None:
    path = getattr(loader, "env_file_path", None)
    return path if type(loader).__name__ == "DotEnvVariableLoader" and isinstance(path, str) else None


def _fault_of_file(path: Path) -> str | None:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return "there is no such file" + ("" if path.is_absolute() else f" in {str(Path.cwd())!r}")
    except IsADirectoryError:
        return "it is a folder, expected a file"
    except OSError as error:
        return f"it cannot be read: {error.strerror or type(error).__name__}"
    except UnicodeDecodeError as error:
        return f"it is not UTF-8 text, {error.reason}"
    except ValueError:
        return "it is no file name"
    if not text.strip():
        return "it is empty"
    return _fault_of_lines(text)


def _fault_of_lines(text: str) -> str | None:
    """The first line that python-dotenv cannot take for `NAME=value`; quoted values may have several lines."""
    opened: tuple[int, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        if opened is not None:
            opened = None if opened[1] in line else opened
        elif (found := _ASSIGNMENT.match(line)) is not None:
            quote, rest = found[1], line[found.end() :]
            opened = (number, quote) if quote and quote not in rest else None
        elif line.strip() and not line.lstrip().startswith("#"):
            return f"its line {number} is not NAME=value"
    return None if opened is None else f"the quote in its line {opened[0]} is never closed"
