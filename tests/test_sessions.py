"""`unspool sessions`: which sessions there are, in which order, and what each used."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, Write
from logs import CHAT, SHOP, THREAD, Claude, Codex, Gemini, Machine

FIELDS = {
    "id": str,
    "agent": str,
    "project": str,
    "start": str,
    "end": str,
    "duration": float,
    "prompt": str,
    "title": type(None),
    "model": str,
    "turns": int,
    "tools": int,
    "tokens": dict,
    "streams": list,
    "files": list,
    "branch": str,
    "version": str,
    "parent": type(None),
    "rate_limits": list,
}
NOTHING = {"input": 0, "cache_read": 0, "cache_write": 0, "output": 0, "reasoning": 0, "cache_write_1h": 0}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """On the first of March a session of Claude Code, on the second one of Codex, on the third one of Gemini CLI."""
    machine = Machine(tmp_path)
    machine.claude(Claude().user("Mend the login").calls("t1", "Bash", command="make").result("t1", "ok").says("Done"))
    machine.codex(Codex().user("Make tea").says("Ready").counts(100, 40, 20, 5))
    machine.gemini(Gemini().user("Plant roses").says("Planted"))
    return machine


def rows(run: Run, machine: Machine, *arguments: str | Path) -> list[dict[str, Any]]:
    done = run("sessions", *arguments, "--json", **machine.environment)
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


def ids(run: Run, machine: Machine, *arguments: str | Path) -> list[str]:
    return [row["id"] for row in rows(run, machine, *arguments)]


def tokens(*counts: int, cache_write_1h: int = 0) -> dict[str, int]:
    return dict(zip(NOTHING, (*counts, cache_write_1h), strict=True))


def test_the_newest_comes_first(unspool: Run, machine: Machine) -> None:
    assert ids(unspool, machine) == [CHAT, THREAD, SHOP]


def test_a_session_is_as_new_as_its_last_event(unspool: Run, machine: Machine) -> None:
    machine.claude(Claude().user("Mend the login").later(10 * 86400).says("Done"))
    assert ids(unspool, machine)[0] == SHOP


def test_the_fields_and_their_types(unspool: Run, machine: Machine) -> None:
    row = rows(unspool, machine, "--agent", "claude_code")[0]
    assert {name: type(value) for name, value in row.items()} == FIELDS
    assert row["tokens"].keys() == NOTHING.keys()
    assert (row["start"], row["end"]) == ("2026-03-01T10:00:01.000Z", "2026-03-01T10:00:04.000Z")
    assert (row["duration"], row["turns"], row["tools"], row["prompt"]) == (3.0, 1, 1, "Mend the login")


def test_a_table_for_people(unspool: Run, machine: Machine) -> None:
    done = unspool("sessions", **machine.environment)
    head, newest, _, oldest = done.stdout.decode().splitlines()
    assert head.split() == "session agent start took turns tools input cached output asked".split()
    assert newest.split()[:2] == [CHAT[:8], "gemini_cli"]
    assert oldest.endswith("Mend the login")
    assert done.stderr.startswith(b"3 sessions: ")


@pytest.mark.parametrize("name", ["gemini_cli", "gemini-cli", "Gemini-CLI", "gem"])
def test_an_agent_by_name_or_its_beginning(unspool: Run, machine: Machine, name: str) -> None:
    assert ids(unspool, machine, "--agent", name) == [CHAT]


@pytest.mark.parametrize("name", ["c", "emacs"])
def test_an_agent_that_cannot_be_told_is_a_mistake(unspool: Run, machine: Machine, name: str) -> None:
    done = unspool("sessions", "--agent", name, **machine.environment)
    assert done.returncode == 2
    assert "claude_code" in done.stderr.decode()
    done = unspool("sessions", "--agent", "co", **machine.environment)
    assert b"'co' is the beginning of codex, continue, copilot_cli" in done.stderr


@pytest.mark.parametrize(
    ("folder", "found"),
    [
        ("/home/ada/shop", [SHOP]),
        ("/home/ada/shop/", [SHOP]),
        ("/home/ada", [CHAT, SHOP]),
        ("/home/ad", []),
        ("/home/ada/shop/src", []),
    ],
)
def test_only_what_ran_in_a_folder_or_below_it(unspool: Run, machine: Machine, folder: str, found: list[str]) -> None:
    assert ids(unspool, machine, "--project", folder) == found


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        (("--since", "2026-03-02"), [CHAT, THREAD]),
        (("--until", "2026-03-02"), [SHOP]),
        (("--since", "2026-03-01T10:00:03", "--until", "2026-03-02T12:00:00+00:00"), [THREAD, SHOP]),
        (("--since", "2026-03-01T10:00:05Z", "--until", "2026-03-03"), [THREAD]),
    ],
)
def test_only_what_went_on_in_a_time(
    unspool: Run, machine: Machine, arguments: tuple[str, ...], found: list[str]
) -> None:
    assert ids(unspool, machine, *arguments) == found


def test_a_span_is_counted_back_from_now(unspool: Run, tmp_path: Path) -> None:
    machine, now = Machine(tmp_path), datetime.now(UTC)
    machine.claude(Claude().since(now - timedelta(days=3, hours=1)).user("Long ago").says("Yes"))
    machine.claude(Claude("new").since(now - timedelta(hours=30)).user("Not long ago").says("Yes"))
    assert ids(unspool, machine, "--since", "3d") == ["new"]
    assert ids(unspool, machine, "--since", "90h", "--until", "36h") == [SHOP]
    assert ids(unspool, machine, "--since", "today") == []


def test_a_time_that_is_none_is_a_mistake(unspool: Run, machine: Machine) -> None:
    done = unspool("sessions", "--since", "tomorrowish", **machine.environment)
    assert done.returncode == 2
    assert b"'tomorrowish' is no date, no time, and no span like 3d or 12h" in done.stderr


def test_the_limit_takes_the_newest(unspool: Run, machine: Machine) -> None:
    assert ids(unspool, machine, "--limit", "2") == [CHAT, THREAD]
    assert unspool("sessions", "--limit", "0", **machine.environment).returncode == 2


def test_paths_in_place_of_this_machine(unspool: Run, machine: Machine) -> None:
    log = next(machine.home.rglob("rollout-*.jsonl"))
    assert ids(unspool, machine, log) == [THREAD]
    assert ids(unspool, machine, log, machine.home / ".codex", machine.home / ".gemini") == [CHAT, THREAD]


def test_two_processes_find_what_one_finds(unspool: Run, machine: Machine) -> None:
    one = unspool("sessions", machine.home, "--json", "--jobs", "1", **machine.environment)
    (machine.home / "cache" / "digests.db").unlink()
    two = unspool("sessions", machine.home, "--json", "--jobs", "2", **machine.environment)
    assert one.stdout == two.stdout
    assert len(one.stdout.splitlines()) == 3


def test_a_path_that_is_not_there(unspool: Run, machine: Machine) -> None:
    done = unspool("sessions", machine.home / "nope.jsonl", **machine.environment)
    assert done.returncode == 2
    assert b"nope.jsonl: No such file or directory" in done.stderr


def test_a_file_that_is_no_log(unspool: Run, machine: Machine, write: Write) -> None:
    done = unspool("sessions", write({"a": 1}, name="plain.jsonl"), **machine.environment)
    assert done.returncode == 2
    assert b"plain.jsonl: no agent's log that we know" in done.stderr


def test_a_stream_that_says_little_of_itself_is_its_agents(unspool: Run, machine: Machine, write: Write) -> None:
    asked = {"type": "user", "session_id": "s", "parent_tool_use_id": None, "message": {"content": "Hi"}}
    done = unspool("sessions", write(asked, {**asked, "uuid": "u"}), "--json", **machine.environment)
    assert json.loads(done.stdout)["agent"] == "claude_code"


def test_a_stream_behind_lines_of_text(unspool: Run, machine: Machine, write: Write) -> None:
    noise = [f"npm warn {number}" for number in range(9)]
    run = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.completed", "usage": {"input_tokens": 5}}]
    done = unspool("sessions", write(*noise, *run), "--json", **machine.environment)
    assert json.loads(done.stdout)["id"] == "t"


def test_files_of_a_folder_that_are_no_logs_are_passed_over(unspool: Run, machine: Machine) -> None:
    (machine.home / ".codex" / "notes.json").write_text('{"a": 1}')
    assert ids(unspool, machine, machine.home) == [CHAT, THREAD, SHOP]


def test_one_file_that_cannot_be_read_costs_nothing_else(unspool: Run, machine: Machine) -> None:
    log = next(machine.home.rglob("rollout-*.jsonl"))
    log.with_name("rollout-2026-03-09T10-00-00-broken.jsonl").symlink_to("/proc/self/mem")  # reading it fails
    done = unspool("sessions", "--json", **machine.environment)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [CHAT, THREAD, SHOP]


def test_an_empty_machine(unspool: Run, tmp_path: Path) -> None:
    done = unspool("sessions", **Machine(tmp_path).environment)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"no session: see `unspool sources` for where we look" in done.stderr


def test_an_empty_machine_as_json(unspool: Run, tmp_path: Path) -> None:
    done = unspool("sessions", "--json", **Machine(tmp_path).environment)
    assert (done.returncode, done.stdout) == (0, b"")


def test_a_closed_pipe_is_quiet(machine: Machine) -> None:
    for number in range(400):
        machine.claude(Claude(f"{number:08}-2222-4333-8444-555555555555").user("long " * 60).says("Done"))
    script = f"set -o pipefail; {sys.executable} -m unspool sessions --json | head -n 1"
    environment = {**os.environ, **machine.environment}
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")


def test_control_characters_are_made_harmless_and_other_letters_stay(unspool: Run, machine: Machine) -> None:
    machine.claude(Claude().user("Tür\x1b]0;title\x07 öffnen\n🚪 开门").says("Done"))
    shown = unspool("sessions", "--agent", "claude", **machine.environment).stdout.decode()
    assert "Tür\N{REPLACEMENT CHARACTER}]0;title\N{REPLACEMENT CHARACTER} öffnen 🚪 开门" in shown
    assert rows(unspool, machine, "--agent", "claude")[0]["prompt"] == "Tür\x1b]0;title\x07 öffnen\n🚪 开门"


def test_an_id_is_made_harmless_too(unspool: Run, machine: Machine) -> None:
    Claude("\x1b]0;title\x07").user("x").says("y").save(machine.home / ".claude" / "projects" / "a" / "b.jsonl")
    shown = unspool("sessions", **machine.environment).stdout.decode()
    assert not {"\x1b", "\x07"} & set(shown)


# Sessions of several files, and what they used


def agent(name: str = "abc") -> Claude:
    return Claude(agent=name).user("Find prices").says("price.py", usage=(7, 70, 700, 3))


@pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"])
def test_a_sub_agent_s_file_belongs_to_its_session(unspool: Run, machine: Machine, nested: bool) -> None:
    file = machine.claude(agent(), nested=nested)
    (row,) = rows(unspool, machine, "--agent", "claude")
    assert row["streams"] == ["main", "agent:abc"]
    assert row["files"][1:] == [str(file)]
    assert row["tokens"] == tokens(27, 2070, 900, 13, 0)
    assert (row["prompt"], row["turns"], row["tools"]) == ("Mend the login", 1, 1)


@pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"])
@pytest.mark.parametrize("filed", [False, True], ids=["inline only", "inline and in a file"])
def test_a_sub_agent_is_counted_once(unspool: Run, machine: Machine, filed: bool, nested: bool) -> None:
    machine.claude(Claude().user("Ask").calls("t1", "Task", prompt="Find").inline(agent(), "t1").result("t1", "ok"))
    if filed:
        machine.claude(agent(), nested=nested)
    (row,) = rows(unspool, machine, "--agent", "claude")
    assert row["streams"] == ["main", "agent:abc"]
    assert row["tokens"] == tokens(17, 1070, 800, 8, 0)


def test_an_agent_s_agent_belongs_to_the_session_too(unspool: Run, machine: Machine) -> None:
    machine.gemini(Gemini("weeder").user("Weed").says("Weeded"), master=CHAT)
    machine.gemini(Gemini("raker").user("Rake").says("Raked"), master="weeder")
    (row,) = rows(unspool, machine, "--agent", "gemini")
    assert sorted(row["streams"]) == ["agent:raker", "agent:weeder", "main"]
    assert row["tokens"] == tokens(150, 150, 0, 90, 15)


def test_a_message_of_several_lines_is_counted_once_with_its_largest_usage(unspool: Run, machine: Machine) -> None:
    log = Claude().user("Ask").thinks("hm", usage=(10, 1000, 100, 1)).says("Well", new=False, usage=(10, 1000, 100, 40))
    machine.claude(log)
    (row,) = rows(unspool, machine, "--agent", "claude")
    assert row["tokens"] == tokens(10, 1000, 100, 40, 0)


def test_what_a_fork_copied_is_not_counted_again(unspool: Run, machine: Machine) -> None:
    fork = "22222222-2222-4333-8444-555555555555"
    before = Claude().user("Ask").says("Well", usage=(1, 2, 3, 4))
    copied = Claude(fork)
    copied.records = [
        {**record, "sessionId": fork, "forkedFrom": {"sessionId": SHOP, "messageUuid": record["uuid"]}}
        for record in before.records
    ]
    machine.claude(before)
    machine.claude(copied.user("And?").says("So", usage=(10, 20, 30, 40)))
    used = {row["id"]: row["tokens"] for row in rows(unspool, machine, "--agent", "claude")}
    assert used == {SHOP: tokens(1, 2, 3, 4, 0), fork: tokens(10, 20, 30, 40, 0)}


def test_nor_is_what_a_resumed_session_copied_under_the_old_id(unspool: Run, machine: Machine) -> None:
    resumed = "22222222-2222-4333-8444-555555555555"
    before = Claude().user("Ask").says("Well", usage=(1, 2, 3, 4))
    copied = Claude(resumed)
    copied.records = list(before.records)
    machine.claude(before)
    machine.claude(copied.user("And?").says("So", usage=(10, 20, 30, 40)))
    used = {row["id"]: row["tokens"] for row in rows(unspool, machine, "--agent", "claude")}
    assert used == {SHOP: tokens(1, 2, 3, 4, 0), resumed: tokens(10, 20, 30, 40, 0)}


def copy_of(log: Claude, session: str, since: int = 0) -> Claude:
    """What some versions write when a session is resumed or forked: its records again, under the new id."""
    copied = Claude(session)
    copied.records = [{**record, "sessionId": session} for record in log.records[since:]]
    return copied.later(len(log.records))


FIRST, SECOND, THIRD = (f"{digit * 8}-2222-4333-8444-555555555555" for digit in "9ab")


@pytest.mark.parametrize("since", [0, 2], ids=["from the beginning", "from a later record"])
def test_a_call_that_was_copied_silently_counts_in_the_older_session(
    unspool: Run, machine: Machine, since: int
) -> None:
    before = Claude(FIRST).user("Ask").says("Well", usage=(100, 0, 0, 100)).says("Done", usage=(1, 2, 3, 4))
    machine.claude(before)
    again = copy_of(before, SECOND, since).user("And?").says("So", usage=(10, 20, 30, 40))
    machine.claude(again)
    machine.claude(copy_of(again, THIRD).user("Else?").says("No", usage=(5, 6, 7, 8)))
    used = {row["id"]: row["tokens"] for row in rows(unspool, machine, "--agent", "claude")}
    del used[SHOP]
    assert used == {
        FIRST: tokens(101, 2, 3, 104, 0),
        SECOND: tokens(10, 20, 30, 40, 0),
        THIRD: tokens(5, 6, 7, 8, 0),
    }


def test_an_agent_that_was_given_all_that_its_master_said_counts_its_own_calls(unspool: Run, machine: Machine) -> None:
    main = Claude(FIRST).user("Ask").says("Well", usage=(100, 0, 0, 100))
    side = Claude(FIRST, agent="acompact-1")
    side.records = [{**record, "isSidechain": True, "agentId": "acompact-1"} for record in main.records]
    answer = {**side.records[-1], "uuid": "own", "requestId": "req_own"}
    answer["message"] = {**answer["message"], "id": "msg_own", "usage": {"input_tokens": 1, "output_tokens": 2}}
    side.records.append(answer)
    rows_of_both = rows(unspool, machine, machine.claude(main), machine.claude(side, nested=True))
    assert [row["tokens"] for row in rows_of_both] == [tokens(101, 0, 0, 102, 0)]


def test_a_copied_call_counts_where_its_session_is_not_at_hand(unspool: Run, machine: Machine) -> None:
    before = Claude(FIRST).user("Ask").says("Well", usage=(1, 2, 3, 4))
    log = machine.claude(copy_of(before, SECOND).user("And?").says("So", usage=(10, 20, 30, 40)))
    (row,) = rows(unspool, machine, log)
    assert row["tokens"] == tokens(11, 22, 33, 44, 0)


def test_calls_of_two_projects_are_two_even_if_a_proxy_names_them_alike(unspool: Run, machine: Machine) -> None:
    one = Claude(FIRST).user("Ask").says("Well", usage=(1, 2, 3, 4))
    two = copy_of(one, SECOND)
    two.records = [{**record, "cwd": "/home/ada/bank"} for record in two.records]
    used = [row["tokens"] for row in rows(unspool, machine, machine.claude(one), machine.claude(two))]
    assert used == [tokens(1, 2, 3, 4, 0)] * 2


def test_cached_tokens_are_no_input_and_reasoning_is_output(unspool: Run, machine: Machine) -> None:
    used = {row["agent"]: row["tokens"] for row in rows(unspool, machine)}
    assert used["codex"] == tokens(60, 40, 0, 20, 5)
    assert used["gemini_cli"] == tokens(50, 50, 0, 30, 5)


def test_a_sub_agent_of_codex_belongs_to_its_session(unspool: Run, machine: Machine) -> None:
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}
    other = "019c0001-0000-7000-8000-000000000002"
    machine.codex(Codex(other, source=spawn, session_id=THREAD).user("Boil").says("Hot").counts(10, 0, 2, 0))
    (row,) = rows(unspool, machine, "--agent", "codex")
    assert row["streams"] == ["main", f"agent:{other}"]
    assert row["tokens"] == tokens(70, 40, 0, 22, 5)


def test_two_agents_may_use_the_same_id(unspool: Run, machine: Machine) -> None:
    machine.codex(Codex(SHOP).user("Make tea").says("Ready"))
    assert ids(unspool, machine, "--agent", "codex") == [THREAD, SHOP]
    assert ids(unspool, machine, "--agent", "claude") == [SHOP]


def test_what_each_session_cost(unspool: Run, machine: Machine) -> None:
    pytest.importorskip("genai_prices")
    log = Codex("019c0002-0000-7000-8000-000000000001", day=4).line("turn_context", cwd="/srv", model="gpt-5-codex")
    machine.codex(log.user("Boil").says("Boiling").counts(1_000_000, 0, 0, 0))
    assert all("cost" not in row for row in rows(unspool, machine))
    told = {row["prompt"]: (row["cost"], row["priced"]) for row in rows(unspool, machine, "--cost")}
    assert told["Boil"][0] == pytest.approx(1.25)  # gpt-5-codex, a million tokens
    assert told["Mend the login"] == (None, False)  # a model that has no price, and is not free
    done = unspool("sessions", "--cost", **machine.environment)
    assert b"   $1.25  Boil" in done.stdout
    assert b"       ?  Mend the login" in done.stdout
    assert ", ≥ $1.25 (3 not fully priced)".encode() in done.stderr
    done = unspool("sessions", "--cost", "--agent", "claude", **machine.environment)
    assert done.stderr.endswith(b", cost unknown\n")


def test_what_nobody_is_known_to_have_asked_for_is_a_turn_too(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.claude(Claude().says("Tea is ready").calls("t1", "Bash", command="pour").user("Thanks").says("Welcome"))
    (row,) = rows(unspool, machine)
    assert row["turns"] == 2
