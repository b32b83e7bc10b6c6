"""LlamaIndex, as the contract tests speak to it: as its agents do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from llama_index.tools.utcp import UTCPToolSpec
from tests.contract.offers import Adapter, Offer, Outcome


class LlamaIndexOffer(Offer):
    """A tool spec."""

    def __init__(self, spec: UTCPToolSpec, *, blocks: bool) -> None:
        self._spec = spec
        self._blocks = blocks
        tools = spec.to_tool_list() if blocks else asyncio.run(spec.to_tool_list_async())
        self._tools = {tool.metadata.get_name(): tool for tool in tools}

    def descriptions(self) -> dict[str, str]:
        """What models are told of each tool."""
        shown = [tool.metadata.to_openai_tool()["function"] for tool in self._tools.values()]
        return {function["name"]: function["description"] for function in shown}

    def schema(self, name: str) -> dict[str, Any]:
        """The schema that LlamaIndex sends to a model."""
        parameters: dict[str, Any] = self._tools[name].metadata.to_openai_tool()["function"]["parameters"]
        return parameters

    def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """Call a tool as an agent does."""
        tool = self._tools[name]
        output = tool.call(**arguments) if self._blocks else asyncio.run(tool.acall(**arguments))
        return Outcome(output.content, output.is_error)

    def report(self) -> str:
        """The report of the spec."""
        return str(self._spec.report)


class LlamaIndexAdapter(Adapter):
    """`call` or `acall`."""

    @contextmanager
    def offer(self, source: Any, **options: Any) -> Iterator[Offer]:
        """The tools of a source."""
        spec = UTCPToolSpec(source, **options)
        try:
            yield LlamaIndexOffer(spec, blocks=self.blocks)
        finally:
            spec.close()
