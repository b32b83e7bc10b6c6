"""The README says what is true."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _commands() -> list[str]:
    return re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_readme_has_two_commands_one_for_the_demo_and_one_for_the_tests() -> None:
    demo, tests = _commands()
    assert demo.endswith("python3 -m uv run utcp-bridge demo\n")
    assert tests.endswith("python3 -m uv run pytest\n")


def test_links_lead_to_files() -> None:
    for page in ROOT.glob("*.md"):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
