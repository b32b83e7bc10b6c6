"""The outcome of a run: figures, what could not be measured, and the machine; as JSON, and as a table."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from benchmarks.figures import Figure

_VERSIONS = ("utcp", "utcp-http", "utcp-cli", "aiohttp", "langchain-core", "llama-index-core", "ovos-plugin-manager")


@dataclass(slots=True)
class Report:
    """What came of a run.

    Attributes:
        figures: In the order of the table.
        missing: Why a subject was not measured, by its name.
        machine: What it ran on: cores, Python, system, versions, and the load average before and after.
    """

    figures: list[Figure] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    machine: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """The report as JSON text."""
        document = {
            "machine": self.machine,
            "figures": [figure.to_dict() for figure in self.figures],
            "missing": self.missing,
        }
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Report:
        """The report of what `to_json` gave."""
        document = json.loads(text)
        figures = [Figure.from_dict(fields) for fields in document["figures"]]
        return cls(figures, document["missing"], document["machine"])

    def by_subject(self) -> Iterator[tuple[str, list[Figure]]]:
        """The figures under their headings."""
        for subject in dict.fromkeys(figure.subject for figure in self.figures):
            yield subject, [figure for figure in self.figures if figure.subject == subject]


def machine() -> dict[str, Any]:
    """What this is measured on, and its load average of the last minute now."""
    return {
        "day": time.strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": {name: metadata.version(name) for name in _VERSIONS},
        "load_before": load(),
    }


def load() -> float:
    """The load average of the last minute."""
    return round(os.getloadavg()[0], 1)


def rows(figures: Iterable[Figure]) -> Iterator[tuple[str, ...]]:
    """The cells of a table: what, its value, the quartiles, our time, the yardstick and its time, the target."""
    for figure in figures:
        yield (
            figure.case,
            _value(figure, figure.value),
            f"{_value(figure, figure.low)} to {_value(figure, figure.high)}",
            f"{_number(figure.ours)} {_UNITS[figure.unit]}",
            f"{figure.yardstick}: {_number(figure.theirs)} {_UNITS[figure.unit]}",
            _target(figure),
        )


HEADINGS = ("", "figure", "quartiles", "ours", "against", "target")


def text_table(report: Report) -> str:
    """The report for a terminal."""
    lines = []
    for subject, figures in report.by_subject():
        cells = [HEADINGS, *rows(figures)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines += ["", subject]
        lines += ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
    lines += [""] * bool(report.missing)
    lines += [f"not measured: {name}: {reason}" for name, reason in report.missing.items()]
    return "\n".join(lines).lstrip("\n")


def markdown_table(report: Report) -> str:
    """The report for a page."""
    lines = []
    for subject, figures in report.by_subject():
        lines += [f"### {subject}", "", _markdown_row(HEADINGS), _markdown_row(["---"] * len(HEADINGS))]
        lines += [*map(_markdown_row, rows(figures)), ""]
    lines += [f"Not measured: `{name}`: {reason}." for name, reason in report.missing.items()]
    return "\n".join(lines).strip()


def settings(described: Mapping[str, Any]) -> str:
    """What the run was on, as a sentence."""
    versions = ", ".join(f"{name} {version}" for name, version in described["versions"].items())
    return (
        f"Measured on {described['day']}, on {described['cores']} cores, {described['system']}, Python "
        f"{described['python']}; load average {described['load_before']} before and {described['load_after']} after. "
        f"Versions: {versions}."
    )


_UNITS = {"us": "µs", "ms": "ms", "kB": "kB"}


def _value(figure: Figure, value: float) -> str:
    if figure.sort == "times":
        return f"{value:.2f}x"
    if figure.sort == "share":
        return f"{value * 100:.0f} %"
    return f"{_number(value)} {_UNITS[figure.sort]}"


def _target(figure: Figure) -> str:
    goal = figure.at_most if figure.at_most is not None else figure.at_least
    if goal is None:
        return ""
    side = "at most" if figure.at_most is not None else "at least"
    verdict = "met" if figure.is_met else "missed"
    return f"{side} {_value(figure, goal)}: {verdict}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
