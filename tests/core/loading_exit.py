"""Ends while manuals are being loaded; run by test_loading. Arguments: the URL of a manual, and how it ends."""

from __future__ import annotations

import logging
import socket
import sys
import time

from utcp_bridge.loading import LoadingToolset

url, how = sys.argv[1:]
manual = {"name": "m", "call_template_type": "http", "url": url, "http_method": "GET"}
logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("host")
for name in ("utcp", "asyncio"):  # which tells, in the development mode, what takes long
    logging.getLogger(name).setLevel(logging.ERROR)
boxes = [
    LoadingToolset({"manual_call_templates": [manual]}, {}, label="box", interval=30, patience=60, log=log)
    for _ in range(4)
]
if how == "under way":
    time.sleep(2)
if how == "closed":
    for box in boxes:
        box.close()
# Nobody closes it, so that the interpreter warns at its very end, for which it imports a module.
left = socket.socket()
