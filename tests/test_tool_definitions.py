"""Tools as each provider takes them: schemas, names, choice, search."""

from typing import Any

import pytest

from contexts import LOOK, PROVIDERS, body, context, prepared, says
from unspool.errors import UnsupportedContent, WrongContext
from unspool.model import Tool
from unspool.transforms.json_schema import without
from unspool.wires.normalised import read_tools
from unspool.wires.schemas import for_gemini

NESTED = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "format": {"type": "string", "format": "uri", "examples": ["x"]},
        "minimum": {"type": "integer", "minimum": 1, "exclusiveMaximum": 9},
        "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
        "list": {"type": "array", "items": {"type": "object", "properties": {"$schema": {"const": "v1"}}}},
        "either": {"oneOf": [{"type": "string", "format": "email"}, {"type": "null"}]},
        "many": {"type": ["string", "integer", "null"]},
        "tree": {"$ref": "#/$defs/node"},
        "all": {"allOf": [{"properties": {"a": {"type": "string"}}}, {"required": ["a"]}]},
        "size": {"enum": [1, 2, None]},
    },
    "required": ["format", "gone"],
    "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
}
TOOL = Tool("yard___dig", "Dig", NESTED)


def properties(value: Any) -> set[str]:
    """The names of properties at every depth."""
    if isinstance(value, list):
        return {name for inner in value for name in properties(inner)}
    if not isinstance(value, dict):
        return set()
    own = set(value.get("properties") or {}) if isinstance(value.get("properties"), dict) else set()
    return own.union(*(properties(inner) for inner in value.values()))


def test_no_property_is_ever_lost_by_its_name() -> None:
    names = properties({key: value for key, value in NESTED.items() if key != "$defs"})
    for provider in (*PROVIDERS, "cerebras"):
        assert names <= properties(body(provider, context(says("user", "Hi")), [TOOL])["tools"]), provider


def test_clean_up_is_recursive() -> None:
    cleaned = without(NESTED, frozenset({"$schema", "format", "minimum", "nullable"}))
    assert cleaned["properties"]["format"] == {"type": "string", "examples": ["x"]}
    assert cleaned["properties"]["minimum"] == {"type": "integer", "exclusiveMaximum": 9}
    assert "$schema" in cleaned["properties"]["list"]["items"]["properties"]
    assert "$schema" not in cleaned
    assert cleaned["properties"]["either"]["oneOf"][0] == {"type": "string"}


def test_gemini_gets_only_what_its_schemas_know() -> None:
    schema = for_gemini(NESTED)
    told = schema["properties"]
    assert schema["required"] == ["format"]
    assert told["format"] == {"type": "string"}
    assert told["either"] == {"type": "string", "nullable": True}
    assert told["many"] == {"nullable": True, "anyOf": [{"type": "string"}, {"type": "integer"}]}
    assert told["tree"] == {"type": "object", "properties": {"next": {}}}
    assert told["all"] == {"properties": {"a": {"type": "string"}}, "required": ["a"]}
    assert told["size"] == {"type": "integer", "nullable": True, "description": "One of: 1, 2."}
    assert told["list"]["items"]["properties"]["$schema"] == {"type": "string", "enum": ["v1"]}
    assert "additionalProperties" not in told["additionalProperties"]


def test_types_in_capitals_are_sent_as_json_schema_spells_them() -> None:
    named = {"type": "STRING", "enum": ["OBJECT"], "description": "ARRAY"}
    spelled = {"type": "OBJECT", "properties": {"type": named, "at": {"type": "ARRAY", "items": {"type": "NUMBER"}}}}
    listed = {"type": "array", "items": {"type": "number"}}
    plain = {"type": "object", "properties": {"type": {**named, "type": "string"}, "at": listed}}
    tool = Tool("yard___dig", "Dig", spelled)
    for provider, key in (("anthropic", "input_schema"), ("openai-responses", "parameters")):
        assert body(provider, context(says("user", "Hi")), [tool])["tools"][0][key] == plain
    for provider in ("openai", "cohere", "cerebras"):
        assert body(provider, context(says("user", "Hi")), [tool])["tools"][0]["function"]["parameters"] == plain
    assert for_gemini({"type": "OBJECT", "properties": {"when": {"type": "STRING", "format": "date-time"}}}) == {
        "type": "object",
        "properties": {"when": {"type": "string", "format": "date-time"}},
    }


def test_references_without_end_end() -> None:
    laughs: dict[str, Any] = {
        f"d{number}": {"type": "object", "properties": {name: {"$ref": f"#/$defs/d{number + 1}"} for name in "ab"}}
        for number in range(40)
    }
    assert for_gemini({"$ref": "#/$defs/d0", "$defs": laughs})["type"] == "object"


def test_a_name_of_what_is_required_that_is_no_name() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": [["a"], {"a": 1}, None, "a"]}
    assert for_gemini(schema)["required"] == ["a"]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_names_that_a_provider_refuses_are_changed_and_stay_apart(provider: str) -> None:
    tools = [Tool(f"yard___{'long-' * 40}{end}") for end in ("a", "b")] + [Tool("yard___with blanks/and.more")]
    sent = body(provider, context(says("user", "Hi")), tools)["tools"]
    listed = sent[0]["functionDeclarations"] if provider == "gemini" else sent
    names = [tool.get("name") or tool["function"]["name"] for tool in listed]
    assert len(set(names)) == 3
    assert all(len(name) <= 64 and name.replace("_", "").replace("-", "").isalnum() for name in names)


@pytest.mark.parametrize(
    ("provider", "mode", "expected"),
    [
        ("anthropic", "auto", {"type": "auto"}),
        ("anthropic", "none", {"type": "none"}),
        ("anthropic", "required", {"type": "any"}),
        ("anthropic", LOOK.name, {"type": "tool", "name": LOOK.name}),
        ("openai", "required", "required"),
        ("openai", LOOK.name, {"type": "function", "function": {"name": LOOK.name}}),
        ("openai-responses", "none", "none"),
        ("openai-responses", LOOK.name, {"type": "function", "name": LOOK.name}),
        ("cohere", "required", "REQUIRED"),
        ("cohere", "none", "NONE"),
        ("cohere", "auto", None),
        ("cohere", LOOK.name, "REQUIRED"),
    ],
)
def test_tool_mode(provider: str, mode: str, expected: Any) -> None:
    sent = body(provider, context(says("user", "Hi"), tool_mode=mode), [LOOK, TOOL])
    assert sent.get("tool_choice") == expected
    assert len(sent["tools"]) == (1 if (provider, mode) == ("cohere", LOOK.name) else 2)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        (LOOK.name, {"mode": "ANY", "allowedFunctionNames": [LOOK.name]}),
    ],
)
def test_tool_mode_of_gemini(mode: str, expected: Any) -> None:
    sent = body("gemini", context(says("user", "Hi"), tool_mode=mode), [LOOK])
    assert sent["toolConfig"]["functionCallingConfig"] == expected


def test_tool_mode_with_an_unknown_name() -> None:
    with pytest.raises(WrongContext, match=r"neither auto, none, required nor a tool; there are yard___look"):
        body("anthropic", context(says("user", "Hi"), tool_mode="nothing"), [LOOK])


def test_search_together_with_tools() -> None:
    given = context(says("user", "Hi"), search=True)
    assert body("anthropic", given, [LOOK], model="claude-opus-4-6")["tools"][1]["type"] == "web_search_20260318"
    assert (
        body("anthropic", given, [LOOK], model="claude-haiku-4-5-20251001")["tools"][1]["type"] == "web_search_20250305"
    )
    assert body("openai", given, [LOOK])["web_search_options"] == {}
    assert body("openai-responses", given, [LOOK])["tools"][1] == {"type": "web_search"}
    gemini = body("gemini", given, [LOOK])
    assert gemini["tools"][1] == {"googleSearch": {}}
    assert gemini["toolConfig"]["includeServerSideToolInvocations"] is True


def test_tool_mode_of_gemini_is_not_sent_with_its_search_alone() -> None:
    """`Function calling config is set without function_declarations`."""
    sent = body("gemini", context(says("user", "Hi"), search=True, tool_mode="auto"))
    assert sent["tools"] == [{"googleSearch": {}}]
    assert "toolConfig" not in sent


@pytest.mark.parametrize("provider", ["cohere", "cerebras"])
def test_who_cannot_search_says_so(provider: str) -> None:
    given = context(says("user", "Hi"), search=True)
    with pytest.raises(UnsupportedContent, match="takes no search of its own"):
        body(provider, given)
    _, warnings = prepared(provider, given, lenient=True)
    assert len(warnings) == 1


def test_definitions_as_mcp_has_them() -> None:
    listed = [{"name": "a", "inputSchema": {"type": "object"}, "annotations": {}, "outputSchema": {"type": "string"}}]
    assert read_tools({"tools": listed}) == read_tools(listed)
    assert "outputSchema" not in str(body("anthropic", context(says("user", "Hi")), read_tools(listed)))
    for wrong, told in (({}, "a list"), ([{}], "tool 1 has no name"), ([{"name": "a", "inputSchema": 3}], "no object")):
        with pytest.raises(WrongContext, match=told):
            read_tools(wrong)
