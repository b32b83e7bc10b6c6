"""The `utcp-bridge` command, as a user starts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_demo_calls_tools_and_shows_an_error() -> None:
    command = Path(sys.executable).with_name("utcp-bridge")
    ran = subprocess.run([command, "demo"], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert 'ok: {"city":"Paris","sky":"sunny","celsius":21}' in ran.stdout
    assert 'ok: {"kept":{"text":"buy milk","tags":["home"]}}' in ran.stdout
    assert "error: demo_get_weather failed: HTTP 404 Not Found: no city 'Atlantis'; try Paris or Oslo" in ran.stdout
