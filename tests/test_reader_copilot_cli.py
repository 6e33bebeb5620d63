"""Tokens of Copilot CLI: the sum is what the log says of itself, in whatever order it says it."""

import json
from pathlib import Path
from typing import Any

from unspool.ingest.logs import open_log
from unspool.model import Event, Note
from unspool.model.event import Notification, Said, SlashCommand, Thinking, TokenUsage, TurnEnd, User
from unspool.readers.copilot_cli.counting import Counting


def total(*usages: TokenUsage | None) -> tuple[int, ...]:
    told = [usage for usage in usages if usage is not None]
    return tuple(
        sum(getattr(usage, name) for usage in told)
        for name in ("input", "cache_read", "cache_write", "output", "reasoning")
    )


def usage(given: int, answered: int, read: int = 0, written: int = 0) -> dict[str, Any]:
    return {
        "inputTokens": given,
        "outputTokens": answered,
        "cacheReadTokens": read,
        "cacheWriteTokens": written,
        "reasoningTokens": 1,
    }


def shutdown(**models: dict[str, Any]) -> dict[str, Any]:
    return {"modelMetrics": {model: {"requests": {"count": 1}, "usage": told} for model, told in models.items()}}


def test_totals_add_only_what_messages_did_not_tell() -> None:
    counting = Counting()
    said = [counting.said("a", "1", 10), counting.said("a", "2", 20)]
    assert total(*said, *counting.ended(shutdown(a=usage(1000, 35, 700, 100)))) == (200, 700, 100, 35, 1)


def test_an_answer_in_chunks_counts_once() -> None:
    counting = Counting()
    assert total(counting.said("a", "1", 10), counting.said("a", "1", 10), counting.said("a", "1", 12)) == (
        0,
        0,
        0,
        12,
        0,
    )


def test_a_report_and_its_message_count_once_in_either_order() -> None:
    first, second = Counting(), Counting()
    assert total(first.said("a", "1", 10), first.reported("a", usage(100, 10))) == (100, 0, 0, 10, 1)
    assert total(second.reported("a", usage(100, 10)), second.said("a", "1", 10)) == (100, 0, 0, 10, 1)


def test_a_resumed_session_counts_both_runs() -> None:
    counting = Counting()
    one = [counting.said("a", "1", 10), *counting.ended(shutdown(a=usage(100, 10)))]
    two = [counting.said("a", "2", 5), *counting.ended(shutdown(a=usage(50, 5)))]
    assert total(*one, *two) == (150, 0, 0, 15, 2)


def test_totals_since_the_beginning_count_the_first_run_once() -> None:
    counting = Counting()
    one = [counting.said("a", "1", 10), *counting.ended(shutdown(a=usage(100, 10)))]
    two = [counting.said("a", "2", 5), *counting.ended(shutdown(a=usage(150, 15)))]
    assert total(*one, *two)[:4] == (150, 0, 0, 15)


def test_messages_without_a_model_are_found_in_the_totals() -> None:
    counting = Counting()
    said = counting.said(None, "1", 10)
    assert total(said, *counting.ended(shutdown(a=usage(100, 6), b=usage(10, 6))))[:4] == (110, 0, 0, 12)


def test_after_hidden_calls_new_messages_still_count() -> None:
    counting = Counting()
    one = [counting.said("a", "1", 10), *counting.ended(shutdown(a=usage(100, 90)))]
    assert total(*one, counting.said("a", "2", 5))[3] == 95


def contents(tmp_path: Path, *events: tuple[str, dict[str, Any]]) -> list[Any]:
    path = tmp_path / "events.jsonl"
    told = [("session.start", {"sessionId": "s", "copilotVersion": "1.0.0"}), *events]
    path.write_text(
        "".join(json.dumps({"type": kind, "id": f"e{at}", "data": data}) + "\n" for at, (kind, data) in enumerate(told))
    )
    log = open_log(str(path))
    assert log is not None
    items = list(log)
    assert not [item for item in items if isinstance(item, Note)]
    return [item.content for item in items if isinstance(item, Event)]


def test_a_sub_agent_that_was_cancelled_did_not_complete(tmp_path: Path) -> None:
    started = {"toolCallId": "t", "agentName": "explore"}
    told = contents(
        tmp_path,
        ("subagent.started", started),
        ("subagent.completed", {**started, "cancelled": True}),
        ("subagent.completed", started),
        ("session.completion_receipt", {"attempt": 1}),
    )
    assert [end.status for end in told if isinstance(end, TurnEnd)] == ["interrupted", "completed"]


def test_a_thought_is_told_once_though_its_words_stand_in_one_of_two_places(tmp_path: Path) -> None:
    sealed = {"reasoningText": "", "reasoningBlocks": {"provider": "openai-responses", "blocks": []}}
    told = contents(
        tmp_path,
        ("assistant.reasoning", {"content": "Which one?"}),
        ("assistant.message", {"messageId": "1", "content": "This one.", **sealed}),
        ("assistant.message", {"messageId": "2", "content": "And that.", **sealed}),
        ("assistant.reasoning", {"content": ""}),
    )
    assert told == [Thinking("Which one?"), Said("This one."), Thinking(""), Said("And that.")]


def test_pictures_that_a_tool_showed_the_model_stand_in_its_output(tmp_path: Path) -> None:
    pictures = [
        {"type": "image", "mimeType": "image/png", "data": "aGVsbG8="},
        {"type": "resource", "mimeType": "application/pdf", "byteLength": 1234, "assetId": "a"},
    ]
    result = {"content": "Seen.", "binaryResultsForLlm": pictures}
    [output] = contents(tmp_path, ("tool.execution_complete", {"toolCallId": "t", "success": True, "result": result}))
    assert output.output == "Seen.\n[image: image/png, 5 bytes]\n[resource: application/pdf, 1,234 bytes]"


def test_a_message_that_is_written_again_as_it_grows_is_told_once(tmp_path: Path) -> None:
    def message(text: str, **more: Any) -> tuple[str, dict[str, Any]]:
        return "assistant.message", {"messageId": "m1", "content": text, "outputTokens": 7, **more}

    call = {"toolCallId": "c1", "name": "view", "arguments": {"path": "a.md"}}
    told = contents(
        tmp_path,
        message("", reasoningOpaque="x"),
        message("Let me look.", reasoningOpaque="x"),
        message("Let me look. At once.", reasoningOpaque="x", toolRequests=[call]),
        ("assistant.message", {"messageId": "m2", "content": "Let me look. At once.", "outputTokens": 3}),
    )
    assert [one.text for one in told if isinstance(one, Said)] == ["Let me look.", " At once.", "Let me look. At once."]
    assert sum(isinstance(one, Thinking) for one in told) == 1
    assert sum(one.output for one in told if isinstance(one, TokenUsage)) == 10


def test_the_instructions_of_a_skill_are_no_prompt_but_what_was_typed_with_them_is(tmp_path: Path) -> None:
    block = '<skill-context name="tea">\nBase directory for this skill: /skills/tea\n\nWarm the pot.\n'
    invoked = 'The user explicitly invoked the "/kitchen:tea" skill. Follow its instructions now.'
    quoted = 'What does `<skill-context name="x">` mean?'
    told = contents(
        tmp_path,
        ("user.message", {"content": f"{block}</skill-context>"}),
        ("user.message", {"content": f"Plan it.\n\n{block}</skill-context>\nThen pour."}),
        ("user.message", {"content": f"{invoked}\n\n{block}\nARGUMENTS: two cups\n</skill-context>"}),
        ("user.message", {"content": f"{invoked}\n{block}</skill-context>"}),
        ("user.message", {"content": block}),
        ("user.message", {"content": quoted}),
    )
    given = block.strip()
    assert [each for each in told if not isinstance(each, Notification)] == [
        User("Plan it.\n\nThen pour."),
        SlashCommand("/kitchen:tea", "two cups"),
        SlashCommand("/kitchen:tea"),
        User(quoted),
    ]
    context = [each.text for each in told if isinstance(each, Notification)]
    assert len(context) == 5
    assert all(given in each for each in context)


def test_a_picture_whose_bytes_stand_elsewhere_is_a_picture(tmp_path: Path) -> None:
    picture = {"type": "blob", "assetId": "sha256:0c", "byteLength": 2048, "mimeType": "image/png"}
    data = {"content": "What bird?", "attachments": [picture, {**picture, "displayName": "bird.png"}]}
    event = {"type": "user.message", "data": data, "id": "e1", "timestamp": "2026-03-01T10:00:00.000Z"}
    (tmp_path / "a.jsonl").write_text(json.dumps(event))
    log = open_log(str(tmp_path / "a.jsonl"))
    assert log is not None
    shown = "[image: image/png, 2,048 bytes]"
    assert [item.content for item in log if isinstance(item, Event)] == [User(f"What bird?\n{shown}\n{shown}")]
