"""`unspool cook` of agents' logs and sessions: the calls to the model that a session implies."""

import json
from pathlib import Path
from typing import Any

import pytest

from calls import call
from conftest import Run, Write
from logs import SHOP, THREAD, Claude, Codex, Gemini, Machine

CONTINUED = (
    "This session is being continued from a previous conversation that ran out of context. "
    "The summary below covers the earlier portion of the conversation.\n\nSummary:\nThe login was mended."
)
PATCH = "*** Begin Patch\n*** Add File: a.md\n+tea\n*** End Patch\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.claude(
        Claude()
        .user("Mend the login")
        .thinks("Tests first")
        .calls("t1", "Bash", new=False, command="make", timeout=9)
        .result("t1", "2 failed", failed=True)
        .says("Mended", usage=(20, 2000, 0, 7))
        .user("Thanks")
        .says("You are welcome")
    )
    return machine


def cooked(run: Run, machine: Machine, *inputs: str | Path) -> dict[str, Any]:
    done = run("cook", *inputs, "-q", **machine.environment)
    assert (done.returncode, done.stderr) == (0, b"")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def said(found: dict[str, Any], ids: list[str]) -> list[tuple[str, str]]:
    rows = {row["id"]: row for row in found["messages"]}
    return [(rows[id_]["role"], rows[id_]["content"]) for id_ in ids]


def test_each_call_to_the_model_with_what_it_was_sent_and_what_it_said(unspool: Run, machine: Machine) -> None:
    found = cooked(unspool, machine, next(machine.home.rglob(f"{SHOP}.jsonl")))
    first, second, third = found["requests"]
    assert said(found, first["request_messages"]) == [("user", "Mend the login")]
    assert said(found, first["response_messages"]) == [("thinking", "Tests first"), ("tool_use", "")]
    assert said(found, second["request_messages"])[-1] == ("tool_result", "2 failed")
    assert said(found, second["response_messages"]) == [("assistant", "Mended")]
    assert second["request_messages"] == [
        *first["request_messages"],
        *first["response_messages"],
        *second["request_messages"][3:],
    ]
    assert said(found, third["request_messages"])[-2:] == [("assistant", "Mended"), ("user", "Thanks")]


def test_each_call_continues_the_one_before(unspool: Run, machine: Machine) -> None:
    requests = cooked(unspool, machine, next(machine.home.rglob(f"{SHOP}.jsonl")))["requests"]
    assert [request["parent_id"] for request in requests] == [None, requests[0]["id"], requests[1]["id"]]
    assert [request["parent_reason"] for request in requests[1:]] == ["continues", "continues"]


def test_calls_of_tools_have_the_arguments_that_the_agent_gave(unspool: Run, machine: Machine) -> None:
    rows = cooked(unspool, machine, next(machine.home.rglob(f"{SHOP}.jsonl")))["messages"]
    (use,) = [row for row in rows if row["role"] == "tool_use"]
    assert use["tool_calls"] == [{"name": "Bash", "arguments": {"command": "make", "timeout": 9}, "id": "t1"}]
    (result,) = [row for row in rows if row["role"] == "tool_result"]
    assert (result["tool_use_id"], result["is_error"]) == ("t1", True)


def test_a_patch_stays_as_the_agent_wrote_it(unspool: Run, machine: Machine) -> None:
    path = machine.codex(Codex().user("Tea").patches("c1", PATCH).result("c1", "ok", "custom_tool_call_output"))
    rows = cooked(unspool, machine, path)["messages"]
    (use,) = [row for row in rows if row["role"] == "tool_use"]
    assert use["tool_calls"][0]["name"] == "apply_patch"
    assert list(use["tool_calls"][0]["arguments"].values()) == [PATCH]


def test_usage_model_time_and_agent(unspool: Run, machine: Machine) -> None:
    request = cooked(unspool, machine, next(machine.home.rglob(f"{SHOP}.jsonl")))["requests"][1]
    assert request["usage"] == {"input": 20, "cache_read": 2000, "output": 7}
    assert (request["model"], request["format"], request["response_id"]) == (
        "claude-test-1",
        "claude_code",
        "msg_main_2",
    )
    assert request["timestamp"] == 1_772_359_204_000
    assert request["duration_ms"] == 1000


def test_a_session_by_its_id(unspool: Run, machine: Machine) -> None:
    machine.claude(Claude(agent="abc").user("Find prices").says("price.py"))
    by_id = cooked(unspool, machine, SHOP)
    assert len(by_id["requests"]) == 4
    assert ("assistant", "price.py") in [(row["role"], row["content"]) for row in by_id["messages"]]


@pytest.mark.parametrize("name", [SHOP[:8], "latest"])
def test_a_session_by_the_beginning_of_its_id_or_as_the_latest(unspool: Run, machine: Machine, name: str) -> None:
    assert len(cooked(unspool, machine, name)["requests"]) == 3


def test_a_session_that_is_not_there(unspool: Run, machine: Machine) -> None:
    done = unspool("cook", "0000", **machine.environment)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"0000" in done.stderr


def test_the_summary_counts_a_session_s_calls(unspool: Run, machine: Machine) -> None:
    done = unspool("cook", SHOP, **machine.environment)
    assert done.returncode == 0
    assert b"3 requests" in done.stderr
    assert b"Thanks" in done.stderr or b"Mend the login" in done.stderr


def test_logs_and_recorded_calls_together(unspool: Run, machine: Machine, write: Write) -> None:
    recorded = write(call("u1", answer="a1"), name="recorded.jsonl")
    formats = [
        request["format"] for request in cooked(unspool, machine, recorded, machine.home / ".claude")["requests"]
    ]
    assert sorted(formats) == ["claude_code", "claude_code", "claude_code", "openai"]


def test_a_log_on_standard_input(unspool: Run, machine: Machine) -> None:
    log = Claude().user("Mend it").says("Mended")
    done = unspool("cook", "-", "-q", stdin=log.lines(), **machine.environment)
    assert (done.returncode, len(json.loads(done.stdout)["requests"])) == (0, 1)


def test_a_sub_agent_is_a_conversation_of_its_own(unspool: Run, machine: Machine) -> None:
    path = machine.claude(Claude(agent="abc").user("Find prices").says("a.py").user("More").says("b.py"))
    requests = cooked(unspool, machine, next(machine.home.rglob(f"{SHOP}.jsonl")), path)["requests"]
    roots = [request for request in requests if request["parent_id"] is None]
    assert len(requests) == 5
    assert len(roots) == 2


def test_behind_a_compaction_only_the_summary_is_sent(unspool: Run, machine: Machine) -> None:
    log = Claude().user("Mend the login").says("Mended").user("Test it").says("Tested").compacted(CONTINUED)
    found = cooked(unspool, machine, machine.claude(log.user("And now?").says("Rest")))
    _, before, behind = found["requests"]
    assert said(found, behind["request_messages"]) == [("user", CONTINUED), ("user", "And now?")]
    assert (behind["parent_id"], behind["parent_reason"]) == (before["id"], "compaction")


@pytest.mark.parametrize("summary", ["", "The user wants tea; water is hot."], ids=["kept by the provider", "in words"])
def test_a_compaction_is_known_from_the_log_whatever_its_words(unspool: Run, machine: Machine, summary: str) -> None:
    log = Codex().user("Make tea").says("Hot water").user("Go on").says("Leaves").line("compacted", message=summary)
    requests = cooked(unspool, machine, machine.codex(log.user("Serve it").says("Served")))["requests"]
    assert [request["parent_reason"] for request in requests] == [None, "continues", "compaction"]


def test_in_a_log_that_counts_no_tokens_a_result_ends_the_call(unspool: Run, machine: Machine) -> None:
    log = (
        Codex()
        .user("Tea")
        .calls("c1", "exec_command", cmd="ls")
        .result("c1", "a")
        .calls("c2", "exec_command", cmd="ls b")
    )
    path = machine.codex(log.calls("c3", "exec_command", cmd="ls c").result("c2", "b").result("c3", "c").says("Ready"))
    found = cooked(unspool, machine, path)
    assert [len(request["response_messages"]) for request in found["requests"]] == [1, 1, 1]
    assert [role for role, _ in said(found, found["requests"][2]["request_messages"])] == [
        "user",
        "tool_use",
        "tool_result",
        "tool_use",
        "tool_result",
        "tool_result",
    ]


def test_in_a_log_that_counts_them_each_count_is_a_call(unspool: Run, machine: Machine) -> None:
    log = Gemini().user("Plant roses")
    for number in (1, 2):
        log.says("I look", log.called(f"c{number}", "list_directory", f"bed {number}", path="."))
    found = cooked(unspool, machine, machine.gemini(log.says("Planted")))
    assert [request["usage"]["output"] for request in found["requests"]] == [30, 30, 30]
    assert said(found, found["requests"][1]["request_messages"])[-1] == ("tool_result", "bed 1")


def test_the_calls_of_a_session_use_what_the_session_used(unspool: Run, machine: Machine) -> None:
    log = Codex().user("Tea").says("Hot").counts(100, 40, 20, 5).counts(100, 40, 20, 5).user("More").says("Cold")
    machine.codex(log.counts(10, 4, 2, 1))
    rows = unspool("sessions", "--agent", "codex", "--json", **machine.environment).stdout
    usages = [request["usage"] for request in cooked(unspool, machine, THREAD)["requests"]]
    used = json.loads(rows)["tokens"]
    assert {name: sum(usage.get(name, 0) for usage in usages) for name in used} == used


def test_what_the_program_tells_between_a_result_and_its_count_costs_no_count(unspool: Run, tmp_path: Path) -> None:
    told = {"type": "edited_text_file", "filename": "a.py", "snippet": "1 tea"}
    log = Claude().user("Tea").calls("t1", "Bash", command="brew").result("t1", "hot")
    log._record("attachment", attachment=told).says("Done").user("Thanks").says("Welcome")
    path = log.save(tmp_path / f"{SHOP}.jsonl")
    requests = json.loads(unspool("cook", path, "-q").stdout)["requests"]
    assert [bool(request["usage"]) for request in requests] == [True, True, True]
    assert len(requests[1]["request_messages"]) == 4, "the prompt, the call, its result, and what was told"


@pytest.mark.parametrize("before", [0, 1])
def test_a_result_stands_behind_its_call_whatever_was_typed_meanwhile(
    unspool: Run, tmp_path: Path, before: int
) -> None:
    log = Claude().user("Tea").calls("t1", "Bash", command="brew").calls("t2", "Bash", new=False, command="pour")
    results = [("t1", "hot"), ("t2", "full")]
    for result in results[:before]:
        log.result(*result)
    for more in ({"operation": "enqueue", "content": "And milk"}, {"operation": "remove"}):
        log._record("queue-operation", **more)
    for result in results[before:]:
        log.result(*result)
    path = log.says("Done").user("Thanks").says("Welcome").save(tmp_path / f"{SHOP}.jsonl")
    found = json.loads(unspool("cook", path, "-q").stdout)
    told = [("user", "Tea"), ("tool_use", ""), ("tool_result", "hot"), ("tool_result", "full"), ("user", "And milk")]
    assert [said(found, request["request_messages"]) for request in found["requests"]] == [
        told[:1],
        told,
        [*told, ("assistant", "Done"), ("user", "Thanks")],
    ]


def test_a_log_that_begins_with_a_result_was_answered_after_it(unspool: Run, tmp_path: Path) -> None:
    path = Claude().result("t0", "hot").says("Done").save(tmp_path / f"{SHOP}.jsonl")
    found = json.loads(unspool("cook", path, "-q").stdout)
    assert [said(found, request["request_messages"]) for request in found["requests"]] == [[("tool_result", "hot")]]


def test_what_could_not_be_read_is_noted(unspool: Run, machine: Machine) -> None:
    path = Claude().user("x").says("y").save(machine.home / "log.jsonl")
    path.write_bytes(path.read_bytes() + b'{"torn\n')
    done = unspool("cook", path, "--strict", "-q", **machine.environment)
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["requests"]) == 1
