#!/usr/bin/env bash
# Draws the README's picture anew: what `utcp-bridge demo` shows on a terminal.
set -euo pipefail
cd "$(dirname "$0")/.."
uv run utcp-bridge demo --svg docs/demo.svg
