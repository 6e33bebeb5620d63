"""Training records to write in every format."""

from typing import Any, Literal

from hypothesis import strategies as st

from unspool.exports.training import Encoded, Options, format_for
from unspool.model.record import TrainingRecord, TrainingTurn
from unspool.model.session import Tokens

SEEN = "data:image/png;base64,iVBORw0KGgo="
WEATHER = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Where."}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
SEARCH = {"type": "web_search", "max_uses": 3}


def call(identity: str, name: str = "weather", arguments: Any = '{"city": "Łódź"}') -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


def result(identity: str, content: Any = "sunny", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": identity, "content": content, **more}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def answer(content: Any = None, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **more}


SYSTEM = {"role": "system", "content": "Be brief."}
FULL = (
    SYSTEM,
    user("Is it sunny in Łódź and Kraków?"),
    answer(
        "Let me look.", call("a"), call("b", arguments='{"city": "Kraków", "days": 2}'), reasoning_content="Two calls."
    ),
    result("a"),
    result("b", "rain"),
    answer("Only in Łódź."),
    user([{"type": "text", "text": "And here?"}, {"type": "image_url", "image_url": {"url": SEEN}}]),
    answer("No."),
)


def record(
    *messages: dict[str, Any], train: Literal[True] | set[int] = True, tools: Any = (WEATHER,), **facts: Any
) -> TrainingRecord:
    """A record of these messages. `train` says which answers, by place, are trained on."""
    turns = []
    for place, message in enumerate(messages):
        own = message.get("role") == "assistant"
        turn = TrainingTurn(message, generated=own, train=own and (train is True or place in train))
        if own:
            turn.model, turn.time, turn.tokens = "m-1", 1_767_000_000_000 + place, Tokens(10, 90, 5, 7, 3)
        turns.append(turn)
    given = {"session": "s1", "source": "logs/s1.jsonl", "id": "r1", "model": "m-1", "agent": "codex"} | facts
    return TrainingRecord(turns, list(tools), **given)


def encoded(name: str, *messages: dict[str, Any], options: Options | None = None, **facts: Any) -> Encoded:
    (found,) = format_for(name, options).encode([record(*messages, **facts)])
    found.losses = +found.losses
    return found


def row(name: str, *messages: dict[str, Any], **facts: Any) -> dict[str, Any]:
    (only,) = encoded(name, *messages, **facts).rows
    return only


_scalar = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8)
_json = st.recursive(
    _scalar, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
_text = st.text(max_size=12) | st.sampled_from(
    ["", "<think>", "</tool_call>", "<tool_call>{}</tool_call>", "</parameter>", "x\ny"]
)
_part = st.one_of(
    st.builds(lambda text: {"type": "text", "text": text}, _text),
    st.just({"type": "image_url", "image_url": {"url": SEEN}}),
    st.just({"type": "file", "file": {"file_data": "JVBERi0=", "filename": "a.pdf"}}),
)
_content = _text | st.none() | st.lists(_part, max_size=3)
_arguments = st.one_of(
    st.dictionaries(st.text(max_size=4), _json, max_size=3), st.just("{"), st.just('{"a": [1, "<think>"]}'), _json
)
_calls = st.lists(st.builds(call, st.sampled_from("abc"), st.sampled_from(["weather", "run"]), _arguments), max_size=3)
_message = st.one_of(
    st.builds(user, _content),
    st.builds(
        lambda content, calls, thoughts: answer(content, *calls, reasoning_content=thoughts), _content, _calls, _text
    ),
    st.builds(result, st.sampled_from("abc"), _content),
    st.builds(lambda text: {"role": "developer", "content": text}, _text),
)
conversations = st.lists(_message, max_size=8)
"""Whatever may be said, in any order: calls without results, results without calls, answers behind answers."""
anything = st.lists(
    st.dictionaries(
        st.sampled_from(
            ["role", "content", "tool_calls", "function_call", "tool_call_id", "name", "thinking", "images"]
        ),
        _json | st.sampled_from(["assistant", "tool", "user"]),
    ),
    max_size=4,
)
"""Messages that hold anything anywhere."""
