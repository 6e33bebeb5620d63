import json
import re
from typing import Any

from hypothesis import given

from training import FULL, WEATHER, answer, call, conversations, encoded, row, user


def inside(tag: str, value: str) -> list[Any]:
    return [json.loads(found) for found in re.findall(rf"<{tag}>\n(.*?)\n</{tag}>", value, re.DOTALL)]


def test_tools_calls_and_results_stand_in_their_tags() -> None:
    turns = row("hermes", *FULL)["conversations"]
    assert [turn["from"] for turn in turns] == ["system", "human", "gpt", "tool", "gpt", "human", "gpt"]
    assert inside("tools", turns[0]["value"]) == [[WEATHER]]
    assert turns[0]["value"].startswith("Be brief.\n\n")
    assert turns[2]["value"].startswith("<think>\nTwo calls.\n</think>\nLet me look.\n<tool_call>\n")
    assert [made["arguments"] for made in inside("tool_call", turns[2]["value"])] == [
        {"city": "Łódź"},
        {"city": "Kraków", "days": 2},
    ]
    assert inside("tool_response", turns[3]["value"]) == [
        {"tool_call_id": "a", "name": "weather", "content": "sunny"},
        {"tool_call_id": "b", "name": "weather", "content": "rain"},
    ]


def test_without_a_system_prompt_tools_make_one() -> None:
    turns = row("hermes", user("?"), answer("!"))["conversations"]
    assert [turn["from"] for turn in turns] == ["system", "human", "gpt"]
    assert [turn["from"] for turn in row("hermes", user("?"), tools=[])["conversations"]] == ["human"]


@given(conversations)
def test_each_call_can_be_read_back(messages: list[dict[str, Any]]) -> None:
    for made in encoded("hermes", *messages).rows:
        read = [
            one for turn in made["conversations"] if turn["from"] == "gpt" for one in inside("tool_call", turn["value"])
        ]
        names = [one["function"]["name"] for message in messages for one in message.get("tool_calls", ())]
        assert [one["name"] for one in read] == names


def test_only_the_models_own_words_are_fenced() -> None:
    made = encoded("hermes", user("What is <think>?"), answer("It is <think>.", call("a")))
    assert made.rows[0]["conversations"][1]["value"] == "What is <think>?"
    assert made.rows[0]["conversations"][2]["value"].startswith("It is &lt;think>.\n")
    assert made.losses == {"tag in a text": 1}
