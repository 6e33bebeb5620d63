"""`--compat gpt2099`: bodies, errors and answers as that program makes them, with what it loses.

The fixtures are ours. Its own suite is run too where `UNSPOOL_GPT2099` names the folder `tests/fixtures/providers` of a
copy of it.
"""

import json
import os
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from contexts import called, context, paper, result, says
from unspool.errors import UnspoolError, WrongContext
from unspool.wires.gpt2099 import PROVIDERS, aggregate, context_of, prepare, stream

NOTES = b64encode("# Héllo".encode()).decode()
CHAT = ("openai", "cerebras", "cohere")
TOOL = {
    "name": "yard___dig",
    "description": "Dig",
    "inputSchema": {
        "$schema": "s",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "deep": {"type": "integer", "format": "int32", "minimum": 1},
            "format": {"type": "string"},
            "list": {"type": "array", "items": {"type": "object", "additionalProperties": False, "format": "x"}},
        },
    },
    "annotations": {"title": "Dig"},
    "outputSchema": {"type": "object"},
}
TALK = {
    "messages": [
        says("system", "Be kind."),
        says("user", "Hi"),
        says("assistant", "I look.", called("c1", place="yard")),
        says("user", result("c1", "a", "b", name="yard___look", is_error=True)),
        says("system", "Be brief."),
    ],
    "options": {},
}


def sent(provider: str, *messages: dict[str, Any], tools: list[Any] | None = None, **options: Any) -> dict[str, Any]:
    return prepare(provider, {"messages": list(messages), "options": options}, tools or [])


def test_bodies_have_no_model() -> None:
    assert all("model" not in prepare(provider, TALK) for provider in PROVIDERS)


def test_anthropic() -> None:
    body = prepare("anthropic", TALK, [TOOL])
    assert body.keys() == {"max_tokens", "stream", "messages", "tools", "system"}
    assert body["max_tokens"] == 8192
    assert body["system"] == "Be kind.\n\n----\n\nBe brief."
    answer = body["messages"][2]["content"][0]
    texts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert answer == {"type": "tool_result", "tool_use_id": "c1", "content": texts}
    assert body["tools"] == [{"name": "yard___dig", "description": "Dig", "input_schema": TOOL["inputSchema"]}]
    assert sent("anthropic", says("user", "Hi"))["tools"] == []
    searched = sent("anthropic", says("user", "Hi"), tools=[TOOL], search=True)["tools"]
    assert searched[1] == {"type": "web_search_20250305", "name": "web_search"}


def test_anthropic_keeps_the_last_four_marks() -> None:
    turns = [says("user", "a", str(number), cache=number % 2 == 0) for number in range(12)]
    messages = sent("anthropic", *turns)["messages"]
    marked = [number for number, message in enumerate(messages) if "cache_control" in message["content"][-1]]
    assert marked == [4, 6, 8, 10]
    assert all("cache" not in message and "cache_control" not in message["content"][0] for message in messages)


def test_a_thread_of_ours_is_what_it_would_have_stored() -> None:
    """Marks stand on messages, thinking is dropped, and so is all that it has no key for."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    marked = [says("user", f"n{number}", cache=True) for number in range(6)]
    given = context(
        says("user", paper("application/pdf", title="a.pdf")),
        says("assistant", thought, "I look.", called("c1", place="yard"), api="claude", provider="p", model="m"),
        says("user", result("c1", "a", name="yard___look", extra={"structured": {}})),
        *marked,
    )
    body = prepare("anthropic", context_of(given))
    told = json.dumps(body["messages"])
    assert told.count("cache_control") == 4
    assert not any(word in told for word in ("title", "thinking", "claude", "structured", '"cache"'))
    assert body["messages"][1] == says("assistant", "I look.", called("c1", place="yard"))
    assert prepare("gemini", context_of(given))["contents"][1]["parts"][0] == {"text": "I look."}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_text_alone_is_one_block(provider: str) -> None:
    assert sent(provider, {"role": "user", "content": "Hi"}) == sent(provider, says("user", "Hi"))


def test_who_wrote_a_message_is_not_sent() -> None:
    said = says("assistant", "Hi", api="claude", provider="anthropic", model="m")
    assert sent("anthropic", said)["messages"] == [says("assistant", "Hi")]


def test_anthropic_documents() -> None:
    kinds = ("text/markdown", "application/json", "image/png", "application/pdf", "application/zip")
    content = sent("anthropic", says("user", *(paper(kind, NOTES) for kind in kinds)))["messages"][0]["content"]
    assert content[0] == content[1] == {"type": "text", "text": "# Héllo"}
    assert [block["type"] for block in content[2:]] == ["image", "document", "document"]


@pytest.mark.parametrize("provider", CHAT)
def test_chat(provider: str) -> None:
    body = prepare(provider, TALK, [TOOL])
    assert body.keys() == {"stream", "messages", "tools"}
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool", "system"]
    assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"place":"yard"}'
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "ab"}
    silent = sent(provider, says("assistant", called("c1")))["messages"][0]
    assert silent["content"] == (None if provider == "cohere" else "")
    title = {"openai": "OpenAI", "cerebras": "Cerebras", "cohere": "Cohere"}[provider]
    with pytest.raises(UnspoolError, match=f"{title} does not support built-in search capabilities"):
        sent(provider, says("user", "Hi"), search=True)
    with pytest.raises(UnspoolError, match=f"{title} does not support document type: text/plain"):
        sent(provider, says("user", paper("text/plain")))


@pytest.mark.parametrize("provider", CHAT)
def test_chat_puts_texts_before_documents(provider: str) -> None:
    parts = sent(provider, says("user", paper("image/png", "QQ=="), "What?"))["messages"][0]["content"]
    assert parts == [
        {"type": "text", "text": "What?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}},
    ]
    if provider == "cohere":
        with pytest.raises(UnspoolError, match="Cohere does not support document type: application/pdf"):
            sent(provider, says("user", paper("application/pdf")))
    else:
        parts = sent(provider, says("user", paper("application/pdf", "QQ==")))["messages"][0]["content"]
        assert parts[0]["file"] == {"filename": "document.pdf", "file_data": "data:application/pdf;base64,QQ=="}


def test_cerebras_loses_properties_by_their_names() -> None:
    schema = prepare("cerebras", TALK, [TOOL])["tools"][0]["function"]["parameters"]
    assert schema["properties"].keys() == {"deep", "list"}
    assert schema["properties"]["deep"] == {"type": "integer"}
    assert "$schema" not in schema
    assert prepare("openai", TALK, [TOOL])["tools"][0]["function"]["parameters"] == TOOL["inputSchema"]


def test_gemini() -> None:
    body = prepare("gemini", TALK, [TOOL])
    assert body["systemInstruction"] == {"parts": [{"text": "Be kind."}, {"text": "Be brief."}]}
    assert body["generationConfig"] == {"temperature": 1, "topP": 0.95, "maxOutputTokens": 81920}
    assert body["contents"][1] == {
        "role": "model",
        "parts": [{"text": "I look."}, {"functionCall": {"name": "yard___look", "args": {"place": "yard"}}}],
    }
    response = body["contents"][2]["parts"][0]["functionResponse"]
    assert response == {"name": "yard___look", "response": {"type": "text", "text": "a"}}
    (declared,) = body["tools"][0]["functionDeclarations"]
    assert declared.keys() == {"name", "description", "parameters"}
    assert declared["parameters"].keys() == {"type", "properties"}
    told = declared["parameters"]["properties"]
    assert told["deep"] == {"type": "integer", "minimum": 1}
    assert told["list"]["items"] == {"type": "object", "format": "x"}
    assert "tools" not in prepare("gemini", TALK)
    assert sent("gemini", says("user", "Hi"), search=True)["tools"] == [{"google_search": {}}]
    with pytest.raises(UnspoolError, match="does not support combining google_search"):
        sent("gemini", says("user", "Hi"), tools=[TOOL], search=True)
    parts = sent("gemini", says("user", paper("image/png", "QQ=="), paper("application/zip")))["contents"][0]["parts"]
    assert parts[0] == {"inline_data": {"mime_type": "image/png", "data": "QQ=="}}
    assert parts[1] == {"text": "[Document: application/zip - content not directly supported by Gemini]"}


def test_what_it_cannot_read_is_an_error() -> None:
    thought = {"type": "thinking", "thinking": "x"}
    for provider, message in (
        ("anthropic", says("user", result("c1", paper("image/png")))),
        ("openai", says("assistant", called(None))),
        ("gemini", says("assistant", thought)),
    ):
        with pytest.raises(WrongContext, match="gpt2099"):
            sent(provider, message)


CHUNKS = [
    {"model": "m", "choices": [{"delta": {"role": "assistant", "content": None}}]},
    {"model": "m", "choices": [{"delta": {"content": "Hi"}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "a", "arguments": ""}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}}]},
    {"choices": [{"delta": {"tool_calls": [{"index": 1, "id": "c2", "function": {"name": "b", "arguments": "{}"}}]}}]},
    {"choices": [{"delta": {}, "finish_reason": "length"}], "usage": {"prompt_tokens": 5}},
]


def test_answers_of_chat() -> None:
    message = aggregate("openai", CHUNKS)["message"]
    assert [block["type"] for block in message["content"]] == ["text", "tool_use", "tool_use"]
    assert message["content"][1]["id"] not in ("c1", "c2")
    assert message["stop_reason"] == "tool_use"
    assert set(message["usage"].values()) == {0}
    assert [piece for event in CHUNKS if (piece := stream("openai", event)) is not None] == [
        {"type": "text", "content": "Hi"},
        {"type": "tool_use", "name": "a", "id": "c1"},
        {"content": "{}"},
        {"type": "tool_use", "name": "b", "id": "c2"},
    ]


def test_answers_of_anthropic() -> None:
    found = [
        {"type": "web_search_result", "title": "Cats, all", "url": "u", "encrypted_content": "x", "page_age": None}
    ]
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m1", "model": "m", "usage": {"input_tokens": 3}, "content": []}},
        {"type": "content_block_start", "content_block": {"type": "server_tool_use", "id": "s", "name": "web_search"}},
        {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": '{"q":1}'}},
        {"type": "content_block_stop"},
        {"type": "content_block_start", "content_block": {"type": "web_search_tool_result", "content": found}},
        {"type": "content_block_stop"},
        {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "delta": {"type": "citations_delta", "citation": {}}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Purr"}},
        {"type": "content_block_stop"},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 4}},
        {"type": "message_stop"},
    ]
    message = aggregate("anthropic", events)["message"]
    assert message["usage"] == {"input_tokens": 3, "output_tokens": 4}
    assert message["content"][0]["input"] == {"q": 1}
    assert message["content"][2] == {"type": "text", "text": "Purr"}
    shown = [piece for event in events if (piece := stream("anthropic", event)) is not None]
    assert shown[2]["content"] == 'type,title,url,page_age\nweb_search_result,"Cats, all",u,\n'
    assert shown[3:] == [{"type": "text", "content": ""}, {}, {"content": "Purr"}]
    thinking = {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}
    for read in (aggregate, lambda provider, events: [stream(provider, event) for event in events]):
        with pytest.raises(WrongContext, match="gpt2099 knows no event"):
            read("anthropic", [thinking])


def test_answers_of_gemini_and_cohere_keep_one_call() -> None:
    parts: list[Any] = [{"functionCall": {"name": name, "args": {}}} for name in ("a", "b")]
    events: list[Any] = [
        {"candidates": [{"content": {"parts": [{"text": "Hi"}]}}], "modelVersion": "g"},
        {
            "candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 2},
        },
    ]
    message = aggregate("gemini", events)["message"]
    assert [block.get("name") for block in message["content"]] == [None, "b"]
    assert message["usage"]["input_tokens"] == 2
    assert "stop_reason" not in aggregate("gemini", events[:1])["message"]
    assert stream("gemini", events[1]) == {"type": "tool_use", "name": "a", "content": {}}
    start = {"type": "tool-call-start", "delta": {"message": {"tool_calls": {"id": "c", "function": {"name": "a"}}}}}
    more = {"type": "tool-call-delta", "delta": {"message": {"tool_calls": {"function": {"arguments": "{}"}}}}}
    end = {"type": "message-end", "delta": {"usage": {"billed_units": {"input_tokens": 9}}}}
    message = aggregate("cohere", [start, more, end])["message"]
    assert message["content"] == [{"type": "tool_use", "id": "c", "name": "a", "input": {}}]
    assert (message["model"], message["stop_reason"], message["usage"]["input_tokens"]) == ("cohere", "tool_use", 9)
    assert stream("cohere", more) == {"content": "{}"}


SUITE = Path(os.environ.get("UNSPOOL_GPT2099", "/nowhere"))


def _without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        same = {key: _without_ids(inner) for key, inner in value.items()}
        return {**same, "id": "id"} if value.get("type") == "tool_use" else same
    return [_without_ids(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.skipif(not SUITE.is_dir(), reason="no copy of gpt2099's fixtures is named")
def test_its_own_suite() -> None:
    checked = 0
    for case in sorted((SUITE / "prepare-request").iterdir()):
        given = json.loads((case / "input.json").read_text())
        servers = given.get("options", {}).get("servers") or []
        tools = [tool for name in servers for tool in json.loads((SUITE / "tools" / f"{name}.json").read_text())]
        for expected in case.glob("expected-*.json"):
            provider = expected.stem.removeprefix("expected-")
            assert prepare(provider, given, tools) == json.loads(expected.read_text()), expected
            checked += 1
        for expected in case.glob("expected-*.err"):
            with pytest.raises(UnspoolError) as caught:
                prepare(expected.stem.removeprefix("expected-"), given, tools)
            told = expected.read_text().strip()
            assert told in str(caught.value) or told.startswith("Eval block failed"), expected
            checked += 1
    for case in sorted((SUITE / "response-stream").glob("*/*")):
        events = [json.loads(line) for line in (case / "events.jsonl").read_text().splitlines() if line.strip()]
        provider = case.parent.name
        message = json.loads((case / "expected-aggregate.json").read_text())
        assert _without_ids(aggregate(provider, events)) == _without_ids(message), case
        lines = (case / "expected-streamer.jsonl").read_text().splitlines()
        shown = [piece for event in events if (piece := stream(provider, event)) is not None]
        assert shown == [json.loads(line) for line in lines if line.strip()], case
        checked += 1
    assert checked > 0
