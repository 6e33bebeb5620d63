"""Codex: the stream of `codex exec --json`, and which files are whose."""

from typing import Any

from test_reader_codex import fed, sums, usage
from unspool.dialect import Head
from unspool.model import Event
from unspool.model.event import Compacted, ToolOutput, TurnEnd
from unspool.readers import READERS


def streamed(*lines: dict[str, Any]) -> list[Event]:
    told = fed([{"type": "thread.started", "thread_id": "t"}, *lines], "codex_exec")
    return [item for items in told for item in items if isinstance(item, Event)]


def completed(**item: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "i", **item}}


def test_what_a_search_found() -> None:
    found = [{"title": "Tides", "url": "https://example.org"}]
    told = streamed(completed(type="web_search", query="tides", action={"type": "search"}, results=found))
    assert told[-1].content == ToolOutput("i", '[{"title":"Tides","url":"https://example.org"}]', False)


def test_a_compaction() -> None:
    begun = {"type": "item.started", "item": {"id": "i", "type": "context_compaction", "status": "in_progress"}}
    assert [event.content for event in streamed(begun, completed(type="context_compaction"))] == [Compacted()]


def test_a_command_that_failed_without_a_word() -> None:
    told = streamed(completed(type="command_execution", command="false", status="failed", exit_code=42))
    assert told[-1].content == ToolOutput("i", "exit code 42", True)


def test_a_result_that_is_only_structured() -> None:
    result = {"content": [], "structured_content": {"high": 7}}
    told = streamed(completed(type="mcp_tool_call", server="s", tool="t", status="completed", result=result))
    assert told[-1].content == ToolOutput("i", '{"high":7}', False)


def test_a_turn_that_failed_used_tokens_too() -> None:
    failed = {"type": "turn.failed", "error": {"message": "limit"}}
    told = streamed(
        {"type": "turn.completed", "usage": usage(100, 40, 10)},
        {**failed, "usage": usage(150, 40, 15)},
        failed,
        {"type": "turn.completed"},
        {"type": "turn.completed", "usage": usage(160, 40, 16)},
    )
    assert sums(told) == (160, 40, 16, 0)
    assert len([event for event in told if isinstance(event.content, TurnEnd)]) == 5


def test_each_thread_has_a_total_of_its_own() -> None:
    """What several runs wrote may stand in one file; one that is resumed counts on."""
    lines: list[dict[str, Any]] = []
    for thread, total in (("a", (100, 40, 10)), ("b", (100, 40, 10)), ("c", (150, 40, 10)), ("a", (160, 40, 25))):
        lines += [{"type": "thread.started", "thread_id": thread}, {"type": "turn.completed", "usage": usage(*total)}]
    told = streamed(*lines)
    for thread, counted in (("a", (160, 40, 25, 0)), ("b", (100, 40, 10, 0)), ("c", (150, 40, 10, 0))):
        assert sums([event for event in told if event.session_id == thread]) == counted


def test_the_oldest_header_may_lack_instructions() -> None:
    header = {"id": "a", "timestamp": "2025-08-01T10:00:00.000Z", "git": {"branch": "main"}}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
    for lines in ((header, {"record_type": "state"}, said), (header, said)):
        assert READERS["codex"].claims(Head("a.jsonl", lines))
    assert not READERS["codex"].claims(Head("a.jsonl", (header, {"text": "hello"})))
