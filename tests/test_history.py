"""What every provider asks of the history that it is sent: the rules of `wires/history.py`, one by one."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from contexts import LOOK, PROVIDERS, body, called, context, flat, paper, prepared, result, says
from unspool.errors import UnsupportedContent, WrongContext
from unspool.model import Context, Message, Said, Text, Thinking, ToolUse
from unspool.wires.calls import UNANSWERED
from unspool.wires.normalised import read_context, write_context

SIGNED = {"type": "thinking", "thinking": "secret thoughts", "signature": "c2ln"}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_thinking_goes_back_to_nobody_else(provider: str) -> None:
    for writer in ("claude", "gemini", "responses", "openai", "cohere"):
        thought = {**SIGNED, "encrypted": "Y2lwaGVy"}
        said = says("assistant", thought, {"type": "text", "text": "A cat.", "signature": "dGV4dA=="}, api=writer)
        sent = flat(body(provider, context(says("user", "Hi"), said, says("user", "And?"))))
        own = {"anthropic": "claude", "gemini": "gemini", "openai-responses": "responses"}.get(provider)
        assert ("c2ln" in sent) == (writer == own and own != "responses")
        assert ("Y2lwaGVy" in sent) == (writer == own == "responses")
        assert ("dGV4dA==" in sent) == (writer == own == "gemini")
        assert ("secret thoughts" in sent) == (writer == own and own != "responses")
        assert "<think" not in sent
        assert "A cat." in sent


def test_thinking_of_another_host_of_the_same_api_stays_away() -> None:
    said = says("assistant", SIGNED, "A cat.", api="claude", provider="workshop")
    assert "c2ln" not in flat(body("anthropic", context(says("user", "Hi"), said, says("user", "And?"))))


@pytest.mark.parametrize("signature", [None, ""])
def test_a_thought_without_its_signature_is_not_sent(signature: str | None) -> None:
    thought = Thinking("half a thou", signature)
    said = Said(Message("assistant", (thought, Text("Yes."))), api="claude")
    given = Context((Said(Message("user", (Text("Hi"),))), said, Said(Message("user", (Text("Go on"),)))))
    sent = body("anthropic", given)
    assert sent["messages"][1]["content"] == [{"type": "text", "text": "Yes."}]


@pytest.mark.parametrize("provider", ["anthropic", "openai-responses"])
def test_an_answer_that_ended_while_the_model_thought_does_not_end_in_thinking(provider: str) -> None:
    writer = "claude" if provider == "anthropic" else "responses"
    thought = {**SIGNED, "encrypted": "Y2lwaGVy"}
    nothing = says("assistant", thought, api=writer)
    half = says("assistant", thought, "A cat.", thought, api=writer)
    sent = flat(body(provider, context(says("user", "Hi"), nothing, says("user", "And?"), half, says("user", "So?"))))
    assert [sent.count(mark) for mark in ("secret thoughts", "Y2lwaGVy")] == ([1, 0] if writer == "claude" else [0, 1])
    pieces = [nothing, says("assistant", "A cat.", api=writer)]  # one answer in two messages
    whole = flat(body(provider, context(says("user", "Hi"), *pieces, says("user", "And?"))))
    assert ("secret thoughts" if writer == "claude" else "Y2lwaGVy") in whole


def test_redacted_thinking_goes_back_whole() -> None:
    said = says("assistant", {"type": "redacted_thinking", "data": "eHg="}, "Yes.", api="claude")
    sent = body("anthropic", context(says("user", "Hi"), said, says("user", "And?")))
    assert sent["messages"][1]["content"][0] == {"type": "redacted_thinking", "data": "eHg="}


@pytest.mark.parametrize(
    "block",
    [
        {"type": "compaction", "content": "Cats were counted.", "signature": "c2ln", "tool_changes": []},
        {"type": "compaction", "content": None},
    ],
)
def test_a_summary_of_the_provider_s_own_goes_back_as_it_came(block: dict[str, Any]) -> None:
    said = says("assistant", block, "Nine.", api="claude")
    sent = body("anthropic", context(says("user", "Hi"), said, says("user", "And?")))
    assert sent["messages"][1]["content"][0] == block


def test_ids_that_a_provider_refuses_are_rewritten_in_call_and_result() -> None:
    given = context(
        says("user", "Hi"), says("assistant", called("functions.look:0")), says("user", result("functions.look:0", "x"))
    )
    sent = body("anthropic", given, [LOOK])
    call, answer = sent["messages"][1]["content"][0], sent["messages"][2]["content"][0]
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["id"])
    assert call["id"] == answer["tool_use_id"]
    assert body("openai", given, [LOOK])["messages"][1]["tool_calls"][0]["id"] == "functions.look:0"
    assert body("anthropic", given, [LOOK]) == sent  # the same each time


def test_ids_that_are_missing_or_double_become_unique() -> None:
    given = context(
        says("user", "Hi"),
        says("assistant", called(None, place="a"), called(None, place="b")),
        says("user", result(None, "first"), result(None, "second")),
        says("assistant", called("x", place="c")),
        says("user", result("x", "third")),
        says("assistant", called("x", place="d")),
        says("user", result("x", "fourth")),
    )
    messages = body("openai", given, [LOOK])["messages"]
    ids = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert len(set(ids)) == 4
    answers = [(message["tool_call_id"], message["content"]) for message in messages if message["role"] == "tool"]
    assert answers == list(zip(ids, ["first", "second", "third", "fourth"], strict=True))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_call_without_a_result_gets_one_that_says_so(provider: str) -> None:
    given = context(
        says("user", "Hi"), says("assistant", called("a"), called("b")), says("user", result("b", "seen"), "Hm")
    )
    sent = flat(body(provider, given, [LOOK]))
    assert UNANSWERED in sent
    assert sent.index(UNANSWERED) < sent.index("seen") < sent.index("Hm")


def test_results_that_came_late_are_moved_to_their_calls() -> None:
    given = context(
        says("user", "Hi"),
        says("assistant", called("a")),
        says("user", "Hurry up"),
        says("assistant", "Yes"),
        says("user", result("a", "seen")),
    )
    messages = body("anthropic", given, [LOOK])["messages"]
    assert [block["type"] for block in messages[2]["content"]] == ["tool_result", "text"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "assistant"]


def test_a_result_without_its_call_is_said_in_words() -> None:
    sent, warnings = prepared(
        "openai", context(says("user", result("nobody", "seen", name="look")), says("user", "Hm"))
    )
    assert sent["messages"][0] == {"role": "user", "content": "[look gave: seen]"}
    assert warnings == ["message 1: a result without its call is sent as text"]


@pytest.mark.parametrize(("provider", "merged"), [("anthropic", True), ("gemini", True), ("openai", False)])
def test_neighbours_of_one_role_are_one_message_where_that_is_wanted(provider: str, merged: bool) -> None:
    sent = body(provider, context(says("user", "one"), says("system", "be kind"), says("user", "two")))
    said = sent.get("contents") or [message for message in sent["messages"] if message["role"] == "user"]
    assert len(said) == (1 if merged else 2)
    assert flat(sent).index("one") < flat(sent).index("two")


def test_order_of_blocks_is_kept() -> None:
    given = context(says("user", "one", paper("image/png"), "two", paper("application/pdf"), "three"))
    kinds = [part["type"] for part in body("anthropic", given)["messages"][0]["content"]]
    assert kinds == ["text", "image", "text", "document", "text"]
    kinds = [part["type"] for part in body("openai", given)["messages"][0]["content"]]
    assert kinds == ["text", "image_url", "text", "file", "text"]


def test_what_a_host_of_chats_ran_itself_does_not_go_back() -> None:
    ran = {"type": "server_tool_use", "id": "call_0", "name": "search", "input": {"query": "Oslo"}}
    gave = {**result("call_0", "rain", name="search"), "type": "server_tool_result"}
    given = context(says("user", "Hi"), says("assistant", ran, gave, "Wet.", api="openai"), says("user", "And Rome?"))
    messages = body("openai", given)["messages"]
    assert [(message["role"], message["content"]) for message in messages] == [
        ("user", "Hi"),
        ("assistant", "Wet."),
        ("user", "And Rome?"),
    ]
    assert "tool_calls" not in messages[1]


def test_that_a_tool_failed_is_said() -> None:
    given = context(
        says("user", "Hi"), says("assistant", called("a")), says("user", result("a", "no cat", is_error=True))
    )
    assert body("anthropic", given)["messages"][2]["content"][0]["is_error"] is True
    assert body("openai", given)["messages"][2]["content"] == "Error: no cat"
    assert body("gemini", given)["contents"][2]["parts"][0]["functionResponse"]["response"] == {"error": "no cat"}


def test_of_many_cache_marks_the_last_four_stay_wherever_they_stand() -> None:
    marked = {"type": "text", "text": "system", "cache_control": {"type": "ephemeral"}}
    given = context(says("system", marked), *(says("user", f"turn {number}", cache=True) for number in range(6)))
    sent = body("anthropic", given)
    assert "cache_control" not in sent["system"][0]
    marks = ["cache_control" in part for part in sent["messages"][0]["content"]]
    assert marks == [False, False, True, True, True, True]
    few = context(says("system", marked), says("user", "Hi", cache=True))
    assert flat(body("anthropic", few)).count("cache_control") == 2
    assert "cache_control" not in flat(body("openai", few))


def test_foreign_calls_of_server_tools_are_told() -> None:
    searched = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "cats"}}
    said = says("assistant", searched, "Cats purr.", api="claude")
    sent, warnings = prepared("openai", context(says("user", "Hi"), said, says("user", "And?")))
    assert "called web_search" in sent["messages"][1]["content"]
    assert len(warnings) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_nobody_knows_who_ran_is_no_call_that_waits_for_a_result(provider: str) -> None:
    searched = {"type": "server_tool_use", "id": "ws_1", "name": "web_search", "input": {"query": "cats"}}
    given = context(says("user", "Hi"), says("assistant", searched, "Cats purr."), says("user", "And?"))
    sent, warnings = prepared(provider, given)
    told = flat(sent)
    assert "called web_search" in told
    assert not any(word in told for word in ("tool_calls", "server_tool_use", "toolCall", "web_search_call"))
    assert not any("None" in warning for warning in warnings)


def test_what_a_provider_s_own_tool_gave_is_told_where_its_call_is() -> None:
    ran = {"type": "server_tool_use", "id": "ci_1", "name": "code_interpreter", "input": {"code": "6 * 7"}}
    gave = {"type": "server_tool_result", "tool_use_id": "ci_1", "content": [{"type": "text", "text": "forty-two"}]}
    given = context(says("user", "Hi"), says("assistant", ran, gave, "There.", api="responses"), says("user", "And?"))
    said = [item["content"] for item in body("openai-responses", given)["input"][1:4]]
    assert said == ['[called code_interpreter: {"code":"6 * 7"}]', "[tool gave: forty-two]", "There."]
    whole = {**ran, "extra": {"raw": {"type": "code_interpreter_call", "id": "ci_1", "outputs": []}}}
    given = context(says("user", "Hi"), says("assistant", whole, gave, "There.", api="responses"), says("user", "And?"))
    assert len(body("openai-responses", given)["input"]) == 4


def test_an_item_that_only_another_provider_knows_is_not_sent_as_it_came() -> None:
    listed = {
        "type": "other",
        "kind": "mcp_list_tools",
        "value": {"type": "mcp_list_tools", "tools": []},
        "known": True,
    }
    given = context(says("user", "Hi"), says("assistant", listed, "There.", api="responses"), says("user", "And?"))
    with pytest.raises(UnsupportedContent, match="message 2: Anthropic takes no block of type mcp_list_tools"):
        body("anthropic", given)
    sent, warnings = prepared("anthropic", given, lenient=True)
    assert [part["type"] for part in sent["messages"][1]["content"]] == ["text", "text"]
    assert len(warnings) == 1
    assert body("openai-responses", given)["input"][1]["type"] == "mcp_list_tools"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_tools_that_came_on_the_way_are_sent_as_tools_alone(provider: str) -> None:
    added = {"type": "other", "kind": "additional_tools", "known": True, "value": {"type": "additional_tools"}}
    plain = context(says("user", "Hi"))
    assert body(provider, context(says("system", added), says("user", "Hi")), [LOOK]) == body(provider, plain, [LOOK])


def test_what_has_an_id_of_anthropic_is_anthropic_s_own() -> None:
    searched = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "cats"}}
    about = {"tool_use_id": "srvtoolu_1", "content": [], "extra": {"type": "web_search_tool_result"}}
    found = {"type": "server_tool_result", **about}
    given = context(says("user", "Hi"), says("assistant", searched, found, "Cats purr."), says("user", "And?"))
    sent, warnings = prepared("anthropic", given)
    types = [part["type"] for part in sent["messages"][1]["content"]]
    assert types == ["server_tool_use", "web_search_tool_result", "text"]
    assert warnings == []


def test_gemini_gets_a_stand_in_for_signatures_of_calls_that_others_made() -> None:
    given = context(says("user", "Hi"), says("assistant", called("a"), called("b"), api="claude"))
    for model in ("gemini-3-pro", "gemini-flash-latest", "gemini-pro-latest"):
        parts = body("gemini", given, [LOOK], model=model)["contents"][1]["parts"]
        assert [part.get("thoughtSignature") for part in parts] == ["skip_thought_signature_validator", None]
    older = body("gemini", given, [LOOK], model="gemini-2.5-pro")["contents"][1]["parts"]
    assert "thoughtSignature" not in older[0]
    own = says("assistant", {**called("a"), "signature": "c2ln"}, api="gemini")
    assert body("gemini", context(says("user", "Hi"), own))["contents"][1]["parts"][0]["thoughtSignature"] == "c2ln"


def test_a_conversation_that_the_assistant_begins_is_opened() -> None:
    given = context(says("system", "Be kind."), says("assistant", "Welcome."), says("user", "Hi"))
    assert [message["role"] for message in body("anthropic", given)["messages"]] == ["user", "assistant", "user"]
    assert [message["role"] for message in body("openai", given)["messages"]] == ["system", "assistant", "user"]


def test_anthropic_is_sent_no_text_of_blanks_alone() -> None:
    said = says("assistant", "\n\n", called("t"), api="claude")
    sent = body("anthropic", context(says("user", "Hi", " "), said, says("user", result("t", "\n"))))
    assert sent["messages"][0]["content"] == [{"type": "text", "text": "Hi"}]
    assert [block["type"] for block in sent["messages"][1]["content"]] == ["tool_use"]
    assert "content" not in sent["messages"][2]["content"][0]
    with pytest.raises(WrongContext, match="no message to answer"):
        body("anthropic", context(says("user", " \n")))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        (ToolUse("t", "patch", None, "*** Begin Patch"), {"input": "*** Begin Patch"}),  # a tool of free text
        (ToolUse("t", "patch", None, '{"file": "a'), {"input": '{"file": "a'}),  # cut off
        (ToolUse("t", "patch", {}, ""), {}),
        (ToolUse("t", "patch", {"file": "a"}, '{ "file": "a" }'), {"file": "a"}),
    ],
)
def test_arguments_are_json_whatever_the_model_wrote(provider: str, call: ToolUse, wanted: dict[str, str]) -> None:
    asked = Said(Message("user", (Text("Hi"),)))
    sent = body(provider, Context((asked, Said(Message("assistant", (call,)), api="elsewhere"))))
    match provider:
        case "anthropic":
            given = sent["messages"][1]["content"][0]["input"]
        case "gemini":
            given = sent["contents"][1]["parts"][0]["functionCall"]["args"]
        case "openai-responses":
            given = json.loads(sent["input"][1]["arguments"])
        case _:
            given = json.loads(sent["messages"][1]["tool_calls"][0]["function"]["arguments"])
    assert given == wanted


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_empty_context_is_no_request(provider: str) -> None:
    with pytest.raises(WrongContext, match="no message to answer"):
        body(provider, context(says("system", "Be kind")))


names = st.sampled_from(["a", "b", "c.d", ""])
texts = st.sampled_from(["", "x", "two words"])
blocks = st.one_of(
    texts.map(lambda text: {"type": "text", "text": text}),
    names.map(lambda name: called(name or None)),
    st.tuples(names, texts).map(lambda both: result(both[0] or None, both[1])),
    st.just(SIGNED),
    st.just(paper("image/png")),
    st.just(paper("text/plain", "SGk=", title="t")),
)
messages = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "system"]), st.lists(blocks, max_size=4)).map(
        lambda both: {"role": both[0], "content": both[1]}
    ),
    max_size=8,
)


@example(said=[{"role": "user", "content": []}, {"role": "assistant", "content": [{"type": "text", "text": "x"}]}])
@given(said=messages)
def test_any_history_becomes_a_valid_one(said: list[dict[str, Any]]) -> None:
    """Of each call there is one result, right behind it, and no result is without its call."""
    given = context(*said)
    assert write_context(read_context(write_context(given))) == write_context(given)
    try:
        sent = body("anthropic", given)
    except WrongContext:
        return
    open_calls: list[str] = []
    assert sent["messages"][0]["role"] == "user"
    for message in sent["messages"]:
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        assert results == open_calls
        kinds = [block["type"] == "tool_result" for block in message["content"]]
        assert kinds == sorted(kinds, reverse=True)
        open_calls = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    assert open_calls == []
    for one, other in zip(sent["messages"], sent["messages"][1:], strict=False):
        assert one["role"] != other["role"]


def test_items_go_back_by_their_ids_only_with_their_reasoning() -> None:
    search = {"type": "server_tool_use", "id": "ws_1", "name": "web_search", "input": {"query": "cat"}}
    search["extra"] = {"type": "web_search_call"}
    text = {"type": "text", "text": "A cat.", "extra": {"item": {"id": "msg_1"}}}
    for cipher, kinds in (("Y2lwaGVy", ["reasoning", "web_search_call", "message"]), (None, [None, None])):
        thought = {"type": "thinking", "thinking": "hm", "extra": {"id": "rs_1"}, "encrypted": cipher}
        said = says("assistant", thought, search, text, api="responses")
        items = body("openai-responses", context(says("user", "Hi"), said, says("user", "And?")))["input"][1:-1]
        assert [item.get("type") for item in items] == kinds
        assert ("ws_1" in flat(items), "msg_1" in flat(items)) == (bool(cipher), bool(cipher))
        assert "A cat." in flat(items)


def test_a_search_that_was_cut_off_is_no_call_that_waits_for_its_result() -> None:
    """Unless the provider can still go on with it: at the end, or when only results of other calls are behind it."""
    search = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "cat"}}
    found: dict[str, Any] = {"type": "server_tool_result", "name": "web_search", "tool_use_id": "srvtoolu_1"}
    found |= {"content": [], "extra": {"type": "web_search_tool_result"}}
    begun = [says("user", "Hi"), says("assistant", search, called("t1"), api="claude")]
    late = [says("user", result("t1", "x")), says("assistant", found, "A cat.", api="claude"), says("user", "And?")]
    for behind, kept in (([], True), (late[:1], True), (late, True), ([*late[:1], says("user", "No")], False)):
        sent, warnings = prepared("anthropic", context(*begun, *behind))
        kinds = [part["type"] for part in sent["messages"][1]["content"]]
        assert kinds == ["server_tool_use" if kept else "text", "tool_use"]
        assert bool(warnings) != kept


@pytest.mark.parametrize("host", [None, "workshop"])
@pytest.mark.parametrize("given", [{"extra": {"type": "custom_tool_call_output"}}, {}, None])
def test_the_result_of_a_call_of_free_text_is_of_its_kind(host: str | None, given: dict[str, Any] | None) -> None:
    """Whoever wrote the result: the API, a person, or nobody. Of another host it is a call like others."""
    call = {"type": "tool_use", "id": "c1", "name": "patch", "input_text": "*** Begin"}
    said = says("assistant", {**call, "extra": {"type": "custom_tool_call"}}, api="responses", provider=host)
    answers = [] if given is None else [says("user", result("c1", "ok", **given))]
    items = body("openai-responses", context(says("user", "Hi"), said, *answers))["input"]
    kind = "function_call" if host else "custom_tool_call"
    assert [item.get("type") for item in items] == [None, kind, f"{kind}_output"]
