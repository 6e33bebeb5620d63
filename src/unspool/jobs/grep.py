"""Search the events of agents' logs."""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import get_args

import msgspec
from msgspec import Struct

from unspool.engine.local import each, jobs_for
from unspool.errors import InputNotFound, WrongPattern
from unspool.exports.events import bodies, body, drafts, line
from unspool.ingest.finding import meant, no_log
from unspool.ingest.logs import OpenLog, open_log
from unspool.ingest.needles import cannot_match, may_hold, needles_for
from unspool.ingest.net import file_note
from unspool.ingest.originals import Originals
from unspool.model import Event, Note
from unspool.model.action import Kind
from unspool.model.event import Content, ToolCall
from unspool.sources.files import DASH
from unspool.views.prose import whole_characters

KINDS = tuple(dict.fromkeys([*(content.type for content in get_args(Content)), *get_args(Kind)]))
"""What events are: their types, and of calls what they mean."""
_AT_ONCE = 16
"""Events that are looked into together: most hold nothing that is looked for."""
_WITHIN_A_LINE = re.compile(r"(?:[^\\\[(^$\x00-\x1f]|\\[dwS]|\\[^\w\s]|\[(?!\^)|\((?:\?:|(?!\?)))*")
_POSSESSIVE = re.compile(r"[*+?}]\+")
_BEFORE, _AFTER = 60, 240
"""Bytes of an event that are shown before and after a hit."""
_MARGIN = 32
"""More bytes, in which a character of several code points may begin or end."""
_LONGEST_ESCAPE = len(rb"\ud83d\ude00")
_UNIT = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u....|\\.|[^\\][\x80-\xbf]*", re.DOTALL)
"""A character of JSON, or an escape: a surrogate pair is one."""


class Query(Struct, frozen=True):
    pattern: str
    regex: bool = False
    fold: bool = False
    """Capitals and small letters are the same: A to Z only."""
    kinds: tuple[str, ...] = ()
    """Types of events, or kinds of calls and their actions. If empty, every event is searched."""
    agent: str | None = None
    form: str = "line"
    """line: for people. json: the event. raw: the event and what it came from."""
    limit: int | None = None

    def matcher(self) -> Callable[[bytes], tuple[int, int] | None]:
        """Where the pattern stands in the JSON of an event."""
        if self.regex:
            try:
                search = re.compile(_bytes(self.pattern), re.IGNORECASE if self.fold else 0).search
            except re.error as error:
                raise WrongPattern(f"{self.pattern!r} is no regular expression: {error}") from error
            return lambda data: found.span() if (found := search(data)) else None
        literal = _bytes(self.pattern).lower() if self.fold else _bytes(self.pattern)
        return partial(_find_folded if self.fold else _find, literal)

    @property
    def joins(self) -> bool:
        """In events that are written a line each, the pattern is found if and only if it is found in one of them.

        So it is if it never goes beyond a line, nor looks at what stands around what it matches.
        """
        if not self.regex:
            return "\n" not in self.pattern
        return _WITHIN_A_LINE.fullmatch(self.pattern) is not None and not _POSSESSIVE.search(self.pattern)


class Hit(Struct):
    """An event in which the pattern stands."""

    line: bytes
    """The event as it was asked for."""
    event: tuple[str, str, str | None, str, str]
    """Agent, session, time, stream and type, for people."""
    before: str
    match: str
    after: str
    id: str = ""
    """The event's."""


class Searched(Struct):
    """What one file gave."""

    hits: list[Hit] = []
    notes: int = 0
    known: bool = True
    fault: str = ""
    """Why the file could not be read, or not to its end."""


def grep(query: Query, paths: Sequence[str] = (), jobs: int | None = None) -> Iterator[tuple[str, Searched]]:
    """File by file, until the limit is reached."""
    query.matcher()  # a wrong pattern is told before anything is read
    files, named = meant(paths)
    found = 0
    for path, searched in zip(files, each(partial(search_file, query), files, jobs_for(files, jobs)), strict=True):
        if searched.fault and named == {path} and not searched.hits:
            raise InputNotFound(searched.fault)
        if not searched.known and path in named:
            raise no_log(path)
        if query.limit is not None:
            searched.hits = searched.hits[: query.limit - found]
        found += len(searched.hits)
        yield path, searched
        if query.limit is not None and found >= query.limit:
            return


def search_file(query: Query, path: str) -> Searched:
    """Return the hits in one file, up to the fault that ended its reading if there is one."""
    searched = Searched([])
    try:
        _search_file(query, path, searched)
    except InputNotFound as error:
        searched.fault = str(error)
    except Exception as error:
        searched.fault = f"{path}: {file_note(error, path).reason}"
    return searched


def _search_file(query: Query, path: str, searched: Searched) -> None:
    if path != DASH and cannot_match(query.pattern, path, query.fold, query.regex):
        return
    log = open_log(path)
    searched.known = log is not None
    if log is not None and query.agent in (None, log.reader.agent):
        _search(query, log, searched)


def _search(query: Query, log: OpenLog, searched: Searched) -> None:
    matches = query.matcher()
    originals = Originals(log) if query.form == "raw" else None
    # Where there is a limit, nothing is read beyond the hit that reaches it: what is odd there is not counted.
    words = needles_for(query.pattern, query.regex, query.fold)
    items, size = iter(log), _AT_ONCE if query.limit is None else 1
    while some := list(islice(items, size)):
        events = [item for item in some if type(item) is Event]
        if len(events) < len(some):
            searched.notes += sum(isinstance(item, Note) and item.kind != "repaired" for item in some)
        if words:
            events = _with_words(events, words, query.fold)
        if query.kinds:
            events = [event for event in events if _is_of_kind(event, query.kinds)]
        if len(events) > 1 and query.joins and matches(bodies(events)) is None:
            continue
        for event in events:
            data = body(event)
            place = matches(data)
            if place is None:
                continue
            payload = originals.payload(event) if originals is not None else msgspec.UNSET
            searched.hits.append(_hit(event, log.reader.agent, data, place, query.form, payload))
            if query.limit is not None and len(searched.hits) >= query.limit:
                return


def _with_words(events: list[Event], words: tuple[bytes, ...], fold: bool) -> list[Event]:
    """Those that may hold one of the words: only of these it is worked out what their calls mean."""
    told = drafts(events)
    if not may_hold(told, words, fold):
        return []
    lines = told.split(b"\n")[:-1]
    if len(lines) != len(events):
        return events
    return [event for event, line in zip(events, lines, strict=True) if may_hold(line, words, fold)]


def _is_of_kind(event: Event, kinds: tuple[str, ...]) -> bool:
    """Return whether the event has one of these types, or is a call of one of these kinds."""
    content = event.content
    return content.type in kinds or (isinstance(content, ToolCall) and content.meaning.is_any_of(kinds))


def _bytes(pattern: str) -> bytes:
    """As it was typed; what is no UTF-8 finds nothing, and is no fault."""
    return pattern.encode("utf-8", "surrogateescape")


def _find(literal: bytes, data: bytes) -> tuple[int, int] | None:
    at = data.find(literal)
    return None if at < 0 else (at, at + len(literal))


def _find_folded(literal: bytes, data: bytes) -> tuple[int, int] | None:
    return _find(literal, data.lower())


def _hit(event: Event, agent: str, data: bytes, place: tuple[int, int], form: str, payload: object) -> Hit:
    begin, end = place
    about = (agent, event.session_id, event.timestamp, event.stream_id, event.type)
    if form != "line":
        return Hit(line(event, agent, payload), about, "", "", "", event.id)
    return Hit(b"", about, *excerpt(data, begin, end), event.id)


def excerpt(data: bytes, begin: int, end: int) -> tuple[str, str, str]:
    """Return the text before a hit, the hit, and the text after it, cut between characters and not within escapes."""
    while begin and data[begin : begin + 1] and _is_continuation(data[begin]):  # a pattern of bytes may begin anywhere
        begin -= 1
    while end < len(data) and _is_continuation(data[end]):
        end += 1
    # A wider text on both sides shows where characters of several code points begin and end.
    before = _decoded(data[_boundary(data, begin - _BEFORE - _MARGIN) : begin])
    after = _decoded(data[end : _boundary(data, end + _AFTER + _MARGIN)])
    first = len(before) - len(_decoded(data[_boundary(data, begin - _BEFORE) : begin]))
    last = len(_decoded(data[end : _boundary(data, end + _AFTER)]))
    before, after = before[whole_characters(before, first) :], after[: whole_characters(after, last)]
    before = before.rpartition('":"')[2]  # from the beginning of the text that the hit is in
    return before, _decoded(data[begin:end]), after


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_continuation(byte: int) -> bool:
    """Return whether this byte continues a character of UTF-8."""
    return byte & 0xC0 == 0x80


def _boundary(data: bytes, at: int) -> int:
    """Return the first offset from `at` on that is within neither a character nor an escape."""
    at = min(max(at, 0), len(data))
    first = data.find(b"\\", max(at - _LONGEST_ESCAPE + 1, 0), at)
    if first < 0:
        while at < len(data) and _is_continuation(data[at]):
            at += 1
        return at
    while first and data[first - 1 : first] == b"\\":  # whether a backslash escapes depends on those before it
        first -= 1
    while first < at and (unit := _UNIT.match(data, first)):
        first = unit.end()
    return first
