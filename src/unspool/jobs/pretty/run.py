"""A run on its way through: bytes of its stream in, moments out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any

from unspool.dialect import Decoder, Head, Reader, Record
from unspool.ingest.envelope import is_text_of_call
from unspool.ingest.heads import LOOK, reader_for
from unspool.ingest.logs import OpenLog
from unspool.ingest.net import fault_note
from unspool.model import Event, Exchange, Facts, Note
from unspool.readers import READERS
from unspool.sources.live import Framing
from unspool.views.pretty.assembler import ORPHAN_AFTER, Assembler
from unspool.views.pretty.moments import Ended, Moment, Passed

if TYPE_CHECKING:
    from unspool.ingest.happened import Happenings
    from unspool.ingest.traffic import Traffic

STREAMS = {
    "amp": "amp_stream",
    "claude": "claude_stream",
    "codex": "codex_exec",
    "cursor": "cursor_stream",
    "droid": "droid_stream",
    "gemini": "gemini_stream",
    "goose": "goose_stream",
    "opencode": "opencode_stream",
    "pi": "pi_stream",
    "qwen": "qwen_stream",
}
"""Live streams by the names that the command line has for them, and their readers."""
_LIVE = frozenset(STREAMS.values())
_SURE = 3
"""Records after which a log that is no stream is believed to be one: the next record might tell more."""
_KINDS = 500
"""Kinds of what is not understood that are counted apart."""
_CLAUDES = ("system", "assistant", "user", "result")

_TORN_SECONDS = 2.0
"""How long the beginning of an object over several lines waits for the next one."""


class Run:
    """Feed it the bytes as they come. What cannot be understood is counted in `unknown` and `faults`."""

    def __init__(
        self,
        path: str,
        reader: Reader | None = None,
        orphan_after: float = ORPHAN_AFTER,
        one_tool_at_a_time: bool = False,
        clock: Callable[[], float] = monotonic,
        pace: Callable[[Event, Assembler], Iterable[Moment]] | None = None,
        since: int | None = None,
    ) -> None:
        self._path = path
        self._framing = Framing(path)
        self._assembler = Assembler(orphan_after, one_tool_at_a_time)
        self._clock = clock
        self._arrived = 0.0
        """When the bytes came that are being read: what drawing takes is nobody's duration."""
        self._pace = pace
        """Called before each event: a replay waits until its time has come."""
        self._reader: Reader | None = None
        self._decoder: Decoder | None = None
        self._since = since
        """Recorded calls that began before this time (milliseconds since 1970) are not shown."""
        self._traffic: Traffic | None = None
        self._happened: Happenings | None = None
        self._held: list[Record] = []
        """The first records, until they tell whose they are."""
        self._hopeless = False
        self._talking = False
        """The last line was no record."""
        self._met: set[str] = set()
        """Sessions that were announced, or that began without being announced."""
        self._odd: set[str] = set()
        """Types of records that no reader knows."""
        self.unknown: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        if reader is not None:
            self._begin(reader)

    @property
    def result(self) -> Ended | None:
        return self._assembler.result

    @property
    def due(self) -> float | None:
        """When to `tick` if nothing comes until then."""
        torn = [self._arrived + _TORN_SECONDS] if self._framing.waiting else []
        return min([*torn, *filter(None, [self._assembler.due])], default=None)

    def tick(self) -> list[Moment]:
        now, moments = self._clock(), []
        if self._framing.waiting and now >= self._arrived + _TORN_SECONDS:
            moments = [moment for item in self._framing.release() for moment in self._item(item)]
        return [*moments, *self._assembler.tick(now)]

    def feed(self, data: bytes) -> Iterator[Moment]:
        self._arrived = self._clock()
        for item in self._framing.feed(data):
            yield from self._item(item)

    def read(self, log: OpenLog) -> Iterator[Moment]:
        """A log that is not made of JSON lines: a database, a document, a text."""
        for item in log:
            yield from self._told([item], log.sessions, log.reader)

    def read_calls(self, items: Iterable[Exchange | Note]) -> Iterator[Moment]:
        """Recorded calls, whatever they lie in."""
        happened = self._recorded()
        for item in items:
            yield from self._told(_happened(happened, item), happened.sessions)

    def close(self, reason: str | None = None) -> Iterator[Moment]:
        """The stream is over; the reason is that of whatever ended it too early."""
        for item in self._framing.close():
            yield from self._item(item)
        if self._held:
            yield from self._settle(self._recognised(last=True))
        if self._decoder is not None and self._reader is not None:
            yield from self._told(self._decoder.close(), self._decoder.sessions, self._reader)
        if self._happened is not None:
            yield from self._told(self._happened.close(), self._happened.sessions)
        told = (reason,) if reason is not None else ()
        yield from self._assembler.close(self._clock(), *told)

    def _item(self, item: Record | bytes | Note) -> Iterator[Moment]:
        if isinstance(item, Note):
            _count(self.faults, item.reason)
            return
        if isinstance(item, bytes):
            if self._talking or (not item.isspace() and item):  # blank lines between records mean nothing
                self._talking = True
                yield Passed(item.decode("utf-8", "replace"))
            return
        self._talking = False
        if self._decoder is not None:
            yield from self._record(item)
        elif self._traffic is not None:
            yield from self.read_calls(self._traffic.read(item))
        elif self._hopeless:
            yield _as_it_came(item)
        else:
            self._held.append(item)
            if is_call(item.value):
                yield from self._begin_calls()
            elif (reader := self._recognised()) is not None or len(self._held) >= LOOK:
                yield from self._settle(reader)

    def _recognised(self, last: bool = False) -> Reader | None:
        """Whose the records are that were held. Streams are told by one record; logs by some, lest they be streams."""
        values = [record.value for record in self._held]
        head = Head(self._path, lines=tuple(values), document=values[0] if last and len(values) == 1 else None)
        reader = reader_for(head)
        if reader is not None and not last and reader.name not in _LIVE and len(values) < _SURE:
            return None
        return READERS["claude_stream"] if reader is None and any(map(_is_claudes, values)) else reader

    def _settle(self, reader: Reader | None) -> Iterator[Moment]:
        held, self._held = self._held, []
        if reader is None:
            self._hopeless = True
            yield from map(_as_it_came, held)
            return
        self._begin(reader)
        for record in held:
            yield from self._record(record)

    def _begin_calls(self) -> Iterator[Moment]:
        from unspool.ingest.traffic import Traffic  # with all APIs, of which live streams need none

        self._traffic = Traffic()
        held, self._held = self._held, []
        for record in held:
            yield from self.read_calls(self._traffic.read(record))

    def _recorded(self) -> "Happenings":
        if self._happened is None:
            from unspool.ingest.happened import Happenings

            self._happened = Happenings(self._since)
        return self._happened

    def _begin(self, reader: Reader) -> Decoder:
        self._reader, self._decoder, self._met = reader, reader.decoder(self._path), set()
        return self._decoder

    def _record(self, record: Record) -> Iterator[Moment]:
        decoder, reader = self._decoder, self._reader
        assert decoder is not None
        assert reader is not None
        told = _fed(decoder, record)
        if told and all(isinstance(item, Note) and item.kind == "unknown" for item in told):
            other = self._other_reader(record.value)
            if other is not None:
                yield from self._told(decoder.close(), decoder.sessions, reader)
                decoder, reader = self._begin(other), other
                told = _fed(decoder, record)
        yield from self._told(told, decoder.sessions, reader)

    def _other_reader(self, value: Any) -> Reader | None:
        """Another agent's stream begins, or this was never the stream that it seemed to be."""
        kind = str(value.get("type"))
        if kind in self._odd or len(self._odd) >= _KINDS:
            return None
        reader = reader_for(Head(self._path, lines=(value,)))
        if reader is None or reader.name not in _LIVE or reader is self._reader:
            self._odd.add(kind)
            return None
        return reader

    def _told(
        self, items: Iterable[Event | Note], sessions: dict[str, Facts], reader: Reader | None = None
    ) -> Iterator[Moment]:
        """Without a reader they are told by recorded calls, which do not always tell whose they are."""
        events = []
        for item in items:
            if isinstance(item, Event):
                events.append(item)
            elif item.kind == "unknown":
                _count(self.unknown, item.reason)
            elif item.kind != "repaired":
                _count(self.faults, item.reason)
        live = reader is not None and reader.name in _LIVE
        if reader is not None and live and len(sessions) != len(self._met):
            yield from self._started(sessions, reader, silent=not events)
        for event in events:
            if not live and event.session_id not in self._met:  # a log need not announce what it is of
                self._met.add(event.session_id)
                facts = sessions.get(event.session_id) or Facts(reader.agent if reader else "", event.session_id)
                yield self._assembler.start(facts, reader.title if reader else _title(facts.agent))
            if self._pace is not None:
                yield from self._pace(event, self._assembler)
                self._arrived = self._clock()
            yield from self._assembler.feed(event, self._arrived)

    def _started(self, sessions: dict[str, Facts], reader: Reader, silent: bool) -> Iterator[Moment]:
        """A session that its stream announces: by a record of its own, or by saying where it runs."""
        for name, facts in sessions.items():
            if name not in self._met:
                self._met.add(name)
                if silent or facts.project:
                    yield self._assembler.start(facts, reader.title)


def _fed(decoder: Decoder, record: Record) -> list[Event | Note]:
    """Return the events of a record. If the decoder fails, only this record is lost."""
    try:
        return list(decoder.feed(record))
    except Exception as error:
        return [fault_note(error, record.origin)]


def _happened(happened: "Happenings", item: Exchange | Note) -> list[Event | Note]:
    """Return the events of a call. If this fails, only this call is lost."""
    if isinstance(item, Note):
        return [item]
    try:
        return happened.feed(item)
    except Exception as error:
        return [fault_note(error, item.origin)]


def is_call(value: Any) -> bool:
    """A recorded call: no agent's log or stream has such."""
    request = value.get("request") if isinstance(value, dict) else None
    return isinstance(request, dict) or is_text_of_call(request)


def _title(agent: str) -> str:
    return READERS[agent].title if agent in READERS else "Recorded calls"


def _count(counts: Counter[str], reason: str) -> None:
    """Reasons hold words of the stream: there may be no end of them."""
    counts[reason if reason in counts or len(counts) < _KINDS else "other reasons"] += 1


def _is_claudes(value: Any) -> bool:
    """A message as Claude Code has it, though it tells nothing of the program."""
    return isinstance(value, dict) and value.get("type") in _CLAUDES and "sessionId" not in value


def _as_it_came(record: Record) -> Passed:
    return Passed(record.data.decode("utf-8", "replace"))
