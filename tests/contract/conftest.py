"""Every contract test runs over every adapter, sync and async."""

from __future__ import annotations

import importlib

import pytest

from tests.contract.offers import Adapter

# Imported when they are used, so that a lane with one framework alone can run its part.
_ADAPTERS = {
    "langchain-sync": ("tests.contract.langchain_offer", "LangChainAdapter", True),
    "langchain-async": ("tests.contract.langchain_offer", "LangChainAdapter", False),
    "llamaindex-sync": ("tests.contract.llamaindex_offer", "LlamaIndexAdapter", True),
    "llamaindex-async": ("tests.contract.llamaindex_offer", "LlamaIndexAdapter", False),
    "ovos": ("tests.contract.ovos_offer", "OVOSAdapter", True),
}


@pytest.fixture(params=_ADAPTERS)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    """One framework, in one mode."""
    module, name, blocks = _ADAPTERS[request.param]
    adapter: Adapter = getattr(importlib.import_module(module), name)(blocks=blocks)
    return adapter
