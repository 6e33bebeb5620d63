"""`unspool sources`: where we look, and what there is."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from logs import Claude, Codex, Gemini, Machine
from test_readers import FOLDERS
from unspool.cli.options import AGENTS
from unspool.readers import READERS


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.claude(Claude().user("x").says("y"))
    machine.claude(Claude(agent="abc").user("x").says("y"))
    machine.codex(Codex().user("x").says("y"))
    return machine


def sources(run: Run, machine: Machine, *arguments: str, **environment: str) -> dict[str, dict[str, Any]]:
    done = run("sources", "--json", *arguments, **machine.environment | environment)
    assert (done.returncode, done.stderr) == (0, b"")
    return {source["agent"]: source for source in map(json.loads, done.stdout.splitlines())}


def test_every_agent_is_told_whether_it_was_here_or_not(unspool: Run, machine: Machine) -> None:
    assert sorted(sources(unspool, machine)) == sorted({reader.agent for reader in READERS.values()})


def test_the_agents_of_the_options_are_those_of_the_readers() -> None:
    assert sorted(AGENTS) == sorted({reader.agent for reader in READERS.values()})


def test_what_is_told_of_an_agent(unspool: Run, machine: Machine) -> None:
    projects = machine.home / ".claude" / "projects"
    found = sources(unspool, machine)["claude_code"]
    (place,) = [place for place in found.pop("places") if place["exists"]]
    assert (place["folder"], place["files"]) == (str(projects), 2)
    assert found == {
        "agent": "claude_code",
        "title": "Claude Code",
        "files": 2,
        "bytes": sum(path.stat().st_size for path in projects.rglob("*.jsonl")),
        "sessions": 1,
        "oldest": "2026-03-01T10:00:01.000Z",
        "newest": "2026-03-01T10:00:02.000Z",
        "unclaimed": [],
        "notes": {},
    }


def test_an_agent_that_was_never_here(unspool: Run, machine: Machine) -> None:
    found = sources(unspool, machine)["gemini_cli"]
    assert (found["files"], found["sessions"], found["oldest"]) == (0, 0, None)
    assert str(machine.home / ".gemini" / "tmp") in [place["folder"] for place in found["places"]]


@pytest.mark.parametrize(
    ("variable", "agent", "below"),
    [
        ("CLAUDE_CONFIG_DIR", "claude_code", "projects/p/a.jsonl"),
        ("CODEX_HOME", "codex", "archived_sessions/rollout-2026-03-02T10-00-00-a.jsonl"),
        ("GEMINI_CLI_HOME", "gemini_cli", ".gemini/tmp/p/chats/session-a.jsonl"),
    ],
)
def test_agents_may_be_told_to_keep_their_logs_elsewhere(
    unspool: Run, machine: Machine, variable: str, agent: str, below: str
) -> None:
    elsewhere = machine.home / "elsewhere"
    logs: dict[str, Claude | Codex | Gemini] = {"claude_code": Claude(), "codex": Codex(), "gemini_cli": Gemini()}
    logs[agent].user("x").says("y").save(elsewhere / below)
    found = sources(unspool, machine, **{variable: str(elsewhere)})[agent]
    assert (found["files"], found["sessions"]) == (1, 1)


def test_the_desktop_app_keeps_claude_s_logs_by_the_session(unspool: Run, machine: Machine) -> None:
    settings = machine.home / "Library" / "Application Support" / "Claude" / "local-agent-mode-sessions"
    log = Claude("55555555-2222-4333-8444-555555555555").user("Tidy the desk").says("Tidied")
    log.save(settings / "app" / "space" / "local_7" / ".claude" / "projects" / "-desk" / f"{log.session}.jsonl")
    assert sources(unspool, machine)["claude_code"]["sessions"] == 2


def test_a_file_that_is_no_log_is_named(unspool: Run, machine: Machine) -> None:
    odd = machine.home / ".claude" / "projects" / "-home-ada-shop" / "odd.jsonl"
    odd.write_text('{"a": 1}\n')
    found = sources(unspool, machine)["claude_code"]
    assert (found["unclaimed"], found["files"]) == ([str(odd)], 2)
    assert (
        "  not a log that we know: ~/.claude/projects/-home-ada-shop/odd.jsonl\n"
        in unspool("sources", **machine.environment).stdout.decode()
    )


def test_what_could_not_be_read_is_counted_by_reason(unspool: Run, machine: Machine) -> None:
    log = machine.codex(Codex().user("x").says("y"))
    log.write_bytes(log.read_bytes() + b'{"torn\n{"torn\n{"type": "brand_new", "payload": {}}\n')
    notes = sources(unspool, machine)["codex"]["notes"]
    assert notes.pop("unknown: record type 'brand_new'") == 1
    assert list(notes.values()) == [2]
    assert next(iter(notes)).startswith("unreadable: no JSON")


def test_a_file_that_cannot_be_read_is_named_and_costs_nothing_else(unspool: Run, machine: Machine) -> None:
    broken = machine.home / ".codex" / "sessions" / "rollout-2026-03-09T10-00-00-broken.jsonl"
    broken.symlink_to("/proc/self/mem")  # reading it fails
    found = sources(unspool, machine)
    assert found["codex"]["sessions"] == 1
    assert "Input/output error" in json.dumps(found["codex"])


def test_a_database_that_cannot_be_read_is_none_that_we_do_not_know(unspool: Run, machine: Machine) -> None:
    broken = machine.home / ".local" / "share" / "goose" / "sessions" / "sessions.db"
    broken.parent.mkdir(parents=True)
    broken.write_bytes(b"SQLite format 3\0" + b"?" * 500)
    found = sources(unspool, machine)["goose"]
    reason = f"{broken}: a database that cannot be read: file is not a database"
    assert found["notes"] == {f"unreadable: {reason}": 1}
    assert reason.encode() in unspool("show", str(broken), **machine.environment).stderr


def test_the_first_tables_of_a_database_stand_in_its_own_log(unspool: Run, machine: Machine) -> None:
    """The file itself is as it was when there were none."""
    file = machine.home / ".local" / "share" / "goose" / "sessions" / "sessions.db"
    file.parent.mkdir(parents=True)
    script = (FOLDERS / "goose" / "copied.sql").read_text()
    with closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        assert sources(unspool, machine)["goose"]["sessions"] == 0
        before = file.stat().st_mtime_ns
        database.executescript(script)
        assert file.stat().st_mtime_ns == before
        assert sources(unspool, machine)["goose"]["sessions"] == 2


def test_a_table_for_people(unspool: Run, machine: Machine) -> None:
    head, first, *rest = unspool("sources", **machine.environment).stdout.decode().splitlines()
    assert head.split() == ["agent", "files", "bytes", "sessions", "oldest", "newest"]
    assert first.startswith("Claude Code              2")
    assert "  ~/.claude/projects: */*.jsonl, */*/subagents/**/agent-*.jsonl" in rest
    assert any(line.startswith("Gemini CLI         nothing in ~/.gemini/tmp") for line in rest)


def test_two_processes_find_what_one_finds(unspool: Run, machine: Machine) -> None:
    one = sources(unspool, machine, "--jobs", "1")
    (machine.home / "cache" / "digests.db").unlink()
    assert sources(unspool, machine, "--jobs", "2") == one
