"""Bodies are what the official SDKs' own types say; the model server of our tests is what their clients understand."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from contexts import LOOK, POINT, body, called, context, key, paper, result, says
from model_server import Fault, ModelServer, Words

FULL = context(
    says("system", "Be brief."),
    says(
        "user",
        "What is this?",
        paper("image/png", title="yard.png"),
        paper("text/markdown", "IyBIaQ==", title="notes.md"),
        cache=True,
    ),
    says("assistant", "I look.", called("a.1", place="yard"), called("a2", place="shed")),
    says("user", result("a.1", "a cat", paper("image/png")), result("a2", "nothing", is_error=True), "And now?"),
    says("assistant", "A cat."),
    says("user", "Where?"),
    tool_mode="yard___look",
)
CALLS = [("t1", "yard___look", {"place": "yard"}), ("t2", "yard___look", {"place": "shed"})]


def checked(kind: Any, value: Any) -> None:
    """TypedDicts let unknown keys pass: so what is left of the value after checking must be all of it."""
    adapter = TypeAdapter(kind)
    assert _plain(adapter.dump_python(adapter.validate_python(value))) == value


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    return (
        [_plain(inner) for inner in value] if isinstance(value, list | tuple) or hasattr(value, "__next__") else value
    )


def test_anthropic() -> None:
    pytest.importorskip("anthropic")
    from anthropic.types import MessageParam, TextBlockParam, ToolChoiceParam, ToolUnionParam

    sent = body("anthropic", FULL, [LOOK])
    for message in sent["messages"]:
        checked(MessageParam, message)
    checked(list[TextBlockParam], sent["system"])
    checked(list[ToolUnionParam], sent["tools"])
    checked(ToolChoiceParam, sent["tool_choice"])
    searching = body("anthropic", context(says("user", "Hi"), search=True), [LOOK])
    checked(list[ToolUnionParam], searching["tools"])


def test_openai_chat() -> None:
    pytest.importorskip("openai")
    from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

    sent = body("openai", FULL, [LOOK])
    for message in sent["messages"]:
        checked(ChatCompletionMessageParam, message)
    checked(list[ChatCompletionToolParam], sent["tools"])


def test_openai_responses() -> None:
    pytest.importorskip("openai")
    from openai.types.responses import ResponseInputItemParam, ToolParam

    thought = {"type": "thinking", "thinking": "hm", "encrypted": "Y2lwaGVy", "extra": {"id": "rs_1", "summary": []}}
    said = {"type": "text", "text": "A cat.", "extra": {"item": {"id": "msg_1", "status": "completed"}}}
    own = says("assistant", thought, said, called("c1", place="yard"), api="responses")
    sent = body("openai-responses", context(says("user", "Hi", paper("application/pdf")), own), [LOOK])
    kinds = [item.get("type") for item in sent["input"]]
    assert kinds == [None, "reasoning", "message", "function_call", "function_call_output"]
    for item in [*sent["input"], *body("openai-responses", FULL, [LOOK])["input"]]:
        checked(ResponseInputItemParam, item)
    checked(list[ToolParam], sent["tools"])


def test_gemini() -> None:
    types = pytest.importorskip("google.genai.types")
    sent = body("gemini", FULL, [LOOK])
    for content in sent["contents"]:
        types.Content.model_validate(content)  # refuses unknown keys
    types.Content.model_validate(sent["systemInstruction"])
    for tool in body("gemini", context(says("user", "Hi"), search=True), [LOOK])["tools"]:
        types.Tool.model_validate(tool)
    types.ToolConfig.model_validate(sent["toolConfig"])
    with pytest.raises(ValidationError):
        types.Content.model_validate({"role": "user", "parts": [{"words": "no"}]})


def test_interactions() -> None:
    """What our own records of interactions hold is what the SDK's types say."""
    types = pytest.importorskip("google.genai._gaos.types.interactions")
    record = json.loads((Path(__file__).parent / "wires/interactions/steps.json").read_text())[0]
    for step in record["response"]["steps"]:
        checked = TypeAdapter(types.Step).validate_python(step)
        assert checked.type == step["type"]
    types.Usage.model_validate(record["response"]["usage"])


def test_cohere() -> None:
    pytest.importorskip("cohere")
    from cohere import ChatMessageV2, ToolV2

    sent = body("cohere", FULL, [LOOK])
    adapter: TypeAdapter[Any] = TypeAdapter(ChatMessageV2)
    for message in sent["messages"]:
        read = adapter.validate_python(message)
        assert read.role == message["role"]
    TypeAdapter(list[ToolV2]).validate_python(sent["tools"])


ANSWER = Words("A cat sits there.", thinking="Let me see.", calls=CALLS)


def test_the_anthropic_client_understands_the_server() -> None:
    anthropic = pytest.importorskip("anthropic")
    with ModelServer(
        ANSWER, Fault(529, {"type": "error", "error": {"type": "overloaded_error", "message": "no"}})
    ) as at:
        sent = body("anthropic", FULL, [LOOK])
        del sent["stream"]
        with (
            anthropic.Anthropic(base_url=at.url, api_key=key("anthropic"), max_retries=0) as client,
            client.messages.stream(**sent) as stream,
        ):
            message: Any = stream.get_final_message()
        assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
        assert message.content[1].text == ANSWER.text
        assert [block.input for block in message.content[2:]] == [given for _, _, given in CALLS]
        with (
            anthropic.Anthropic(base_url=at.url, api_key=key("anthropic"), max_retries=0) as client,
            pytest.raises(anthropic.APIStatusError, match="no"),
        ):
            client.messages.create(model="m", max_tokens=5, messages=[{"role": "user", "content": "Hi"}])


def test_the_openai_client_understands_the_server() -> None:
    openai = pytest.importorskip("openai")
    with (
        ModelServer(ANSWER, ANSWER) as at,
        openai.OpenAI(base_url=f"{at.url}/v1", api_key=key("openai"), max_retries=0) as client,
    ):
        sent = body("openai", FULL, [LOOK])
        chunks: list[Any] = list(client.chat.completions.create(**sent))
        assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == ANSWER.text
        assert chunks[-1].usage is not None
        assert chunks[-1].usage.prompt_tokens == 16
        events: list[Any] = list(client.responses.create(**body("openai-responses", FULL, [LOOK])))
        final = events[-1].response
        assert final.output_text == ANSWER.text
        assert [item.type for item in final.output] == ["reasoning", "message", "function_call", "function_call"]


def test_the_gemini_client_understands_the_server() -> None:
    genai = pytest.importorskip("google.genai")
    types = genai.types
    with ModelServer(ANSWER) as at:
        options = types.HttpOptions(base_url=at.url)
        contents = [types.Content.model_validate(each) for each in body("gemini", FULL, [LOOK])["contents"]]
        with genai.Client(api_key=key("gemini"), http_options=options) as client:
            chunks: list[Any] = list(client.models.generate_content_stream(model="tin-1", contents=contents))
        parts = [part for chunk in chunks for part in chunk.candidates[0].content.parts or []]
        assert "".join(part.text for part in parts if part.text and not part.thought) == ANSWER.text
        assert [part.function_call.args for part in parts if part.function_call] == [given for _, _, given in CALLS]


def test_the_cohere_client_understands_the_server() -> None:
    cohere, httpx = pytest.importorskip("cohere"), pytest.importorskip("httpx")
    with ModelServer(Words("A cat.", thinking="Hm.")) as at:
        sent = body("cohere", FULL, [LOOK])
        del sent["stream"]
        with httpx.Client() as http:
            client = cohere.ClientV2(api_key=key("cohere"), base_url=at.url, httpx_client=http)
            events: list[Any] = list(client.chat_stream(**sent))
        texts = [event.delta.message.content.text for event in events if event.type == "content-delta"]
        assert "".join(text or "" for text in texts) == "A cat."
        assert events[-1].delta.finish_reason == "COMPLETE"


def test_a_picture_stays_what_it_is() -> None:
    sent = body("anthropic", context(says("user", paper("image/png"))))
    assert sent["messages"][0]["content"][0]["source"]["data"] == POINT
