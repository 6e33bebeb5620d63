"""A store whose file is damaged is reported as damaged, whatever the damage is."""

import random
import shutil
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from conftest import Run
from turns import said
from unspool.cli import unspool as command
from unspool.errors import StoreFault, UnspoolError
from unspool.store.database import NAME
from unspool.store.packing import LARGE
from unspool.store.store import Store

TABLES = ("blobs", "messages", "message_blobs", "turns", "parents", "bookmarks")
COMMANDS = (
    ("store", "check"),
    ("store", "check", "--json"),
    ("thread", "list"),
    ("thread", "show", "main"),
    ("context", "resolve", "main"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a store with long and short turns."""
    folder = tmp_path_factory.mktemp("whole")
    with Store.open(folder) as store:
        parents: list[str] = []
        for number in range(20):
            text = "long " * LARGE if number % 7 == 3 else f"Turn {number}"
            parents = [store.append(said(text, *parents, head=None if parents else "main")).id]
        store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return (folder / NAME).read_bytes()


def contents(path: Path) -> object:
    """All rows, or the reason why they cannot be read."""
    with sqlite3.connect(path) as database:
        database.text_factory = bytes
        try:
            return [database.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES]
        except (sqlite3.Error, UnicodeDecodeError) as error:
            return str(error)


@pytest.mark.parametrize("seed", range(4))
def test_random_damage_is_reported_and_never_a_traceback(
    seed: int, whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = random.Random(seed)
    (tmp_path / "good.db").write_bytes(whole)
    good = contents(tmp_path / "good.db")
    home = tmp_path / "home"
    monkeypatch.setenv("UNSPOOL_HOME", str(home))
    for number in range(25):
        data = bytearray(whole)
        for _ in range(source.choice((1, 16, 256, 4096))):
            data[source.randrange(len(data))] = source.randrange(256)
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(mode=0o700)
        (home / NAME).write_bytes(data)
        (tmp_path / "copy.db").write_bytes(data)
        arguments = COMMANDS[number % len(COMMANDS)]
        done = CliRunner().invoke(command, arguments, obj="")
        assert isinstance(done.exception, SystemExit | UnspoolError | None), (seed, number, done.exception)
        if arguments[:2] == ("store", "check") and contents(tmp_path / "copy.db") != good:
            status = done.exception.exit_status if isinstance(done.exception, UnspoolError) else done.exit_code
            assert status in (1, 2), (seed, number)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("UPDATE turns SET id = CAST(x'ff41' AS TEXT)", "of another turn"),
        ("UPDATE turns SET facts = CAST(replace(CAST(facts AS TEXT), 'user', CAST(x'ff' AS TEXT)) AS BLOB)", "no turn"),
        ("UPDATE bookmarks SET name = CAST(x'fe' AS TEXT), turn = 'gone'", "gone is not there"),
    ],
)
def test_texts_that_are_not_utf_8_are_faults(unspool: Run, home: Path, sql: str, reason: str) -> None:
    with Store.open(home) as store:
        store.append(said("Question", head="main"))
        store.database.execute("PRAGMA foreign_keys = OFF")
        store.database.execute(sql)
    done = unspool("store", "check")
    assert (done.returncode, done.stderr) == (1, b"")
    assert reason in done.stdout.decode()


def test_a_store_that_lost_all_its_bytes_is_not_taken_for_a_new_one(unspool: Run, home: Path) -> None:
    with Store.open(home) as store:
        store.append(said("Question", head="main"))
    (home / NAME).write_bytes(b"")
    for arguments in (("store", "check"), ("thread", "list"), ("thread", "add", "Another")):
        done = unspool(*arguments)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"is empty, so the threads that were stored in it are lost" in done.stderr
    assert (home / NAME).read_bytes() == b""
    with pytest.raises(StoreFault, match="is empty"):
        Store.open(home)
    (home / NAME).unlink()
    assert unspool("store", "check").stdout.endswith(b"all right\n")
