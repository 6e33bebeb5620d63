"""Write `web/src/types.gen.ts`: what the server sends, as TypeScript sees it. A test says when it is out of date."""

import sys
from pathlib import Path
from typing import Any

import msgspec

from unspool.jobs.view.pages import ALL

TARGET = Path(__file__).parent.parent / "web" / "src" / "types.gen.ts"
_HEAD = "// Made by scripts/web_types.py from unspool.jobs.view.pages. Do not edit.\n"
_NAMES = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def typescript() -> str:
    _, components = msgspec.json.schema_components(ALL, ref_template="{name}")
    return _HEAD + "".join(f"\n{_interface(name, schema)}" for name, schema in sorted(components.items()))


def _interface(name: str, schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    fields = "".join(
        f"  {key}{'' if key in required else '?'}: {_type(inner)};\n" for key, inner in schema["properties"].items()
    )
    return f"export interface {name} {{\n{fields}}}\n"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"])
    if "anyOf" in schema:
        kinds = dict.fromkeys(map(_type, schema["anyOf"]))
        return " | ".join(sorted(kinds, key="null".__eq__))  # null last: versions of msgspec differ in the order
    if "enum" in schema:
        return " | ".join("null" if value is None else f'"{value}"' for value in schema["enum"])
    match schema.get("type"):
        case "array" if "prefixItems" in schema:
            return f"[{', '.join(map(_type, schema['prefixItems']))}]"
        case "array":
            inner = _type(schema.get("items", {}))
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case "object":
            values = schema.get("additionalProperties")
            return f"Record<string, {_type(values) if isinstance(values, dict) else 'unknown'}>"
        case str(name):
            return _NAMES[name]
    return "unknown"


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.read_text() == typescript() else f"{TARGET} is out of date: run {sys.argv[0]}")
    TARGET.write_text(typescript())
