from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ovos_utils.fakebus import FakeBus
from ovos_utils.log import LOG

import tests.support.ovos  # noqa: F401 - first, because importing OPM warns
from ovos_utcp_toolbox import UTCPToolBox

OVOS_LOGGER = "ovos-in-tests"
MakeToolBox = Callable[..., UTCPToolBox]


@pytest.fixture(autouse=True)
def ovos_log(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What OVOS logs; its own loggers write to the standard output that the first test had."""
    logger = logging.getLogger(OVOS_LOGGER)
    monkeypatch.setattr(LOG, "create_logger", classmethod(lambda cls, name, tostdout=True: logger))
    caplog.set_level(logging.INFO, logger.name)
    return caplog


@pytest.fixture
def toolbox() -> Iterator[MakeToolBox]:
    """Makes toolboxes that are closed when the test ends."""
    made: list[UTCPToolBox] = []

    def make(*args: Any, kind: type[UTCPToolBox] = UTCPToolBox, **kwargs: Any) -> UTCPToolBox:
        made.append(kind(*args, **kwargs))
        return made[-1]

    yield make
    for one in made:
        one.unbind()


@pytest.fixture
def bus() -> FakeBus:
    return FakeBus()
