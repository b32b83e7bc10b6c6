"""Placeholders of CLI commands: whatever surrounds one, its value stays one literal word."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from utcp_cli.cli_call_template import CliCallTemplate, CommandStep

from utcp_bridge.errors import ToolArgumentsError, ToolExecutionError
from utcp_bridge.transports.cli.placeholders import PLACEHOLDER, Place, find_placeholders
from utcp_bridge.transports.cli.protocol import CliProtocol

X = "UTCP_ARG_x_UTCP_END"

# Each prints the value between < and >, once for every word that it became.
CONTEXTS = {
    "bare": f"printf '<%s>' {X}",
    "in double quotes": f"printf '<%s>' \"{X}\"",
    "in single quotes": f"printf '<%s>' '{X}'",
    "in ANSI quotes": f"printf '<%s>' $'{X}'",
    "after an escaped quote in ANSI quotes": f"printf '%.0s<%s>' $'it\\'s' {X}",
    "after an escaped quote in double quotes": f'printf \'%.0s<%s>\' "a \\" b" {X}',
    "after an escaped quote": f"printf '%.0s<%s>' it\\'s {X}",
    "after quotes that join": f"printf '%.0s<%s>' 'it'\\''s' {X}",
    "in a substitution without quotes": f"exec 4>&1; : $(printf '<%s>' {X} >&4)",
    "in a substitution in double quotes": f"printf '<%s>' \"$(printf '%s' {X})\"",
    "in double quotes in a substitution in double quotes": f"printf '<%s>' \"$(printf '%s' \"{X}\")\"",
    "in single quotes in a substitution in double quotes": f"printf '<%s>' \"$(printf '%s' '{X}')\"",
    "in backticks": f"printf '<%s>' \"`printf '%s' {X}`\"",
    "two substitutions deep": f'printf "<%s>" "$(printf "%s" "$(printf "%s" {X})")"',
    "after a case in a substitution": f"printf '<%s>' \"$(case a in a) printf '%s' {X};; esac)\"",
    "after a parenthesised case": f"printf '<%s>' \"$(case a in (a) printf '%s' {X};; esac)\"",
    "after a word that is no case": f'printf "%.0s<%s>" "$(echo case)" {X}',
    "in a process substitution": f"printf '<%s>' \"$(cat <(printf '%s' {X}))\"",
    "in a here-document": f"printf '<'; head -c -1 <<EOF\n{X}\nEOF\nprintf '>'",
    "in an indented here-document": f"printf '<'; head -c -1 <<-EOF\n{X}\n\tEOF\nprintf '>'",
    "after a here-document with an apostrophe": f"cat <<EOF >/dev/null\nit's\nEOF\nprintf '<%s>' {X}",
    "after a literal here-document": f"cat <<'EOF' >/dev/null\nit's \"\nEOF\nprintf '<%s>' {X}",
    "in a here-document in a substitution": f'printf "<%s>" "$(cat <<EOF\n{X}\nEOF\n)"',
    "in a substitution in a here-document": f"printf '<'; head -c -1 <<EOF\n$(printf '%s' {X})\nEOF\nprintf '>'",
    "in a here-string": f"printf '<'; head -c -1 <<< {X}; printf '>'",
    "as a default": f"printf '<%s>' ${{nothing:-{X}}}",
    "as a quoted default": f"printf '<%s>' \"${{nothing:-{X}}}\"",
    "as a default that is quoted itself": f"printf '<%s>' ${{nothing:-\"{X}\"}}",
    "assigned": f"v={X}; printf '<%s>' \"$v\"",
    "exported": f"export v={X}; printf '<%s>' \"$v\"",
    "in an array": f"a=({X}); printf '<%s>' \"${{a[@]}}\"",
    "in a loop": f"for v in {X}; do printf '<%s>' \"$v\"; done",
    "in an arithmetic loop": f"for ((i = 0; i < 1; i++)); do printf '<%s>' {X}; done",
    "after arithmetic": f"n=$((2 * (3 + 1))); ((n == 8)) && printf '<%s>' {X}",
    "after two subshells that look like arithmetic": f"((true); true) && printf '<%s>' {X}",
    "in two subshells that look like arithmetic": f"printf '<%s>' \"$((printf '%s' {X}) | cat)\"",
    "in a function": f"f() {{ printf '<%s>' {X}; }}; f",
    "in a subshell": f"(printf '<%s>' {X})",
    "in a group": f"{{ printf '<%s>' {X}; }}",
    "in a condition": f"if [[ {X} == {X} && -n 1 ]]; then printf '<%s>' {X}; fi",
    "beside a comparison of numbers": f"if [[ {X} == {X} && 2 -gt 1 ]]; then printf '<%s>' {X}; fi",
    "in a case": f"case {X} in {X}) printf '<%s>' {X};; esac",
    "as a pattern": f"v={X}z; v=${{v%z}}; printf '%s<%s>' \"${{v#{X}}}\" {X}",
    "after a comment": f"# it's \"\nprintf '<%s>' {X}",
    "before a comment": f"printf '<%s>' {X} # it's \"",
    "after a hash that begins no comment": f"v=a#\\'; : $# ${{#v}}; printf '<%s>' {X}",
    "after a redirection": f"echo a >/dev/null 2>&1; printf '<%s>' {X}",
    "in a shell of its own": f'bash -c \'printf "<%s>" "$1"\' _ {X}',
}

VALUES = [
    "plain",
    "",
    "two  words",
    " outer ",
    "*",
    "[a-z]*",
    "~",
    "{a,b}",
    "-n",
    "--help",
    "%s%d",
    "!!",
    "#c",
    "a\nb",
    "\ta",
    "'",
    '"',
    "\\",
    "\\n\\'",
    "$HOME ${HOME}",
    "EOF",
    "é漢🎉",
    "UTCP_ARG_y_UTCP_END",
    "; touch pwned",
    "$(touch pwned)",
    "`touch pwned`",
    "'; touch pwned; '",
    '"; touch pwned; "',
    '"$(touch pwned)"',
    "\n touch pwned\n#",
    "a[$(touch pwned)]",
    "&& touch pwned",
    "| touch pwned",
    ") touch pwned (",
    "}; touch pwned",
    ";; esac; touch pwned",
]


def files_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def run(command: str, directory: Path, **arguments: object) -> object:
    template = CliCallTemplate(name="m", commands=[CommandStep(command=command)], working_dir=str(directory))
    return await CliProtocol().call_tool(None, "m.t", arguments, template)


@pytest.mark.parametrize("command", CONTEXTS.values(), ids=CONTEXTS.keys())
async def test_a_value_stays_one_literal_word(command: str, tmp_path: Path) -> None:
    values = {f"x{index}": value for index, value in enumerate(VALUES)}
    commands = "\n".join(command.replace(X, f"UTCP_ARG_{name}_UTCP_END") for name in values)
    assert await run(commands, tmp_path, **values) == "".join(f"<{value}>" for value in VALUES)
    assert files_in(tmp_path) == []


EVALUATED = {
    "arithmetic": (f"echo $(({X} + 1))", 3),
    "quoted arithmetic": (f'echo "$((1 + {X}))"', 3),
    "arithmetic with quotes inside": (f'echo $(("{X}" + 1))', 3),
    "old arithmetic": (f"echo $[{X} + 1]", 3),
    "an arithmetic command": (f"((n = {X} + 1)); echo $n", 3),
    "an arithmetic loop": (f"for ((i = 0; i < {X}; i++)); do n=$i; done; echo $n", 1),
    "arithmetic beside a substitution": (f"echo $(($(echo 1) + {X}))", 3),
    "a comparison of numbers": (f"[[ {X} -eq 2 ]]; echo $?", 0),
    "a quoted comparison of numbers": (f'[[ -n 1 && 1 -lt "{X}" ]]; echo $?', 0),
    "an index": (f"a=(1 2 3); echo ${{a[{X}]}}", 3),
    "an index of an assignment": (f"a[{X}]=7; echo ${{a[2]}}", 7),
    "an offset": (f"v=12345; echo ${{v:{X}:1}}", 3),
}


@pytest.mark.parametrize(("command", "result"), EVALUATED.values(), ids=EVALUATED.keys())
async def test_where_the_shell_calculates_only_a_number_is_taken(command: str, result: object, tmp_path: Path) -> None:
    assert await run(command, tmp_path, x=2) == result
    assert await run(command, tmp_path, x="2") == result
    for value in ("a[$(touch pwned)]", "$(touch pwned)", "HOME", "1;touch pwned", "x=1"):
        with pytest.raises(ToolArgumentsError, match="'x' must be a number"):
            await run(command, tmp_path, x=value)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize("command", [f"cat <<'EOF'\n{X}\nEOF", f"cat <<\\EOF\n{X}\nEOF", f"echo ${{{X}}}"])
async def test_a_placeholder_that_no_shell_fills_in_is_an_error_of_the_tool(command: str, tmp_path: Path) -> None:
    with pytest.raises(ToolExecutionError, match="its author must move it"):
        await run(command, tmp_path, x="value")


WRAPPERS: list[Callable[[str], str]] = [
    lambda word: f"\"$(printf '%s' {word})\"",
    lambda word: f'"$(: "it\'s"; printf \'%s\' {word})"',
    lambda word: f'"$(: \'a "b\'; printf "%s" {word})"',
    lambda word: f"\"$(case a in b) :;; a) printf '%s' {word};; esac)\"",
    lambda word: f"\"$((printf '%s' {word}) | cat)\"",
    lambda word: f"\"$(if [[ 1 -lt 2 ]]; then printf '%s' {word}; fi)\"",
    lambda word: f"\"$(# don't\nprintf '%s' {word})\"",
    lambda word: f'"$(v={word}; printf "%s" "${{v}}")"',
    lambda word: f'"$(cat <<A{len(word)}\n$(printf "%s" {word})\nA{len(word)}\n)"',
    lambda word: f'"${{nothing:-{word}}}"',
    lambda word: f"\"$(cat <(printf '%s' {word}))\"",
]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(WRAPPERS), max_size=4), st.sampled_from(["a  *", '"; touch pwned; "', "'$(id)"]))
async def test_a_value_stays_one_literal_word_however_deep_it_is_nested(
    wrappers: list[Callable[[str], str]], value: str
) -> None:
    word = X
    for wrapper in wrappers:
        word = wrapper(word)
    assert await run(f"printf '<%s>' {word}", Path("/"), x=value) == f"<{value}>"


@given(st.text(alphabet="ab \n\t'\"`$(){}[]<>#\\;&|=-!:EOF" + X[:3], max_size=60), st.text(max_size=3))
def test_any_text_can_be_searched(before: str, after: str) -> None:
    command = before + X + after
    for found in find_placeholders(command):
        match = PLACEHOLDER.fullmatch(command, found.start, found.end)
        assert match is not None
        assert match[1] == found.name


def test_placeholders_are_found_in_order_with_what_surrounds_them() -> None:
    command = "UTCP_ARG_a_UTCP_END \"UTCP_ARG_b_UTCP_END\" 'UTCP_ARG_c_UTCP_END' $'UTCP_ARG_a_UTCP_END'"
    assert [(found.name, found.place) for found in find_placeholders(command)] == [
        ("a", Place.WORD),
        ("b", Place.DOUBLE),
        ("c", Place.SINGLE),
        ("a", Place.ANSI),
    ]


@pytest.mark.parametrize(
    "name", ["a", "a_b", "a_", "_", "2fa", "user-id", "Serial Number", "a.b", "filter[name]", "été"]
)
async def test_any_name_of_an_argument_can_be_a_placeholder(name: str, tmp_path: Path) -> None:
    assert await run(f"printf '<%s>' UTCP_ARG_{name}_UTCP_END", tmp_path, **{name: "v"}) == "<v>"


async def test_names_that_differ_in_punctuation_are_kept_apart(tmp_path: Path) -> None:
    names = {"user-id": "1", "user_id": "2", "user id": "3"}
    command = "echo " + " ".join(f"UTCP_ARG_{name}_UTCP_END" for name in names)
    assert await run(command, tmp_path, **names) == "1 2 3"


async def test_an_unfinished_mark_is_text(tmp_path: Path) -> None:
    assert await run(f"echo UTCP_ARG_ {X} _UTCP_END", tmp_path, x="v") == "UTCP_ARG_ v _UTCP_END"
