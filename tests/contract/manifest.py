"""What every adapter promises. Each behaviour is tested over every adapter, sync and async."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One promise: what holds, and where it was first asked for.

    A source such as "R46" is a report of users of neighbouring projects, "design 4" a section of the design that the
    project began with; a new behaviour names the issue that asked for it.
    """

    sentence: str
    source: str


BEHAVIOURS: dict[str, Behaviour] = {
    "tools.listed": Behaviour(
        "Every discovered tool is offered under the name that models are shown, with its description.", "R46"
    ),
    "tools.one-line": Behaviour("A source, handed to the adapter, gives its tools without another step.", "design 3"),
    "tools.filtered": Behaviour("Options given to the adapter choose its tools.", "design 3"),
    "schema.shown": Behaviour("The model is shown the author's schema, whole and unchanged.", "R11, R15, R25, R26"),
    "schema.real": Behaviour(
        "What the model is shown of real tools is the author's schema, made self-contained, within the size budget.",
        "R11-R28, issue 3",
    ),
    "schema.provider": Behaviour(
        "With a provider's name the model is shown what that provider accepts; arguments come back under the tool's "
        "own names, and faults are told in the shown ones.",
        "R24, R30-R33",
    ),
    "schema.budget": Behaviour(
        "A large schema is shown within a number of bytes, with every argument's name; the whole one judges.", "R72"
    ),
    "schema.no-arguments": Behaviour(
        "A tool without arguments shows an object schema with empty properties and takes an empty object.", "R28"
    ),
    "arguments.values": Behaviour("Every JSON value reaches UTCP as the model gave it.", "R44"),
    "arguments.any": Behaviour(
        "Whatever fits a tool's schema arrives exactly, and whatever does not is refused before the wire.", "issue 3"
    ),
    "arguments.names": Behaviour("Every property name works, whatever it means to Python or the framework.", "R20-R22"),
    "arguments.unset": Behaviour("What was not given is not sent, at any depth.", "design 4 Schema"),
    "arguments.null": Behaviour("A null is sent where the schema allows it.", "R15, R17"),
    "arguments.repaired": Behaviour("What models get wrong without loss is repaired.", "R43"),
    "arguments.integer": Behaviour(
        "A whole number written as a float is sent as an integer where the schema takes nothing else.", "R43"
    ),
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
    "wire.query-boolean": Behaviour("A boolean in the query is `true` or `false`.", "R40"),
    "wire.query-null": Behaviour("A null is left out of the query.", "R39, R40"),
    "wire.query-number": Behaviour("A number in the query is written as JSON writes it.", "design 4 Wire"),
    "wire.query-list": Behaviour("A list in the query repeats its name.", "R41"),
    "wire.query-object": Behaviour("An object in the query is JSON text.", "R40"),
    "wire.query-text": Behaviour("Any text and any name in the query arrive.", "design 4 Wire"),
    "wire.undeclared": Behaviour(
        "An undeclared argument of a closed schema never leaks into the query.", "R35, design 5 http call"
    ),
    "wire.template-query": Behaviour("The query of the template stays beside the arguments.", "design 5 client"),
    "wire.path-scalar": Behaviour("A scalar in the path is one segment.", "design 5 http call"),
    "wire.path-number": Behaviour("A number in the path is written as JSON writes it.", "design 4 Wire"),
    "wire.path-list": Behaviour("A list in the path is separated by commas (RFC 6570).", "design 5 http call"),
    "wire.path-slash": Behaviour("A slash in a path value stays within its segment.", "design 5 http call"),
    "wire.path-percent": Behaviour("A percent sign in a path value is escaped.", "design 5 http call"),
    "wire.path-dots": Behaviour("A path value never changes the path.", "design 5 http call"),
    "wire.path-empty": Behaviour("An empty or missing path value is refused.", "design 5 http call"),
    "wire.header-scalar": Behaviour("A scalar goes into its header.", "design 4 Wire"),
    "wire.header-list": Behaviour("A list in a header is separated by commas.", "design 5 http call"),
    "wire.header-boolean": Behaviour("A boolean in a header is `true` or `false`, a null is no header.", "R40"),
    "wire.header-line-break": Behaviour("A line break in a header is refused.", "R78"),
    "wire.cookie": Behaviour("A cookie parameter is sent as a cookie.", "design 5 openapi"),
    "wire.body-object": Behaviour("An object is sent as a JSON body.", "R44"),
    "wire.body-list": Behaviour("A list is sent as a JSON body.", "R44"),
    "wire.body-scalar": Behaviour("A scalar is sent as a JSON body.", "R44"),
    "wire.body-null": Behaviour("A null is sent as a JSON body.", "R44"),
    "wire.body-vendor-json": Behaviour("A vendor's JSON type is sent as JSON.", "R75"),
    "wire.body-charset": Behaviour("A JSON type with parameters is sent as JSON.", "design 5 openapi"),
    "wire.body-form": Behaviour("A form is sent urlencoded.", "design 5 openapi"),
    "wire.body-multipart": Behaviour("Files, text and objects are sent as the parts of a form.", "design 5 openapi"),
    "wire.body-text": Behaviour("Text is sent in the charset of its type.", "design 4 Wire"),
    "wire.body-bytes": Behaviour("Bytes are given in base64 and sent as they are.", "design 4 Wire"),
    "wire.reply-problem": Behaviour("A problem (RFC 9457) is an error with status, title and detail.", "R74, R75"),
    "wire.reply-vendor-json": Behaviour("A vendor's JSON is data.", "R75"),
    "wire.reply-text": Behaviour("Text is read in its charset.", "R75"),
    "wire.reply-image": Behaviour("An image is described by type and size.", "design 5 http call"),
    "wire.reply-no-content": Behaviour("A reply without content is a success.", "design 4 Results"),
    "wire.reply-empty": Behaviour("An empty reply is a success, whatever its type says.", "design 4 Results"),
    "wire.reply-html-error": Behaviour("An error page is told in short, without its markup.", "R74"),
    "wire.reply-broken-json": Behaviour("JSON that is broken is shown as text.", "R75"),
    "wire.reply-huge": Behaviour("A huge reply is refused at the limit.", "R71"),
    "wire.reply-compressed": Behaviour("A compressed reply is unpacked, and its size counts unpacked.", "R71"),
    "wire.reply-redirect": Behaviour("A redirect is followed on the same server.", "R78"),
    "wire.reply-redirect-refused": Behaviour("A redirect to an unsafe address is refused.", "R78"),
    "wire.reply-pieces": Behaviour("A reply in pieces is one text, or a list of its values.", "issue 4"),
    "wire.timeout": Behaviour("A call over its limit closes its connection.", "R58"),
    "wire.auth-header": Behaviour("An API key goes into its header.", "R81"),
    "wire.auth-query": Behaviour("An API key goes into the query.", "R81"),
    "wire.auth-cookie": Behaviour("An API key goes into a cookie.", "R81"),
    "wire.auth-basic": Behaviour("A user name and a password are sent as UTF-8 (RFC 7617).", "R81"),
    "wire.auth-bearer": Behaviour("A bearer token is sent as it is written.", "R81"),
    "wire.auth-oauth2": Behaviour("A token is fetched once and used until it expires.", "R81"),
    "wire.auth-oauth2-expiry": Behaviour("A token that has expired is fetched anew.", "R81"),
    "wire.auth-oauth2-refused": Behaviour("A token that the server refuses is fetched anew, once.", "R81"),
}
