"""Settings for all tests."""

from __future__ import annotations

import signal

from hypothesis import settings

# A wall-clock limit would make a slow machine fail a right program; benchmarks/ is where time is measured.
settings.register_profile("utcp-bridge", deadline=None)
settings.load_profile("utcp-bridge")

# A shell that starts the tests in the background has them ignore Ctrl-C, and so the programs that the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
