"""The `utcp-bridge` command."""

from __future__ import annotations

import logging

import click

_UPSTREAM_LOGGERS = ("utcp", "utcp_cli", "utcp_http")


@click.group()
@click.version_option(package_name="utcp-bridge")
def main() -> None:
    """Bring UTCP tools into agent frameworks."""
    # The command shows every failure itself; upstream's log lines repeat them with the URL and its keys.
    for name in _UPSTREAM_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)


@main.command()
def demo() -> None:
    """Start a tool server on this machine, load its tools and call them."""
    # Imported here, so that `--help` and `--version` do not wait for UTCP.
    from utcp_bridge.cli.demo import run

    run()
