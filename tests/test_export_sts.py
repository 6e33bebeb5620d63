from typing import Any

from hypothesis import given

from training import FULL, conversations, encoded

REQUIRED = {"role", "content"}
OPTIONAL = {"reasoningContent", "toolCalls", "toolCallId", "timestamp", "model"}


def test_a_header_and_then_the_messages() -> None:
    header, *lines = encoded("sts", *FULL, relation="retry", parent="r0").rows
    assert header | {"type": "session", "harness": "codex", "id": "r1", "parent": "r0", "relation": "retry"} == header
    said = [line["message"] for line in lines]
    assert said[2] == {
        "role": "assistant",
        "content": "Let me look.",
        "reasoningContent": "Two calls.",
        "toolCalls": [
            {"id": "a", "function": {"name": "weather", "arguments": '{"city": "Łódź"}'}},
            {"id": "b", "function": {"name": "weather", "arguments": '{"city": "Kraków", "days": 2}'}},
        ],
        "timestamp": 1_767_000_000_002,
        "model": "m-1",
    }
    assert said[3] == {"role": "tool", "content": "sunny", "toolCallId": "a"}


@given(conversations)
def test_each_line_has_the_fields_of_the_format(messages: list[dict[str, Any]]) -> None:
    for line in encoded("sts", *messages).rows[1:]:
        message = line["message"]
        assert line["type"] == "message"
        assert message.keys() >= REQUIRED
        assert message.keys() <= REQUIRED | OPTIONAL
        assert isinstance(message["content"], str)
        assert message["role"] in {"system", "user", "assistant", "tool"}
        assert all(isinstance(call["function"]["arguments"], str) for call in message.get("toolCalls", ()))
