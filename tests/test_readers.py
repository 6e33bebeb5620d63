"""Every reader and its fixture folder: golden events, one claim a file, and nothing that raises.

A case is a file of the folder, or a folder in it with all the files of a session; `.sql` is made a database first.
"""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from told import tokens_of
from unspool.dialect import Decoder, Head, Reader, Record
from unspool.exports.events import content_of, line
from unspool.ingest.heads import head_of
from unspool.ingest.implied import implied
from unspool.ingest.logs import OpenLog, open_log
from unspool.model import Event, Facts, Note, Origin
from unspool.model.event import TokenUsage
from unspool.readers import READERS
from unspool.sources.files import blocks
from unspool.sources.jsontext import loads

FOLDERS = Path(__file__).parent / "readers"
LONG = "9" * 5000
"""Longer than a file's name may be, and than Python takes a number to be."""
REPLACEMENTS: tuple[Any, ...] = (None, True, 7, 0.5, "text", LONG, ["a", {"type": "text"}], {"type": "text", "id": 1})
DEEP, NESTED = "deep", "[" * 5000 + "]" * 5000
"""What stands in a value, and what JSON that nobody can decode is put there."""


def cases() -> list[Path]:
    return sorted(path for path in FOLDERS.glob("*/*") if not path.name.endswith(".golden.json"))


def name_of(case: Path) -> str:
    return f"{case.parent.name}/{case.name}"


def laid_out(case: Path, home: Path) -> list[Path]:
    """The files of a case in a place of their own, databases made."""
    if case.is_dir():
        shutil.copytree(case, home, dirs_exist_ok=True)
    else:
        shutil.copy(case, home)
    for script in home.rglob("*.sql"):
        database = sqlite3.connect(script.with_suffix(".db"))
        database.executescript(script.read_text())
        database.close()
        script.unlink()
    return sorted(path for path in home.rglob("*") if path.is_file())


def opened(case: Path, home: Path) -> list[OpenLog]:
    return [log for path in laid_out(case, home) if (log := open_log(str(path))) is not None]


def written(item: Event | Note, home: Path) -> dict[str, Any]:
    file = str(Path(item.origin.file).relative_to(home))
    if isinstance(item, Note):
        return {"note": item.kind, "reason": item.reason, "file": file, "line": item.origin.line}
    return {
        "type": item.type,
        "content": msgspec.to_builtins(content_of(item)),
        "timestamp": item.timestamp,
        "session": item.session_id,
        "stream": item.stream_id,
        "key": item.key,
        "file": file,
        "line": item.origin.line,
    }


def read(case: Path, home: Path) -> dict[str, Any]:
    facts: list[Facts] = []
    items: list[dict[str, Any]] = []
    for log in opened(case, home):
        items += [written(item, home) for item in log]
        facts += log.sessions.values()
    found: dict[str, Any] = json.loads(json.dumps({"sessions": msgspec.to_builtins(facts), "events": items}))
    return found


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_golden(case: Path, tmp_path: Path, accept: bool) -> None:
    golden = case.with_name(f"{case.name}.golden.json")
    found = read(case, tmp_path)
    if accept:
        golden.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    assert found == json.loads(golden.read_text())


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_only_its_own_reader_claims_it(case: Path, tmp_path: Path) -> None:
    claimed = set()
    for path in laid_out(case, tmp_path):
        head = head_of(str(path))
        claims = [reader.name for reader in READERS.values() if reader.claims(head)]
        assert len(claims) <= 1, path
        claimed.update(claims)
    assert claimed == {case.parent.name}


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_a_mark_is_borne_by_the_files_of_one_reader(case: Path, tmp_path: Path) -> None:
    for log in opened(case, tmp_path):
        start = next(blocks(log.path), b"")
        marked = [reader for reader in READERS.values() if reader.mark is not None and reader.mark.match(start)]
        assert [reader for reader in marked if not reader.document] in ([], [log.reader])


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_keys_are_unique_and_chained(case: Path, tmp_path: Path) -> None:
    seen: set[tuple[str, str]] = set()
    last: dict[tuple[str, str, str], str] = {}
    for log in opened(case, tmp_path):
        for event in log:
            if isinstance(event, Event):
                assert (event.session_id, event.key) not in seen
                seen.add((event.session_id, event.key))
                stream = (log.path, event.session_id, event.stream_id)
                assert event.before == last.get(stream)
                last[stream] = event.key


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_after_a_pause_reading_goes_on(case: Path, tmp_path: Path) -> None:
    """A file that still grows is closed at each pause, and fed again: nothing is lost, and nothing counted twice."""
    for log in opened(case, tmp_path):
        if log.reader.document or log.reader.rows:
            continue
        records = [record for record in log.records() if isinstance(record, Record)]
        whole = _paused(log, records, set())
        for pauses in [*({at} for at in range(len(records))), set(range(len(records)))]:
            told = _paused(log, records, pauses)
            keys = [(event.session_id, event.key) for event in told]
            assert len(set(keys)) == len(keys)
            last: dict[tuple[str, str], str] = {}
            for event in told:
                stream = (event.session_id, event.stream_id)
                assert event.before == last.get(stream)
                last[stream] = event.key
            assert tokens_of(told) == tokens_of(whole)
            words = _words(told)
            assert [text for event in whole if (text := _words([event])) not in words] == []


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_line_by_line_or_by_the_block_the_events_are_the_same(case: Path, tmp_path: Path) -> None:
    for log in opened(case, tmp_path):
        if log.reader.decode is not None:
            records = [record for record in log.records() if isinstance(record, Record)]
            one_by_one = [written(event, tmp_path) for event in _paused(log, records, set())]
            assert [written(item, tmp_path) for item in log if isinstance(item, Event)] == one_by_one


def _paused(log: OpenLog, records: list[Record], pauses: set[int]) -> list[Event]:
    decoder = log.reader.decoder(log.path)
    items: list[Event | Note] = []
    for at, record in enumerate(records):
        items += decoder.feed(record)
        if at in pauses:
            items += decoder.close()
            items += decoder.close()  # nothing came in between
    items += decoder.close()
    return [item for item in items if isinstance(item, Event)]


def _words(events: list[Event]) -> str:
    """All that was said, without blanks: a pause may fall into the middle of a text."""
    said = [getattr(event.content, name, None) for event in events for name in ("text", "output")]
    return "".join("".join(text for text in said if isinstance(text, str)).split())


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_keys_stay_unique_when_what_was_written_is_written_again(case: Path, tmp_path: Path) -> None:
    """Each line, row and list is doubled in turn: by a fork, a retry, or a second look at what grows."""
    for log in opened(case, tmp_path):
        records = [record for record in log.records() if isinstance(record, Record)]
        values = [record.value if record.value is not None else _value(record.data) for record in records]
        tellings = [values * 2] if not log.reader.document else []
        for at, value in enumerate(values):
            tellings += [[*values[:at], changed, *values[at + 1 :]] for changed in doubled(value)]
        for telling in tellings:
            keys = [
                (item.session_id, item.key)
                for item in _fed(log.reader, log.path, telling)[1]
                if isinstance(item, Event)
            ]
            assert len(set(keys)) == len(keys)


def doubled(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            for key, inner in value.items():
                yield from ({**value, key: changed} for changed in doubled(inner))
        case list():
            yield value * 2
            for at, inner in enumerate(value):
                yield from ([*value[:at], changed, *value[at + 1 :]] for changed in doubled(inner))


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_whatever_stands_in_a_place_nothing_raises(case: Path, tmp_path: Path) -> None:
    for log in opened(case, tmp_path):
        records = [record for record in log.records() if isinstance(record, Record)]
        values = [record.value if record.value is not None else _value(record.data) for record in records]
        for at, value in enumerate(values):
            for changed in replaced(value):
                _feed(log.reader, log.path, [*values[max(0, at - 3) : at], changed, *values[at + 1 : at + 3]])


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_what_is_nested_too_deeply_costs_nothing_else(case: Path, tmp_path: Path) -> None:
    """Each value in turn is a list of 5,000 levels: in lines, documents, and the columns of a database."""
    for log in opened(case, tmp_path):
        for record in log.records():
            if isinstance(record, Record):
                value = record.value if record.value is not None else _value(record.data)
                for changed in replaced(value, (DEEP,), whole=False):
                    _read_deep(log, record, changed)


def _read_deep(log: OpenLog, record: Record, value: Any) -> None:
    if log.reader.rows is not None:
        if not any(NESTED[:99] in text for text in value.values() if isinstance(text, str)):
            return  # no column of a database is a list
        changed = Record(b"", record.origin, value)
    else:
        data = json.dumps(value).replace(f'"{DEEP}"', NESTED).encode()
        changed = Record(b"", record.origin, loads(data)) if log.reader.document else Record(data, record.origin)
    again = OpenLog(log.path, log.reader, Head(log.path, document=changed.value), [changed])
    for item in again:
        if isinstance(item, Event):
            json.loads(line(item, log.reader.agent))
    msgspec.json.encode(list(again.sessions.values()))


def _fed(reader: Reader, path: str, values: list[Any]) -> tuple[Decoder, list[Event | Note]]:
    decoder = reader.decoder(path)
    items: list[Event | Note] = []
    for number, value in enumerate(values, 1):
        data = b"" if reader.rows or reader.document else msgspec.json.encode(value)
        items += decoder.feed(Record(data, Origin(path, number, 0, len(data)), None if data else value))
    items += decoder.close()
    return decoder, items


def _feed(reader: Reader, path: str, values: list[Any]) -> None:
    decoder, items = _fed(reader, path, values)
    for item in items:
        if isinstance(item, Event):
            assert item.timestamp is None or len(item.timestamp) == 24
            content = content_of(item)
            msgspec.json.encode(content)
            msgspec.convert(msgspec.to_builtins(content), type(content))  # every field is of its type
    msgspec.json.encode(list(decoder.sessions.values()))
    msgspec.convert(msgspec.to_builtins(decoder.sessions), dict[str, Facts])


def _value(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        return data.decode("utf-8", "replace")


def replaced(value: Any, others: tuple[Any, ...] = REPLACEMENTS, whole: bool = True) -> Iterator[Any]:
    """The value with each value in it replaced in turn; JSON inside of strings too."""
    if whole:
        yield from others
    match value:
        case dict():
            for key, inner in value.items():
                for changed in replaced(inner, others):
                    yield {**value, key: changed}
                yield {other: kept for other, kept in value.items() if other != key}
        case list():
            for at, inner in enumerate(value):
                for changed in replaced(inner, others):
                    yield [*value[:at], changed, *value[at + 1 :]]
        case str() if value[:1] in ("{", "["):
            try:
                inside = json.loads(value)
            except ValueError:
                return
            for changed in replaced(inside, others, whole=False):
                yield json.dumps(changed).replace(f'"{DEEP}"', NESTED)


def test_every_reader_has_a_folder_and_every_folder_a_reader() -> None:
    assert {folder.name for folder in FOLDERS.iterdir()} == READERS.keys()


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_the_calls_that_a_log_implies_used_what_it_counts(case: Path, tmp_path: Path) -> None:
    for log in opened(case, tmp_path):
        items = list(log)
        counted = [item.content for item in items if isinstance(item, Event) and isinstance(item.content, TokenUsage)]
        calls = [call for call in implied((log.reader.agent, item) for item in items) if not isinstance(call, Note)]
        used = [call.response.usage for call in calls if call.response.usage is not None]
        for name in ("input", "cache_read", "cache_write", "output", "reasoning"):
            assert sum(getattr(each, name) for each in used) == sum(getattr(each, name) for each in counted)
