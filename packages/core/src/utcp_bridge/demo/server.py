"""The demo's HTTP tools, served on loopback."""

from __future__ import annotations

from typing import Any

from utcp_bridge.testing import ServedTool, ToolServer, ToolServerError

_WEATHER = {"Paris": {"sky": "sunny", "celsius": 21}, "Oslo": {"sky": "snow", "celsius": -3}}


def tool_server() -> ToolServer:
    """A server of the demo's HTTP tools, not yet started: one reads a query, one takes a JSON body."""
    return ToolServer(
        [
            ServedTool(
                name="get_weather",
                description="The weather in a city right now.",
                tags=["weather"],
                properties={"city": {"type": "string", "description": "Name of the city", "examples": ["Paris"]}},
                required=["city"],
                handler=_weather,
            ),
            ServedTool(
                name="add_note",
                description="Keep a note for later.",
                tags=["notes"],
                properties={
                    "body": {
                        "type": "object",
                        "properties": {
                            "text": {"type": "string"},
                            "tags": {"type": "array", "items": {"type": "string"}},
                        },
                        "required": ["text"],
                    }
                },
                required=["body"],
                handler=lambda arguments: {"kept": arguments["body"]},
                method="POST",
            ),
        ]
    )


def _weather(arguments: dict[str, Any]) -> dict[str, Any]:
    city = arguments["city"]
    if city not in _WEATHER:
        raise ToolServerError(404, {"error": f"no city {city!r}; try {' or '.join(_WEATHER)}"})
    return {"city": city, **_WEATHER[city]}
