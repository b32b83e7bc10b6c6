"""How long a large OpenAPI document takes until its tools are ready, and how much memory, against parsing alone.

Run it with `uv run python benchmarks/openapi_ready.py SPEC.json`, for example with GitHub's description from the npm
package `@octokit/openapi`. Parsing is measured in the same process, so that the ratio holds on any machine. Memory is
what `tracemalloc` counts, in a run of its own, because counting takes time.
"""

from __future__ import annotations

import gc
import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import click

from utcp_bridge import Toolset
from utcp_bridge.openapi import tools_from_openapi

MEGABYTE = 2**20


def parsed(spec: Path) -> Any:
    """The document, by the fastest parser that is always there."""
    return json.loads(spec.read_bytes())


def opened(spec: Path) -> Toolset:
    """A toolset on the document as a file."""
    manual = {
        "name": "api",
        "call_template_type": "file",
        "file_path": str(spec.resolve()),
        "allowed_communication_protocols": ["http"],
    }
    return Toolset.open({"manual_call_templates": [manual]}, discovery_timeout=600)


@click.command()
@click.argument("spec", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(spec: Path) -> None:
    """Measure one document, which must be JSON."""
    opened(spec).close()  # imports everything
    start = time.perf_counter()
    document = parsed(spec)
    parsing = time.perf_counter() - start
    start = time.perf_counter()
    conversion = tools_from_openapi(document, base_url="https://example.com")
    converting = time.perf_counter() - start
    with_tools = len(conversion.tools)
    click.echo(f"{spec.stat().st_size / MEGABYTE:.1f} MB, {with_tools} tools, {len(conversion.skipped)} skipped")
    del document, conversion
    gc.collect()
    start = time.perf_counter()
    toolset = opened(spec)
    ready = time.perf_counter() - start
    start = time.perf_counter()
    for tool in toolset.tools.values():
        _ = tool.input_schema
    shown = time.perf_counter() - start
    toolset.close()
    del toolset
    gc.collect()
    click.echo(
        f"parsing {parsing:.2f} s, converting {converting:.2f} s, toolset ready {ready:.2f} s, schemas {shown:.2f} s"
    )
    click.echo(f"allowed for ready: {2 * parsing + 1:.2f} s")

    tracemalloc.start()
    document = parsed(spec)
    of_document = tracemalloc.get_traced_memory()[0]
    del document
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    toolset = opened(spec)
    after, peak = tracemalloc.get_traced_memory()
    at_most, at_last = ((value - before - of_document) / MEGABYTE for value in (peak, after))
    click.echo(
        f"document {of_document / MEGABYTE:.0f} MB; above it {at_most:.0f} MB at most, {at_last:.0f} MB when ready"
    )
    toolset.close()


if __name__ == "__main__":
    main()
