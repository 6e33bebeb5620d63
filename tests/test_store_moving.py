"""The store as a folder and back, cross.stream's exports, and what a check finds."""

import base64
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from turns import said, texts
from unspool.errors import InputNotFound, OutputNotWritable, StoreFault, StrictFault
from unspool.jobs.stores import take_in
from unspool.model import Answer, Document, Draft, Message, Text, Usage
from unspool.store.checking import Checked, check
from unspool.store.database import NAME
from unspool.store.moving import LINES, export_store
from unspool.store.packing import LARGE
from unspool.store.store import Store

PAGE = Document("document", "base64", base64.b64encode(b"page " * 9).decode(), "application/pdf", "page.pdf")


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    """Two threads that share their beginning, a document, and a long text."""
    with Store.open(home) as store:
        root = store.append(said("Be brief.", role="system", inherited={"search": True}))
        asked = store.append(said("Question", root.id, head="main", cache=True))
        answer = Answer(model="m", usage=Usage(input=3, output=4), cost=0.5)
        store.append(said("Answer " * LARGE, asked.id, role="assistant", answer=answer))
        store.append(Draft(Message("user", (PAGE, Text("Read this"))), continues=(asked.id,), head="fork"))
        yield store


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "other") as store:
        yield store


def test_what_was_written_is_read_again(store: Store, other: Store, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    written = export_store(store, folder)
    assert (written.turns, written.messages, written.blobs, written.bookmarks) == (4, 4, 2, 2)
    taken = take_in(other, folder)
    assert (taken.turns, taken.messages, taken.blobs, taken.bookmarks, taken.notes) == (4, 4, 2, 2, [])
    assert list(other.turns()) == list(store.turns())
    assert other.bookmarks() == store.bookmarks()
    turns = list(store.turns())
    assert [each.id for each in other.messages(turns)] == [each.id for each in store.messages(turns)]
    assert list(check(other, Checked())) == []
    again = take_in(other, folder)
    assert (again.turns, again.known, again.messages, again.bookmarks, again.notes) == (0, 4, 0, 0, [])


def test_only_the_owner_can_read_what_was_written(store: Store, tmp_path: Path) -> None:
    export_store(store, tmp_path / "out")
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert modes == {0o600}
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def test_one_thread_can_be_written_alone(store: Store, other: Store, tmp_path: Path) -> None:
    written = export_store(store, tmp_path / "out", [store.find("fork")])
    assert (written.turns, written.bookmarks, written.blobs) == (3, 1, 1)
    take_in(other, tmp_path / "out")
    assert texts(other, "fork") == ["Be brief.", "Question", "Read this"]


def test_a_folder_with_something_in_it_is_left_alone(store: Store, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(OutputNotWritable, match="not empty"):
        export_store(store, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]


def test_a_bookmark_that_another_thread_has_gets_a_number(store: Store, other: Store, tmp_path: Path) -> None:
    mine = other.append(said("Mine", head="main"))
    export_store(store, tmp_path / "out")
    taken = take_in(other, tmp_path / "out")
    assert taken.renamed == {"main": "main-2"}
    assert (other.find("main"), other.find("main-2")) == (mine.id, store.find("main"))


def test_a_bookmark_goes_forward_and_never_back(store: Store, other: Store, tmp_path: Path) -> None:
    export_store(store, tmp_path / "early")
    store.append(said("Later", "main"))
    export_store(store, tmp_path / "late")
    for folder in ("late", "early"):
        take_in(other, tmp_path / folder)
        assert other.find("main") == store.find("main")


def edit(folder: Path, kind: str, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the last line of a kind."""
    lines = [json.loads(line) for line in (folder / LINES).read_text().splitlines()]
    at = max(number for number, line in enumerate(lines) if line["kind"] == kind)
    change(lines[at])
    (folder / LINES).write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))


def blob_files(folder: Path) -> list[Path]:
    return sorted((folder / "blobs").iterdir())


@pytest.mark.parametrize(
    ("damage", "lost", "reason"),
    [
        (lambda out: edit(out, "turn", lambda line: line["facts"].update(cache=True)), 1, "its facts have the hash"),
        (lambda out: edit(out, "message", lambda line: line["body"].update(role="system")), 1, "its body has the hash"),
        (lambda out: edit(out, "turn", lambda line: line.update(facts=3)), 1, "its facts have the hash"),
        (lambda out: edit(out, "message", lambda line: line.pop("body")), 1, "missing required field"),
        (lambda out: [path.write_bytes(b"x") for path in blob_files(out)], 2, "has the hash"),
        (lambda out: shutil.rmtree(out / "blobs"), 2, "No such file"),
    ],
)
def test_damage_costs_only_what_it_damaged(
    store: Store, other: Store, tmp_path: Path, damage: Callable[[Path], object], lost: int, reason: str
) -> None:
    folder = tmp_path / "out"
    export_store(store, folder)
    damage(folder)
    taken = take_in(other, folder)
    assert taken.turns == 4 - lost
    assert any(reason in note.reason for note in taken.notes)
    assert all(note.origin.file.endswith(LINES) and note.origin.line > 0 for note in taken.notes)
    assert list(check(other, Checked())) == []
    with Store.open(tmp_path / "third") as third:
        with pytest.raises(StrictFault, match="nothing was taken in"):
            take_in(third, folder, strict=True)
        assert third.newest() is None


def test_a_turn_whose_parent_is_missing_is_left_out_with_what_goes_on_from_it(other: Store, tmp_path: Path) -> None:
    def line(id_: str, *continues: str) -> str:
        facts = f'{{"continues":{json.dumps(continues)},"id":"{id_}","role":"user","message":"{message}"}}'
        return f'{{"kind":"turn","hash":"{hashlib.sha256(facts.encode()).hexdigest()}","facts":{facts}}}'

    body = '{"role":"user","blocks":[{"type":"text","text":"Hi"}]}'
    message = hashlib.sha256(body.encode()).hexdigest()
    a, b, c, d, e = (f"03h8tlbmoazsfywx9jj7tm9i{letter}" for letter in "abcde")
    lines = [f'{{"kind":"message","hash":"{message}","body":{body}}}', line(b, a), line(a), line(c, "0" * 25)]
    lines += [line(d, e), line(e, d), '{"kind":"bookmark","name":"x","turn":"' + c + '"}', "torn {", '{"kind":"poem"}']
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / LINES).write_text("\n".join(lines))
    taken = take_in(other, tmp_path / "in")
    assert sorted(turn.id for turn in other.turns()) == [a, b]
    reasons = {note.origin.line: note.reason for note in taken.notes}
    assert sorted(reasons) == [4, 5, 6, 7, 8, 9]
    assert "continues 0000000000000000000000000, which is not there" in reasons[4]


def test_a_name_in_a_foreign_folder_leads_nowhere_else(other: Store, tmp_path: Path) -> None:
    """A blob is named by its hash: not by a path that leads out of the folder."""
    body = '{"role":"user","blocks":[{"type":"text","text":{"blob":"../../secret"}}]}'
    line = f'{{"kind":"message","hash":"{hashlib.sha256(body.encode()).hexdigest()}","body":{body}}}'
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / LINES).write_text(line)
    (note,) = take_in(other, tmp_path / "in").notes
    assert "'../../secret' is no hash" in note.reason


def test_a_folder_that_is_no_export_is_told_so(other: Store, tmp_path: Path) -> None:
    with pytest.raises(InputNotFound, match=r"neither store\.jsonl.* nor frames\.jsonl"):
        take_in(other, tmp_path)
    (tmp_path / LINES).write_text('{"kind":"store","version":99}\n')
    with pytest.raises(StoreFault, match="newer unspool"):
        take_in(other, tmp_path)


# cross.stream

ROOT, ASKED, REPLY, PAPER, LAST = (f"03DXL6W8Q53VJHS6I91Q9R7M{letter}" for letter in "ABCDE")


class Frames:
    """An export as `.export` of cross.stream writes it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "cas").mkdir(parents=True)

    def keep(self, data: bytes) -> str:
        name = "sha256-" + base64.b64encode(hashlib.sha256(data).digest()).decode()
        (self.folder / "cas" / base64.b64encode(name.encode()).decode()).write_bytes(data)
        return name

    def add(self, id_: str, content: Any, topic: str = "gpt.turn", **meta: Any) -> None:
        if not isinstance(content, bytes):
            content, meta["content_type"] = json.dumps(content).encode(), "application/json"
        self.write({"topic": topic, "id": id_, "hash": self.keep(content), "meta": meta, "ttl": "forever"})

    def write(self, frame: Any) -> None:
        with (self.folder / "frames.jsonl").open("a") as file:
            file.write((frame if isinstance(frame, str) else json.dumps(frame)) + "\n")


@pytest.fixture
def frames(tmp_path: Path) -> Frames:
    frames = Frames(tmp_path / "xs")
    frames.add(ROOT, [{"type": "text", "text": "Be brief."}], role="system", options={"provider_ptr": "milli"})
    question: dict[str, Any] = {"role": "user", "continues": [ROOT], "head": "talk", "cache": True}
    frames.add(ASKED, [{"type": "text", "text": "Why?"}], **question)
    usage = {"input_tokens": 5, "output_tokens": 7, "cache_read_input_tokens": 11}
    told = {"id": "msg_1", "model": "m-1", "stop_reason": "end_turn", "usage": usage, "type": "message"}
    frames.add(REPLY, [{"type": "text", "text": "So."}], role="assistant", continues=ASKED, message=told)
    frames.add("03DXL6W8Q53VJHS6I91Q9R7MZ", b"not to be read", topic="gpt.provider", name="secret")
    about: dict[str, Any] = {
        "document_name": "p.pdf",
        "original_path": "/p.pdf",
        "file_size": 4,
        "content_type": "application/pdf",
    }
    frames.add(PAPER, b"%PDF", role="user", type="document", **about)
    frames.add(LAST, b"Plain, as older versions kept it", role="user", continues=["talk", PAPER])
    return frames


def test_an_export_of_cross_stream_is_taken_in(other: Store, frames: Frames) -> None:
    taken = take_in(other, frames.folder)
    assert (taken.turns, taken.notes) == (5, [])
    root, asked, reply, paper, last = other.turns()
    assert [each.id for each in (root, asked, reply, paper, last)] == [
        id_.lower() for id_ in (ROOT, ASKED, REPLY, PAPER, LAST)
    ]
    assert root.role == "system"
    assert root.inherited == {"provider_ptr": "milli"}
    assert asked.cache
    assert (reply.head, reply.continues) == ("talk", (asked.id,))
    assert reply.answer is not None
    assert reply.answer.model == "m-1"
    assert reply.answer.response_id == "msg_1"
    assert reply.answer.stop is not None
    assert reply.answer.stop.reason == "end_turn"
    assert reply.answer.usage is not None
    assert (reply.answer.usage.input, reply.answer.usage.cache_read, reply.answer.usage.output) == (5, 11, 7)
    assert (paper.type, paper.document_name, paper.file_size) == ("document", "p.pdf", 4)
    assert other.message(paper.message).blocks == (
        Document("document", "base64", base64.b64encode(b"%PDF").decode(), "application/pdf", "p.pdf"),
    )
    assert last.continues == (reply.id, paper.id), "a bookmark means the thread's newest turn, the answer included"
    assert other.bookmarks() == {"talk": last.id}
    assert texts(other, "talk") == ["Be brief.", "Why?", "So.", "Plain, as older versions kept it"]
    assert list(check(other, Checked())) == []
    assert take_in(other, frames.folder).known == 5
    assert b"not to be read" not in (other.folder / NAME).read_bytes()


def test_faults_in_an_export_cost_nothing_else(other: Store, frames: Frames) -> None:
    ids = [f"03DXL6W8Q53VJHS6I91Q9R7N{letter}" for letter in "ABCD"]
    frames.write("no json")
    frames.write([1])
    frames.write({"topic": "gpt.turn", "id": "short", "hash": frames.keep(b"x"), "meta": {}})
    frames.write({"topic": "gpt.turn", "id": ids[0], "hash": None, "meta": {"role": "user"}})
    lost = "sha256-" + base64.b64encode(b"0" * 32).decode()
    frames.write({"topic": "gpt.turn", "id": ids[1], "hash": lost, "meta": {}})
    frames.add(ids[2], b"{torn", content_type="application/json")
    frames.add(ids[3], b"Without its parent", continues="gone")
    taken = take_in(other, frames.folder)
    assert taken.turns == 6
    assert [note.origin.line for note in taken.notes] == [7, 8, 9, 10, 11, 12, 13]
    assert other.turn(ids[3].lower()).continues == ()
    assert taken.notes[-1].kind == "odd"


@pytest.mark.parametrize(
    ("content", "told"),
    [(b'[{"type": "text", "text": "Hi"}]', "Hi"), (b"[1, 2]", "[1, 2]"), (b"[x](y)", "[x](y)")],
)
def test_content_without_a_type_is_blocks_if_it_looks_so(
    other: Store, tmp_path: Path, content: bytes, told: str
) -> None:
    frames = Frames(tmp_path / "typeless")
    frames.add(ROOT, content)
    take_in(other, frames.folder)
    assert other.message(next(other.turns()).message).blocks == (Text(told),)


def test_content_that_lost_its_hash_is_not_believed(other: Store, frames: Frames) -> None:
    for path in (frames.folder / "cas").iterdir():
        path.write_bytes(path.read_bytes() + b" ")
    taken = take_in(other, frames.folder)
    assert taken.turns == 0
    assert "does not have the hash" in taken.notes[0].reason


# Checks


@pytest.mark.parametrize(
    ("sql", "kind", "reason"),
    [
        ("UPDATE blobs SET data = x'00' WHERE hash = (SELECT min(hash) FROM blobs)", "blob", "its data has the hash"),
        ("UPDATE messages SET body = replace(body, 'Question', 'Other')", "message", "its body has the hash"),
        ("UPDATE messages SET body = '{}'", "message", "no message"),
        ("DELETE FROM message_blobs", "message", "its list of blobs is not that of its body"),
        ("DELETE FROM blobs", "message", "is not there"),
        ("UPDATE turns SET facts = replace(facts, 'main', 'none')", "turn", "its facts have the hash"),
        ("UPDATE turns SET facts = 'null'", "turn", "no turn"),
        ("UPDATE turns SET message = (SELECT max(hash) FROM messages)", "turn", "of another turn, message or parents"),
        ("DELETE FROM parents", "turn", "of another turn, message or parents"),
        ("DELETE FROM messages", "turn", "is not there"),
        ("DELETE FROM turns WHERE id = (SELECT min(id) FROM turns)", "turn", "which is not there"),
        ("DELETE FROM turns", "bookmark", "is not there"),
        (
            "INSERT INTO parents SELECT min(id), 0, max(id) FROM turns",
            "turn",
            "continues itself",
        ),
    ],
)
def test_a_check_finds_what_is_wrong(store: Store, sql: str, kind: str, reason: str) -> None:
    assert list(check(store, Checked())) == []
    store.database.execute("PRAGMA foreign_keys = OFF")
    store.database.execute(sql)
    faults = list(check(store, Checked()))
    assert any(fault.kind == kind and reason in fault.reason for fault in faults), faults


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("DELETE FROM turns WHERE id = (SELECT min(id) FROM turns)", "which is not there"),
        ("DELETE FROM messages", "is not there"),
        ("DELETE FROM blobs", "is not there"),
        ("UPDATE turns SET facts = '{'", "a turn cannot be read"),
        ("UPDATE messages SET body = '{'", "a message cannot be read"),
    ],
)
def test_a_broken_store_says_so_when_it_is_used(unspool: Run, store: Store, sql: str, reason: str) -> None:
    store.database.execute("PRAGMA foreign_keys = OFF")
    store.database.execute(sql)
    for command in (("context", "resolve", "fork"), ("thread", "show", "fork"), ("thread", "tree", "fork")):
        done = unspool(*command)
        assert (done.returncode, done.stdout) == (2, b"")
        assert reason in done.stderr.decode()
        assert done.stderr.endswith(b"`unspool store check` tells more\n")


def test_a_check_counts_and_has_a_status(unspool: Run, store: Store) -> None:
    done = unspool("store", "check")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == "4 turns, 4 messages, 2 blobs, 2 bookmarks, 115.2kB: all right\n"
    store.database.execute("UPDATE blobs SET data = x'00' WHERE hash = (SELECT min(hash) FROM blobs)")
    done = unspool("store", "check", "--json")
    assert done.returncode == 1
    fault, counts = map(json.loads, done.stdout.splitlines())
    assert fault["kind"] == "blob"
    assert counts["faults"] == 1


def test_a_store_so_broken_that_it_cannot_be_read_is_a_fault(unspool: Run, store: Store, home: Path) -> None:
    store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.database.close()
    with (home / NAME).open("r+b") as file:
        size = file.seek(0, 2)
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))
    done = unspool("store", "check")
    assert done.returncode == 1
    assert b"database " in done.stdout


def test_the_commands_move_a_store(unspool: Run, store: Store, tmp_path: Path) -> None:
    done = unspool("store", "export", tmp_path / "out", "--json")
    assert json.loads(done.stdout)["turns"] == len(list(store.turns()))
    elsewhere = {"UNSPOOL_HOME": str(tmp_path / "elsewhere")}
    done = unspool("store", "import", tmp_path / "out", **elsewhere)
    assert done.stdout == b"4 turns, 4 messages, 2 blobs, 2 bookmarks taken in\n"
    same = unspool("context", "resolve", "main").stdout
    assert unspool("context", "resolve", "main", **elsewhere).stdout == same
    done = unspool("store", "import", tmp_path / "nothing", **elsewhere)
    assert done.returncode == 2
