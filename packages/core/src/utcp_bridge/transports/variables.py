"""UTCP's variables in call templates: which `$` stands for one, where its value comes from, what to say if it has none.

The rule, since UTCP's documents show both `${NAME}` and `$NAME` and dollar signs also mean other things
(`/users/$count`, `?$top=5`, `$1`, `$HOME` in a shell command):

- `${NAME}` is a variable.
- `$NAME` is one if the name is written in capitals, as UTCP's documents write variables, or if a variable of this name
  is defined; within `auth`, `auth_tools` and `headers` it always is one.
- In the commands of a CLI template, `$NAME` is one only if it is defined: else it is the shell's. `${NAME}` is the
  shell's too if the template's `env_vars` or `inherit_env_vars`, an earlier assignment or the shell itself provides it.
- In the configuration's own `variables`, `$NAME` is one at the start of a word, as in `Bearer $TOKEN`; within a word it
  is one only if it is defined, for most values there are passwords.
- `$CMD_<n>_OUTPUT`, in either spelling, is never one: UTCP's CLI protocol defines it.
- `$$` and what follows it, `$1` and a text with a JSON `$ref` stay as they are; the last is utcp 1.2.0's own rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from utcp_bridge.transports.variable_loaders import Loader, described, reader

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
_URL_FIELDS = frozenset({"url", "base_url", "token_url"})
_PATH_FIELDS = frozenset({"working_dir", "file_path"})


class UndefinedVariableError(LookupError):
    """Variables of a template have no value.

    Attributes:
        variable_name: The first key that was looked up, under the name that upstream's own exception gives it.
    """

    def __init__(self, message: str, variable_name: str = "") -> None:
        super().__init__(message)
        self.variable_name = variable_name


class Variables:
    """Where variables get their values: the configuration, then its loaders, then the environment.

    Args:
        variables: `variables` of the configuration; their values may refer to variables of the loaders and of the
            environment, without a namespace.
        loaders: `load_variables_from` of the configuration.
    """

    def __init__(self, variables: Mapping[str, str], loaders: Sequence[Loader]) -> None:
        self._variables = variables
        self._loaders = loaders
        self._readers = [reader(loader) for loader in loaders]

    def get(self, key: str) -> str | None:
        """The value of a key, or None. As in utcp 1.2.0, an empty text outside of `variables` counts as none.

        Raises:
            UndefinedVariableError: The value refers to a variable that is not defined.
        """
        if key in self._variables:
            return self._filled_in(key, self._variables[key])
        return self._outside(key)

    def defined(self, key: str) -> bool:
        """Whether there is a value, or at least an attempt at one, under this key."""
        return key in self._variables or self._outside(key) is not None

    @property
    def places(self) -> str:
        """Where `get` looks, in words, and what is wrong with a file that it looks into."""
        loaders = [described(loader) for loader in self._loaders]
        return ", ".join(["'variables' of the configuration", *loaders]) + " and the environment"

    def _outside(self, key: str) -> str | None:
        for read in self._readers:
            if value := read(key):
                return value
        return os.environ.get(key) or None

    def _filled_in(self, key: str, value: str) -> str:
        if "$" not in value:
            return value
        values: dict[str, str] = {}
        for name in variable_names({"variables": value}, lambda name: self._outside(name) is not None):
            found = self._outside(name)
            if found is None:
                raise UndefinedVariableError(
                    f"variables[{key!r}] refers to {name!r}, which neither load_variables_from nor the environment "
                    f"defines. Define {name}, or write the value itself.",
                    name,
                )
            values[name] = found
        return str(fill_in(value, values))


@dataclass(frozen=True, slots=True)
class VariableUse:
    """The variables of one template.

    Attributes:
        namespace: The name of the manual, as UTCP registers it.
        names: The variables' names as they are written in the template, sorted.
        public: Those of the names that only stand for hosts and paths, which are no secrets.
    """

    namespace: str
    names: tuple[str, ...] = ()
    public: frozenset[str] = frozenset()

    @classmethod
    def of(cls, template: Any, namespace: str, variables: Variables) -> VariableUse:
        """Find the variables of a template; nothing is read from a template without a dollar sign."""
        if not _has_dollar(template):
            return cls(namespace)
        names = variable_names(template, lambda name: variables.defined(namespaced(namespace, name)))
        return cls(namespace, tuple(sorted(names)), frozenset(names) & _public_names(template))

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that are looked up for the names."""
        return tuple(namespaced(self.namespace, name) for name in self.names)

    def values(self, variables: Variables) -> dict[str, str]:
        """The value of each name.

        Raises:
            UndefinedVariableError: Some have none; the message names every key and where it was looked for.
        """
        found = {name: variables.get(namespaced(self.namespace, name)) for name in self.names}
        missing = [name for name, value in found.items() if value is None]
        if missing:
            raise UndefinedVariableError(self._complaint(missing, variables), namespaced(self.namespace, missing[0]))
        return {name: value for name, value in found.items() if value is not None}

    def _complaint(self, missing: Sequence[str], variables: Variables) -> str:
        keys = ", ".join(repr(namespaced(self.namespace, name)) for name in missing)
        noun, verb, them = ("variable", "is", "it") if len(missing) == 1 else ("variables", "are", "them")
        sentences = [f"The {noun} {keys} {verb} not defined: looked in {variables.places}."]
        bare = [name for name in missing if variables.defined(name)]
        if bare:
            sentences.append(
                f"{', '.join(map(repr, bare))} without the manual's name does not count: the name in front keeps one "
                "manual from reading another's secrets."
            )
        elif others := [name for key in missing for name in _misspellings(self.namespace, key, variables)]:
            sentences.append(f"There is {' and '.join(map(repr, others))}, which is not the same.")
        sentences.append(
            f"Define {them} under exactly this name (the manual's name with each '_' doubled, '_', the variable)."
        )
        return " ".join(sentences)


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


def _misspellings(namespace: str, name: str, variables: Variables) -> Iterator[str]:
    """Other keys that users take for the one that is looked up, and that have a value."""
    key = namespaced(namespace, name)
    single = f"{namespace}_{name}"
    for other in dict.fromkeys((single, key.upper(), single.upper(), key.lower(), single.lower())):
        if other != key and variables.defined(other):
            yield other


def namespaced(namespace: str, name: str) -> str:
    """The key that utcp 1.2.0 looks up for a variable of a manual: `my_api` + `TOKEN` -> `my__api_TOKEN`."""
    return f"{namespace.replace('_', '__')}_{name}" if namespace else name


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
        return {key: item if key in _ARGUMENT_FIELDS else fill_in(item, values) for key, item in template.items()}
    if isinstance(template, (list, tuple)):
        return [fill_in(item, values) for item in template]
    return template


def _references(text: str) -> Iterator[re.Match[str]]:
    if "$" in text and not _JSON_REFERENCE.search(text):
        yield from _REFERENCE.finditer(text)


def _texts(value: Any, inside: str, shell: frozenset[str]) -> Iterator[tuple[str, str, frozenset[str]]]:
    """Every text of a template, the field it is inside of that changes the rule, and the shell's own names."""
    if isinstance(value, str):
        yield value, inside, shell
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key == "commands":
                yield from _texts(item, "commands", _shell_names(value))
            elif key not in _ARGUMENT_FIELDS:
                yield from _texts(item, key if key in _RULED else inside, shell)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item, inside, shell)


def _shell_names(template: Mapping[str, Any]) -> frozenset[str]:
    names = set(_SHELL_NAMES)
    for field in ("env_vars", "inherit_env_vars"):
        names.update(map(str, template.get(field) or ()))
    for text, _, _ in _texts(template.get("commands"), "", frozenset()):
        names.update(_ASSIGNMENT.findall(text))
    return frozenset(names)


def _public_names(template: Any) -> frozenset[str]:
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
            yield from _fields(str(key), item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _fields(field, item)


def _starts_a_word(text: str, match: re.Match[str]) -> bool:
    return match.start() == 0 or text[match.start() - 1].isspace()


def _has_dollar(value: Any) -> bool:
    if isinstance(value, str):
        return "$" in value
    if isinstance(value, Mapping):
        return any(map(_has_dollar, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_has_dollar, value))
