"""Where sync callers' work runs, and what is bound to a loop: see `Lease`.

- `lease`: who may use it, and how work is handed over.
- `process`: what there is once per process, through fork and exit.
- `loop_thread`: the one background thread with its event loop.
- `caller_loop`: the loop that callers without one run themselves, for work that needs no loop of its own.
- `hosted_loop`: what both have in common: work that is begun, cancelled and settled, and the end of a loop.
"""

from utcp_bridge.runner.lease import Lease, acquire, standing_loop

__all__ = ["Lease", "acquire", "standing_loop"]
