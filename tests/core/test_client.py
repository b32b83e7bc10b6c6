"""The client: what it fetches, keeps and calls, for every protocol, and what it leaves alone."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from utcp.data.tool import Tool
from utcp.data.utcp_client_config import UtcpClientConfig
from utcp.exceptions import UtcpProtocolCloseError
from utcp.implementations.in_mem_tool_repository import InMemToolRepository
from utcp.interfaces.communication_protocol import CommunicationProtocol
from utcp.interfaces.tool_post_processor import ToolPostProcessor
from utcp.interfaces.tool_search_strategy import ToolSearchStrategy
from utcp.utcp_client import UtcpClient

from tests.support.documents import Documents, manual, serving, tool
from utcp_bridge import errors
from utcp_bridge.config import BridgeConfig, ManualTemplate, load_config
from utcp_bridge.transports.client.client import Client, config_mapping, is_utcp_client, open_client
from utcp_bridge.transports.client.loaded import RequiredVariable
from utcp_bridge.transports.failures import ManualRefusedError
from utcp_bridge.transports.variable_values import UndefinedVariableError

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
async def documents() -> AsyncIterator[Documents]:
    async with serving(echo={"said": "hello"}) as running:
        running.pages["/utcp"] = manual(tool("echo", f"{running.base_url}/echo"))
        yield running


async def _load(client: Client) -> None:
    for template in await client.manual_templates():
        await client.keep_manual(await client.fetch_manual(template))


class opened:  # noqa: N801 - reads as a function
    """A client with all manuals of a source loaded, closed at the end."""

    def __init__(self, source: Any) -> None:
        self._source = source

    async def __aenter__(self) -> Client:
        self._client = await open_client(self._source)
        await _load(self._client)
        return self._client

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()


# -- kinds of manuals


async def test_a_manual_over_http_is_fetched_and_its_tool_called(documents: Documents) -> None:
    async with opened({"manual_call_templates": [documents.template("m", "/utcp")]}) as client:
        assert await client.call_tool("m.echo", {"text": "a b"}) == {"said": "hello"}
    assert [path for _, path, _, _ in documents.requests] == ["/utcp", "/echo?text=a%20b"]


@pytest.mark.parametrize("kind", ["sse", "streamable_http"])
async def test_streaming_protocols_load_manuals_as_forgivingly(documents: Documents, kind: str) -> None:
    documents.pages["/utcp"] = {**manual(tool("echo", f"{documents.base_url}/echo")), "info": {"title": "shown"}}
    fields = {"call_template_type": kind, "headers": {"X-Key": "k"}, "allowed_communication_protocols": ["http"]}
    async with opened({"manual_call_templates": [documents.template("m", "/utcp", **fields)]}) as client:
        assert await client.call_tool("m.echo", {}) == {"said": "hello"}
    assert documents.requests[0][2]["X-Key"] == "k"


async def test_a_tool_of_a_streaming_protocol_is_called_as_before(documents: Documents) -> None:
    documents.pages["/stream"] = {"part": 1}
    stream = tool("s", f"{documents.base_url}/stream", call_template_type="streamable_http")
    documents.pages["/utcp"] = manual(stream)
    template = documents.template("m", "/utcp", call_template_type="streamable_http")
    async with opened({"manual_call_templates": [template]}) as client:
        assert await client.call_tool("m.s", {}) is not None
        assert [piece async for piece in client.stream_tool("m.s", {})]


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
async def test_a_file_is_read_from_the_root_directory(documents: Documents, tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"manual{suffix}").write_text(json.dumps(documents.pages["/utcp"]), encoding="utf-8-sig")
    template = {
        "name": "m",
        "call_template_type": "file",
        "file_path": f"manual{suffix}",
        "allowed_communication_protocols": ["http"],
    }
    config = BridgeConfig((ManualTemplate("m", template),), {}, tmp_path)
    client = await Client.create(config)
    await _load(client)
    assert await client.call_tool("m.echo", {}) == {"said": "hello"}
    await client.close()


async def test_a_missing_file_is_named(tmp_path: Path) -> None:
    template = {"name": "m", "call_template_type": "file", "file_path": "gone.json"}
    client = await Client.create(BridgeConfig((), {}, tmp_path))
    with pytest.raises(FileNotFoundError, match=r"gone\.json"):
        await client.fetch_manual(ManualTemplate("m", template))
    await client.close()


async def test_a_broken_file_is_named_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{\n "tools": [}')
    template = {"name": "m", "call_template_type": "file", "file_path": "broken.json"}
    client = await Client.create(BridgeConfig((), {}, tmp_path))
    with pytest.raises(ManualRefusedError, match=r"broken\.json.*line 2"):
        await client.fetch_manual(ManualTemplate("m", template))
    await client.close()


async def test_a_manual_may_stand_in_the_configuration_as_an_object(documents: Documents) -> None:
    template = {
        "name": "m",
        "call_template_type": "text",
        "content": documents.pages["/utcp"],
        "allowed_communication_protocols": ["http"],
    }
    client = await Client.create(BridgeConfig((ManualTemplate("m", template),)))
    await _load(client)
    assert await client.call_tool("m.echo", {}) == {"said": "hello"}
    await client.close()


@pytest.mark.skipif(sys.platform == "win32", reason="the command is for a POSIX shell")
async def test_a_command_prints_its_manual_and_runs_its_tool(tmp_path: Path) -> None:
    run = {
        "name": "say",
        "inputs": {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
        "tool_call_template": {
            "call_template_type": "cli",
            "commands": [{"command": "echo one"}, {"command": 'echo "$CMD_0_OUTPUT UTCP_ARG_what_UTCP_END $HOME"'}],
        },
    }
    printed = tmp_path / "manual.json"
    printed.write_text(json.dumps({**manual(run), "info": {"title": "shown"}}))
    template = {"name": "c", "call_template_type": "cli", "commands": [{"command": f"cat '{printed}'"}]}
    async with opened({"manual_call_templates": [template]}) as client:
        assert await client.call_tool("c.say", {"what": "two"}) == f"one two {os.environ['HOME']}"


class ProbeProtocol(CommunicationProtocol):
    """A protocol of a plugin: registers one tool and answers with what it was called with."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.fails_to_close = False
        self.closed = False

    async def register_manual(self, caller: Any, manual_call_template: Any) -> Any:
        from utcp.data.register_manual_response import RegisterManualResult
        from utcp.data.utcp_manual import UtcpManual

        inputs = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}
        one = Tool.model_validate({"name": "probe", "inputs": inputs, "tool_call_template": manual_call_template})
        return RegisterManualResult(
            manual_call_template=manual_call_template, manual=UtcpManual(tools=[one]), success=True, errors=[]
        )

    async def deregister_manual(self, caller: Any, manual_call_template: Any) -> None:
        pass

    async def call_tool(self, caller: Any, tool_name: str, tool_args: Any, tool_call_template: Any) -> Any:
        self.words.append(tool_call_template.words)
        return {"args": tool_args, "root": caller.root_dir}

    async def call_tool_streaming(  # type: ignore[override]
        self, caller: Any, tool_name: str, tool_args: Any, tool_call_template: Any
    ) -> AsyncGenerator[Any, None]:
        for piece in ("one", tool_args):
            yield piece

    async def close(self) -> None:
        self.closed = True
        if self.fails_to_close:
            raise RuntimeError("the socket is stuck")


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> list[ProbeProtocol]:
    """Registers the type `probe` as a plugin would, with one protocol for each client."""
    from utcp.data.call_template import CallTemplate, CallTemplateSerializer

    class ProbeTemplate(CallTemplate):
        words: str = ""

    class Serializer:
        def to_dict(self, template: Any) -> dict[str, Any]:
            return dict(template.model_dump())

        def validate_dict(self, fields: dict[str, Any]) -> Any:
            return ProbeTemplate.model_validate(fields)

    made: list[ProbeProtocol] = []

    def factory() -> ProbeProtocol:
        made.append(ProbeProtocol())
        return made[-1]

    monkeypatch.setitem(CallTemplateSerializer.call_template_serializers, "probe", Serializer())
    monkeypatch.setitem(CommunicationProtocol.communication_protocol_factories, "probe", factory)
    return made


async def test_a_protocol_of_a_plugin_works_as_before(probe: list[ProbeProtocol]) -> None:
    template = {"name": "p", "call_template_type": "probe", "words": "says ${WORD}"}
    config = load_config({"variables": {"p_WORD": "something"}, "manual_call_templates": [template]})
    client = await Client.create(config)
    await _load(client)
    assert client.loop_bound("probe")
    loaded = client.kept_manual("p")
    assert loaded is not None
    assert json.dumps(loaded.tools[0].inputs["properties"]) == '{"n": {"type": "integer", "minimum": 1}}'  # type: ignore[index]
    assert await client.call_tool("p.probe", {"n": 1}) == {"args": {"n": 1}, "root": str(Path.cwd())}
    assert probe[0].words == ["says something"]
    assert [piece async for piece in client.stream_tool("p.probe", {"n": 1})] == ["one", {"n": 1}]
    await client.close()
    assert [protocol.closed for protocol in probe] == [True]


async def test_protocols_that_do_not_close_are_reported(probe: list[ProbeProtocol]) -> None:
    template = {"name": "p", "call_template_type": "probe"}
    client = await open_client({"manual_call_templates": [template]})
    await _load(client)
    probe[0].fails_to_close = True
    with pytest.raises(UtcpProtocolCloseError, match="the socket is stuck"):
        await client.close()


# -- variables


async def test_variables_are_looked_up_at_each_call(documents: Documents, monkeypatch: pytest.MonkeyPatch) -> None:
    documents.pages["/utcp"] = manual(tool("echo", f"{documents.base_url}/echo", headers={"X-Key": "${KEY}"}))
    async with opened({"manual_call_templates": [documents.template("my-api", "/utcp")]}) as client:
        with pytest.raises(UndefinedVariableError, match="my__api_KEY"):
            await client.call_tool("my_api.echo", {})
        for value in ("first-value", "second-value"):
            monkeypatch.setenv("my__api_KEY", value)
            await client.call_tool("my_api.echo", {})
            assert documents.requests[-1][2]["X-Key"] == value


async def test_dollar_signs_that_mean_something_else_reach_the_server(documents: Documents) -> None:
    documents.pages["/users/$count"] = {"count": 3}
    documents.pages["/utcp"] = manual(tool("count", f"{documents.base_url}/users/$count?$top=5"))
    async with opened({"manual_call_templates": [documents.template("m", "/utcp")]}) as client:
        assert await client.call_tool("m.count", {}) == {"count": 3}
    assert documents.requests[-1][1] == "/users/$count?$top=5"


async def test_a_variable_may_stand_for_a_number(documents: Documents) -> None:
    stream = tool("s", f"{documents.base_url}/echo", call_template_type="streamable_http", timeout="${LIMIT}")
    documents.pages["/utcp"] = manual(stream)
    config = {
        "variables": {"m_LIMIT": "5000"},
        "manual_call_templates": [
            documents.template("m", "/utcp", allowed_communication_protocols=["streamable_http"])
        ],
    }
    async with opened(config) as client:
        loaded = client.kept_manual("m")
    assert loaded is not None
    assert [tool.utcp_name for tool in loaded.tools] == ["m.s"]


async def test_required_variables_are_listed_without_connecting() -> None:
    template = {
        "name": "my_api",
        "call_template_type": "http",
        "url": "http://127.0.0.1:9/${PATH_PART}?$top=5",
        "headers": {"X": "$TOKEN"},
    }
    client = await open_client({"variables": {"my__api_TOKEN": "t"}, "manual_call_templates": [template]})
    assert await client.required_variables() == (
        RequiredVariable("my__api_PATH_PART", defined=False, manual="my_api"),
        RequiredVariable("my__api_TOKEN", defined=True, manual="my_api"),
    )
    await client.close()


async def test_a_variable_that_refers_to_nothing_costs_only_who_needs_it(documents: Documents) -> None:
    config = {
        "variables": {"bad_TOKEN": "${NOWHERE_TO_BE_FOUND}"},
        "manual_call_templates": [documents.template("good", "/utcp")],
    }
    async with opened(config) as client:
        assert await client.call_tool("good.echo", {}) == {"said": "hello"}
        with pytest.raises(UndefinedVariableError, match="NOWHERE_TO_BE_FOUND"):
            await client.fetch_manual(
                ManualTemplate("bad", documents.template("bad", "/utcp", headers={"X": "$TOKEN"}))
            )


async def test_a_variable_file_is_read_and_read_again_when_it_changes(documents: Documents, tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("m_KEY=of-the-file\n")
    documents.pages["/utcp"] = manual(tool("echo", f"{documents.base_url}/echo", headers={"X-Key": "${KEY}"}))
    loader = {"variable_loader_type": "dotenv", "env_file_path": str(tmp_path / ".env")}
    template = documents.template("m", "/utcp", headers={"X-Key": "${KEY}"})
    async with opened({"load_variables_from": [loader], "manual_call_templates": [template]}) as client:
        assert documents.requests[-1][2]["X-Key"] == "of-the-file"
        (tmp_path / ".env").write_text("m_KEY=of-the-new-file\n")
        await client.call_tool("m.echo", {})
        assert documents.requests[-1][2]["X-Key"] == "of-the-new-file"


# -- what the configuration brings


class Upper(ToolPostProcessor):
    """Makes replies louder."""

    tool_post_processor_type: str = "upper"

    def post_process(self, caller: Any, tool: Any, manual_call_template: Any, result: Any) -> Any:
        assert isinstance(tool, Tool)
        return {key: value.upper() for key, value in result.items()}


class Backwards(ToolSearchStrategy):
    """Finds every tool, last first."""

    tool_search_strategy_type: str = "backwards"

    async def search_tools(
        self, tool_repository: Any, query: str, limit: int = 10, any_of_tags_required: Any = None
    ) -> list[Tool]:
        return [*reversed(await tool_repository.get_tools())]


async def test_post_processors_repositories_and_search_strategies_are_used(documents: Documents) -> None:
    documents.pages["/utcp"]["tools"].append(tool("other", f"{documents.base_url}/other"))
    repository = InMemToolRepository()
    config = {
        "post_processing": [Upper()],
        "tool_search_strategy": Backwards(),
        "tool_repository": repository,
        "manual_call_templates": [documents.template("m", "/utcp")],
    }
    async with opened(config) as client:
        assert await client.call_tool("m.echo", {}) == {"said": "HELLO"}
        assert await client.search_tools("anything") == ["m.other", "m.echo"]
        assert [each.name for each in await repository.get_tools()] == ["m.echo", "m.other"]
        stored = await repository.get_tool("m.echo")
        assert stored is not None
        assert stored.inputs.properties is not None
        assert stored.inputs.properties["text"].type == "string"


async def test_a_manual_takes_the_place_of_its_older_version(documents: Documents) -> None:
    async with opened({"manual_call_templates": [documents.template("m", "/utcp")]}) as client:
        documents.pages["/utcp"] = manual(tool("new", f"{documents.base_url}/echo"))
        await _load(client)
        assert await client.call_tool("m.new", {}) == {"said": "hello"}
        with pytest.raises(ValueError, match="Tool not found"):
            await client.call_tool("m.echo", {})


async def test_a_client_configuration_that_utcp_refuses_says_why() -> None:
    with pytest.raises(errors.ConfigError, match="tool_repository"):
        await Client.create(BridgeConfig(client={"tool_repository": {"tool_repository_type": "nowhere"}}))


@pytest.mark.parametrize(
    ("client", "words"),
    [
        (
            {"load_variables_from": [{"variable_loader_type": "dotenv", "env_file": "sk-LIVE"}]},
            "load_variables_from[0].env_file_path: is missing; unknown key 'env_file' in 'load_variables_from[0]', "
            "which has no effect; did you mean 'env_file_path'?",
        ),
        (
            {"load_variables_from": [{"variable_loader_type": "env"}]},
            "load_variables_from[0].variable_loader_type: expected 'dotenv', got 'env'; did you mean 'dotenv'?",
        ),
        ({"load_variables_from": [{"env_file_path": ".env"}]}, "variable_loader_type: expected 'dotenv', got nothing."),
        (
            {"post_processing": [{"tool_post_processor_type": "limit_strings", "limit": "sk-LIVE"}]},
            "post_processing[0].limit: expected a whole number, got text.",
        ),
        (
            {"post_processing": [{"tool_post_processor_type": "filterdict"}]},
            "expected 'filter_dict' or 'limit_strings', got 'filterdict'; did you mean 'filter_dict'?",
        ),
        (
            {"tool_search_strategy": {"type": "x"}},
            "tool_search_strategy_type: expected 'tag_and_description_word_match'",
        ),
        ({"tool_repository": {"tool_repository_type": 5}}, "tool_repository_type: expected 'in_memory', got a number."),
    ],
)
async def test_a_wrong_part_of_a_client_configuration_is_named_with_its_place(
    client: dict[str, Any], words: str
) -> None:
    with pytest.raises(errors.ConfigError) as caught:
        await Client.create(BridgeConfig(client=client))
    assert words in str(caught.value)
    assert "sk-LIVE" not in str(caught.value)
    assert not str(caught.value).endswith("?.")


async def test_a_configuration_object_is_a_source(documents: Documents) -> None:
    repository = InMemToolRepository()
    source = UtcpClientConfig(tool_repository=repository, post_processing=[Upper()])
    source.manual_call_templates = UtcpClientConfig.model_validate(
        {"manual_call_templates": [documents.template("m", "/utcp")]}
    ).manual_call_templates
    assert config_mapping(source)["tool_repository"] is repository
    async with opened(source) as client:
        assert await client.call_tool("m.echo", {}) == {"said": "HELLO"}
    assert [each.name for each in await repository.get_tools()] == ["m.echo"]


async def test_a_ready_client_is_used_as_it_is_and_left_open(documents: Documents) -> None:
    ready = await UtcpClient.create(config={"manual_call_templates": [documents.template("m", "/utcp")]})
    assert is_utcp_client(ready)
    async with opened(ready) as client:
        (template,) = await client.manual_templates()
        assert template.name == "m"
        assert await client.call_tool("m.echo", {}) == {"said": "hello"}
    assert await ready.call_tool("m.echo", {}) == {"said": "hello"}
    await ready.close()


def test_other_sources_are_no_ready_clients() -> None:
    assert not is_utcp_client({})
    assert not is_utcp_client(UtcpClientConfig())


# -- security


async def test_a_manual_from_elsewhere_may_not_lead_to_this_machine(documents: Documents) -> None:
    from utcp.data.call_template import CallTemplateSerializer

    from utcp_bridge.transports.manuals.reading import tools_of_manual
    from utcp_bridge.transports.manuals.registration import register
    from utcp_bridge.transports.variable_values import Variables

    draft = tools_of_manual(
        manual(
            tool("here", "http://127.0.0.1:1/x"),
            tool("hidden", "http://2130706433/x"),
            tool("there", "https://api.example.com/x"),
        )
    )
    template = CallTemplateSerializer().validate_dict(documents.template("m", "/utcp"))
    far, near = (
        register(draft, template, variables=Variables({}, ()), final_url=url, broken_plugins={})
        for url in ("https://far.example.com/utcp", "http://localhost:8000/utcp")
    )
    assert [each.tool.name for each in far.tools] == ["m.there"]
    assert [each.name for each in far.skipped] == ["m.here", "m.hidden"]
    assert len(near.tools) == 3


@pytest.mark.parametrize("url", ["http://api.example.com/utcp", "http://localhost.evil.example/utcp", "ftp://h/x"])
async def test_plain_http_to_another_machine_is_refused(url: str) -> None:
    client = await Client.create(BridgeConfig())
    with pytest.raises(Exception, match=r"(?i)https|HTTP"):
        await client.fetch_manual(ManualTemplate("m", {"name": "m", "call_template_type": "http", "url": url}))
    await client.close()


# -- secrets


async def test_no_secret_comes_out_of_a_call(
    documents: Documents, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    documents.pages |= {"/leak": {"you sent": "sk-LIVE-1", "and": ["sk-LIVE-2"]}, "/fail": {"error": "bad sk-LIVE-1"}}
    documents.statuses["/fail"] = 403
    auth = {"auth_type": "api_key", "api_key": "sk-LIVE-1", "var_name": "api_key", "location": "query"}
    documents.pages["/utcp"] = manual(
        tool("leak", f"{documents.base_url}/leak", auth=auth, headers={"X": "${OTHER}"}),
        tool("fail", f"{documents.base_url}/fail", auth={**auth, "api_key": "${FIRST}"}),
        tool("gone", "http://127.0.0.1:9/gone", auth={**auth, "api_key": "${FIRST}"}),
    )
    config = {
        "variables": {"m_OTHER": "sk-LIVE-2", "m_FIRST": "sk-LIVE-1"},
        "manual_call_templates": [documents.template("m", "/utcp")],
    }
    async with opened(config) as client:
        assert await client.call_tool("m.leak", {}) == {"you sent": "***", "and": ["***"]}
        for name in ("m.fail", "m.gone"):
            with pytest.raises(errors.ToolCallError) as caught:
                await client.call_tool(name, {})
            error: BaseException | None = caught.value
            while error is not None:
                assert "sk-LIVE" not in f"{error} {error!r} {vars(error)}"
                error = error.__cause__ or error.__context__
        assert "sk-LIVE" not in repr(client)
        assert documents.requests[-1][1] == "/fail?api_key=sk-LIVE-1"
    assert "sk-LIVE" not in caplog.text
    assert "sk-LIVE" not in "".join(capfd.readouterr())


# -- the process around it


async def test_nothing_changes_for_other_clients_in_the_process(documents: Documents) -> None:
    async with opened({"manual_call_templates": [documents.template("m", "/utcp")]}):
        other = await UtcpClient.create(config={"manual_call_templates": [documents.template("o", "/utcp")]})
        assert type(other).__name__ == "UtcpClientImplementation"
        kinds = {name: type(each).__module__ for name, each in CommunicationProtocol.communication_protocols.items()}
        assert not any(module.startswith("utcp_bridge") for module in kinds.values())
        assert await other.call_tool("o.echo", {}) == {"said": "hello"}
        await other.close()


BROKEN_PLUGIN = """
import asyncio, logging, sys
sys.path.insert(0, {folder!r})
from utcp_bridge.transports.client.client import open_client
from utcp_bridge.config import ManualTemplate

async def main():
    client = await open_client({{"manual_call_templates": []}})
    template = {{"name": "m", "call_template_type": "text", "content": '{{"tools": []}}'}}
    print("loaded", (await client.fetch_manual(ManualTemplate("m", template))).name)
    try:
        await client.fetch_manual(ManualTemplate("b", {{"name": "b", "call_template_type": "broken"}}))
    except Exception as error:
        print("refused", error)
    await client.close()
    root = logging.getLogger()
    print("root", root.handlers, root.level)

asyncio.run(main())
asyncio.run(main())
"""


def test_a_broken_plugin_costs_only_itself_and_the_root_logger_stays(tmp_path: Path) -> None:
    (tmp_path / "broken_plugin.py").write_text("import a_module_that_is_not_there\n")
    metadata = tmp_path / "utcp_broken-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: utcp-broken\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[utcp.plugins]\nbroken = broken_plugin:register\n")
    run = subprocess.run(
        [sys.executable, "-c", BROKEN_PLUGIN.format(folder=str(tmp_path))],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert run.stdout.count("loaded m") == 2
    assert "refused no installed UTCP plugin" in run.stdout
    assert "a_module_that_is_not_there" in run.stdout
    assert run.stdout.count("root [] 30") == 2
    warnings = [line for line in run.stderr.splitlines() if line.strip()]
    assert len(warnings) == 1
    assert "'broken' (utcp-broken) cannot be loaded" in warnings[0]


UNANNOUNCED_PLUGIN = """
import sys
sys.path.insert(0, {folder!r})
from utcp_bridge import Toolset
manual = {{"name": "g", "call_template_type": "graphql", "url": "x"}}
for _ in range(2):
    with Toolset.open({{"manual_call_templates": [manual]}}) as toolset:
        print(toolset.report)
"""

REGISTERS = """
from utcp.data.call_template import CallTemplate
from utcp.interfaces.serializer import Serializer
from utcp.plugins.discovery import register_call_template, register_communication_protocol

class Template(CallTemplate):
    call_template_type: str = "graphql"
    url: str

class TemplateSerializer(Serializer[Template]):
    def to_dict(self, obj): return obj.model_dump()
    def validate_dict(self, obj) -> Template: return Template.model_validate(obj)

class Protocol:
    async def register_manual(self, caller, template): raise RuntimeError("asked at " + template.url)

def register():
    print("registered")
    register_communication_protocol("graphql", Protocol())
    register_call_template("graphql", TemplateSerializer())
"""


@pytest.mark.parametrize(
    ("source", "registered", "reported"),
    [
        (REGISTERS, 1, "asked at x"),
        ("import a_module_that_is_not_there", 0, "the plugin 'graphql' cannot be loaded: ModuleNotFoundError"),
        (
            "def register(): raise ValueError('no luck')",
            0,
            "the plugin 'graphql' cannot be loaded: ValueError: no luck",
        ),
        ("", 0, "the plugin 'graphql' cannot be loaded: AttributeError"),
    ],
)
def test_a_plugin_of_utcp_without_an_entry_point_is_registered_once(
    tmp_path: Path, source: str, registered: int, reported: str
) -> None:
    """The wheel of utcp-gql 1.1.6 declares none, so that upstream never finds it."""
    (tmp_path / "utcp_gql.py").write_text(source)
    run = subprocess.run(
        [sys.executable, "-c", UNANNOUNCED_PLUGIN.format(folder=str(tmp_path))],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert run.stdout.count("registered\n") == registered
    assert run.stdout.count(reported) == 2
    assert run.stderr.count("The UTCP plugin 'graphql' (utcp-gql) cannot be loaded") == 1 - registered


def test_importing_the_client_does_not_import_utcp() -> None:
    script = "import sys, utcp_bridge.discovery; print([m for m in sys.modules if m.split('.')[0] == 'utcp'])"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.strip() == "[]"


async def test_many_calls_at_once_do_not_mix(documents: Documents) -> None:
    pages = {f"/p{index}": {"n": index} for index in range(20)}
    documents.pages |= pages
    documents.pages["/utcp"] = manual(*(tool(path[1:], f"{documents.base_url}{path}") for path in pages))
    async with opened({"manual_call_templates": [documents.template("m", "/utcp")]}) as client:
        replies = await asyncio.gather(*(client.call_tool(f"m.p{index}", {}) for index in range(20)))
    assert replies == [{"n": index} for index in range(20)]


async def test_a_fetched_token_is_a_secret_as_well(documents: Documents) -> None:
    documents.pages |= {"/token": {"access_token": "tok-12345678", "expires_in": 60}, "/me": "you are tok-12345678"}
    auth = {
        "auth_type": "oauth2",
        "client_id": "id",
        "client_secret": "client-s3cret",
        "token_url": f"{documents.base_url}/token",
    }
    documents.pages["/utcp"] = manual(tool("me", f"{documents.base_url}/me", auth=auth))
    async with opened({"manual_call_templates": [documents.template("m", "/utcp")]}) as client:
        assert await client.call_tool("m.me", {}) == "you are ***"
    assert documents.requests[-1][2]["Authorization"] == "Bearer tok-12345678"


async def test_a_value_that_holds_a_dollar_sign_is_not_filled_in_again(
    probe: list[ProbeProtocol], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("p_PASSWORD", "pa$WORD${X}")
    template = {"name": "p", "call_template_type": "probe", "words": "${PASSWORD}"}
    async with opened({"manual_call_templates": [template]}) as client:
        await client.call_tool("p.probe", {})
    assert probe[0].words == ["pa$WORD${X}"]


async def test_a_protocol_that_the_user_registered_is_left_in_its_place(
    documents: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    from utcp_http.http_communication_protocol import HttpCommunicationProtocol

    class Own(HttpCommunicationProtocol):
        async def call_tool(self, *_: Any) -> Any:
            return "my own"

    monkeypatch.setitem(CommunicationProtocol.communication_protocols, "http", Own())
    async with opened({"manual_call_templates": [documents.template("m", "/utcp")]}) as client:
        assert await client.call_tool("m.echo", {}) == "my own"
