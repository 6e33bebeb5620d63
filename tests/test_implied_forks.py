"""What the calls of a fork were sent of the session that it goes on from."""

import json
from pathlib import Path
from typing import Any

from conftest import Run
from logs import Codex, Machine

OTHER, FORK, AGAIN = (f"019c00{number}0-0000-7000-8000-000000000001" for number in (4, 5, 6))


def forked(thread: str, other: Codex, **more: Any) -> Codex:
    base = {"thread_id": other.thread, "end_byte_offset": len(other.lines())}
    return Codex(thread, forked_from_id=other.thread, history_base=base, history_mode="paginated", **more)


def asked(found: dict[str, Any]) -> list[list[str]]:
    rows = {row["id"]: row["content"] for row in found["messages"]}
    return [[rows[name] for name in request["request_messages"]] for request in found["requests"]]


def test_a_fork_that_names_what_it_goes_on_from_is_sent_it(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    other = Codex(OTHER).user("Tea").says("Hot")
    fork = forked(FORK, other).later(100).user("Cold?").says("With ice")
    again = forked(AGAIN, fork).later(200).user("How much?").says("Two")
    other.later(300).user("Thanks").says("Welcome")
    paths = [machine.codex(fork), machine.codex(again)]
    other.save(tmp_path / ".codex" / "archived_sessions" / other.name())
    for given in (paths, [FORK, AGAIN]):
        found = json.loads(unspool("cook", *given, "-q", **machine.environment).stdout)
        assert asked(found) == [["Tea", "Hot", "Cold?"], ["Tea", "Hot", "Cold?", "With ice", "How much?"]]
        assert found["requests"][1]["parent_id"] == found["requests"][0]["id"]
    unspool("squash", FORK, "-s", "-o", tmp_path / "out", **machine.environment)
    record = json.loads((tmp_path / "out" / "conversations.jsonl").read_text())
    assert [message["content"] for message in record["messages"]] == ["Tea", "Hot", "Cold?", "With ice"]


def test_it_is_sent_nothing_where_the_other_is_not_at_hand(unspool: Run, tmp_path: Path) -> None:
    fork = forked(FORK, Codex(OTHER).user("Tea")).user("Cold?").says("With ice")
    path = fork.save(tmp_path / fork.name())
    assert asked(json.loads(unspool("cook", path, "-q").stdout)) == [["Cold?"]]
    assert asked(json.loads(unspool("cook", "-", "-q", stdin=path.read_bytes()).stdout)) == [["Cold?"]]


def test_a_fork_that_begins_with_a_copy_is_sent_it(unspool: Run) -> None:
    path = Path(__file__).parent / "readers" / "codex" / "fork.jsonl"
    found = json.loads(unspool("cook", path, "-q").stdout)
    assert asked(found) == [["Rules of the other.", "A question to the other.", "Its answer.", "And now?"]]
    assert found["requests"][0]["usage"]["output"] == 50


def test_a_file_in_which_a_thread_goes_on_is_sent_what_was_kept_of_it(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    before = Codex(OTHER).user("Tea").says("Hot")
    base = {"thread_id": OTHER, "end_byte_offset": len(before.lines())}
    machine.codex(before.user("Milk").says("No"))
    after = Codex(OTHER, history_base=base, history_mode="paginated").later(100).user("Ice").says("Two")
    path = after.save(machine.codex(before).with_name(f"rollout-2026-03-02T11-00-00-{OTHER}_{FORK}.jsonl"))
    assert asked(json.loads(unspool("cook", path, "-q").stdout)) == [["Tea", "Hot", "Ice"]]
    found = json.loads(unspool("cook", OTHER, "-q", **machine.environment).stdout)
    assert asked(found) == [["Tea"], ["Tea", "Hot", "Milk"], ["Tea", "Hot", "Ice"]]
