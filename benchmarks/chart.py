"""The chart of the page: bars in SVG, drawn from the figures of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from benchmarks.figures import Figure
from benchmarks.report import Report

_WIDTH = 760
_LABELS = 200
_BAR, _GAP, _TITLE = 20, 8, 44
_OURS, _OTHERS, _YARDSTICK = "#2563eb", "#9ca3af", "#d1d5db"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: its label, how many times the yardstick it is, and its colour."""

    label: str
    value: float
    colour: str


@dataclass(frozen=True, slots=True)
class Panel:
    """Bars under a heading, the first of which is the yardstick."""

    title: str
    bars: tuple[Bar, ...]


_PEER = "LangChain, beside `langchain-utcp-adapters` 0.1.0"
# Heading, the yardstick's name, and the figures that are its bars, each by its subject and case with a label.
_PANELS = (
    (
        "One call over HTTP, LangChain ainvoke",
        "floor: a bare request",
        {(_PEER, "ours: a call over HTTP"): "utcp-bridge", (_PEER, "langchain-utcp-adapters: a call over HTTP"): ""},
    ),
    (
        "One call over TLS, LangChain ainvoke",
        "floor: a bare request",
        {(_PEER, "ours: a call over TLS"): "utcp-bridge", (_PEER, "langchain-utcp-adapters: a call over TLS"): ""},
    ),
    (
        "One call over HTTP in the other frameworks",
        "floor: a bare request",
        {
            ("One call over HTTP", "LlamaIndex `acall`"): "LlamaIndex acall",
            ("One call over HTTP", "LlamaIndex `call`"): "LlamaIndex call",
            ("One call over HTTP", "OVOS `call_tool`"): "OVOS call_tool",
        },
    ),
    (
        "One call of a command",
        "bash -c",
        {
            ("One call of a command", "a program, `acall`"): "utcp-bridge acall",
            ("One call of a command", "a program, `call`"): "utcp-bridge call",
        },
    ),
    (
        "A list of 1,000 tools",
        "UtcpClient.create alone",
        {
            (_PEER, "ours: a list of 1,000 tools"): "utcp-bridge",
            (_PEER, "langchain-utcp-adapters: a list of 1,000 tools"): "",
        },
    ),
)


def chart(report: Report) -> str:
    """The chart of a report as SVG; panels whose figures were not measured are left out."""
    lines: list[str] = []
    top = 16
    for panel in _panels(report):
        lines.append(_text(16, top + 20, panel.title, "title"))
        top += _TITLE - 12
        scale = (_WIDTH - _LABELS - 90) / max(bar.value for bar in panel.bars)
        for bar in panel.bars:
            length = max(bar.value * scale, 2)
            lines.append(_text(_LABELS - 8, top + 15, bar.label, "label"))
            lines.append(
                f'<rect x="{_LABELS}" y="{top}" width="{length:.1f}" height="{_BAR}" rx="3" fill="{bar.colour}"/>'
            )
            lines.append(_text(_LABELS + length + 8, top + 15, f"{bar.value:.2f}x", "value"))
            top += _BAR + _GAP
        top += 12
    lines.append(_text(16, top + 4, "Times the first bar of each group; shorter is better.", "value"))
    return "\n".join([_head(top + 20), *lines, "</svg>", ""])


def _panels(report: Report) -> Iterator[Panel]:
    # The first of a name is against the floor; later ones are against other yardsticks.
    known: dict[tuple[str, str], Figure] = {}
    for figure in report.figures:
        known.setdefault((figure.subject, figure.case), figure)
    for title, yardstick, wanted in _PANELS:
        bars = [
            Bar(label or "langchain-utcp-adapters", known[key].value, _OURS if label else _OTHERS)
            for key, label in wanted.items()
            if key in known
        ]
        if bars:
            yield Panel(title, (Bar(yardstick, 1.0, _YARDSTICK), *bars))


def _head(height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        'role="img" aria-label="What utcp-bridge costs, in times of a yardstick; shorter is better">\n'
        "<style>text{font:13px system-ui,sans-serif;fill:#111827}.title{font-weight:600;font-size:14px}"
        ".label{text-anchor:end}.value{fill:#374151}</style>\n"
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>'
    )


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{escape(text)}</text>'
