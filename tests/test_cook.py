"""`cook`: the format's own examples, and the decisions where it is silent."""

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest

import unspool
from calls import call
from conftest import Write
from unspool.exports.cooked import encode
from unspool.jobs.cook import cook
from unspool.model import Exchange, Note

NULLS = {"tool_calls": None, "tool_use_id": None, "is_error": None}


def rows(path: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(msgspec.json.encode(cook(path).messages))
    return found


def test_the_formats_openai_example(write: Write) -> None:
    calls = [{"type": "function", "function": {"name": "calc", "arguments": '{"expr":"2+2"}'}}]
    messages = [
        {"role": "system", "content": "Be helpful"},
        {"role": "user", "content": "What's 2+2?"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "content": "4"},
    ]
    assert rows(write({"request": {"messages": messages}})) == [
        {"id": "m0", "role": "system", "content": "Be helpful", **NULLS},
        {"id": "m1", "role": "user", "content": "What's 2+2?", **NULLS},
        {
            "id": "m2",
            "role": "tool_use",
            "content": "",
            **NULLS,
            "tool_calls": [{"name": "calc", "arguments": {"expr": "2+2"}, "id": "call_0"}],
        },
        {"id": "m3", "role": "tool_result", "content": "4", **NULLS, "tool_use_id": "call_0", "is_error": False},
    ]


def test_the_formats_claude_example(write: Write) -> None:
    request = {
        "system": [{"type": "text", "text": "Be helpful"}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "What's 2+2?"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Simple math question"},
                    {"type": "tool_use", "id": "call_1", "name": "calc", "input": {"expr": "2+2"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "call_1", "content": "4"}]},
        ],
    }
    assert rows(write({"request": request})) == [
        {"id": "m0", "role": "system", "content": "Be helpful", **NULLS},
        {"id": "m1", "role": "user", "content": "What's 2+2?", **NULLS},
        {"id": "m2", "role": "thinking", "content": "Simple math question", **NULLS},
        {
            "id": "m3",
            "role": "tool_use",
            "content": "",
            **NULLS,
            "tool_calls": [{"name": "calc", "arguments": {"expr": "2+2"}, "id": "call_1"}],
        },
        {"id": "m4", "role": "tool_result", "content": "4", **NULLS, "tool_use_id": "call_1", "is_error": False},
    ]


def test_fields_come_in_the_formats_order(write: Write) -> None:
    tools = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}}]
    cooked = json.loads(b"".join(encode(cook(write(call("u", answer="a", request={"tools": tools}))))))
    assert list(cooked) == ["messages", "tools", "requests", "notes", "version"]
    assert list(cooked["messages"][0]) == ["id", "role", "content", "tool_calls", "tool_use_id", "is_error"]
    assert cooked["tools"] == [
        {"id": "t0", "name": "f", "description": "d", "parameters": {"type": "object"}, "is_server_side": False}
    ]
    assert list(cooked["requests"][0])[:8] == [
        "id",
        "parent_id",
        "timestamp",
        "request_messages",
        "response_messages",
        "model",
        "tools",
        "duration_ms",
    ]
    assert set(list(cooked["requests"][0])[8:]) == {
        *("usage", "stop_reason", "raw_stop_reason", "status", "error", "stream", "interrupted", "response_id"),
        *("response_model", "format", "origin", "alternatives", "parent_reason", "retry_of"),
    }


def test_the_order_of_keys_makes_no_other_message(write: Write) -> None:
    def asked(arguments: str) -> dict[str, Any]:
        function = {"name": "f", "arguments": arguments}
        return {"role": "assistant", "content": None, "tool_calls": [{"id": "x1", "function": function}]}

    path = write(
        {"request": {"messages": [asked('{"a":1,"b":2}'), asked('{"b": 2, "a": 1}'), asked('{"a":1.0,"b":2}')]}}
    )
    cooked = cook(path)
    assert cooked.requests[0].request_messages == ["m0", "m0", "m1"]
    assert list((cooked.messages[0].tool_calls or ())[0].arguments) == ["a", "b"]


def test_each_message_and_tool_is_there_once(write: Write) -> None:
    tools = {"tools": [{"type": "function", "function": {"name": "f"}}]}
    cooked = cook(
        write(
            call("s:S", "u1", answer="a1", request=tools),
            call("s:S", "u1", "a1", "u1", answer="a1", request=tools),
        )
    )
    assert [request.request_messages for request in cooked.requests] == [["m0", "m1"], ["m0", "m1", "m2", "m1"]]
    assert [request.response_messages for request in cooked.requests] == [["m2"], ["m2"]]
    assert [request.tools for request in cooked.requests] == [["t0"], ["t0"]]


def test_long_texts_that_differ_only_in_their_middle_are_others(write: Write) -> None:
    first, second, third = ("begin " * 100 + middle + " end" * 100 for middle in ("one", "two", "six"))
    asked = [{"role": "user", "content": text} for text in (first, second, third, second, first, third)]
    cooked = cook(write({"request": {"messages": [*asked, {"role": "system", "content": second}]}}))
    assert cooked.requests[0].request_messages == ["m0", "m1", "m2", "m1", "m0", "m2", "m3"]
    assert [message.content for message in cooked.messages] == [first, second, third, second]


@pytest.mark.parametrize(
    ("given", "milliseconds"),
    [
        ("2026-02-20T10:00:00Z", 1771581600000),
        ("2026-02-20T11:00:00.123456+01:00", 1771581600123),
        ("2026-02-20T10:00:00.1234567Z", 1771581600123),
        ("2026-02-20T10:00:00", 1771581600000),
        (1771581600, 1771581600000),
        (1771581600.5, 1771581600500),
        (1771581600123, 1771581600123),
        ("1771581600", 1771581600000),
        (None, None),
        ("yesterday", None),
        (True, None),
        (-5, None),
        ([], None),
        ({}, None),
    ],
)
def test_times(given: Any, milliseconds: int | None, write: Write) -> None:
    assert cook(write({"timestamp": given, "request": {}})).requests[0].timestamp == milliseconds


def test_a_time_that_is_none_is_noted(write: Write) -> None:
    (note,) = cook(write({"timestamp": "yesterday", "request": {}})).notes
    assert (note.kind, note.reason) == ("odd", "the timestamp 'yesterday' is no time")


def test_requests_are_in_time_order_and_those_without_a_time_stay_where_they_are(write: Write) -> None:
    start = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=2)))
    records: list[dict[str, Any]] = []
    for number, minute in enumerate([5, None, 3, None, None, 4]):
        moment = None if minute is None else (start + timedelta(minutes=minute)).isoformat()
        records.append({"id": str(number), "timestamp": moment, "request": {}})
    assert [request.id for request in cook(write({"id": "first", "request": {}}, *records)).requests] == [
        *("first", "2", "3", "4", "5", "0", "1")
    ]


def test_missing_and_repeated_ids(write: Write) -> None:
    path = write({"request": {}}, {"id": "a", "request": {}}, {"id": "a", "request": {}}, {"id": "", "request": {}})
    assert [request.id for request in cook(path).requests] == ["r0", "a", "a-2", "r3"]
    path = write(
        {"id": "r1", "request": {}}, {"request": {}}, {"id": 7, "request": {}}, {"id": {"x": 1}, "request": {}}
    )
    assert [request.id for request in cook(path).requests] == ["r1", "r1-2", "7", '{"x":1}']


ERRORS: list[tuple[Any, Any, str]] = [
    ("Connection reset", None, "Connection reset"),
    ({"message": "Boom"}, None, "Boom"),
    ({"status_code": 400, "body": {"error": {"message": "Bad"}}}, {"error": {"message": "Bad"}}, "Bad"),
    (None, {"error": {"message": "Rate limit"}}, "Rate limit"),
    (None, {"error": "just text"}, "just text"),
    (None, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "Overloaded"),
    ({"type": "timeout"}, None, "timeout"),
    ({"unheard": [1]}, None, '{"unheard":[1]}'),
    (None, {"stream": True, "sse_lines": ['data: {"error":{"message":"mid-stream"}}']}, "mid-stream"),
]


@pytest.mark.parametrize(("error", "response", "words"), ERRORS)
def test_errors_become_an_answer_in_words(error: Any, response: Any, words: str, write: Write) -> None:
    cooked = cook(write({"request": {"messages": []}, "response": response, "error": error}))
    (request,) = cooked.requests
    assert [row.content for row in cooked.messages] == [f"Error: {words}"]
    assert cooked.messages[0].role == "assistant"
    assert request.response_messages == ["m0"]
    assert request.error is not None
    assert error is None or request.error == error


@pytest.mark.parametrize("error", [None, "", False, {}])
def test_no_response_and_no_error_is_an_empty_answer(error: Any, write: Write) -> None:
    assert (
        cook(write({"request": {"messages": []}, "response": None, "error": error})).requests[0].response_messages == []
    )


STORED_AS_STREAMS: list[tuple[Any, list[str], bool]] = [
    (["{", '  "error": {', '    "message": "Incorrect API key"', "  }", "}"], ["Error: Incorrect API key"], False),
    (["[{", ' "error": {"message": "Quota"}', "}]"], ["Error: Quota"], True),
    (["event: error", 'data: {"message":"bare"}'], ["Error: bare"], True),
    (["event: error", "data: plain words"], ["Error: plain words"], True),
    ('data: {"choices":[{"delta":{"content":"A"}}]}\n\ndata: [DONE]', ["A"], False),
    (['data: {"choices":[{"delta":{"content":"A"}}]}\n\ndata: [DONE]\n\n'], ["A"], False),
    (
        [
            'data: {"choices":[{"delta":{"content":"A"}}]}',
            'data: {"choices":[{"delta":{"con',
            'data: {"choices":[{"delta":{"content":"B"}}]}',
            "data: [DONE]",
        ],
        ["AB"],
        False,
    ),
]


@pytest.mark.parametrize(("lines", "answer", "interrupted"), STORED_AS_STREAMS)
def test_what_recorders_store_as_streams(lines: Any, answer: list[str], interrupted: bool, write: Write) -> None:
    cooked = cook(write({"request": {"messages": []}, "response": {"stream": True, "sse_lines": lines}}))
    assert [row.content for row in cooked.messages] == answer
    assert cooked.requests[0].interrupted == interrupted


def test_a_torn_array_of_chunks_is_an_interrupted_stream(write: Write) -> None:
    chunk = '{"candidates":[{"content":{"role":"model","parts":[{"text":"%s"}]}}]}'
    raw = "[" + chunk % "Hel" + "\n,\r\n" + chunk % "lo" + "\n,\r\n" + chunk[:20]
    cooked = cook(write({"request": {"contents": []}, "response": {"raw": raw}}))
    assert [row.content for row in cooked.messages] == ["Hello"]
    assert cooked.requests[0].interrupted


def test_one_value_too_deep_or_too_long_costs_no_record(write: Write) -> None:
    deep = "[" * 3000 + '"core"' + "]" * 3000
    said = '{"role": "user", "content": "hi"}'
    path = write(
        f'{{"request": {{"messages": [{said}], "metadata": {deep}}}}}',
        f'{{"request": {{"messages": [{said}, {{"role": "user", "content": {deep}}}]}}}}',
        f'{{"request": {{"messages": [], "seed": {"9" * 5000}}}}}',
    )
    cooked = cook(path)
    assert len(cooked.requests) == 3
    assert {note.kind for note in cooked.notes} == {"repaired", "unknown"}
    assert "core" in cooked.messages[1].content


def test_repeated_ids_take_no_time_squared(write: Write) -> None:
    ids = [request.id for request in cook(write(*({"id": "x", "request": {}} for _ in range(5000)))).requests]
    assert ids[:3] == ["x", "x-2", "x-3"]
    assert len(set(ids)) == 5000


def test_what_had_arrived_stands_before_the_error(write: Write) -> None:
    lines = ['data: {"choices":[{"delta":{"content":"Half"}}]}', 'data: {"error":{"message":"gone"}}']
    cooked = cook(write({"request": {}, "response": {"stream": True, "sse_lines": lines}}))
    assert [row.content for row in cooked.messages] == ["Half", "Error: gone"]
    assert cooked.requests[0].interrupted


BAD_LINES = [b"not json", b'{"a": 1}', b"[1, 2]", b"null", b'"text"', b'{"request": null}', b'{"request": [1]}', b"{"]


def test_a_bad_line_costs_nothing_else(write: Write) -> None:
    good = json.dumps(call("u1", answer="a1", id="good")).encode()
    cooked = cook(write(good, *BAD_LINES, good))
    assert [request.id for request in cooked.requests] == ["good", "good-2"]
    assert [note.origin.line for note in cooked.notes] == list(range(2, 2 + len(BAD_LINES)))
    assert {note.kind for note in cooked.notes} == {"unreadable", "skipped"}


def test_cooked_output_is_not_taken_for_a_record(write: Write) -> None:
    cooked = b"".join(encode(cook(write(call("u1", answer="a1")))))
    again = cook(write(cooked.rstrip(b"\n"), name="cooked.json"))
    assert again.requests == []
    assert [note.kind for note in again.notes] == ["skipped"]


def test_faults_inside_a_record_cost_no_record(write: Write) -> None:
    cooked = cook(
        write(
            b'{"request": {"messages": [{"role": "user", "content": "bad \xff byte"}]}}',
            b'{"request": {"messages": [{"role": "user", "content": "lone \\ud800"}]}}',
            b'{"request": {"messages": [{"role": "user", "content": "tab\there"}], "temperature": NaN}}',
        )
    )
    assert [row.content for row in cooked.messages] == [
        "bad \N{REPLACEMENT CHARACTER} byte",
        "lone \N{REPLACEMENT CHARACTER}",
        "tab\there",
    ]
    assert {note.kind for note in cooked.notes} == {"repaired"}


def test_usage_is_neutral(write: Write) -> None:
    """The same call, as three providers count it: 100 new tokens, 1,000 cached, 25 out of which 5 were thoughts."""
    openai: dict[str, Any] = {
        "prompt_tokens": 1100,
        "completion_tokens": 25,
        "prompt_tokens_details": {"cached_tokens": 1000},
    }
    openai["completion_tokens_details"] = {"reasoning_tokens": 5}
    claude: dict[str, Any] = {"input_tokens": 100, "cache_read_input_tokens": 1000, "output_tokens": 25}
    claude["output_tokens_details"] = {"thinking_tokens": 5}
    gemini = {"promptTokenCount": 1100, "cachedContentTokenCount": 1000, "candidatesTokenCount": 20}
    responses: dict[str, Any] = {
        "input_tokens": 1100,
        "input_tokens_details": {"cached_tokens": 1000},
        "output_tokens": 25,
    }
    responses["output_tokens_details"] = {"reasoning_tokens": 5}
    cooked = cook(
        write(
            {"request": {}, "response": {"choices": [], "usage": openai}},
            {"request": {}, "response": {"type": "message", "content": [], "usage": claude}},
            {"request": {}, "response": {"candidates": [], "usageMetadata": gemini | {"thoughtsTokenCount": 5}}},
            {"request": {}, "response": {"object": "response", "output": [], "usage": responses}},
        )
    )
    assert len(cooked.requests) == 4
    for request in cooked.requests:
        usage = request.usage
        assert usage is not None
        assert (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning) == (
            100,
            1000,
            0,
            25,
            5,
        )
        assert usage.raw is not None


def test_the_model_in_the_url(write: Write) -> None:
    path = "/v1beta/models/gemini-2.5-pro:generateContent"
    for extra in ({"path": path}, {"_source": {"url path": path}}, {"url": f"https://example.com{path}?key=x"}):
        assert cook(write({"request": {"contents": []}, **extra})).requests[0].model == "gemini-2.5-pro"


def test_recorders_that_keep_http_around_the_body(write: Write) -> None:
    record = {
        "request": {"method": "POST", "path": "/v1/messages", "headers": {}, "body": {"messages": [], "system": "Hi"}},
        "response": {
            "status": 200,
            "headers": {},
            "body": {"type": "message", "content": [{"type": "text", "text": "Yo"}]},
        },
    }
    cooked = cook(write(record))
    assert [(row.role, row.content) for row in cooked.messages] == [("system", "Hi"), ("assistant", "Yo")]
    assert cooked.requests[0].status == 200


@pytest.mark.parametrize("body", ["plain text", [1, 2], 7, None, "[]"])
def test_a_body_that_is_no_object_does_not_hurt(body: Any, write: Write) -> None:
    assert len(cook(write({"request": {"method": "POST", "body": body}})).requests) == 1


def test_the_python_api(write: Write) -> None:
    path = write(call("u1", answer="a1"), b"oops")
    exchange, note = unspool.read_exchanges(path)
    assert isinstance(exchange, Exchange)
    assert isinstance(note, Note)
    assert str(note.origin) == f"{path}:2"
    assert len(unspool.cook(path).requests) == 1
    other = write(call("u2", answer="a2"), name="other.jsonl")
    assert len(unspool.cook(path, other).requests) == 2
    assert len(unspool.cook(path, other, path.parent).requests) == 2, "each file counts once"
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = unspool.nonsense


def test_raw_bytes_are_found_again_by_the_origin(write: Write) -> None:
    path = write(call("u1", answer="a1"), "", call("u2", answer="a2"))
    data = path.read_bytes()
    requests = cook(path).requests
    assert len(requests) == 2
    for request in requests:
        piece = data[request.origin.offset : request.origin.offset + request.origin.size]
        assert json.loads(piece)["id"] == request.id
        assert data.splitlines()[request.origin.line - 1] == piece
