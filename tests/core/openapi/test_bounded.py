"""Documents that are made to take long, or that are very large: what they may cost."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.support.openapi import converted, dangling_references, described, json_body, operation

LIMIT = 2.0  # seconds: many times what each takes, and little beside what it would take without a bound
MANY = 100_000
KINDS = ("application/json", "multipart/form-data", "application/x-www-form-urlencoded")


def of_schemas(schemas: dict[str, Any], kind: str = "application/json") -> dict[str, Any]:
    body = json_body({"type": "object", "properties": {"p": {"$ref": "#/components/schemas/s0"}}}, kind)
    return described(operation(method="post", requestBody=body), components={"schemas": schemas})


def nested(keyword: str, count: int, **more: Any) -> dict[str, Any]:
    """Schemas each of which is one of several of the next."""
    schemas = {f"s{n}": {keyword: [{"$ref": f"#/components/schemas/s{n + 1}"}] * count, **more} for n in range(40)}
    return {**schemas, "s40": {"type": "string", "format": "binary"}}


@pytest.mark.parametrize(
    "document",
    [
        *(
            described(operation(description=f"a{text}b", summary=f"c{text}d"))
            for text in (" " * MANY, "\t \n" * MANY, "<a " * MANY, "{" * MANY)
        ),
        *(described(operation(path="/" + text * MANY)) for text in ("{", "{{a", ":a/", "{?a", "${")),
        *(of_schemas(nested(keyword, 12), kind) for keyword in ("anyOf", "oneOf", "allOf") for kind in KINDS),
        of_schemas(nested("oneOf", 12, properties={"own": {"readOnly": True}}, additionalProperties=False)),
    ],
    ids=lambda document: str(document)[:60],
)
def test_a_document_that_is_made_to_take_long_does_not(document: dict[str, Any]) -> None:
    started = time.perf_counter()
    converted(document)
    assert time.perf_counter() - started < LIMIT


def test_a_schema_that_reaches_a_large_part_of_an_api_is_shown_without_its_far_ends() -> None:
    properties = {f"p{n}": {"type": "string"} for n in range(30)}
    schemas = {
        f"s{n}": {"properties": {**properties, "a": {"$ref": f"#/components/schemas/s{(n * 2 + 1) % 2_000}"}}}
        for n in range(2_000)
    }
    for n in range(2_000):
        schemas[f"s{n}"]["properties"]["b"] = {"$ref": f"#/components/schemas/s{(n * 2 + 2) % 2_000}"}
    (tool,) = converted(of_schemas(schemas)).tools
    assert not dangling_references(tool.inputs)
    described_ones = [schema for schema in tool.inputs["$defs"].values() if "properties" in schema]
    assert 500 < len(described_ones) < 700
    left_out = [schema for schema in tool.inputs["$defs"].values() if "properties" not in schema]
    assert left_out
    assert all(set(schema) == {"description"} for schema in left_out)
