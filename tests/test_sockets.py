"""Calls over WebSockets, and answers that are fetched later or in parts: each is a request."""

import json
from typing import Any

import pytest

from conftest import Write
from unspool.jobs.cook import cook
from unspool.model import Cooked


def asked(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "response.create", "model": "gpt-5", "input": [{"role": "user", "content": text}], **more}


def answered(name: str, text: str) -> list[dict[str, Any]]:
    item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    response = {"id": name, "status": "completed", "output": [], "usage": {"input_tokens": 3, "output_tokens": 2}}
    return [
        {"type": "response.created", "response": {"id": name, "status": "in_progress"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": response},
    ]


def socket(asking: list[tuple[int, Any]], said: list[tuple[int, Any]]) -> dict[str, Any]:
    def side(told: list[tuple[int, Any]]) -> dict[str, Any]:
        return {"websocket": True, "messages": [{"ms": ms, "text": json.dumps(value)} for ms, value in told]}

    facts = {"id": "ws", "timestamp": "2026-11-01T10:00:00Z", "method": "GET", "path": "/v1/responses", "status": 101}
    return {**facts, "request": side(asking), "response": side(said)}


def exchanged(cooked: Cooked) -> list[tuple[list[str], list[str]]]:
    texts = {row.id: row.content for row in cooked.messages}
    sides = [(each.request_messages, each.response_messages) for each in cooked.requests]
    return [([texts[row] for row in asked], [texts[row] for row in answer]) for asked, answer in sides]


def test_each_call_over_a_websocket_is_a_request(write: Write) -> None:
    asking: list[tuple[int, Any]] = [(5, asked("Hi")), (6, {"type": "response.processed"})]
    asking += [(40, asked("Bye", previous_response_id="resp_1")), (95, asked("Cut"))]
    said = [(20, event) for event in answered("resp_1", "Hello")] + [
        (90, event) for event in answered("resp_2", "Bye!")
    ]
    cooked = cook(write(socket(asking, said), socket([(1, {"type": "session.update"})], [])))
    assert exchanged(cooked) == [(["Hi"], ["Hello"]), (["Bye"], ["Bye!"]), (["Cut"], [])]
    assert [(each.id, each.parent_id, each.duration_ms) for each in cooked.requests] == [
        ("ws", None, 15),
        ("ws-2", "ws", 50),
        ("ws-3", None, None),
    ]
    assert [(note.kind, note.origin.line) for note in cooked.notes] == [("skipped", 2)]
    assert "no Responses were asked for" in cooked.notes[0].reason


def test_calls_on_lanes_of_a_websocket_are_answered_at_the_same_time(write: Write) -> None:
    def lane(name: str, text: str) -> list[dict[str, Any]]:
        return [{**event, "stream_id": name} for event in answered(f"resp_{name}", text)]

    asking = [(5, asked("Hi", stream_id="a")), (6, asked("Bye", stream_id="b"))]
    said = [(20, event) for pair in zip(lane("b", "Bye!"), lane("a", "Hello"), strict=True) for event in pair]
    cooked = cook(write(socket(asking, said)))
    assert exchanged(cooked) == [(["Hi"], ["Hello"]), (["Bye"], ["Bye!"])]


def test_what_steers_an_answer_over_a_websocket_is_a_request(write: Write) -> None:
    def steer(text: Any) -> dict[str, Any]:
        return {"type": "response.steer", "previous_response_id": "resp_1", "input": text}

    created, item, _ = answered("resp_1", "Hel")
    why = {"id": "resp_1", "status": "incomplete", "incomplete_details": {"reason": "steered"}, "output": []}
    asking: list[tuple[int, Any]] = [
        (5, asked("Hi")),
        (20, steer("In Polish")),
        (21, steer([{"role": "user", "content": "Please"}])),
        (22, steer("Too late")),
        (60, asked("Bye", previous_response_id="resp_2")),
    ]
    said: list[tuple[int, Any]] = [
        (10, created),
        (30, item),
        (31, {"type": "response.steer.failed", "steer": {k: v for k, v in steer("Too late").items() if k != "type"}}),
        (32, {"type": "response.incomplete", "response": why}),
        *((40, event) for event in answered("resp_2", "Cześć")),
        *((70, event) for event in answered("resp_3", "Pa!")),
    ]
    cooked = cook(write(socket(asking, said)))
    assert exchanged(cooked) == [(["Hi"], ["Hel"]), (["In Polish", "Please"], ["Cześć"]), (["Bye"], ["Pa!"])]
    assert [each.parent_id for each in cooked.requests] == [None, "ws", "ws-2"]


def test_what_steers_an_answer_that_waits_for_results_goes_before_them(write: Write) -> None:
    steered = {"previous_response_id": "resp_1", "input": "In Polish"}
    asking: list[tuple[int, Any]] = [
        (5, asked("Hi")),
        (6, {"type": "response.steer", **steered}),
        (40, asked("Results", previous_response_id="resp_1")),
    ]
    said: list[tuple[int, Any]] = [
        *((20, event) for event in answered("resp_1", "I look")),
        (21, {"type": "response.steer.pending", "reason": "waiting_for_required_input", "steer": steered}),
        *((50, event) for event in answered("resp_2", "Cześć")),
    ]
    cooked = cook(write(socket(asking, said)))
    assert exchanged(cooked) == [(["Hi"], ["I look"]), (["In Polish", "Results"], ["Cześć"])]


@pytest.mark.parametrize("echoed", [False, True])
def test_results_that_an_answer_is_given_while_it_is_made_stand_in_it(write: Write, echoed: bool) -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "a cat"}
    inject = {"type": "response.inject", "response_id": "resp_1", "input": [output]}
    late = {**inject, "input": [{**output, "output": "a dog"}]}
    created, item, completed = answered("resp_1", "A cat")
    asking: list[tuple[int, Any]] = [(5, asked("Look")), (20, inject), (35, late)]
    asking.append((60, asked("Bye", previous_response_id="resp_1")))
    said: list[tuple[int, Any]] = [
        (10, created),
        (15, {"type": "response.output_item.done", "output_index": 0, "item": call}),
        (25, {"type": "response.inject.created", "response_id": "resp_1"}),
        *([(26, {"type": "response.output_item.done", "item": {**output, "id": "fco_1"}})] if echoed else []),
        (30, {**item, "output_index": 2 if echoed else 1}),
        (32, completed),
        (40, {**late, "type": "response.inject.failed", "error": {"code": "response_already_completed"}}),
        *((70, event) for event in answered("resp_2", "Bye!")),
    ]
    cooked = cook(write(socket(asking, said)))
    assert exchanged(cooked) == [(["Look"], ["", "a cat", "A cat"]), (["Bye"], ["Bye!"])]
    assert [each.stop_reason for each in cooked.requests] == ["end_turn", "end_turn"]
    assert [row.tool_use_id for row in cooked.messages if row.role == "tool_result"] == ["c1"]


def test_a_call_over_a_websocket_that_fails_twice_is_one(write: Write) -> None:
    failed = {"id": "resp_1", "status": "failed", "error": {"code": "server_error", "message": "Oh no"}}
    stray = {"type": "response.completed", "response": {"id": "resp_9", "output": []}}
    said: list[tuple[int, dict[str, Any]]] = [
        (9, {"type": "response.created", "response": {"id": "resp_1"}}),
        (10, {"type": "error", "error": failed["error"]}),
        (11, {"type": "response.failed", "response": failed}),
        (30, {"type": "codex.limits"}),
        *((90, event) for event in answered("resp_2", "Hello")),
        (99, stray),
    ]
    asking = [(5, asked("Hi")), (40, asked("Hi again"))]
    sides = [[{"ms": ms, "text": json.dumps(value)} for ms, value in side] for side in (asking, said)]
    request, response = ({"websocket": True, "messages": side} for side in sides)
    cooked = cook(write({"request": request, "response": response}))
    texts = {row.id: row.content for row in cooked.messages}
    assert [[texts[row] for row in each.response_messages] for each in cooked.requests] == [["Error: Oh no"], ["Hello"]]
    assert [each.response_id for each in cooked.requests] == ["resp_1", "resp_2"]
    assert [each.duration_ms for each in cooked.requests] == [5, 50]


def test_an_answer_from_the_background_goes_on_from_the_call_that_asked_for_it(write: Write) -> None:
    def fetched(number: int, status: str, *output: Any) -> dict[str, Any]:
        body = {"object": "response", "id": "resp_1", "model": "o3", "status": status, "output": output}
        path = "/v1/responses/resp_1?include[]=x"
        return {"id": f"get-{number}", "method": "GET", "path": path, "request": None, "response": body}

    asks = {"id": "post", "path": "/v1/responses", "request": {"model": "o3", "input": "Dig", "background": True}}
    asks["response"] = {"object": "response", "id": "resp_1", "status": "queued", "output": [], "usage": None}
    done = fetched(3, "completed", answered("resp_1", "Found")[1]["item"])
    done["response"]["usage"] = {"input_tokens": 9, "output_tokens": 4}
    models = {"id": "list", "method": "GET", "path": "/v1/models", "request": None, "response": {"object": "list"}}
    cooked = cook(write(asks, models, fetched(1, "queued"), fetched(2, "in_progress"), done, done))
    texts = {row.id: row.content for row in cooked.messages}
    post, get = cooked.requests
    assert (get.id, get.parent_id, get.parent_reason, get.model) == ("get-3", "post", "continues", "o3")
    assert ([texts[row] for row in post.request_messages], post.response_messages) == (["Dig"], [])
    assert (get.request_messages, [texts[row] for row in get.response_messages]) == ([], ["Found"])
    assert get.usage is not None
    assert (get.usage.input, get.usage.output) == (9, 4)
    assert not cooked.notes


@pytest.mark.parametrize("kept", [True, False])
def test_each_call_over_a_websocket_that_claude_tap_saw(kept: bool, write: Write) -> None:
    """It keeps the last call as the body, and the events of all where it was told to."""
    last = asked("Bye", previous_response_id="resp_1")
    request: dict[str, Any] = {"method": "WEBSOCKET", "path": "/v1/responses", "headers": {}, "body": last}
    body = {"id": "resp_2", "output": [answered("resp_2", "Bye!")[1]["item"]], "status": "completed"}
    response: dict[str, Any] = {"status": 101, "headers": {}, "body": body}
    request["ws_events"] = [asked("Hi"), last]
    if kept:
        response["ws_events"] = [*answered("resp_1", "Hello"), {"type": "codex.limits"}, *answered("resp_2", "Bye!")]
    cooked = cook(write({"request_id": "tap", "duration_ms": 900, "request": request, "response": response}))
    texts = {row.id: row.content for row in cooked.messages}
    said = [[texts[row] for row in (*each.request_messages, *each.response_messages)] for each in cooked.requests]
    assert said == ([["Hi", "Hello"]] if kept else []) + [["Bye", "Bye!"]]
    parents = [(each.id, each.parent_id, each.duration_ms) for each in cooked.requests]
    assert parents == ([("tap", None, None), ("tap-2", "tap", None)] if kept else [("tap", None, 900)])
    assert not cooked.notes


@pytest.mark.parametrize("tokens", [("a+/=", "a-_"), ("YQ==", "YQ==")])
def test_an_answer_that_gemini_gives_in_parts_is_no_retry(write: Write, tokens: tuple[str, str]) -> None:
    def part(text: str, **about: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, **about}]}

    asks = {"contents": [{"role": "user", "parts": [{"text": "Tell"}]}]}
    whole = {"role": "model", "parts": [{"text": "Once"}, {"text": "upon"}, {"text": "a time"}]}
    more = {"role": "user", "parts": [{"text": "More"}]}
    told, sent = tokens
    cooked = cook(
        write(
            {"request": asks, "response": part("Once", finishReason="CONTINUATION", continuationToken=told)},
            {
                "request": {**asks, "continuationToken": sent},
                "response": part("upon", finishReason="CONTINUATION", continuationToken="bb"),
            },
            {"request": {**asks, "continuationToken": "bb"}, "response": part("a time", finishReason="STOP")},
            {"request": {"contents": [*asks["contents"], whole, more]}, "response": part("Gone", finishReason="STOP")},
        )
    )
    assert exchanged(cooked) == [
        (["Tell"], ["Once"]),
        (["Tell", "Once"], ["upon"]),
        (["Tell", "Once", "upon"], ["a time"]),
        (["Tell", "Once", "upon", "a time", "More"], ["Gone"]),
    ]
    names = [each.id for each in cooked.requests]
    assert [each.parent_id for each in cooked.requests] == [None, *names[:3]]
    assert not any(each.retry_of for each in cooked.requests)


def test_an_interaction_that_goes_on_with_its_input_once_more_is_no_retry(write: Write) -> None:
    def said(name: str, text: str, **about: Any) -> dict[str, Any]:
        steps = [{"type": "model_output", "content": [{"type": "text", "text": text}]}]
        return {"id": name, "object": "interaction", "steps": steps, **about}

    asks = {"model": "m", "input": "Tell", "store": False}
    first = said("int_1", "Once", status="requires_continuation", continuation_token="dA==")
    again, last = {**asks, "continuation_token": "dA=="}, said("int_2", "upon", status="completed")
    held = {"model": "m", "previous_interaction_id": "int_1", "continuation_token": "dA=="}
    cooked = cook(write(*({"request": r, "response": b} for r, b in ((asks, first), (again, last), (held, last)))))
    assert exchanged(cooked) == [(["Tell"], ["Once"]), (["Tell", "Once"], ["upon"]), ([], ["upon"])]
    assert [each.parent_id for each in cooked.requests] == [None, *[cooked.requests[0].id] * 2]
