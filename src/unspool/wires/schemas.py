"""Schemas of tools in the form that a provider accepts."""

from collections.abc import Mapping
from typing import Any

from unspool.sources.values import listing, mapping
from unspool.transforms.json_schema import each_inner, spelled

_MOST = 5_000
"""Schemas in one definition: references to references can make any number of them."""
# What Gemini's own kind of schema knows: https://ai.google.dev/api/caching#Schema
_GEMINI = frozenset(
    "type format title description nullable enum items minItems maxItems properties required minProperties "
    "maxProperties minLength maxLength pattern example anyOf propertyOrdering default minimum maximum".split()
)
_GEMINI_FORMATS = {
    "string": {"enum", "date-time"},
    "number": {"float", "double"},
    "integer": {"int32", "int64"},
}


def whole(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema; where a tool has none, that of an object without properties."""
    return dict(schema) if schema else {"type": "object", "properties": {}}


def for_gemini(schema: Mapping[str, Any]) -> dict[str, Any]:
    """In the subset of OpenAPI's schemas that Gemini takes: references are written out, variants are `anyOf`."""
    return _Gemini(schema).written(schema, frozenset())


class _Gemini:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._written = 0

    def written(self, given: Mapping[str, Any], within: frozenset[str]) -> dict[str, Any]:
        """`within` are the references that are being written out: a schema may hold itself."""
        self._written += 1
        schema, references = self._resolved(spelled(given))
        if self._written > _MOST or within & references:
            return {}  # from here on anything goes
        for part in listing(schema.pop("allOf", None)):
            resolved, more = self._resolved(mapping(part))
            schema, references = _both(schema, resolved), references | more
        if "oneOf" in schema:
            schema["anyOf"] = [*listing(schema.get("anyOf")), *listing(schema.pop("oneOf"))]
        if "const" in schema:
            schema["enum"] = [schema.pop("const")]
        _one_type(schema)
        if "enum" in schema:
            _named_values(schema)
        _plain_format(schema)
        if isinstance(schema.get("items"), list):  # one for each place
            schema["items"] = {"anyOf": schema["items"]}
        if schema.get("type") == "array":
            schema.setdefault("items", {})
        kept = {key: value for key, value in schema.items() if key in _GEMINI}
        if isinstance(required := kept.get("required"), list):
            properties = mapping(kept.get("properties"))
            kept["required"] = [name for name in required if isinstance(name, str) and name in properties]

        def change(inner: Any) -> Any:
            return self.written(mapping(inner), within | references)

        return each_inner(kept, change)

    def _resolved(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], frozenset[str]]:
        """The schema with what its references stand for in their place, and the references."""
        schema, seen = dict(given), set()
        while isinstance(reference := schema.pop("$ref", None), str) and reference not in seen:
            seen.add(reference)
            found: Any = self._root
            for name in reference.removeprefix("#").strip("/").split("/"):
                found = mapping(found).get(name.replace("~1", "/").replace("~0", "~")) if name else found
            schema = {**spelled(mapping(found)), **schema}
        return schema, frozenset(seen)


def _plain_format(schema: dict[str, Any]) -> None:
    kind = schema.get("type")
    if "format" in schema and schema["format"] not in _GEMINI_FORMATS.get(kind if isinstance(kind, str) else "", ()):
        del schema["format"]


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    properties = {**mapping(one.get("properties")), **mapping(other.get("properties"))}
    required = [*listing(one.get("required")), *listing(other.get("required"))]
    merged = {**other, **one}
    if properties:
        merged["properties"] = properties
    if required:
        merged["required"] = list(dict.fromkeys(map(str, required)))
    return merged


def _one_type(schema: dict[str, Any]) -> None:
    """A list of types becomes one type that may be null, or variants."""
    kinds = schema.get("type")
    if isinstance(kinds, list):
        if "null" in kinds:
            schema["nullable"] = True
        rest = [kind for kind in kinds if kind != "null"]
        if len(rest) == 1:
            schema["type"] = rest[0]
        else:
            del schema["type"]
            schema["anyOf"] = [*listing(schema.get("anyOf")), *({"type": kind} for kind in rest)]
    variants = listing(schema.get("anyOf"))
    if {"type": "null"} in variants:
        schema["nullable"] = True
        schema["anyOf"] = [variant for variant in variants if variant != {"type": "null"}]
        if len(schema["anyOf"]) == 1:
            schema |= {**mapping(schema.pop("anyOf")[0]), **schema}


def _named_values(schema: dict[str, Any]) -> None:
    """Gemini's `enum` is of strings: of other values, the description says them."""
    values = listing(schema["enum"])
    if None in values:
        schema["nullable"] = True
        values = [value for value in values if value is not None]
    if all(isinstance(value, str) for value in values):
        schema["enum"] = values
        schema.setdefault("type", "string")
        return
    del schema["enum"]
    told = f"One of: {', '.join(str(value) for value in values)}."
    schema["description"] = f"{schema['description']} {told}" if schema.get("description") else told
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string"}
    schema.setdefault("type", kinds.get(type(values[0]) if values else str, "string"))
