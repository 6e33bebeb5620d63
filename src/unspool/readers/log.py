"""What decoders share: a log that is being read, and the events that come out of it."""

from unspool.dialect import Record
from unspool.model import MAIN, Content, Event, Facts, Note, NoteKind, Origin
from unspool.sources.values import clock


class Log:
    """Chains events to their streams. A decoder sets `record` by `begin`, then emits what it found in it."""

    def __init__(self, agent: str, session: str = "") -> None:
        self.agent = agent
        self.sessions: dict[str, Facts] = {}
        self.session = session
        """The id of the session whose events come next."""
        self.origin = Origin("", 0, 0, 0)
        self.time: str | None = None
        self._out: list[Event | Note] = []
        self._last: dict[tuple[str, str], str] = {}

    @property
    def facts(self) -> Facts:
        """Those of the session at hand."""
        found = self.sessions.get(self.session)
        if found is None:
            found = self.sessions[self.session] = Facts(self.agent, self.session)
        return found

    def begin(self, record: Record) -> None:
        self.origin = record.origin

    def at(self, given: object) -> None:
        """The time of the record; what is no time leaves that of the one before it."""
        if type(given) is str and len(given) == 24 and given[10] == "T" and given[23] == "Z":
            self.time = given
        elif given is not None:
            self.time = clock(given) or self.time

    def emit(self, content: Content, key: str, stream: str = MAIN) -> None:
        """The key names the event in its session: it must be the same whenever the log is read."""
        session = self.session
        chain = session, stream
        last = self._last
        self._out.append(Event(session, stream, key, last.get(chain), self.time, content, self.origin))
        last[chain] = key

    def note(self, kind: NoteKind, reason: str) -> None:
        self._out.append(Note(kind, reason, self.origin))

    def unknown(self, what: str) -> None:
        """A note on a kind of record or block that we do not know: `record type 'x'`."""
        self.note("unknown", what)

    def take(self) -> list[Event | Note]:
        """What came out since it was last asked."""
        out, self._out = self._out, []
        return out
