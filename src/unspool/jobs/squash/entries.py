"""Entries of a session file, opened as deep as needed.

    {"timestamp": …, "session_id": …, "request": {"messages": [▒▒▒, ▒▒▒, …], "tools": ▒▒▒}, "response": ▒▒▒}

A message stays bytes until somebody must know what it says, and what an entry shares with the one before it is only
compared: the bytes of all earlier messages are cut out of the line, and those of the tools, a mark is put in place of
either, and what is left is decoded. What was cut are whole values with commas between them. So if the mark comes back
as the first message, it stood where a value stands, and so did they.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from io import BufferedReader
from itertools import chain, islice
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Raw, Struct

from unspool.dialect import Record
from unspool.jobs.squash.moments import moment
from unspool.model import Note, Origin
from unspool.sources.files import is_database
from unspool.sources.jsontext import Unreadable, loads, mend, strict
from unspool.sources.limits import max_record
from unspool.sources.records import read_records
from unspool.sources.storage import opened, size
from unspool.sources.values import string
from unspool.transforms.traces import role_of

NULL = Raw(b"null")
_BUFFER = 1 << 18
"""Bytes that are read at once: what a processor keeps close to itself."""
_TRIED = 16
"""Records that are looked at to tell what a file is."""
_MARK = b'"\\u0000unspool: the messages of the entry before\\u0000"'
_TOOLS_MARK = b'"\\u0000unspool: the tools of the entry before\\u0000"'
_START = 64
"""Bytes by which what was there before is looked for."""
_Kind: TypeAlias = Literal["chat", "other", "open"]
"""Of which API an entry is; open, if no answer tells."""
_TOLD = ("chat", "other")
Clean: TypeAlias = Callable[[dict[str, Any], Counter[str]], dict[str, Any] | None]
_encode = msgspec.json.Encoder().encode


class _Request(Struct):
    messages: list[Raw]
    tools: Raw = NULL
    functions: Raw = NULL
    """What tools were called at first."""

    @property
    def definitions(self) -> Raw:
        return self.functions if self.tools == NULL else self.tools


class _Line(Struct):
    request: _Request
    timestamp: Raw = NULL
    session_id: Raw = NULL
    response: Raw = NULL


_open = msgspec.json.Decoder(_Line).decode
_keys = msgspec.json.Decoder(dict[str, Raw]).decode


class Entry(Struct):
    """One call, as a capture proxy logs it. It holds its line: keep few of them."""

    origin: Origin
    line: bytes
    time: int | None
    """Microseconds since 1970."""
    day: str | None
    """YYYY-MM-DD, by the clock that wrote the time."""
    session: str | None
    trace: list[str]
    """The role of each message: see `transforms.traces`."""
    values: list[dict[str, Any]]
    """The messages, decoded: as many as the trace is long. Entries that continue one another share the list."""
    tools: Raw
    response: Raw
    cleaned: list[Raw] | None = None
    """The messages after a clean-up, where there was one."""
    tidied: Mapping[str, int] = {}
    """How often the clean-up did what."""

    @property
    def messages(self) -> list[Raw]:
        return _open(self.line).request.messages if self.cleaned is None else self.cleaned


class Lost(Struct, frozen=True):
    """What could not be read as it stood, with the bytes of a line that is lost."""

    note: Note
    data: bytes = b""


class _Wrong(ValueError):
    """A line that is JSON but no entry."""


class Entries:
    """Those of one file, in its order, and what was lost: the lines that are no entries, or had to be mended."""

    def __init__(self, path: str, clean: Clean | None = None) -> None:
        self._path = path
        self._clean = clean
        self.cleaned = 0
        """Entries that the clean-up took away."""
        self._before = b""
        """The messages of the entry before, as they stood in its line."""
        self._place = 0
        self._trace: list[str] = []
        self._values: list[dict[str, Any]] = []
        self._tools = NULL
        self._written = b""
        """The newest tools, apart from their line, and their bytes."""

    def __iter__(self) -> Iterator[Entry | Lost]:
        for record in _records(self._path):
            if isinstance(record, Note):
                yield Lost(record)
                continue
            try:
                entry = self._opened(record.data, record.origin)
            except (msgspec.ValidationError, _Wrong) as fault:
                yield Lost(Note("skipped", f"no entry: {fault}", record.origin), record.data)
            except Unreadable:
                yield from self._mended(record)
            else:
                if entry is not None:
                    yield entry

    def _mended(self, record: Record) -> Iterator[Entry | Lost]:
        try:
            entry = self._opened(mend(record.data), record.origin)
        except (msgspec.ValidationError, _Wrong) as fault:
            yield Lost(Note("skipped", f"no entry: {fault}", record.origin), record.data)
        except Unreadable as fault:
            yield Lost(Note("unreadable", f"no JSON: {fault}", record.origin), record.data)
        else:
            yield Lost(Note("repaired", "a line with faults in its text, read after mending them", record.origin))
            if entry is not None:
                yield entry

    def _opened(self, line: bytes, origin: Origin) -> Entry | None:
        """None for an entry that was cleaned away."""
        found, trace = self._cut(line) or self._whole(line)
        time, day = moment(strict(found.timestamp))
        session = string(strict(found.session_id))
        entry = Entry(origin, line, time, day, session, trace, self._values, found.request.tools, found.response)
        return entry if self._clean is None else self._tidied(entry, self._clean)

    def _cut(self, line: bytes) -> tuple[_Line, list[str]] | None:
        """The line without what it shares with the one before; None if it does not begin with all messages of that."""
        before, place = self._before, self._place
        if not before:
            return None
        if not line.startswith(before, place):
            place = line.find(before[:_START])
            if place < 0 or not line.startswith(before, place):
                return None
        behind = line[place + len(before) :]
        tools = self._written
        at = behind.find(tools[:_START]) if len(tools) > _START else -1
        same = at >= 0 and behind.startswith(tools, at)
        left = behind[:at] + _TOOLS_MARK + behind[at + len(tools) :] if same else behind
        short = b"".join((line[:place], _MARK, left))
        try:
            found = _open(short)
        except Unreadable:
            return None
        messages = found.request.messages
        if not messages or messages[0] != Raw(_MARK) or short.count(_MARK) != 1:
            return None
        if same:
            if found.request.definitions != Raw(_TOOLS_MARK) or short.count(_TOOLS_MARK) != 1:
                return None
            found.request.tools = self._tools
        else:
            self._keep_tools(found.request)
        fresh = messages[1:]
        values = _said(fresh, len(self._trace))
        trace = self._trace + list(map(role_of, values))
        self._values += values
        self._before, self._place, self._trace = before + left[: _end(left, 0, fresh)], place, trace
        return found, trace

    def _whole(self, line: bytes) -> tuple[_Line, list[str]]:
        found = _open(line)
        messages = found.request.messages
        self._values = _said(messages)
        trace = list(map(role_of, self._values))
        self._trace = trace
        self._keep_tools(found.request)
        self._place, self._before = _stretch(line, messages)
        return found, trace

    def _keep_tools(self, request: _Request) -> None:
        """Of a list that comes again and again, one object."""
        if (given := request.definitions) != self._tools:
            self._written = bytes(given)
            self._tools = Raw(self._written)
        request.tools = self._tools

    def _tidied(self, entry: Entry, clean: Clean) -> Entry | None:
        """The entry without an agent's noise; messages that were not touched keep their bytes."""
        raws = entry.messages
        value = loads(entry.line)
        value["response"] = loads(unstreamed(entry.response))
        before = {id(message): raw for message, raw in zip(value["request"]["messages"], raws, strict=True)}
        counts: Counter[str] = Counter()
        cleaned = clean(value, counts)
        if cleaned is None:
            self.cleaned += 1
            return None
        messages = cleaned["request"]["messages"]
        entry.cleaned = [before.get(id(message)) or Raw(_encode(message)) for message in messages]
        entry.tidied = counts
        entry.trace, entry.values = list(map(role_of, messages)), messages
        return entry


def _end(line: bytes, at: int, messages: list[Raw]) -> int:
    """Where the last of these messages ends: all are objects, and between two are only blanks and a comma."""
    for message in messages:
        at = line.index(b"{", at) + len(memoryview(message))
    return at


def _stretch(line: bytes, messages: list[Raw]) -> tuple[int, bytes]:
    """Where the messages stand in the line one behind the other, and these bytes; none if it cannot be told."""
    start = line.find(bytes(messages[0]), max(line.find(b'"messages"'), 0)) if messages else -1
    end = start
    for message in messages if start >= 0 else ():
        at = line.find(b"{", end)
        if not line.startswith(bytes(message), at) or (at > start and line[end:at].strip() != b","):
            return 0, b""
        end = at + len(memoryview(message))
    return (start, line[start:end]) if start >= 0 else (0, b"")


def _said(messages: list[Raw], at: int = 0) -> list[dict[str, Any]]:
    """What they say. A fault in the text of one is a fault of the line: what is copied can be read by everybody."""
    values = []
    for number, message in enumerate(messages, at + 1):
        value = strict(message)
        if not isinstance(value, dict) or not isinstance(value.get("role"), str):
            raise _Wrong(f"message {number} of its request has no role")
        values.append(value)
    return values


def _records(path: str) -> Iterator[Record | Note]:
    """Lines, as fast as they can be had; what is packed, or one document, the general way."""
    with opened(path, _BUFFER) as file:
        first = _first_line(file) if size(path) <= max_record() else b""
        if _is_object(first):
            offset = 0
            for number, line in enumerate(chain([first], file), 1):
                if not line.isspace():
                    yield Record(line, Origin(path, number, offset, len(line)))
                offset += len(line)
            return
    yield from read_records(path)


def _first_line(file: BufferedReader) -> bytes:
    """Return the first line, or as much as a record may have; nothing of a file that does not begin with an object."""
    start = file.read(1)  # `peek` would copy the whole buffer
    return start + file.readline(max_record()) if start == b"{" else b""


def _is_object(line: bytes) -> bool:
    try:
        return line.startswith(b"{") and bool(_keys(line))
    except Unreadable:
        return False


def holds_entries(path: str) -> bool:
    """Whether the file is a session file: told by the first of its records that can be told."""
    with opened(path) as file:
        line = _first_line(file)
    verdict = _kind(line) if _is_object(line) else None
    if verdict not in _TOLD and not is_database(path):
        records = (record.data for record in _records(path) if isinstance(record, Record))
        kinds = list(map(_kind, islice(records, _TRIED)))
        verdict = next((kind for kind in kinds if kind in _TOLD), "open" if "open" in kinds else None)
    return verdict in ("chat", "open")


def _kind(data: bytes) -> _Kind | None:
    """Whether it is an entry of OpenAI's chat API, what can be copied as it stands. None for no entry of any API."""
    try:
        try:
            found, keys = _open(data), _keys(data)
        except msgspec.ValidationError:
            return None
        except Unreadable:
            data = mend(data)
            found, keys = _open(data), _keys(data)
        first = loads(found.request.messages[0]) if found.request.messages else {}
        answer = loads(found.response)
    except Unreadable:
        return None
    if not isinstance(first, dict):
        return None
    if "session_id" not in keys or not (answer is None or isinstance(answer, dict)):
        return "other"
    if "system" in _keys(keys["request"]):  # in that API it is a message
        return "other"
    return (_kind_of_answer(answer) if answer else None) or "open"


def _kind_of_answer(answer: dict[str, Any]) -> _Kind | None:
    """None if it does not tell: an error, or a stream in which nothing came."""
    if "choices" in answer:
        return "chat"
    from unspool.ingest.replies import reply_of  # what knows streams is loaded for them alone

    reply = reply_of(answer)
    told = reply.events if reply.events is not None else [reply.body]
    known = [each for each in told if isinstance(each, dict) and "error" not in each]
    if not known:
        return None
    return "chat" if any("choices" in each for each in known) else "other"


def unstreamed(response: Raw) -> Raw:
    """The answer that the same call would have given without streaming."""
    try:
        if response == NULL or "choices" in _keys(response):
            return response
        value = loads(response)
    except Unreadable:
        return response
    from unspool.ingest.replies import reply_of
    from unspool.wires.openai_chat import wire

    events = reply_of(value).events
    return response if events is None else Raw(_encode(wire.fold(events).body))
