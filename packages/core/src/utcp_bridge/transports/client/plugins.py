"""Loading `utcp` and its plugins without what they do beside: see docs/decisions/0001-root-logger.md."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

logger = logging.getLogger(__name__)

_GROUP = "utcp.plugins"
# UTCP's own plugins that may come without an entry point: utcp-gql 1.1.6 does, so that upstream never registers it.
_UNANNOUNCED = {"graphql": "utcp_gql", "mcp": "utcp_mcp", "tcp": "utcp_socket", "websocket": "utcp_websocket"}
_lock = threading.Lock()
_broken: dict[str, str] = {}
_tried: set[str] = set()


def load_plugins() -> dict[str, str]:
    """Import `utcp` and register its plugins, once for the process, with the root logger left as it is.

    A plugin that cannot be loaded costs only itself and is a warning: in utcp 1.2.0 it breaks every client.

    Returns:
        The plugins that could not be loaded, by the name of their entry point, and why.
    """
    with _lock:
        with _root_logger_unchanged():
            from utcp.plugins import plugin_loader

            broken = () if plugin_loader.plugins_initialized else _register_all()
            broken += _register_unannounced()
            # It imports the rest of what configures the root logger.
            import utcp_bridge.transports.client.owned  # noqa: F401
        # Only now, for within the shield a warning would go nowhere.
        for plugin in broken:
            _broken[plugin.name] = plugin.reason
            logger.warning(
                "The UTCP plugin %r (%s) cannot be loaded, its tools will be missing: %s",
                plugin.name,
                plugin.package,
                plugin.reason,
            )
        return dict(_broken)


@dataclass(frozen=True, slots=True)
class _BrokenPlugin:
    name: str
    package: str
    reason: str


def _register_all() -> tuple[_BrokenPlugin, ...]:
    """Do what utcp 1.2.0's `ensure_plugins_initialized` does, with its own two flags, and give what is broken."""
    from utcp.plugins import plugin_loader

    plugin_loader.loading_plugins = True
    try:
        try:
            plugin_loader._load_plugins()  # noqa: SLF001 - UTCP's own parts are registered first in it, and only there
        except Exception:  # noqa: BLE001 - which plugin raised what is found out one by one
            outcomes = [_register(entry_point) for entry_point in importlib.metadata.entry_points(group=_GROUP)]
        else:
            outcomes = []
        plugin_loader.plugins_initialized = True
    finally:
        plugin_loader.loading_plugins = False
    return tuple(broken for broken in outcomes if broken is not None)


def _register_unannounced() -> tuple[_BrokenPlugin, ...]:
    """Register those of UTCP's own plugins that are installed and say nothing of it, once for the process."""
    entry_points = importlib.metadata.entry_points(group=_GROUP)
    announced = {entry_point.module.partition(".")[0] for entry_point in entry_points}
    broken = []
    for name, module in _UNANNOUNCED.items():
        if module in announced | _tried:
            continue
        _tried.add(module)
        if importlib.util.find_spec(module) is None:
            continue
        try:
            importlib.import_module(module).register()
        except Exception as error:  # noqa: BLE001 - as in `_register`
            broken.append(_BrokenPlugin(name, module.replace("_", "-"), f"{type(error).__name__}: {error}"))
    return tuple(broken)


def _register(entry_point: importlib.metadata.EntryPoint) -> _BrokenPlugin | None:
    # Registering a second time does nothing: upstream keeps what is registered already.
    try:
        entry_point.load()()
    except Exception as error:  # noqa: BLE001 - a plugin may fail in any way, which is its own affair and is reported
        package = entry_point.dist.name if entry_point.dist is not None else entry_point.value
        return _BrokenPlugin(entry_point.name, package, f"{type(error).__name__}: {error}")
    return None


@contextmanager
def _root_logger_unchanged() -> Iterator[None]:
    # `basicConfig` does nothing while the root logger has a handler.
    root = logging.getLogger()
    placeholder = logging.NullHandler()
    root.addHandler(placeholder)
    try:
        yield
    finally:
        root.removeHandler(placeholder)
