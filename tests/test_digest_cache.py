"""Files that have not changed are not read again; and nothing depends on it."""

import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from logs import SHOP, Claude, Machine
from test_readers import FOLDERS, laid_out


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.claude(Claude().user("Mend the login").says("Done"))
    return machine


def sessions(run: Run, machine: Machine, *paths: Path, **environment: str) -> list[dict[str, Any]]:
    done = run("sessions", *paths, "--json", **machine.environment | environment)
    assert (done.returncode, done.stderr) == (0, b"")
    return [json.loads(line) for line in done.stdout.splitlines()]


def log_of(machine: Machine) -> Path:
    return next(machine.home.rglob(f"{SHOP}.jsonl"))


def rewrite_in_silence(path: Path, old: bytes, new: bytes) -> None:
    """Another content, but the size and the time of before."""
    facts = path.stat()
    path.write_bytes(path.read_bytes().replace(old, new))
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    assert path.stat().st_size == facts.st_size


def rewrite_cached(machine: Machine, old: bytes, new: bytes) -> None:
    """Change what is cached, so that whoever uses it gives itself away."""
    cache = sqlite3.connect(machine.home / "cache" / "digests.db")
    rows = cache.execute("SELECT path, digest FROM digests").fetchall()
    cache.executemany("UPDATE digests SET digest = ? WHERE path = ?", [(d.replace(old, new), path) for path, d in rows])
    cache.commit()
    cache.close()


def outdate(machine: Machine) -> None:
    """As if another version of the program had written the cache."""
    cache = sqlite3.connect(machine.home / "cache" / "digests.db")
    cache.execute("PRAGMA user_version = 1")
    cache.commit()
    cache.close()


def test_a_file_that_did_not_change_is_not_read_again(unspool: Run, machine: Machine) -> None:
    sessions(unspool, machine)
    rewrite_cached(machine, b"Mend the login", b"Lend the login")
    assert sessions(unspool, machine)[0]["prompt"] == "Lend the login"


def test_other_commands_take_it_too(unspool: Run, machine: Machine) -> None:
    start = sessions(unspool, machine)[0]["start"]
    earlier = f"1999{start[4:]}"
    rewrite_cached(machine, start.encode(), earlier.encode())
    found = unspool("sources", "--json", **machine.environment).stdout.splitlines()
    assert [source["oldest"] for source in map(json.loads, found) if source["agent"] == "claude_code"] == [earlier]


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_read_again(unspool: Run, machine: Machine) -> None:
    """As `rsync --times` and archives do: the other file is written apart, and takes the name of the first."""
    sessions(unspool, machine)
    path = log_of(machine)
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"Mend", b"Lend"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.replace(path)
    assert sessions(unspool, machine)[0]["prompt"] == "Lend the login"


def test_a_file_rewritten_in_place_with_its_old_time_is_read_again(unspool: Run, machine: Machine) -> None:
    sessions(unspool, machine)
    rewrite_in_silence(log_of(machine), b"Mend", b"Lend")
    assert sessions(unspool, machine)[0]["prompt"] == "Lend the login"


def test_a_file_that_was_copied_back_is_merely_read_again(unspool: Run, machine: Machine) -> None:
    before = sessions(unspool, machine)
    path = log_of(machine)
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data)
    assert sessions(unspool, machine) == before


def test_a_file_that_grew_is_read_again(unspool: Run, machine: Machine) -> None:
    sessions(unspool, machine)
    machine.claude(Claude().user("Mend the login").says("Done").user("More").says("More"))
    assert sessions(unspool, machine)[0]["turns"] == 2


def test_a_file_of_the_same_size_with_another_time_is_read_again(unspool: Run, machine: Machine) -> None:
    sessions(unspool, machine)
    rewrite_in_silence(log_of(machine), b"Mend", b"Lend")
    os.utime(log_of(machine), ns=(1, 1))
    assert sessions(unspool, machine)[0]["prompt"] == "Lend the login"


def test_a_file_that_is_gone_is_forgotten(unspool: Run, machine: Machine) -> None:
    sessions(unspool, machine)
    log_of(machine).unlink()
    assert sessions(unspool, machine) == []


def test_a_database_that_is_being_written_to_is_read_again(unspool: Run, tmp_path: Path) -> None:
    """What is new stands in the log beside the database, which itself stays as it is."""
    (path,) = laid_out(FOLDERS / "crush" / "session.sql", tmp_path)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE messages SET id = id")
    writer.commit()
    machine = Machine(tmp_path)
    before = sessions(unspool, machine, path)[0]["turns"]
    parts = json.dumps([{"type": "text", "data": {"text": "And now?"}}])
    rows = [("n1", "user", parts), ("n2", "assistant", parts)]
    for number, (name, role, said) in enumerate(rows):
        time = 1767229200 + number
        writer.execute(
            "INSERT INTO messages VALUES (?, 's1', ?, ?, 'm', ?, ?, ?, 'acme', 0)", (name, role, said, time, time, time)
        )
    writer.commit()
    assert sessions(unspool, machine, path)[0]["turns"] == before + 1
    writer.close()


def test_the_cache_can_be_deleted(unspool: Run, machine: Machine) -> None:
    before = sessions(unspool, machine)
    (machine.home / "cache" / "digests.db").unlink()
    assert sessions(unspool, machine) == before


@pytest.mark.parametrize(
    "damage", [b"no database", b"SQLite format 3\0" + b"x" * 4000, b""], ids=["text", "torn", "empty"]
)
def test_a_damaged_cache_is_made_anew(unspool: Run, machine: Machine, damage: bytes) -> None:
    before = sessions(unspool, machine)
    cache = machine.home / "cache" / "digests.db"
    cache.write_bytes(damage)
    assert sessions(unspool, machine) == before
    assert sessions(unspool, machine) == before
    assert cache.read_bytes().startswith(b"SQLite format 3\0")
    rewrite_cached(machine, b"Mend the login", b"Lend the login")
    assert sessions(unspool, machine)[0]["prompt"] == "Lend the login", "it serves again"


def test_digests_that_make_no_sense_are_read_anew(unspool: Run, machine: Machine) -> None:
    before = sessions(unspool, machine)
    cache = sqlite3.connect(machine.home / "cache" / "digests.db")
    cache.execute("UPDATE digests SET digest = x'00'")
    cache.commit()
    cache.close()
    assert sessions(unspool, machine) == before


def test_digests_of_another_version_of_the_program_are_not_used(unspool: Run, machine: Machine) -> None:
    before = sessions(unspool, machine)
    rewrite_cached(machine, b"Mend the login", b"Lend the login")
    outdate(machine)
    assert sessions(unspool, machine) == before


@pytest.mark.parametrize("folder", ["/proc/unspool", "/dev/null/unspool", "/dev/null"])
def test_a_cache_that_cannot_be_kept_is_no_fault(unspool: Run, machine: Machine, folder: str) -> None:
    assert len(sessions(unspool, machine, UNSPOOL_CACHE=folder)) == 1


def test_a_folder_in_the_cache_s_place_is_no_fault(unspool: Run, machine: Machine) -> None:
    (machine.home / "cache" / "digests.db").mkdir(parents=True)
    assert len(sessions(unspool, machine)) == 1


@pytest.mark.parametrize("mode", [0o500, 0o000], ids=["to write", "to read"])
def test_a_cache_without_permission_is_no_fault(ordinary: Run, machine: Machine, mode: int) -> None:
    sessions(ordinary, machine)
    outdate(machine)
    (machine.home / "cache").chmod(mode)
    try:
        assert len(sessions(ordinary, machine)) == 1
    finally:
        (machine.home / "cache").chmod(0o700)


def test_nobody_else_can_read_it(unspool: Run, machine: Machine) -> None:
    sessions(unspool, machine)
    assert (machine.home / "cache" / "digests.db").stat().st_mode & 0o077 == 0


def test_it_stands_where_the_system_keeps_such(unspool: Run, machine: Machine) -> None:
    environment = {"UNSPOOL_CACHE": "", "XDG_CACHE_HOME": str(machine.home / "elsewhere")}
    sessions(unspool, machine, **environment)
    assert (machine.home / "elsewhere" / "unspool" / "digests.db").is_file()
