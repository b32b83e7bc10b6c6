"""Where variables get their values, and what to say if one has none; which `$` is a variable is said in `variables`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from utcp_bridge.transports.variable_loaders import Loader, described, reader
from utcp_bridge.transports.variables import fill_in, has_dollar, public_names, variable_names

# Keys of a call template under which no argument of a tool can stand.
_CREDENTIALS = frozenset({"auth", "auth_tools"})

_NOTHING_KNOWN: Mapping[str, str] = MappingProxyType({})


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
        arguments: Those of the names that are arguments of the tool too, but stand where no argument can.
        undeclared: Those of the names that may be meant as arguments, but are none that the tool declares.
        descriptions: What variables of the manual take, by name, as far as it says so.
    """

    namespace: str
    names: tuple[str, ...] = ()
    public: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    undeclared: frozenset[str] = frozenset()
    descriptions: Mapping[str, str] = field(default_factory=lambda: _NOTHING_KNOWN, repr=False)

    @classmethod
    def of(
        cls,
        template: Any,
        namespace: str,
        variables: Variables,
        *,
        arguments: Callable[[], Collection[str]] | None = None,
        descriptions: Mapping[str, str] | None = None,
    ) -> VariableUse:
        """Find the variables of a template; nothing is read from a template without a dollar sign.

        Args:
            template: A JSON value; that of a tool is an object.
            namespace: The name of the manual.
            variables: Tells which are defined.
            arguments: Gives the arguments of the tool that the template belongs to, and is asked only where there are
                variables; default None, it is no tool's.
            descriptions: What variables of the manual take, by name; default None, nothing is known.
        """
        if not has_dollar(template):
            return cls(namespace)

        def is_defined(name: str) -> bool:
            return variables.defined(namespaced(namespace, name))

        names = frozenset(variable_names(template, is_defined))
        if not names:
            return cls(namespace)
        declared: frozenset[str] = frozenset()
        undeclared: frozenset[str] = frozenset()
        if arguments is not None:
            declared = frozenset(arguments())
            open_to_arguments = {key: item for key, item in template.items() if key not in _CREDENTIALS}
            # UTCP's documents write variables in capitals.
            meant = {name for name in variable_names(open_to_arguments, is_defined) if not name.isupper()}
            undeclared = frozenset(meant) - declared
        public = names & public_names(template)
        return cls(
            namespace, tuple(sorted(names)), public, names & declared, undeclared, descriptions or _NOTHING_KNOWN
        )

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
        sentences += [
            f"{namespaced(self.namespace, name)!r} takes {self.descriptions[name].rstrip('.')}."
            for name in missing
            if name in self.descriptions
        ]
        if mistaken := sorted(self.arguments.intersection(missing)):
            names = ", ".join(f"'${{{name}}}'" for name in mistaken)
            sentences.append(f"The tool has arguments of that name ({names}), but none can stand there.")
        if meant := sorted(self.undeclared.intersection(missing)):
            names = ", ".join(f"'${{{name}}}'" for name in meant)
            sentences.append(
                f"The tool declares no argument of that name ({names}); if one is meant, its 'inputs' must list it."
            )
        return " ".join(sentences)


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
