"""A damaged database of an agent costs itself at most, and is named with the reason."""

import random
import sqlite3
from pathlib import Path

import pytest

from conftest import Run
from logs import Codex, Machine
from test_readers import FOLDERS, laid_out
from unspool.ingest.digests import digest_file
from unspool.sources.sqlite import rows

SCHEMA = sorted(path for agent in ("crush", "goose", "opencode", "zed") for path in (FOLDERS / agent).glob("*.sql"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with a good log of Codex, and a database of OpenCode whose schema has one wrong byte."""
    machine = Machine(tmp_path / "home")
    machine.codex(Codex().user("Mend it").calls("t1", "shell", command=["make"]).result("t1", "made").says("Done"))
    (tmp_path / "made").mkdir()
    (database,) = laid_out(FOLDERS / "opencode" / "session.sql", tmp_path / "made")
    data = bytearray(database.read_bytes())
    data[data.index(b"message")] = 0xFF
    place = machine.home / ".local" / "share" / "opencode" / "opencode.db"
    place.parent.mkdir(parents=True)
    place.write_bytes(data)
    return machine


@pytest.mark.parametrize(
    "arguments",
    [
        ("sessions",),
        ("view", "--list"),
        ("grep", "Mend"),
        ("show", "latest"),
        ("tools",),
        ("cook", "latest", "-o", "{out}"),
        ("thread", "from", "latest"),
        ("export", "html", "{home}", "-o", "{out}"),
        ("sessions", "{codex}", "{opencode}"),
        ("grep", "Mend", "{codex}", "{opencode}"),
        ("cook", "{codex}", "{opencode}", "-o", "{out}"),
        ("tools", "{codex}", "{opencode}"),
    ],
    ids=" ".join,
)
def test_one_byte_of_a_schema_hides_no_other_agent(
    unspool: Run, machine: Machine, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    places = {
        "out": tmp_path / "out",
        "home": machine.home,
        "codex": next(machine.home.rglob("rollout-*.jsonl")),
        "opencode": next(machine.home.rglob("opencode.db")),
    }
    store = {"UNSPOOL_HOME": str(tmp_path / "store")}
    done = unspool(*(each.format(**places) for each in arguments), **machine.environment | store)
    assert done.returncode == 0, done.stderr
    assert b"opencode.db" in done.stderr
    assert b"a database that cannot be read: names in its schema are damaged" in done.stderr
    assert done.stdout or (tmp_path / "out").stat().st_size


@pytest.mark.parametrize("command", ["sessions", "grep a", "show", "tools", "view --list", "export html -o -"])
def test_a_command_that_is_given_it_alone_fails(unspool: Run, machine: Machine, command: str) -> None:
    path = next(machine.home.rglob("opencode.db"))
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    done = unspool(*command.split(), path, **machine.environment)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"a database that cannot be read: ") == 1


def test_an_error_names_the_damage_not_the_byte(unspool: Run, machine: Machine) -> None:
    path = next(machine.home.rglob("opencode.db"))
    data = bytearray(path.read_bytes())
    data[data.index(b"tablesession") + len("table")] = 0xFF
    path.write_bytes(data)
    done = unspool("sessions", path, **machine.environment)
    assert b"names in its schema are damaged" in done.stderr
    assert b"codec" not in done.stderr


def test_the_summary_names_a_file_without_a_line(unspool: Run, machine: Machine, tmp_path: Path) -> None:
    path = next(machine.home.rglob("opencode.db"))
    done = unspool("cook", path, "-o", tmp_path / "out", **machine.environment)
    assert f"{path}: a database that cannot be read" in done.stderr.decode()


def test_it_is_listed_among_the_sources(unspool: Run, machine: Machine) -> None:
    done = unspool("sources", **machine.environment)
    assert done.returncode == 0
    assert b"names in its schema are damaged" in done.stdout


def test_it_is_a_fault_of_a_squash(unspool: Run, machine: Machine, tmp_path: Path) -> None:
    done = unspool("squash", machine.home, "-o", tmp_path / "out", **machine.environment)
    assert done.returncode == 0
    assert b"1 record in" in done.stderr
    assert done.stderr.count(b"sessions invalid: unreadable") == 1
    report = (tmp_path / "out" / "integrity-report.txt").read_text("utf-8")
    assert "opencode.db\tno record: a database that cannot be read: names in its schema are damaged\n" in report
    done = unspool("squash", "--strict", machine.home, "-o", tmp_path / "strict", **machine.environment)
    assert done.returncode == 1
    assert b"opencode.db: a database that cannot be read" in done.stderr


@pytest.mark.parametrize("path", SCHEMA, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_damage_raises(path: Path, tmp_path: Path) -> None:
    (database,) = laid_out(path, tmp_path)
    whole = database.read_bytes()
    source = random.Random(path.stem)
    for number in range(30):
        data = bytearray(whole)
        reach = len(data) if number % 2 else 4096  # the schema is in the first page
        for _ in range(source.choice((1, 8, 256))):
            data[source.randrange(100, reach)] = source.randrange(256)
        database.write_bytes(data[: source.randrange(200, len(data))] if number % 5 == 0 else data)
        digest_file(str(database))


def test_texts_that_are_not_utf_8_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (a TEXT)")
        database.execute("INSERT INTO t VALUES (CAST(x'41ff' AS TEXT))")
    (row,) = rows(str(path), {"t": 'SELECT a AS "a" FROM t'})
    assert row.value == {"table": "t", "a": "A\N{REPLACEMENT CHARACTER}"}  # type: ignore[union-attr]


def test_a_row_that_is_too_large_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_MAX_RECORD", "1MB")
    path = tmp_path / "a.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE t (n INTEGER, a BLOB)")
        sizes = (10, 2 << 20, 20, 3 << 20, 30)
        database.executemany("INSERT INTO t VALUES (?, zeroblob(?))", enumerate(sizes))
    items = list(rows(str(path), {"t": "SELECT n, a FROM t"}))
    assert [getattr(item, "value", None) and item.value["n"] for item in items] == [0, None, 2, None, 4]  # type: ignore[union-attr]
    assert "a row of table t is larger than the limit of 1 MB" in items[1].reason  # type: ignore[union-attr]
