"""The store: turns once, messages once, names, and what many processes do to it at once."""

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Run
from turns import said, texts
from unspool.errors import BookmarkTaken, StoreFault, TurnNotFound
from unspool.model import Document, Draft, Message, Text, Thinking, ToolResult, ToolUse
from unspool.store.checking import Checked, check
from unspool.store.database import NAME, open_database
from unspool.store.ids import next_id, parse, time_of_id
from unspool.store.migrations import MIGRATIONS
from unspool.store.packing import LARGE, pack, unpack
from unspool.store.store import Store


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    with Store.open(home) as store:
        yield store


def count(store: Store, table: str) -> int:
    (number,) = store.database.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(number)


def bookmark(store: Store, name: str, turn: str) -> None:
    with store.database.transaction():
        store.point(name, turn)


def test_only_the_owner_can_read_it(home: Path) -> None:
    with Store.open(home) as store:
        store.append(said("Hello"))
        assert home.stat().st_mode & 0o777 == 0o700
        files = {path.name: path.stat().st_mode & 0o777 for path in home.iterdir()}
    assert files == dict.fromkeys([NAME, f"{NAME}-wal", f"{NAME}-shm"], 0o600)


def test_a_folder_that_others_can_read_is_closed_to_them(home: Path) -> None:
    home.mkdir(mode=0o755)
    Store.open(home).database.close()
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_holds_other_things_is_not_closed(home: Path) -> None:
    """It is somebody's: only what we make in it is for its owner alone."""
    home.mkdir(mode=0o755)
    (home / "notes.txt").write_text("mine")
    with Store.open(home) as store:
        assert store.caution is not None
        assert f"{home} holds other things too" in store.caution
    assert home.stat().st_mode & 0o777 == 0o755
    assert (home / NAME).stat().st_mode & 0o777 == 0o600
    with Store.open(home) as store:
        assert store.caution is None  # told once


def test_what_unspool_itself_keeps_there_does_not_count(home: Path) -> None:
    home.mkdir(mode=0o755)
    for name in ("config.toml", "servers.json", "keys.toml", "key", "recordings", "slack", "answers"):
        (home / name).touch()
    with Store.open(home) as store:
        assert store.caution is None
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_store_that_others_could_read_is_closed_to_them(home: Path) -> None:
    Store.open(home).database.close()
    (home / NAME).chmod(0o644)
    Store.open(home).database.close()
    assert (home / NAME).stat().st_mode & 0o777 == 0o600


def read_only(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The command, where nothing can be written to the folder."""
    script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" || exit 77; shift; exec "$@"'
    line = ["unshare", "-rm", "sh", "-c", script, "sh", str(folder), sys.executable, "-m", "unspool", *arguments]
    try:
        done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)
    except FileNotFoundError:
        pytest.skip("no unshare here")
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"nothing may be mounted here: {done.stderr}")
    return done


def test_a_store_on_a_read_only_disk_can_be_read(home: Path, unspool: Run) -> None:
    with Store.open(home) as store:
        store.append(Draft(Message("user", (Text("a cup"),)), head="t"))
        turn = store.append(Draft(Message("user", (Text("Which?"),)), continues=("t",)))
    (home / NAME).chmod(0o644)
    home.chmod(0o755)
    left = home / "answers" / f"{turn.id}-1.jsonl"
    left.parent.mkdir()
    asked = {"turn": turn.id, "head": "t", "provider": "openai", "api": "openai", "model": "m", "started": 0}
    event = {"choices": [{"index": 0, "delta": {"content": "That one"}}]}
    left.write_text(f"{json.dumps(asked)}\ndata: {json.dumps(event)}\n\n")
    shown = read_only(home, "thread", "show", "t")
    assert (shown.returncode, "a cup" in shown.stdout) == (0, True), shown.stderr
    added = read_only(home, "thread", "add", "more", "-c", "t")
    assert (added.returncode, "attempt to write a readonly database" in added.stderr) == (2, True)
    assert "That one" in unspool("thread", "show", "t").stdout.decode(), "what was left there is taken in later"


def test_what_is_not_in_the_database_yet_is_not_passed_over_on_a_read_only_disk(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(home) as store:
        store.append(Draft(Message("user", (Text("a cup"),)), head="t"))
        copy = tmp_path / "copy"
        shutil.copytree(home, copy)  # as a snapshot of a running system has it
    monkeypatch.setenv("UNSPOOL_HOME", str(copy))
    shown = read_only(copy, "thread", "show", "t")
    assert (shown.returncode, f"still in {NAME}-wal" in shown.stderr) == (2, True), shown.stderr


def test_it_keeps_a_write_ahead_log(store: Store) -> None:
    assert store.database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_migrations_that_were_published_are_as_they_were() -> None:
    """Never edit one: add another, and its hash here."""
    hashes = [hashlib.sha256(" ".join(step.split()).encode()).hexdigest()[:16] for step in MIGRATIONS]
    assert hashes == ["655aac0a14293dac"]


def test_a_store_of_a_newer_version_is_left_alone(home: Path) -> None:
    with Store.open(home) as store:
        store.database.execute("PRAGMA user_version = 999")
    with pytest.raises(StoreFault, match="newer unspool"):
        Store.open(home)


def test_another_programs_database_is_left_alone(home: Path) -> None:
    home.mkdir()
    with sqlite3.connect(home / NAME) as database:
        database.execute("CREATE TABLE theirs (a)")
    database.close()
    with pytest.raises(StoreFault, match="another program"):
        Store.open(home)


def test_what_is_no_database_is_told_with_its_name(home: Path) -> None:
    home.mkdir()
    (home / NAME).write_bytes(b"This is no database at all, but it is long enough. " * 40)
    with pytest.raises(StoreFault, match=rf"{NAME}: file is not a database"):
        Store.open(home)


def test_an_older_store_is_brought_to_the_newest_form(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(home) as store:
        turn = store.append(said("Kept"))
    monkeypatch.setattr(
        "unspool.store.database.MIGRATIONS", (*MIGRATIONS, "CREATE TABLE later (a); CREATE TABLE b (a)")
    )
    with Store.open(home) as store:
        assert count(store, "later") == 0
        assert store.turn(turn.id) == turn
        assert store.database.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS) + 1,)


def test_a_migration_that_fails_changes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Store.open(home).database.close()
    monkeypatch.setattr("unspool.store.database.MIGRATIONS", (*MIGRATIONS, "CREATE TABLE half (a); CREATE NONSENSE"))
    with pytest.raises(StoreFault, match="syntax error"):
        Store.open(home)
    monkeypatch.undo()
    database = open_database(home)
    assert database.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchone() is None
    database.close()


def test_a_message_is_kept_once(store: Store) -> None:
    first = store.append(said("The same"))
    second = store.append(said("The same", first.id, cache=True))
    assert first.message == second.message
    assert (count(store, "messages"), count(store, "turns")) == (1, 2)


def test_answers_that_differ_only_in_a_signature_are_both_kept(store: Store) -> None:
    one, other = (Message("assistant", (Thinking("Hm.", signature=word),)) for word in ("a", "b"))
    assert one.id == other.id
    turns = [store.append(Draft(message)) for message in (one, other)]
    assert [message.blocks for message in store.messages(turns)] == [one.blocks, other.blocks]


def test_a_document_is_kept_once_and_as_the_bytes_that_it_is(store: Store) -> None:
    page = Document("image", "base64", "aGVsbG8gd29ybGQ=", "image/png", "page.png")
    result = ToolResult("call_1", (Text("Here:"), page))
    turns = [store.append(Draft(Message("user", blocks))) for blocks in ((page,), (Text("Again"), page), (result,))]
    assert [message.blocks[-1] for message in store.messages(turns)] == [page, page, result]
    assert count(store, "blobs") == 1
    assert store.blob(hashlib.sha256(b"hello world").hexdigest()) == b"hello world"


@pytest.mark.parametrize("data", ["aGVsbG8\n", "no base64!", "aGVsbG9=", "YQ"])
def test_data_that_is_not_quite_base64_comes_back_as_it_was(store: Store, data: str) -> None:
    message = Message("user", (Document("document", "base64", data),))
    assert store.message(store.append(Draft(message)).message).blocks == message.blocks


def test_a_long_text_is_a_blob_that_messages_share(store: Store) -> None:
    long = "A word, and another one: ü. " * LARGE
    said_twice = [Message("user", (Text(long),)), Message("assistant", (ToolUse("c", "t", {"a": 1}), Text(long)))]
    turns = [store.append(Draft(message)) for message in said_twice]
    assert [message.blocks for message in store.messages(turns)] == [message.blocks for message in said_twice]
    assert count(store, "blobs") == 1


def test_half_a_character_is_replaced_and_costs_nothing_else() -> None:
    packed = pack(Message("user", (Text("a \ud83d b"), ToolUse(None, "t", {"key\ud800": ["x\udc00", 1, None]}))))
    said_, call = unpack(packed.body, lambda _hash: b"").blocks
    assert said_ == Text("a ? b")
    assert call == ToolUse(None, "t", {"key?": ["x?", 1, None]})


def test_forks_share_all_that_they_share(store: Store) -> None:
    turn = store.append(said("0"))
    for number in range(1, 10):
        turn = store.append(said(str(number), turn.id))
    before = {table: count(store, table) for table in ("turns", "messages")}
    ends = [store.append(said("fork", turn.id)) for _ in range(5)]
    assert count(store, "turns") == before["turns"] + 5
    assert count(store, "messages") == before["messages"] + 1
    assert all(len(store.lineage([end.id])) == 11 for end in ends)


def test_ids_are_sorted_by_time_and_count_up_when_the_clock_is_set_back() -> None:
    first = next_id(None)
    later = next_id(first)
    assert first < later
    future = next_id(None)
    ahead = f"0{'4' if future[1] < '4' else 'z'}{future[2:]}"
    behind = next_id(ahead)
    assert ahead < behind
    assert time_of_id(behind) - time_of_id(ahead) <= 1
    assert parse(first.upper()) == first
    assert parse("z" * 25) is None
    assert parse(first[:-1]) is None


def test_one_turn_of_a_wrong_clock_does_not_spoil_the_ids_of_others(store: Store) -> None:
    facts = store.append(said("now"))
    store.database.execute("UPDATE turns SET id = ? WHERE id = ?", ("f" + "0" * 24, facts.id))
    assert store.append(said("later")).id[:2] == facts.id[:2]


# Names


def test_a_name_is_an_id_then_a_bookmark_then_the_beginning_of_an_id(store: Store) -> None:
    first, second = store.append(said("1")), store.append(said("2"))
    assert store.find(first.id.upper()) == first.id
    bookmark(store, second.id[:12], first.id)
    assert store.find(second.id[:12]) == first.id
    bookmark(store, second.id, first.id)
    assert store.find(second.id) == second.id
    unshared = next(at for at in range(25) if first.id[at] != second.id[at]) + 1
    assert store.find(second.id[:unshared].upper()) == second.id
    with pytest.raises(TurnNotFound, match="several turns begin with"):
        store.find(first.id[: unshared - 1])
    for nothing in ("", "no-such", "zzz", "%", "z" * 25):
        with pytest.raises(TurnNotFound, match="no turn and no bookmark"):
            store.find(nothing)


def test_a_bookmark_of_25_letters_can_be_reached(store: Store) -> None:
    turn = store.append(said("Hi", head="abcdefghijklmnopqrstuvwxy"))
    assert store.find("abcdefghijklmnopqrstuvwxy") == turn.id


def test_a_bookmark_follows_its_thread_the_answer_included(store: Store) -> None:
    question = store.append(said("Question", head="talk"))
    answer = store.append(said("Answer", question.id, role="assistant"))
    assert store.bookmarks() == {"talk": answer.id}
    assert answer.head == "talk"
    again = store.append(said("And?", "talk"))
    assert store.bookmarks() == {"talk": again.id}


def test_a_fork_from_the_middle_leaves_the_bookmark_where_it_is(store: Store) -> None:
    first = store.append(said("1", head="talk"))
    second = store.append(said("2", "talk"))
    aside = store.append(said("aside", first.id))
    assert store.bookmarks() == {"talk": second.id}
    assert aside.head is None
    assert texts(store, aside.id) == ["1", "aside"]


def test_of_two_bookmarks_at_one_turn_the_named_one_moves(store: Store) -> None:
    turn = store.append(said("1", head="one"))
    bookmark(store, "other", turn.id)
    moved = store.append(said("2", "other"))
    assert store.bookmarks() == {"one": turn.id, "other": moved.id}
    store.append(said("3", "one"))
    bookmark(store, "third", store.find("one"))
    stays = store.find("one")
    store.append(said("by id", stays))
    assert (store.find("one"), store.find("third")) == (stays, stays)


def test_of_several_parents_the_last_one_with_a_bookmark_is_followed(store: Store) -> None:
    one, other = store.append(said("a", head="one")), store.append(said("b", head="other"))
    bare = store.append(said("c"))
    joined = store.append(said("joined", "one", other.id, bare.id))
    assert store.bookmarks() == {"one": one.id, "other": joined.id}
    assert joined.continues == (one.id, other.id, bare.id)


def test_a_bookmark_can_be_pinned(store: Store) -> None:
    turn = store.append(said("1", head="fixed"))
    store.append(said("2", "fixed"), follow=False)
    assert store.bookmarks() == {"fixed": turn.id}


def test_a_bookmark_is_unique(store: Store) -> None:
    turn = store.append(said("1", head="mine"))
    with pytest.raises(BookmarkTaken, match="bookmark mine is on another thread"):
        store.append(said("elsewhere", head="mine"))
    assert count(store, "turns") == 1, "nothing is stored when the name cannot be had"
    later = store.append(said("further on", turn.id, head="mine"))
    assert store.bookmarks() == {"mine": later.id}
    moved = store.append(said("elsewhere", head="mine"), move=True)
    assert store.bookmarks() == {"mine": moved.id}


@pytest.mark.parametrize("name", ["", "-x", "two words", "a\nb", "x" * 201, "bell\a"])
def test_not_everything_can_be_a_bookmark(store: Store, name: str) -> None:
    turn = store.append(said("1"))
    with pytest.raises(BookmarkTaken, match="cannot be a bookmark"):
        bookmark(store, name, turn.id)


# Many at once

WRITE = """
import sys
from pathlib import Path
from unspool.model import Draft, Message, Text
from unspool.store.store import Store
with Store.open(Path(sys.argv[1])) as store:
    continues = ()
    for number in range(int(sys.argv[3])):
        turn = store.append(Draft(Message("user", (Text(f"{sys.argv[2]}:{number}"),)), continues=continues))
        continues = (turn.id,)
        print(turn.id, flush=True)
"""


def writer(home: Path, name: str, turns: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITE, str(home), name, str(turns)], stdout=subprocess.PIPE, text=True
    )


def test_several_processes_make_the_store_and_write_at_once(home: Path) -> None:
    writers = [writer(home, str(number), 40) for number in range(4)]
    chains = [process.communicate(timeout=100)[0].split() for process in writers]
    assert [process.returncode for process in writers] == [0] * 4
    with Store.open(home) as store:
        ids = [turn for (turn,) in store.database.execute("SELECT id FROM turns ORDER BY rowid")]
        assert sorted(ids) == ids, "whichever process made them, ids are in the order in which turns were stored"
        assert sorted(ids) == sorted(turn for chain in chains for turn in chain)
        assert [texts(store, chain[-1]) for chain in chains] == [[f"{n}:{i}" for i in range(40)] for n in range(4)]
        assert list(check(store, Checked())) == []
    assert {path.name for path in home.iterdir()} <= {NAME, f"{NAME}-wal", f"{NAME}-shm"}


def test_a_killed_process_loses_no_finished_turn(home: Path) -> None:
    process = writer(home, "a", 100_000)
    assert process.stdout is not None
    stored = [process.stdout.readline().strip() for _ in range(25)]
    os.kill(process.pid, signal.SIGKILL)
    rest = process.stdout.read().split("\n")
    process.stdout.close()
    assert process.wait(60) == -signal.SIGKILL
    stored += [turn for turn in rest if len(turn) == 25]
    with Store.open(home) as store:
        assert all(map(store.has, stored))
        assert texts(store, stored[-1]) == [f"a:{number}" for number in range(len(stored))]
        assert list(check(store, Checked())) == []
