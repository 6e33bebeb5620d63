"""Real recorded exchanges, sent on: to whoever wrote them, and to everybody else. Where they are: see test_corpus."""

import json
from pathlib import Path
from typing import Any

import pytest

from contexts import PROVIDERS, prepared
from test_corpus import FILES
from unspool.errors import WrongContext
from unspool.ingest.open import read_exchanges
from unspool.model import Block, Context, Exchange, Said, Text, Thinking, ToolResult, ToolUse
from unspool.sources.sse import events
from unspool.wires import speaker_for
from unspool.wires.aggregate import aggregate

pytestmark = pytest.mark.skipif(not FILES, reason="needs recorded exchanges (UNSPOOL_CORPUS)")
OWNERS = {"claude": "anthropic", "openai": "openai", "responses": "openai-responses", "gemini": "gemini"}


def exchanges(path: Path) -> list[tuple[dict[str, Any], Exchange]]:
    records = [json.loads(line) for line in path.read_text().split("\n") if line.strip()]
    found = [item for item in read_exchanges(path) if isinstance(item, Exchange)]
    return list(zip(records, found, strict=True))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}"[:90])
def test_what_is_shown_is_what_was_said(path: Path) -> None:
    """The pieces of a stream, put one behind the other, are the texts of the answer."""
    for record, exchange in exchanges(path):
        match record["response"]:
            case {"sse_lines": lines}:
                told = list(events(lines))
            case {"json_array": list(told)}:
                pass
            case _:
                continue
        response = aggregate(exchange.wire, told).response
        shown: dict[str, str] = {}
        kind = ""
        show = speaker_for(exchange.wire).show
        for piece in (piece for event in told for piece in show(event)):
            kind = piece.type or kind
            shown[kind] = shown.get(kind, "") + (piece.content or "")
        blocks = [block for message in response.messages for block in message.blocks]
        said = "".join(block.text for block in blocks if isinstance(block, Text))
        assert shown.get("text", "") == said
        thought = "".join(block.text for block in blocks if isinstance(block, Thinking))
        assert "".join(shown.get("thinking", "").split()) == "".join(thought.split())
        calls = [block.name for block in blocks if isinstance(block, ToolUse) and not block.server_side]
        assert calls == [block.name for block in _calls(exchange.response.messages)]


def _calls(messages: Any) -> list[ToolUse]:
    blocks = [block for message in messages for block in message.blocks]
    return [block for block in blocks if isinstance(block, ToolUse) and not block.server_side]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}"[:90])
def test_every_conversation_goes_to_every_provider(path: Path) -> None:
    for _, exchange in exchanges(path):
        said = (*exchange.messages, *exchange.response.messages)
        context = Context(tuple(Said(each, api=exchange.wire if each.role == "assistant" else None) for each in said))
        tools = [tool for tool in exchange.tools if not tool.server_side]
        for provider in PROVIDERS:
            try:
                body, _ = prepared(provider, context, tools, lenient=True)
            except WrongContext:
                assert all(
                    block == Text("") for message in said if message.role != "system" for block in message.blocks
                )
                continue
            sent = _strings(body)
            for block in _inner([block for message in said for block in message.blocks]):
                if isinstance(block, Text) and block.text:
                    assert block.text in sent, provider
            if provider == "anthropic":
                _answered(body)


def _inner(blocks: Any) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        found += _inner(block.content) if isinstance(block, ToolResult) and not block.server_side else [block]
    return found


def _strings(value: Any) -> str:
    """Every text in a body, one behind the other."""
    if isinstance(value, str):
        return value + "\n"
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "".join(map(_strings, inner))


def _answered(body: dict[str, Any]) -> None:
    """Of each call there is a result right behind it."""
    waiting: list[str] = []
    for message in body["messages"]:
        assert [part["tool_use_id"] for part in message["content"] if part["type"] == "tool_result"] == waiting
        waiting = [part["id"] for part in message["content"] if part["type"] == "tool_use"]
    assert waiting == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}"[:90])
def test_signatures_come_back_to_who_signed(path: Path) -> None:
    for _, exchange in exchanges(path):
        context = Context(
            tuple(Said(each, api=exchange.wire if each.role == "assistant" else None) for each in exchange.messages)
        )
        marks = {
            mark
            for message in exchange.messages
            if message.role == "assistant"
            for block in message.blocks
            for mark in (getattr(block, "signature", None), getattr(block, "encrypted", None))
            if mark
        }
        for api, provider in OWNERS.items():
            if not exchange.messages:
                continue
            try:
                sent = _strings(prepared(provider, context, lenient=True)[0])
            except WrongContext:
                continue
            for mark in marks:
                assert (mark in sent) == (api == exchange.wire and api != "openai"), (provider, mark[:40])
