"""UTCP's variables in call templates: which `$` stands for one, and how its value is filled in.

The rule, since UTCP's documents show both `${NAME}` and `$NAME` and dollar signs also mean other things
(`/users/$count`, `?$top=5`, `$1`, `$HOME` in a shell command):

- `${NAME}` is a variable. In the template of a tool that has an argument of this name it is the argument, as UTCP's
  documents have it, unless a variable of this name is defined for the manual when the manual is loaded: what the
  operator has set is never replaced by what a model says, and the report names the argument that is not sent. In
  `auth`, `auth_tools` and wherever a protocol takes no arguments it stays a variable. `{NAME}` and `{{NAME}}` are
  never one. (`manuals.placeholders` reads all three before any variable has its value, so that neither the value of a
  variable nor that of an argument is ever looked through for the other.)
- `$NAME` is one if the name is written in capitals, as UTCP's documents write variables, or if a variable of this name
  is defined; within `auth`, `auth_tools` and `headers` it always is one.
- In the commands of a CLI template, `$NAME` is one only if it is defined: else it is the shell's. `${NAME}` is the
  shell's too if the template's `env_vars` or `inherit_env_vars`, an earlier assignment or the shell itself provides it.
- In the configuration's own `variables`, `$NAME` is one at the start of a word, as in `Bearer $TOKEN`; within a word it
  is one only if it is defined, for most values there are passwords.
- `$CMD_<n>_OUTPUT`, in either spelling, is never one: UTCP's CLI protocol defines it.
- `$$` and what follows it, `$1` and a text with a JSON `$ref` stay as they are; the last is utcp 1.2.0's own rule.
- Within a body that is written out, no key changes the rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_REFERENCE = re.compile(r"\$\$+[A-Za-z0-9_]*|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")
_OPENING = re.compile(r"(?<!\$)\$\{(?![A-Za-z_][A-Za-z0-9_]*\})")
_JSON_REFERENCE = re.compile(r"\$ref(?![A-Za-z0-9_])")
_COMMAND_OUTPUT = re.compile(r"CMD_\d+_OUTPUT")
_CAPITALS = re.compile(r"_*[A-Z][A-Z0-9_]*")
_ASSIGNMENT = re.compile(r"(?:^|[;&|\s(])(?:export\s+|for\s+|read\s+(?:-\S+\s+)*)?([A-Za-z_]\w*)(?:=|\s+in\s)")
_ALWAYS_INSIDE = frozenset({"auth", "auth_tools", "headers"})
_RULED = frozenset({*_ALWAYS_INSIDE, "variables"})
_SHELL_NAMES = frozenset(
    {
        *("BASHPID", "BASH_VERSION", "EUID", "HOME", "HOSTNAME", "IFS", "LANG", "LC_ALL", "LC_CTYPE", "LINENO"),
        *("LOGNAME", "OLDPWD", "OSTYPE", "PATH", "PPID", "PWD", "RANDOM", "REPLY", "SECONDS", "SHELL", "TERM"),
        *("TMPDIR", "TZ", "UID", "USER"),
    }
)
# From the start of a URL to the end of its host, where a user name is not in between.
_HOST = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://)?[^/?#@]*(?=[/?#]|$)")
# They hold names of arguments, in which a dollar sign is one: upstream's, and those of our own templates.
_ARGUMENT_FIELDS = frozenset({"body_field", "header_fields", "parameters", "body_arguments", "file_fields"})
# What the author of a tool wrote out of its request; its keys are names on the wire. See `http.written`.
_WRITTEN = "written"
_URL_FIELDS = frozenset({"url", "base_url", "token_url"})
_PATH_FIELDS = frozenset({"working_dir", "file_path"})


def broken_references(template: Mapping[str, Any]) -> Iterator[str]:
    """Where in a call template a `${` begins no variable, such as `${MY-TOKEN}`; never what stands there.

    Commands are left out, for the shell has more to say after it.
    """
    for place, text in _places({key: item for key, item in template.items() if key not in {"commands", "content"}}):
        if _OPENING.search(text) is not None and not _JSON_REFERENCE.search(text):
            yield place


def _places(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _places(item, f"{place}.{key}" if place else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _places(item, f"{place}[{index}]")


def variable_names(template: Any, defined: Callable[[str], bool]) -> set[str]:
    """The names in a template that are variables, by the rule of this module.

    Args:
        template: A JSON value.
        defined: Tells whether a variable of this name has a value.
    """
    names: set[str] = set()
    for text, inside, shell in _texts(template, "", frozenset()):
        for match in _references(text):
            name, braces = match[1] or match[2], match[1] is not None
            if not name or _COMMAND_OUTPUT.fullmatch(name) or name in names:
                continue
            if inside == "commands":
                certain = braces and name not in shell
            elif inside == "variables":
                certain = braces or (_CAPITALS.fullmatch(name) is not None and _starts_a_word(text, match))
            else:
                certain = braces or inside in _ALWAYS_INSIDE or _CAPITALS.fullmatch(name) is not None
            if certain or defined(name):
                names.add(name)
    return names


def fill_in(template: Any, values: Mapping[str, str]) -> Any:
    """A copy of a JSON value in which these names, and no other, are replaced by their values."""
    if isinstance(template, str):
        if "$" not in template or _JSON_REFERENCE.search(template):
            return template
        return _REFERENCE.sub(lambda match: values.get(match[1] or match[2] or "", match[0]), template)
    if isinstance(template, Mapping):
        return {
            key: item
            if key in _ARGUMENT_FIELDS
            else _fill_in_all(item, values)
            if key == _WRITTEN
            else fill_in(item, values)
            for key, item in template.items()
        }
    if isinstance(template, (list, tuple)):
        return [fill_in(item, values) for item in template]
    return template


def _fill_in_all(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _fill_in_all(item, values) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_fill_in_all(item, values) for item in value]
    return fill_in(value, values)


def _references(text: str) -> Iterator[re.Match[str]]:
    if "$" in text and not _JSON_REFERENCE.search(text):
        yield from _REFERENCE.finditer(text)


def _texts(value: Any, inside: str, shell: frozenset[str]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Every text of a template, the field it is inside of that changes the rule, and the shell's own names."""
    if isinstance(value, str):
        yield value, inside, shell
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if inside == _WRITTEN or key == _WRITTEN:
                yield from _texts(item, _WRITTEN, shell)
            elif key == "commands":
                yield from _texts(item, "commands", _SHELL_NAMES | shell_names(value))
            elif key not in _ARGUMENT_FIELDS:
                yield from _texts(item, key if key in _RULED else inside, shell)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item, inside, shell)


def shell_names(template: Mapping[str, Any]) -> frozenset[str]:
    """The names that a CLI template itself gives a value in the shell."""
    names: set[str] = set()
    for field in ("env_vars", "inherit_env_vars"):
        names.update(map(str, template.get(field) or ()))
    for text, _, _ in _texts(template.get("commands"), "", frozenset()):
        names.update(_ASSIGNMENT.findall(text))
    return frozenset(names)


def public_names(template: Any) -> frozenset[str]:
    """Names that only stand for a host, a directory or a file, and so for no secret."""
    public: set[str] = set()
    private: set[str] = set()
    for field, text in _fields("", template):
        host = _HOST.match(text) if field in _URL_FIELDS else None
        for match in _references(text):
            is_public = field in _PATH_FIELDS or (host is not None and match.end() <= host.end())
            (public if is_public else private).add(match[1] or match[2] or "")
    return frozenset(public - private)


def _fields(field: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _fields(_WRITTEN if _WRITTEN in (field, key) else str(key), item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _fields(field, item)


def _starts_a_word(text: str, match: re.Match[str]) -> bool:
    return match.start() == 0 or text[match.start() - 1].isspace()


def has_dollar(value: Any) -> bool:
    """Whether there is a dollar sign in any text of a JSON value."""
    if isinstance(value, str):
        return "$" in value
    if isinstance(value, Mapping):
        return any(map(has_dollar, value.values()))
    return isinstance(value, (list, tuple)) and any(map(has_dollar, value))
