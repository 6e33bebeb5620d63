from pathlib import Path

import pytest

from training import FULL, SEEN, SYSTEM, answer, call, encoded, result, row, user
from unspool.exports.training import Options

COMPLETIONS = Options(completions=True)


def test_the_form_that_trl_takes() -> None:
    made = row("hf", *FULL)
    asked = made["messages"][2]
    assert asked["tool_calls"][1]["function"] == {"name": "weather", "arguments": {"city": "Kraków", "days": 2}}
    assert asked["reasoning_content"] == "Two calls."
    assert made["messages"][3] == {"role": "tool", "content": "sunny", "name": "weather", "tool_call_id": "a"}
    assert made["messages"][6]["content"] == [{"type": "text", "text": "And here?"}, {"type": "image", "url": SEEN}]
    assert made["tools"][0]["function"]["name"] == "weather"


def test_content_is_text_even_where_only_calls_are_made() -> None:
    assert row("hf", user("?"), answer(None, call("a")))["messages"][1]["content"] == ""


def test_arguments_that_are_no_object_are_kept_under_a_name() -> None:
    made = encoded("hf", user("?"), answer(None, call("a", arguments="{"), call("b", arguments="")))
    first, second = made.rows[0]["messages"][1]["tool_calls"]
    assert (first["function"]["arguments"], second["function"]["arguments"]) == ({"raw": "{"}, {})
    assert made.losses == {"arguments that are no object": 1}


def test_results_without_an_id_belong_to_the_calls_that_wait() -> None:
    calls = {"role": "assistant", "tool_calls": [{"function": {"name": name}} for name in ("one", "two")]}
    given = [{"role": "tool", "name": "two", "content": "2"}, {"role": "tool", "content": "1"}]
    messages = row("hf", user("?"), calls, *given)["messages"]
    one, two = (made["id"] for made in messages[1]["tool_calls"])
    told = [(said["tool_call_id"], said["name"], said["content"]) for said in messages[2:]]
    assert told == [(one, "one", "1"), (two, "two", "2")]


def test_legacy_function_calls_are_calls() -> None:
    asked = {"role": "assistant", "content": None, "function_call": {"name": "weather", "arguments": "{}"}}
    messages = row("hf", user("?"), asked, {"role": "function", "name": "weather", "content": "sunny"})["messages"]
    assert messages[1]["tool_calls"][0]["id"] == messages[2]["tool_call_id"]


def test_completions_leave_out_what_is_not_trained_on() -> None:
    made = encoded("hf", *FULL, train={2, 7}, options=COMPLETIONS)
    assert [len(each["prompt"]) for each in made.rows] == [2, 7]
    assert [each["completion"][0]["content"] for each in made.rows] == ["Let me look.", "No."]
    assert made.losses == {}


def test_a_completion_needs_a_prompt() -> None:
    made = encoded("hf", SYSTEM, answer("Hello!"), options=COMPLETIONS)
    assert (made.rows, made.refused) == ([], "no answer to train on")
    assert made.losses == {"answer without a prompt": 1}


def test_datasets_loads_arguments_of_any_type(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    file = tmp_path / "a.jsonl"
    kinds = ['{"days": 2}', '{"days": "two"}', '{"days": [1, {"a": null}]}', "{}"]
    records = [encoded("hf", user("?"), answer(None, call("a", arguments=kind)), result("a")) for kind in kinds]
    file.write_bytes(encoded("hf", *FULL).data + b"".join(made.data for made in records))
    loaded = datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))
    days = [loaded[place]["messages"][1]["tool_calls"][0]["function"]["arguments"].get("days") for place in (1, 2, 3)]
    assert days == [2, "two", [1, {"a": None}]]
    assert loaded[0]["tools"][0]["function"]["parameters"]["required"] == ["city"]
