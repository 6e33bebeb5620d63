"""What hosts do otherwise than the API that they speak: how they count, what they call things, older forms."""

import json
from typing import Any

import pytest

from conftest import Write
from unspool.ingest.happened import Happenings
from unspool.ingest.open import read_exchanges
from unspool.jobs.cook import cook
from unspool.model import CookedRequest, Exchange, Usage

EXECUTED = "executed_tools"


def stream_of(*events: dict[str, Any]) -> dict[str, Any]:
    return {"stream": True, "sse_lines": [f"data: {json.dumps(event)}" for event in events]}


def answered(write: Write, request: dict[str, Any], response: Any, **more: Any) -> CookedRequest:
    (found,) = cook(write({"request": request, "response": response, **more})).requests
    return found


def test_a_refusal_that_was_not_paid_for_has_no_output(write: Write) -> None:
    """At the beginning of a stream the output is a guess."""
    stream = stream_of(
        {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 25, "output_tokens": 1}}},
        {"type": "message_delta", "delta": {"stop_reason": "refusal"}, "usage": {"output_tokens": 0}},
        {"type": "message_stop"},
    )
    found = answered(write, {"system": "Hi", "messages": []}, stream)
    assert found.usage is not None
    assert (found.stop_reason, found.usage.input, found.usage.output) == ("refusal", 25, 0)


def test_a_prompt_that_turns_out_to_be_cached_is_counted_once(write: Write) -> None:
    stream = stream_of(
        {"type": "message_start", "message": {"id": "msg_1", "usage": {"input_tokens": 8834, "output_tokens": 0}}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn"},
            "usage": {"input_tokens": 0, "cache_read_input_tokens": 8834, "output_tokens": 7},
        },
        {"type": "message_stop"},
    )
    assert counted(answered(write, {"system": "Hi", "messages": []}, stream).usage) == (0, 8834, 0, 7, 0)


@pytest.mark.parametrize("path", ["/v1/complete", "/model/anthropic.claude-v2/invoke"])
@pytest.mark.parametrize("streamed", [False, True])
def test_the_api_before_anthropics_messages(path: str, streamed: bool, write: Write) -> None:
    asked = {"model": "claude-2", "prompt": "\n\nHuman: Hi\n\nAssistant:", "max_tokens_to_sample": 9}
    pieces = [(" He", None), ("llo", "stop_sequence")]
    events = [{"type": "completion", "completion": text, "stop_reason": stop} for text, stop in pieces]
    whole = {"type": "completion", "completion": " Hello", "stop_reason": "stop_sequence"}
    cooked = cook(write({"request": asked, "response": stream_of(*events) if streamed else whole, "path": path}))
    assert [(row.role, row.content) for row in cooked.messages] == [("user", asked["prompt"]), ("assistant", " Hello")]
    (request,) = cooked.requests
    assert (request.format, request.stop_reason, request.interrupted) == ("claude", "stop_sequence", False)
    assert not cooked.notes


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"prompt_tokens": 20, "completion_tokens": 198, "total_tokens": 623}, (20, 0, 0, 603, 405)),  # Google
        (
            {"prompt_tokens": 21, "total_tokens": 81, "completion_tokens_details": {"reasoning_tokens": 60}},
            (21, 0, 0, 60, 60),
        ),
        (
            {"prompt_tokens": 100, "cache_read_input_tokens": 40, "completion_tokens": 7, "total_tokens": 147},
            (100, 40, 0, 7, 0),
        ),
        (
            {"prompt_tokens": 100, "cache_read_input_tokens": 40, "completion_tokens": 7, "total_tokens": 107},
            (60, 40, 0, 7, 0),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 7,
                "total_tokens": 16,
                "citation_tokens": 5,
                "reasoning_tokens": 70,
            },
            (9, 0, 0, 77, 70),
        ),
        ({"prompt_tokens": 8, "total_tokens": 8}, (8, 0, 0, 0, 0)),
        ({"total_tokens": 8}, (0, 0, 0, 0, 0)),
    ],
)
def test_what_only_the_total_counts(told: dict[str, Any], expected: tuple[int, ...], write: Write) -> None:
    body = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "usage": told}
    assert counted(answered(write, {"messages": []}, body).usage) == expected


def counted(usage: Usage | None) -> tuple[int, ...]:
    assert usage is not None
    return usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning


def test_reasoning_that_a_host_of_responses_counts_apart(write: Write) -> None:
    told = {"input_tokens": 10, "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 5}}
    body = {"object": "response", "status": "completed", "output": []}
    for total, output in ((12, 2), (17, 7)):
        found = answered(write, {"input": "Hi"}, {**body, "usage": {**told, "total_tokens": total}})
        assert counted(found.usage) == (10, 0, 0, output, 5)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("eos_token", "end_turn"),
        ("sensitive", "refusal"),
        ("network_error", "error"),
        ("model_context_window_exceeded", "context_exceeded"),
        ("nobody says so", "other"),
    ],
)
def test_words_of_hosts_for_why_they_stopped(word: str, reason: str, write: Write) -> None:
    body = {"choices": [{"message": {"content": ""}, "finish_reason": word}]}
    assert answered(write, {"messages": []}, body).stop_reason == reason


def test_what_vertex_filtered_is_a_refusal(write: Write) -> None:
    body = {"candidates": [{"finishReason": "MODEL_ARMOR", "finishMessage": "The answer was filtered."}]}
    assert answered(write, {"contents": [{"parts": [{"text": "Hi"}]}]}, body).stop_reason == "refusal"


@pytest.mark.parametrize(
    ("path", "request_", "response"),
    [
        ("/v1beta/models/e:embedContent", {"content": {"parts": [{"text": "Hi"}]}}, {"embedding": {"values": [0.5]}}),
        ("/v1beta/models/e:batchEmbedContents", {"requests": [{}]}, {"embeddings": [{"values": [0.5]}]}),
        ("/api/embed", {"model": "e", "input": ["Hi"]}, {"embeddings": [[0.5]]}),
        ("/v2/embed", {"model": "e", "texts": ["Hi"]}, {"embeddings": {"float": [[0.5]]}}),
        ("/v1/embeddings", {"model": "e", "input": "Hi"}, {"object": "list", "data": [{"embedding": [0.5]}]}),
        ("/v1/publishers/a/models/count-tokens:rawPredict", {"messages": []}, {"input_tokens": 15}),
        ("/v1/conversations", {}, {"object": "conversation", "id": "conv_1", "created_at": 1, "metadata": {}}),
    ],
)
def test_who_embeds_or_counts_says_nothing(path: str, request_: dict[str, Any], response: Any, write: Write) -> None:
    cooked = cook(write({"request": request_, "response": response, "path": path}))
    assert cooked.requests[0].response_messages == []
    assert not cooked.notes


def test_what_is_embedded_is_counted(write: Write) -> None:
    answer = {"object": "list", "data": [{"embedding": [0.5]}], "usage": {"prompt_tokens": 7, "total_tokens": 7}}
    record = {"path": "/v1/embeddings", "request": {"model": "e", "input": "Hi"}, "response": answer}
    (found,) = cook(write(record)).requests
    assert found.usage is not None
    assert found.usage.input == 7


def test_which_documents_mistral_cites_is_known(write: Write) -> None:
    said = [{"type": "text", "text": "So it is."}, {"type": "reference", "reference_ids": [1]}]
    body = {"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}
    cooked = cook(write({"request": {"messages": []}, "response": body}))
    assert [row.content for row in cooked.messages] == ["So it is.", '{"type":"reference","reference_ids":[1]}']
    assert not cooked.notes


def test_a_stream_of_which_nothing_is_understood_is_kept_with_its_broken_events(write: Write) -> None:
    stream = {"stream": True, "sse_lines": ['data: {"kind": "hm"}', 'data: {"torn', "data: [DONE]"]}
    cooked = cook(write({"request": {"messages": []}, "response": stream}))
    assert cooked.messages[-1].content == '[{"kind":"hm"},"{\\"torn","[DONE]"]'
    assert [note.kind for note in cooked.notes] == ["unknown"]


@pytest.mark.parametrize("previous", [{"id": "x"}, ["x"], 5, None])
def test_a_previous_answer_that_is_no_name(previous: Any, write: Write) -> None:
    path = write({"request": {"input": "Hi", "previous_response_id": previous}, "response": {"output": []}})
    assert cook(path).requests[0].parent_id is None
    happenings = Happenings()
    for item in read_exchanges(path):
        assert isinstance(item, Exchange)
        assert happenings.feed(item)


def deltas(*calls: dict[str, Any]) -> dict[str, Any]:
    return stream_of(*({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]} for call in calls))


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([("", 0, "f", '{"a":1}'), ("", 0, "f", '{"a":2}')], [("f", {"a": 1}), ("f", {"a": 2})]),
        ([(None, 0, "f", '{"a":'), (None, 0, None, "1}"), (None, 0, "g", "{}")], [("f", {"a": 1}), ("g", {})]),
        ([(None, 0, "f", ""), (None, 0, "f", '{"a":'), (None, 0, "f", '{"b":1}}')], [("f", {"a": {"b": 1}})]),
        ([(None, 0, "f", '{"a":1}'), (None, 0, "f", "")], [("f", {"a": 1})]),
        ([(None, 0, "f", "{}"), (None, 1, "f", '{"b":'), (None, 1, None, "2}")], [("f", {}), ("f", {"b": 2})]),
    ],
)
def test_calls_without_ids_that_share_an_index(calls: list[Any], expected: list[Any], write: Write) -> None:
    stream = deltas(
        *(
            {"id": id_, "index": index, "function": {"name": name, "arguments": text}}
            for id_, index, name, text in calls
        )
    )
    found = cook(write({"request": {"messages": []}, "response": stream})).messages[-1].tool_calls
    assert [(call.name, call.arguments) for call in found or ()] == expected


def test_a_stream_that_begins_anew_says_nothing_twice(write: Write) -> None:
    def begun(name: str, text: str) -> list[dict[str, Any]]:
        return [
            {"type": "message_start", "message": {"id": name, "usage": {"input_tokens": 3, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        ]

    ended = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}
    stream = stream_of(*begun("msg_1", "Hel"), *begun("msg_2", "Hello."), ended, {"type": "message_stop"})
    cooked = cook(write({"request": {"messages": []}, "response": stream}))
    assert [row.content for row in cooked.messages] == ["Hello."]
    assert cooked.requests[0].response_id == "msg_2"


CALLS = [{"id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": "{}"}} for name in "fg"]


@pytest.mark.parametrize("first", ["tool_calls", "stop"])
def test_a_text_and_its_calls_as_a_choice_each_are_one_answer(first: str, write: Write) -> None:
    choices = [{"message": {"content": "Let me look."}, "finish_reason": first}]
    choices += [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"} for call in CALLS]
    echoed = {"role": "assistant", "content": "Let me look.", "tool_calls": CALLS}
    asked = [{"role": "user", "content": "Hi"}]
    cooked = cook(
        write(
            {"request": {"messages": asked}, "response": {"choices": choices}},
            {"request": {"messages": [*asked, echoed]}, "response": None},
        )
    )
    one, two = cooked.requests
    assert (one.response_messages, one.alternatives, one.stop_reason) == (two.request_messages[1:], [], "tool_use")


def test_choices_that_were_asked_for_are_alternatives(write: Write) -> None:
    choices = [{"message": {"content": "No."}}, {"message": {"content": None, "tool_calls": CALLS}}]
    found = answered(write, {"messages": [], "n": 2}, {"choices": choices})
    assert (len(found.response_messages), len(found.alternatives)) == (1, 1)
    both = [{"message": {"content": "No."}}, {"message": {"content": "Yes.", "tool_calls": CALLS}}]
    assert len(answered(write, {"messages": []}, {"choices": both}).alternatives) == 1


def test_an_answer_in_a_list_that_is_anothers_is_kept(write: Write) -> None:
    body = {"outputs": [{"text": "Bonjour", "stop_reason": "stop"}]}
    path = "/model/mistral.mistral-7b-instruct-v0%3A2/invoke"
    cooked = cook(write({"request": {"prompt": "[INST] Hi [/INST]"}, "response": body, "path": path}))
    assert [row.content for row in cooked.messages] == ["[INST] Hi [/INST]", json.dumps(body, separators=(",", ":"))]
    assert [note.kind for note in cooked.notes] == ["unknown"]


@pytest.mark.parametrize("streamed", [False, True])
def test_thoughts_in_parts_as_databricks_has_them(streamed: bool, write: Write) -> None:
    def thought(text: str) -> dict[str, Any]:
        return {"type": "reasoning", "summary": [{"type": "summary_text", "text": text}]}

    said = [thought("Hmm, well."), {"type": "text", "text": "Yes."}]
    pieces = [thought("Hmm, "), thought("well."), {"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]
    chunks = ({"choices": [{"index": 0, "delta": {"content": [piece]}}]} for piece in pieces)
    body = stream_of(*chunks) if streamed else {"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}
    cooked = cook(write({"request": {"messages": []}, "response": body}))
    assert [(row.role, row.content) for row in cooked.messages] == [("thinking", "Hmm, well."), ("assistant", "Yes.")]
    assert not cooked.notes


@pytest.mark.parametrize("key", ["model", "model_id", "modelId"])
def test_a_model_by_another_name(key: str, write: Write) -> None:
    assert answered(write, {key: "granite", "messages": []}, None).model == "granite"


@pytest.mark.parametrize("streamed", [False, True])
def test_minimax_refuses_with_a_status_of_200(streamed: bool, write: Write) -> None:
    body = {"id": "x", "choices": None, "base_resp": {"status_code": 1008, "status_msg": "insufficient balance"}}
    response = stream_of(body) if streamed else body
    cooked = cook(write({"request": {"messages": []}, "response": response, "status": 200}))
    assert cooked.messages[-1].content == "Error: insufficient balance"
    assert not cooked.notes
    fine = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}], "base_resp": {"status_code": 0}}
    assert answered(write, {"messages": []}, fine).error is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"detail": [{"loc": ["body", "messages"], "msg": "field required", "type": "missing"}]}, "field required"),
        ({"detail": {"error": {"message": "No such model"}}}, "No such model"),
        ({"detail": "Not found"}, "Not found"),
        ({"error_msg": "Authentication fails"}, "Authentication fails"),
    ],
)
def test_the_words_of_an_error(body: dict[str, Any], words: str, write: Write) -> None:
    cooked = cook(write({"request": {"messages": []}, "response": body, "status": 422}))
    assert (cooked.messages[-1].content, cooked.requests[0].error) == (f"Error: {words}", body)


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, (10, 90, 0, 5, 0)),
        ({"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": None}, (10, 90, 0, 5, 0)),
        ({"prompt_tokens": 100, "completion_tokens": 8, "total_tokens": 108}, (10, 90, 0, 8, 0)),
        (None, (10, 90, 0, 5, 0)),
    ],
)
def test_what_a_stream_counts_twice(later: Any, expected: tuple[int, ...], write: Write) -> None:
    told: dict[str, Any] = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}
    told["prompt_tokens_details"] = {"cached_tokens": 90}
    said = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    stream = stream_of({"choices": [said], "usage": told}, {"choices": [], "usage": later})
    assert counted(answered(write, {"messages": []}, stream).usage) == expected


@pytest.mark.parametrize(
    "request_",
    [
        {"message": "And Rome?", "chat_history": [{"role": "User", "message": "Oslo?"}]},
        {"message": "And Rome?", "chat_history": [], "preamble": "Be brief."},
        {"message": "", "chat_history": [], "tool_results": [{"call": {"name": "f"}, "outputs": [{"x": 1}]}]},
    ],
)
def test_cohere_is_known_by_what_is_asked(request_: dict[str, Any], write: Write) -> None:
    cooked = cook(write({"request": {"model": "command-r", **request_}, "response": {"message": "no such model"}}))
    assert cooked.requests[0].format == "cohere"
    asked = " ".join(row.content for row in cooked.messages)
    assert (request_["message"] or '[{"x":1}]') in asked
    assert asked.endswith("Error: no such model")


@pytest.mark.parametrize("streamed", [False, True])
def test_what_groq_ran_itself_stands_before_its_answer(streamed: bool, write: Write) -> None:
    begun = [{"index": n, "type": "search", "arguments": json.dumps({"query": word})} for n, word in enumerate("ab")]
    ended = [{**begun[0], "output": "Oslo: rain"}, {**begun[1], "search_results": {"results": [{"title": "Rome"}]}}]
    pieces = [{EXECUTED: [begun[0]]}, {EXECUTED: [ended[0]]}, {EXECUTED: [begun[1]]}, {EXECUTED: [ended[1]]}]
    chunks = [{"choices": [{"index": 0, "delta": piece}]} for piece in [*pieces, {"content": "Wet."}]]
    chunks[-1]["choices"][0]["finish_reason"] = "stop"
    whole = {"choices": [{"message": {"content": "Wet.", EXECUTED: ended}, "finish_reason": "stop"}]}
    cooked = cook(write({"request": {"messages": []}, "response": stream_of(*chunks) if streamed else whole}))
    assert [(row.role, row.content, row.tool_use_id) for row in cooked.messages] == [
        ("tool_use", "", None),
        ("tool_result", "Oslo: rain", "call_0"),
        ("tool_use", "", None),
        ("tool_result", '{"search_results":{"results":[{"title":"Rome"}]}}', "call_1"),
        ("assistant", "Wet.", None),
    ]
    made = [call for row in cooked.messages for call in row.tool_calls or ()]
    assert [(call.name, call.arguments) for call in made] == [("search", {"query": "a"}), ("search", {"query": "b"})]
    assert cooked.requests[0].stop_reason == "end_turn"
    assert not cooked.notes


def test_thoughts_that_a_host_of_responses_tells_as_text(write: Write) -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}
    beside = {"object": "response", "status": "completed", "output": [said], "reasoning": "Hm.\n"}
    native = {"output": [{"type": "reasoning", "content": "Hm.\n"}, {"type": "message", "content": "Yes."}]}
    for body in (beside, native):
        cooked = cook(write({"request": {"model": "m", "input": "Is it?"}, "response": body}))
        assert [(row.role, row.content) for row in cooked.messages] == [
            ("user", "Is it?"),
            ("thinking", "Hm.\n"),
            ("assistant", "Yes."),
        ]
        assert not cooked.notes
    settings = {**beside, "reasoning": {"effort": "low"}}
    assert len(answered(write, {"input": "Is it?"}, settings).response_messages) == 1


@pytest.mark.parametrize(
    ("billed", "cached", "expected"),
    [
        (40, 0, (40, 0, 0, 2, 0)),
        (40, 448, (40, 448, 0, 2, 0)),
        (480, 448, (52, 448, 0, 2, 0)),
        (40, 900, (0, 500, 0, 2, 0)),
    ],
)
def test_what_cohere_cached_is_its_wrapping_first(
    billed: int, cached: int, expected: tuple[int, ...], write: Write
) -> None:
    told = {"billed_units": {"input_tokens": billed, "output_tokens": 2}, "cached_tokens": cached}
    told["tokens"] = {"input_tokens": 500, "output_tokens": 5}
    body = {"message": {"content": [{"type": "text", "text": "Hi"}]}, "finish_reason": "COMPLETE", "usage": told}
    assert counted(answered(write, {"messages": []}, body).usage) == expected


def test_cohere_on_bedrock_is_asked_with_one_message(write: Write) -> None:
    body = {"response_id": "r", "generation_id": "g", "text": "Hello", "finish_reason": "COMPLETE"}
    path = "/model/us.cohere.command-r-v1%3A0/invoke"
    cooked = cook(write({"request": {"message": "Hi", "max_tokens": 9}, "response": body, "path": path}))
    assert [(row.role, row.content) for row in cooked.messages] == [("user", "Hi"), ("assistant", "Hello")]
    assert cooked.requests[0].model == "us.cohere.command-r-v1:0"
    assert not cooked.notes
