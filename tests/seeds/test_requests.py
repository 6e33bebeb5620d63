"""Document 002: what each provider is sent for each block and option, and what comes back in one form."""

import json
from typing import Any

import pytest

from conftest import Run
from contexts import LOOK, POINT, body, called, context, paper, result, says
from unspool.errors import UnsupportedContent
from unspool.model import Context

PROVIDERS = ("anthropic", "openai", "openai-responses", "gemini", "cohere", "cerebras")
NATIVE = {"anthropic": "system", "openai-responses": "instructions", "gemini": "systemInstruction"}
HISTORY = {"anthropic": "messages", "openai-responses": "input", "gemini": "contents"}


def sent(provider: str, context_: Context) -> list[Any]:
    """Return the messages of the body."""
    items = body(provider, context_, [LOOK])[HISTORY.get(provider, "messages")]
    assert isinstance(items, list)
    return items


# Messages and blocks

ASKS = says("user", "Is it open?")
CALLS = says("assistant", "I look.", called("tu_1", place="mill"))
ARGUMENTS = '{"place":"mill"}'
CHAT_CALL = {"id": "tu_1", "type": "function", "function": {"name": LOOK.name, "arguments": ARGUMENTS}}


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("anthropic", [{"type": "text", "text": "Be brief."}]),
        ("openai-responses", "Be brief."),
        ("gemini", {"parts": [{"text": "Be brief."}]}),
        *((provider, {"role": "system", "content": "Be brief."}) for provider in ("openai", "cohere", "cerebras")),
    ],
)
def test_system_messages(provider: str, expected: Any) -> None:
    request = body(provider, context(says("system", "Be brief."), ASKS))
    assert (request[NATIVE[provider]] if provider in NATIVE else request["messages"][0]) == expected


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        ("anthropic", {"role": "user", "content": [{"type": "text", "text": "Is it open?"}]}),
        ("openai-responses", {"role": "user", "content": [{"type": "input_text", "text": "Is it open?"}]}),
        ("gemini", {"role": "user", "parts": [{"text": "Is it open?"}]}),
        *((provider, {"role": "user", "content": "Is it open?"}) for provider in ("openai", "cohere", "cerebras")),
    ],
)
def test_user_text(provider: str, expected: Any) -> None:
    assert sent(provider, context(ASKS)) == [expected]


@pytest.mark.parametrize(
    ("provider", "expected"),
    [
        (
            "anthropic",
            [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I look."},
                        {"type": "tool_use", "id": "tu_1", "name": LOOK.name, "input": {"place": "mill"}},
                    ],
                }
            ],
        ),
        *(
            (provider, [{"role": "assistant", "content": "I look.", "tool_calls": [CHAT_CALL]}])
            for provider in ("openai", "cerebras")
        ),
        ("cohere", [{"role": "assistant", "tool_calls": [CHAT_CALL], "tool_plan": "I look."}]),
        (
            "openai-responses",
            [
                {"role": "assistant", "content": "I look."},
                {"type": "function_call", "call_id": "tu_1", "name": LOOK.name, "arguments": ARGUMENTS},
            ],
        ),
    ],
)
def test_tool_use(provider: str, expected: Any) -> None:
    context_ = context(ASKS, CALLS, says("user", result("tu_1", "open")))
    assert sent(provider, context_)[1:-1] == expected


def test_tool_use_for_gemini() -> None:
    _, called_, answered = sent("gemini", context(ASKS, CALLS, says("user", result("tu_1", "open"))))
    assert called_["role"] == "model"
    assert [part.get("functionCall", part.get("text")) for part in called_["parts"]] == [
        "I look.",
        {"id": "tu_1", "name": LOOK.name, "args": {"place": "mill"}},
    ]
    assert answered["role"] == "user"


@pytest.mark.parametrize("failed", [False, True])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_tool_results(provider: str, failed: bool) -> None:
    more = {"is_error": True} if failed else {}
    *_, last = sent(provider, context(ASKS, CALLS, says("user", result("tu_1", "open", **more))))
    words = "Error: open" if failed else "open"
    expected = {
        "anthropic": {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "tu_1",
                    "content": [{"type": "text", "text": "open"}],
                    **({"is_error": True} if failed else {}),
                }
            ],
        },
        "openai-responses": {
            "type": "function_call_output",
            "call_id": "tu_1",
            "output": words.replace(": ", ":\n") if failed else "open",
        },
        "gemini": {
            "role": "user",
            "parts": [
                {
                    "functionResponse": {
                        "id": "tu_1",
                        "name": LOOK.name,
                        "response": {"error" if failed else "output": "open"},
                    }
                }
            ],
        },
    }.get(provider, {"role": "tool", "tool_call_id": "tu_1", "content": words})
    assert last == expected


@pytest.mark.parametrize("provider", PROVIDERS)
def test_cache_marks_are_for_anthropic_alone(provider: str) -> None:
    marked = {"type": "text", "text": "Long.", "cache_control": {"type": "ephemeral"}}
    request = json.dumps(body(provider, context(says("user", marked))))
    assert ('"cache_control": {"type": "ephemeral"}' in request) is (provider == "anthropic")


# Tools and options


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tool_definitions(provider: str) -> None:
    named = {"name": LOOK.name, "description": LOOK.description}
    expected: Any = {
        "anthropic": {**named, "input_schema": LOOK.parameters},
        "openai-responses": {"type": "function", **named, "parameters": LOOK.parameters, "strict": False},
        "gemini": {"functionDeclarations": [{**named, "parameters": LOOK.parameters}]},
    }.get(provider, {"type": "function", "function": {**named, "parameters": LOOK.parameters}})
    assert body(provider, context(ASKS), [LOOK])["tools"] == [expected]


FUNCTION = {"type": "function", "function": {"name": LOOK.name}}


@pytest.mark.parametrize(
    ("provider", "key", "auto", "none", "required", "named"),
    [
        (
            *("anthropic", "tool_choice", {"type": "auto"}, {"type": "none"}, {"type": "any"}),
            {"type": "tool", "name": LOOK.name},
        ),
        ("openai", "tool_choice", "auto", "none", "required", FUNCTION),
        ("cerebras", "tool_choice", "auto", "none", "required", FUNCTION),
        ("openai-responses", "tool_choice", "auto", "none", "required", {"type": "function", "name": LOOK.name}),
        ("cohere", "tool_choice", None, "NONE", "REQUIRED", "REQUIRED"),
        (
            *("gemini", "toolConfig", {"mode": "AUTO"}, {"mode": "NONE"}, {"mode": "ANY"}),
            {"mode": "ANY", "allowedFunctionNames": [LOOK.name]},
        ),
    ],
)
def test_tool_mode(provider: str, key: str, auto: Any, none: Any, required: Any, named: Any) -> None:
    for mode, expected in (("auto", auto), ("none", none), ("required", required), (LOOK.name, named)):
        choice = body(provider, context(ASKS, tool_mode=mode), [LOOK]).get(key)
        assert choice == ({"functionCallingConfig": expected} if provider == "gemini" else expected)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_search(provider: str) -> None:
    context_ = context(ASKS, search=True)
    if provider in ("cohere", "cerebras"):
        with pytest.raises(UnsupportedContent, match="search"):
            body(provider, context_)
        return
    request = body(provider, context_)
    expected = {"openai-responses": "web_search", "gemini": "googleSearch", "openai": "web_search_options"}
    assert expected.get(provider, "web_search_") in json.dumps(request)


def test_options_are_those_of_the_context(unspool: Run) -> None:
    context_ = {**context_json(), "options": {"provider_ptr": "anthropic/tin-1", "tool_mode": "none", "servers": []}}
    request = json.loads(unspool("request", "-", "--json", stdin=json.dumps(context_).encode()).stdout)
    assert request["model"] == "tin-1"


def context_json() -> dict[str, Any]:
    return {"messages": [ASKS]}


# Documents × providers

TEXTS = ("text/plain", "text/markdown", "text/csv", "application/json")
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
TAKEN = {
    "anthropic": {"image/png": '"type": "image"', "application/pdf": '"type": "document"'},
    "openai": {"image/png": '"type": "image_url"', "application/pdf": '"type": "file"'},
    "openai-responses": {"image/png": '"type": "input_image"', "application/pdf": '"type": "input_file"'},
    "gemini": {"image/png": '"mimeType": "image/png"', "application/pdf": '"mimeType": "application/pdf"'},
    "cohere": {"image/png": '"type": "image_url"'},
    "cerebras": {},
}
HELLO = "UnllIGFuZCB3aGVhdA=="


@pytest.mark.parametrize("media_type", ["image/png", "application/pdf", DOCX, *TEXTS])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_documents(provider: str, media_type: str) -> None:
    """Text is sent as text, media natively where the provider takes them; all else is refused before it is sent."""
    text = media_type in TEXTS
    context_ = context(says("user", paper(media_type, HELLO if text else POINT), "What is it?"))
    form = "Rye and wheat" if text else TAKEN[provider].get(media_type)
    if form is None:
        with pytest.raises(UnsupportedContent, match=media_type.replace("+", r"\+")):
            body(provider, context_)
    else:
        assert form in json.dumps(body(provider, context_))
