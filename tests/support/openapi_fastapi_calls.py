"""How each operation of the framework's server is called, and what it answers."""

from __future__ import annotations

import base64
from typing import Any


def file(content: bytes, **more: str) -> dict[str, str]:
    """A file as an argument gives it."""
    return {"base64": base64.b64encode(content).decode(), **more}


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
        {"body": {"one": file(b"1", filename="1.txt"), "raw": "2", "note": "3"}},
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
    (
        "all_in_path",
        {"color": "red", "day": "2024-02-29", "key": KEY, "size": 1.5},
        ["red", "2024-02-29", KEY, 1.5],
    ),
    (
        "query_kinds",
        {
            "colors": ["red", "blue"],
            "pair": [1, "z"],
            "when": "2024-02-29T10:00:00+02:00",
            "span": "PT5M",
            "text": '{"a":[1]}',
            "flags": [True, False],
        },
        [["blue", "red"], [1, "z"], "2024-02-29T10:00:00+02:00", "PT5M", {"a": [1]}, [True, False]],
    ),
    ("same_name", {"path_id": 1, "query_id": 2, "header_id": 3}, [1, 2, 3]),
    ("header_model", {"save-data": True, "x-number": 4}, {"save_data": True, "x_number": 4}),
    ("cookie_model", {"session_id": "s", "tracker": "t"}, {"session_id": "s", "tracker": "t"}),
    (
        "form_model",
        {"body": {"name": "ü &=+", "tags": ["a", "b"]}},
        {"name": "ü &=+", "age": 3, "tags": ["a", "b"]},
    ),
    (
        "form_model_with_a_file",
        {"body": {"name": "n", "tags": ["a", "b"], "picture": file(b"1", filename="é.png")}},
        ["n", ["a", "b"], "é.png"],
    ),
    (
        "many_files",
        {"body": {"files": [file(b"1", filename="1"), "2"], "numbers": [1, 2], "more": file(b"", filename="e")}},
        [[["1", "1"], ["files", "2"]], [1, 2], "e"],
    ),
    (
        "kinds_of_parts",
        {"body": {"raw": "r", "text": '{"a":1}', "day": "2024-02-29", "color": "red", "flag": True}},
        ["r", {"a": 1}, "2024-02-29", "red", True],
    ),
    (
        "password_form",
        {"body": {"grant_type": "password", "username": "u", "password": "p", "scope": "a b"}},
        ["u", "p", ["a", "b"]],
    ),
    ("embedded_body", {"body": {"item": ITEM}}, "n"),
    ("dict_body", {"body": {"1": 1.5}}, {"1": 1.5}),
    ("optional_body", {}, [None]),
    ("vendor_body", {"body": ITEM}, "n"),
    ("body_of_delete", {"body": ITEM}, "n"),
    (
        "everything",
        {"key": 1, "q": ["a", "b"], "x-token": "t", "session": "s", "body": {"item": ITEM, "other": {"z": 1}}},
        [1, "n", {"z": 1}, ["a", "b"], "t", "s"],
    ),
    ("scoped", {}, "c"),
    ("openid", {}, "Bearer i"),
    ("digest", {}, ["digest", "d"]),
]
VARIABLES = {
    "f_API_KEY_HEADER": "k1",
    "f_API_KEY_QUERY": "k2",
    "f_API_KEY_COOKIE": "k3",
    "f_HTTP_BASIC_USERNAME": "u",
    "f_HTTP_BASIC_PASSWORD": "p",
    "f_HTTP_BEARER": "b",
    "f_OAUTH2_PASSWORD_BEARER": "o",
    "f_OAUTH2_AUTHORIZATION_CODE_BEARER": "c",
    "f_OPEN_ID_CONNECT": "i",
    "f_HTTP_DIGEST": "d",
}
