"""What the viewer keeps open, closes and opens again; files that fail, go and come back while it looks."""

import asyncio
import json
import sqlite3
from base64 import b64encode
from collections.abc import AsyncGenerator, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest

from logs import Claude
from test_readers import FOLDERS, laid_out
from unspool.dialect import Record
from unspool.jobs.view.catalog import Catalog
from unspool.jobs.view.growing import Growing, Replaced
from unspool.jobs.view.messages import cards
from unspool.jobs.view.originals import original, pictures
from unspool.jobs.view.reels import Reel
from unspool.jobs.view.searching import search
from unspool.jobs.view.shelf import Shelf
from unspool.jobs.view.transcripts import transcript
from unspool.model import Note
from unspool.web import live
from unspool.web.live import Live
from viewing import Agent, a_day, a_session


def traces(folder: Path, number: int) -> list[str]:
    """Of 100,000 characters each."""
    made = []
    for at in range(number):
        agent = Agent(start=1_772_460_000 + 1000 * at).asks(f"Trace {at}").says("x" * 100_000)
        made.append(str(agent.save(folder / f"{at}.jsonl")))
    return made


def opened(catalog: Catalog) -> list[str]:
    return [reel.name for reel in catalog if reel.is_open]


def shelved(paths: list[str], enough: int) -> Catalog:
    catalog = Catalog(paths)
    shelf = Shelf(enough)
    for reel in catalog:
        reel.shelf = shelf
    return catalog


def test_what_nobody_looked_at_for_longest_is_closed(tmp_path: Path) -> None:
    paths = traces(tmp_path, 4)
    catalog = shelved(paths, 250_000)
    reels = {reel.name: reel for reel in catalog}
    for path in (paths[0], paths[1], paths[0], paths[2]):
        reels[path].load()
    assert opened(catalog) == [paths[0], paths[2]]
    row = reels[paths[1]].row()
    assert (row.requests, row.turns) == (1, 1)  # it is still known what was in it
    assert [each.title for each in reels[paths[1]].load().rows] == ["Trace 1"]


def test_one_that_is_larger_than_all_that_is_allowed_stays_open_while_it_is_looked_at(tmp_path: Path) -> None:
    paths = traces(tmp_path, 2)
    catalog = shelved(paths, 1000)
    one, other = catalog
    one.load()
    assert opened(catalog) == [one.name]
    other.load()
    assert opened(catalog) == [other.name]


def test_a_search_in_everything_closes_what_it_opened_and_nothing_else(tmp_path: Path) -> None:
    paths = traces(tmp_path, 6)
    catalog = shelved(paths, 350_000)
    looked_at = next(reel for reel in catalog if reel.name == paths[3])
    looked_at.load()
    for _ in range(2):
        found = search(catalog, "trace")
        assert sorted(hit.match + hit.after for hit in found.hits if hit.where == "user") == [
            f"Trace {n}" for n in range(6)
        ]
        assert looked_at.is_open
        assert len(opened(catalog)) == 3


def reel_of(*paths: Path) -> Reel:
    (reel,) = Catalog([str(path) for path in paths])
    return reel


@pytest.mark.parametrize("kind", ["trace", "session"])
def test_what_was_closed_is_the_same_when_it_is_opened_again(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.jsonl"
    if kind == "trace":
        a_day().save(path)
    else:
        a_session().save(path)
    reel = reel_of(path)
    before, row = reel.load(), reel.row()
    page = transcript(reel, before)
    reel.close()
    assert not reel.is_open
    assert reel.row() == row
    assert reel.refresh() is None
    after = reel.load()
    assert (after.version, after.rows) == (before.version, before.rows)
    assert transcript(reel, after) == page


def test_what_was_closed_and_grows_is_told_of_and_read_when_somebody_asks(tmp_path: Path) -> None:
    agent = a_day()
    path = agent.save(tmp_path / "a.jsonl")
    reel = reel_of(path)
    before = reel.load()
    reel.close()
    agent.asks("More?").says("More").save(path)
    grown = reel.refresh()
    assert grown is not None
    assert (grown.kept, grown.version) == (0, before.version + 1)
    assert not reel.is_open
    assert reel.refresh() is None
    assert (reel.load().version, len(reel.load().rows)) == (grown.version, len(before.rows) + 1)


def test_what_grew_while_it_was_closed_is_told_of_after_somebody_opened_it(tmp_path: Path) -> None:
    agent = a_day()
    path = agent.save(tmp_path / "a.jsonl")
    reel = reel_of(path)
    before = reel.load()
    reel.close()
    agent.asks("More?").says("More").save(path)
    after = reel.load()
    assert after.version > before.version
    grown = reel.refresh()  # others look at it as it was
    assert grown is not None
    assert (grown.version, grown.total) == (after.version, len(before.rows) + 1)
    assert reel.refresh() is None


def test_few_transcripts_are_kept(tmp_path: Path) -> None:
    agent = Agent()
    for number in range(20):
        agent.messages = []
        agent.asks(f"Begin {number}").says("Yes")
    reel = reel_of(agent.save(tmp_path / "a.jsonl"))
    known = reel.load()
    for row in known.rows:
        assert transcript(reel, known, row.id).turns[0].prompt == row.title
    assert len(known.transcripts) < 8
    assert transcript(reel, known, known.rows[0].id).turns[0].prompt == "Begin 0"


def test_a_read_that_broke_off_counts_nothing_twice(tmp_path: Path) -> None:
    path = a_day().save(tmp_path / "a.jsonl")
    file = Growing(str(path))
    reading = cast("Generator[Record | Note, None, None]", file.read())
    next(reading)
    reading.close()  # as a fault of the disk would
    assert file.changed()
    with pytest.raises(Replaced):
        list(file.read())
    assert len(list(Growing(str(path)).read())) == 5


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_lines_are_numbered_as_in_the_file_however_it_grew(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n\n{"b": 2}' + end)
    file = Growing(str(path))
    list(file.read())
    with path.open("a") as more:
        more.write(("" if end else "\n") + '{"c": 3}\n')
    (record,) = file.read()
    assert isinstance(record, Record)
    assert record.origin.line == path.read_text().split("\n").index('{"c": 3}') + 1


def test_a_file_of_a_folder_that_goes_keeps_no_other_from_growing(tmp_path: Path) -> None:
    agent = a_day()
    path = agent.save(tmp_path / "a.jsonl")
    gone = Agent(start=1_772_470_000).asks("Another").says("Yes").save(tmp_path / "b.jsonl")
    reel = reel_of(tmp_path)
    before = len(reel.load().rows)
    gone.unlink()
    agent.asks("More?").says("More")
    with path.open("a") as more:
        more.write(json.dumps(agent.records[-1]) + "\n")
    reel._due = 0
    grown = reel.refresh()
    assert grown is not None
    assert grown.total == before + 1


def test_a_file_that_went_before_it_was_opened_is_noted(tmp_path: Path) -> None:
    a_day().save(tmp_path / "a.jsonl")
    gone = Agent().asks("Another").says("Yes").save(tmp_path / "b.jsonl")
    reel = reel_of(tmp_path)
    gone.unlink()
    known = reel.load()
    assert len(known.rows) == 5
    assert [note.origin.file for note in known.cooked.notes] == [str(gone)]


def test_the_record_of_a_file_that_begins_with_a_mark(tmp_path: Path) -> None:
    path = a_day().save(tmp_path / "a.jsonl")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    reel = reel_of(path)
    for at, request in enumerate(reel.load().cooked.requests):
        found = original(reel, request)
        assert found is not None
        assert json.loads(found.raw)["id"] == f"c{at}"


def test_a_browser_that_takes_nothing_is_let_go(tmp_path: Path) -> None:
    async def listen() -> tuple[int, list[bytes]]:
        told = Live(Catalog([str(a_day().save(tmp_path / "a.jsonl"))]))
        stream = cast("AsyncGenerator[bytes, None]", told.listen())
        first = await anext(stream)
        (queue,) = told._queues
        for _ in range(1000):
            live._put(queue, [b"event: grown\n\n"] * 3)
        most = queue.qsize()
        rest = [each async for each in stream]
        return most, [first, *rest]

    with ThreadPoolExecutor(1) as thread:  # in this one a browser's loop may be running
        most, heard = thread.submit(lambda: asyncio.run(listen())).result()
    assert most <= 200
    assert heard == [b"retry: 2000\n\n"]


def test_cards_of_a_file_that_was_replaced_are_its_own(tmp_path: Path) -> None:
    path = a_day().save(tmp_path / "a.jsonl")
    reel = reel_of(path)
    reel.load()
    reel.close()
    Agent().asks("Other").says("Yes").save(path)
    known = reel.load()
    assert "Other" in [card.text for card in cards(known, known.messages)]


@pytest.mark.parametrize("word", ["text", "tool_call", "provider_call_id", "token_usage", "is_error"])
def test_a_search_finds_what_was_said_and_not_how_events_are_written(tmp_path: Path, word: str) -> None:
    a_session().save(tmp_path / "log.jsonl")
    Claude("s2").user(f"what is {word}?").says("Nothing").save(tmp_path / "other.jsonl")
    catalog = Catalog([str(tmp_path)])
    assert {hit.title for hit in search(catalog, word).hits} == {f"what is {word}?"}


def test_a_search_in_a_database_of_several_sessions(tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "crush" / "session.sql", tmp_path)
    with closing(sqlite3.connect(file)) as database, database:
        for table, key in (("sessions", "id"), ("messages", "session_id")):
            names = [column for _, column, *_ in database.execute(f"PRAGMA table_info({table})")]
            copied = ", ".join(f"'2' || {name}" if name in ("id", key) else name for name in names)
            database.execute(f"INSERT INTO {table} SELECT {copied} FROM {table}")
    catalog = Catalog([str(tmp_path)])
    assert len(catalog) == 2
    assert {hit.reel for hit in search(catalog, "say hello").hits} == {reel.id for reel in catalog}


def test_a_search_passes_over_what_is_gone(tmp_path: Path) -> None:
    paths = traces(tmp_path, 2)
    log = a_session().save(tmp_path / "log.jsonl")
    catalog = Catalog([*paths, str(log)])
    Path(paths[0]).unlink()
    log.unlink()
    assert [hit.reel for hit in search(catalog, "trace 1").hits] == [next(r.id for r in catalog if r.name == paths[1])]


def test_a_turn_that_begins_with_a_picture_is_told_by_its_words(tmp_path: Path) -> None:
    agent = Agent().asks("What is on it?")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGVsbG8="}}
    agent.messages[0]["content"].insert(0, image)
    reel = reel_of(agent.says("A bridge").save(tmp_path / "a.jsonl"))
    assert [turn.prompt for turn in transcript(reel, reel.load()).turns] == ["What is on it?"]


def test_opening_a_session_changes_nothing_that_was_known_of_it(tmp_path: Path) -> None:
    reel = reel_of(a_session().save(tmp_path / "log.jsonl"))
    before = reel.row()
    reel.load()
    after = reel.row()
    assert before.end is not None
    assert (after.start, after.end, after.turns, after.tools) == (before.start, before.end, before.turns, before.tools)
    assert after.usage == before.usage


def test_pictures_in_the_letters_of_addresses(tmp_path: Path) -> None:
    """Gemini writes base64 so; browsers do not read it."""
    data = b64encode(b"\xfb\xff\xfe" * 3 + b"x").decode()
    told = data.replace("+", "-").replace("/", "_").rstrip("=")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": told}}
    agent = Agent().asks("Look")
    agent.messages[0]["content"].append(image)
    reel = reel_of(agent.says("I see").save(tmp_path / "a.jsonl"))
    (request,) = reel.load().cooked.requests
    (picture,) = pictures(reel, request, len(request.request_messages) - 1, False)
    assert picture.data == f"data:image/png;base64,{data}"


def test_a_sub_agent_is_told_by_what_it_was_asked() -> None:
    reel = reel_of(Path(__file__).parent.parent / "samples" / "logs" / "claude-code.jsonl")
    titles = [card.text for card in transcript(reel, reel.load()).cards if card.kind == "agent"]
    assert titles == ["agent: Explore · Find discount code"]
