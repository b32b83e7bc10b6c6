"""OpenAPI documents as manuals: what they refer to is fetched, and each operation becomes a tool."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from utcp_bridge.nearest import nearest
from utcp_bridge.openapi import Conversion, OpenApiError, fetch_siblings, tools_from_openapi
from utcp_bridge.openapi.references import identity_of
from utcp_bridge.transports.drafts import DraftManual, DraftTool, SkippedTool
from utcp_bridge.transports.failures import reason
from utcp_bridge.transports.http.template import MappedHttpCallTemplate
from utcp_bridge.transports.manuals.deadline import seconds_left
from utcp_bridge.transports.manuals.reading import NotAManualError

OPTIONS = frozenset({"flatten_body", "media_types", "server_variables"})
"""What `openapi` in a manual's call template may say; see `tools_from_openapi`."""

_MOST_CONVERSIONS = 8
_MOST_PROBLEMS = 10
_SHARE_OF_SIBLINGS = 0.6
"""How much of the time that is left the other documents may take; the rest is for reading what came."""


async def openapi_draft(
    document: Mapping[str, Any],
    *,
    manual: str,
    url: str,
    base_url: str | None,
    auth_tools: Mapping[str, Any] | None,
    options: Mapping[str, Any],
    defined: Callable[[str], bool],
    fetch: Callable[[str], Awaitable[Any]],
) -> DraftManual:
    """Make tools of an OpenAPI document, off the loop.

    Args:
        document: The parsed document.
        manual: The manual's name.
        url: Where the document came from, after redirects; empty if it came from nowhere.
        base_url: What the user says the server is, in place of what the document says; or None.
        auth_tools: `auth_tools` of the manual's call template, variables unfilled, or None.
        options: `openapi` of the manual's call template.
        defined: Tells whether a variable of the manual has a value.
        fetch: Fetches and parses another document.

    Returns:
        The tools, and the operations that were left out.

    Raises:
        NotAManualError: It cannot be read as OpenAPI, or `options` are wrong.
    """
    unknown = sorted(options.keys() - OPTIONS)
    if unknown:
        close = nearest(unknown[0], sorted(OPTIONS))
        hint = f"; did you mean {close!r}?" if close else ""
        raise NotAManualError(
            f"'openapi' in its call template has no option {unknown[0]!r}; expected {', '.join(sorted(OPTIONS))}{hint}"
        )
    siblings: dict[str, Any] = {}
    left = seconds_left()
    until = None if left is None else time.monotonic() + _SHARE_OF_SIBLINGS * left

    def convert() -> Conversion:
        return tools_from_openapi(
            document,
            url=url,
            siblings=siblings,
            base_url=base_url,
            auth_tools=auth_tools,
            defined=defined,
            **options,
        )

    try:
        for _ in range(_MOST_CONVERSIONS):
            conversion = await asyncio.to_thread(convert)
            if not conversion.wanted:
                break
            siblings = await fetch_siblings(
                conversion.wanted, url, fetch, siblings, until=until, identity=identity_of(document, url)
            )
    except OpenApiError as error:
        raise NotAManualError(str(error)) from error
    return await asyncio.to_thread(_draft, conversion, manual)


def _draft(conversion: Conversion, manual: str) -> DraftManual:
    tools: list[DraftTool] = []
    skipped = [SkippedTool(operation.name, operation.reason) for operation in conversion.skipped]
    for tool in conversion.tools:
        try:
            template = MappedHttpCallTemplate.model_validate({"name": manual, **tool.template})
        except ValidationError as error:
            skipped.append(SkippedTool(f"{tool.method} {tool.path}", f"it cannot be called: {reason(error)}"))
            continue
        tools.append(
            DraftTool(
                tool.name,
                tool.description,
                tool.tags,
                tool.inputs,
                tool.outputs,
                average_response_size=None,
                template=template,
                alternative_variables=tool.alternative_variables,
            )
        )
    # An OpenAPI document in a file or a text can bring nothing but HTTP tools, and would be of no use without them.
    return DraftManual(
        tuple(tools),
        tuple(skipped),
        protocols=("http",),
        warnings=(*conversion.warnings, *_told(conversion.problems)),
        variable_descriptions=conversion.variable_descriptions,
    )


def _told(problems: Sequence[str]) -> tuple[str, ...]:
    """Parts of schemas that could not be read, as warnings; the arguments that they are of accept anything."""
    more = len(problems) - _MOST_PROBLEMS
    told = [f"{problem}; anything is accepted there" for problem in problems[:_MOST_PROBLEMS]]
    return (*told, f"and {more} more parts of its schemas cannot be read") if more > 0 else tuple(told)
