"""LangChain's own standard tests for tools, on a tool that is called over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("langchain_tests")

from langchain_core.tools import BaseTool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from langchain_utcp_toolkit import UTCPToolkit
from tests.support.manuals import config
from utcp_bridge.demo.server import tool_server


@pytest.fixture(scope="module")
def weather() -> Iterator[BaseTool]:
    with tool_server() as server, UTCPToolkit(config(server.call_template("home"))) as toolkit:
        yield next(tool for tool in toolkit.get_tools() if tool.name == "home_get_weather")


class _OnWeather:
    @pytest.fixture(autouse=True)
    def _use(self, weather: BaseTool) -> None:
        self.weather = weather

    @property
    def tool_constructor(self) -> BaseTool:
        return self.weather

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {"city": "Paris"}


class TestUnit(_OnWeather, ToolsUnitTests):
    pass


class TestIntegration(_OnWeather, ToolsIntegrationTests):
    pass
