"""Real LlamaIndex agents, driven by a scripted model, over a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent, ReActAgent, ToolCallResult
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool, ToolOutput
from llama_index.core.workflow import JsonPickleSerializer, JsonSerializer

from llama_index.tools.utcp import UTCPTool, UTCPToolSpec
from tests.support.llamaindex_agents import CodingModel, ReasoningModel, ScriptedModel, tool_call
from utcp_bridge import Toolset

# llama-index-workflows 2.26.1 looks at every attribute of an agent, Pydantic's deprecated ones included, and
# llama-index-core 0.14.25 asks it something that it has deprecated.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:ServiceManager is deprecated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),
]

PARIS = '{"city":"Paris","sky":"sunny","celsius":21}'


@pytest.fixture
def tools(home: dict[str, Any]) -> Iterator[list[Any]]:
    with UTCPToolSpec(home) as spec:
        yield spec.to_tool_list()


TURNS = [
    [tool_call("home_get_weather", {"city": "Paris"}, "1"), tool_call("home_get_weather", {"town": 1}, "2")],
    [tool_call("home_get_weather", {"city": "Atlantis"}, "3")],
    [tool_call("home_add_note", {"body": {"text": "sunny", "tags": ["x"]}}, "4")],
]


def _function_agent(tools: list[Any], model: ScriptedModel) -> Any:
    return FunctionAgent(tools=tools, llm=model)


def _workflow(tools: list[Any], model: ScriptedModel) -> Any:
    return AgentWorkflow(agents=[FunctionAgent(name="a", description="Answers.", tools=tools, llm=model)])


def _workflow_from_tools(tools: list[Any], model: ScriptedModel) -> Any:
    return AgentWorkflow.from_tools_or_functions(tools, llm=model)


def _run(agent: Any, **options: Any) -> tuple[dict[str, ToolOutput], Any]:
    """Ask; gives the output of each tool call by its id, and the answer."""

    async def run() -> tuple[dict[str, ToolOutput], Any]:
        handler = agent.run(user_msg="What is the weather?", **options)
        outputs = {
            event.tool_id: event.tool_output
            async for event in handler.stream_events()
            if isinstance(event, ToolCallResult)
        }
        return outputs, await handler

    return asyncio.run(run())


@pytest.mark.parametrize("make", [_function_agent, _workflow, _workflow_from_tools])
def test_an_agent_sees_tools_calls_them_gets_results_and_errors_and_goes_on(
    tools: list[Any], make: Callable[..., Any]
) -> None:
    model = ScriptedModel(turns=TURNS)
    outputs, answer = _run(make(tools, model))
    assert model.shown.keys() >= {"home_get_weather", "home_add_note"}
    assert model.shown["home_get_weather"]["parameters"]["required"] == ["city"]
    assert {call: output.is_error for call, output in outputs.items()} == {"1": False, "2": True, "3": True, "4": False}
    assert outputs["1"].content == PARIS
    assert "city" in outputs["2"].content
    assert "try Paris or Oslo" in outputs["3"].content
    assert outputs["4"].raw_output.data == {"kept": {"text": "sunny", "tags": ["x"]}}
    assert all(output.content in str(answer) for output in outputs.values())


def test_a_react_agent_does_the_same(tools: list[Any]) -> None:
    turns: list[list[ToolSelection]] = [[call] for turn in TURNS for call in turn]
    model = ReasoningModel(turns=turns)
    outputs, answer = _run(ReActAgent(tools=tools, llm=model))
    assert [output.is_error for output in outputs.values()] == [False, True, True, False]
    assert '"required": ["city"]' in model.prompts[0]
    assert PARIS in model.prompts[1]
    assert "try Paris or Oslo" in model.prompts[-1]
    assert "sunny" in str(answer)


def test_with_on_tool_error_raise_the_agent_makes_the_error_an_output(home: dict[str, Any]) -> None:
    with UTCPToolSpec(home, on_tool_error="raise") as spec:
        outputs, _ = _run(_function_agent([*spec.to_tool_list()], ScriptedModel(turns=TURNS)))
    assert outputs["3"].is_error
    assert "try Paris or Oslo" in outputs["3"].content


def test_return_direct_ends_with_a_result_and_not_with_an_error(home: dict[str, Any]) -> None:
    with Toolset.open(home) as toolset:
        tool = UTCPTool(toolset.tools["home_get_weather"], return_direct=True)
        turns = [[tool_call("home_get_weather", {"city": city}, city)] for city in ("Atlantis", "Oslo", "Paris")]
        outputs, answer = _run(FunctionAgent(tools=[tool], llm=ScriptedModel(turns=turns)))
    assert {city: output.is_error for city, output in outputs.items()} == {"Atlantis": True, "Oslo": False}
    assert str(answer) == '{"city":"Oslo","sky":"snow","celsius":-3}'


def test_nothing_of_llama_indexs_own_reaches_the_wire(echo: Callable[..., UTCPTool]) -> None:
    """Agents hand their context to tools that ask for it; an argument called `ctx` is not asking."""
    tool = echo({"type": "object", "properties": {"ctx": {}, "self": {}, "input": {}}})
    turns = [[tool_call("m_echo", {}, "1"), tool_call("m_echo", {"ctx": "mine", "self": 1, "input": None}, "2")]]
    outputs, _ = _run(_function_agent([tool], ScriptedModel(turns=turns)))
    assert outputs["1"].content == '{"received":{}}'
    assert outputs["2"].content == '{"received":{"ctx":"mine","self":1,"input":null}}'


@pytest.mark.parametrize("serializer", [JsonSerializer, JsonPickleSerializer])
def test_a_stored_run_keeps_the_whole_result_as_json(tools: list[Any], serializer: Any) -> None:
    """A context that is stored in the middle of a run holds the outputs of tools."""
    outputs, _ = _run(_function_agent(tools, ScriptedModel(turns=TURNS)))
    stored = serializer().deserialize(serializer().serialize([outputs["1"], outputs["3"]]))
    assert [output.content for output in stored] == [outputs["1"].content, outputs["3"].content]
    assert [output.is_error for output in stored] == [False, True]
    assert stored[0].raw_output["data"] == {"city": "Paris", "sky": "sunny", "celsius": 21}
    assert stored[1].raw_output["raw"][0]["status"] == 404


@pytest.mark.parametrize("mode", ["predict_and_call", "apredict_and_call"])
def test_a_model_without_an_agent_predicts_and_calls(tools: list[BaseTool], mode: str) -> None:
    """The one loop of LlamaIndex that calls tools from sync code."""

    def predict(**options: Any) -> Any:
        model = ScriptedModel(turns=[[tool_call("home_get_weather", {"city": city}) for city in ("Paris", "Atlantis")]])
        options |= {"user_msg": "What is the weather?", "allow_parallel_tool_calls": True}
        if mode == "predict_and_call":
            return model.predict_and_call(tools, **options)
        return asyncio.run(model.apredict_and_call(tools, **options))

    response = predict()
    assert [source.is_error for source in response.sources] == [False, True]
    assert PARIS in response.response
    assert "try Paris or Oslo" in response.response
    with pytest.raises(ValueError, match="try Paris or Oslo"):
        predict(error_on_tool_error=True)


def test_an_agent_that_writes_code_calls_tools_as_functions(tools: list[Any]) -> None:
    functions = {tool.real_fn.__name__: tool.real_fn for tool in tools}

    def execute(code: str) -> str:
        return str(eval(code, functions))  # noqa: S307  # the code is written below

    model = CodingModel(code=['home_get_weather(city="Paris")', 'home_get_weather(city="Atlantis")'])
    agent = CodeActAgent(code_execute_fn=execute, tools=[*tools], llm=model)
    outputs, answer = _run(agent)
    assert "def home_get_weather(" in model.prompts[0]
    assert '"required": ["city"]' in model.prompts[0]
    paris, atlantis = outputs.values()
    assert paris.content == PARIS
    assert "try Paris or Oslo" in atlantis.content
    assert "try Paris or Oslo" in str(answer)
