"""Options: what is accepted, what is refused and with which advice, and which setting counts for a tool."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utcp_bridge.errors import ConfigError
from utcp_bridge.options import (
    Limit,
    Options,
    OptionsDict,
    split_options,
)

ACCEPTED: dict[str, list[tuple[Any, Any]]] = {
    "timeout": [(5, 5.0), (0.25, 0.25)],
    "discovery_timeout": [(5, 5.0)],
    "timeouts": [({}, {}), ({"m.t": 2, "m": 0.5}, {"m.t": 2.0, "m": 0.5})],
    "include": [("m.*", ("m.*",)), (["a", "b"], ("a", "b")), (("a",), ("a",)), ({"b", "a"}, ("a", "b")), ([], ())],
    "exclude": [("m.*", ("m.*",)), (["a", "b"], ("a", "b"))],
    "tags": [("news", ("news",)), (["a"], ("a",))],
    "read_only": [(True, True), (False, False)],
    "on_failure": [("skip", "skip"), ("raise", "raise")],
    "on_tool_error": [("return", "return"), ("raise", "raise")],
    "max_chars": [(1, 1), (None, None), ({"m.*": None, "m.t": 10}, {"m.*": None, "m.t": 10})],
    "max_name_length": [(16, 16), (128, 128)],
    "repair": [(True, True), (False, False)],
    "provider": [("openai", "openai"), ("gemini", "gemini"), (None, None)],
    "max_schema_bytes": [(200, 200), (None, None)],
    "allow_http_hosts": [("192.168.1.*", ("192.168.1.*",)), (["a.local", "b:81"], ("a.local", "b:81"))],
    "trust_env": [(True, True)],
    "max_reply_bytes": [(1, 1)],
    "upload_dir": [(None, None), (".", Path())],
}
NUMBERS = [0, -1, math.nan, math.inf, -math.inf, True, "30", None, [30], 10**10]
REFUSED: dict[str, list[Any]] = {
    "timeout": NUMBERS,
    "discovery_timeout": NUMBERS,
    "timeouts": [None, 30, "30", [("m", 1)], {"": 1}, {1: 1}, *({"m": number} for number in NUMBERS)],
    "include": [None, 1, True, "", [""], [1], {"a": 1}, [None]],
    "exclude": [None, 1, "", [["a"]]],
    "tags": [None, 1, "", [1]],
    "read_only": [1, 0, "true", None],
    "on_failure": ["Skip", "", None, True, ["skip"]],
    "on_tool_error": ["returns", None, 1],
    "max_chars": [0, -1, 1.5, True, "40000", math.inf, {"m": 0}, {"m": "1"}, {1: 1}, [1]],
    "max_name_length": [15, 0, 64.0, True, "64", None],
    "repair": [1, "yes", None],
    "provider": ["OpenAI", "mistral", 1, True],
    "max_schema_bytes": [0, 199, 1.5, True, "16000"],
    "allow_http_hosts": [3, [""], None],
    "trust_env": [1, "yes", None],
    "max_reply_bytes": [0, 1.5, True, None],
    "upload_dir": [3, "no/such/folder"],
}


def test_the_keyword_arguments_are_the_options() -> None:
    options = {option.name for option in dataclasses.fields(Options)}
    assert OptionsDict.__annotations__.keys() == options
    assert ACCEPTED.keys() == REFUSED.keys() == options
    assert OptionsDict.__required_keys__ == frozenset()
    given_as, held_as = get_type_hints(OptionsDict), get_type_hints(Options)
    same = options - {"include", "exclude", "tags", "allow_http_hosts", "upload_dir"}
    assert {name: given_as[name] for name in same} == {name: held_as[name] for name in same}


def test_nothing_given_means_the_documented_defaults() -> None:
    assert Options.parse({}) == Options()
    options = Options()
    assert (options.timeout, options.discovery_timeout, options.max_chars) == (30, 30, 40_000)
    assert (options.on_failure, options.on_tool_error, options.max_name_length) == ("skip", "return", 64)


@pytest.mark.parametrize(
    ("name", "value", "held"), [(name, *case) for name, cases in ACCEPTED.items() for case in cases]
)
def test_every_accepted_value_is_held(name: str, value: Any, held: Any) -> None:
    found = getattr(Options.parse({name: value}), name)
    assert found == held
    assert type(found) is type(held)


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, cases in REFUSED.items() for value in cases])
def test_every_other_value_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"^{name}.*: expected .*, got ") as caught:
        Options.parse({name: value})
    assert len(str(caught.value)) < 200


def test_a_refused_value_of_a_mapping_names_its_key() -> None:
    with pytest.raises(ConfigError, match=r"^timeouts\['weather\.\*'\]: expected a number of seconds above 0"):
        Options.parse({"timeouts": {"weather.*": "5"}})


def test_a_long_value_is_cut_in_the_message() -> None:
    with pytest.raises(ConfigError) as caught:
        Options.parse({"on_failure": "x" * 10_000})
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("key", "nearest"), [("timout", "timeout"), ("max_char", "max_chars"), ("tag", "tags"), ("on_fail", "on_failure")]
)
def test_an_unknown_option_is_refused_with_the_nearest_one(key: str, nearest: str) -> None:
    with pytest.raises(ConfigError, match=f"Unknown option '{key}'. Did you mean '{nearest}'"):
        Options.parse({"timeout": 3, key: 1})


@pytest.mark.parametrize("key", ["zzz", "", 7])
def test_an_unknown_option_that_is_near_to_none_is_refused_with_all(key: Any) -> None:
    with pytest.raises(ConfigError, match=r"The options are timeout, .*upload_dir\."):
        Options.parse({key: 1})


def test_what_was_given_can_change_later_without_effect() -> None:
    timeouts = {"m": 1.0}
    options = Options.parse({"timeouts": timeouts})
    timeouts["m"] = 2.0
    assert options.timeouts == {"m": 1.0}


class TestLimits:
    @pytest.mark.parametrize(
        ("timeouts", "key"),
        [
            ({"weather.get": 1, "weather.*": 2, "weather": 3, "*": 4}, "weather.get"),
            ({"*": 4, "weather": 3, "weather.*": 2, "weather_get": 1}, "weather_get"),
            ({"weather": 3, "weather.*": 2, "*": 4}, "weather.*"),
            ({"weather": 3, "*.get": 2}, "*.get"),
            ({"weather": 3, "weather_g*": 2}, "weather_g*"),
            ({"weather": 3, "*": 4, "wea*": 5}, "weather"),
            ({"*": 4, "wea*": 5}, "wea*"),
            ({"weather.*": 1, "weather.g*": 2, "*.*": 3}, "weather.g*"),
            ({"weather.ge[a-z]": 1, "weather.*": 2}, "weather.ge[a-z]"),
            ({"news": 1, "weather.set": 2, "WEATHER": 3, "get": 4}, None),
            ({}, None),
        ],
    )
    def test_the_most_specific_one_holds_and_says_so(self, timeouts: dict[str, float], key: str | None) -> None:
        options = Options.parse({"timeout": 9, "timeouts": timeouts})
        expected = Limit(9.0, "timeout") if key is None else Limit(float(timeouts[key]), f"timeouts[{key!r}]")
        assert options.timeout_for("weather.get", "weather_get") == expected
        backwards = Options.parse({"timeout": 9, "timeouts": dict(reversed(timeouts.items()))})
        assert backwards.timeout_for("weather.get", "weather_get") == expected

    @pytest.mark.parametrize(
        "key", ["my-tools", "my_tools", "my-tools.a-b", "my_tools.a-b", "my-tools.*", "my?tools.a*"]
    )
    def test_a_manual_may_be_written_as_in_its_configuration(self, key: str) -> None:
        options = Options.parse({"timeouts": {key: 1}, "include": key, "max_chars": {key: 5}})
        assert options.timeout_for("my_tools.a-b", "my_tools_a-b").seconds == 1
        assert options.max_chars_for("my_tools.a-b", "my_tools_a-b") == 5
        assert options.selects("my_tools.a-b", (), False)

    def test_a_name_that_looks_like_a_glob_still_names_its_tool(self) -> None:
        options = Options.parse({"timeouts": {"m.list[0]": 1}, "exclude": "m.list[0]"})
        assert options.timeout_for("m.list[0]", "m_list_0").seconds == 1
        assert not options.selects("m.list[0]", (), False)

    def test_of_characters_hold_for_all_for_some_or_never(self) -> None:
        assert Options().max_chars_for("m.t", "m_t") == 40_000
        assert Options.parse({"max_chars": 7}).max_chars_for("m.t", "m_t") == 7
        assert Options.parse({"max_chars": None}).max_chars_for("m.t", "m_t") is None
        some = Options.parse({"max_chars": {"m.read": None, "m": 7}})
        assert [some.max_chars_for(name, "") for name in ("m.read", "m.t", "other.t")] == [None, 7, 40_000]
        assert Options.parse({"max_chars": {"*": 5}}).max_chars_for("m.t", "m_t") == 5


class TestSelection:
    @pytest.mark.parametrize(
        ("options", "selected"),
        [
            ({}, ["gh.list", "gh.delete", "news.list"]),
            ({"include": "gh.*"}, ["gh.list", "gh.delete"]),
            ({"include": "gh"}, ["gh.list", "gh.delete"]),
            ({"include": ["*.list"]}, ["gh.list", "news.list"]),
            ({"include": "GH.*"}, []),
            ({"include": ["gh.*", "news.*"], "exclude": "*.delete"}, ["gh.list", "news.list"]),
            ({"include": "gh.delete", "exclude": ["gh"]}, []),
            ({"exclude": "gh.[!d]*"}, ["gh.delete", "news.list"]),
            ({"tags": "Code"}, ["gh.list", "gh.delete"]),
            ({"tags": ["press", "nothing"]}, ["news.list"]),
            ({"read_only": True}, ["gh.list", "news.list"]),
            ({"read_only": True, "tags": ["code"], "exclude": "news"}, ["gh.list"]),
        ],
    )
    def test_by_name_tag_and_effect(self, options: dict[str, Any], selected: list[str]) -> None:
        tools = [("gh.list", ("code",), True), ("gh.delete", ("code", "x"), False), ("news.list", ("press",), True)]
        parsed = Options.parse(options)
        assert [tool[0] for tool in tools if parsed.selects(*tool)] == selected


class TestHosts:
    def test_keys_of_the_host_and_notes_pass_and_mistakes_are_warned_of(self) -> None:
        config = {"utcp_config": {}, "toolbox_id": "b", "x-note": 1, "timeout": 3, "timout": 4, "colour": 5}
        options, warnings = split_options(config, {"utcp_config", "toolbox_id"})
        assert options == {"timeout": 3}
        assert len(warnings) == 2
        assert "'timout'" in warnings[0]
        assert "Did you mean 'timeout'?" in warnings[0]
        assert "'colour'" in warnings[1]

    def test_values_are_left_to_parse(self) -> None:
        assert split_options({"timeout": "wrong"}) == ({"timeout": "wrong"}, ())

    @given(st.dictionaries(st.text() | st.sampled_from(sorted(ACCEPTED)), st.integers()))
    def test_every_key_is_an_option_the_hosts_or_warned_of(self, config: dict[str, Any]) -> None:
        options, warnings = split_options(config)
        assert options.keys() <= ACCEPTED.keys()
        assert len(options) + len(warnings) == len([key for key in config if not key.startswith("x-")])


def test_patterns_that_fit_no_tool_are_named() -> None:
    options = Options.parse({"include": ["m.get_*", "m.gte_*", "n"], "exclude": ["m.get_secret", "o.*"]})
    names = ["m.get_weather", "m.get_secret", "n.x"]
    assert options.dead_patterns(names) == ("include: 'm.gte_*'", "exclude: 'o.*'")
    assert options.dead_patterns(iter(names)) == options.dead_patterns(names)


def test_null_in_a_hosts_configuration_counts_as_not_given() -> None:
    given, warnings = split_options({"timeout": None, "include": None, "read_only": None, "max_chars": None})
    assert (given, warnings) == ({"max_chars": None}, ())
    assert Options.parse(given).max_chars is None
