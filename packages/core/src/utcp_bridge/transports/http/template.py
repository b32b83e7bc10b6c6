"""What a call template needs to say beyond upstream's: where each argument goes, and how it is written there."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer, field_validator
from utcp.data.auth import Auth, AuthSerializer
from utcp_http.http_call_template import HttpCallTemplate
from utcp_http.sse_call_template import SseCallTemplate
from utcp_http.streamable_http_call_template import StreamableHttpCallTemplate

from utcp_bridge.transports.http.values import CookieStyle, PathStyle, QueryStyle
from utcp_bridge.transports.http.written import WrittenRequest


class HttpParameter(BaseModel):
    """One argument's place in the request, in the terms of OpenAPI 3.

    Attributes:
        argument: The tool's argument.
        name: Its name on the wire.
        location: Where it goes; `"part"` is a header of one part of a multipart body.
        part: The name of that part.
        style: Its `style`; None (default) is that of OpenAPI for path and header, and for a query repeats lists
            and writes objects as JSON text.
        explode: Its `explode`; None (default) is OpenAPI's default for the style.
        allow_reserved: Its `allowReserved`, for a path or a query; default False.
        json_content: True for a parameter with `content: application/json`, which is always JSON text.
        form_content: True for one with `content: application/x-www-form-urlencoded`, which is the text of a form.
        field_styles: The style of single properties, for an object whose properties are parameters of the query.
        reserved_styles: Likewise, for properties that keep reserved characters.
        whole_query: True for a query without a name, whose value is all of it (OpenAPI 3.2's `querystring`).
    """

    model_config = ConfigDict(frozen=True)

    argument: str
    name: str
    location: Literal["path", "query", "header", "cookie", "part"]
    part: str = ""
    style: PathStyle | QueryStyle | CookieStyle | None = None
    explode: bool | None = None
    allow_reserved: bool = False
    json_content: bool = False
    form_content: bool = False
    whole_query: bool = False
    field_styles: dict[str, QueryStyle] = Field(default_factory=dict)
    reserved_styles: dict[str, QueryStyle] = Field(default_factory=dict)


class MappedHttpCallTemplate(HttpCallTemplate):
    """An HTTP call template that maps every argument, for tools whose document or template tells.

    `%24` in the path of `url` is sent as a dollar sign: `$LATEST` there would be a variable.

    Attributes:
        http_method: Any method (RFC 9110, section 9.1), since OpenAPI 3.2 lets an API have its own.
        parameters: The place of each argument.
        body_arguments: Argument to property, for a body whose properties are arguments of their own.
        file_fields: Properties of a form that are files; in a multipart one a text in such a property is the file's
            content, and a urlencoded one with a file in it is sent as multipart.
        body_required: Whether a body is sent even if none of `body_arguments` is given; default False.
        part_types: The content type of single parts of a multipart body, or several to choose from, divided by
            commas; JSON for a field of a urlencoded one. Parts of a list are named by their index, `*` for the rest.
        form_styles: `style` of single fields of a form, with the default of `explode` for it.
        reserved_styles: Likewise, of fields of a urlencoded form that keep reserved characters.
        undeclared: What happens to arguments that have no place: `"query"` (default) adds them to the query,
            as upstream does; `"refuse"` is for a closed schema.
        more_auth: Credentials needed besides `auth`.
        written: What the tool's author wrote out himself; None (default) for nothing.
    """

    http_method: str = Field("GET", pattern=r"\A[!#$%&'*+.^_`|~0-9A-Za-z-]+\z")  # type: ignore[assignment]
    parameters: list[HttpParameter] = Field(default_factory=list)
    body_arguments: dict[str, str] = Field(default_factory=dict)
    body_required: bool = False
    file_fields: list[str] = Field(default_factory=list)
    part_types: dict[str, str] = Field(default_factory=dict)
    form_styles: dict[str, QueryStyle] = Field(default_factory=dict)
    reserved_styles: dict[str, QueryStyle] = Field(default_factory=dict)
    undeclared: Literal["query", "refuse"] = "query"
    more_auth: list[Auth] = Field(default_factory=list)
    written: WrittenRequest | None = None

    # As upstream does it for `auth`: the declared type alone knows none of the credentials' fields.

    @field_validator("more_auth", mode="before")
    @classmethod
    def _read_more_auth(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return [item if isinstance(item, Auth) else AuthSerializer().validate_dict(item) for item in value]

    @field_serializer("more_auth")
    def _write_more_auth(self, value: list[Auth]) -> list[dict[str, Any]]:
        return [AuthSerializer().to_dict(item) for item in value]


class MappedSseCallTemplate(SseCallTemplate):
    """An SSE call template with the parts of `MappedHttpCallTemplate` that manuals write."""

    parameters: list[HttpParameter] = Field(default_factory=list)
    undeclared: Literal["query", "refuse"] = "query"
    written: WrittenRequest | None = None


class MappedStreamableHttpCallTemplate(StreamableHttpCallTemplate):
    """A streamable HTTP call template with the parts of `MappedHttpCallTemplate` that manuals write."""

    parameters: list[HttpParameter] = Field(default_factory=list)
    undeclared: Literal["query", "refuse"] = "query"
    written: WrittenRequest | None = None


def request_template(template: SseCallTemplate | StreamableHttpCallTemplate, **fields: Any) -> HttpCallTemplate:
    """The HTTP call template of a stream's request.

    Args:
        template: The stream's own call template.
        fields: What the request has besides the fields that both have.
    """
    shared = ("name", "url", "auth", "headers", "body_field", "header_fields")
    both = {name: getattr(template, name) for name in shared}
    if not isinstance(template, (MappedSseCallTemplate, MappedStreamableHttpCallTemplate)):
        return HttpCallTemplate.model_construct(**both, **fields)
    more = {name: getattr(template, name) for name in ("parameters", "undeclared", "written")}
    return MappedHttpCallTemplate.model_construct(**both, **fields, **more)
