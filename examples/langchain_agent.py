"""A LangChain agent with UTCP tools, that shows what it does.

python examples/langchain_agent.py utcp.json openai:gpt-4o-mini "What is the weather in Paris?"
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from langchain_utcp_toolkit import UTCPToolkit


async def conversation(source: Any, model: str | BaseChatModel, question: str) -> AsyncIterator[AnyMessage]:
    """Every message after the question: the model's tool calls, the tools' answers, the model's answer."""
    async with await UTCPToolkit.aopen(source, timeout=20) as toolkit:
        agent = create_agent(model, toolkit.get_tools())
        state: Any = {"messages": [{"role": "user", "content": question}]}
        async for update in agent.astream(state, stream_mode="updates"):
            for node in update.values():
                for message in node["messages"]:
                    yield message


def in_words(message: AnyMessage) -> str:
    """One line for a message; a failed tool call says why it failed."""
    if isinstance(message, ToolMessage):
        return f"{'failed' if message.status == 'error' else 'got'}: {message.content}"
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return "\n".join(f"calls {call['name']} {call['args']}" for call in calls) or str(message.content)


async def main(source: str, model: str, question: str) -> None:
    """Ask a question and show the way to its answer."""
    async for message in conversation(source, model, question):
        sys.stdout.write(in_words(message) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    asyncio.run(main(*sys.argv[1:4]))
