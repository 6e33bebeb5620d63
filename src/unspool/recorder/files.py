"""Trace files: each record in one locked write, whoever else writes to the same file.

A lock is held from looking at the end of the file to the last byte written. What a killed recorder left torn is closed
with a line end (or, of a compact trace, cut off): it costs no other record.
"""

import fcntl
import os
import re
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from uuid import uuid4

from unspool.errors import OutputNotWritable
from unspool.sources.callfile import journal_of
from unspool.sources.compact import Packer, is_compact, whole_until
from unspool.sources.files import DASH, JOURNAL

if TYPE_CHECKING:
    from typing_extensions import Buffer

Announce: TypeAlias = Callable[[str, int], object]
"""Called with the file and the offset before the first byte is written."""
Line: TypeAlias = Sequence["Buffer"]
"""A record, in pieces: bodies may be large, and are not copied for it."""
_OPEN = 64


class PlainFile:
    """JSON lines."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()  # readers of the journal may work in another folder
        self._file = self._opened()

    @property
    def journal(self) -> Path:
        return journal_of(self.path)

    def of(self, session: str | None, timestamp: str) -> "PlainFile":  # noqa: ARG002
        """The file for a call of the session."""
        return self

    def _opened(self) -> FileIO:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return FileIO(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600), "r+", closefd=True)

    @contextmanager
    def locked(self) -> Iterator[FileIO]:
        """The file of that name, locked; made again if somebody took it away."""
        while True:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                if os.path.samestat(os.fstat(self._file.fileno()), self.path.stat()):
                    break
            except FileNotFoundError:
                pass
            self.close()
            self._file = self._opened()
        try:
            yield self._file
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def append(self, line: Line, announce: Announce) -> None:
        """All of it or nothing. An OSError says why not."""
        with self.locked() as file:
            end = file.seek(0, os.SEEK_END)
            torn = end and os.pread(file.fileno(), 1, end - 1) != b"\n"
            announce(str(self.path), end)
            self._write(file, [b"\n", *line] if torn else line, end)

    def _write(self, file: FileIO, line: Line, end: int) -> None:
        try:
            _write_all(file.fileno(), line)
        except OSError:
            file.truncate(end)
            raise

    def close(self) -> None:
        self._file.close()


class CompactFile(PlainFile):
    """One zstd stream for this process, a frame a record."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._packer: Packer | None = None
        self._whole = 0

    def append(self, line: Line, announce: Announce) -> None:
        packed = (self._packer or self._begun()).pack(*line)
        try:
            with self.locked() as file:
                end = file.seek(0, os.SEEK_END)
                whole = whole_until(file, min(self._whole, end))
                if whole < end:
                    file.truncate(whole)
                announce(str(self.path), whole)
                self._write(file, [packed], whole)
                self._whole = whole + len(packed)
        except OSError:  # what comes later would refer to a line that is not there
            self._packer = None
            raise

    def _begun(self) -> Packer:
        self._packer = Packer()
        return self._packer


class SessionFiles:
    """A folder with a file for each session: DIR/<date>/<session>.jsonl. A session over midnight stays one file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: OrderedDict[str, PlainFile] = OrderedDict()
        self._nameless = f"unnamed-{datetime.now(UTC).timestamp() * 1e9:.0f}"

    @property
    def journal(self) -> Path:
        return journal_of(self.folder)

    def of(self, session: str | None, timestamp: str) -> PlainFile:
        name = file_name(session) if session else self._nameless
        if name in self._open:
            self._open.move_to_end(name)
            return self._open[name]
        before = sorted(self.folder.glob(f"*/{name}.jsonl"))
        file = PlainFile(before[0] if before else self.folder / timestamp[:10] / f"{name}.jsonl")
        self._open[name] = file
        if len(self._open) > _OPEN:
            self._open.popitem(last=False)[1].close()
        return file

    def close(self) -> None:
        for file in self._open.values():
            file.close()


class StandardOutput:
    """Lines for whoever reads them. Calls in flight are kept in a folder of their own, which is gone when they are."""

    def __init__(self) -> None:
        self._descriptor = os.dup(1)
        self.journal = Path(tempfile.gettempdir(), f"unspool-{uuid4().hex}{JOURNAL}")

    def of(self, session: str | None, timestamp: str) -> "StandardOutput":  # noqa: ARG002
        return self

    def append(self, line: Line, announce: Announce) -> None:
        """A reader who has gone is an OSError."""
        _write_all(self._descriptor, line)
        announce(DASH, 0)  # nothing can tell later whether it was written

    def close(self) -> None:
        os.close(self._descriptor)


Trace: TypeAlias = PlainFile | SessionFiles | StandardOutput


def _write_all(descriptor: int, line: Line) -> None:
    """In one write, unless the system takes only a part at a time."""
    rest = [memoryview(piece) for piece in line]
    while rest:
        written = os.writev(descriptor, rest)
        while rest and written >= len(rest[0]):
            written -= len(rest.pop(0))
        if rest:
            rest[0] = rest[0][written:]


def drop_torn(path: Path, offset: int, name: str) -> None:
    """Take away the beginning of this call's record, if nothing was written behind it."""
    start = b'{"id":"%b"' % name.encode()
    trace = PlainFile(path)
    with trace.locked() as file:
        tail = os.pread(file.fileno(), file.seek(0, os.SEEK_END) - offset, offset)
        line = tail[tail.rfind(b"\n") + 1 :]
        if line and (line.startswith(start) or start.startswith(line)):
            file.truncate(offset + len(tail) - len(line))
    trace.close()


def file_name(session: str) -> str:
    """What no file's name can hold becomes `_`, and then a mark tells apart what would look alike."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", session)[:100]
    return plain if plain == session else f"{plain}-{sha256(session.encode()).hexdigest()[:8]}"


def open_trace(path: Path, compact: bool) -> PlainFile:
    """The file to append to; one of the other form is left alone."""
    try:
        file = CompactFile(path) if compact else PlainFile(path)
        if path.stat().st_size and compact != is_compact(str(path)):
            form = "no compact trace" if compact else "a compact trace: go on with --compact, or unpack it"
            raise OutputNotWritable(f"{path} is {form}")
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error
    return file
