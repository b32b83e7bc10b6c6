"""Upstream's objects of tools, and its in-memory repository, filled when somebody looks into it.

Upstream's object of a tool costs more than all the rest of loading it (utcp 1.2.0 has a Pydantic object for every
schema within its schemas), and our own calls need none: only searches, post-processors and plugins look at them.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, TypeAlias

from utcp.data.call_template import CallTemplate
from utcp.data.tool import JsonSchema, Tool
from utcp.data.utcp_manual import UtcpManual
from utcp.implementations.in_mem_tool_repository import InMemToolRepository

from utcp_bridge.transports.drafts import DraftTool, without_boolean_schemas

_Late: TypeAlias = tuple[CallTemplate, Callable[[], UtcpManual]]


def upstream_tool(name: str, draft: DraftTool, template: CallTemplate) -> Tool:
    """Upstream's object of a tool."""
    return Tool.model_construct(
        name=name,
        description=draft.description,
        inputs=_json_schema(draft.inputs),
        outputs=_json_schema(draft.outputs),
        tags=list(draft.tags),
        average_response_size=draft.average_response_size,
        tool_call_template=template,
    )


def _json_schema(schema: dict[str, Any] | bool) -> JsonSchema:
    """The schema as upstream's object: only for searching and post-processing, never for judging arguments."""
    for spelling in (lambda: schema, lambda: without_boolean_schemas(schema)):
        with contextlib.suppress(ValueError):
            return JsonSchema.model_validate(spelling())
    return JsonSchema.model_validate({})


class LateRepository(InMemToolRepository):
    """Takes manuals that are yet to be made; whatever looks into the repository makes them first, once."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._latest: dict[str, _Late] = {}
        self._stored: dict[str, _Late] = {}

    def save_later(self, template: CallTemplate, make: Callable[[], UtcpManual]) -> None:
        """Store what `make` gives, in the place of an older version of the manual; it is called in any thread."""
        self._latest[template.name] = template, make

    async def _fill(self) -> None:
        # Until all is there: a newer version may come, or another reader store an older one, while one is made.
        while late := next((each for name, each in self._latest.items() if self._stored.get(name) is not each), None):
            template, make = late
            # For thousands of tools it takes seconds, in which the loop has other work.
            manual = await asyncio.to_thread(make)
            if self._latest[template.name] is late and self._stored.get(template.name) is not late:
                await super().save_manual(template, manual)
                self._stored[template.name] = late

    async def save_manual(self, manual_call_template: CallTemplate, manual: UtcpManual) -> None:  # noqa: D102
        await self._fill()
        await super().save_manual(manual_call_template, manual)

    async def remove_manual(self, manual_name: str) -> bool:  # noqa: D102
        await self._fill()
        return await super().remove_manual(manual_name)

    async def remove_tool(self, tool_name: str) -> bool:  # noqa: D102
        await self._fill()
        return await super().remove_tool(tool_name)

    async def get_tool(self, tool_name: str) -> Tool | None:  # noqa: D102
        await self._fill()
        return await super().get_tool(tool_name)

    async def get_tools(self) -> list[Tool]:
        """Copies of all tools, which share their schemas, for every search asks for all of them.

        utcp 1.2.0 copies the schemas too, which takes seconds for thousands of tools.
        """
        await self._fill()
        async with self._rwlock.read():
            return [tool.model_copy(update={"tags": list(tool.tags)}) for tool in self._tools_by_name.values()]

    async def get_tools_by_manual(self, manual_name: str) -> list[Tool] | None:  # noqa: D102
        await self._fill()
        return await super().get_tools_by_manual(manual_name)

    async def get_manual(self, manual_name: str) -> UtcpManual | None:  # noqa: D102
        await self._fill()
        return await super().get_manual(manual_name)

    async def get_manuals(self) -> list[UtcpManual]:  # noqa: D102
        await self._fill()
        return await super().get_manuals()

    async def get_manual_call_template(self, manual_call_template_name: str) -> CallTemplate | None:  # noqa: D102
        await self._fill()
        return await super().get_manual_call_template(manual_call_template_name)

    async def get_manual_call_templates(self) -> list[CallTemplate]:  # noqa: D102
        await self._fill()
        return await super().get_manual_call_templates()
