"""Settings for all tests."""

from __future__ import annotations

from hypothesis import settings

# A wall-clock limit would make a slow machine fail a right program; benchmarks/ is where time is measured.
settings.register_profile("utcp-bridge", deadline=None)
settings.load_profile("utcp-bridge")
