"""Records of other recorders, and answers in forms that no API of ours has: read, or kept and noted."""

import base64
import json
import struct
import zlib
from typing import Any

import pytest

from conftest import Write
from unspool.ingest.conversations import holds_calls
from unspool.jobs.cook import cook


def test_a_trace_of_claude_trace(write: Write) -> None:
    """It keeps the times beside the bodies, and a stream as one text."""
    stream: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 3, "output_tokens": 1}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yo"}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]
    record = {
        "request": {
            "timestamp": 1762000000.25,
            "method": "POST",
            "url": "https://api.anthropic.com/v1/messages?beta=true",
            "headers": {},
            "body": {"model": "claude-opus-4-5", "messages": [{"role": "user", "content": "Hi"}], "stream": True},
        },
        "response": {
            "timestamp": 1762000002.5,
            "status_code": 200,
            "headers": {},
            "body_raw": "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in stream),
        },
        "logged_at": "2025-11-01T12:26:42Z",
    }
    cooked = cook(write(record))
    assert [(row.role, row.content) for row in cooked.messages] == [("user", "Hi"), ("assistant", "Yo")]
    (request,) = cooked.requests
    assert (request.timestamp, request.duration_ms, request.status) == (1762000000250, 2250, 200)
    assert request.usage is not None
    assert (request.usage.input, request.usage.output) == (3, 5)


def frame(payload: Any, **headers: str) -> bytes:
    """A frame of Amazon's event streams."""
    head = b"".join(
        bytes([len(name) + 1])
        + b":"
        + name.replace("_", "-").encode()
        + b"\7"
        + struct.pack(">H", len(value))
        + value.encode()
        for name, value in headers.items()
    )
    data = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(head) + len(data), len(head))
    body = prelude + struct.pack(">I", zlib.crc32(prelude)) + head + data
    return body + struct.pack(">I", zlib.crc32(body))


def test_bodies_that_were_kept_as_content(write: Write) -> None:
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}
    answer = {"id": "c", "choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]}
    request = {"method": "POST", "endpoint": "https://host/v1/chat/completions", "headers": {}}
    request["content"] = json.dumps(body)
    response = {"status_code": 200, "headers": {}, "content": json.dumps(answer)}
    cooked = cook(write({"timestamp": "2026-11-01T10:00:00Z", "request": request, "response": response}))
    assert [(row.role, row.content) for row in cooked.messages] == [("user", "Hi"), ("assistant", "Hello")]
    (only,) = cooked.requests
    assert (only.format, only.status, only.model, only.stop_reason) == ("openai", 200, "gpt-5", "end_turn")
    assert not cooked.notes


@pytest.mark.parametrize(
    ("request_", "what"),
    [
        ({"messages": [{"role": "user", "words": "Hi"}]}, "a message of which nothing was read: it has words"),
        ({"messages": [{"role": "tool", "tool_call_id": "a", "gave": ["x"]}]}, "a result of which nothing was read"),
        ({"input": [{"type": "message", "role": "user", "words": "Hi"}]}, "a message of which nothing was read"),
        ({"input": [{"type": "function_call_output", "call_id": "a", "gave": "x"}]}, "a result of which nothing"),
    ],
)
def test_a_message_of_which_nothing_was_read_is_noted(request_: dict[str, Any], what: str, write: Write) -> None:
    (note,) = cook(write({"request": {"model": "gpt-5", **request_}})).notes
    assert note.kind == "odd"
    assert note.reason.startswith(what)


@pytest.mark.parametrize(
    "said",
    [
        {"role": "assistant", "content": None, "name": "ada", "id": "m", "annotations": [], "refusal": None},
        {"role": "assistant", "content": "", "reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]},
        {"role": "tool", "tool_call_id": "a", "content": None, "name": "f", "cache_control": {"type": "ephemeral"}},
    ],
)
def test_a_message_that_says_nothing_needs_no_note(said: dict[str, Any], write: Write) -> None:
    assert cook(write({"request": {"model": "gpt-5", "messages": [said]}})).notes == []


def test_what_recorders_say_around_an_answer_that_never_came_is_none(write: Write) -> None:
    asked = {"method": "POST", "body": {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}}
    around = {"headers": {"set-cookie": "secret"}, "body": None}
    records = [{"request": asked, "response": {"status": status} | around} for status in (200, 429)]
    cooked = cook(write(*records))
    assert [request.error for request in cooked.requests] == [None, {"status": 429}]
    assert [message.content for message in cooked.messages] == ["Hi", "Error: status 429, and nothing more"]
    assert cooked.notes == []


@pytest.mark.parametrize("keep", [json.dumps, lambda body: {"body": body}, lambda body: {"body": json.dumps(body)}])
def test_what_was_sent_and_came_back_in_other_wrappings(keep: Any, write: Write) -> None:
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": "Hi"}]}
    answer = {"id": "c", "choices": [{"index": 0, "message": {"content": "Hello"}, "finish_reason": "stop"}]}
    path = write({"id": "1", "request": keep(body), "response": keep(answer)})
    cooked = cook(path)
    assert [(row.role, row.content) for row in cooked.messages] == [("user", "Hi"), ("assistant", "Hello")]
    assert [(each.id, each.model, each.stop_reason) for each in cooked.requests] == [("1", "gpt-5", "end_turn")]
    assert not cooked.notes
    assert holds_calls(str(path))


@pytest.mark.parametrize("size", [0, 7])
@pytest.mark.parametrize("keep", [lambda pieces: pieces, lambda pieces: {"stream": True, "chunks": pieces}])
def test_streams_that_were_kept_in_pieces_of_text(keep: Any, size: int, write: Write) -> None:
    chunks = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("Hel", "lo")]
    lines = [*(f"data: {json.dumps(chunk)}" for chunk in chunks), "data: [DONE]"]
    whole = "\n\n".join(lines)
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)] if size else lines
    cooked = cook(write({"request": {"messages": [{"role": "user", "content": "Hi"}]}, "response": keep(pieces)}))
    assert [(row.role, row.content) for row in cooked.messages] == [("user", "Hi"), ("assistant", "Hello")]
    assert [(each.stream, each.interrupted) for each in cooked.requests] == [(True, False)]
    assert not cooked.notes


def test_streams_of_bedrock_are_read_from_their_bytes(write: Write) -> None:
    claude: list[dict[str, Any]] = [
        {
            "type": "message_start",
            "message": {"id": "msg_1", "model": "claude-sonnet-4-5", "usage": {"input_tokens": 3}},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Yo"}},
        {"type": "message_stop", "amazon-bedrock-invocationMetrics": {"inputTokenCount": 3}},
    ]
    chunks = [{"bytes": base64.b64encode(json.dumps(event).encode()).decode(), "p": "abc"} for event in claude]
    invoked = b"".join(frame(chunk, event_type="chunk", message_type="event") for chunk in chunks)
    conversed = (
        frame({"role": "assistant"}, event_type="messageStart", message_type="event")
        + frame({"contentBlockIndex": 0, "delta": {"text": "Hey"}}, event_type="contentBlockDelta")
        + frame({"message": "Too many tokens."}, exception_type="throttlingException", message_type="exception")
    )
    model = "/model/us.anthropic.claude-sonnet-4-5-v1%3A0"
    asked = {"request": {"messages": [{"role": "user", "content": [{"text": "Hi"}]}]}}
    said = [
        (f"{model}/invoke-with-response-stream", invoked),
        (f"{model}/converse-stream", conversed),
        (f"{model}/converse-stream", conversed[:-9]),
        ("/v1/audio/speech", b"\xff\xfb\x90\x00 a sound"),
    ]
    records = [{**asked, "path": path, "response": {"base64": base64.b64encode(data).decode()}} for path, data in said]
    cooked = cook(write(*records))
    texts = {row.id: row.content for row in cooked.messages}
    assert [[texts[name] for name in request.response_messages] for request in cooked.requests] == [
        ["Yo"],
        ["Hey", "Error: Too many tokens."],
        ["Hey"],
        ["[document]"],
    ]
    assert [request.interrupted for request in cooked.requests] == [False, True, True, False]
    assert not cooked.notes


@pytest.mark.parametrize(
    "response",
    [
        {"output": {"text": "Yo"}, "request_id": "x"},
        [{"generated_text": "Yo"}],
        {"stream": True, "sse_lines": ['data: {"value": "Yo"}', 'data: {"value": "!"}', 'data: {"value": "?"}']},
    ],
)
def test_an_answer_that_nobody_understands_is_kept_and_noted_once(response: Any, write: Write) -> None:
    cooked = cook(write({"request": {"messages": [{"role": "user", "content": "Hi"}]}, "response": response}))
    assert "Yo" in cooked.messages[-1].content
    assert cooked.requests[0].response_messages == [cooked.messages[-1].id]
    assert [note.kind for note in cooked.notes] == ["unknown"]


def test_an_answer_that_says_nothing_stays_empty(write: Write) -> None:
    asked = {"request": {"messages": [{"role": "user", "content": "Hi"}]}}
    empty: list[dict[str, Any]] = [
        {"response": {"input_tokens": 5}},
        {"response": {"choices": [], "id": "x"}},
        {"response": {"id": "r", "status": "in_progress", "output": []}},
        {"response": {"object": "list", "data": [{"embedding": [0.5]}]}},
        {"response": {"flagged": False}, "path": "/v1/moderations"},
    ]
    cooked = cook(write(*({**asked, **more} for more in empty)))
    assert [request.response_messages for request in cooked.requests] == [[]] * len(empty)
    assert not cooked.notes


def test_a_request_of_which_nothing_is_read_is_noted(write: Write) -> None:
    cooked = cook(write({"request": {"inputs": "Hi"}}, {"request": {"previous_response_id": "x"}}, {"request": {}}))
    assert [(note.kind, note.origin.line) for note in cooked.notes] == [("odd", 1)]
    assert "inputs" in cooked.notes[0].reason


def stream_of(*events: dict[str, Any]) -> dict[str, Any]:
    return {"stream": True, "sse_lines": [f"data: {json.dumps(event)}" for event in events]}


def test_a_gateway_that_counts_nothing_at_the_end_takes_no_count_back(write: Write) -> None:
    usage = {"input_tokens": 25, "cache_read_input_tokens": 100, "output_tokens": 0}
    stream = stream_of(
        {"type": "message_start", "message": {"id": "msg_1", "usage": usage}},
        {"type": "message_delta", "delta": {}, "usage": {**dict.fromkeys(usage, 0), "output_tokens": 7}},
        {"type": "message_stop"},
    )
    (request,) = cook(write({"request": {"messages": [], "system": "Hi"}, "response": stream})).requests
    assert request.usage is not None
    assert (request.usage.input, request.usage.cache_read, request.usage.output) == (25, 100, 7)


def test_calls_whose_index_is_written_as_text(write: Write) -> None:
    pieces = [("0", "a", "f", '{"x":'), ("1", "b", "g", '{"y":'), ("0", None, None, "1}"), ("1", None, None, "2}")]
    stream = stream_of(
        *(
            {
                "choices": [
                    {"delta": {"tool_calls": [{"index": at, "id": id_, "function": {"name": name, "arguments": text}}]}}
                ]
            }
            for at, id_, name, text in pieces
        )
    )
    calls = cook(write({"request": {"messages": []}, "response": stream})).messages[-1].tool_calls
    assert calls is not None
    assert [(call.name, call.arguments) for call in calls] == [("f", {"x": 1}), ("g", {"y": 2})]


def test_what_the_recorder_saw_break_off_is_interrupted(write: Write) -> None:
    asked = {"request": {"messages": [{"role": "user", "content": "Hi"}]}, "interrupted": True}
    torn = {**asked, "response": {"raw": '{"choices": [{"message": {"content": "Hel'}}
    whole = {**asked, "response": {"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}}
    cooked = cook(write(torn, {**asked, "response": None}, whole, {**asked, "response": {"raw": ""}}))
    assert [request.interrupted for request in cooked.requests] == [True, True, False, True]
    assert [len(request.response_messages) for request in cooked.requests] == [1, 0, 1, 0]


def test_errors_of_cohere_are_errors(write: Write) -> None:
    asked = {"request": {"messages": [{"role": "user", "content": "Hi"}]}, "path": "/v2/chat"}
    failed = {**asked, "response": {"id": "x", "message": "invalid api token"}}
    cooked = cook(write({**failed, "status": 401}, failed))
    assert [row.content for row in cooked.messages] == ["Hi", "Error: invalid api token"]
    assert not cooked.notes


def test_a_path_that_cohere_has_too_does_not_make_it_cohere(write: Write) -> None:
    stream = stream_of({"choices": [{"index": 0, "delta": {"content": "Yo"}, "finish_reason": "stop"}]})
    record = {"request": {"messages": [{"role": "user", "content": "Hi"}]}, "response": stream, "path": "/v1/chat"}
    cooked = cook(write(record))
    assert [row.content for row in cooked.messages] == ["Hi", "Yo"]
    assert cooked.requests[0].format == "openai"


def test_tokens_wherever_a_stream_counts_them(write: Write) -> None:
    said = {"index": 0, "delta": {"content": "Yo"}}
    over: dict[str, Any] = {"index": 0, "delta": {}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "cached_tokens": 3}
    streams: list[list[dict[str, Any]]] = [
        [{"choices": [said], "x_groq": {"id": "a"}}, {"choices": [over], "x_groq": {"id": "a", "usage": usage}}],
        [{"choices": [said]}, {"choices": [{**over, "usage": usage}]}],
        [{"choices": [said]}, {"choices": [over], "timings": {"cache_n": 3, "prompt_n": 2, "predicted_n": 2}}],
    ]
    asked = {"request": {"messages": [{"role": "user", "content": "Hi"}]}}
    for request in cook(write(*({**asked, "response": stream_of(*events)} for events in streams))).requests:
        assert request.usage is not None
        assert (request.usage.input, request.usage.cache_read, request.usage.output) == (2, 3, 2)


def test_pictures_that_were_asked_for(write: Write) -> None:
    pictures = [{"b64_json": "aGk="}, {"url": "https://example.com/a.png"}]
    record = {"request": {"model": "gpt-image-1", "prompt": "A cat"}, "response": {"created": 1, "data": pictures}}
    cooked = cook(write(record))
    assert [row.content for row in cooked.messages] == ["A cat", "[image]", "[image: https://example.com/a.png]"]
    assert not cooked.notes


def test_a_picture_that_was_streamed_is_a_picture(write: Write) -> None:
    usage = {"input_tokens": 3, "output_tokens": 9}
    part, whole = ({"type": f"image_generation.{kind}", "b64_json": "aGk="} for kind in ("partial_image", "completed"))
    asked = {"request": {"model": "gpt-image-1", "prompt": "A cat", "stream": True}}
    streams = (stream_of(part, {**whole, "usage": usage}), stream_of(part))
    cooked = cook(write(*({**asked, "response": stream} for stream in streams)))
    assert [row.content for row in cooked.messages][:2] == ["A cat", "[image]"]
    assert [(len(row.response_messages), row.interrupted) for row in cooked.requests] == [(1, False), (1, True)]


@pytest.mark.parametrize("wire", ["gemini", "responses", "interactions"])
def test_a_request_of_another_api_than_was_said_is_noted_and_its_answer_is_read(write: Write, wire: str) -> None:
    call = {
        "request": {"messages": [{"role": "user", "content": "Hi"}]},
        "response": {"choices": [{"message": {"content": "Yo"}}]},
    }
    cooked = cook(write(call), wire=wire)
    assert [(note.kind, note.reason) for note in cooked.notes] == [
        ("odd", "nothing of the request was read: messages"),
    ]
    assert [message.content for message in cooked.messages] == ["Yo"]


@pytest.mark.parametrize(
    "answer",
    [
        {"candidates": [{"content": {"parts": [{"text": "Yo"}]}}]},
        {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yo"}]}]},
        {"stream": True, "sse_lines": ['data: {"candidates": [{"content": {"parts": [{"text": "Yo"}]}}]}']},
    ],
)
def test_a_request_is_read_whatever_api_its_answer_is_of(answer: dict[str, Any], write: Write) -> None:
    cooked = cook(write({"request": {"messages": [{"role": "user", "content": "Hi"}]}, "response": answer}))
    assert [message.content for message in cooked.messages] == ["Hi", "Yo"]
    assert not cooked.notes
