"""Names that models are shown."""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utcp_bridge.errors import ConfigError
from utcp_bridge.naming import shown_names

VALID = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]*")
any_names = st.lists(
    st.text(alphabet=st.sampled_from("ab_-. /éß工1٣"), max_size=80) | st.text(max_size=80), max_size=30
)
any_limit = st.integers(min_value=16, max_value=80)


@given(any_names, any_limit)
def test_names_are_valid_unique_and_within_the_limit(utcp_names: list[str], limit: int) -> None:
    shown = shown_names(utcp_names, limit)
    assert shown.keys() == set(utcp_names)
    assert len(set(shown.values())) == len(shown)
    assert all(VALID.fullmatch(name) and len(name) <= limit for name in shown.values())


@given(any_names, any_limit, st.randoms(use_true_random=False))
def test_order_does_not_matter(utcp_names: list[str], limit: int, random: Random) -> None:
    shuffled = list(utcp_names)
    random.shuffle(shuffled)
    assert shown_names(shuffled, limit) == shown_names(utcp_names, limit)


def _with_look_alikes(utcp_names: list[str], limit: int) -> list[str]:
    """Add tools whose own names are those that others are shown under, hash and all."""
    return [*utcp_names, *shown_names(utcp_names, limit).values()]


@given(any_names, any_limit)
def test_tools_named_like_what_others_are_shown_as_are_told_apart(utcp_names: list[str], limit: int) -> None:
    names = _with_look_alikes(_with_look_alikes(utcp_names, limit), limit)
    shown = shown_names(names, limit)
    back = {name: utcp_name for utcp_name, name in shown.items()}
    assert {utcp_name: back[name] for utcp_name, name in shown.items()} == {name: name for name in names}
    assert all(VALID.fullmatch(name) and len(name) <= limit for name in shown.values())


@given(any_names, any_names, any_limit)
def test_another_tool_renames_only_what_is_spelt_like_it(few: list[str], others: list[str], limit: int) -> None:
    before, after = shown_names(few, limit), shown_names([*few, *others], limit)
    alone = {name: shown_names([name], limit)[name] for name in {*few, *others}}
    spellings = Counter(alone.values())
    for name in set(few):
        if before[name] != after[name]:
            taken = spellings[alone[name]] > 1 or any(after[other] == before[name] for other in set(others))
            is_longer_hash = after[name].rpartition("_")[0] == before[name].rpartition("_")[0]
            assert taken or is_longer_hash, (name, before[name], after[name])


@given(any_names, any_limit)
def test_a_name_that_is_valid_and_free_is_kept(utcp_names: list[str], limit: int) -> None:
    shown = shown_names(["manual.tool", *utcp_names], limit)
    rivals = [name for name in set(utcp_names) if shown_names([name], limit)[name] == "manual_tool"]
    assert shown["manual.tool"] == "manual_tool" or set(rivals) - {"manual.tool"}


GOLDEN = {
    "m.get_weather": "m_get_weather",
    "codebase_memory.actions/add-labels": "codebase_memory_actions_add-labels",
    "m.repos/get-thing.v1": "m_repos_get-thing_v1",
    "m.a b": "m_a_b",
    "m.été": "m_ete",
    "2fa.check": "_2fa_check",
    "m.工具": "m_c07d5948",
    "foo.bar_x": "foo_bar_x_02d9f26c",
    "foo_bar.x": "foo_bar_x_bf0688ec",
    "customer_relationship_management_production."
    + "list_" * 12: "customer_relationship_management_production_list_list_l_cf77521d",
}


def test_the_scheme_is_frozen() -> None:
    """A release that changes a name breaks prompts and allow-lists, so this table only ever grows."""
    assert shown_names(GOLDEN) == GOLDEN


def test_another_colliding_name_does_not_rename_the_first() -> None:
    three = shown_names(["m.read_file", "m.read.file", "m.read file"])
    four = shown_names(["m.read_file", "m.read.file", "m.read file", "m.read/file"])
    assert three.items() <= four.items()


def test_a_limit_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ConfigError, match="at least 16"):
        shown_names(["m.a"], 15)
