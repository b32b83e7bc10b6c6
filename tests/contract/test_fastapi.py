"""A server of a real framework and its own OpenAPI document: each operation answers right in every framework."""

from __future__ import annotations

import base64
import datetime
import json
import socket
import threading
from collections.abc import Iterator
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("multipart")

import uvicorn
from fastapi import Body, Cookie, Depends, FastAPI, File, Form, Header, Query, Response, UploadFile
from fastapi.security import (
    APIKeyCookie,
    APIKeyHeader,
    APIKeyQuery,
    HTTPAuthorizationCredentials,
    HTTPBasic,
    HTTPBasicCredentials,
    HTTPBearer,
    OAuth2PasswordBearer,
)
from pydantic import BaseModel, ConfigDict, Field

from tests.contract.offers import Adapter, Outcome
from tests.support.manuals import config

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


@app.delete("/gone/{key}", status_code=204)
def nothing(key: str) -> Response:
    return Response(status_code=204)


ITEM = {"name": "n", "price": "2.5", "tags": ["x"], "nested": {"name": "m"}}
KEY = "7f1ff415-d9f0-4a2e-9c52-8d7f6e5a4b3c"
QUERY = {"text": "a b", "number": 1.5, "flag": True, "day": "2024-02-29", "key": KEY, "color": "red", "many": [1, 2]}
CALLS: list[tuple[str, dict[str, Any], Any]] = [
    ("in_path", {"a": 1, "b": "x/y"}, [1, "x/y"]),
    ("in_query", {**QUERY, "an-alias": "z"}, ["a b", 1.5, True, "2024-02-29", KEY, "red", [1, 2], "z", None, 5]),
    ("query_model", {"limit": 5, "tags": ["p", "q"]}, {"limit": 5, "order": "a", "tags": ["p", "q"]}),
    ("in_header", {"x-token": "t", "odd_name": "o"}, ["t", "o"]),
    ("in_cookie", {"session": "s", "number": 2}, ["s", 2]),
    ("one_body", {"body": ITEM}, "m"),
    ("several_bodies", {"key": 3, "q": "q", "body": {"item": ITEM, "importance": 4}}, [3, "n", 4, "q"]),
    ("list_body", {"body": [ITEM]}, ["n"]),
    ("scalar_body", {"body": 5}, 5),
    ("union_body", {"body": {"kind": "dog", "barks": True}}, "Dog"),
    ("form_body", {"body": {"user": "u", "tags": ["a", "b"]}}, ["u", ["a", "b"]]),
    (
        "file_body",
        {"body": {"one": {"base64": base64.b64encode(b"1").decode(), "filename": "1.txt"}, "raw": "2", "note": "3"}},
        ["1.txt", "1", "2", "3"],
    ),
    ("text_body", {"body": "plain"}, "plain"),
    ("header_key", {}, "k1"),
    ("query_key", {}, "k2"),
    ("cookie_key", {}, "k3"),
    ("basic", {}, "up"),
    ("bearer", {}, "b"),
    ("oauth", {}, "o"),
    ("nothing", {"key": "x"}, None),
]
VARIABLES = {
    "f_API_KEY_HEADER": "k1",
    "f_API_KEY_QUERY": "k2",
    "f_API_KEY_COOKIE": "k3",
    "f_HTTP_BASIC_USERNAME": "u",
    "f_HTTP_BASIC_PASSWORD": "p",
    "f_HTTP_BEARER": "b",
    "f_OAUTH2_PASSWORD_BEARER": "o",
}


@pytest.fixture(scope="module")
def source() -> Iterator[dict[str, Any]]:
    server = uvicorn.Server(uvicorn.Config(app, loop="asyncio", log_level="error"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/openapi.json"
        manual = {"name": "f", "call_template_type": "http", "url": url}
        yield config(manual, variables=VARIABLES)
        server.should_exit = True
        thread.join(5)


@pytest.mark.behaviour("openapi.described")
def test_a_server_that_describes_itself_is_called_right(adapter: Adapter, source: dict[str, Any]) -> None:
    with adapter.offer(source, timeout=10) as offer:
        assert sorted(offer.descriptions()) == sorted(f"f_{name}" for name, _, _ in CALLS)
        assert "skipped" not in offer.report()
        answers = {name: offer.call(f"f_{name}", arguments) for name, arguments, _ in CALLS}
    for name, _, answer in CALLS:
        expected = answer if isinstance(answer, str) else json.dumps(answer, separators=(",", ":"))
        assert answers[name] == Outcome("(no content)" if answer is None else expected, False), name
