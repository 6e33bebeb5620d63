"""Codex: what its newer logs tell only as items that were completed, and what its program did beside the model."""

from typing import Any

import pytest

from test_reader_codex import events, fed, header, line
from unspool.model import Event, Note
from unspool.model.event import AgentSpawn, Compacted, Notification, ToolCall, ToolOutput
from unspool.readers.codex.transient import TRANSIENT


def item(**more: Any) -> dict[str, Any]:
    return line("event_msg", type="item_completed", turn_id="t", item=more)


def contents(*lines: dict[str, Any]) -> list[Any]:
    return [event.content for event in events([header(), *lines])]


def test_a_review_that_is_told_as_items() -> None:
    entered = item(type="EnteredReviewMode", id="a", target={"type": "custom"}, user_facing_hint="the last commit")
    finding = {"title": "Wrong sign", "body": "It adds."}
    exited = item(
        type="ExitedReviewMode", id="b", review_output={"overall_explanation": "One flaw.", "findings": [finding]}
    )
    assert contents(entered, exited) == [
        Notification("review of the last commit", "info"),
        Notification("One flaw.\n\nWrong sign\nIt adds.", "info"),
    ]


def test_why_a_tool_of_a_server_failed() -> None:
    failed = item(
        type="McpToolCall",
        id="c",
        server="tides",
        tool="ask",
        arguments={},
        status="failed",
        error={"message": "no sea"},
    )
    call, output = contents(failed)
    assert call.name == "mcp__tides__ask"
    assert output == ToolOutput("c", "no sea", True)


def test_a_tool_of_the_client_keeps_its_namespace_and_its_error() -> None:
    call, output = contents(
        item(
            type="DynamicToolCall",
            id="c",
            namespace="desk",
            tool="open",
            arguments={"a": 1},
            success=False,
            error="shut",
        )
    )
    assert (call.name, call.given) == ("desk__open", {"a": 1})
    assert output == ToolOutput("c", "shut", True)


def test_a_picture_that_an_extension_made() -> None:
    call, output = contents(
        item(
            type="Extension", kind="image_gen.generation", id="p", status="completed", revisedPrompt="a gull",
            result="", savedPath="/w/gull.png",
        )
    )  # fmt: skip
    assert (call.name, call.given) == ("image_generation", {"prompt": "a gull"})
    assert output == ToolOutput("p", "[image: /w/gull.png]", False)


def test_an_output_that_stands_only_as_an_item() -> None:
    call, output = contents(item(type="FunctionCallOutput", id="c", name="fetch", output="a page"))
    assert isinstance(call, ToolCall)
    assert call.name == "fetch"
    assert output == ToolOutput("c", "a page", False)


def test_an_output_that_stands_in_the_log_already() -> None:
    call = line("response_item", type="function_call", name="fetch", arguments="{}", call_id="c")
    output = line("response_item", type="function_call_output", call_id="c", output="a page")
    told = contents(call, output, item(type="FunctionCallOutput", id="c", name="fetch", output="a page"))
    assert [type(content) for content in told] == [ToolCall, ToolOutput]


def test_an_agent_that_a_script_began() -> None:
    script = line("response_item", type="custom_tool_call", name="exec", input="spawn()", call_id="c")
    about = {"thread_id": "kid", "agent_nickname": "Curie", "agent_role": "explorer"}
    asked: dict[str, Any] = {"type": "CollabAgentToolCall", "sender_thread_id": "root", "prompt": "look"}
    began = item(**asked, id="1", tool="spawnAgent", receiver_thread_ids=["kid"], receiver_agents=[about])
    wrote = item(**asked, id="2", tool="sendInput", receiver_thread_ids=["kid", "other"])
    newer = item(type="SubAgentActivity", id="3", kind="started", agent_thread_id="cub", agent_path="/root/cub")
    told = [event.content for event in events([header(history_mode="paginated"), script, began, wrote, newer])]
    assert told[1:] == [AgentSpawn("kid", "c", "explorer", "look"), AgentSpawn("cub", "c", None, "/root/cub")]


def test_an_agent_that_no_call_of_the_log_began() -> None:
    began = item(type="CollabAgentToolCall", id="1", tool="spawnAgent", receiver_thread_ids=["kid"], prompt="look")
    assert contents(began) == [AgentSpawn("kid", None, None, "look")]


def test_an_agent_that_a_call_began_is_told_once() -> None:
    call = line("response_item", type="function_call", name="spawn_agent", arguments='{"message":"look"}', call_id="c")
    began = item(type="CollabAgentToolCall", id="c", tool="spawnAgent", receiver_thread_ids=["kid"], prompt="look")
    output = line("response_item", type="function_call_output", call_id="c", output='{"agent_id":"kid"}')
    told = contents(call, began, output)
    assert [type(content) for content in told] == [ToolCall, AgentSpawn, ToolOutput]
    assert told[1] == AgentSpawn("kid", "c", None, "look")


def test_hooks_are_told_if_they_said_something() -> None:
    silent = {"event_name": "post_tool_use", "status": "completed", "entries": []}
    blocked = {"event_name": "stop", "status": "blocked", "entries": [{"kind": "stop", "text": "tests first"}]}
    told = contents(*[line("event_msg", type="hook_completed", run=run) for run in (silent, blocked)])
    assert told == [Notification("hook stop: blocked\ntests first", "warning")]


def test_transient_events_are_passed_over() -> None:
    for reader, wrap in (("codex", lambda kind: line("event_msg", type=kind)), ("codex_exec", _message)):
        told = fed([header() if reader == "codex" else _message("session_configured"), *map(wrap, TRANSIENT)], reader)
        assert not [note for given in told for note in given if isinstance(note, Note)]


@pytest.mark.parametrize(
    ("name", "output", "failed"),
    [
        ("spawn_agent", '{"task_name":"/root/kid"}', False),
        ("spawn_agent", "agent_id: 019c0050-0000-7000-8000-000000000002", False),
        ("spawn_agent", "agent path `/root/kid` already exists", True),
        ("send_input", "019c0050-0000-7000-8000-000000000003", False),
        ("send_message", "", False),
        ("send_message", "live agent path `/root/kid` not found", True),
        ("create_goal", "goal objective must not be empty", True),
        ("read_mcp_resource", "unknown MCP server 'tea'", True),
        ("fetch", "unknown MCP server 'tea'", False),
    ],
)
def test_where_a_tool_gives_no_words_these_tell_of_a_failure(name: str, output: str, failed: bool) -> None:
    call = line("response_item", type="function_call", name=name, arguments="{}", call_id="c")
    told = contents(call, line("response_item", type="function_call_output", call_id="c", output=output))
    assert told[1] == ToolOutput("c", output, failed)


def test_that_tools_changed_is_passed_over() -> None:
    assert fed([header(), line("dynamic_tools_updated", dynamic_tools=[])])[1:] == [[], []]


def _message(kind: str) -> dict[str, Any]:
    return {"id": "0", "msg": {"type": kind}}


def test_the_older_stream_warns_and_looks() -> None:
    told = fed(
        [
            _message("session_configured"),
            {"id": "0", "msg": {"type": "warning", "message": "too long"}},
            {"id": "0", "msg": {"type": "view_image_tool_call", "call_id": "v", "path": "/w/a.png"}},
        ],
        "codex_exec",
    )
    warned, viewed = [event.content for given in told for event in given if isinstance(event, Event)]
    assert isinstance(viewed, ToolCall)
    assert warned == Notification("too long", "warning")
    assert (viewed.name, viewed.given) == ("view_image", {"path": "/w/a.png"})


def test_an_output_that_names_its_tool_in_place_of_its_call() -> None:
    call, output = contents(line("response_item", type="function_call_output", id="o", name="report", output="late"))
    assert isinstance(call, ToolCall)
    assert (call.name, output) == ("report", ToolOutput("o", "late", False))


def test_a_call_whose_name_begins_with_its_namespace() -> None:
    for kind, given in (("function_call", {"arguments": '{"cmd":"ls"}'}), ("custom_tool_call", {"input": "ls"})):
        [call] = contents(line("response_item", type=kind, name="functions.exec_command", call_id="c", **given))
        assert isinstance(call, ToolCall)
        assert call.name == "exec_command"


def test_a_search_that_an_extension_made() -> None:
    action = {"type": "search", "query": None, "queries": ["tides"]}
    call, output = contents(
        item(type="Extension", kind="web.search", id="w", query="tides", action=action, results=[1])
    )
    assert (call.name, call.kind) == ("web_search", "web")
    assert output == ToolOutput("w", "[1]", False)


def test_a_compaction_is_one_though_the_model_is_shown_its_surroundings_between_its_records() -> None:
    compacted, echo = line("compacted", message="We sailed."), line("event_msg", type="context_compacted")
    shown = line(
        "response_item",
        type="message",
        role="user",
        content=[{"type": "input_text", "text": "<environment_context>\n</environment_context>"}],
    )
    rules = line(
        "response_item", type="message", role="developer", content=[{"type": "input_text", "text": "Be kind."}]
    )
    said = line("response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "Aye."}])
    told = contents(compacted, rules, shown, echo, said, compacted, shown, echo)
    assert [content.text for content in told if isinstance(content, Compacted)] == ["We sailed."] * 2
