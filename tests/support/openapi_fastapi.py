"""A server of a real framework, with every style of parameter that it has."""

from __future__ import annotations

import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Body, Cookie, Depends, FastAPI, File, Form, Header, Path, Query, Response, Security, UploadFile
from fastapi.security import (
    APIKeyCookie,
    APIKeyHeader,
    APIKeyQuery,
    HTTPAuthorizationCredentials,
    HTTPBasic,
    HTTPBasicCredentials,
    HTTPBearer,
    HTTPDigest,
    OAuth2AuthorizationCodeBearer,
    OAuth2PasswordBearer,
    OAuth2PasswordRequestForm,
    OpenIdConnect,
)
from pydantic import BaseModel, ConfigDict, Field, Json

app = FastAPI(generate_unique_id_function=lambda route: route.name)


class Color(StrEnum):
    red = "red"
    blue = "blue"


class Item(BaseModel):
    name: str
    price: Decimal = Decimal("1.5")
    tags: list[str] = []
    nested: Item | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    barks: bool


class Filter(BaseModel):
    model_config = ConfigDict(extra="forbid")
    limit: int = Field(100, gt=0, le=100)
    order: Literal["a", "b"] = "a"
    tags: list[str] = []


@app.get("/path/{a}/{b:path}")
def in_path(a: int, b: str) -> Any:
    return [a, b]


@app.get("/query")
def in_query(
    text: str,
    number: float,
    flag: bool,
    day: datetime.date,
    key: UUID,
    color: Color,
    many: Annotated[list[int], Query()],
    other: Annotated[str, Query(alias="an-alias")],
    missing: str | None = None,
    count: int = 5,
) -> Any:
    return [text, number, flag, day, key, color, many, other, missing, count]


@app.get("/model")
def query_model(query: Annotated[Filter, Query()]) -> Any:
    return query


@app.get("/header")
def in_header(x_token: Annotated[str, Header()], odd: Annotated[str | None, Header(alias="odd_name")] = None) -> Any:
    return [x_token, odd]


@app.get("/cookie")
def in_cookie(session: Annotated[str, Cookie()], number: Annotated[int, Cookie()] = 1) -> Any:
    return [session, number]


@app.post("/body")
def one_body(item: Item) -> Any:
    return item.nested.name if item.nested else None


@app.put("/bodies/{key}")
def several_bodies(key: int, item: Item, importance: Annotated[int, Body(gt=0)], q: str | None = None) -> Any:
    return [key, item.name, importance, q]


@app.post("/list")
def list_body(items: list[Item]) -> Any:
    return [item.name for item in items]


@app.post("/scalar")
def scalar_body(number: Annotated[int, Body()]) -> Any:
    return number


@app.post("/union")
def union_body(pet: Annotated[Cat | Dog, Body(discriminator="kind")]) -> Any:
    return type(pet).__name__


@app.post("/form")
def form_body(user: Annotated[str, Form()], tags: Annotated[list[str], Form()]) -> Any:
    return [user, tags]


@app.post("/file")
async def file_body(one: UploadFile, raw: Annotated[bytes, File()], note: Annotated[str, Form()]) -> Any:
    return [one.filename, (await one.read()).decode(), raw.decode(), note]


@app.patch("/text")
def text_body(text: Annotated[str, Body(media_type="text/plain")]) -> Any:
    return text


@app.get("/key")
def header_key(key: Annotated[str, Depends(APIKeyHeader(name="X-Key"))]) -> Any:
    return key


@app.get("/query-key")
def query_key(key: Annotated[str, Depends(APIKeyQuery(name="k"))]) -> Any:
    return key


@app.get("/cookie-key")
def cookie_key(key: Annotated[str, Depends(APIKeyCookie(name="c"))]) -> Any:
    return key


@app.get("/basic")
def basic(who: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())]) -> Any:
    return who.username + who.password


@app.get("/bearer")
def bearer(who: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]) -> Any:
    return who.credentials


@app.get("/oauth")
def oauth(token: Annotated[str, Depends(OAuth2PasswordBearer(tokenUrl="token"))]) -> Any:
    return token


class Agent(BaseModel):
    save_data: bool
    x_number: int | None = None


class Session(BaseModel):
    session_id: str
    tracker: str | None = None


class Person(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    age: int = 3
    tags: list[str] = []


class Portrait(BaseModel):
    name: str
    tags: list[str] = []
    picture: UploadFile | None = None


@app.get("/all/{color}/{day}/{key}/{size}")
def all_in_path(color: Color, day: datetime.date, key: UUID, size: Annotated[float, Path(gt=0)]) -> Any:
    return [color, day, key, size]


@app.get("/kinds")
def query_kinds(
    colors: Annotated[set[Color], Query()],
    pair: Annotated[tuple[int, str], Query()],
    when: datetime.datetime,
    span: datetime.timedelta,
    text: Annotated[Json[Any], Query()],
    flags: Annotated[list[bool], Query()] = [],  # noqa: B006 - FastAPI copies it
) -> Any:
    return [sorted(colors), pair, when, span, text, flags]


@app.get("/same/{id}")
def same_name(
    in_path: Annotated[int, Path(alias="id")],
    in_query: Annotated[int, Query(alias="id")],
    in_header: Annotated[int, Header(alias="id")],
) -> Any:
    return [in_path, in_query, in_header]


@app.get("/agent")
def header_model(agent: Annotated[Agent, Header()]) -> Any:
    return agent


@app.get("/session")
def cookie_model(session: Annotated[Session, Cookie()]) -> Any:
    return session


@app.post("/person")
def form_model(person: Annotated[Person, Form()]) -> Any:
    return person


@app.post("/portrait")
def form_model_with_a_file(portrait: Annotated[Portrait, Form()]) -> Any:
    # FastAPI describes this form as urlencoded, and reads it as multipart once there is a file.
    return [portrait.name, portrait.tags, portrait.picture and portrait.picture.filename]


@app.post("/files")
async def many_files(
    files: list[UploadFile], numbers: Annotated[list[int], Form()], more: UploadFile | None = None
) -> Any:
    return [[(file.filename, (await file.read()).decode()) for file in files], numbers, more and more.filename]


@app.post("/parts")
def kinds_of_parts(
    raw: Annotated[bytes, File()],
    text: Annotated[Json[Any], Form()],
    day: Annotated[datetime.date, Form()],
    color: Annotated[Color, Form()],
    flag: Annotated[bool, Form()],
) -> Any:
    return [raw.decode(), text, day, color, flag]


@app.post("/token")
def password_form(form: Annotated[OAuth2PasswordRequestForm, Depends()]) -> Any:
    return [form.username, form.password, form.scopes]


@app.post("/embedded")
def embedded_body(item: Annotated[Item, Body(embed=True)]) -> Any:
    return item.name


@app.post("/numbers")
def dict_body(numbers: dict[int, float]) -> Any:
    return numbers


@app.post("/optional")
def optional_body(item: Item | None = None) -> Any:
    return [item and item.name]


@app.post("/vendor")
def vendor_body(item: Annotated[Item, Body(media_type="application/vnd.item+json")]) -> Any:
    return item.name


@app.delete("/body")
def body_of_delete(item: Item) -> Any:
    return item.name


@app.post("/everything/{key}")
def everything(
    key: int,
    item: Item,
    other: Annotated[dict[str, Any], Body()],
    q: Annotated[list[str], Query()],
    x_token: Annotated[str, Header()],
    session: Annotated[str, Cookie()],
) -> Any:
    return [key, item.name, other, q, x_token, session]


@app.get("/scoped")
def scoped(
    token: Annotated[
        str, Security(OAuth2AuthorizationCodeBearer("authorize", "token", scopes={"r": ""}), scopes=["r"])
    ],
) -> Any:
    return token


@app.get("/openid")
def openid(header: Annotated[str, Depends(OpenIdConnect(openIdConnectUrl="/.well-known/openid"))]) -> Any:
    return header


@app.get("/digest")
def digest(who: Annotated[HTTPAuthorizationCredentials, Depends(HTTPDigest())]) -> Any:
    return [who.scheme.lower(), who.credentials]


@app.delete("/gone/{key}", status_code=204)
def nothing(key: str) -> Response:
    return Response(status_code=204)
