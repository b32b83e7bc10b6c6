"""Placeholders of CLI commands: whatever surrounds one, its value stays one literal word."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from utcp_cli.cli_call_template import CliCallTemplate, CommandStep

from utcp_bridge.errors import ToolArgumentsError, ToolExecutionError
from utcp_bridge.transports.cli.placeholders import PLACEHOLDER, Demand, Place, find_placeholders
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
    "in quotes with a backslash in backticks": f"printf '<%s>' \"`printf '%s' \\\"{X}\\\"`\"",
    "in a substitution with a backslash in backticks": (
        f"printf '<%s>' \"`printf '%s' \\\"\\$(printf '%s' {X})\\\"`\""
    ),
    "in backticks in backticks": f"printf '<%s>' \"`v=\\`printf '%s' {X}\\`; printf '%s' \\\"\\$v\\\"`\"",
    "after a comment in backticks": f"printf '%.0s<%s>' `echo a # it's` {X}",
    "after the number of the shell": f"printf '%.0s<%s>' $$'a\\' {X}",
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
    "as a default in a substitution in a here-document": (
        f"printf '<'; head -c -1 <<EOF\n$(printf '%s' ${{nothing:-{X}}})\nEOF\nprintf '>'"
    ),
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
    "set as an argument": f"set -- {X}; printf '<%s>' \"$1\"",
    "declared": f"declare v={X}; printf '<%s>' \"$v\"",
    "declared in a function": f"f() {{ local v={X}; printf '<%s>' \"$v\"; }}; f",
    "printed into a variable": f"printf -v v %s {X}; printf '<%s>' \"$v\"",
    "read into a variable": f"IFS= read -r -d '' v <<< {X}; printf '<%s>' \"${{v%?}}\"",
    "read into an array": f"mapfile -t -d '' v < <(printf '%s\\0' {X}); printf '<%s>' \"${{v[0]}}\"",
    "in an associative array": f"declare -A m=([k]={X}); printf '<%s>' \"${{m[k]}}\"",
    "as the key of a list": f'declare -A m=([k{X}]=1); for v in "${{!m[@]}}"; do printf \'<%s>\' "${{v#k}}"; done',
    "as a key": f"declare -A m=(); m[k{X}]={X}; printf '<%s>' \"${{m[k{X}]}}\"",
    "as a key with spaces": (
        f'declare -A m=(); m[ k {X} ]=1; for v in "${{!m[@]}}"; do v=${{v# k }}; printf \'<%s>\' "${{v% }}"; done'
    ),
    "after a key with spaces": f"declare -A m=([a b]={X}); printf '<%s>' \"${{m[a b]}}\"",
    "assigned as a default": f"unset v; printf '<%s>' \"${{v:={X}}}\"; unset v",
    "in a loop over all arguments": f"set -- a; for v do printf '<%s>' {X}; done",
    "in an arithmetic loop with braces": f"for ((i = 0; i < 1; i++)) {{ printf '<%s>' {X}; }}",
    "in an array of a command": f"v=(let {X} test -v {X}); printf '<%s>' \"${{v[1]}}\"",
    "in an array over several lines": f"v=(\n  export # it's\n  {X}\n)\nprintf '<%s>' \"${{v[1]}}\"",
    "after the name of a builtin that is a word": f"for v in let {X}; do :; done; printf '<%s>' \"$v\"",
    "compared": f"[ {X} = {X} ] && test -n a{X} -a ! {X} = -v && printf '<%s>' {X}",
    "compared with the name of a builtin": f"[[ a && let != {X} || {X} = {X} ]] && printf '<%s>' {X}",
    "run by a trap": f"(trap 'printf \"<%s>\" {X}' EXIT)",
    "quoted and run by a trap": f'(trap \'printf "<%s>" "{X}"; : \' EXIT)',
    "in a substitution that a trap runs": f'(trap \'printf "<%s>" "$(printf %s {X})"\' EXIT)',
    "beside a trap that is taken back": f"trap - EXIT; printf '<%s>' {X}",
    "a format that is told apart from options": f"printf -- '<%s>' {X}",
    "after lines that go on": f"true \\\n&&\\\nprintf \\\n'<%s>' \\\n{X}",
    "a setting of another program": f'MODE={X} bash -c \'printf "<%s>" "$MODE"\'',
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
    "an arithmetic loop without spaces": (f"for((i=0;i<{X};i++));do n=$i;done;echo $n", 1),
    "an arithmetic condition without spaces": (f"if(({X}==2)); then echo yes; fi", "yes"),
    "an arithmetic condition of a loop": (f"while(({X}>9)); do :; done; until(({X})); do :; done; echo yes", "yes"),
    "an arithmetic condition after !": (f"!(({X}==3)) && echo yes", "yes"),
    "arithmetic after other words": (
        f"if true; then(({X}));else(({X}));fi; time(({X})); {{ (({X}));}}; echo yes",
        "yes",
    ),
    "a comparison that is timed": (f"time -p [[ {X} -eq 2 ]]; echo $?", 0),
    "let that is timed": (f"time -- let n={X}; echo $n", 2),
    "a comparison in a coprocess": (f"coproc [[ {X} -eq 2 ]]; wait $!; echo $?", 0),
    "arithmetic beside a substitution": (f"echo $(($(echo 1) + {X}))", 3),
    "a comparison of numbers": (f"[[ {X} -eq 2 ]]; echo $?", 0),
    "a quoted comparison of numbers": (f'[[ -n 1 && 1 -lt "{X}" ]]; echo $?', 0),
    "an index": (f"a=(1 2 3); echo ${{a[{X}]}}", 3),
    "an index of an assignment": (f"a[{X}]=7; echo ${{a[2]}}", 7),
    "an offset": (f"v=12345; echo ${{v:{X}:1}}", 3),
    "an index of a list": (f"a=([{X}]=7); echo ${{a[2]}}", 7),
    "an index of a declared list": (f"declare -a a=(1 [{X}]=7); echo ${{a[2]}}", 7),
    "an index of a variable that is read": (f'read "a[{X}]" <<< 7; echo ${{a[2]}}', 7),
    "an index of a variable that is tested": (f'a=(1 2 3); [ -v "a[{X}]" ]; echo $?', 0),
    "an index of a variable that is unset": (f'a=(1 2 3); unset "a[{X}]"; echo ${{#a[@]}}', 2),
    "let": (f"let n={X}+1 || :; echo $n", 3),
    "a quoted let": (f'let "n = {X} + 1"; echo $n', 3),
    "let after what may stand before a command": (f"if ! x=1 </dev/null command \\let 'n={X}'; then :; fi; echo $n", 2),
    "let after a line that goes on": (f"true && \\\n  let \\\n  n={X}; echo $n", 2),
    "let in a coprocess": (f"coproc C {{ let n={X}; echo $n; }}; cat <&${{C[0]}}", 2),
    "a comparison in a function": (f"f() {{ [[ {X} -eq 2 ]]; }}; f; echo $?", 0),
    "a comparison in a named function": (f"function f {{ [[ {X} -eq 2 ]]; }}; f; echo $?", 0),
    "an index in backticks": (f"echo `a[{X}]=7; echo ${{a[2]}}`", 7),
    "a comparison after a line that goes on": (f"true &&\\\n[[ {X} -eq 2 ]]; echo $?", 0),
    "let in a case of a function": (f"f() {{ case a in a) let n={X};; esac; }}; f; echo $n", 2),
    "an integer": (f"declare -i n={X}; echo $n", 2),
    "an integer among other options": (f"typeset -x -ri n={X}; echo $n", 2),
    "an integer of a function": (f"f() {{ local -i n=1{X}; echo $n; }}; f", 12),
    "an integer that is set later": (f"declare -i n; n={X}; n+=1; echo $n", 3),
    "an integer that is read": (f"declare -i n; read -r n <<< {X}; echo $n", 2),
    "an integer that is printed into": (f"declare -i n; printf -v n %s {X}; echo $n", 2),
    "an integer of a loop": (f"declare -i n; for n in 1 {X}; do :; done; echo $n", 2),
    "a list of integers": (f"declare -ai n; n=(1 {X}); echo ${{n[1]}}", 2),
    "an integer of the shell's own": (f"OPTIND={X}; echo $OPTIND", 2),
    "an index with spaces": (f"a[ 1 + {X} ]=7; echo ${{a[3]}}", 7),
    "an index beside another": (f"b=(1); a[b[0] + {X}]=7; echo ${{a[3]}}", 7),
    "an index after an assignment": (f"b=1 a[ {X} ]=7; echo ${{a[2]}}", 7),
    "an index of a list with spaces": (f"a=([ 1 + {X} ]=7); echo ${{a[3]}}", 7),
    "an index of a descriptor": (f"exec {{a[{X}]}}>/dev/null; echo ${{#a[@]}}", 1),
    "let after an index": (f"a[ 0 ]=1 a['0']=1 a[a[0]]=1 let n={X}; echo $n", 2),
    "let in a loop over all arguments": (f"set -- a; for v do let n={X}; done; echo $n", 2),
    "let in an arithmetic loop with braces": (f"for ((i = 0; i < 1; i++)) {{ let n={X}; }}; echo $n", 2),
    "let in a condition of a named coprocess": (
        f"coproc C while let n={X}; do echo $n; break; done; cat <&${{C[0]}}",
        2,
    ),
    "a comparison in a named coprocess": (f"coproc C [[ {X} -eq 2 ]]; wait $!; echo $?", 0),
    "a comparison as a named function": (f"function f [[ {X} -eq 2 ]]; f; echo $?", 0),
    "a comparison with something that is like an operator": (f"[[ '1 && ' -eq 1 || 2 -eq ' {X}' ]]; echo $?", 0),
    "a comparison in parentheses": (f"[[ ( ! {X} -eq 1 ) && a != @(b|c) ]]; echo $?", 0),
    "a comparison over several lines": (f"[[ a &&\n {X} \\\n-e\\\nq 2 ]]; echo $?", 0),
    "a comparison with the output of a command": (f'[[ 2 -eq "$(echo {X})" ]]; echo $?', 0),
    "an escaped expression in backticks": (f"echo `echo \\$(({X} + 1))`", 3),
    "let after the number of the shell": (f"echo $${{a >/dev/null; let n={X}; echo $n", 2),
    "a default of an integer": (f'declare -i n; : "${{n:={X}}}"; echo $n', 2),
    "a default of an integer without a colon": (f"declare -i n; : ${{n={X}}}; echo $n", 2),
    "an integer of a loop that is declared in it": (
        f"for v in a b; do n={X}; declare -i n; done; echo $n",
        2,
    ),
    "an integer of a function that is declared later": (f"f() {{ n={X}; }}; declare -i n; f; echo $n", 2),
    "an integer that is read with mapfile": (f"declare -ai n; mapfile -t n <<< {X}; echo $n", 2),
    "an index of what was a list with keys": (f"declare -A a; unset a; a[{X}]=7; echo ${{a[2]}}", 7),
    "an index of what is a list with keys elsewhere": (
        f"f() {{ local -A a; a[k]=1; }}; (declare -A a); v=$(declare -A a); a[{X}]=7; echo ${{a[2]}}",
        7,
    ),
    "a comparison in a trap": (f"(trap '[[ {X} -eq 2 ]] && echo yes' EXIT)", "yes"),
}


@pytest.mark.parametrize(("command", "result"), EVALUATED.values(), ids=EVALUATED.keys())
async def test_where_the_shell_calculates_only_a_number_is_taken(command: str, result: object, tmp_path: Path) -> None:
    assert await run(command, tmp_path, x=2) == result
    assert await run(command, tmp_path, x="2") == result
    for value in ("a[$(touch pwned)]", "$(touch pwned)", "HOME", "1;touch pwned", "x=1"):
        with pytest.raises(ToolArgumentsError, match="'x' must be a number"):
            await run(command, tmp_path, x=value)
    assert files_in(tmp_path) == []


async def test_an_integer_stays_one_in_the_steps_after_it(tmp_path: Path) -> None:
    steps = [CommandStep(command=command) for command in ("declare -i n", "true", f"n={X}; echo $n")]
    template = CliCallTemplate(name="m", commands=steps, working_dir=str(tmp_path))
    assert await CliProtocol().call_tool(None, "m.t", {"x": "2"}, template) == 2
    with pytest.raises(ToolArgumentsError, match="'x' must be a number"):
        await CliProtocol().call_tool(None, "m.t", {"x": "a[$(touch pwned)]"}, template)
    assert files_in(tmp_path) == []


async def test_a_list_with_keys_is_none_any_more_in_the_steps_after_it_is_unset(tmp_path: Path) -> None:
    commands = ("declare -A m", f"m[{X}]=1", "unset m", f"m[{X}]=1")
    for last, is_list in ((2, True), (4, False)):
        steps = [CommandStep(command=command) for command in commands[:last]]
        template = CliCallTemplate(name="m", commands=steps, working_dir=str(tmp_path))
        call = CliProtocol().call_tool(None, "m.t", {"x": "a[$(touch pwned)]"}, template)
        if is_list:
            await call
        else:
            with pytest.raises(ToolArgumentsError, match="'x' must be a number"):
                await call
    assert files_in(tmp_path) == []


async def test_an_integer_of_a_later_step_is_one_in_the_functions_before_it(tmp_path: Path) -> None:
    steps = [CommandStep(command=command) for command in (f"f() {{ n={X}; }}", "declare -i n", "f; echo $n")]
    template = CliCallTemplate(name="m", commands=steps, working_dir=str(tmp_path))
    assert await CliProtocol().call_tool(None, "m.t", {"x": 2}, template) == 2
    with pytest.raises(ToolArgumentsError, match="'x' must be a number"):
        await CliProtocol().call_tool(None, "m.t", {"x": "a[$(touch pwned)]"}, template)
    assert files_in(tmp_path) == []


# What the shell does with the value, what it does with a good one, and what must not get there.
LIMITED = {
    "a name that is tested": (f"word=1; test -v {X} && echo yes", "word", "yes", "letters, digits and _"),
    "a name in brackets": (f"word=1; [ -n a -a -v {X} ] && echo yes", "word", "yes", "letters, digits and _"),
    "a name in double brackets": (f"word=1; [[ -v {X} ]] && echo yes", "word", "yes", "letters, digits and _"),
    "a name that is unset": (f"word=1; unset -v {X}; echo $word.", "word", ".", "letters, digits and _"),
    "a name that is exported": (f"word=1; export {X}; printenv word", "word", 1, "letters, digits and _"),
    "a name that is declared": (f"declare -g {X}; echo yes", "word", "yes", "letters, digits and _"),
    "the end of a name that is set": (f"export my_{X}=1; echo $my_word", "word", 1, "letters, digits and _"),
    "the end of a name that is read": (f"read my_{X} <<< 1; echo $my_word", "word", 1, "letters, digits and _"),
    "a reference": (f"word=1; declare -n r={X}; echo $r", "word", 1, "letters, digits and _"),
    "a reference that is set later": (f"word=1; declare -n r; r={X}; echo $r", "word", 1, "letters, digits and _"),
    "code of a trap": (f'(trap "echo {X}" EXIT)', "./a-b.c", "./a-b.c", "letters, digits and any of"),
    "code that mapfile calls": (f"mapfile -C {X} -c 1 v <<< a", "echo", "0 a", "letters, digits and any of"),
    "words that are completed": (f"compgen -W 'a {X}' -- w", "b word", "word", "may hold none of"),
    "a list in quotes": (f'declare -a v="(a {X})"; echo ${{v[1]}}', "word", "word", "letters, digits and any of"),
    "the prompt of set -x": (f"PS4={X}; set -x; true", "my word: ", "my word: true", "may hold none of"),
    "the prompt of set -x as a default": (
        f'unset PS4; : "${{PS4:={X}}}"; set -x; true',
        "my word: ",
        "my word: true",
        "may hold none of",
    ),
    "the prompt of set -x that is read": (
        f"IFS= read PS4 <<< {X}; set -x; true",
        "my: ",
        "my: true",
        "may hold none of",
    ),
    "the prompt of set -x that is printed": (
        f"printf -v PS4 %s {X}; set -x; true",
        "m: ",
        "m: true",
        "may hold none of",
    ),
    "the prompt of set -x of a loop": (f"for PS4 in {X}; do set -x; true; done", "m: ", "m: true", "may hold none of"),
    "an alias": (
        f"shopt -s expand_aliases\nalias ll='echo {X}'\nll",
        "word",
        "word",
        "letters, digits and any of",
    ),
    "a file of a startup": (f"BASH_ENV={X} bash -c 'echo a'", "/dev/null", "a", "may hold none of"),
    "a target that is expanded twice": (f"echo a >& /dev/{X}; echo b", "null", "b", "may hold none of"),
    "the value of an array": (f"declare -a v={X}; echo ${{v[0]}}", "[a] (b)", "[a] (b)", "may not begin with ("),
    "the value of what is an array": (f"v=(); declare v={X}; echo $v", "a $b", "a $b", "may not begin with ("),
    "the value of what an index made an array": (
        f"v[0]=1; declare v={X}; echo $v",
        "a $b",
        "a $b",
        "may not begin with (",
    ),
    "the value of an array that is read": (
        f"read -a v <<< 1; declare v={X}; echo $v",
        "a $b",
        "a $b",
        "may not begin with (",
    ),
    "the value of an array of the shell's own": (
        f"mapfile <<< 1; export MAPFILE={X}; echo $MAPFILE",
        "a $b",
        "a $b",
        "may not begin with (",
    ),
    "a format that may be an option": (f"printf {X} a", "%s-", "a-", "may not begin with -"),
    "a prefix that may be an option": (f"compgen -A builtin {X}", "unse", "unset", "may not begin with -"),
}
ATTACKS = {
    "letters, digits and _": ("a[$(touch pwned)]", "a[$(touch pwned)]=1", "PATH=/", "-i"),
    "letters, digits and any of": ("touch pwned", "a[$(touch pwned)]", "$(touch pwned)", "`touch pwned`", "a;b", "&"),
    "may hold none of": ("$(touch pwned)", "`touch pwned`", "<(touch pwned)"),
    "may not begin with (": ("($(touch pwned))",),
    "may not begin with -": ("-va[$(touch pwned)]", "-W$(touch pwned)"),
}


@pytest.mark.parametrize(("command", "good", "result", "limit"), LIMITED.values(), ids=LIMITED.keys())
async def test_where_the_shell_does_more_with_a_value_only_a_harmless_one_is_taken(
    command: str, good: str, result: object, limit: str, tmp_path: Path
) -> None:
    assert await run(command, tmp_path, x=good) == result
    for value in ATTACKS[limit]:
        with pytest.raises(ToolArgumentsError, match=re.escape(limit)):
            await run(command, tmp_path, x=value)
    assert files_in(tmp_path) == []


@pytest.mark.parametrize(
    "command",
    [
        f"printf -v {X} a",
        f'printf -v "{X}" a',
        f"printf -v{X} a",
        f"printf -{X} a",
        f"read {X} <<< a",
        f"read -r -p let v {X} <<< a",
        f"read -ra {X} <<< a",
        f"while IFS=, read -r {X}; do :; done <<< a",
        f"mapfile -t {X} <<< a",
        f"getopts a {X} -a",
        f"sleep 0 & wait -n -p {X}",
        f"export {X}=1",
        f"declare -g {X}=1",
        f"declare -{X} v=1",
    ],
)
async def test_a_value_that_could_name_any_variable_to_be_set_is_an_error_of_the_tool(
    command: str, tmp_path: Path
) -> None:
    for value in ("word", "PATH", "a[$(touch pwned)]", "-i"):
        with pytest.raises(ToolExecutionError, match="any variable to be set; its author must move it"):
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


JUDGED = [
    *(
        f"let {X}",
        f"let 'n={X}'",
        f"declare -i n={X}",
        f"declare -n r={X}",
        f"export {X}=1",
        f"unset {X}",
        f"OPTIND={X}",
    ),
    *(f"printf -v {X} a", f"printf {X} a", f"read -r {X}", f"mapfile {X}", f"trap {X} EXIT", f"echo >&{X}"),
    *(f"test -v {X}", f"[ -v {X} ]", f"[[ -v {X} ]]", f"[[ {X} -eq 1 ]]", f"(( {X} ))", f"a[{X}]=1", f"a=([{X}]=1)"),
]
HANDED_ON = [
    *(f"echo let {X}", f"n={X}", f"MODE={X} let", f"v=(let {X})", f"export n={X}", f"declare -x n={X}", f"set -- {X}"),
    *(f"printf '%s' {X}", f"printf -v n %s {X}", f"read -rp {X} n", f"read n <<< {X}", f"read n < {X}", f"cat >> {X}"),
    *(f"test -n {X}", f"[ {X} = -v ]", f"[[ {X} == a ]]", f"grep -v {X} let", f"xargs read {X}", f"command -v {X}"),
    *(f"trap 'echo {X}' EXIT", f"for f in let {X}; do :; done", f"getopts a n {X}", f"env let {X}", f"source let {X}"),
]
AROUND = [
    *(
        "@",
        "( @ )",
        "{ @; }",
        "echo $(@)",
        'echo "$(@)"',
        "echo `@`",
        "echo ${n:-$(@)}",
        "cat <(@)",
        "echo $(( $(@) ))",
    ),
    *("if @; then :; fi", "if a; then b; elif @; then c; else @; fi", "while @; do @; done", "until @; do :; done"),
    *(
        "for v in a b; do @; done",
        "select v in a; do @; done",
        "case a in a) @;; esac",
        "case a in (a) @;; b) @;; esac",
    ),
    *(
        "f() { @; }; f",
        "f() ( @ )",
        "function f { @; }",
        "a | @",
        "a && @",
        "a || @",
        "! @",
        "@ &",
        "a;@",
        "a\n@",
        "\t@",
    ),
    *("@ 2>&1", "@ >/dev/null 2>&1", "a 2>&1 | @", "a &>b; @", "a >|b; @", "exec 3<&0; @", "a <b >c; @", "((1)) && @"),
    *(
        "a \\\n&& @",
        "# a 'b\n@",
        "@ # b",
        "echo $#; @",
        "echo ${#n}; @",
        'echo it\\\'s "("; @',
        "v=(b c); @",
        "v=(\nb # c)\n); @",
    ),
    *("cat <<E\n$(@)\nE", "cat <<E\nlet 'b\nE\n@", "cat <<-'E'; @\n\tit's\n\tE\n", "[[ a == b ]] && @", "[[ (a) ]]; @"),
]


@pytest.mark.parametrize("around", AROUND)
def test_what_the_shell_does_with_a_value_is_seen_wherever_the_command_stands(around: str) -> None:
    for commands, is_judged in ((JUDGED, True), (HANDED_ON, False)):
        for command in commands:
            whole = around.replace("@", command)
            found = find_placeholders(whole)
            assert len(found) == whole.count(X), whole
            assert all((placeholder.demand is not Demand.NOTHING) is is_judged for placeholder in found), whole


PIECES = [
    *(
        "let ",
        "declare -i ",
        "declare -n r=",
        "local -A ",
        "export ",
        "readonly a=(",
        "printf ",
        "-v ",
        "read -ra ",
        "--",
    ),
    *(
        "test -v ",
        "[ -v ",
        " ]",
        "[[ ",
        " ]]",
        "trap ",
        "compgen -W",
        "for v in ",
        "case a in ",
        "esac",
        "function f {",
    ),
    *(
        "n=",
        "a[",
        "]=",
        "a=(",
        ")",
        "(",
        "((",
        "))",
        "$((",
        "$(",
        "`",
        "${",
        "}",
        "<<<",
        "<<E\n",
        "\nE\n",
        ">&",
        "2>",
        "&>",
    ),
    *("'", '"', "$'", "\\", " ", "\n", ";", "&", "|", "&&", "#", "-", "+", "=", X, f" {X} ", f"'{X}'", f'"{X}"'),
]


@settings(max_examples=300)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_any_commands_can_be_searched(command: str) -> None:
    starts = {match.start() for match in PLACEHOLDER.finditer(command)}
    found = [placeholder.start for placeholder in find_placeholders(command)]
    assert len(found) == len(set(found))
    assert starts.issuperset(found)


@pytest.mark.parametrize("opening", ["$((", "${a[", "$[", "a[$((", "$((a[${b["])
def test_openings_that_are_never_closed_take_no_time(opening: str) -> None:
    begun = time.perf_counter()
    assert len(find_placeholders(f"echo {opening * 18}{X}")) == 1
    assert time.perf_counter() - begun < 1


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
