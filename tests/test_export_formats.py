"""What holds for every format of training records."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from training import FULL, SEARCH, WEATHER, answer, anything, call, conversations, encoded, record, result, user
from unspool.errors import UnknownFormat
from unspool.exports.training import FORMATS, Options, format_for

DOCUMENT = {"type": "file", "file": {"filename": "plan.pdf", "file_data": "JVBERi0="}}


@pytest.mark.parametrize("name", FORMATS)
@given(messages=conversations | anything)
def test_any_record_becomes_json_or_is_refused(name: str, messages: list[dict[str, Any]]) -> None:
    made = encoded(name, *messages, tools=[WEATHER, SEARCH])
    assert [json.loads(line) for line in made.data.splitlines()] == made.rows
    assert made.rows or made.refused or not messages


@pytest.mark.parametrize("name", FORMATS)
@given(messages=conversations)
def test_a_record_is_written_alike_twice_and_is_not_touched(name: str, messages: list[dict[str, Any]]) -> None:
    before = json.dumps(messages)
    assert encoded(name, *messages).data == encoded(name, *messages).data
    assert json.dumps(messages) == before


@pytest.mark.parametrize("name", FORMATS)
def test_each_word_that_was_said_is_in_the_format(name: str) -> None:
    words = json.dumps(encoded(name, *FULL).rows, ensure_ascii=False).replace("\\", "")
    for said in (
        "Be brief.",
        "Is it sunny",
        "Let me look.",
        "weather",
        "Kraków",
        "rain",
        "Only in Łódź.",
        "And here?",
        "No.",
    ):
        assert said in words


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"parquet"}))
def test_results_stand_as_their_calls_do_however_they_came(name: str) -> None:
    asked = [user("?"), answer(None, call("a"), call("b"), call("c"))]
    came = [result("c", "third"), result("x", "of no call"), result("a", "first"), result("b", "second")]
    told = [came[2], came[3], came[0], came[1]]
    assert encoded(name, *asked, *came, answer("Done.")).rows == encoded(name, *asked, *told, answer("Done.")).rows


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("openai", {"thinking": 1, "document": 1}),
        ("hf", {"document": 1}),
        ("axolotl", {"document": 1}),
        ("sharegpt", {"document": 1, "image": 1}),
        ("hermes", {"document": 1, "image": 1}),
        ("swe-xml", {"document": 1, "image": 1, "thinking": 1, "id of a result": 2}),
        ("sts", {"document": 1, "image": 1, "tool definition": 1}),
        ("atif", {}),
        ("parquet", {}),
    ],
)
def test_what_a_format_cannot_hold_is_counted(name: str, lost: dict[str, int]) -> None:
    messages = [*FULL, user([{"type": "text", "text": "Read this."}, DOCUMENT]), answer("Done.")]
    made = encoded(name, *messages)
    assert made.losses == lost
    assert ("[document]" in made.data.decode()) or name == "parquet"


@pytest.mark.parametrize("name", ["openai", "hf", "axolotl", "sharegpt", "hermes", "swe-xml"])
def test_tools_that_are_no_functions_are_counted(name: str) -> None:
    assert encoded(name, *FULL, tools=[WEATHER, SEARCH]).losses["tool that is no function"] == 1


@pytest.mark.parametrize("name", ["hf", "sharegpt", "hermes", "swe-xml"])
def test_marks_that_a_format_has_no_place_for_are_counted(name: str) -> None:
    assert encoded(name, *FULL, train={5, 7}).losses["training mark"] == 1


@pytest.mark.parametrize(
    ("name", "options"),
    [("hf", Options(completions=True))]
    + [(name, Options()) for name in ("openai", "hf", "axolotl", "sharegpt", "hermes", "swe-xml")],
)
def test_datasets_loads_a_folder_whatever_its_files_hold(tmp_path: Path, name: str, options: Options) -> None:
    """Files that differ in all that may differ: tools, arguments, images, thinking."""
    datasets = pytest.importorskip("datasets")
    other = {"type": "function", "function": {"name": "run", "parameters": {"properties": {"city": {"enum": [1]}}}}}
    calls = [call("a", "run", '{"city": {"x": [1]}}'), call("b", "run", '{"city": 2}')]
    records = [
        ((user("?"), answer("!")), []),
        ((user("?"), answer(None, calls[0]), result("a"), answer("!", reasoning_content="hm")), [other]),
        ((user("?"), answer(None, calls[1]), result("b"), answer("!")), [other]),
        (FULL, [WEATHER]),
    ]
    made = [encoded(name, *messages, tools=tools, options=options) for messages, tools in records]
    for number, each in enumerate(made):
        (tmp_path / f"{number}.jsonl").write_bytes(each.data)
    (tmp_path / "integrity-report.json").write_text('{"findings": [{"rule": "no-tools"}]}')
    for file, content in format_for(name, options).beside([]).items():
        (tmp_path / file).write_bytes(content)
    loaded = datasets.load_dataset(str(tmp_path), split="train", cache_dir=str(tmp_path / "cache"))
    rows = [{key: value for key, value in row.items() if value is not None} for row in loaded]
    assert rows == [{k: v for k, v in row.items() if v is not None} for each in made for row in each.rows]


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(UnknownFormat, match="'excel' is no format"):
        format_for("excel")


def test_a_file_of_its_own_has_a_name_that_any_system_takes() -> None:
    (made,) = format_for("atif").encode([record(*FULL, id="../a b:c")])
    assert made.file(".json") == "_a_b_c.json"


def test_formats_are_imported_when_they_are_used() -> None:
    script = (
        "import sys; from unspool.exports.training import format_for; format_for('parquet'); "
        "print([name for name in sys.modules if name in ('pyarrow', 'unspool.exports.atif')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == "[]"


def test_options_are_few_and_have_defaults() -> None:
    assert format_for("hf").options == Options(json_columns="json", completions=False)


@pytest.mark.parametrize(
    "parameters", [{}, {"parameters": {}}, {"parameters": None}, {"parameters": {"type": "object"}}]
)
def test_a_tool_that_takes_nothing_has_a_schema_that_says_so(parameters: dict[str, Any]) -> None:
    """LLaMA-Factory reads `properties` of every tool, and OpenAI takes no schema without a type."""
    tool = {"type": "function", "function": {"name": "now", "description": "The time."} | parameters}
    schema = {"type": "object", "properties": {}}
    for name in ("openai", "hf"):
        assert encoded(name, *FULL, tools=[tool]).rows[0]["tools"][0]["function"]["parameters"] == schema
    assert json.loads(encoded("sharegpt", *FULL, tools=[tool]).rows[0]["tools"])[0]["parameters"] == schema


def test_a_tool_that_takes_a_text_is_a_function_as_its_calls_are() -> None:
    tool = {"type": "custom", "custom": {"name": "patch", "description": "Patches."}}
    called = {"id": "c", "type": "custom", "custom": {"name": "patch", "input": "*** Begin"}}
    made = encoded("openai", user("?"), answer(None, called), result("c"), answer("!"), tools=[tool])
    assert made.refused is None
    assert made.losses.total() == 0
    (row,) = made.rows
    assert row["messages"][1]["tool_calls"][0]["function"] == {"name": "patch", "arguments": '{"input":"*** Begin"}'}
    assert row["tools"][0]["function"]["parameters"]["required"] == ["input"]
