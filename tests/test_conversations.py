"""Whatever is given → conversations, and what the tree makes of them."""

import json
from pathlib import Path
from typing import Any

import pytest

from calls import call
from conftest import Write
from entries import Log, conversations, says, system, user
from logs import SHOP, THREAD, Claude, Codex, Machine
from unspool.errors import InputNotFound, SessionNotFound
from unspool.ingest.conversations import Conversation, read_unit, units
from unspool.jobs.tree import records
from unspool.model import Note
from unspool.model.record import TrainingRecord

CLAUDE_USER = "user_1a_account_2b_session_0f0f-77"


def found(*paths: str | Path, agent: str | None = None) -> list[Conversation]:
    return [item for item in conversations(list(map(str, paths)), agent) if isinstance(item, Conversation)]


def sizes(conversations: list[Conversation]) -> dict[str, int]:
    return {each.session: len(each.exchanges) for each in conversations}


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    machine = Machine(tmp_path)
    for name, value in machine.environment.items():
        monkeypatch.setenv(name, value)
    return machine


def test_a_session_file_is_one_conversation(tmp_path: Path) -> None:
    folder = tmp_path / "logs" / "2026-03-01"
    folder.mkdir(parents=True)
    log = Log()
    log.ask([*log.ask([system(), user("Mend it")], says("Mended")), user("Thanks")], says("Welcome"))
    lines = [json.dumps(entry) for entry in log.entries]
    (folder / "mend-login-1769212345678901234.jsonl").write_text("\n".join([lines[0], "{torn", lines[1], ""]))
    items = list(conversations([str(tmp_path / "logs")]))
    (note,) = [item for item in items if isinstance(item, Note)]
    assert (note.kind, note.origin.line) == ("unreadable", 2)
    (made,) = [item for item in items if isinstance(item, Conversation)]
    assert (made.session, made.date, made.scenario, len(made.exchanges)) == ("s1", "2026-03-01", "mend-login", 2)
    assert made.source.endswith("mend-login-1769212345678901234.jsonl")


def test_in_the_order_of_time(write: Write) -> None:
    log = Log()
    for text in "abc":
        log.ask([user(text)], says(text))
    (made,) = found(write(*reversed(log.entries)))
    assert [exchange.id or exchange.response.id for exchange in made.exchanges] == ["r0", "r1", "r2"]


@pytest.mark.parametrize(
    "named",
    [
        lambda name: {"session_id": name},
        lambda name: {"session": {"id": name}},
        lambda name: {"conversation": name},
        lambda name: {"headers": {"X-Session-Id": name}},
        lambda name: {"request": {"metadata": {"user_id": f"user_1a_account_2b_session_{name}"}}},
        lambda name: {"request": {"metadata": {"user_id": json.dumps({"device_id": "d", "session_id": name})}}},
        lambda name: {"request": {"prompt_cache_key": name}},
        lambda name: {"request": {"conversation": {"id": name}}},
    ],
)
def test_traffic_is_split_by_its_session_field(write: Write, named: Any) -> None:
    calls = [call("u1", answer="a1", **named(name)) for name in ("x", "y", "x")]
    assert sizes(found(write(*calls))) == {"x": 2, "y": 1}


def test_traffic_without_sessions_is_split_by_its_roots(write: Write) -> None:
    path = write(
        call("s:Be brief", "u1", answer="a1 is what I say to this at some length, so that it is known"),
        call("s:Be brief", "u9", answer="a9"),
        call("s:Be brief", "u1", "a1 is what I say to this at some length, so that it is known", "u2", answer="a2"),
        call("s:Be brief", "u9", "a9", "u10", answer="a10"),
        call("s:Be brief", "u1", answer="a retry"),
        name="mixed.jsonl",
    )
    made = found(path)
    assert sizes(made) == {"mixed-1": 3, "mixed-2": 2}
    assert sorted(record.relation for record in records(made[0])) == ["main", "retry"]


@pytest.mark.parametrize("path", ["/v1/messages/count_tokens", "/v1/responses/input_tokens"])
def test_calls_that_only_count_are_left_out(path: str, write: Write) -> None:
    counted = call("u1", path=path)
    (made,) = found(write(counted, call("u1", answer="a1")))
    assert len(made.exchanges) == 1


def claude(messages: list[Any], *content: dict[str, Any]) -> dict[str, Any]:
    request = {
        "model": "claude-test",
        "system": [{"type": "text", "text": "Be brief."}],
        "metadata": {"user_id": CLAUDE_USER},
        "messages": messages,
        "tools": [{"name": "Bash", "description": "Run", "input_schema": {"type": "object"}}],
    }
    response = {"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn"}
    return {"path": "/v1/messages", "request": request, "response": {**response, "usage": {"output_tokens": 3}}}


def test_claude_s_calls_become_chat_messages(write: Write) -> None:
    asked = [{"role": "user", "content": [{"type": "text", "text": "List", "cache_control": {"type": "ephemeral"}}]}]
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    thought = {"type": "thinking", "thinking": "Look first", "signature": "s"}
    echoed = [{"role": "user", "content": "List"}, {"role": "assistant", "content": [use]}]
    answered = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}],
    }
    path = write(claude(asked, thought, use), claude([*echoed, answered], {"type": "text", "text": "None"}))
    (made,) = found(path)
    assert made.session == "0f0f-77"
    (record,) = records(made)
    function = {"name": "Bash", "arguments": '{"command":"ls"}'}
    assert record.messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "List"},
        {
            "role": "assistant",
            "reasoning_content": "Look first",
            "tool_calls": [{"id": "t1", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "no", "tool_call_id": "t1", "is_error": True, "name": "Bash"},
        {"role": "assistant", "content": "None"},
    ]
    assert [turn.train for turn in record.turns] == [False, False, True, False, True]
    assert record.tools == [
        {"type": "function", "function": {"name": "Bash", "description": "Run", "parameters": {"type": "object"}}}
    ]


def responses(number: int, given: list[Any], output: list[Any], **more: Any) -> dict[str, Any]:
    request = {"model": "gpt-5", "input": given, "instructions": "Be brief.", **more}
    response = {"object": "response", "id": f"resp_{number}", "status": "completed", "output": output}
    return {"path": "/v1/responses", "timestamp": 1_772_359_200 + number, "request": request, "response": response}


@pytest.mark.parametrize("held", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}])
def test_responses_that_the_provider_remembers_are_whole_again(held: dict[str, Any], write: Write) -> None:
    asked = {"role": "user", "content": [{"type": "input_text", "text": "List"}]}
    thought = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look first"}]}
    text = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Looking"}]}
    used = {"type": "function_call", "call_id": "c1", "name": "ls", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "a.py"}
    done = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One file"}]}
    path = write(
        responses(1, [asked], [thought, text, used], conversation=held.get("conversation")),
        responses(2, [output], [done], **held),
    )
    (record,) = [record for made in found(path) for record in records(made)]
    assert record.messages == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "List"},
        {
            "role": "assistant",
            "content": "Looking",
            "reasoning_content": "Look first",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "a.py", "tool_call_id": "c1", "name": "ls"},
        {"role": "assistant", "content": "One file"},
    ]


@pytest.mark.parametrize("added", [True, False])
def test_tools_among_what_was_said_are_remembered_too(added: bool, write: Write) -> None:
    tools = [{"type": "function", "name": "ls", "parameters": {}}]
    given = [{"type": "additional_tools", "role": "developer", "tools": tools}] if added else []
    asked = responses(1, [*given, {"role": "user", "content": "List"}], [], **({} if added else {"tools": tools}))
    on = [{"role": "user", "content": "On"}]
    more = [responses(number, on, [], previous_response_id=f"resp_{number - 1}") for number in (2, 3)]
    (made,) = found(write(asked, *more))
    names = [[tool.name for tool in each.tools] for each in made.exchanges]
    assert names == ([["ls"], ["ls"], ["ls"]] if added else [["ls"], [], []])


def test_a_thread_that_anthropic_holds_is_whole_again(write: Write) -> None:
    def sent(number: int, asked: str, thread: dict[str, str], **more: Any) -> dict[str, Any]:
        request = {"model": "m", "messages": [{"role": "user", "content": asked}], "thread": thread, **more}
        response = {"type": "message", "id": f"msg_{number}", "content": [{"type": "text", "text": f"Answer {number}"}]}
        return {"timestamp": 1_772_359_200 + number, "request": request, "response": response}

    goes_on = {"type": "continue", "previous_message_id": "msg_1"}
    first = sent(1, "List", {"type": "create"}, tools=[{"name": "ls", "input_schema": {"type": "object"}}])
    (made,) = found(write(first, sent(2, "Go on", goes_on)))
    assert [[tool.name for tool in exchange.tools] for exchange in made.exchanges] == [["ls"], ["ls"]]
    (record,) = records(made)
    assert [message["content"] for message in record.messages] == ["List", "Answer 1", "Go on", "Answer 2"]


@pytest.mark.parametrize("case", ["claude/stream", "gemini/stream", "responses/stream", "openai/stream"])
def test_streams_of_every_wire_are_read(case: str) -> None:
    made = [record for each in found(Path(__file__).parent / "wires" / f"{case}.json") for record in records(each)]
    assert any(turn.train for record in made for turn in record.turns)


def test_an_agent_s_log_with_its_sub_agent(machine: Machine) -> None:
    log = Claude().user("Mend the prices").calls("t1", "Task", prompt="Find the prices", description="Find")
    path = machine.claude(log.later(60).result("t1", "price.py").says("Mended"))
    agent = Claude(agent="abc").later(3).user("Find the prices").calls("g1", "Grep", pattern="price")
    machine.claude(agent.result("g1", "price.py:1").says("price.py"))
    for given in (path, path.parent, SHOP):
        (made,) = found(given)
        assert (made.session, made.agent, made.scenario, made.date) == (SHOP, "claude_code", "shop", "2026-03-01")
        main, inner = records(made)
        assert [record.relation for record in (main, inner)] == ["main", "subagent"]
        assert (inner.parent, inner.call) == (main.id, "t1")
        assert main.messages[-1] == {"role": "assistant", "content": "Mended"}
        assert [message["role"] for message in inner.messages] == ["user", "assistant", "tool", "assistant"]
        assert all(turn.train for record in (main, inner) for turn in record.turns if turn.generated)


def test_a_compaction_that_the_log_tells(machine: Machine) -> None:
    log = Claude().user("Mend it").says("Mended").user("Test it").says("Tested").compacted("So far: all well")
    made = _relations(*found(machine.claude(log.user("And now?").says("Rest"))))
    assert made == ["main", "compaction"]


def _relations(conversation: Conversation) -> list[str]:
    made: list[TrainingRecord] = records(conversation)
    assert made[1].parent == made[0].id
    return [record.relation for record in made]


def test_only_the_logs_of_one_agent(machine: Machine) -> None:
    machine.claude(Claude().user("Mend it").says("Mended"))
    machine.codex(Codex().user("Tea").says("Hot"))
    assert sizes(found(agent="codex")) == {THREAD: 1}
    assert sizes(found(machine.home, agent="claude_code")) == {SHOP: 1}
    assert sizes(found()) == {SHOP: 1, THREAD: 1}


def test_logs_and_calls_in_one_folder(machine: Machine, write: Write) -> None:
    machine.claude(Claude().user("Mend it").says("Mended"))
    write(call("u1", answer="a1"), name="recorded.jsonl")
    assert sizes(found(machine.home)) == {SHOP: 1, "recorded": 1}


def test_units_hold_each_session_once_and_can_be_read_apart(machine: Machine) -> None:
    path = machine.claude(Claude().user("Mend it").says("Mended"))
    agent = machine.claude(Claude(agent="abc").user("Find prices").says("price.py"))
    for given in ([str(path), str(agent)], [str(agent), str(path)], [str(path.parent)]):
        (unit,) = units(given)
        (made,) = [item for item in read_unit(unit) if isinstance(item, Conversation)]
        assert (made.session, len(made.exchanges)) == (SHOP, 2)


def test_what_is_not_there(machine: Machine) -> None:
    with pytest.raises(InputNotFound):
        found(machine.home / "nothing.jsonl")
    machine.claude(Claude().user("Mend it").says("Mended"))
    with pytest.raises(SessionNotFound):
        found("0000")


def test_a_file_of_something_else_is_noted(write: Write) -> None:
    (note,) = conversations([str(write({"hello": "world"}))])
    assert isinstance(note, Note)
    assert note.kind == "skipped"
