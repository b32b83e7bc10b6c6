"""A LlamaIndex agent with UTCP tools, that shows what it does.

Needs a LlamaIndex model, here llama-index-llms-openai:
python examples/llamaindex_agent.py utcp.json gpt-4o-mini "What is the weather in Paris?"
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import AsyncIterator
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent, ToolCall, ToolCallResult
from llama_index.core.llms import LLM

from llama_index.tools.utcp import UTCPToolSpec


async def conversation(source: Any, model: LLM, question: str) -> AsyncIterator[str]:
    """One line for each tool call, each result and the answer; a failed tool call says why it failed."""
    async with UTCPToolSpec(source, timeout=20) as spec:
        agent = FunctionAgent(tools=[*await spec.to_tool_list_async()], llm=model)
        run = agent.run(user_msg=question)
        async for event in run.stream_events():
            if isinstance(event, ToolCallResult):
                yield f"{'failed' if event.tool_output.is_error else 'got'}: {event.tool_output.content}"
            elif isinstance(event, ToolCall):
                yield f"calls {event.tool_name} {event.tool_kwargs}"
        yield str(await run)


async def main(source: str, model: str, question: str) -> None:
    """Ask a question and show the way to its answer."""
    openai = importlib.import_module("llama_index.llms.openai").OpenAI
    async for line in conversation(source, openai(model), question):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:4]))
