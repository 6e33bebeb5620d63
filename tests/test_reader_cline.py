"""Cline and Roo: who wrote it, what was used, which result is of which call, and what a person said."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from told import events_of
from unspool.dialect import Head, Reader
from unspool.ingest.logs import open_log
from unspool.model import Event
from unspool.model.action import FileRead
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    Notification,
    Said,
    SlashCommand,
    TokenUsage,
    ToolCall,
    ToolOutput,
    User,
)
from unspool.readers import cline
from unspool.readers.cline.tags import RESULT, Call, answer_parts, prompt_parts, replied_in
from unspool.readers.cline.whose import HISTORY, SCREEN

FOLDER = Path(__file__).parent / "readers"
XML = FOLDER / "roo/xml/5c0b6c1e-0000-4000-8000-000000000001"


def test_what_was_used_is_what_the_task_says() -> None:
    item = json.loads((XML / "history_item.json").read_text())
    used = [event.content for event in events_of(XML / HISTORY) if isinstance(event.content, TokenUsage)]
    assert sum(usage.output for usage in used) == item["tokensOut"]
    assert sum(usage.cache_read for usage in used) == item["cacheReads"]
    assert sum(usage.cache_write for usage in used) == item["cacheWrites"]
    assert [usage.input for usage in used] == [4, 200, 800]  # 500 of the second's 700 were cached


def test_what_was_on_the_screen_is_told_once() -> None:
    assert events_of(XML / SCREEN) == []


@pytest.mark.parametrize(
    "history", sorted(FOLDER.glob("*/*/*/api_conversation_history.json")), ids=lambda path: path.parts[-3]
)
def test_results_are_those_of_calls(history: Path) -> None:
    events = [event.content for event in events_of(history)]
    calls = [call.provider_call_id for call in events if isinstance(call, ToolCall)]
    results = [result.provider_call_id for result in events if isinstance(result, ToolOutput)]
    assert len(set(calls)) == len(calls)
    assert len(set(results)) == len(results)
    assert set(results) <= set(calls)


def test_a_file_may_hold_any_tag() -> None:
    page = "1 | <task>\n<task>\nnobody typed this\n</task>\n<answer>\nnor this\n</answer>"
    assert replied_in(page) == ()
    assert prompt_parts(f'<file_content path="a">\n{page}\n</file_content>', bare=False).typed == ()
    assert replied_in("The user provided the following feedback:\n<feedback>\nnot this one\n</feedback>") == (
        "not this one",
    )
    assert replied_in('{"status":"approved","feedback":"well done"}\n\nok') == ("well done",)


def test_a_file_may_hold_what_closes_it() -> None:
    inside = "<content>x</content>\n</write_to_file>"
    text = f"<write_to_file>\n<path>a.xml</path>\n<content>\n{inside}\n</content>\n</write_to_file>"
    assert list(answer_parts(text)) == [Call("write_to_file", {"path": "a.xml", "content": inside})]
    assert list(answer_parts("so\n<read_file>\n<path>a")) == ["so", Call("read_file", {"path": "a"})]


def test_a_question_of_many_lines_is_answered() -> None:
    text = "[ask_followup_question for 'This is done:\n- it's [a]\n\nGo on?'] Result:\n<answer>\nyes\n</answer>"
    heading = RESULT.match(text)
    assert heading is not None
    assert heading[1] == "ask_followup_question"
    assert text[heading.end() :] == "<answer>\nyes\n</answer>"


def test_an_output_that_is_written_again_is_told_once(tmp_path: Path) -> None:
    """Roo writes what a command gave so far, goes on, and writes all of it when the command ends."""
    entries = [
        {"ts": 1, "type": "say", "say": "text", "text": "hi"},
        {"ts": 2, "type": "ask", "ask": "command", "text": "make", "isAnswered": True},
        {"ts": 3, "type": "say", "say": "command_output", "text": "one\n", "partial": True},
        {"ts": 4, "type": "say", "say": "api_req_started", "text": "{}"},
        {"ts": 5, "type": "say", "say": "command_output", "text": "one\ntwo\n"},
        {"ts": 6, "type": "ask", "ask": "command", "text": "ls", "isAnswered": True},
        {"ts": 7, "type": "say", "say": "command_output", "text": "a", "partial": True},
    ]
    path = tmp_path / SCREEN
    path.write_text(json.dumps(entries))
    outputs = [event.content for event in events_of(path) if isinstance(event.content, ToolOutput)]
    assert outputs == [ToolOutput("2", "one\ntwo\n", False), ToolOutput("6", "a", False)]


def shown(kind: str, name: str, text: Any, at: int) -> dict[str, Any]:
    """An entry of a screen."""
    return {"ts": at, "type": kind, kind: name, "text": text if isinstance(text, str) else json.dumps(text)}


def test_the_screen_had_another_name_once(tmp_path: Path) -> None:
    shutil.copy(XML / HISTORY, tmp_path / HISTORY)
    shutil.copy(XML / SCREEN, tmp_path / "claude_messages.json")
    told, before = events_of(tmp_path / HISTORY), events_of(XML / HISTORY)
    assert [event.content for event in told] == [event.content for event in before]
    assert events_of(tmp_path / "claude_messages.json") == []


def test_what_the_screen_shows_of_a_call_means_what_the_call_did(tmp_path: Path) -> None:
    blocks = "------- SEARCH\na\n=======\nb\n+++++++ REPLACE\n"
    tools = [
        ({"tool": "editedExistingFile", "path": "x.py", "content": blocks}, "file_edit"),
        ({"tool": "editedExistingFile", "path": "x.py", "diff": "@@ -1,1 +1,1 @@\n-a\n+b\n"}, "file_edit"),
        ({"tool": "searchAndReplace", "path": "x.py", "diff": "@@ -1,1 +1,1 @@\n-a\n+b\n"}, "file_edit"),
        ({"tool": "editedExistingFile", "path": "x.py", "diff": "no diff at all"}, "generic"),
        ({"tool": "fileDeleted", "path": "x.py"}, "file_delete"),
        ({"tool": "readFile", "batchFiles": [{"path": "x.py"}, {"path": "y.py"}]}, "file_read"),
        ({"tool": "webFetch", "path": "https://tea.example"}, "web"),
        ({"tool": "webSearch", "path": "kettles"}, "web"),
        ({"tool": "useSkill", "path": "tea"}, "agent"),
        ({"tool": "newTask", "mode": "code", "content": "boil"}, "agent"),
        ({"tool": "switchMode", "mode": "code", "reason": "why"}, "plan"),
    ]
    items = [shown("say", "task", "boil", 1)] + [
        shown("ask", "tool", told, at) for at, (told, _) in enumerate(tools, 2)
    ]
    (tmp_path / SCREEN).write_text(json.dumps(items))
    calls = [event.content for event in events_of(tmp_path / SCREEN) if isinstance(event.content, ToolCall)]
    assert [call.kind for call in calls] == [kind for _, kind in tools]
    assert [call.actions for call in calls][5] == (FileRead("x.py"), FileRead("y.py"))
    assert calls[9].arguments["prompt"] == "boil"


def test_signs_for_the_screen_are_nobodys_words_and_nothing_is_an_output_too(tmp_path: Path) -> None:
    agents = {"status": "completed", "items": [{"prompt": "a", "result": "hot"}, {"prompt": "b", "error": "cold"}]}
    items = [
        shown("say", "task", "boil", 1),
        shown("ask", "command", "boilREQ_APP", 2),
        shown("say", "command_output", "", 3),
        shown("say", "use_subagents", {"prompts": ["a", "b"]}, 4),
        shown("say", "subagent", agents, 5),
        shown("ask", "tool", {"tool": "codebaseSearch", "query": "tea"}, 6),
        shown("say", "codebase_search_result", "found", 7),
        shown("say", "completion_result", "It boils.HAS_CHANGES", 8),
        shown("ask", "completion_result", "HAS_CHANGES", 9),
    ]
    (tmp_path / SCREEN).write_text(json.dumps(items))
    events = events_of(tmp_path / SCREEN)
    assert [event.type for event in events] == ["user", *["tool_call", "tool_result"] * 3, "message"]
    calls = [event.content for event in events if isinstance(event.content, ToolCall)]
    outputs = [event.content for event in events if isinstance(event.content, ToolOutput)]
    assert calls[0].arguments["command"] == "boil"
    assert [(output.provider_call_id, output.output) for output in outputs] == [
        ("2", ""),
        ("4", "hot\n\ncold"),
        ("6", "found"),
    ]
    assert events[7].content == Said("It boils.")


def test_an_agents_file_beside_its_leaders_is_the_agents(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": [{"type": "text", "text": "boil"}]}]
    path = tmp_path / "root" / "scout.messages.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 1, "agent": "subagent", "sessionId": "b", "messages": messages}))
    [event] = events_of(path)
    assert (event.session_id, event.stream_id) == ("root", "agent:scout")
    assert event.content == AgentMessage("boil", None, "scout")


def test_places_are_where_the_environment_puts_them(tmp_path: Path) -> None:
    given = {"CLINE_DIR": "/c", "CLINE_DATA_DIR": "/d", "CLINE_SESSION_DATA_DIR": "/s"}
    roots = [[place.folder for place in cline.reader.places(part, tmp_path)] for part in ({"CLINE_DIR": "/c"}, given)]
    assert roots[0][-1:] == [Path("/c/data")]
    assert tmp_path / ".config/Code/User/globalStorage/saoudrizwan.cline-nightly" in roots[0]
    assert roots[1][-2:] == [Path("/d"), Path("/s")]
    roos = {str(place.folder) for place in cline.roo.places({"APPDATA": "/roaming"}, Path("/home"))}
    assert {
        "/roaming/Code - Insiders/User/globalStorage/rooveterinaryinc.roo-cline",
        "/home/Library/Application Support/Antigravity/User/globalStorage/kilocode.kilo-code",
        "/home/.local/share/code-server/User/globalStorage/kilocode.kilo-code",
        "/home/.config/VSCodium/User/globalStorage/zoocodeorganization.zoo-code",
        "/home/.kilocode/cli/global",
        "/home/.vscode-mock/global-storage",
    } <= roos


def test_commands_are_told_with_what_was_typed_around_them(tmp_path: Path) -> None:
    review = '<user_command slash="review">Review carefully</user_command>'
    texts = [
        '<user_command slash="team">spawn a team of agents for the following task: boil</user_command>',
        f"{review} this tea",
        f"<mode_notice>Now act.</mode_notice>\n{review}",
        f'<user_input mode="act">please {review} now</user_input>',
    ]
    messages = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in texts]
    path = tmp_path / "a.messages.json"
    path.write_text(json.dumps({"version": 1, "agent": "lead", "sessionId": "a", "messages": messages}))
    shown = Notification("Review carefully", "context")
    assert [event.content for event in events_of(path)] == [
        SlashCommand("/team", "boil"),
        SlashCommand("/review", "this tea"),
        shown,
        SlashCommand("/review"),
        shown,
        SlashCommand("/review", "please now"),
        shown,
    ]


def test_what_the_program_says_in_the_users_name_is_no_prompt(tmp_path: Path) -> None:
    def message(text: str, **more: Any) -> dict[str, Any]:
        return {"role": "user", "ts": 1, "content": [{"type": "text", "text": text}], **more}

    messages = [
        message('<user_input mode="act">boil</user_input>'),
        message("[SYSTEM] Say that you are done.", metadata={"kind": "completion_reminder"}),
        message("So far it boiled.", metadata={"kind": "compaction_summary"}),
        message('<user_input mode="act">[TASK RESUMPTION] Please go on.</user_input>'),
        message('<user_input mode="act">stir</user_input>', metadata={"kind": "anything"}),
    ]
    path = tmp_path / "a.messages.json"
    path.write_text(json.dumps({"sessionId": "a", "messages": messages}))
    assert [event.content for event in events_of(path)] == [
        User("boil"),
        Notification("[SYSTEM] Say that you are done.", "context"),
        Compacted("So far it boiled."),
        Notification("[TASK RESUMPTION] Please go on.", "context"),
        User("stir"),
    ]


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("Command failed with exit code 1.", True),
        ("Command executed in terminal within '/w'. Command execution was not successful, look.\nExit code: 1", True),
        (
            "Command executed in terminal within '/w'. Exit code: 0\nOutput:\nCommand execution was not successful",
            False,
        ),
        ("Command executed successfully (exit code 0).", False),
    ],
)
def test_a_command_that_failed_did(tmp_path: Path, output: str, failed: bool) -> None:
    call = {"type": "tool_use", "id": "c", "name": "execute_command", "input": {"command": "boil"}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "<task>\nboil\n</task>"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [{"type": "text", "text": f"[execute_command for 'boil'] Result:\n{output}"}]},
    ]
    (tmp_path / HISTORY).write_text(json.dumps(messages))
    results = [event.content for event in events_of(tmp_path / HISTORY) if isinstance(event.content, ToolOutput)]
    assert results == [ToolOutput("c", output, failed)]


def history(text: str, **more: Any) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [{"type": "text", "text": text}], **more}]


@pytest.mark.parametrize(
    ("document", "path", "writer"),
    [
        (history("<task>\nhi\n</task>"), "a.json", cline.reader),
        (history("<task>\nhi\n</task>", ts=1767323045000), "a.json", cline.roo),
        (history("<task>\nhi\n</task>"), "/s/kilocode.kilo-code/tasks/1/api_conversation_history.json", cline.roo),
        (history("<task>\nhi\n</task>"), "/s/a.zoo-code/tasks/1/api_conversation_history.json", cline.roo),
        (history("<task>\nhi\n</task>\nACT MODE", ts=1), "/s/kilocode.kilo-code/tasks/1/a.json", cline.reader),
        (history("hi"), "/s/tasks/1/api_conversation_history.json", cline.reader),
        ([{"ts": 1, "type": "say", "say": "task", "text": "hi"}], "ui.json", cline.reader),
        ([{"ts": 1, "type": "say", "say": "text", "text": "hi"}], "ui.json", cline.roo),
        (history("hi"), "messages.json", None),
        ([{"role": "user", "content": "about <task>\ntags"}], "messages.json", None),
        ({"messages": history("hi")}, "thread.json", None),
        ({"sessionId": "a", "messages": history("hi")}, "thread.json", None),
        ({"sessionId": "a", "messages": history("hi")}, "/s/a/a.messages.json", cline.reader),
        ([{"ts": 1, "type": "say"}, {"ts": 2, "type": "sing"}], "ui_messages.json", None),
    ],
)
def test_one_of_them_wrote_it_or_none(document: Any, path: str, writer: Reader | None) -> None:
    head = Head(path, document=document)
    assert [reader for reader in (cline.reader, cline.roo) if reader.claims(head)] == ([writer] if writer else [])


def test_each_event_leads_to_its_message() -> None:
    path = XML / HISTORY
    document = json.loads(path.read_text())
    typed = [(event, event.content.text) for event in events_of(path) if isinstance(event.content, User)]
    assert typed
    for event, text in typed:
        assert text in json.dumps(cline.roo.payload(document, event))


def session(folder: Path, *messages: dict[str, Any]) -> Path:
    path = folder / "a.messages.json"
    path.write_text(json.dumps({"version": 1, "agent": "lead", "sessionId": "a", "messages": messages}))
    return path


def test_a_summary_that_lies_beside_the_session_is_told_where_it_begins(tmp_path: Path) -> None:
    texts = ("boil", "It boils.", "stir")
    messages = [{"role": "user", "content": [{"type": "text", "text": text}], "ts": 1} for text in texts]
    path = session(tmp_path, *messages)
    summary = {"role": "user", "content": "So far it boiled.", "metadata": {"kind": "compaction_summary"}, "ts": 2}
    state = {"version": 1, "updated_at": "2026-08-01T10:00:00.000Z", "source_message_count": 2, "messages": [summary]}
    beside = tmp_path / "a.compaction.json"
    beside.write_text(json.dumps(state))
    told = [User("boil"), User("It boils."), Compacted("So far it boiled."), User("stir")]
    assert [event.content for event in events_of(path)] == told
    [event] = [event for event in events_of(path) if isinstance(event.content, Compacted)]
    assert (event.timestamp, event.origin.line) == (state["updated_at"], 1)
    assert Path(event.origin.file) == beside
    assert open_log(str(beside)) is None  # it is no session
    assert str(beside) in cline.reader.beside(str(path))
    beside.write_text(json.dumps(state | {"source_message_count": 3, "messages": messages[2:]}))
    assert [event.content for event in events_of(path)][-2:] == [User("stir"), Compacted("")]


def test_what_newer_sessions_say_beside_their_blocks_is_told(tmp_path: Path) -> None:
    activities = [
        {
            "toolCallId": "s1",
            "toolName": "web_search",
            "execution": "provider",
            "input": {"query": "tea"},
            "output": [],
        },
        {"toolCallId": "s2", "toolName": "web_search", "execution": "client", "output": "no net", "isError": True},
        {"toolCallId": "s3", "toolName": "web_search", "execution": "provider", "input": {"query": "pot"}},
        {"toolCallId": "s4"},
    ]
    spawn = {"type": "tool_use", "id": "c1", "name": "spawn_agent", "input": {"task": "Look."}}
    links = [{"toolCallId": "c1", "sessionId": "a__scout", "kind": "subagent"}]
    path = session(
        tmp_path,
        {"role": "error", "content": [{"type": "text", "text": "no credit"}], "ts": 1},
        {"role": "assistant", "content": "Tea.", "ts": 2, "metadata": {"modelToolActivities": activities}},
        {"role": "assistant", "content": [spawn], "ts": 3, "childSessions": links},
    )
    told = [event.content for event in events_of(path)]
    assert told[0] == Notification("no credit", "error")
    calls = [each.provider_call_id for each in told if isinstance(each, ToolCall)]
    results = [(each.provider_call_id, each.is_error) for each in told if isinstance(each, ToolOutput)]
    assert calls == ["s1", "s2", "s3", "c1"]
    assert results == [("s1", False), ("s2", True)]
    assert told[6] == Said("Tea.")
    assert told[-1] == AgentSpawn("scout", "c1")


def test_what_another_session_sent_is_no_prompt(tmp_path: Path) -> None:
    head = "[SESSION MESSAGE] From Brew tea (sess_1)\nSubject: heat\nMessage id: smsg_x (hop 1)\n"
    tail = "--- end of relayed message ---\nThis text was relayed from another session, not typed by your user."
    texts = (f"{head}\nBoil it.\n\nNow.\n\n{tail}", "[SESSION MESSAGE] From whom?")
    path = session(
        tmp_path,
        *({"role": "user", "content": f'<user_input mode="act">{text}</user_input>', "ts": 1} for text in texts),
    )
    assert [event.content for event in events_of(path)] == [
        AgentMessage("Boil it.\n\nNow.", "sess_1"),
        Notification(f"{head}{tail}", "context"),
        User("[SESSION MESSAGE] From whom?"),
    ]


def test_what_a_fork_copied_was_paid_for_where_it_happened(tmp_path: Path) -> None:
    messages = [
        {"role": "assistant", "content": "Tea.", "ts": 1770000000000 + at, "metrics": {"inputTokens": at}}
        for at in (1000, 2000, 3000)
    ]
    path = session(tmp_path, *messages)
    fork = {"forkedFromSessionId": "earlier", "forkedAt": "2026-02-02T02:40:02.000Z", "source": "cli"}
    (tmp_path / "a.json").write_text(json.dumps({"metadata": {"fork": fork, "usage": {"inputTokens": 6000}}}))
    log = open_log(str(path))
    assert log is not None
    used = [item.content for item in log if isinstance(item, Event) and isinstance(item.content, TokenUsage)]
    assert used == [TokenUsage(None, at, 0, 0, 0, 0) for at in (2000, 3000)]
    assert log.sessions["a"].parent == "earlier"
