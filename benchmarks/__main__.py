"""The command: measures the subjects one after the other and tells what came of it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchmarks.figures import Figure
from benchmarks.own_interpreter import ROOT, UnavailableError, environment_with, run_module
from benchmarks.page import publish
from benchmarks.registry import SUBJECTS
from benchmarks.report import Report, load, machine, text_table


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(SUBJECTS)))
@click.option("--quick", is_flag=True, help="Only see that everything runs; the figures mean nothing.")
@click.option("--json", "json_path", type=click.Path(dir_okay=False, path_type=Path), help="Where the JSON goes.")
@click.option("--publish", "publishes", is_flag=True, help="Write docs/performance.{json,svg} and the page's tables.")
def main(names: tuple[str, ...], quick: bool, json_path: Path | None, publishes: bool) -> None:
    """Measure the subjects NAMES, or all of them: about ten minutes on an idle machine."""
    report = Report(machine=machine())
    for name in names or SUBJECTS:
        click.echo(f"measuring {name} ...", err=True)
        try:
            report.figures += _measured(name, quick=quick)
        except UnavailableError as error:
            report.missing[name] = str(error)
    report.machine["load_after"] = load()
    click.echo(text_table(report))
    path = json_path or ROOT / "build" / "benchmarks.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(report.to_json(), encoding="utf-8")
    click.echo(f"\nwritten: {path}")
    if publishes:
        publish(report, ROOT / "docs")


def _measured(name: str, *, quick: bool) -> list[Figure]:
    environment = SUBJECTS[name]
    prefix = [sys.executable]
    if environment is not None:
        prefix = environment_with(environment.packages, environment.requirements, prerelease=environment.prerelease)
    arguments = [name, *(["--quick"] if quick else [])]
    return [Figure.from_dict(fields) for fields in run_module("benchmarks.subject", *arguments, prefix=prefix)]


if __name__ == "__main__":
    main()
