"""The warning that shows a translated configuration in its new form, without its secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from utcp_bridge.config.legacy import variables_in

MASK = "***"
_MOST_SHOWN = 5
_LONGEST_TEXT = 300

_SECRET_HOLDERS = frozenset({"headers", "env_vars", "env", "cookies"})
_SECRET_NAME = re.compile(r"(?i)api.?key|token|secret|passw|passphrase|credential|authorization|username|client_id")
_NOT_SECRET = frozenset({"var_name", "location", "auth_type", "token_url", "scope"})
# A value that is all variables, placeholders and words for their kind, such as `Bearer ${TOKEN}`, tells nothing.
_TELLS_NOTHING = re.compile(
    r"(?i)(?:\s|\b(?:bearer|basic|token|apikey)\b|\$\{\w+\}|\$\w+|\{[^{}]*\}|UTCP_ARG_\w+?_UTCP_END)*"
)
# What stands in the notice for what it does not show, as it is told, and as it is found there.
_HIDDEN = {MASK: re.compile(re.escape(MASK)), "'... (n characters)'": re.compile(r"\.\.\. \(\d+ characters\)")}
_USER_INFO = re.compile(r"(?<=://)[^/@\s\"']+(?=@)")
_QUERY_VALUE = re.compile(r"(?<=[?&])([^=&\s\"'#]+)=([^&\s\"'#]+)")
_COMMAND_KEYS = frozenset({"command", "commands", "args"})
_FLAG_NAME = r"[\w-]*(?:key|token|secret|passw\w*|credential\w*|auth\w*)"
_SECRET_FLAG = re.compile(rf"(?i)--?{_FLAG_NAME}")
_FLAG_VALUE = re.compile(rf"(?i)({_FLAG_NAME}(?:=|:?\s+|:)(?:(?:bearer|basic|token)\s+)?[\"']?|\bbearer\s+)([^\s\"']+)")


def translation_notice(source: str, how: Sequence[str], config: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Say what was translated and how to write it.

    Args:
        source: Where the configuration came from, as the subject of the sentence.
        how: What was found, such as `tool_providers`.
        config: What was translated, in its new form: `manual_call_templates` and other lists.

    Returns:
        The text of one log record; literal secrets in it are masked, references to variables are not.
    """
    shown = {key: [masked(item) for item in items[:_MOST_SHOWN]] for key, items in config.items() if items}
    new_form = json.dumps(shown, indent=2, ensure_ascii=False, default=str)
    lines = [
        f"{source} uses an older form ({', '.join(how)}), which was translated and goes on working. "
        f"In the form of UTCP 1.x it is:",
        new_form,
    ]
    if hidden := [mark for mark, pattern in _HIDDEN.items() if pattern.search(new_form)]:
        lines.append(f"In the place of {' and of '.join(hidden)} keep what you have there; it is not shown.")
    templates = config.get("manual_call_templates", ())
    if len(templates) > _MOST_SHOWN:
        lines.append(f"and {len(templates) - _MOST_SHOWN} more in the same way.")
    example = next(((template, name) for template in templates for name in sorted(variables_in(template))), None)
    if example is not None:
        template, variable = example
        key = f"{str(template.get('name', '')).replace('_', '__')}_{variable}"
        lines.append(f"Variables carry the name of their manual: ${{{variable}}} is looked up as {key}.")
    return "\n".join(lines)


def masked(value: Any, *, key: str = "", secret: bool = False) -> Any:
    """A copy of a template that can be logged: literal credentials become `***`, long texts are cut.

    Args:
        value: The template, or a part of it.
        key: What the part is called.
        secret: Whether the part is a credential as a whole.
    """
    if isinstance(value, Mapping):
        return {
            name: masked(item, key=name, secret=_is_secret(str(name), item, secret)) for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        after_flag = [False, *(isinstance(item, str) and bool(_SECRET_FLAG.fullmatch(item)) for item in value)]
        return [masked(item, key=key, secret=secret or flag) for item, flag in zip(value, after_flag, strict=False)]
    if not isinstance(value, str):
        return MASK if secret and value is not None and not isinstance(value, bool) else value
    if secret:
        return value if _TELLS_NOTHING.fullmatch(value) else MASK
    text = _USER_INFO.sub(MASK, value)
    text = _QUERY_VALUE.sub(
        lambda found: f"{found[1]}={found[2] if _TELLS_NOTHING.fullmatch(found[2]) else MASK}", text
    )
    if key in _COMMAND_KEYS:
        text = _FLAG_VALUE.sub(
            lambda found: f"{found[1]}{found[2] if _TELLS_NOTHING.fullmatch(found[2]) else MASK}", text
        )
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}... ({len(text)} characters)"


def _is_secret(key: str, item: Any, inherited: bool) -> bool:
    if key in _NOT_SECRET:
        return False
    if inherited or key in _SECRET_HOLDERS or key in {"auth", "auth_tools"}:
        return True
    return bool(_SECRET_NAME.search(key)) and not isinstance(item, Mapping | list)
