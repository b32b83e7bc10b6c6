"""Measures one subject in this interpreter: `python -m benchmarks.subject NAME [--quick]`; prints figures as JSON."""

from __future__ import annotations

import importlib
import json
import logging

import click

from benchmarks.measuring import FULL, QUICK
from benchmarks.own_interpreter import UnavailableError


@click.command()
@click.argument("name")
@click.option("--quick", is_flag=True, help="Only see that it runs.")
def main(name: str, quick: bool) -> None:
    """Measure the subject NAME and print a line of JSON for each figure."""
    logging.disable(logging.WARNING)  # upstream's packages log each step
    module = importlib.import_module(f"benchmarks.subjects.{name}")
    try:
        for figure in module.measure(QUICK if quick else FULL):
            click.echo(json.dumps(figure.to_dict()))
    except UnavailableError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
