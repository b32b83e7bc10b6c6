"""What providers that know few keywords can be told of a tool's arguments. Each rule gives its source."""

from __future__ import annotations

from dataclasses import dataclass

from utcp_bridge.schema.limits import Limits


@dataclass(frozen=True, slots=True)
class Profile:
    """What a provider can be told.

    Attributes:
        keywords: The keywords of values that it takes as they are.
        formats: The formats that it knows.
        says_nullable: Whether null is allowed by `nullable: true`, and not by a type.
        enums_of_strings: Whether only strings may be enumerated, and no empty ones.
        is_closed: Whether every object must name all its properties, all of them required.
        needs_properties: Whether an object without properties is refused.
        limits: How much it takes.
    """

    keywords: frozenset[str]
    formats: frozenset[str]
    says_nullable: bool
    enums_of_strings: bool
    is_closed: bool
    needs_properties: bool
    limits: Limits


# The fields of the protobuf message `Schema` (ai.google.dev/api/caching#Schema). Others fail the request as unknown
# names: additionalProperties (brainlid/langchain#599), propertyNames (tailcallhq/forgecode#3426), exclusiveMinimum and
# multipleOf (decolua/9router#3018), title and default in older versions (oaustegard/claude-skills#748). A type is one
# value, never a list (brightwave-inc/tidebreak#1516). An enumeration holds strings (microsoft/azure-devops-mcp#145),
# none of them empty: "enum[0]: cannot be empty" (BerriAI/litellm#14155, langchain-ai/langchainjs#9875). An object has
# properties: "should be non-empty for OBJECT type" (vercel/ai#3371, huggingface/smolagents#2229), also that of a tool
# without arguments, where frameworks cannot leave the whole object out. The sum of all `maxItems` must stay below 960
# (googleapis/python-genai#2170). Too many levels are refused too (google-gemini/gemini-cli#5923); no number is known.
GEMINI = Profile(
    keywords=frozenset({"minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern"}),
    formats=frozenset({"date-time", "int32", "int64", "float", "double"}),
    says_nullable=True,
    enums_of_strings=True,
    is_closed=False,
    needs_properties=True,
    limits=Limits(levels=24, items=900),
)
# OpenAI's guide to structured outputs, "Supported schemas": all fields required, additionalProperties false, optional
# by union with null, no allOf, oneOf, not or conditionals. "A schema may have up to 5000 object properties total, with
# up to 10 levels of nesting"; "total string length of all property names, definition names, enum values, and const
# values cannot exceed 120,000 characters"; "up to 1000 enum values across all enum properties"; for one "the total
# string length of all enum values cannot exceed 15,000 characters when there are more than 250 enum values".
OPENAI_STRICT = Profile(
    keywords=frozenset(
        {"minItems", "maxItems", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"}
    ),
    formats=frozenset({"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}),
    says_nullable=False,
    enums_of_strings=False,
    is_closed=True,
    needs_properties=False,
    limits=Limits(levels=10, properties=5_000, characters=120_000, values=1_000, long_list=(250, 15_000)),
)
