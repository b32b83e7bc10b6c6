"""What is told of a run: as a table, as JSON, as a chart, and on the page of the documentation."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.chart import chart
from benchmarks.figures import cost
from benchmarks.measuring import Rounds
from benchmarks.page import publish, with_figures
from benchmarks.report import Report, markdown_table, text_table

DOCS = Path(__file__).parents[2] / "docs"
MACHINE = {
    "day": "2030-01-01",
    "cores": 2,
    "python": "3.11.0",
    "system": "Linux",
    "versions": {"utcp": "1.2.0"},
    "load_before": 0.1,
    "load_after": 0.2,
}


def _report() -> Report:
    rounds = Rounds({"ours": [0.002], "`bash -c`": [0.001]})
    figures = [
        cost("One call of a command", "a program, `acall`", rounds, "ours", "`bash -c`", at_most=1.2),
        cost("Something else", "a thing", rounds, "ours", "`bash -c`"),
        cost("One call of a command", "a program, `call`", rounds, "`bash -c`", "ours", at_most=1.2),
    ]
    return Report(figures, {"tls": "there is no openssl"}, MACHINE)


def test_json_gives_the_same_report_back() -> None:
    report = _report()
    assert Report.from_json(report.to_json()) == report


def test_tables_hold_each_figure_under_its_heading_with_its_verdict() -> None:
    text, page = text_table(_report()), markdown_table(_report())
    assert text.splitlines()[0] == "One call of a command"
    assert re.search(r"a program, `acall`\s+2.00x\s.*at most 1.20x: missed", text)
    assert re.search(r"a program, `call`\s+0.50x\s.*at most 1.20x: met", text)
    assert page.count("### One call of a command") == 1
    assert "| a thing | 2.00x | 2.00x to 2.00x | 2,000 µs | `bash -c`: 1,000 µs |  |" in page
    assert "there is no openssl" in text
    assert "there is no openssl" in page


def test_the_chart_is_drawn_to_scale_from_the_figures_that_there_are() -> None:
    drawing = ElementTree.fromstring(chart(_report()))  # noqa: S314 - our own drawing
    bars = [bar for bar in drawing.iter("{http://www.w3.org/2000/svg}rect") if bar.get("x")]
    yardstick, twice, half = (float(bar.get("width", "0")) for bar in bars)
    assert round(twice / yardstick, 1) == 2.0
    assert round(half / yardstick, 1) == 0.5


def test_publishing_puts_the_figures_into_the_page_and_leaves_its_words_alone(tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    page.write_text("before\n<!-- figures: begin -->\nold\n<!-- figures: end -->\nafter\n", encoding="utf-8")
    publish(_report(), tmp_path)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text
    assert "load average 0.1 before and 0.2 after" in text
    assert (tmp_path / "performance.svg").exists()
    assert Report.from_json((tmp_path / "performance.json").read_text(encoding="utf-8")) == _report()


def test_the_page_and_the_chart_show_the_run_that_is_kept_beside_them() -> None:
    report = Report.from_json((DOCS / "performance.json").read_text(encoding="utf-8"))
    page = (DOCS / "performance.md").read_text(encoding="utf-8")
    assert with_figures(page, report) == page
    assert (DOCS / "performance.svg").read_text(encoding="utf-8") == chart(report)
