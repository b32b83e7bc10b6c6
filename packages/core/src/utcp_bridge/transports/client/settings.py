"""UTCP's client configuration, all but its manuals, judged part by part: what is wrong, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from utcp.data.variable_loader import VariableLoaderSerializer
from utcp.interfaces.concurrent_tool_repository import ConcurrentToolRepositoryConfigSerializer
from utcp.interfaces.tool_post_processor import ToolPostProcessorConfigSerializer
from utcp.interfaces.tool_search_strategy import ToolSearchStrategyConfigSerializer

from utcp_bridge.nearest import nearest
from utcp_bridge.transports.failures import reason
from utcp_bridge.transports.manuals.template_keys import UnknownKey, model_of, unknown_in
from utcp_bridge.transports.manuals.tool_entries import shape_of

# For each setting: what names its kind, and the serializers by kind, as plugins registered them.
_KINDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "load_variables_from": ("variable_loader_type", VariableLoaderSerializer.loader_serializers),
    "post_processing": (
        "tool_post_processor_type",
        ToolPostProcessorConfigSerializer.tool_post_processor_implementations,
    ),
    "tool_search_strategy": (
        "tool_search_strategy_type",
        ToolSearchStrategyConfigSerializer.tool_search_strategy_implementations,
    ),
    "tool_repository": (
        "tool_repository_type",
        ConcurrentToolRepositoryConfigSerializer.tool_repository_implementations,
    ),
}


def settings_fault(client: Mapping[str, Any]) -> str | None:
    """Why UTCP cannot take a client configuration, or None if nothing is wrong that can be told from here."""
    for place, type_key, serializers, value in _parts(client):
        kind = value.get(type_key)
        if not isinstance(kind, str) or kind not in serializers:
            close = nearest(kind, serializers)
            known, hint = " or ".join(map(repr, serializers)), f"; did you mean {close!r}?" if close else ""
            given = "nothing" if kind is None else f"{kind[:60]!r}" if isinstance(kind, str) else shape_of(kind)
            return f"{place}.{type_key}: expected {known}, got {given}{hint}"
        try:
            serializers[kind].validate_dict(dict(value))
        except Exception as error:  # noqa: BLE001 - a plugin's serializer may raise anything, and this is its reason
            unknown = [str(key) for key in _unknown(place, serializers[kind], value)]
            return "; ".join([reason(error, within=place), *unknown])
    return None


def settings_warnings(client: Mapping[str, Any]) -> tuple[str, ...]:
    """Keys of a client configuration that have no effect, in whole sentences."""
    return tuple(
        str(key)
        for place, type_key, serializers, value in _parts(client)
        for key in _unknown(place, serializers.get(str(value.get(type_key))), value)
    )


def _unknown(place: str, serializer: Any, value: Mapping[str, Any]) -> Iterator[UnknownKey]:
    model = model_of(serializer)
    if model is not None:
        yield from unknown_in(model, value, place)


def _parts(client: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any], Mapping[str, Any]]]:
    for setting, (type_key, serializers) in _KINDS.items():
        value = client.get(setting)
        items = [(f"{setting}[{index}]", item) for index, item in enumerate(value)] if isinstance(value, list) else []
        for place, item in items or [(setting, value)]:
            if isinstance(item, Mapping):  # else it is one of UTCP's own objects
                yield place, type_key, serializers, item
