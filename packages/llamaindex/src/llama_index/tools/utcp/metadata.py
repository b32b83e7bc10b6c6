"""What LlamaIndex shows models of a UTCP tool.

LlamaIndex makes a tool's parameters from a Pydantic class and keeps five keywords of their root, and it refuses to
show OpenAI a description of more than 1,024 characters (llama-index-core 0.14.25). Here the schema is shown as its
author wrote it, and a long description is cut where LlamaIndex would refuse it.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import deepcopy
from typing import Any

from llama_index.core.tools import ToolMetadata
from pydantic import BaseModel

from utcp_bridge import BridgedTool
from utcp_bridge.results import cut
from utcp_bridge.schema import model_from_schema, without_properties

_OPENAI_DESCRIPTION_LIMIT = 1024  # `ToolMetadata.to_openai_tool`


class UTCPToolMetadata(ToolMetadata):
    """Name, description and parameters of a UTCP tool.

    All of it can be replaced by assignment, and `description` is whole, however long. A `fn_schema` that you set
    yourself is shown as LlamaIndex shows it; the tool's own schema still judges.

    Args:
        bridged: The tool of a `Toolset`.
        name: A name in place of the tool's own.
        description: A description in place of the tool's own.
        return_direct: Whether the agent's answer is this tool's result.
        fn_schema: A Pydantic class in place of the tool's own schema.
        hidden: Arguments that models are not shown.
    """

    def __init__(
        self,
        bridged: BridgedTool,
        name: str | None = None,
        description: str | None = None,
        return_direct: bool = False,
        fn_schema: type[BaseModel] | None = None,
        *,
        hidden: Collection[str] = (),
    ) -> None:
        self._fn_schema: type[BaseModel] | None = None
        self._bridged = bridged
        self._hidden = frozenset(hidden)
        super().__init__(description or bridged.description, name or bridged.name, fn_schema, return_direct)

    @property
    def fn_schema(self) -> type[BaseModel]:
        """A Pydantic class with the verdict and the JSON Schema of the tool; it is built on first use."""
        if self._fn_schema is None and self._hidden:
            self._fn_schema = model_from_schema(self.get_name(), self._shown())
        return self._fn_schema or self._bridged.args_model

    @fn_schema.setter
    def fn_schema(self, replacement: type[BaseModel] | None) -> None:
        self._fn_schema = replacement
        self._replaced = replacement is not None

    def get_parameters_dict(self) -> dict[str, Any]:
        """The JSON Schema that models are shown: exactly `bridged.input_schema`, but for arguments that are hidden."""
        # A copy, because integrations write into it, such as OpenAI's for strict mode.
        return super().get_parameters_dict() if self._replaced else deepcopy(self._shown())

    def to_openai_tool(self, skip_length_check: bool = False) -> dict[str, Any]:
        """The tool as OpenAI's API takes it.

        Args:
            skip_length_check: Whether to give the description whole; otherwise one of more than 1,024 characters is
                cut, with a notice of its full length.
        """
        tool = super().to_openai_tool(skip_length_check=True)
        if not skip_length_check:
            description = cut(self.description, _OPENAI_DESCRIPTION_LIMIT, what="description")
            tool["function"]["description"] = description
        return tool

    def _shown(self) -> dict[str, Any]:
        if not self._hidden:
            return self._bridged.input_schema
        shown_name = self._bridged.arguments.shown_name
        return without_properties(self._bridged.input_schema, {shown_name(name) for name in self._hidden})
