"""The engine of `jsonschema-rs`."""

from __future__ import annotations

from typing import Any

import jsonschema_rs

from utcp_bridge.schema.rules import Check
from utcp_bridge.schema.validator import CannotCompileError


class RustEngine:
    """Compiles with `jsonschema-rs`."""

    is_quick = True

    def compile(self, schema: dict[str, Any] | bool, *, assert_formats: bool) -> Check:
        """Compile a schema; raises `CannotCompileError`."""
        try:
            return jsonschema_rs.Draft202012Validator(schema, validate_formats=assert_formats, offline=True)
        except jsonschema_rs.ValidationError as error:
            raise CannotCompileError(error.message, tuple(error.instance_path)) from None
        except ValueError as error:
            raise CannotCompileError(str(error)) from None
