"""Known runs: what is compared instead of parsed must never change what is read."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspool.dialect import Record
from unspool.ingest.traffic import Traffic
from unspool.model import Exchange, Note, Origin

FILLER = "words that make a message long enough to be worth comparing, " * 20


def read(lines: list[bytes], remember: bool = True) -> list[bytes]:
    found: list[Exchange | Note] = []
    traffic = Traffic()
    for number, line in enumerate(lines, 1):
        traffic = traffic if remember else Traffic()
        found += traffic.read(Record(line, Origin("x", number, 0, len(line))))
    return [msgspec.json.encode(item) for item in found if isinstance(item, Exchange)]


def chat(n: int, text: str) -> dict[str, Any]:
    return {"role": ("user", "assistant")[n % 2], "content": f"{n} {text} {FILLER}"}


def record(messages: list[Any], key: str = "messages", **more: Any) -> dict[str, Any]:
    return {"id": "x" * random.randint(1, 9), "request": {"model": "m", key: messages, **more}, "response": None}


def growing(change: Callable[[int, list[Any]], list[Any]] = lambda _, messages: messages) -> Iterator[list[Any]]:
    for n in range(1, 12):
        yield change(n, [chat(i, "same") for i in range(2 * n)])


CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "growing": [record(messages) for messages in growing()],
    "first item changes": [
        record([{"role": "system", "content": f"{n}" * (n % 5)}, *m]) for n, m in enumerate(growing())
    ],
    "middle changes": [record(m) for m in growing(lambda n, m: [*m[: n // 2], chat(n, "changed"), *m[n // 2 + 1 :]])],
    "shrinks": [record(messages) for messages in reversed(list(growing()))],
    "tools before messages": [
        {
            "request": {
                "tools": [{"function": {"parameters": {"properties": {"messages": {"type": "array"}}}}}],
                "messages": m,
            }
        }
        for m in growing()
    ],
    "a decoy list": [
        {"request": {"metadata": {"messages": [chat(0, "same"), chat(1, "same")]}, "messages": m}} for m in growing()
    ],
    "the key inside a text": [record([{"role": "user", "content": '"messages": [' + FILLER}, *m]) for m in growing()],
    "gemini": [
        record([{"role": "user", "parts": [{"text": each["content"]}]} for each in m], "contents") for m in growing()
    ],
    "responses": [record(m, "input") for m in growing()],
    "scalars among items": [record([*m, 1, 12, 123, None, "x", [], *m]) for m in growing()],
    "another wire": [
        record(m, **({"system": "Claude now"} if n % 2 else {"temperature": 1})) for n, m in enumerate(growing())
    ],
    "http around the body": [
        {"request": {"method": "POST", "path": "/v1/chat/completions", "body": {"messages": m}}} for m in growing()
    ],
    "no text at all": [record([]), record([{}]), record([])],
}


@pytest.mark.parametrize("style", [(", ", ": "), (",", ":"), (" ,\t", " : ")], ids=["spaced", "compact", "odd"])
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_remembering_changes_nothing(name: str, style: tuple[str, str]) -> None:
    lines = [json.dumps(each, separators=style).encode() for each in CONVERSATIONS[name]]
    assert read(lines) == read(lines, remember=False)


@pytest.mark.parametrize("between", ["}xx{", "},,{", "}  {", "}\0\0{", '},"extra",{'])
def test_what_stands_between_known_items_counts(between: str) -> None:
    """A line that differs from a known run only between two items is read as if it stood alone."""
    gap = "}," + " " * (len(between) - 3) + "{"
    first, second = (
        json.dumps(record(messages, temperature=1)).replace("}, {", gap).encode() for messages in list(growing())[8:10]
    )
    changed = second.replace(gap.encode(), between.encode(), 1)
    assert read([first, changed])[1:] == read([b"{}", changed])


def test_a_key_that_stands_twice_is_read_as_always() -> None:
    first, one, *rest = [chat(n, "same") for n in range(5)]
    plain = json.dumps(record([chat(9, "other"), one, *rest], temperature=1)).encode()
    twice = (
        b'{"request": {"messages": [%b], "model": "gpt", "n": 1, "messages": [%b, %b]}, "response": {"choices": []}}'
        % (
            json.dumps(first).encode(),
            json.dumps(first).encode(),
            b", ".join(json.dumps(each).encode() for each in (one, *rest)),
        )
    )
    assert read([plain, twice, twice]) == read([plain, twice, twice], remember=False)


def test_a_growing_conversation_is_compared() -> None:
    first, second = (json.dumps(each).encode() for each in CONVERSATIONS["growing"][8:10])
    traffic = Traffic()
    list(traffic.read(Record(first, Origin("x", 1, 0, 0))))
    cut = traffic._runs.cut(second)
    assert cut is not None
    assert cut.count == 18
    assert len(cut.line) < len(second) / 4


def test_interleaved_conversations_are_each_remembered() -> None:
    traffic = Traffic()
    for messages in growing():
        for name in ("one", "two", "three"):
            line = json.dumps(record([{"role": "system", "content": name}, *messages])).encode()
            cut = traffic._runs.cut(line)
            assert len(messages) <= 4 or (cut is not None and cut.count >= len(messages) - 2)
            list(traffic.read(Record(line, Origin("x", 1, 0, 0))))


@settings(max_examples=60)
@given(data=st.data())
def test_any_traffic_is_read_the_same(data: st.DataObject) -> None:
    texts = st.sampled_from(["a", "b", '"messages": [', "\\", '"}', "é\u2028", FILLER, "]}, {"])
    item: st.SearchStrategy[Any] = st.one_of(
        st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": texts}),
        st.fixed_dictionaries({"content": texts, "role": st.just("user")}),
        st.sampled_from([None, 3, 33, "text", [], {}]),
    )
    lines = []
    base: list[Any] = [chat(n, "base") for n in range(5)]
    for _ in range(data.draw(st.integers(2, 7))):
        keep = data.draw(st.integers(0, len(base)))
        base = base[:keep] + data.draw(st.lists(item, max_size=4)) + data.draw(st.sampled_from([[], base[keep:]]))
        lines.append(
            json.dumps(record(base), separators=data.draw(st.sampled_from([(",", ":"), (", ", ": ")]))).encode()
        )
    assert read(lines) == read(lines, remember=False)
