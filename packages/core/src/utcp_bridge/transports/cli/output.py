"""What the output of a command means: data, text, a manual document, or the reason of a failure."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from utcp_bridge.config.json_faults import json_fault
from utcp_bridge.errors import ToolExecutionError

MOST_SHOWN = 4_000
"""The most characters of one output in the message of an error; its `raw` holds all of it."""

_HINTS = {
    126: "a command cannot be run; is it executable?",
    127: "command not found; is it installed, and on the PATH?",
}
_FIRST_SIGNAL = 128
_MAY_BE_JSON = re.compile(r'\ufeff?\s*[\[{"0-9tfn-]')


@dataclass(frozen=True, slots=True)
class Written:
    """What a command had written when it was cancelled, as a reply that was begun.

    Attributes:
        pieces: The text.
        latest: When the last of it was read, by `time.monotonic`.
    """

    pieces: tuple[str]
    latest: float

    def whole(self) -> str:
        """The text."""
        return self.pieces[0]


def text_of(output: bytes) -> str:
    """Output as text: UTF-8, what is not replaced by U+FFFD, without the newlines at its end."""
    return output.decode("utf-8", errors="replace").rstrip("\r\n")


def chosen(outputs: Sequence[bytes], selected: Sequence[bool]) -> str:
    """The outputs of the selected steps, one below the other, empty ones left out."""
    texts = (text_of(output) for output, is_selected in zip(outputs, selected, strict=False) if is_selected)
    return "\n".join(text for text in texts if text)


def reply(text: str) -> Any:
    """Data if the text is JSON, else the text.

    A number becomes data only if it is spelt as JSON would spell it: `3.10` may be a version, `1e5` a name.
    """
    if not _MAY_BE_JSON.match(text):
        return text
    try:
        value = json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text
    if isinstance(value, (int, float)) and json.dumps(value) != text.strip():
        return text
    return value


def failure(
    exit_code: int, *, stdout: str, stderr: str, step: int = 0, steps: int = 1, subject: str = "the command"
) -> ToolExecutionError:
    """The error of a command that ended with another exit code than 0.

    Args:
        exit_code: The exit code.
        stdout: Its standard output.
        stderr: Its standard error.
        step: The index of the step that failed.
        steps: How many steps there are.
        subject: What failed, as the subject of a sentence.
    """
    where = f"{subject}, step {step + 1} of {steps}," if steps > 1 else subject
    hint = _HINTS.get(exit_code) or _signal_name(exit_code)
    block: dict[str, Any] = {"type": "cli_error", "exit_code": exit_code, "stdout": stdout, "stderr": stderr}
    if steps > 1:
        block["step"] = step
    sentence = f"{where} exited with code {exit_code}" + (f" ({hint})" if hint else "")
    return ToolExecutionError(with_outputs(sentence, stdout, stderr), raw=[block])


def with_outputs(sentence: str, stdout: str, stderr: str) -> str:
    """A sentence, and below it what there is of standard error and standard output, bounded."""
    parts = [f"{name}: {bounded(text)}" for name, text in (("stderr", stderr), ("stdout", stdout)) if text.strip()]
    return "\n".join([sentence + (":" if parts else ", with no output"), *parts])


def unfinished(exit_code: int | None, stdout: str, stderr: str) -> str:
    """What a command had written when it was cancelled; an empty text if there is nothing to tell.

    Args:
        exit_code: The exit code of its shell, if only a process in the background was still at work.
        stdout: Its standard output.
        stderr: Its standard error.
    """
    parts = [f"{name}: {text}" for name, text in (("stdout", stdout), ("stderr", stderr)) if text.strip()]
    if len(parts) == 1 and stdout.strip():
        parts = [stdout]
    if exit_code is not None:
        parts.append(
            f"[its shell had ended with exit code {exit_code}, but a process that it left in the background held its "
            "output]"
        )
    return "\n".join(parts)


def bounded(text: str) -> str:
    """A text cut in its middle, where it is longest and tells least."""
    if len(text) <= MOST_SHOWN:
        return text
    head, tail = MOST_SHOWN // 4, MOST_SHOWN // 4 * 3
    return f"{text[:head]}\n[{len(text) - head - tail:,} characters left out]\n{text[-tail:]}"


def manual_document(output: str) -> Any:
    """The manual in the output of a discovery command.

    Besides a document alone, as utcp-cli 1.1.5 does: a manual among lines of a log, and tools given one by one.

    Raises:
        ValueError: There is none; the message says why, if there is something that looks like one.
    """
    text = output.removeprefix("\ufeff")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        not_json = error
    tools: list[Any] = []
    for value in _embedded(text):
        if isinstance(value, dict) and isinstance(value.get("tools"), list):
            return value
        if isinstance(value, dict) and "name" in value:
            tools.append(value)
    if not tools:
        # Of what does not even begin like JSON there is nothing to mend.
        raise ValueError(json_fault(not_json, text) if text.lstrip()[:1] in {"{", "["} else "") from not_json
    return {"tools": tools}


def _embedded(text: str) -> Iterator[Any]:
    """The JSON objects that begin at the start of a line, each with all of its lines."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        if text[at] == "{":
            try:
                value, at = decoder.raw_decode(text, at)
                yield value
            except (ValueError, RecursionError):
                pass
        newline = text.find("\n", at)
        at = len(text) if newline < 0 else newline + 1
        while at < len(text) and text[at] in " \t":
            at += 1


def _signal_name(exit_code: int) -> str:
    try:
        return f"ended by {signal.Signals(exit_code - _FIRST_SIGNAL).name}" if exit_code > _FIRST_SIGNAL else ""
    except ValueError:
        return ""


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")
