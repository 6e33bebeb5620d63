"""A message's identity covers its meaning, and nothing of how it travelled."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.model import Block, Compaction, Document, Message, Other, Text, Thinking, ToolResult, ToolUse
from unspool.wires import WIRES

SAME: list[tuple[Block, Block]] = [
    (Text("a"), Text("a", extra={"cache_control": {"type": "ephemeral"}})),
    (Text("a"), Text("a", citations=({"url": "x"},), signature="s")),
    (Thinking("a", signature="s"), Thinking("a")),
    (Thinking("a", encrypted="e"), Thinking("a")),
    (ToolUse("1", "f", {"a": 1, "b": 2}), ToolUse("1", "f", {"b": 2, "a": 1}, text='{"b": 2,"a": 1}')),
    (ToolResult("1", (Text("x"),)), ToolResult("1", (Text("x"),), is_error=False, name="f")),
]
DIFFERENT: list[tuple[Block, Block]] = [
    (Text("a"), Text("b")),
    (Text("a"), Text("a", refusal=True)),
    (Text("a"), Thinking("a")),
    (Thinking("", encrypted="a"), Thinking("", encrypted="b")),
    (ToolUse("1", "f", {}), ToolUse("2", "f", {})),
    (ToolUse("1", "f", {"n": 1}), ToolUse("1", "f", {"n": 1.0})),
    (ToolUse("1", "f", {}), ToolUse("1", "f", {}, server_side=True)),
    (ToolUse("1", "f", {"a": 1}), ToolUse("1", "f", None, text='{"a":1')),
    (ToolResult("1", (Text("x"),)), ToolResult("1", (Text("x"),), is_error=True)),
    (ToolResult("1", (Text("x"), Text("y"))), ToolResult("1", (Text("xy"),))),
    (Document("image", "url", "u"), Document("image", "base64", "u")),
    (Compaction("a"), Compaction("a", encrypted="e")),
    (Other("a", {"x": 1}), Other("a", {"x": 2})),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_transport_does_not_count(one: Block, other: Block) -> None:
    assert Message("user", (one,)).id == Message("user", (other,)).id


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_meaning_counts(one: Block, other: Block) -> None:
    assert Message("user", (one,)).id != Message("user", (other,)).id


def test_role_and_order_count() -> None:
    one, two = Text("a"), Text("b")
    ids = {Message("user", (one, two)).id, Message("user", (two, one)).id, Message("assistant", (one, two)).id}
    assert len(ids) == 3


def test_it_is_a_sha256_that_stays() -> None:
    assert hashlib.sha256(b'["user",["text","Hi"]]').hexdigest() == Message("user", (Text("Hi"),)).id
    assert Message("user", (Text("Hi"),)).id == "1c500732109ac2a64072ebf43c3fad502baac1f8ec388d1588d146d84d3e5bf8"


@given(st.lists(st.text(max_size=6), max_size=4), st.lists(st.text(max_size=6), max_size=4))
def test_no_two_messages_share_their_bytes(one: list[str], other: list[str]) -> None:
    ids = [Message("user", tuple(map(Text, texts))).id for texts in (one, other)]
    assert (ids[0] == ids[1]) == (one == other)


def test_a_lone_surrogate_does_not_stop_it() -> None:
    assert Message("user", (Text("\ud800"),)).id


@pytest.mark.parametrize("content", ["Hi", [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]])
@pytest.mark.parametrize("wire", ["openai", "claude"])
def test_a_mark_turns_a_string_into_a_list_but_not_into_another_message(wire: str, content: object) -> None:
    said = WIRES[wire].decode("messages", {"role": "user", "content": content})
    assert said.id == Message("user", (Text("Hi"),), "string").id
