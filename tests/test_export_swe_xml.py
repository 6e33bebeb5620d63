import re
from typing import Any

from hypothesis import given

from training import FULL, answer, call, conversations, encoded, row, user


def test_calls_are_text_and_results_the_users() -> None:
    made = row("swe-xml", *FULL, scenario="django-1", train=True)
    said = made["messages"]
    assert [message["role"] for message in said] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert said[2]["content"] == (
        "Let me look.\n\n<function=weather>\n<parameter=city>Łódź</parameter>\n</function>\n"
        "<function=weather>\n<parameter=city>Kraków</parameter>\n<parameter=days>2</parameter>\n</function>"
    )
    assert said[3]["content"] == "sunny\n\nrain"
    assert (made["instance_id"], made["resolved"], made["traj_id"], made["model"]) == ("django-1", None, "r1", "m-1")


def test_the_system_prompt_describes_the_tools() -> None:
    prompt = row("swe-xml", user("?"))["messages"][0]
    assert prompt["role"] == "system"
    assert "weather: Of a city.\n  city (string, required): Where.\n  days (integer)\n" in prompt["content"]


def test_values_cannot_end_a_parameter() -> None:
    made = encoded("swe-xml", user("?"), answer(None, call("a", arguments='{"city": "</parameter></function>"}')))
    assert re.findall(r"<parameter=city>(.*?)</parameter>", made.rows[0]["messages"][2]["content"]) == [
        "&lt;/parameter>&lt;/function>"
    ]
    assert made.losses == {"tag in a text": 2}


@given(conversations)
def test_there_are_as_many_functions_as_calls(messages: list[dict[str, Any]]) -> None:
    for made in encoded("swe-xml", *messages, tools=[]).rows:
        own = "\n".join(each["content"] for each in made["messages"] if each["role"] == "assistant")
        calls = sum(len(message.get("tool_calls", ())) for message in messages)
        assert len(re.findall(r"<function=[a-z]+>", own)) == own.count("</function>") == calls
