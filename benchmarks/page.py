"""The page of the documentation, whose tables and chart are this run's."""

from __future__ import annotations

from pathlib import Path

from benchmarks.chart import chart
from benchmarks.report import Report, markdown_table, settings

BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def publish(report: Report, folder: Path) -> None:
    """Write `performance.json` and `performance.svg`, and put the tables into `performance.md`.

    Args:
        report: A run of all subjects.
        folder: Where the page is.
    """
    page = folder / "performance.md"
    (folder / "performance.json").write_text(report.to_json(), encoding="utf-8")
    (folder / "performance.svg").write_text(chart(report), encoding="utf-8")
    page.write_text(with_figures(page.read_text(encoding="utf-8"), report), encoding="utf-8")


def with_figures(page: str, report: Report) -> str:
    """The page with the tables of a report in the place of those that it has."""
    head, _, rest = page.partition(BEGIN)
    tail = rest.partition(END)[2]
    return f"{head}{BEGIN}\n\n{settings(report.machine)}\n\n{markdown_table(report)}\n\n{END}{tail}"
