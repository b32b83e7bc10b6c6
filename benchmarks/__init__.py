"""What utcp-bridge costs: `uv run python -m benchmarks` measures it, prints a table and writes JSON.

Every figure is a ratio of two sides that were measured in turns within one run, so that whatever slows the machine
slows both. docs/performance.md tells the method, and what came of it.
"""
