"""Arguments of calls against the schemas of their tools."""

import json
import sys
from typing import Any

import pytest

from unspool.errors import UnspoolError
from unspool.model.record import TrainingRecord, TrainingTurn
from unspool.transforms.schemas import Call, Schemas, arguments_of, calls_of

READ = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
    "required": ["path"],
    "additionalProperties": False,
}


def tool(name: str, schema: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": schema}}


def called(arguments: Any, tools: list[dict[str, Any]], name: str = "read") -> TrainingRecord:
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    asked = TrainingTurn({"role": "user", "content": "Go"})
    return TrainingRecord([asked, TrainingTurn({"role": "assistant", "tool_calls": [call]})], tools, "s", "f")


def kinds(record: TrainingRecord) -> list[str]:
    return [misfit.kind for misfit in Schemas().misfits(record)]


def test_calls_of_every_form_are_read() -> None:
    message = {
        "role": "assistant",
        "tool_calls": [
            {"id": "a", "function": {"name": "read", "arguments": "{}"}},
            {"id": "", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}},
            {"id": "b", "function": {"name": None}},
            {"id": "c", "function": {}},
            "no call",
        ],
        "function_call": {"name": "old", "arguments": "{}"},
    }
    patch = Call(None, "patch", "*** Begin", free=True)
    assert calls_of(message) == [Call("a", "read", "{}"), patch, Call(None, "old", "{}")]
    assert calls_of({"role": "assistant", "tool_calls": None, "function_call": "x"}) == []


@pytest.mark.parametrize(
    ("written", "value"), [('{"a": 1}', {"a": 1}), ({"a": 1}, {"a": 1}), ("", {}), (" ", {}), (None, {}), ("42", 42)]
)
def test_arguments_are_a_value(written: Any, value: Any) -> None:
    assert arguments_of(Call(None, "f", written)) == value


@pytest.mark.parametrize("written", ["{", "not json", '{"a": NaN}', '{"a": 1} x', "[" * 100_000])
def test_what_is_no_json_is_a_value_error(written: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        arguments_of(Call(None, "f", written))


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(UnspoolError, match=r"pip install 'unspool\[filters\]'"):
        Schemas()


class TestWithThePackage:
    @pytest.fixture(autouse=True)
    def _package(self) -> None:
        pytest.importorskip("jsonschema")

    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ('{"path": "/a"}', []),
            ({"path": "/a", "limit": 3}, []),
            ('{"path": "/a", "limit": 0}', ["arguments do not fit the schema"]),
            ('{"path": 7}', ["arguments do not fit the schema"]),
            ('{"path": "/a", "depth": 1}', ["arguments do not fit the schema"]),
            ("", ["arguments do not fit the schema"]),
            ("[]", ["arguments are no object"]),
            ('{"path": ', ["arguments are no JSON"]),
        ],
    )
    def test_arguments_fit_or_not(self, arguments: Any, expected: list[str]) -> None:
        assert kinds(called(arguments, [tool("read", READ)])) == expected

    def test_a_misfit_says_where_and_what(self) -> None:
        (misfit,) = Schemas().misfits(called('{"path": 7}', [tool("read", READ)]))
        assert (misfit.message, misfit.tool) == (1, "read")
        assert misfit.detail == "$.path: 7 is not of type 'string'"

    def test_a_tool_that_is_not_there(self) -> None:
        assert kinds(called("{}", [tool("read", READ)], "write")) == ["a call of a tool that is not there"]

    def test_where_no_tools_are_known_only_the_json_counts(self) -> None:
        assert kinds(called("{}", [], "write")) == []
        assert kinds(called("{", [], "write")) == ["arguments are no JSON"]

    def test_a_provider_s_own_tools_may_have_any_name(self) -> None:
        assert kinds(called("{}", [tool("read", READ), {"type": "mcp", "server_label": "x"}], "write")) == []

    def test_tools_in_other_forms_are_found(self) -> None:
        assert kinds(called("{}", [{"name": "read", "parameters": READ}])) == ["arguments do not fit the schema"]
        assert kinds(called("{}", [{"name": "read", "input_schema": READ}])) == ["arguments do not fit the schema"]

    @pytest.mark.parametrize(
        "schema",
        [
            None,
            {},
            {"type": "thing"},
            {"type": "object", "required": "path"},
            {"$ref": "#/$defs/none"},
            {"$ref": "#"},
            {"type": "object", "patternProperties": {"(": {}}},
            {"$schema": "urn:never-heard-of"},
        ],
        ids=json.dumps,
    )
    def test_a_schema_that_is_wrong_or_missing_is_no_fault_of_the_call(self, schema: Any) -> None:
        assert kinds(called('{"a": 1}', [tool("read", schema)])) == []

    def test_a_reference_is_never_fetched(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tried: list[Any] = []

        def refuse(*where: Any, **_: Any) -> None:
            tried.append(where)
            raise OSError("no network")

        monkeypatch.setattr("urllib.request.urlopen", refuse)
        monkeypatch.setattr("socket.socket.connect", refuse)
        schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}}
        assert kinds(called('{"a": 1}', [tool("read", schema)])) == []
        assert tried == []

    def test_references_inside_a_schema_and_the_newest_draft_are_understood(self) -> None:
        schema = {
            "type": "object",
            "properties": {"at": {"$ref": "#/$defs/point"}},
            "$defs": {"point": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]}},
        }
        assert kinds(called('{"at": [1, "x"]}', [tool("read", schema)])) == []
        assert kinds(called('{"at": ["x", 1]}', [tool("read", schema)])) == ["arguments do not fit the schema"]

    def test_gemini_s_spelling_is_understood(self) -> None:
        schema = {
            "type": "OBJECT",
            "properties": {
                "mode": {"type": "STRING", "enum": ["FAST", "SLOW"], "nullable": True},
                "type": {"type": "INTEGER"},
            },
        }
        assert kinds(called('{"mode": "FAST", "type": 1}', [tool("read", schema)])) == []
        assert kinds(called('{"mode": null}', [tool("read", schema)])) == []
        assert kinds(called('{"mode": "fast"}', [tool("read", schema)])) == ["arguments do not fit the schema"]
        assert kinds(called('{"type": null}', [tool("read", schema)])) == ["arguments do not fit the schema"]

    def test_the_same_name_with_another_schema_is_judged_by_its_own(self) -> None:
        schemas = Schemas()
        strict, loose = tool("read", READ), tool("read", {"type": "object"})
        for _ in range(2):
            assert len(list(schemas.misfits(called("{}", [strict])))) == 1
            assert list(schemas.misfits(called("{}", [loose]))) == []


@pytest.mark.parametrize(
    ("schema", "arguments", "fits"),
    [
        ({"properties": {"a": {"pattern": "^(a+)+$"}}}, {"a": "a" * 60 + "!"}, True),
        ({"properties": {"a": {"pattern": "a*a*a*b$"}}}, {"a": "a" * 100_000}, True),
        ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {"a" * 60 + "!": 1}, True),
        ({"properties": {"a": {"pattern": "^[a-z]+$"}}}, {"a": "A"}, False),
        ({"properties": {"pattern": {"type": "integer"}}}, {"pattern": "A"}, False),
    ],
)
def test_a_pattern_that_could_be_tried_for_years_is_not_tried(schema: Any, arguments: Any, *, fits: bool) -> None:
    record = called(json.dumps(arguments), [tool("read", {"type": "object", **schema})])
    assert (not list(Schemas().misfits(record))) is fits
