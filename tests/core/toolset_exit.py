"""Ends while a call is in flight; run by test_toolset_lifetime. Arguments: the manual's URL, and how to call."""

from __future__ import annotations

import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from utcp_bridge import Toolset

url, how = sys.argv[1:]
manual = {"name": "m", "call_template_type": "http", "url": url, "http_method": "GET"}
toolset = Toolset.open({"manual_call_templates": [manual]}, timeout=60)


def call() -> None:
    sys.stdout.write(f"{toolset.call('m_sleep').is_error}\n")


if how == "pool":
    ThreadPoolExecutor(1).submit(call)
else:
    threading.Thread(target=call, daemon=how == "daemon").start()
time.sleep(0.3)
sys.stdout.write(f"end {time.time()}\n")
sys.stdout.flush()
