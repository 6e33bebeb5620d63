"""JSON Schemas of tools: walked and spelled as the standard has them.

A schema is walked by what each place in it means: the names under `properties` are names, whatever they are called, and
never keywords. So a property that is called `format` stays.
"""

from collections.abc import Callable, Mapping
from typing import Any

_ONE = frozenset(
    "items additionalItems additionalProperties contains not if then else propertyNames unevaluatedItems "
    "unevaluatedProperties".split()
)
_MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_TYPES = frozenset("STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT NULL".split())
"""As Gemini's clients write them; JSON Schema knows them only in small letters."""


_COUNTS = frozenset("minItems maxItems minLength maxLength minProperties maxProperties".split())
"""Keywords whose value is a whole number; Gemini's API writes such numbers as strings."""


def without(schema: Mapping[str, Any], keywords: frozenset[str]) -> dict[str, Any]:
    """The schema without these keywords, at every depth, its types as JSON Schema spells them."""

    def cleaned(inner: Any) -> Any:
        return without(inner, keywords) if isinstance(inner, dict) else inner

    return each_inner({key: value for key, value in spelled(schema).items() if key not in keywords}, cleaned)


def as_json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema with types and numbers as JSON Schema writes them, at every depth: `OBJECT` is `object`."""
    return without(schema, frozenset())


def spelled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema with its own types and numbers as JSON Schema writes them, not those of inner schemas."""
    result = dict(schema)
    kind = schema.get("type")
    if isinstance(kind, list):
        result["type"] = [_small(each) for each in kind]
    elif kind == "TYPE_UNSPECIFIED":
        del result["type"]
    elif isinstance(kind, str):
        result["type"] = _small(kind)
    for keyword in _COUNTS.intersection(result):
        if isinstance(number := result[keyword], str) and number.isdecimal():
            result[keyword] = int(number)
    return result


def _small(kind: Any) -> Any:
    return kind.lower() if isinstance(kind, str) and kind in _TYPES else kind


def each_inner(schema: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """Return the same keywords, with `change` applied to each schema directly below them."""
    changed = dict(schema)
    for key, value in schema.items():
        if key in _NAMED and isinstance(value, dict):
            changed[key] = {name: change(inner) for name, inner in value.items()}
        elif (key in _MANY or key == "items") and isinstance(value, list):
            changed[key] = [change(inner) for inner in value]
        elif key in _ONE:
            changed[key] = change(value)
    return changed
