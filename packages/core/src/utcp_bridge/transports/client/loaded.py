"""What a manual brings, as the rest of the core knows it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from utcp_bridge.transports.drafts import DraftTool, SkippedTool

if TYPE_CHECKING:
    from utcp_bridge.transports.upstream.utcp_client import RegisteredManual


@dataclass(frozen=True, slots=True)
class DiscoveredTool:
    """A tool as its manual describes it.

    Attributes:
        utcp_name: `manual.tool`.
        description: What it does; may be empty.
        tags: Its tags.
        inputs: JSON Schema of its arguments, the author's own object; do not change it.
        outputs: JSON Schema of its reply, empty if the manual gives none; do not change it.
        http_method: Its HTTP method, or None where it has none.
        protocol: The `call_template_type` of its call template.
    """

    utcp_name: str
    description: str
    tags: tuple[str, ...]
    inputs: dict[str, Any] | bool
    outputs: dict[str, Any]
    http_method: str | None
    protocol: str


@dataclass(frozen=True, slots=True)
class MissingVariable:
    """A variable that tools of a manual need and that has no value now.

    Attributes:
        key: The key that is looked up.
        tools: The tools that need it.
    """

    key: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequiredVariable:
    """A variable that a manual needs.

    Attributes:
        key: The key that is looked up.
        defined: Whether it has a value now.
        manual: The name of the manual.
    """

    key: str
    defined: bool
    manual: str


@dataclass(frozen=True, slots=True)
class LoadedManual:
    """What a manual brings.

    Attributes:
        tools: Its tools, in order.
        skipped: The tools that were left out.
        missing_variables: Variables that its tools need and that have no value.
        variables: The keys of all variables that its tools need.
        warnings: What is odd about its tools, in whole sentences.
    """

    tools: tuple[DiscoveredTool, ...] = ()
    skipped: tuple[SkippedTool, ...] = ()
    missing_variables: tuple[MissingVariable, ...] = ()
    variables: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchedManual:
    """A manual that was fetched and is not stored yet."""

    name: str
    loaded: LoadedManual
    registered: RegisteredManual | None = field(default=None, repr=False)


def discovered_tool(utcp_name: str, draft: DraftTool, template: Any) -> DiscoveredTool:
    """What is shown of a tool, `template` being upstream's call template object."""
    return DiscoveredTool(
        utcp_name=utcp_name,
        description=draft.description,
        tags=draft.tags,
        inputs=draft.inputs,
        outputs=draft.outputs,
        http_method=getattr(template, "http_method", None),
        protocol=template.call_template_type,
    )
