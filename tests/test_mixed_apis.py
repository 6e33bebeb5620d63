"""Gateways take requests of one API and answer in the form of another: each side is recognised by itself."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, Write
from unspool.dialect import Record
from unspool.ingest.traffic import Traffic
from unspool.jobs.cook import cook
from unspool.model import CookedRequest, Exchange, Origin
from unspool.wires import WIRES, wire_of_answer

SYSTEM = [{"type": "text", "text": "Be helpful"}, {"type": "text", "text": "Be brief"}]
USE = {"type": "tool_use", "id": "c1", "name": "calc", "input": {"x": 1}}
BLOCKS: list[Any] = [
    {"role": "user", "content": "What is it?"},
    {"role": "assistant", "content": [{"type": "text", "text": "Let me see"}, USE]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "4"}]},
]
CALL = {"id": "c1", "type": "function", "function": {"name": "calc", "arguments": '{"x": 1}'}}
CHAT: list[Any] = [
    {"role": "system", "content": "Be helpful"},
    {"role": "user", "content": "What is it?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "4"},
]
SCHEMA = {"type": "object", "properties": {}}
CLAUDE_TOOLS = [{"name": "calc", "description": "Counts.", "input_schema": SCHEMA}]
CHAT_TOOLS = [{"type": "function", "function": {"name": "calc", "description": "Counts.", "parameters": SCHEMA}}]

COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "choices": [
        {"message": {"role": "assistant", "content": None, "tool_calls": [CALL]}, "finish_reason": "tool_calls"}
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}},
}
CHUNKS = {
    "stream": True,
    "sse_lines": [
        'data: {"id":"chatcmpl-2","choices":[{"index":0,"delta":{"role":"assistant","content":"It is "}}]}',
        'data: {"choices":[{"index":0,"delta":{"content":"4."},"finish_reason":"stop"}]}',
        'data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":3}}',
        "data: [DONE]",
    ],
}
MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "content": [{"type": "text", "text": "Hm."}, USE],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 3},
}
EVENTS = {
    "stream": True,
    "sse_lines": [
        'data: {"type":"message_start","message":{"id":"msg_2","usage":{"input_tokens":10}}}',
        'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
        'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It is 4."}}',
        'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}',
        'data: {"type":"message_stop"}',
    ],
}
ANSWERS: list[tuple[Any, str, list[tuple[str, str]], str]] = [
    (COMPLETION, "chatcmpl-1", [("tool_use", "")], "tool_use"),
    (CHUNKS, "chatcmpl-2", [("assistant", "It is 4.")], "end_turn"),
    (MESSAGE, "msg_1", [("assistant", "Hm."), ("tool_use", "")], "tool_use"),
    (EVENTS, "msg_2", [("assistant", "It is 4.")], "end_turn"),
]

CALLED = [("user", "What is it?"), ("assistant", "Let me see"), ("tool_use", ""), ("tool_result", "4")]
CHATTED = [("system", "Be helpful"), ("user", "What is it?"), ("tool_use", ""), ("tool_result", "4")]
PROMPTED = [("system", "Be helpful"), ("system", "Be brief"), ("user", "Hi")]
HI = [{"role": "user", "content": "Hi"}]
THOUGHT = [*HI, {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm", "signature": "s"}]}, *HI]
MISTRAL = [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm"}]}]
REQUESTS: list[tuple[str, dict[str, Any], str, list[tuple[str, str]]]] = [
    ("rule 2", {"system": SYSTEM, "messages": HI}, "claude", PROMPTED),
    ("rule 3", {"messages": HI, "tools": CLAUDE_TOOLS}, "claude", [("user", "Hi")]),
    ("rule 4", {"messages": BLOCKS}, "claude", CALLED),
    ("rule 4, thinking", {"messages": THOUGHT}, "claude", [("user", "Hi"), ("thinking", "Hm"), ("user", "Hi")]),
    ("other tools", {"messages": BLOCKS, "tools": CHAT_TOOLS}, "claude", CALLED),
    ("chat", {"messages": CHAT, "tools": CHAT_TOOLS}, "openai", CHATTED),
    ("both", {"messages": [*CHAT, *BLOCKS[1:]]}, "claude", [*CHATTED, *CALLED[1:]]),
    ("gemini", {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}, "gemini", [("user", "Hi")]),
    ("responses", {"input": "Hi"}, "responses", [("user", "Hi")]),
]


class Trace:
    """A trace that was cooked: what its requests and answers say."""

    def __init__(self, path: Path, wire: str = "auto") -> None:
        self._cooked = cook(path, wire=wire)
        self.requests = self._cooked.requests
        self.notes = [note.reason for note in self._cooked.notes]
        self.tools = {tool.id: tool for tool in self._cooked.tools}

    def asked(self, request: CookedRequest) -> list[tuple[str, str]]:
        return self._said(request.request_messages)

    def answered(self, request: CookedRequest) -> list[tuple[str, str]]:
        return self._said(request.response_messages)

    def _said(self, ids: list[str]) -> list[tuple[str, str]]:
        rows = {row.id: row for row in self._cooked.messages}
        return [(rows[name].role, rows[name].content) for name in ids]


@pytest.mark.parametrize("answer", ANSWERS, ids=["completion", "chunks", "message", "events"])
@pytest.mark.parametrize("asked", REQUESTS, ids=[name for name, *_ in REQUESTS])
@pytest.mark.parametrize("path", ["", "/v1/chat/completions"])
def test_each_side_is_read_as_what_it_is(write: Write, asked: Any, answer: Any, path: str) -> None:
    _, request, form, said = asked
    response, response_id, answered, stop = answer
    trace = Trace(
        write({"request": {"model": "m", **request}, "response": response, **({"path": path} if path else {})})
    )
    (read,) = trace.requests
    assert (read.format, trace.asked(read), trace.answered(read)) == (form, said, answered)
    assert (read.response_id, read.stop_reason) == (response_id, stop)
    assert read.usage is not None
    assert (read.usage.input + read.usage.cache_read, read.usage.output) == (10, 3)
    assert trace.notes == []
    if "tools" in request:
        (tool,) = (trace.tools[name] for name in read.tools)
        assert (tool.name, tool.description, tool.parameters) == ("calc", "Counts.", SCHEMA)


@pytest.mark.parametrize("answer", ANSWERS, ids=["completion", "chunks", "message", "events"])
@pytest.mark.parametrize("form", ["openai", "claude"])
@pytest.mark.parametrize("asked", REQUESTS[:7], ids=[name for name, *_ in REQUESTS[:7]])
def test_a_format_that_is_given_is_that_of_the_request(write: Write, form: str, asked: Any, answer: Any) -> None:
    _, request, _, said = asked
    response, response_id, answered, _ = answer
    trace = Trace(write({"request": request, "response": response}), form)
    (read,) = trace.requests
    assert (read.format, trace.asked(read), trace.answered(read)) == (form, said, answered)
    assert (read.response_id, trace.notes) == (response_id, [])


def test_thoughts_of_mistral_are_no_blocks_of_anthropic(write: Write) -> None:
    messages = [*HI, {"role": "assistant", "content": MISTRAL}, *HI]
    trace = Trace(write({"request": {"messages": messages}, "response": COMPLETION}))
    assert trace.requests[0].format == "openai"
    assert trace.asked(trace.requests[0])[1] == ("thinking", "Hm")


def test_a_prompt_that_looks_the_same_everywhere_is_what_its_answer_says(write: Write) -> None:
    trace = Trace(write(*({"request": {"messages": HI}, "response": response} for response, *_ in ANSWERS)))
    assert [read.format for read in trace.requests] == ["openai", "openai", "claude", "claude"]


def test_a_growing_conversation_keeps_its_messages(write: Write) -> None:
    """Lines that share their beginning are cut, and lines of news decoded whole: both find the same blocks."""
    history: list[Any] = [{"role": "user", "content": "x" * 3000}]
    calls: list[dict[str, Any]] = []
    for number in range(30):
        use = {"type": "tool_use", "id": f"c{number}", "name": "calc", "input": {"x": number}}
        answer = {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": f"c{number}"}]}
        calls.append({"request": {"messages": list(history)}, "response": {"choices": [{"message": answer}]}})
        history.append({"role": "assistant", "content": [use]})
        history.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": use["id"], "content": "y"}]})
    news = [
        {"request": {"messages": [*BLOCKS, {"role": "user", "content": str(n)}]}, "response": COMPLETION}
        for n in range(20)
    ]
    trace = Trace(write(*calls, *news))
    assert [read.format for read in trace.requests] == ["openai", *["claude"] * 49]
    assert trace.notes == []
    for number, read in enumerate(trace.requests[:30]):
        assert [role for role, _ in trace.asked(read)] == ["user", *["tool_use", "tool_result"] * number]


def test_messages_that_are_not_remembered_are_forgotten(write: Write) -> None:
    """Lines of news are decoded whole: nothing of them may be kept."""
    news = [
        {"request": {"messages": [*BLOCKS, {"role": "user", "content": str(n)}]}, "response": COMPLETION}
        for n in range(40)
    ]
    traffic = Traffic()
    for number, line in enumerate(write(*news).read_bytes().splitlines(), 1):
        new = line.replace(b"c1", b"c%d" % number).replace(b"What is it?", b"What is %d?" % number)
        (exchange,) = traffic.read(Record(new, Origin("x", number, 0, len(new))))
        assert isinstance(exchange, Exchange)
        assert exchange.wire == "claude"
    assert len(traffic._decoding._foreign) < 30


def test_an_answer_that_no_other_api_knows_stays_with_its_request() -> None:
    bodies: list[Any] = [None, {}, [], "text", {"error": {"message": "no"}}, {"id": "x"}, {"data": []}]
    for name, wire in WIRES.items():
        for body in bodies:
            assert wire_of_answer(wire, body).name == name


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
@pytest.mark.parametrize(
    "extra", [{"system": SYSTEM, "tools": CLAUDE_TOOLS}, {"tools": CLAUDE_TOOLS}, {"system": "Be brief"}, {}]
)
def test_squash_writes_chat_messages(unspool: Run, write: Write, tmp_path: Path, strategy: str, extra: Any) -> None:
    """A file with `choices` is a session file, which is copied, unless its messages are in another form."""
    done = {"id": "r", "choices": [{"message": {"role": "assistant", "content": "It is 4."}, "finish_reason": "stop"}]}
    says = {"role": "assistant", "content": "Let me see", "tool_calls": [CALL]}
    called = {"id": "q", "choices": [{"message": says, "finish_reason": "tool_calls"}]}
    log = write(
        *(
            {
                "timestamp": f"2026-03-02T10:00:0{n}Z",
                "session_id": "s",
                "request": {**extra, "messages": asked},
                "response": response,
            }
            for n, (asked, response) in enumerate([(BLOCKS[:1], called), (BLOCKS, done)])
        )
    )
    assert unspool("squash", log, "-o", tmp_path / "out", "--strategy", strategy).returncode == 0
    (record,) = map(json.loads, (tmp_path / "out/2026-03-02.jsonl").read_text().splitlines())
    roles = ["user", "assistant", "tool", "assistant"]
    assert [message["role"] for message in record["messages"]] == (["system"] if "system" in extra else []) + roles
    (call,) = record["messages"][-3]["tool_calls"]
    assert (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) == ("c1", "calc", {"x": 1})
    assert record["messages"][-2] == {"role": "tool", "tool_call_id": "c1", "content": "4"}
    assert record["tools"] == ([CHAT_TOOLS[0]["function"]] if "tools" in extra else [])


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_squash_joins_the_texts_of_an_answer_in_blocks(
    unspool: Run, write: Write, tmp_path: Path, strategy: str
) -> None:
    parts = [{"type": "text", "text": "It is "}, {"type": "text", "text": "4."}]
    request = {"messages": CHAT, "tools": CHAT_TOOLS}
    log = write({"session_id": "s", "request": request, "response": {**MESSAGE, "content": parts}})
    assert unspool("squash", log, "-o", tmp_path / "out", "--strategy", strategy).returncode == 0
    (record,) = map(json.loads, (tmp_path / "out/undated.jsonl").read_text().splitlines())
    assert record["messages"][-1] == {"role": "assistant", "content": "It is 4."}
    assert record["tools"] == [CHAT_TOOLS[0]["function"]]
