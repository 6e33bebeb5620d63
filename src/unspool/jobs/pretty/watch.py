"""Watching: from where a stream comes to where it is shown, until it ends or somebody has seen enough."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from unspool.errors import UnknownFormat
from unspool.ingest.heads import reader_of
from unspool.ingest.logs import OpenLog
from unspool.jobs.pretty.arrivals import Command, arriving, growing
from unspool.jobs.pretty.output import Output, Tee
from unspool.jobs.pretty.replay import Pace
from unspool.jobs.pretty.run import STREAMS, Run, is_call
from unspool.jobs.pretty.stopping import Stopped, stoppable, waiting
from unspool.readers import READERS
from unspool.sources.files import DASH, JOURNAL, Damaged, blocks, is_packed, unfinished
from unspool.views.pretty.assembler import ORPHAN_AFTER
from unspool.views.pretty.moments import Moment
from unspool.views.pretty.styles import Style

NO_RESULT = 3
"""The exit status of a run that ended without saying how."""
_FLUSHING = 1.0
"""Seconds that a reader has to take what was shown when we are told to stop."""
_FAREWELL = 2.0
"""Seconds that listeners have then."""


class Listener(Protocol):
    """Somebody else who is told of each moment, and who must not make us wait."""

    def tell(self, moment: Moment) -> None: ...

    def close(self, deadline: float | None = None) -> None:
        """The run is over. Waits for what is still to be said, at most so many seconds."""


class Wanted(Struct, frozen=True):
    """What is to be watched, and how."""

    path: str = DASH
    command: tuple[str, ...] = ()
    format: str | None = None
    follow: bool = False
    speed: float = 0.0
    orphan_after: float = ORPHAN_AFTER
    one_tool_at_a_time: bool = False
    since: int | None = None
    """Recorded calls that began before this time are not shown, in milliseconds since 1970."""
    until_result: bool = False
    """A file that is followed is followed only until the run says how it went."""


class Watched(Struct):
    """How it went."""

    run: Run
    status: int | None = None
    """That of the command that was run, or of the signal that stopped us."""

    @property
    def outcome(self) -> int:
        """The run's own, as an exit status."""
        result = self.run.result
        return NO_RESULT if result is None else 0 if result.succeeded else 1


def watch(wanted: Wanted, style: Style, output: Output, tee: Tee | None, listeners: Sequence[Listener]) -> Watched:
    """Returns when the stream is over, or a signal came. A reader who has gone is a BrokenPipeError."""
    with stoppable():
        watching = _Watching(wanted, style, output, tee, listeners)
        try:
            watching.go()
            with waiting:
                pass  # a signal may have come when there was nothing left to wait for
        except BrokenPipeError:
            watching.abandon()
            raise
        except Stopped as stop:  # while we were leaving
            watching.seen.status = stop.exit_status
        return watching.seen


class _Watching:
    def __init__(
        self, wanted: Wanted, style: Style, output: Output, tee: Tee | None, listeners: Sequence[Listener]
    ) -> None:
        self._wanted, self._style, self._output, self._tee = wanted, style, output, tee
        self._listeners = listeners
        self._command = Command(wanted.command) if wanted.command else None
        self._live = self._command is not None or wanted.follow or not _can_be_read_again(wanted.path)
        pace = None if self._live else Pace(wanted.speed, output.flush)
        reader = READERS[STREAMS[wanted.format]] if wanted.format else None
        options = (wanted.orphan_after, wanted.one_tool_at_a_time)
        if pace is None:
            self._run = Run(wanted.path, reader, *options, since=wanted.since)
        else:
            self._run = Run(wanted.path, reader, *options, pace.clock, pace.wait, wanted.since)
        self.seen = Watched(self._run)
        self._is_over = False
        """All was shown; only the command still runs."""

    def go(self) -> None:
        try:
            self._show_all()
            self._show(self._run.close())
            self._end()
            if self._command is not None:
                self.seen.status = self._command.end()
        except Stopped as stop:
            self._stopped(stop)
        else:
            self._part()

    def _part(self, deadline: float | None = None) -> None:
        """From the listeners. Who is stopped while it waits for them has seen the run to its end."""
        try:
            for listener in self._listeners:
                listener.close(deadline)
        except Stopped as stop:
            self.seen.status = stop.exit_status

    def _stopped(self, stop: Stopped) -> None:
        """What was seen is shown, open calls and all; a command may say its last words."""
        self.seen.status = stop.exit_status
        try:
            if self._command is not None:
                self._command.stop(stop.number)
            if not self._is_over:
                if self._command is not None:
                    self._show_all()
                for moment in self._run.close(f"unspool was stopped by {stop.name}"):
                    self._tell(moment)
                self._end(drain=True)
            if self._command is not None:
                self._command.end()
            self._part(_FAREWELL)
        except Stopped:  # twice: at once
            if self._command is not None:
                self._command.kill()

    def abandon(self) -> None:
        if self._command is not None:
            self._command.abandon()
        self._part(_FAREWELL)

    def _end(self, drain: bool = False) -> None:
        self._is_over = True
        for line in self._style.close():
            self._output.line(line)
        if drain:
            self._output.drain(_FLUSHING)
        else:
            self._output.flush()

    def _show_all(self) -> None:
        document = self._document()
        if document is not None:
            self._show(document)
            return
        for data in self._arrivals():
            if data is None:
                self._show(self._run.tick())
                continue
            if self._tee is not None:
                self._tee.write(data)
            self._show(self._run.feed(data))
            if self._wanted.until_result and self._wanted.follow and self._run.result is not None:
                return

    def _arrivals(self) -> Iterable[bytes | None]:
        wanted = self._wanted
        if self._command is not None:
            return self._command.arriving(lambda: self._run.due)
        if wanted.follow:
            return growing(wanted.path)
        return arriving(wanted.path, lambda: self._run.due) if self._live else self._blocks()

    def _blocks(self) -> Iterator[bytes]:
        """Of a file; of a packed one that is damaged, what comes before the damage."""
        try:
            yield from blocks(self._wanted.path)
        except Damaged as damage:
            self._run.faults[f"compressed data is damaged: {damage}"] += 1

    def _document(self) -> Iterator[Moment] | None:
        """The moments of a log that is not made of JSON lines, or of a trace; None for a log of lines."""
        wanted = self._wanted
        if (self._live and not wanted.follow) or wanted.format is not None:
            return None
        if wanted.follow and is_packed(wanted.path):
            raise UnknownFormat(f"{wanted.path}: a file that is packed cannot be followed")
        reader, head = reader_of(wanted.path)
        if reader is None and not wanted.follow and (any(map(is_call, head.lines)) or _has_journal(wanted.path)):
            return self._calls()
        if reader is None or (reader.rows is None and not reader.document and head.lines):
            return None
        if wanted.follow:
            raise UnknownFormat(f"{wanted.path}: a log of {reader.title} that is not made of lines cannot be followed")
        self._keep_raw()
        return self._run.read(OpenLog(wanted.path, reader, head))

    def _calls(self) -> Iterator[Moment]:
        """Of a trace, with the calls that a killed recorder left beside it."""
        from unspool.ingest.open import read_exchanges

        self._keep_raw()
        return self._run.read_calls(read_exchanges(self._wanted.path))

    def _keep_raw(self) -> None:
        """All of a file that is not shown line by line."""
        if self._tee is not None:
            with suppress(Damaged):  # who reads it will say so
                for block in blocks(self._wanted.path):
                    self._tee.write(block)

    def _show(self, moments: Iterable[Moment]) -> None:
        for moment in moments:
            self._tell(moment)
        self._output.flush()

    def _tell(self, moment: Moment) -> None:
        for listener in self._listeners:
            listener.tell(moment)
        for line in self._style.show(moment):
            self._output.line(line)


def _has_journal(path: str) -> bool:
    """Whether a recorder was killed before it had written a single call."""
    return next(unfinished(Path(path + JOURNAL)), None) is not None


def _can_be_read_again(path: str) -> bool:
    """Whether it is a file: what another program writes into a pipe, named or not, comes once."""
    return path != DASH and (Path(path).is_file() or not Path(path).exists())
