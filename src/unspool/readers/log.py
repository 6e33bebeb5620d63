"""What decoders share: a log that is being read, and the events that come out of it."""

from collections import Counter
from collections.abc import Collection, Iterable
from itertools import takewhile
from typing import Any

from unspool.dialect import Record
from unspool.model import MAIN, Content, Event, Facts, Note, NoteKind, Origin
from unspool.model.event import AgentMessage, User, id_of
from unspool.sources.files import legible
from unspool.sources.jsontext import Unreadable, loads, strict
from unspool.sources.values import clock


class Log:
    """Chains events to their streams. A decoder opens a record by `value`, then emits what it found in it."""

    def __init__(self, agent: str, session: str = "") -> None:
        self.agent = agent
        self.sessions: dict[str, Facts] = {}
        self._session = legible(session)
        self.origin = Origin("", 0, 0, 0)
        """Of what is being read; events and notes carry it."""
        self.time: str | None = None
        """Of what is being read, or else the last that was said."""
        self.out: list[Event | Note] = []
        """What came out since it was last taken."""
        self._at, self._stream = "", ""
        """The session and the stream of the last event, and its key; of others see `_last`."""
        self._before: str | None = None
        self._last: dict[tuple[str, str], str | None] = {}
        self._asked: list[tuple[str, int]] = []
        """Keys of what a person typed and did not take back, and hashes of the words."""
        self._taken_back: str | None = None
        """The first prompt that was taken back, until there is another in its place."""

    @property
    def session(self) -> str:
        """The id of the session whose events come next. Some are the name of a file, and not every name is text."""
        return self._session

    @session.setter
    def session(self, name: str) -> None:
        self._session = legible(name)

    @property
    def facts(self) -> Facts:
        """Those of the session at hand."""
        found = self.sessions.get(self._session)
        if found is None:
            found = self.sessions[self._session] = Facts(self.agent, self._session)
        return found

    def enter(self, session: str) -> None:
        """The events of this session come next; the times of another are not its own."""
        if session != self.session:
            self.session, self.time = session, None

    def value(self, record: Record) -> Any:
        """The record, decoded. None, and a note, for what is no JSON."""
        self.origin = record.origin
        if record.value is not None:
            return record.value
        try:
            return strict(record.data)
        except Unreadable as fault:
            try:
                value = loads(record.data)
            except Unreadable:
                self.note("unreadable", f"no JSON: {fault}")
                return None
            self.note("repaired", "JSON with faults in its text, read after mending them")
            return value

    def record(self, record: Record) -> dict[str, Any] | None:
        """The record, decoded, of a log whose records are objects. None, and a note, for what is none."""
        value = self.value(record)
        if isinstance(value, dict):
            return value
        if value is not None:
            self.note("skipped", "no object")
        return None

    def at(self, given: object) -> None:
        """The time of what is being read; what is no time leaves the last one."""
        if type(given) is str and len(given) == 24 and given[10] == "T" and given[23] == "Z":
            self.time = given
        elif given is not None:
            self.time = clock(given) or self.time

    def emit(self, content: Content, key: str, stream: str = MAIN) -> None:
        """The key names the event in its session: unlike any other, and the same whenever the log is read."""
        session = self._session
        if content.__class__ is User:
            content = self._typed(content, key, stream)
        if session is not self._at or stream is not self._stream:
            self._last[self._at, self._stream] = self._before
            self._at, self._stream = session, stream
            self._before = self._last.get((session, stream))
        self.out.append(Event(session, stream, key, self._before, self.time, content, self.origin))
        self._before = key

    def _typed(self, content: Content, key: str, stream: str) -> Content:
        if not isinstance(content, User):
            return content
        if stream != MAIN:
            return AgentMessage(content.text)  # nobody types there: another agent told it
        self._asked.append((key, hash(content.text)))
        before, self._taken_back = self._taken_back, None
        return content if before is None else User(content.text, before)

    def id_of(self, key: str | None) -> str | None:
        """The id of the event of that key in the session at hand."""
        return id_of(self.session, key) if key else None

    def take_back(self, key: str) -> None:
        """The prompt of that key, and all that came of it: the next one is in its place."""
        self._taken_back = id_of(self.session, key)

    def take_back_last(self, prompts: int) -> None:
        """The same for so many prompts, counted from the end."""
        if taken := self._asked[-prompts:] if prompts > 0 else ():
            self.take_back(taken[0][0])
            del self._asked[-prompts:]

    def take_back_these(self, keys: Collection[str]) -> None:
        """The last prompts, as far as they are among these."""
        self.take_back_last(len(list(takewhile(lambda asked: asked[0] in keys, reversed(self._asked)))))

    def first_prompt(self, keys: Iterable[str]) -> str | None:
        """The id of the first of these that is a prompt."""
        asked = {key for key, _ in self._asked}
        return next((id_of(self.session, key) for key in keys if key in asked), None)

    def prompts_of(self, texts: Iterable[str]) -> tuple[str, ...]:
        """The ids of the prompts that have these words, of equal ones the last."""
        wanted, found = Counter(map(hash, texts)), []
        for key, mark in reversed(self._asked) if wanted else ():
            if wanted[mark] > 0:
                wanted[mark] -= 1
                found.append(id_of(self.session, key))
        return tuple(reversed(found))

    def note(self, kind: NoteKind, reason: str) -> None:
        self.out.append(Note(kind, reason, self.origin))

    def hold(self, items: list[Event | Note]) -> None:
        """What was taken, to be taken once more."""
        self.out += items

    def take(self) -> list[Event | Note]:
        """What came out, which is then forgotten."""
        out, self.out = self.out, []
        return out
