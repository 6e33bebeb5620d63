"""Codex: what its app sends in the person's place, and sessions that it took over from another agent."""

from typing import Any

import pytest

from test_reader_codex import events, header, line, said
from unspool.model import Content
from unspool.model.event import AgentMessage, Notification, Said, ToolCall, ToolOutput, TurnEnd, User

TYPED = {"internal_chat_message_metadata_passthrough": {"content_item_kinds": ["user.text"]}}
DELEGATION = (
    "<codex_delegation>\n  <source_thread_id>thread-7</source_thread_id>\n"
    "  <input>Fold &lt;two&gt; boats &amp; wait</input>\n</codex_delegation>"
)
LETTER = AgentMessage("Fold <two> boats & wait", "thread-7")
HEARTBEAT = (
    "<heartbeat>\n  <automation_id>gulls</automation_id>\n  <current_time_iso>2026-01-31T12:00:00Z</current_time_iso>\n"
    "  <instructions>\nCount the gulls.\n  </instructions>\n</heartbeat>"
)
SCHEDULED = "Automation: Gulls\nAutomation ID: gulls\nLast run: never\n\nCount them."
REPLY = (
    "<send_user_message_question_reply>\n"
    '[{"questionItemId": "q", "question": "Which boat?", "answer": "The red one"}, {"answer": "Soon"}]\n'
    "</send_user_message_question_reply>"
)


def contents(*lines: dict[str, Any]) -> list[Content]:
    return [event.content for event in events([header(), *lines])]


@pytest.mark.parametrize("more", [{}, TYPED])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (DELEGATION, [LETTER]),
        (HEARTBEAT, [Notification(HEARTBEAT, "context")]),
        (SCHEDULED, [Notification(SCHEDULED, "context")]),
        (REPLY, [Notification("Which boat?", "context"), User("The red one"), User("Soon")]),
    ],
)
def test_an_envelope_is_opened(text: str, told: list[Content], more: dict[str, Any]) -> None:
    assert contents(said("user", text, **more)) == told
    echo = line("event_msg", type="user_message", message=text)
    assert contents(echo) == told
    assert contents(said("user", text, **more), echo) == told


def test_an_envelope_below_the_context_of_an_editor() -> None:
    above = "# Context from my IDE setup:\n\n## Open tabs:\n- boats.md"
    told = contents(said("user", f"{above}\n\n## My request for Codex:\n{REPLY}"))
    assert told == [
        Notification(above, "context"), Notification("Which boat?", "context"), User("The red one"), User("Soon"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["What does <heartbeat> mean?", "<heartbeat> is a tag", "Automation: is it on?", f"See {DELEGATION}", "<b>Go</b>"],
)
def test_what_only_looks_like_one_is_a_prompt(text: str) -> None:
    assert contents(said("user", text)) == [User(text)]


@pytest.mark.parametrize("body", ["", "not JSON", "[]", "7", '["The red one"]'])
def test_answers_that_cannot_be_read_stay_as_they_are(body: str) -> None:
    text = f"<send_user_message_question_reply>{body}</send_user_message_question_reply>"
    assert contents(said("user", text)) == [User(text)]


def output(text: str, **more: Any) -> dict[str, Any]:
    return {"id": "fco_1", "name": "send_message_to_thread", "namespace": "codex_app", "output": text, **more}


@pytest.mark.parametrize("more", [{}, {"call_id": ""}, {"call_id": None}])
@pytest.mark.parametrize(
    ("text", "told"),
    [(DELEGATION, LETTER), (HEARTBEAT, Notification(HEARTBEAT, "context"))],
)
def test_an_output_without_a_call_may_be_an_envelope(text: str, told: Content, more: dict[str, Any]) -> None:
    item = line("response_item", type="function_call_output", **output(text, **more))
    done = line("event_msg", type="item_completed", item={"type": "FunctionCallOutput", **output(text)})
    for lines in ([item], [done], [item, done], [done, item]):
        assert contents(*lines) == [told]


def test_an_output_without_a_call_that_is_told_twice() -> None:
    item = line("response_item", type="function_call_output", **output("it is set"))
    done = line("event_msg", type="item_completed", item={"type": "FunctionCallOutput", **output("it is set")})
    for lines in ([item, done], [done, item]):
        call, result = contents(*lines)
        assert isinstance(call, ToolCall)
        assert call.name == "codex_app__send_message_to_thread"
        assert result == ToolOutput("fco_1", "it is set", False)


def test_what_the_program_tells_of_the_task_is_no_call() -> None:
    given = {"id": "fco_1", "name": "goal_objective", "namespace": "agent", "output": "Brew tea"}
    told = contents(line("response_item", type="function_call_output", **given))
    assert told == [Notification("Brew tea", "context")]


CALL = "[external_agent_tool_call: Bash]\ncommand: ls\n[/external_agent_tool_call]"
RESULT = "[external_agent_tool_result: error]\nno [such] file\n[/external_agent_tool_result]"


def turn(name: str, *messages: tuple[str, str], items: bool = True) -> list[dict[str, Any]]:
    lines = [line("event_msg", type="task_started", turn_id=name)]
    for role, text in messages:
        if items:
            lines.append(said(role, text))
        kind = "user_message" if role == "user" else "agent_message"
        lines.append(line("event_msg", type=kind, message=text))
    return [*lines, line("event_msg", type="task_complete", turn_id=name, last_agent_message=messages[-1][1])]


@pytest.mark.parametrize("items", [True, False])
def test_calls_of_a_session_that_was_taken_over_are_notes_and_not_words(items: bool) -> None:
    messages = [("user", "Which files?"), ("assistant", f"I look.\n\n{CALL}"), ("assistant", RESULT)]
    messages += [("assistant", "None."), ("assistant", "<EXTERNAL SESSION IMPORTED>")]
    told = contents(*turn("external-import-turn-1", *messages, items=items))
    assert told == [
        User("Which files?"),
        Said("I look."),
        Notification(CALL, "context"),
        Notification(RESULT, "context"),
        Said("None."),
        Notification("<EXTERNAL SESSION IMPORTED>", "info"),
        TurnEnd("completed"),
    ]


def test_what_the_other_program_said_in_the_persons_place() -> None:
    command = "<command-name>/init</command-name>"
    told = contents(*turn("external-import-turn-1", ("user", command), ("assistant", "Ready.")))
    assert told == [Notification(command, "context"), Said("Ready."), TurnEnd("completed")]


def test_a_turn_of_its_own_is_read_as_ever() -> None:
    told = contents(*turn("turn-1", ("user", "<command-name>?"), ("assistant", CALL)))
    assert told == [User("<command-name>?"), Said(CALL), TurnEnd("completed")]


def test_a_note_that_does_not_end_stays_in_the_words() -> None:
    text = "So: [external_agent_tool_call: Bash] and no end"
    assert Said(text) in contents(*turn("external-import-turn-1", ("user", "Hm?"), ("assistant", text)))
