"""What every adapter promises. Each behaviour is tested over every adapter, sync and async."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One promise: what holds, and where it was first asked for."""

    sentence: str
    source: str


BEHAVIOURS: dict[str, Behaviour] = {
    "tools.listed": Behaviour(
        "Every discovered tool is offered under the name that models are shown, with its description.", "R46"
    ),
    "tools.one-line": Behaviour("A source, handed to the adapter, gives its tools without another step.", "design 3"),
    "tools.filtered": Behaviour("Options given to the adapter choose its tools.", "design 3"),
    "schema.shown": Behaviour("The model is shown the author's schema, whole and unchanged.", "R11, R15, R25, R26"),
    "schema.no-arguments": Behaviour(
        "A tool without arguments shows an object schema with empty properties and takes an empty object.", "R28"
    ),
    "arguments.values": Behaviour("Every JSON value reaches UTCP as the model gave it.", "R44"),
    "arguments.names": Behaviour("Every property name works, whatever it means to Python or the framework.", "R20-R22"),
    "arguments.unset": Behaviour("What was not given is not sent, at any depth.", "design 4 Schema"),
    "arguments.null": Behaviour("A null is sent where the schema allows it.", "R15, R17"),
    "arguments.repaired": Behaviour("What models get wrong without loss is repaired.", "R43"),
    "arguments.refused": Behaviour(
        "Arguments that do not fit are an error result that names the argument and what was expected.", "R45"
    ),
    "arguments.undeclared": Behaviour(
        "An undeclared argument of a closed schema is refused and the valid names are given; an open schema takes it.",
        "design 4 Schema",
    ),
    "result.text": Behaviour("Text is shown as it came.", "design 4 Results"),
    "result.json": Behaviour("A JSON reply is shown as compact JSON text with real characters.", "R69"),
    "result.empty": Behaviour("An empty reply is shown as a fixed phrase.", "R69"),
    "result.cut": Behaviour("A long reply is cut with a notice of its full size, by an option.", "R71, R72"),
    "error.http": Behaviour("An HTTP error is an error result with the status and the server's reason.", "R66, R74"),
    "error.unreachable": Behaviour("A server that is gone is an error result that says so.", "design 4 Errors"),
    "error.timeout": Behaviour("A call over its limit is an error result that names the limit.", "R58, R60"),
    "error.exit-code": Behaviour("A command that fails is an error result with its exit code and output.", "R76"),
    "error.raised": Behaviour("With on_tool_error='raise' a failed call raises an error with its reason.", "design 3"),
    "error.secrets": Behaviour("A key in a URL or a header is in no error.", "R82"),
    "discovery.isolated": Behaviour(
        "A dead server, an undefined variable and a malformed manual cost only their own tools, and are reported.",
        "R01, R02",
    ),
    "discovery.raised": Behaviour("With on_failure='raise' one error names every manual that failed.", "R02"),
    "openapi.described": Behaviour(
        "A server that describes itself with OpenAPI is called right in every parameter, body and security scheme.",
        "design 1, R09, R10",
    ),
    "loop.anywhere": Behaviour(
        "A call works from plain code, from inside a running loop, and on one loop after another.", "R55, R56, R62"
    ),
    "loop.threads": Behaviour("Calls from many threads at once do not wait for each other.", "design 4 Runner"),
}
