"""A message's identity covers its meaning, and nothing of how it travelled."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.model import Block, Compaction, Document, Other, Text, Thinking, ToolResult, ToolUse, message, text_message
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
    assert message("user", (one,)).id == message("user", (other,)).id


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_meaning_counts(one: Block, other: Block) -> None:
    assert message("user", (one,)).id != message("user", (other,)).id


def test_role_and_order_count() -> None:
    one, two = Text("a"), Text("b")
    ids = {message("user", (one, two)).id, message("user", (two, one)).id, message("assistant", (one, two)).id}
    assert len(ids) == 3


def test_it_is_a_sha256_that_stays() -> None:
    assert hashlib.sha256(b"4:user4:text2:Hi").hexdigest() == message("user", (Text("Hi"),)).id
    assert message("user", (Text("Hi"),)).id == "381cb3b624df5b6504e1d4a33f98a094e64011ee58f4042d9edca0276081dc54"


@given(st.text(), st.sampled_from(["system", "user", "assistant"]))
def test_the_fast_way_gives_the_same(text: str, role: str) -> None:
    assert text_message(role, text).id == message(role, (Text(text),)).id  # type: ignore[arg-type]


@given(st.lists(st.text(max_size=6), max_size=4), st.lists(st.text(max_size=6), max_size=4))
def test_no_two_messages_share_their_bytes(one: list[str], other: list[str]) -> None:
    ids = [message("user", tuple(map(Text, texts))).id for texts in (one, other)]
    assert (ids[0] == ids[1]) == (one == other)


def test_a_lone_surrogate_does_not_stop_it() -> None:
    assert message("user", (Text("\ud800"),)).id


@pytest.mark.parametrize("content", ["Hi", [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}]])
@pytest.mark.parametrize("wire", ["openai", "claude"])
def test_a_mark_turns_a_string_into_a_list_but_not_into_another_message(wire: str, content: object) -> None:
    said = WIRES[wire].decode("messages", {"role": "user", "content": content})
    assert said.id == text_message("user", "Hi").id
