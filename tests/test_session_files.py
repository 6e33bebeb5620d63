"""Sessions of which several files tell: parts that go on from one another, and copies."""

import json
from pathlib import Path

import pytest

from conftest import Run
from logs import SHOP, Claude, Machine
from test_sessions import rows, tokens


def test_a_session_that_goes_on_in_another_file_is_one(unspool: Run, tmp_path: Path) -> None:
    """As when it is resumed from another folder. The order of the names says nothing."""
    machine = Machine(tmp_path)
    first = Claude(day=1).user("Mend the login").calls("t1", "Bash", command="make").result("t1", "ok").says("Done")
    then = Claude(day=2).user("And the logout").says("Done too", usage=(7, 8, 9, 10))
    for record in then.records:
        record["uuid"] += "-later"
    then.records[-1]["requestId"] += "-later"
    folder = tmp_path / ".claude" / "projects"
    files = [log.save(folder / name / f"{SHOP}.jsonl") for log, name in ((first, "-z"), (then, "-a"))]
    row, *others = rows(unspool, machine)
    assert not others
    assert (row["id"], row["turns"], row["tools"], row["prompt"]) == (SHOP, 2, 1, "Mend the login")
    assert row["tokens"] == tokens(10 + 10 + 7, 1000 + 1000 + 8, 100 + 100 + 9, 5 + 5 + 10, 0)
    assert row["files"] == list(map(str, files))
    shown = unspool("show", SHOP, "--json", **machine.environment).stdout.splitlines()
    prompts = [event["content"]["text"] for event in map(json.loads, shown) if event["type"] == "user"]
    assert prompts == ["Mend the login", "And the logout"]
    squashed = unspool("squash", tmp_path / ".claude", "-o", tmp_path / "out", **machine.environment)
    assert squashed.returncode == 0, squashed.stderr
    written = b"".join(path.read_bytes() for path in (tmp_path / "out").glob("*.jsonl"))
    assert written.count(b"Mend the login") == written.count(b"And the logout") == 1


def test_a_telling_with_times_counts_before_one_without(unspool: Run, tmp_path: Path) -> None:
    log = Claude().user("Mend the login").says("Done")
    folder = tmp_path / ".claude" / "projects"
    log.save(folder / "-b" / f"{SHOP}.jsonl")
    for record in log.records:
        del record["timestamp"]
    log.save(folder / "-c" / f"{SHOP}.jsonl")
    (row,) = rows(unspool, Machine(tmp_path))
    assert (row["turns"], row["start"]) == (1, "2026-03-01T10:00:01.000Z")


@pytest.mark.parametrize("names", ["abc", "acb", "bca", "cab"])
def test_whatever_the_order_of_its_files_no_part_is_lost(unspool: Run, tmp_path: Path, names: str) -> None:
    for day, name in enumerate(names, 1):
        log = Claude(day=day).user(f"Day {day}").says("Done")
        log.save(tmp_path / ".claude" / "projects" / f"-{name}" / f"{SHOP}.jsonl")
    (row,) = rows(unspool, Machine(tmp_path))
    assert (row["turns"], row["prompt"], row["tokens"]["output"]) == (3, "Day 1", 15)


def test_a_session_that_was_copied_whole_is_told_once(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    log = Claude().user("Mend the login").says("Done")
    folder = tmp_path / ".claude" / "projects"
    log.save(folder / "-a" / f"{SHOP}.jsonl")
    log.user("And the logout").says("Done too").save(folder / "-b" / f"{SHOP}.jsonl")
    (row,) = rows(unspool, machine)
    assert (row["turns"], row["tokens"]["output"]) == (2, 10)


def aside(main: Claude, **more: str) -> Claude:
    """An agent whose log begins with what its master said; `more` is what the copies say otherwise."""
    agent = Claude(agent="aside_question-0f1e")
    agent.records = [{**record, "isSidechain": True, "agentId": agent.agent, **more} for record in main.records]
    return agent.later(60).user("Which colour?").says("Green", usage=(1, 2, 3, 4))


def test_what_an_agent_was_given_of_its_master_is_told_once(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    main = Claude().user("Paint it").calls("t1", "Bash", command="ls").result("t1", "fence").says("Painted")
    machine.claude(main)
    machine.claude(aside(main), nested=True)
    (row,) = rows(unspool, machine)
    assert (row["turns"], row["tools"], row["tokens"]) == (1, 1, tokens(21, 2002, 203, 14, 0))
    shown = map(json.loads, unspool("show", SHOP, "--json", **machine.environment).stdout.splitlines())
    assert [
        event["content"]["text"] for event in shown if event["stream_id"] != "main" and "text" in event["content"]
    ] == [
        "Which colour?",
        "Green",
    ]


def test_without_its_masters_log_all_that_an_agent_was_given_is_told(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    main = Claude().user("Paint it").says("Painted")
    (row,) = rows(unspool, machine, machine.claude(aside(main), nested=True))
    assert (row["prompt"], row["turns"]) == ("Paint it", 2)


def test_a_named_agent_that_its_master_repeats_is_told(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    agent = Claude(agent="areviewer-0f1e").user("Review it").says("Fine", usage=(1, 2, 3, 4))
    main = Claude().user("Have it reviewed").calls("t1", "Agent", prompt="Review it").inline(agent, "t1").says("Done")
    machine.claude(main)
    machine.claude(agent, nested=True)
    (row,) = rows(unspool, machine)
    assert row["tokens"] == tokens(21, 2002, 203, 14, 0)


def test_a_copy_under_another_request_is_counted_once(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    main = Claude().user("Paint it").says("Painted")
    main.records[-1]["message"]["id"] = "msg_01" + "Ab3" * 8
    machine.claude(main)
    agent = aside(main, requestId="req_again")
    for number, record in enumerate(agent.records[: len(main.records)]):
        record["uuid"] = f"again-{number}"
    machine.claude(agent, nested=True)
    (row,) = rows(unspool, machine)
    assert row["tokens"] == tokens(11, 1002, 103, 9, 0)


@pytest.mark.parametrize("answered", [True, False], ids=["stopped", "still at work"])
def test_an_agent_whose_call_came_to_nothing_is_linked_by_what_stands_beside_its_log(
    unspool: Run, tmp_path: Path, answered: bool
) -> None:
    machine = Machine(tmp_path)
    main = Claude().user("Look right").calls("t1", "Agent", description="look right", prompt="Look", subagent_type="x")
    machine.claude(main.result("t1", "[Request interrupted by user]", failed=True) if answered else main)
    log = machine.claude(Claude(agent="a0f1e").user("Look").says("Looking"), nested=True)
    about = {"agentType": "Explore", "description": "look right", "toolUseId": "t1", "spawnDepth": 1}
    log.with_name("agent-a0f1e.meta.json").write_text(json.dumps(about))
    log.with_name("agent-a0000.meta.json").write_text("{")
    shown = map(json.loads, unspool("show", SHOP, "--json", **machine.environment).stdout.splitlines())
    spawned = [event["content"] for event in shown if event["type"] == "agent_spawn"]
    assert spawned == [
        {"agent_id": "a0f1e", "provider_call_id": "t1", "agent_type": "Explore", "description": "look right"}
    ]


def test_files_that_cannot_be_read_are_told_and_cost_nothing_else(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    log = Claude().user("Mend the login").says("Done").save(tmp_path / ".claude" / "projects" / "-a" / f"{SHOP}.jsonl")
    broken = log.with_name("broken.jsonl")
    broken.symlink_to("/proc/self/mem")  # reading it fails
    done = unspool("sessions", "--json", **machine.environment)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert f"1 file could not be read: {broken}: " in done.stderr.decode()
