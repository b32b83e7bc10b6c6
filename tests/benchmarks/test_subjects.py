"""Every subject runs: in its quick form, whose figures mean nothing."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import tests.support.ovos  # noqa: F401 - first, because importing OPM warns
from benchmarks.__main__ import main
from benchmarks.figures import Figure
from benchmarks.measuring import QUICK
from benchmarks.own_interpreter import UnavailableError
from benchmarks.registry import SUBJECTS

# It must be the first to import aiohttp.
NEEDS_ITS_OWN = {"tls"}


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # LlamaIndex's own
@pytest.mark.filterwarnings("ignore:ServiceManager is deprecated:DeprecationWarning")
@pytest.mark.parametrize(
    "name", [name for name, environment in SUBJECTS.items() if environment is None and name not in NEEDS_ITS_OWN]
)
def test_a_subject_yields_figures_of_sides_that_work(name: str) -> None:
    figures: list[Figure] = list(importlib.import_module(f"benchmarks.subjects.{name}").measure(QUICK))
    assert figures
    assert all(figure.ours > 0 and figure.theirs > 0 for figure in figures)


@pytest.mark.parametrize("name", [name for name, environment in SUBJECTS.items() if environment is not None])
def test_a_peer_that_is_not_installed_is_named_as_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module(f"benchmarks.subjects.{name}")
    if hasattr(module, "trusting"):
        monkeypatch.delitem(sys.modules, "aiohttp", raising=False)
    with pytest.raises(UnavailableError, match="No module named"):
        list(module.measure(QUICK))


def test_the_command_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    ran = CliRunner().invoke(main, ["tls", "schemas", "--quick", "--json", str(path)], catch_exceptions=False)
    assert ran.exit_code == 0
    written = json.loads(path.read_text(encoding="utf-8"))
    subjects = {figure["subject"] for figure in written["figures"]}
    assert "Argument schemas" in subjects
    assert "One call over TLS" in subjects or "openssl" in written["missing"]["tls"]
    assert all(subject in ran.output for subject in subjects)
