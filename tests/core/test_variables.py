"""Which dollar sign is a variable, where its value comes from, and what is said when it has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from utcp_bridge.transports.variable_values import UndefinedVariableError, Variables, VariableUse
from utcp_bridge.transports.variables import fill_in


class DictLoader:
    """A variable loader like those of `load_variables_from`."""

    variable_loader_type = "dict"

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values

    def get(self, key: str) -> str | None:
        return self._values.get(key)


def _filled(template: Any, manual: str = "m", **variables: str) -> Any:
    source = Variables(variables, ())
    use = VariableUse.of(template, manual, source)
    return fill_in(template, use.values(source))


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("${TOKEN}", "t"),
        ("$TOKEN", "t"),
        ("Bearer $TOKEN", "Bearer t"),
        ("a${TOKEN}b$TOKEN/c", "atbt/c"),
        ("${lower}", "l"),
        ("$lower", "l"),
    ],
)
def test_a_defined_variable_is_filled_in(text: str, filled: str) -> None:
    assert _filled({"url": text}, m_TOKEN="t", m_lower="l") == {"url": filled}  # noqa: S106 - no secret


@pytest.mark.parametrize(
    "text",
    [
        "https://h/users/$count",
        "https://h/odata?$top=5&$filter=a",
        "$1 $12",
        "$$",
        "pa$$WORD",
        "cost: 5$",
        "$(date)",
        "${not-a-name}",
        "${1}",
        "$CMD_0_OUTPUT",
        "${CMD_12_OUTPUT}",
        '{"$ref": "#/$defs/A", "key": "$TOKEN"}',
    ],
)
def test_what_is_no_variable_stays_as_it_is(text: str) -> None:
    assert _filled({"url": text, "commands": [{"command": text}]}) == {"url": text, "commands": [{"command": text}]}


@pytest.mark.parametrize("text", ["${TOKEN}", "$TOKEN", "x${token}y"])
def test_an_undefined_variable_names_the_key_and_the_places(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "of-another-manual")
    source = Variables({}, [DictLoader({})])
    use = VariableUse.of({"url": text}, "my_api", source)
    with pytest.raises(UndefinedVariableError) as caught:
        use.values(source)
    message = str(caught.value)
    assert caught.value.variable_name in {"my__api_TOKEN", "my__api_token"}
    assert repr(caught.value.variable_name) in message
    assert "'variables' of the configuration" in message
    assert "'dict' loader" in message
    assert "environment" in message
    assert "of-another-manual" not in message


def test_the_bare_name_is_never_used_and_the_message_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "of-another-manual")
    with pytest.raises(UndefinedVariableError, match="'TOKEN' without the manual's name does not count"):
        _filled({"url": "${TOKEN}"}, "my_api", TOKEN="no")  # noqa: S106 - no secret


def test_every_undefined_variable_is_named_at_once() -> None:
    with pytest.raises(UndefinedVariableError, match=r"'m_A', 'm_B' are not defined"):
        _filled({"headers": {"a": "$A", "b": ["${B}"]}})


@pytest.mark.parametrize("field", ["auth", "auth_tools", "headers"])
def test_in_credentials_every_name_is_a_variable(field: str) -> None:
    assert _filled({field: {"api_key": "$my_key"}}, m_my_key="k") == {field: {"api_key": "k"}}
    with pytest.raises(UndefinedVariableError, match="m_my_key"):
        _filled({field: {"api_key": "$my_key"}})


@pytest.mark.parametrize(
    "template",
    [
        {"commands": [{"command": "echo $HOME ${PATH} ${HOME:-x}"}]},
        {"commands": [{"command": "echo ${API_KEY}"}], "env_vars": {"API_KEY": "k"}},
        {"commands": [{"command": "echo ${GIVEN}"}], "inherit_env_vars": ["GIVEN"]},
        {"commands": [{"command": "NAME=$(whoami); export B=2"}, {"command": "echo ${NAME} ${B} $UNKNOWN"}]},
        {"commands": [{"command": 'for ITEM in 1 2; do echo "${ITEM}"; done'}]},
    ],
)
def test_the_shells_own_variables_stay_in_commands(template: dict[str, Any]) -> None:
    assert _filled(template) == template


def test_a_variable_of_the_configuration_wins_in_a_command() -> None:
    template = {"commands": [{"command": "login $TOKEN && cat $CMD_0_OUTPUT"}]}
    assert _filled(template, m_TOKEN="t") == {"commands": [{"command": "login t && cat $CMD_0_OUTPUT"}]}  # noqa: S106


def test_an_undefined_braced_variable_in_a_command_is_an_error() -> None:
    with pytest.raises(UndefinedVariableError, match="m_TOKEN"):
        _filled({"commands": [{"command": "login ${TOKEN}"}]})


def test_names_of_arguments_are_no_variables() -> None:
    template = {"header_fields": ["$FIRST"], "body_field": "$BODY", "parameters": [{"name": "$TOP"}]}
    assert _filled(template, m_FIRST="x") == template


def test_values_come_from_variables_then_loaders_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for key in ("m_A", "m_B", "m_C"):
        monkeypatch.setenv(key, "environment")
    source = Variables({"m_A": "variables"}, [DictLoader({"m_A": "loader", "m_B": "loader"})])
    assert [source.get(key) for key in ("m_A", "m_B", "m_C")] == ["variables", "loader", "environment"]


def test_a_value_that_looks_like_a_variable_is_not_filled_in_again() -> None:
    assert _filled({"url": "$A"}, m_A="pa$$B ${C}".replace("${C}", "")) == {"url": "pa$$B "}


def test_a_variable_may_refer_to_the_environment_without_a_namespace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMAPPED", "r")
    assert _filled({"url": "$A"}, m_A="$REMAPPED") == {"url": "r"}
    for value in ("${NOWHERE}", "$NOWHERE", "Bearer $NOWHERE", "x${NOWHERE}"):
        with pytest.raises(UndefinedVariableError, match=r"variables\['m_A'\] refers to 'NOWHERE'"):
            _filled({"url": "$A"}, m_A=value)


@pytest.mark.parametrize("password", ["pa$WORD-1", "pa$$WORD", "$1abc", "a$b", "$", "pa$word"])
def test_a_password_with_a_dollar_sign_is_taken_as_it_is(password: str) -> None:
    assert _filled({"auth": {"password": "${A}"}}, m_A=password) == {"auth": {"password": password}}


def test_a_host_is_no_secret_and_everything_else_is() -> None:
    template = {"url": "https://${HOST}:${PORT}/bot${TOKEN}/x?key=${KEY}", "headers": {"X": "${NAME}"}}
    use = VariableUse.of(template, "m", Variables({}, ()))
    assert use.public == {"HOST", "PORT"}
    shared = {"url": "https://${A}/", "headers": {"X": "${A}"}}
    assert VariableUse.of(shared, "m", Variables({}, ())).public == frozenset()
