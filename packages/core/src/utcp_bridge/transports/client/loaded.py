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
class ManualVariable:
    """A variable of a manual's tools.

    Attributes:
        key: The key that is looked up.
        defined: Whether it had a value when the manual was loaded.
        tools: The tools that cannot be called without it.
        optional_tools: The tools that can be called with other credentials, or without any, and would use it if it
            had a value when the manual is loaded.
        description: What it takes, such as where a token comes from, as far as the manual says so.
    """

    key: str
    defined: bool
    tools: tuple[str, ...] = ()
    optional_tools: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class RequiredVariable:
    """A variable that a manual needs.

    Attributes:
        key: The key that is looked up.
        defined: Whether it has a value now.
        manual: The name of the manual.
        description: What it takes, as far as that is known without connecting.
    """

    key: str
    defined: bool
    manual: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class LoadedManual:
    """What a manual brings.

    Attributes:
        tools: Its tools, in order.
        skipped: The tools that were left out.
        variables: The variables that its tools need or could use.
        warnings: What is odd about its tools, in whole sentences.
    """

    tools: tuple[DiscoveredTool, ...] = ()
    skipped: tuple[SkippedTool, ...] = ()
    variables: tuple[ManualVariable, ...] = ()
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
