"""Pi's logs and its stream: what is told once, and what is whose."""

import json
from pathlib import Path
from typing import Any

import pytest

from unspool.dialect import Head, Record
from unspool.exports.events import body
from unspool.ingest.heads import head_of
from unspool.ingest.logs import open_log
from unspool.model import Event, Origin
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    Notification,
    Said,
    SlashCommand,
    TokenUsage,
    ToolOutput,
    User,
)
from unspool.readers import READERS
from unspool.readers.pi import claims, claims_openclaw, claims_stream

CASES = sorted(
    path
    for name in ("pi", "openclaw", "pi_stream")
    for path in (Path(__file__).parent / "readers" / name).glob("*.jsonl")
)
CURRENT = "[Current message - respond to this]"
HEADER = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/work"}


def events(case: Path, pause_at: int | None = None) -> list[tuple[str, str, Any]]:
    decoder = READERS[case.parent.name].decoder(str(case))
    found: list[Any] = []
    for number, line in enumerate(case.read_bytes().splitlines(), 1):
        found += decoder.feed(Record(line, Origin(str(case), number, 0, len(line))))
        if number == pause_at:
            found += decoder.close()
    found += decoder.close()
    told = [item for item in found if isinstance(item, Event)]
    return sorted((event.key, event.type, body(event)) for event in told)


def told_by(reader: str, *lines: dict[str, Any]) -> list[Any]:
    decoder = READERS[reader].decoder("a.jsonl")
    told: list[Any] = []
    for number, line in enumerate(lines, 1):
        told += decoder.feed(Record(json.dumps(line).encode(), Origin("a.jsonl", number, 0, 0)))
    return told


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_pause_anywhere_changes_nothing(case: Path) -> None:
    whole = events(case)
    for line in range(1, len(case.read_bytes().splitlines())):
        assert events(case, line) == whole


def test_the_stream_and_the_log_of_a_run_tell_the_same_calls() -> None:
    told = [kind for _, kind, _ in events(next(case for case in CASES if case.parent.name == "pi_stream"))]
    assert told.count("tool_call") == told.count("tool_result") == 1
    assert told.count("token_usage") == 2


@pytest.mark.parametrize(
    ("details", "failed"),
    [
        ({"status": "completed", "exitCode": 0}, False),
        ({"status": "completed", "exitCode": 1}, True),
        ({"status": "error", "error": "no water"}, True),
        ({"status": "running", "exitCode": None}, False),
        (None, False),
    ],
)
def test_a_tool_that_worked_may_say_that_it_failed(details: Any, failed: bool) -> None:
    decoder = READERS["openclaw"].decoder("a.jsonl")
    message = {"role": "toolResult", "toolCallId": "c", "content": "hot", "isError": False, "details": details}
    line = json.dumps({"type": "message", "id": "a", "message": message}).encode()
    (event,) = (item for item in decoder.feed(Record(line, Origin("a.jsonl", 1, 0, 0))) if isinstance(item, Event))
    assert event.content == ToolOutput("c", "hot", failed)


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("System: [2026-01-02 UTC] Exec completed\nSystem: [2026-01-02 UTC] Hot\n\nboil", "boil"),
        ("System: [2026-01-02 UTC] Exec completed", None),
        ("Sender (untrusted metadata):\n```json\n{}\n```\n\nSystem: boil", "System: boil"),
        (f"[Chat messages since your last reply - for context]\nA: hi\n\n{CURRENT}\nB: boil", "B: boil"),
        ("Pre-compaction memory flush. Store it.", None),
        ("[Mon 2026-01-02 10:33 UTC] boil", "[Mon 2026-01-02 10:33 UTC] boil"),
    ],
)
def test_what_a_gateway_puts_before_a_prompt_was_not_typed(text: str, typed: str | None) -> None:
    decoder = READERS["openclaw"].decoder("a.jsonl")
    line = json.dumps({"type": "message", "id": "a", "message": {"role": "user", "content": text}}).encode()
    told = [item for item in decoder.feed(Record(line, Origin("a.jsonl", 1, 0, 0))) if isinstance(item, Event)]
    notices = [event.content for event in told if isinstance(event.content, Notification)]
    assert [event.content for event in told if isinstance(event.content, User)] == ([User(typed)] if typed else [])
    assert len(notices) == (text != typed)
    assert all(notice.level == "context" and text.startswith(notice.text) for notice in notices)


@pytest.mark.parametrize(
    ("about", "keys"),
    [
        ({}, ["a:usage", "b:usage"]),
        ({"parentSession": "/home/me/before.jsonl"}, ["b:usage"]),
        ({"branchedFrom": "/home/me/gone.jsonl"}, ["a:usage", "b:usage"]),
    ],
)
def test_what_a_fork_copied_is_paid_for_where_it_happened(
    about: dict[str, Any], keys: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("before.jsonl").touch()
    answer = {"role": "assistant", "content": [], "api": "a", "provider": "p", "usage": {"input": 1, "output": 1}}
    lines = [
        {**HEADER, **about},
        {"type": "message", "id": "a", "timestamp": "2026-03-01T09:00:00.000Z", "message": answer},
        {"type": "message", "id": "b", "timestamp": "2026-03-01T10:00:01.000Z", "message": answer},
    ]
    assert [event.key for event in told_by("pi", *lines)] == keys


def test_what_no_answer_took_is_paid_for_too() -> None:
    usage = {"input": 1, "output": 1}
    lines: list[dict[str, Any]] = [
        {"type": "model_change", "id": "a", "modelId": "m"},
        {"type": "usage", "id": "b", "kind": "cache_warm", "model": "n", "usage": usage},
        {"type": "compaction", "id": "c", "summary": "Tea.", "usage": usage},
        {"type": "branch_summary", "id": "d", "summary": "Tea.", "usage": usage},
        {"type": "message", "id": "e", "message": {"role": "toolResult", "toolCallId": "t", "usage": usage}},
        {"type": "context_edit", "id": "f", "targetId": "e", "replacement": None},
    ]
    own = {"results": [{"sessionFile": "/home/me/other.jsonl"}]}
    lines.append({"type": "message", "id": "g", "message": {**lines[4]["message"], "details": own}})
    told = told_by("pi", *lines)
    assert all(isinstance(item, Event) for item in told)
    used = [(event.key, event.content.model) for event in told if isinstance(event.content, TokenUsage)]
    assert used == [("b:usage", "n"), ("c:usage", "m"), ("d:usage", "m"), ("e:usage", None)]


def test_what_a_summary_took_is_told_by_the_stream_too() -> None:
    result = {"summary": "Tea.", "tokensBefore": 9, "usage": {"input": 1, "output": 1}}
    told = told_by("pi_stream", {"type": "compaction_end", "reason": "manual", "result": result})
    assert [type(event.content) for event in told] == [Compacted, TokenUsage]


def test_instructions_may_come_in_sections() -> None:
    lines: list[dict[str, Any]] = [
        {"content": "Serve tea.", "sections": {"kettle": "It is hot.", "milk": "There is some."}},
        {"content": "", "sections": {"milk": None}},
        {"content": "", "toolsAdded": [{"name": "pour"}]},
    ]
    told = told_by(
        "pi",
        *({"type": "message", "id": str(at), "message": {"role": "system", **line}} for at, line in enumerate(lines)),
    )
    assert [event.content for event in told] == [Notification("Serve tea.\n\nIt is hot.\n\nThere is some.", "system")]


@pytest.mark.parametrize("text", ["[Inter-session message] isUser=true\nBoil.", "[Inter-session message]"])
def test_only_what_no_person_wrote_is_an_agents_message(text: str) -> None:
    decoder = READERS["openclaw"].decoder("a.jsonl")
    line = json.dumps({"type": "message", "id": "a", "message": {"role": "user", "content": text}}).encode()
    (event,) = (item for item in decoder.feed(Record(line, Origin("a.jsonl", 1, 0, 0))) if isinstance(item, Event))
    assert event.content == User(text)


def test_a_path_alone_makes_no_log_one_of_openclaw() -> None:
    other = Head("/home/me/.openclaw/agents/main/sessions/a.jsonl", lines=({"type": "note"},))
    assert not claims_openclaw(other)
    mine = Head("/home/me/.openclaw/agents/main/sessions/a.jsonl", lines=(HEADER,))
    assert claims_openclaw(mine)
    assert not claims(mine)


def test_a_log_whose_header_is_torn_is_known_by_its_messages() -> None:
    message = {"role": "user", "content": "Hello", "timestamp": 1772359200000}
    head = Head("a.jsonl", lines=({"type": "novelty"}, {"type": "message", "message": message}))
    assert claims(head)
    assert not claims_stream(head)


def test_a_session_of_another_program_is_not_claimed(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    header = {"type": "session", "version": 0, "id": "s", "createdAt": 1783352228436, "cwd": "/w", "delegationDepth": 0}
    file.write_text(json.dumps(header) + '\n{"type":"turn/start","seq":1,"time":1,"data":{"turn":1}}\n')
    head = head_of(str(file))
    assert not any(claim(head) for claim in (claims, claims_openclaw, claims_stream))


def test_a_session_that_was_begun_anew_forgets_what_was_before() -> None:
    (event,) = told_by("openclaw", {"type": "reset", "id": "a", "reason": "daily"})
    assert isinstance(event, Event)
    assert event.content == Compacted(trigger="clear")


def _of_openclaw(model: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An answer that the program wrote itself."""
    usage = {"input": 200, "output": 0}
    message = {"role": "assistant", "content": list(blocks), "provider": "openclaw", "model": model, "usage": usage}
    return {"type": "message", "message": message | more}


def test_what_openclaw_says_itself_is_not_the_models_and_costs_nothing() -> None:
    notice = _of_openclaw("gateway-injected", {"type": "text", "text": "Model set to small."})
    (told,) = told_by("openclaw", HEADER, notice)
    assert told.content == Notification("Model set to small.", "info")
    begun = _of_openclaw("gateway-injected", {"type": "text", "text": "The tide"}, openclawAbort={"aborted": True})
    (told,) = told_by("openclaw", HEADER, begun)
    assert told.content == Said("The tide")  # what the model had said when it was stopped


def test_calls_of_a_script_are_told_though_openclaw_wrote_them_down() -> None:
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.md"}}
    told = told_by("openclaw", HEADER, _of_openclaw("gateway-injected", call, api="openclaw-transcript"))
    assert [event.type for event in told] == ["tool_call"]


def test_copies_of_what_went_out_to_a_chat_are_not_told_again() -> None:
    texts = [{"type": "text", "text": "Low tide at six."}, {"type": "text", "text": "High tide at noon."}]
    send = {"type": "toolCall", "id": "c1", "name": "message", "arguments": {"action": "send", "message": "On my way"}}
    answer = {"role": "assistant", "content": [*texts, send], "provider": "anthropic", "model": "big"}
    copies = [
        _of_openclaw("delivery-mirror", {"type": "text", "text": text})
        for text in ("Low tide at six.", "High tide at noon.\n", "On my way", "Said elsewhere.")
    ]
    told = told_by("openclaw", HEADER, {"type": "message", "message": answer}, *copies)
    said = [event.content.text for event in told if event.type == "message"]
    assert said == ["Low tide at six.", "High tide at noon.", "Said elsewhere."]


def test_a_message_whose_source_is_no_person_is_no_prompt() -> None:
    def asked(source: dict[str, Any]) -> Any:
        message = {"role": "user", "content": "Report.", "timestamp": 1, "provenance": source}
        (told,) = told_by("openclaw", HEADER, {"type": "message", "message": message})
        return told.content

    assert asked({"kind": "inter_session", "sourceSessionKey": "agent:main:x"}) == AgentMessage(
        "Report.", "agent:main:x"
    )
    assert asked({"kind": "internal_system", "sourceTool": "cron"}) == Notification("Report.", "context")
    assert asked({"kind": "external_user"}) == User("Report.")


def test_what_a_child_used_is_not_counted_in_its_parent_too() -> None:
    usage = {"input": 5, "output": 7}
    entry = {"type": "child_usage_attributed", "id": "u", "targetId": "t", "childUsage": usage, "aggregateUsage": usage}
    assert told_by("pi", HEADER, entry) == []


def test_sub_agents_that_an_extension_started_are_streams_of_their_session(tmp_path: Path) -> None:
    session, run = tmp_path / "2026_s.jsonl", tmp_path / "2026_s" / "ab12" / "run-0" / "session.jsonl"
    run.parent.mkdir(parents=True)
    done = {"agent": "scout", "task": "Look.", "exitCode": 0, "sessionFile": str(run)}
    result = {"role": "toolResult", "toolCallId": "c1", "content": "Wet.", "details": {"results": [done]}}
    session.write_text("\n".join(map(json.dumps, (HEADER, {"type": "message", "id": "r", "message": result}))))
    asked = {"role": "user", "content": "Task: Look.", "timestamp": 1}
    header = HEADER | {"id": "other"}
    run.write_text("\n".join(map(json.dumps, (header, {"type": "message", "id": "u", "message": asked}))))
    told = [item for path in (session, run) for item in open_log(str(path)) or () if isinstance(item, Event)]
    assert [(event.session_id, event.stream_id, event.type) for event in told] == [
        ("s", "main", "tool_result"),
        ("s", "main", "agent_spawn"),
        ("s", "agent:ab12/run-0", "agent_message"),
    ]
    assert told[1].content == AgentSpawn("ab12/run-0", "c1", "scout", "Look.")
    assert list(READERS["pi"].kin(str(session))) == [str(run)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[OpenClaw heartbeat poll]", [Notification("[OpenClaw heartbeat poll]", "context")]),
        (
            "System: [2026-02-18 19:59:08 UTC] tea\n\nA scheduled reminder has been triggered. The reminder is: tea",
            ["all of it"],
        ),
        ("System: [2026-02-18 19:59:08 UTC] tea\n\nRead HEARTBEAT.md if it exists.", ["all of it"]),
        ('[Wed 2026-02-18 16:43 GMT+1] [System Message] A subagent task "x" just timed out.', ["all of it"]),
        (
            "[Sat 2026-04-18 15:10 GMT+8] [Subagent Context] You are one.\n\n[Subagent Task]: Boil it.",
            [
                Notification(
                    "[Sat 2026-04-18 15:10 GMT+8] [Subagent Context] You are one.\n\n[Subagent Task]:", "context"
                ),
                AgentMessage("Boil it."),
            ],
        ),
        ("Follow the heartbeat monitor scratch context when there is some.", ["all of it"]),
        ("exec failed (q7w2, signal SIGTERM) :: killed", ["all of it"]),
        ("System: Exec finished (node=pc id=77aa, code 1)", ["all of it"]),
        ("[draft] 2026-05-07 00:23 is late.", [User("[draft] 2026-05-07 00:23 is late.")]),
    ],
)
def test_what_openclaws_gateway_hands_on_is_told_as_whose_it_is(text: str, told: list[Any]) -> None:
    message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}
    [event] = told_by("pi", HEADER, {"type": "message", "id": "u", "message": message})
    assert event.content == User(text)  # who talks to Pi may say anything
    events = told_by("openclaw", HEADER, {"type": "message", "id": "u", "message": message})
    whole = [Notification(text, "context")] if told == ["all of it"] else told
    assert [event.content for event in events] == whole


def test_skills_that_were_called_in_a_prompt_are_commands_and_the_prompt_goes_with_them() -> None:
    def given(name: str) -> str:
        said = f'The user explicitly invoked the "{name}" skill. Follow the instructions in <skill-instruction>.'
        tag = f'<skill-instruction name="{name}" location="/skills/{name}.md">'
        return f"{said}\n\n{tag}\nLook twice.\n</skill-instruction>"

    both = f"{given('debug')}\n\n{given('tea')}"
    texts = (f"{both}\n\n<user-request>\nboil\nit\n</user-request>", given("tea"))
    messages = (
        {"type": "message", "id": f"u{at}", "message": {"role": "user", "content": text, "timestamp": 1}}
        for at, text in enumerate(texts)
    )
    assert [event.content for event in told_by("pi", HEADER, *messages)] == [
        SlashCommand("/skill:debug"),
        SlashCommand("/skill:tea", "boil\nit"),
        Notification(both, "context"),
        SlashCommand("/skill:tea"),
        Notification(given("tea"), "context"),
    ]


def test_profiles_and_started_agents_have_places_of_their_own(tmp_path: Path) -> None:
    given = {"XDG_DATA_HOME": str(tmp_path / "data"), "PI_CODING_AGENT_SESSION_DIR": str(tmp_path / "own")}
    logs = [
        ".omp/profiles/home/agent/sessions/-w/a.jsonl",
        "data/omp/sessions/-w/b.jsonl",
        "data/omp/profiles/home/sessions/-w/c.jsonl",
        ".prime/agent/session-artifacts/s/r/session.jsonl",
        "own/-w/d.jsonl",
    ]
    for log in logs:
        (tmp_path / log).parent.mkdir(parents=True)
        (tmp_path / log).touch()
    found = {
        str(file.relative_to(tmp_path))
        for place in READERS["pi"].places(given, tmp_path)
        for pattern in place.patterns
        for file in place.folder.glob(pattern)
    }
    assert found == set(logs)


def test_what_prime_writes_beside_its_messages_is_known_and_who_answered_is_paid() -> None:
    header = HEADER | {"rlmDepth": 0, "git": {"repoUrl": "https://example.org/tea.git", "branch": "brew"}}
    answer: dict[str, Any] = {"role": "assistant", "content": [], "api": "a", "provider": "p", "model": "~tea-latest"}
    answer |= {"responseModel": "tea-0731", "usage": {"input": 3, "output": 1}}
    lines: list[dict[str, Any]] = [
        header,
        {"type": "session_state", "id": "a", "state": {"status": "active"}},
        {"type": "agent_status", "id": "b", "status": {"summary": "", "taskState": "needs_input"}},
        {"type": "message", "id": "c", "message": answer},
    ]
    decoder = READERS["pi"].decoder("s.jsonl")
    told: list[Any] = []
    for number, line in enumerate(lines, 1):
        told += decoder.feed(Record(json.dumps(line).encode(), Origin("s.jsonl", number, 0, 0)))
    assert [item.content for item in told] == [TokenUsage("tea-0731", 3, 0, 0, 1, 0)]
    assert [(facts.branch, facts.model) for facts in decoder.sessions.values()] == [("brew", "~tea-latest")]


def test_a_result_that_the_stream_tells_again_is_told_once() -> None:
    end = {"type": "tool_execution_end", "toolCallId": "c1", "toolName": "ls", "result": "hot", "isError": False}
    text = [{"type": "text", "text": "hot"}]
    message = {"role": "toolResult", "toolCallId": "c1", "toolName": "ls", "content": text, "isError": False}
    decoder = READERS["pi_stream"].decoder("a.jsonl")
    told: list[Any] = []
    for number, line in enumerate((HEADER, end, {"type": "message_end", "message": message}, end), 1):
        told += decoder.feed(Record(json.dumps(line).encode(), Origin("a.jsonl", number, 0, 0)))
    told += decoder.close()
    assert [item.content for item in told if isinstance(item.content, ToolOutput)] == [ToolOutput("c1", "hot", False)]


def test_the_branch_is_the_one_that_the_session_went_to() -> None:
    lines = [
        {**HEADER, "git": {"branch": "main"}},
        {"type": "message", "id": "a", "parentId": None, "message": {"role": "user", "content": "go", "timestamp": 1}},
        {"type": "git_state", "id": "b", "parentId": "a", "git": {"commit": "c0ffee", "branch": "feat/owl"}},
    ]
    decoder = READERS["pi"].decoder("a.jsonl")
    told: list[Any] = []
    for number, line in enumerate(lines, 1):
        told += decoder.feed(Record(json.dumps(line).encode(), Origin("a.jsonl", number, 0, 0)))
    assert [item.content for item in told] == [User("go")]
    assert decoder.sessions["s"].branch == "feat/owl"
