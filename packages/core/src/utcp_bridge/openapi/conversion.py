"""An OpenAPI document to tools: each operation by itself, so that a broken one costs only itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from utcp_bridge.openapi.arguments import Arguments
from utcp_bridge.openapi.bodies import BodyReader
from utcp_bridge.openapi.checks import check_options, checked_base, version_of
from utcp_bridge.openapi.describing import plain, tool_description
from utcp_bridge.openapi.names import tool_names
from utcp_bridge.openapi.nodes import Node, NoServerError, OperationError, key_text, sequence, text
from utcp_bridge.openapi.operations import Operation, operations
from utcp_bridge.openapi.parameters import add_parameters, read_parameters
from utcp_bridge.openapi.references import Documents
from utcp_bridge.openapi.responses import ResponseReader
from utcp_bridge.openapi.schemas import SchemaReader
from utcp_bridge.openapi.security import Credentials, Security
from utcp_bridge.openapi.servers import NO_SERVER, Server, Servers, joined


@dataclass(frozen=True, slots=True)
class OpenApiTool:
    """A tool made of an operation.

    Attributes:
        name: Its name in the manual.
        description: What it does, in at most 1,000 characters.
        tags: The operation's tags.
        inputs: JSON Schema of its arguments; the `$defs` in it are shared between tools, so do not change it.
        outputs: JSON Schema of its reply, empty if the document gives none; shared likewise.
        template: The fields of its call template: those of UTCP's `HttpCallTemplate`, and those of
            `MappedHttpCallTemplate` that say where each argument goes.
        method: The HTTP method.
        path: The path as the document writes it.
        variables: The variables that its credentials are in, without the manual's name before them.
        alternative_variables: The variables of other credentials that would do as well.
    """

    name: str
    description: str
    tags: tuple[str, ...]
    inputs: dict[str, Any] = field(repr=False)
    outputs: dict[str, Any] = field(repr=False)
    template: dict[str, Any] = field(repr=False)
    method: str
    path: str
    variables: tuple[str, ...] = ()
    alternative_variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedOperation:
    """An operation that could not become a tool.

    Attributes:
        method: The HTTP method, or an empty string for a whole path.
        path: The path as the document writes it.
        reason: Why, in words for the document's author.
    """

    method: str
    path: str
    reason: str

    @property
    def name(self) -> str:
        """Method and path, as reports show them."""
        return f"{self.method} {self.path}".strip()


@dataclass(frozen=True, slots=True)
class Conversion:
    """What came of a document; iterates over its tools.

    Attributes:
        tools: One for each operation that could be read, in the document's order.
        skipped: The other operations.
        problems: Parts of schemas that could not be read, and so accept anything.
        warnings: What the document asks for and calls cannot give, in whole sentences.
        variable_descriptions: What the variables of its security schemes take, by name: where a key goes, where a
            token comes from.
        wanted: URLs of other documents that references lead to; fetch them and convert again.
    """

    tools: tuple[OpenApiTool, ...] = ()
    skipped: tuple[SkippedOperation, ...] = ()
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    variable_descriptions: Mapping[str, str] = field(default_factory=dict)
    wanted: frozenset[str] = frozenset()

    def __iter__(self) -> Iterator[OpenApiTool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    @property
    def variables(self) -> dict[str, tuple[str, ...]]:
        """The variables that credentials are in, each with the names of the tools that need it."""
        found: dict[str, list[str]] = {}
        for tool in self.tools:
            for name in tool.variables:
                found.setdefault(name, []).append(tool.name)
        return {name: tuple(tools) for name, tools in found.items()}


def tools_from_openapi(
    document: Mapping[str, Any],
    *,
    url: str = "",
    siblings: Mapping[str, Any] | None = None,
    base_url: str | None = None,
    server_variables: Mapping[str, str] | None = None,
    auth_tools: Mapping[str, Any] | None = None,
    defined: Callable[[str], bool] | None = None,
    media_types: Sequence[str] = (),
    flatten_body: bool = False,
) -> Conversion:
    """Convert an OpenAPI document of version 2.0, 3.0, 3.1 or 3.2.

    Takes its time for a large document (about a second for ten megabytes), so call it in a worker thread.

    Args:
        document: The parsed document; it is not changed, and its parts live on in the tools.
        url: Where it came from, after redirects: what relative server URLs and references start from. Default
            empty, for a document that came from nowhere.
        siblings: Other documents that it refers to, by URL; a text in place of one says why it cannot be had.
        base_url: The server's URL in place of all that the document names; default None.
        server_variables: Values of server variables in place of their defaults; default none.
        auth_tools: UTCP credentials as a dict, used for the operations that ask for such; default None.
        defined: Tells whether a variable has a value, which decides between alternative security schemes.
        media_types: Globs of media types that bodies are sent in where there is a choice, the most wanted first;
            default none, JSON before forms before others.
        flatten_body: Whether the properties of an object body become arguments of their own; default False, the
            body is the argument `body`.

    Returns:
        The tools, and what was left out.

    Raises:
        OpenApiError: It is no OpenAPI document, has no paths at all, or names no server where `base_url` is needed;
            or an option is of another type than it says here.
    """
    version = version_of(document)
    check_options(server_variables=server_variables, media_types=media_types, flatten_body=flatten_body)
    documents = Documents(document, url, siblings)
    base_url = None if base_url is None else checked_base(base_url, documents.location)
    converter = _Converter(documents, version, base_url, server_variables, auth_tools, defined)
    converter.bodies = BodyReader(
        documents,
        converter.inputs,
        preferred=media_types,
        flatten=flatten_body,
        parts_have_styles=version >= (3, 1),
    )
    return converter.run()


class _Converter:
    bodies: BodyReader

    def __init__(
        self,
        documents: Documents,
        version: tuple[int, int],
        base_url: str | None,
        server_variables: Mapping[str, str] | None,
        auth_tools: Mapping[str, Any] | None,
        defined: Callable[[str], bool] | None,
    ) -> None:
        self.documents = documents
        self.version = version
        siblings_count = version >= (3, 1)
        self.inputs = SchemaReader(documents, "input", siblings_count=siblings_count)
        self.outputs = SchemaReader(documents, "output", siblings_count=siblings_count)
        self.responses = ResponseReader(documents, self.outputs)
        self.servers = Servers(documents, base_url=base_url, variables=server_variables)
        self.security = Security(documents, auth_tools=dict(auth_tools) if auth_tools else None, defined=defined)

    def run(self) -> Conversion:
        found = list(operations(self.documents))
        tools: list[OpenApiTool] = []
        skipped: list[SkippedOperation] = []
        for operation, name in zip(found, tool_names(found), strict=True):
            try:
                tools.append(self._tool(operation, name))
            except OperationError as error:
                skipped.append(SkippedOperation(operation.method, operation.path, str(error)))
            except (RecursionError, LookupError, TypeError, ValueError, AttributeError) as error:
                # An author can break a document in ways that nobody foresees; one operation is what it may cost.
                reason = f"it cannot be read ({type(error).__name__})"
                skipped.append(SkippedOperation(operation.method, operation.path, reason))
        if skipped and not tools and {operation.reason for operation in skipped} == {NO_SERVER}:
            raise NoServerError(NO_SERVER)
        problems = tuple(self.inputs.problems | self.outputs.problems)
        return Conversion(
            tuple(tools),
            tuple(skipped),
            problems,
            (*self.security.warnings(), *self.servers.warnings()),
            self.security.variable_descriptions(),
            frozenset(self.documents.wanted),
        )

    def _tool(self, operation: Operation, name: str) -> OpenApiTool:
        if operation.error:
            raise OperationError(operation.error)
        is_swagger = self.version < (3, 0)
        nodes = operation.parameters(self.documents)
        parameters = read_parameters(nodes, is_swagger=is_swagger)
        server = self.servers.of(operation)
        asks = any(_is_authorization(node) for node in nodes)
        credentials = self.security.of(operation, server.url, asks_for_header=asks)
        arguments = Arguments()
        path = add_parameters(
            arguments,
            parameters,
            operation.path,
            self.inputs,
            credentials=credentials.places,
            has_body=self.bodies.has_body_argument(operation, parameters),
            reserved=("path", "query") if self.version >= (3, 2) else ("query",),
        )
        self.bodies.add(arguments, operation, parameters, self._media_types(operation, "consumes"))
        _add_server_variables(arguments, server)
        reply, accept = self.responses.read(operation, self._media_types(operation, "produces"))
        outputs: dict[str, Any] = {}
        if reply is not None:
            outputs = dict(reply.value) if isinstance(reply.value, dict) else {}
            if reply.uses:
                outputs["$defs"] = self.outputs.definitions(reply.uses)
        return OpenApiTool(
            name=name,
            description=tool_description(operation),
            tags=operation.tags,
            inputs=arguments.schema(self.inputs.definitions(arguments.uses)),
            outputs=outputs,
            template=_template(operation, joined(server, path), arguments, credentials, accept),
            method=operation.method,
            path=operation.path,
            variables=credentials.variables,
            alternative_variables=credentials.alternatives,
        )

    def _media_types(self, operation: Operation, key: str) -> list[str]:
        owner = operation.node if key in operation.node.fields else self.documents.root
        return [kind for kind in map(text, sequence(owner.fields.get(key))) if kind]


def _template(
    operation: Operation, url: str, arguments: Arguments, credentials: Credentials, accept: str | None
) -> dict[str, Any]:
    template: dict[str, Any] = {
        "call_template_type": "http",
        "http_method": operation.method,
        "url": url,
        **{key: value for key, value in arguments.template.items() if value or key == "body_field"},
        "undeclared": "refuse",
    }
    if accept is not None:
        template["headers"] = {"Accept": accept}
    if credentials.auths:
        template["auth"] = credentials.auths[0]
    if len(credentials.auths) > 1:
        template["more_auth"] = list(credentials.auths[1:])
    return template


def _add_server_variables(arguments: Arguments, server: Server) -> None:
    """Make arguments of what a server's URL leaves open, as upstream does."""
    for name, fields in server.variables.items():
        schema: dict[str, Any] = {"type": "string", "description": plain(fields.get("description")) or "Of the server."}
        if choices := [str(choice) for choice in sequence(fields.get("enum"))]:
            schema["enum"] = choices
        argument = f"server_{name}" if name in arguments.properties else name
        argument = arguments.add(argument, schema, (), required=True)
        arguments.template["parameters"].append({"argument": argument, "name": name, "location": "path"})


def _is_authorization(parameter: Node) -> bool:
    fields = parameter.fields
    return fields.get("in") == "header" and key_text(fields.get("name")).lower() == "authorization"
