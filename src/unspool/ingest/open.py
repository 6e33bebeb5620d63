"""The way in: paths and sessions → exchanges and notes, whatever they hold."""

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from unspool.dialect import Record
from unspool.errors import FileFault, InputNotFound
from unspool.ingest.envelope import is_text_of_call, open_envelope
from unspool.ingest.net import file_note
from unspool.ingest.traffic import AUTO, Traffic
from unspool.model import CookedRequest, Exchange, Note, Origin
from unspool.sources.files import DASH, expand, is_database
from unspool.sources.jsontext import Unreadable
from unspool.sources.records import read_records
from unspool.sources.storage import is_url

if TYPE_CHECKING:
    from unspool.ingest.logs import OpenLog

Call = TypeVar("Call", Exchange, CookedRequest)


def read_exchanges(*inputs: str | os.PathLike[str], wire: str = AUTO) -> Iterator[Exchange | Note]:
    """Each call in files, folders, URLs or `-` (standard input), in their order, and notes on what was not read.

    An agent's log gives the calls to the model that it implies.
    """
    traffic = Traffic(wire)
    named = {os.fspath(given) for given in inputs}
    with _copies() if any(map(is_url, named)) else nullcontext():
        for path in expand(inputs):
            try:
                yield from _read(path, traffic)
            except FileFault as error:
                yield Note(error.kind, str(error).removeprefix(f"{path}: "), Origin(path, 0, 0, 0))
            except InputNotFound as error:
                if named == {path}:
                    raise
                yield Note("unreadable", str(error), Origin(path, 0, 0, 0))  # one file of a folder
            except Exception as error:
                yield file_note(error, path)


def _read(path: str, traffic: Traffic) -> Iterator[Exchange | Note]:
    records: Iterator[Record | Note] = iter(())
    if path == DASH or not is_database(path):
        records = read_records(path)
        records, is_traffic = _looked_at(records)
        if is_traffic:
            yield from _calls(records, traffic)
            return
    from unspool.ingest.logs import open_log, open_records  # readers are many, and recorded calls need none

    if is_url(path):
        yield from _read_copy(path) or _calls(records, traffic)
        return
    log, records = open_records(path, records) if path == DASH else (open_log(path), records)
    yield from _calls(records, traffic) if log is None else _read_log(log)


def _looked_at(records: Iterator[Record | Note]) -> tuple[Iterator[Record | Note], bool]:
    """Return the same records, and whether the first is a recorded call, or there is none."""
    before: list[Record | Note] = []
    for record in records:
        before.append(record)
        if isinstance(record, Record):
            return chain(before, records), is_call(record)
    return iter(before), True


def _read_log(log: "OpenLog") -> Iterator[Exchange | Note]:
    from unspool.ingest.implied import implied

    return implied((log.reader.agent, item) for item in log)


def _copies() -> AbstractContextManager[None]:
    from unspool.sources.copies import copies

    return copies()


def _read_copy(url: str) -> Iterator[Exchange | Note] | None:
    """An agent's log in object storage, which needs what lies beside it; None for what is none."""
    from unspool.ingest.logs import open_log
    from unspool.sources.copies import copied, copied_with_neighbours, copies

    with copies():
        if open_log(copied(url).folder) is None:
            return None
    copy = copied_with_neighbours(url)
    log = open_log(copy.local(url))
    return None if log is None else (replace(item, origin=replace(item.origin, file=url)) for item in _read_log(log))


def _calls(records: Iterator[Record | Note], traffic: Traffic) -> Iterator[Exchange | Note]:
    for record in records:
        if isinstance(record, Note):
            yield record
        else:
            yield from traffic.read(record)


def is_call(first: Record | Note) -> bool:
    """Whether the first record is a recorded call: no agent's log has such."""
    try:
        return not isinstance(first, Note) and is_recorded(first.data)
    except Unreadable:
        return False


def is_recorded(line: bytes) -> bool:
    """The same of a line. A recorder's first call may be one that sent nothing: then it says by which method."""
    if b'"request"' not in line:
        return False
    envelope = open_envelope(line)
    request = envelope.get("request", "")
    if isinstance(request, dict) or is_text_of_call(request):
        return True
    return request is None and isinstance(envelope.get("method"), str)


def in_time_order(calls: Iterable[Call]) -> list[Call]:
    """By timestamp, stable; a call without one stays behind the call that it follows in the file."""
    times: list[tuple[float, Call]] = []
    latest = float("-inf")
    for call in calls:
        latest = latest if call.timestamp is None else call.timestamp
        times.append((latest, call))
    times.sort(key=lambda entry: entry[0])
    return [call for _, call in times]
