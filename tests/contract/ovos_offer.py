"""OVOS, as the contract tests speak to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any, ClassVar

import tests.support.ovos  # noqa: F401 - first, because importing OPM warns
from ovos_utcp_toolbox import UTCPToolBox
from tests.contract.offers import Adapter, Offer, Outcome


class PatientToolBox(UTCPToolBox):
    """One that waits for every manual, however busy the machine is."""

    rediscovery_patience: ClassVar[float] = 60.0


class OVOSOffer(Offer):
    """A toolbox."""

    def __init__(self, toolbox: UTCPToolBox) -> None:
        self._toolbox = toolbox

    def descriptions(self) -> dict[str, str]:
        """What models are told of each tool."""
        return {tool["function"]["name"]: tool["function"]["description"] for tool in self._toolbox.openai_tools}

    def schema(self, name: str) -> dict[str, Any]:
        """The schema that OPM sends to a model."""
        return self._parameters[name]

    @cached_property
    def _parameters(self) -> dict[str, dict[str, Any]]:
        shown = [tool["function"] for tool in self._toolbox.openai_tools]
        return {function["name"]: function["parameters"] for function in shown}

    def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call a tool as the loops of OVOS do."""
        output = self._toolbox.call_tool(name, dict(arguments))
        return Outcome(str(output), output.is_error)

    def report(self) -> str:
        """The report of the toolset."""
        return str(self._toolbox.toolset.report)


class OVOSAdapter(Adapter):
    """OVOS has no async calls."""

    @contextmanager
    def offer(self, source: Any, **options: Any) -> Iterator[Offer]:
        """The tools of a source."""
        with closing(PatientToolBox(config={"utcp_config": source, **options})) as toolbox:
            _ = toolbox.toolset  # raises what OVOS only logs
            yield OVOSOffer(toolbox)
