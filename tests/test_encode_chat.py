"""The way back: messages of the model as chat messages."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.ingest.open import read_exchanges
from unspool.model import (
    Block,
    Compaction,
    Document,
    Exchange,
    Message,
    Other,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
)
from unspool.wires.openai_chat.decode import decode, tools
from unspool.wires.openai_chat.encode import encode, encode_tool

FOLDER = Path(__file__).parent / "wires"
CASES = sorted(
    path
    for path in (FOLDER / "openai").glob("*.json")
    if not path.name.endswith(".golden.json") and path.stem != "ollama"  # read as it is, but written as OpenAI's
)
EVERY = sorted(path for path in FOLDER.glob("*/*.json") if not path.name.endswith(".golden.json"))


def without_nothing(value: Any) -> Any:
    """Without what the model does not tell from nothing: nulls, and empty lists of annotations and calls."""
    if isinstance(value, list):
        return [without_nothing(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: without_nothing(inner) for key, inner in value.items() if inner is not None}
    return {key: inner for key, inner in kept.items() if not (inner == [] and key in ("annotations", "tool_calls"))}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_what_was_decoded_is_encoded_as_it_stood(case: Path) -> None:
    for record in json.loads(case.read_text()):
        response = record.get("response") or {}
        answers = [choice["message"] for choice in response.get("choices", ()) if "message" in choice]
        for message in [*record["request"].get("messages", ()), *answers]:
            assert encode(decode("messages", message)) == [without_nothing(message)]
        for tool in record["request"].get("tools", ()):
            assert [encode_tool(each) for each in tools(tool)] == [{"type": "function", **tool}]


ODD: list[dict[str, Any]] = [
    {"role": "user", "content": ""},
    {"role": "user", "content": []},
    {"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]},
    {"role": "user", "content": [{"type": "image_url", "image_url": "https://example.com/a.png"}]},
    {"role": "user", "content": [{"type": "video_url", "video_url": {"url": "https://example.com/a.mp4"}}]},
    {"role": "user", "content": [{"type": "file", "file": {"file_data": "cGRm", "filename": "a.pdf"}}]},
    {"role": "user", "content": [{"type": "holo", "holo": {"deep": [1, None]}}]},
    {"role": "assistant", "content": "Hi", "reasoning": "They greet"},
    {"role": "assistant", "content": "Hi", "annotations": [{"type": "url_citation"}], "name": "bot"},
    {"role": "assistant", "audio": {"id": "audio_1"}},
    {
        "role": "assistant",
        "content": "Look",
        "images": [{"type": "image_url", "image_url": {"url": "data:;base64,aQ=="}}],
    },
    {"role": "assistant", "content": "x", "tool_calls": [{"odd": 1}, "stranger"]},
    {"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "a"}], "name": "f", "is_error": True},
    {"role": "tool", "tool_call_id": "c", "content": ""},
    {"role": "critic", "content": "No"},
]


@pytest.mark.parametrize("message", ODD, ids=repr)
def test_odd_ones_too(message: dict[str, Any]) -> None:
    assert encode(decode("messages", message)) == [message]


TEXT = st.text(max_size=6)
ARGUMENTS = st.one_of(TEXT, st.dictionaries(TEXT, st.one_of(st.integers(), TEXT, st.none())).map(json.dumps))
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "id": TEXT,
            "type": st.just("function"),
            "function": st.fixed_dictionaries({"name": TEXT, "arguments": ARGUMENTS}),
        }
    ),
    min_size=1,
    max_size=3,
)
PARTS = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}), min_size=1, max_size=3)
CONTENT = st.one_of(TEXT, PARTS)


@given(
    st.one_of(
        st.fixed_dictionaries({"role": st.sampled_from(["system", "user", "developer"]), "content": CONTENT}),
        st.fixed_dictionaries({"role": st.just("tool"), "tool_call_id": TEXT, "content": CONTENT}),
        st.fixed_dictionaries(
            {"role": st.just("assistant")},
            optional={"content": CONTENT, "tool_calls": CALLS, "reasoning_content": TEXT.filter(bool)},
        ),
    )
)
def test_any_message_comes_back_with_its_arguments_letter_by_letter(message: dict[str, Any]) -> None:
    assert encode(decode("messages", message)) == [message]


def test_a_foreign_answer() -> None:
    blocks = (
        Thinking("First look", signature="sig"),
        Other("mcp_list_tools", {"type": "mcp_list_tools", "tools": []}, known=True),
        Text("Let me look.", extra={"cache_control": {}}),
        ToolUse("t1", "Bash", {"command": "ls"}),
        ToolUse("t2", "Patch", None, "*** Begin"),
        ToolUse("t3", "exec", None, "{ run() }", extra={"type": "custom_tool_call"}),
        ToolUse("t4", "Bash", None, '{"command": "l'),
    )
    (message,) = encode(Message("assistant", blocks, extra={"id": "msg_1"}), foreign=True)
    assert message == {
        "role": "assistant",
        "content": "Let me look.",
        "reasoning_content": "First look",
        "tool_calls": [
            {"id": "t1", "type": "function", "function": {"name": "Bash", "arguments": '{"command":"ls"}'}},
            {"id": "t2", "type": "function", "function": {"name": "Patch", "arguments": '{"input":"*** Begin"}'}},
            {"id": "t3", "type": "function", "function": {"name": "exec", "arguments": '{"input":"{ run() }"}'}},
            {"id": "t4", "type": "function", "function": {"name": "Bash", "arguments": '{"command": "l'}},
        ],
    }


def test_foreign_results_are_messages_of_their_own() -> None:
    picture = Document("image", "base64", "aWNvbg==", "image/png")
    blocks = (
        ToolResult("t1", (Text("a"), Text("b"))),
        ToolResult("t2", (Text("boom"),), True, "Bash"),
        ToolResult("t3", (), True),
        ToolResult("t4", (Text("see"), picture)),
        Text("Go on"),
        picture,
    )
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aWNvbg=="}}
    assert encode(Message("user", blocks), foreign=True) == [
        {"role": "tool", "content": "a\nb", "tool_call_id": "t1"},
        {"role": "tool", "content": "boom", "tool_call_id": "t2", "name": "Bash", "is_error": True},
        {"role": "tool", "content": "Error", "tool_call_id": "t3", "is_error": True},
        {"role": "tool", "content": [{"type": "text", "text": "see"}, image], "tool_call_id": "t4"},
        {"role": "user", "content": [{"type": "text", "text": "Go on"}, image]},
    ]


def test_a_search_whose_finds_nobody_is_shown_comes_before_what_was_found() -> None:
    searches = [ToolUse(f"ws_{number}", "web_search", {"query": "tea"}, server_side=True) for number in (1, 2)]
    blocks: tuple[Block, ...] = (Thinking("Search."), *searches, Thinking("Enough."), Text("Tea is hot."))
    asked, *results, said = encode(Message("assistant", blocks), foreign=True)
    assert (asked["reasoning_content"], [call["id"] for call in asked["tool_calls"]]) == ("Search.", ["ws_1", "ws_2"])
    assert results == [
        {"role": "tool", "content": "", "tool_call_id": f"ws_{number}", "name": "web_search"} for number in (1, 2)
    ]
    assert said == {"role": "assistant", "content": "Tea is hot.", "reasoning_content": "Enough."}


@pytest.mark.parametrize(
    "blocks",
    [
        (Text("I look."), ToolUse("ws_1", "web_search", {}, server_side=True)),
        (ToolUse("ws_1", "web_search", {}, server_side=True), Thinking("")),
        (ToolUse("c_1", "run", {}), ToolUse("ws_1", "web_search", {}, server_side=True), Text("Both.")),
        (ToolUse("c_1", "run", {}), Text("Running.")),
    ],
)
def test_calls_that_are_answered_later_or_never_stay_in_one_message(blocks: tuple[Block, ...]) -> None:
    (message,) = encode(Message("assistant", blocks), foreign=True)
    assert len(message["tool_calls"]) == sum(isinstance(block, ToolUse) for block in blocks)


def test_foreign_prompts_refusals_summaries_and_strangers() -> None:
    assert encode(Message("system", (Text("One."), Text("Two."))), foreign=True) == [
        {"role": "system", "content": "One.\n\nTwo."}
    ]
    assert encode(Message("assistant", (Text("No.", refusal=True),)), foreign=True) == [
        {"role": "assistant", "refusal": "No."}
    ]
    blocks = (
        Compaction("So far so good."),
        Other("search_result", {"url": "a"}),
        Document("document", "text", "paper"),
    )
    assert encode(Message("user", blocks), foreign=True) == [
        {"role": "user", "content": 'So far so good.\n\n{"url":"a"}\n\npaper'}
    ]
    assert encode(Message("assistant", (Thinking("", redacted=True),)), foreign=True) == [
        {"role": "assistant", "content": ""}
    ]


def test_tools_that_come_on_the_way_are_not_told_in_foreign_messages() -> None:
    added = Other("additional_tools", {"type": "additional_tools", "tools": []}, known=True)
    assert encode(Message("system", (added,)), foreign=True) == []
    assert encode(Message("system", (Text("There is more."), added)), foreign=True) == [
        {"role": "system", "content": "There is more."}
    ]


def test_what_the_provider_ran_stands_between_two_messages() -> None:
    blocks = (
        Text("Searching"),
        ToolUse("s1", "web_search", {"query": "tea"}, server_side=True),
        ToolResult("s1", (Other("web_search_result", {"url": "u"}, known=True),), server_side=True),
        Text("Tea is a drink"),
    )
    roles = [message["role"] for message in encode(Message("assistant", blocks), foreign=True)]
    assert roles == ["assistant", "tool", "assistant"]


def test_foreign_tools() -> None:
    schema = {"type": "object", "properties": {}}
    function = {"name": "Bash", "description": "Run", "parameters": schema}
    assert encode_tool(Tool("Bash", "Run", schema, extra={"cache_control": {}}), foreign=True) == {
        "type": "function",
        "function": function,
    }
    grammar = {"type": "grammar", "syntax": "lark", "definition": "start: hunk+"}
    patch = Tool("apply_patch", "Patch files", extra={"type": "custom", "format": grammar})
    given = {"type": "string", "description": "start: hunk+"}
    takes = {"type": "object", "properties": {"input": given}, "required": ["input"]}
    assert encode_tool(patch, foreign=True)["function"] == {
        "name": "apply_patch",
        "description": "Patch files",
        "parameters": takes,
    }
    search = Tool("web_search", "", {}, True, {"type": "web_search_20250305", "max_uses": 3})
    assert encode_tool(search, foreign=True) == {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}


@pytest.mark.parametrize("case", EVERY, ids=lambda case: f"{case.parent.name}/{case.stem}")
def test_whatever_was_read_can_be_written(case: Path) -> None:
    """Every message of every wire, as chat messages that say all of its words."""
    for exchange in read_exchanges(case):
        if not isinstance(exchange, Exchange):
            continue
        foreign = exchange.wire != "openai"
        for message in (*exchange.messages, *exchange.response.messages):
            written = encode(message, foreign)
            text = json.dumps(written, ensure_ascii=False)
            assert all(each["role"] for each in written)
            for block in message.blocks:
                if isinstance(block, Text | Thinking):
                    assert json.dumps(block.text, ensure_ascii=False)[1:-1] in text
                if isinstance(block, ToolUse):
                    assert any(call["function"]["name"] == block.name for call in _calls(written)), block
                if isinstance(block, ToolResult):
                    assert any(each["role"] in ("tool", "function") for each in written)
        assert json.dumps([encode_tool(tool, foreign) for tool in exchange.tools])


def _calls(written: list[dict[str, Any]]) -> list[dict[str, Any]]:
    called = [call for message in written for call in message.get("tool_calls", ())]
    legacy = [{"function": message["function_call"]} for message in written if "function_call" in message]
    return [call if "function" in call else {"function": call.get("custom", call)} for call in [*called, *legacy]]
