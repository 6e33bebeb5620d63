import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from training import FULL, SEEN, answer, call, conversations, encoded, result, row, user
from unspool.exports.openai import problems


def test_arguments_are_the_text_that_was_written() -> None:
    written = '{"city" :  "Łódź"}'
    made = row("openai", user("?"), answer(None, call("a", arguments=written)), result("a"), answer("Yes."))
    assert made["messages"][1]["tool_calls"][0]["function"] == {"name": "weather", "arguments": written}
    assert "content" not in made["messages"][1]


def test_arguments_that_were_an_object_become_text() -> None:
    made = row("openai", user("?"), answer(None, call("a", arguments={"city": "x"})))
    assert made["messages"][1]["tool_calls"][0]["function"]["arguments"] == '{"city":"x"}'


def test_weights_say_what_to_train_on() -> None:
    made = row("openai", *FULL, train={7})
    assert [message["weight"] for message in made["messages"] if message["role"] == "assistant"] == [0, 0, 1]
    assert all("weight" not in message for message in made["messages"] if message["role"] != "assistant")


def test_parallel_calls_are_declared() -> None:
    assert row("openai", *FULL)["parallel_tool_calls"] is True
    assert row("openai", user("?"), answer(None, call("a")))["parallel_tool_calls"] is False
    assert row("openai", user("?"), answer("!"), tools=[]).keys() == {"messages"}


def test_images_stay_with_the_user_ten_at_most() -> None:
    image = {"type": "image_url", "image_url": {"url": SEEN}}
    gif = {"type": "image_url", "image_url": {"url": "data:image/gif;base64,R0lG"}}
    made = encoded(
        "openai", user([image] * 11), user([gif]), answer(None, call("a")), result("a", [image]), answer("!")
    )
    parts = made.rows[0]["messages"][0]["content"]
    assert [part["type"] for part in parts] == ["image_url"] * 10 + ["text"]
    assert made.rows[0]["messages"][3]["content"] == "[image]"
    assert made.losses == {"image": 3}


def test_what_follows_the_last_answer_is_cut_off() -> None:
    made = encoded("openai", user("?"), answer("!"), user("And?"))
    assert len(made.rows[0]["messages"]) == 2
    assert made.losses == {"message behind the last answer": 1}


def test_answers_without_words_or_calls_are_left_out() -> None:
    made = encoded(
        "openai", user("?"), answer("", reasoning_content="Hm."), user("Well?"), answer(None), answer("Yes.")
    )
    assert [message["content"] for message in made.rows[0]["messages"]] == ["?", "Well?", "Yes."]
    assert made.losses == {"thinking": 1, "empty answer": 1}


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([user("?")], "no answer"),
        ([user("?"), answer("")], "no answer"),
        ([user("?"), answer(None, call("a")), user("!"), answer("?")], "a call without a result"),
        ([user("?"), answer(None, call("a"), call("b")), result("a"), answer("?")], "a call without a result"),
        ([user("?"), result("a"), answer("!")], "answers no call"),
        ([user("?"), answer(None, call("a"), call("a")), result("a"), answer("!")], "two calls with one id"),
        ([user("?"), answer(None, call("a", "no name"))], "a call's name"),
        ([user("?"), answer(None, call("a", arguments="{"))], "no JSON"),
    ],
)
def test_a_record_that_breaks_a_rule_is_refused(messages: list[dict[str, Any]], why: str) -> None:
    made = encoded("openai", *messages)
    assert made.rows == []
    assert why in (made.refused or "")


def test_a_record_with_nothing_to_train_on_is_refused() -> None:
    assert encoded("openai", *FULL, train=set()).refused == "no answer to train on"


@given(conversations)
def test_no_row_breaks_a_rule(messages: list[dict[str, Any]]) -> None:
    for each in encoded("openai", *messages).rows:
        assert list(problems(each)) == []
        assert each["messages"][-1]["role"] == "assistant"


def test_datasets_loads_it(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    file = tmp_path / "a.jsonl"
    other = [user("?"), answer(None, call("c", arguments='{"days": "two"}')), result("c"), answer("!")]
    file.write_bytes(encoded("openai", *FULL).data + encoded("openai", *other).data)
    loaded = datasets.load_dataset("json", data_files=str(file), split="train", cache_dir=str(tmp_path / "cache"))
    assert len(loaded) == 2
    assert json.loads(loaded[1]["messages"][1]["tool_calls"][0]["function"]["arguments"]) == {"days": "two"}
