"""The options of a toolset: their names, types, ranges and defaults, in one place for every adapter."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

from utcp_bridge.errors import ConfigError
from utcp_bridge.nearest import nearest

_Value = TypeVar("_Value")

DEFAULT_TIMEOUT = 30.0
DEFAULT_MAX_CHARS = 40_000
DEFAULT_MAX_NAME_LENGTH = 64
SMALLEST_MAX_NAME_LENGTH = 16
DEFAULT_MAX_SCHEMA_BYTES = 16_000
DEFAULT_MAX_REPLY_BYTES = 16 * 1024 * 1024

LONGEST_TIMEOUT = 1_000_000_000.0
"""Seconds; thirty years. Python's own waits overflow not far above (`threading.TIMEOUT_MAX`)."""


def seconds_text(seconds: float) -> str:
    """A number of seconds in words, such as `1 second` or `0.5 seconds`."""
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"


class OptionsDict(TypedDict, total=False):
    """The options as keyword arguments; see `Options` for their meaning."""

    timeout: float
    discovery_timeout: float
    timeouts: Mapping[str, float]
    include: str | Iterable[str]
    exclude: str | Iterable[str]
    tags: str | Iterable[str]
    read_only: bool
    on_failure: Literal["skip", "raise"]
    on_tool_error: Literal["return", "raise"]
    max_chars: int | Mapping[str, int | None] | None
    max_name_length: int
    repair: bool
    provider: Literal["openai", "openai-strict", "azure-openai", "anthropic", "gemini"] | None
    max_schema_bytes: int | None
    allow_http_hosts: str | Iterable[str]
    trust_env: bool
    max_reply_bytes: int
    upload_dir: str | os.PathLike[str] | None


@dataclass(frozen=True, slots=True)
class Limit:
    """A time limit, and which setting it comes from.

    Attributes:
        seconds: The limit, in seconds.
        origin: The setting in words, such as `timeouts['weather.*']` or `timeout`.
    """

    seconds: float
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Checked options; make them with `parse`.

    Names in `timeouts`, `max_chars`, `include` and `exclude` are those of manuals, UTCP names of tools
    (`weather.get_forecast`) or globs on them (`*`, `?`, `[...]`; case matters). A manual may be written as
    in its configuration (`my-tools`) or as UTCP registers it (`my_tools`).

    Attributes:
        timeout: Limit of a call, in seconds; default 30.
        discovery_timeout: Limit for loading one manual, in seconds; default 30.
        timeouts: Limits of calls for some tools or manuals, in seconds; the names that models are shown
            count too. The most specific one holds: the tool's name, then a glob on tools, then the
            manual's name, then a glob that covers whole manuals, then `timeout`.
        include: What to offer; empty (default) means every tool.
        exclude: What not to offer; wins over `include`. Default none.
        tags: Offer only tools with at least one of these tags, in any case; empty (default) means every tool.
        read_only: Offer only tools that change nothing, as far as their manual tells; default false.
        on_failure: What a manual that cannot be loaded does: `"skip"` (default) leaves it out and reports
            it, `"raise"` raises one `DiscoveryError` for all of them.
        on_tool_error: What a failed call does: `"return"` (default) makes it a result with `is_error`,
            `"raise"` raises a `ToolCallError`.
        max_chars: The most characters of a result's `content`; default 40,000; None never cuts. A mapping
            sets it for some tools or manuals, as in `timeouts`; the others keep the default.
        max_name_length: The most characters of a shown name, at least 16; default 64.
        repair: Whether to put right what models get wrong in arguments without loss, such as `"5"`
            or `5.0` for an integer; default true.
        provider: Whose documented limits the shown schemas keep to: `"openai"`, `"openai-strict"`, `"azure-openai"`
            (as `"openai"`, with tool descriptions of at most 1,024 characters), `"anthropic"`, `"gemini"`; default
            None, no provider's. The tool's own schema judges all the same.
        max_schema_bytes: The most bytes of a tool's shown schema, as compact JSON; what matters least is left out
            first. Default 16,000; None never leaves anything out.
        allow_http_hosts: Globs of hosts, or `host:port`, that may be spoken to over plain HTTP besides this
            machine, such as `"homeassistant.local"`; default none.
        trust_env: Whether `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` are followed; default false.
        max_reply_bytes: Where reading an HTTP reply stops with an error, in bytes; default 16 MiB.
        upload_dir: The only folder that files of an HTTP request are read from; default None, no files.
    """

    timeout: float = DEFAULT_TIMEOUT
    discovery_timeout: float = DEFAULT_TIMEOUT
    timeouts: Mapping[str, float] = field(default_factory=dict)
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    read_only: bool = False
    on_failure: Literal["skip", "raise"] = "skip"
    on_tool_error: Literal["return", "raise"] = "return"
    max_chars: int | Mapping[str, int | None] | None = DEFAULT_MAX_CHARS
    max_name_length: int = DEFAULT_MAX_NAME_LENGTH
    repair: bool = True
    provider: Literal["openai", "openai-strict", "azure-openai", "anthropic", "gemini"] | None = None
    max_schema_bytes: int | None = DEFAULT_MAX_SCHEMA_BYTES
    allow_http_hosts: tuple[str, ...] = ()
    trust_env: bool = False
    max_reply_bytes: int = DEFAULT_MAX_REPLY_BYTES
    upload_dir: Path | None = None

    @classmethod
    def parse(cls, options: Mapping[str, Any]) -> Options:
        """Check options as a user gives them.

        Args:
            options: Option to value.

        Returns:
            The options, with defaults for what is not given.

        Raises:
            ConfigError: An unknown option, with the nearest known one; or a value of another type or out
                of range, with what is accepted.
        """
        for key in options:
            if key not in _CHECKS:
                raise ConfigError(_unknown(key))
        return cls(**{key: _CHECKS[key](key, value) for key, value in options.items()})

    def timeout_for(self, utcp_name: str, shown_name: str) -> Limit:
        """The limit for a call of this tool."""
        key = _most_specific(self.timeouts, utcp_name, shown_name)
        return Limit(self.timeout, "timeout") if key is None else Limit(self.timeouts[key], f"timeouts[{key!r}]")

    def max_chars_for(self, utcp_name: str, shown_name: str) -> int | None:
        """The most characters of this tool's results; None never cuts."""
        if not isinstance(self.max_chars, Mapping):
            return self.max_chars
        key = _most_specific(self.max_chars, utcp_name, shown_name)
        return DEFAULT_MAX_CHARS if key is None else self.max_chars[key]

    @property
    def http(self) -> dict[str, Any]:
        """The options of the HTTP protocol, by name."""
        return {key: getattr(self, key) for key in ("allow_http_hosts", "trust_env", "max_reply_bytes", "upload_dir")}

    def dead_patterns(self, utcp_names: Iterable[str]) -> tuple[str, ...]:
        """The patterns of `include` and `exclude` that fit none of these tools, in words; most likely misspelt."""
        names = tuple(utcp_names)
        patterns = [(key, pattern) for key in ("include", "exclude") for pattern in getattr(self, key)]
        return tuple(
            f"{key}: {pattern!r}" for key, pattern in patterns if not any(_names(pattern, name) for name in names)
        )

    def selects(self, utcp_name: str, tags: Iterable[str], read_only: bool) -> bool:
        """Whether to offer this tool.

        Args:
            utcp_name: Its UTCP name.
            tags: Its tags.
            read_only: Whether it changes nothing.
        """
        if self.read_only and not read_only:
            return False
        if self.tags and {tag.casefold() for tag in self.tags}.isdisjoint(tag.casefold() for tag in tags):
            return False
        if any(_names(pattern, utcp_name) for pattern in self.exclude):
            return False
        return not self.include or any(_names(pattern, utcp_name) for pattern in self.include)


def split_options(config: Mapping[str, Any], host_keys: Collection[str] = ()) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Divide a host's configuration into options and the rest, for hosts that add keys of their own.

    Args:
        config: The configuration, in which options stand beside the host's keys.
        host_keys: The keys that are known to be the host's; default none.

    Returns:
        The options, unchecked, and one warning for each key that is neither an option nor known to be the
        host's (`host_keys`, and keys that start with `x-`). Null counts as not given, where it is no value of the
        option.
    """
    known = {key: value for key, value in config.items() if key in _CHECKS and (value is not None or key in _NULLABLE)}
    unknown = [key for key in config if key not in _CHECKS and key not in host_keys and not str(key).startswith("x-")]
    return known, tuple(_unknown(key) for key in unknown)


def _unknown(key: object) -> str:
    meant = nearest(key, _CHECKS)
    advice = f"Did you mean {meant!r}?" if meant else f"The options are {', '.join(_CHECKS)}."
    return f"Unknown option {key!r}. {advice}"


def _most_specific(settings: Mapping[str, Any], utcp_name: str, shown_name: str) -> str | None:
    if not settings:
        return None
    ranked = [(rank, key) for key in settings if (rank := _specificity(key, utcp_name, shown_name))]
    return max(ranked, key=lambda item: item[0])[1] if ranked else None


def _specificity(key: str, utcp_name: str, shown_name: str) -> tuple[int, int] | None:
    manual = utcp_name.partition(".")[0]
    spelled = _as_registered(key)
    if utcp_name in {key, spelled} or key == shown_name:
        return 4, 0
    if manual in {key, spelled}:
        return 2, 0
    if not any(fnmatchcase(name, pattern) for pattern in (key, spelled) for name in (utcp_name, shown_name)):
        return None
    # Of two globs, the one that spells out more of the name is the more specific one.
    return 1 if fnmatchcase(manual, spelled) else 3, len(re.sub(r"\[[^]]*\]|[*?]", "", key))


def _names(pattern: str, utcp_name: str) -> bool:
    spelled = _as_registered(pattern)
    if utcp_name.partition(".")[0] in {pattern, spelled} or utcp_name in {pattern, spelled}:
        return True
    return fnmatchcase(utcp_name, pattern) or fnmatchcase(utcp_name, spelled)


def _as_registered(pattern: str) -> str:
    """A name or glob with its manual as UTCP registers it: `my-tools.*` becomes `my_tools.*`."""
    manual, dot, tool = pattern.partition(".")
    return pattern if "[" in manual else re.sub(r"[^\w*?]", "_", manual) + dot + tool


def _seconds(key: str, value: Any) -> float:
    # A comparison with NaN is false, so it is refused too.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= LONGEST_TIMEOUT:
        raise _refused(key, value, f"a number of seconds above 0 and at most {LONGEST_TIMEOUT:,.0f}")
    return float(value)


def _seconds_by_name(key: str, value: Any) -> dict[str, float]:
    return _by_name(key, value, _seconds, '{"weather.*": 120}')


def _characters(key: str, value: Any) -> int | None:
    return None if value is None else _whole_number(key, value, 1, "or None for no limit")


def _characters_by_name(key: str, value: Any) -> int | dict[str, int | None] | None:
    return _by_name(key, value, _characters, "") if isinstance(value, Mapping) else _characters(key, value)


def _name_length(key: str, value: Any) -> int:
    return _whole_number(key, value, SMALLEST_MAX_NAME_LENGTH, "")


def _whole_number(key: str, value: Any, smallest: int, more: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < smallest:
        raise _refused(key, value, f"a whole number of at least {smallest} {more}".strip())
    return value


def _by_name(key: str, value: Any, check: Callable[[str, Any], _Value], example: str) -> dict[str, _Value]:
    if not isinstance(value, Mapping):
        raise _refused(key, value, f"a mapping from names or globs to values, such as {example}")
    for name in value:
        if not isinstance(name, str) or not name:
            raise _refused(key, name, "the name of a tool or a manual, or a glob, as every key")
    return {name: check(f"{key}[{name!r}]", item) for name, item in value.items()}


def _texts(key: str, value: Any) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, list | tuple | set | frozenset):
        raise _refused(key, value, "a text or a list of texts")
    for text in texts:
        if not isinstance(text, str) or not text:
            raise _refused(key, text, "a text or a list of texts, none of them empty")
    return tuple(sorted(texts) if isinstance(texts, set | frozenset) else texts)


def _true_or_false(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise _refused(key, value, "true or false")
    return value


def _one_of(*choices: str | None) -> Callable[[str, Any], str | None]:
    def check(key: str, value: Any) -> str | None:
        if not isinstance(value, str | None) or value not in choices:
            raise _refused(key, value, " or ".join(repr(choice) for choice in choices))
        return value

    return check


def _schema_byte_count(key: str, value: Any) -> int | None:
    return None if value is None else _whole_number(key, value, 200, "bytes, or None for no limit")


def _byte_count(key: str, value: Any) -> int:
    return _whole_number(key, value, 1, "bytes")


def _folder(key: str, value: Any) -> Path | None:
    if value is None:
        return None
    if not isinstance(value, str | os.PathLike) or not Path(value).expanduser().is_dir():
        raise _refused(key, value, "the path of a folder that exists, or None")
    return Path(value).expanduser()


def _refused(key: str, value: Any, accepted: str) -> ConfigError:
    written = repr(value)
    return ConfigError(f"{key}: expected {accepted}, got {written if len(written) <= 60 else written[:60] + '...'}.")


_NULLABLE = frozenset({"max_chars", "provider", "max_schema_bytes", "upload_dir"})

_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "timeout": _seconds,
    "discovery_timeout": _seconds,
    "timeouts": _seconds_by_name,
    "include": _texts,
    "exclude": _texts,
    "tags": _texts,
    "read_only": _true_or_false,
    "on_failure": _one_of("skip", "raise"),
    "on_tool_error": _one_of("return", "raise"),
    "max_chars": _characters_by_name,
    "max_name_length": _name_length,
    "repair": _true_or_false,
    "provider": _one_of("openai", "openai-strict", "azure-openai", "anthropic", "gemini", None),
    "max_schema_bytes": _schema_byte_count,
    "allow_http_hosts": _texts,
    "trust_env": _true_or_false,
    "max_reply_bytes": _byte_count,
    "upload_dir": _folder,
}
