"""A UTCP protocol, registered as a plugin is, that replies with exactly the arguments that reached it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal

from utcp.data.call_template import CallTemplate, CallTemplateSerializer
from utcp.data.register_manual_response import RegisterManualResult
from utcp.interfaces.communication_protocol import CommunicationProtocol
from utcp.interfaces.serializer import Serializer
from utcp.plugins.discovery import register_call_template, register_communication_protocol

PROTOCOL = "recording"


class RecordingCallTemplate(CallTemplate):
    call_template_type: Literal["recording"] = "recording"


class RecordingSerializer(Serializer[RecordingCallTemplate]):
    def to_dict(self, obj: RecordingCallTemplate) -> dict[str, Any]:
        return obj.model_dump()

    def validate_dict(self, obj: dict[str, Any]) -> RecordingCallTemplate:
        return RecordingCallTemplate.model_validate(obj)


class RecordingProtocol(CommunicationProtocol):
    async def register_manual(self, caller: Any, manual_call_template: CallTemplate) -> RegisterManualResult:
        raise NotImplementedError("the tools come from a text manual")

    async def deregister_manual(self, caller: Any, manual_call_template: CallTemplate) -> None:
        return None

    async def call_tool(
        self, caller: Any, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> Any:
        return {"received": tool_args}

    async def call_tool_streaming(  # type: ignore[override]  # utcp 1.2.0 declares it without the `yield`
        self, caller: Any, tool_name: str, tool_args: dict[str, Any], tool_call_template: CallTemplate
    ) -> AsyncGenerator[Any, None]:
        yield {"received": tool_args}


def recording_template(manual: str, schemas: Mapping[str, Any]) -> dict[str, Any]:
    """A manual call template whose tools have these schemas, by tool name, and reply with `{"received": arguments}`."""
    if PROTOCOL not in CallTemplateSerializer.call_template_serializers:
        serializer: Any = RecordingSerializer()  # type: ignore[no-untyped-call]  # upstream's `__init__`
        register_call_template(PROTOCOL, serializer)
        register_communication_protocol(PROTOCOL, RecordingProtocol())
    tools = [
        {
            "name": name,
            "description": f"Replies with its arguments ({name}).",
            "inputs": schema,
            "tool_call_template": {"call_template_type": PROTOCOL},
        }
        for name, schema in schemas.items()
    ]
    document = {"manual_version": "1.0.0", "utcp_version": "1.0.1", "tools": tools}
    return {
        "name": manual,
        "call_template_type": "text",
        "content": json.dumps(document),
        "allowed_communication_protocols": [PROTOCOL],
    }
