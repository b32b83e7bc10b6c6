"""Upstream's objects of tools, and its in-memory repository, filled when somebody looks into it.

Upstream's object of a tool costs more than all the rest of loading it (utcp 1.2.0 has a Pydantic object for every
schema within its schemas), and our own calls need none: only searches, post-processors and plugins look at them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from utcp.data.call_template import CallTemplate
from utcp.data.tool import JsonSchema, Tool
from utcp.data.utcp_manual import UtcpManual
from utcp.implementations.in_mem_tool_repository import InMemToolRepository

from utcp_bridge.transports.drafts import DraftTool, without_boolean_schemas


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
    """Takes manuals that are yet to be made; whatever looks into the repository makes them first."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._waiting: dict[str, tuple[CallTemplate, Callable[[], UtcpManual]]] = {}

    def save_later(self, template: CallTemplate, make: Callable[[], UtcpManual]) -> None:
        """Store what `make` gives, in the place of an older version of the manual."""
        self._waiting[template.name] = template, make

    async def _fill(self) -> None:
        for name, waiting in list(self._waiting.items()):
            template, make = waiting
            await super().save_manual(template, make())
            if self._waiting.get(name) is waiting:  # else a newer version came meanwhile
                del self._waiting[name]

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

    async def get_tools(self) -> list[Tool]:  # noqa: D102
        await self._fill()
        return await super().get_tools()

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
