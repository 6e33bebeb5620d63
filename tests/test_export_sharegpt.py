import json
import re
from typing import Any

import pytest
from hypothesis import given

from training import FULL, SYSTEM, answer, call, conversations, encoded, result, row, user
from unspool.exports.training import format_for


def accepted(example: dict[str, Any]) -> bool:
    """The rules by which LLaMA-Factory takes a row, or skips it."""
    sides = ({"human", "observation"}, {"gpt", "function_call"})
    turns = example["conversations"]
    even = len(turns) % 2 == 0 and bool(turns)
    return even and all(turn["from"] in sides[place % 2] for place, turn in enumerate(turns))


def functions(value: str) -> tuple[str, list[dict[str, Any]]]:
    """What it makes of a function call: the text before it, and the calls. Raises where it would."""
    calls = re.search(r"<tool_call>(.*?)</tool_call>", value, re.DOTALL)
    thought = re.search(r"<think>\n(.*?)\n</think>\n\n", value, re.DOTALL)
    if calls:
        before, written = value.replace(calls[0], ""), calls[1]
    else:
        before, written = (thought[0], value.replace(thought[0], "")) if thought else ("", value)
    made = json.loads(written)
    return before, [
        {"name": one["name"], "arguments": one["arguments"]} for one in (made if isinstance(made, list) else [made])
    ]


@given(conversations)
def test_each_row_alternates_and_its_calls_can_be_read(messages: list[dict[str, Any]]) -> None:
    made = encoded("sharegpt", *messages)
    for each in made.rows:
        assert accepted(each)
        calls = [functions(turn["value"])[1] for turn in each["conversations"] if turn["from"] == "function_call"]
        assert sum(map(len, calls)) == sum(len(message.get("tool_calls", ())) for message in messages)
        if each["tools"]:
            assert json.loads(each["tools"])[0]["name"] == "weather"
    assert bool(made.rows) == any(message["role"] == "assistant" for message in messages)


def test_parallel_calls_and_results_are_one_turn_each() -> None:
    made = row("sharegpt", *FULL)
    kinds = [turn["from"] for turn in made["conversations"]]
    assert kinds == ["human", "function_call", "observation", "gpt", "human", "gpt"]
    assert made["conversations"][2]["value"] == "sunny\n</tool_response>\n<tool_response>\nrain"
    assert made["system"] == "Be brief."


def test_text_and_thinking_beside_calls_survive() -> None:
    before, calls = functions(row("sharegpt", *FULL)["conversations"][1]["value"])
    assert before == "<think>\nTwo calls.\n</think>\n\nLet me look.\n"
    assert [made["arguments"]["city"] for made in calls] == ["Łódź", "Kraków"]


def test_a_lone_call_is_one_object() -> None:
    asked = row("sharegpt", user("?"), answer(None, call("a")))["conversations"][1]
    assert json.loads(asked["value"]) == {"name": "weather", "arguments": {"city": "Łódź"}}


def test_tags_in_texts_and_arguments_cannot_be_mistaken() -> None:
    evil = "</tool_call><think>"
    asked = answer(f"{evil} text", call("a", arguments=json.dumps({"city": evil})))
    made = encoded("sharegpt", user("?"), asked)
    before, calls = functions(made.rows[0]["conversations"][1]["value"])
    assert calls[0]["arguments"] == {"city": evil}
    assert before.strip() == "&lt;/tool_call>&lt;think> text"
    assert made.losses == {"tag in a text": 2}


@pytest.mark.parametrize(
    ("messages", "turns", "lost"),
    [
        ([answer("Hello!")], ["", "Hello!"], {"answer without a prompt": 1}),
        ([user("a"), user("b"), answer("c")], ["a\n\nb", "c"], {"border between messages": 1}),
        ([user("a"), answer("b"), answer("c")], ["a", "b\n\nc"], {"border between messages": 1}),
        ([user("a"), answer("b"), user("c")], ["a", "b"], {"message behind the last answer": 1}),
        (
            [user("a"), SYSTEM, answer("b")],
            ["a\n\nBe brief.", "b"],
            {"border between messages": 1, "system message": 1},
        ),
    ],
)
def test_what_does_not_alternate_is_joined_and_counted(
    messages: list[dict[str, Any]], turns: list[str], lost: dict[str, int]
) -> None:
    made = encoded("sharegpt", *messages)
    assert [turn["value"] for turn in made.rows[0]["conversations"]] == turns
    assert made.losses == lost


def test_a_word_of_the_users_behind_results_stays_with_them() -> None:
    made = row("sharegpt", user("?"), answer(None, call("a")), result("a"), user("Stop."), answer("Yes."))
    assert made["conversations"][2] == {"from": "observation", "value": "sunny\n\nStop."}


def test_a_record_without_an_answer_is_refused() -> None:
    assert encoded("sharegpt", user("?")).refused == "no answer"


def test_dataset_info_names_each_file() -> None:
    files = format_for("sharegpt").beside(["b.jsonl", "2026-01-02.jsonl"])
    assert json.loads(files["dataset_info.json"]) == {
        name: {
            "file_name": f"{name}.jsonl",
            "formatting": "sharegpt",
            "columns": {"messages": "conversations", "system": "system", "tools": "tools"},
        }
        for name in ("2026-01-02", "b")
    }
