"""A call that a recorder has not finished: a small file of its own, written piece by piece as the call goes on.

    magic │ i: who calls whom │ q: a piece of the request │ Q: its end │ h: status │ r: a piece of the answer │ …

Each piece has the microseconds since the call began. Whatever ends the recorder, what had arrived is in the file. Its
recorder holds a lock on it: a file that nobody holds was left behind, and `record_of` makes its record.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from struct import Struct as Layout
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec import Struct

from unspool.sources.files import CALL, DASH, JOURNAL

if TYPE_CHECKING:
    from typing_extensions import Buffer

MAGIC = CALL + b"l\x001\n"
"""No text begins so."""
ENDING = ".call"
LOG = ".wal"
"""How the name of a --durable recorder's log ends."""
_FRAME = Layout("<cIQ")
_BODIES = (b"q", b"r")
PIECES = frozenset((b"i", b"q", b"Q", b"h", b"r", b"R", b"e"))
"""The kinds of frames that make up a call."""


class Asked(Struct):
    """Who calls whom. Headers are those that may be kept: no keys, no cookies."""

    id: str
    timestamp: str
    method: str
    path: str
    upstream: str | None
    peer: str
    headers: dict[str, str]
    unpacked: bool = False
    """The bodies that follow were unpacked already, whatever the headers say."""


class Answered(Struct):
    status: int
    headers: dict[str, str]


class Ended(Struct):
    by: str | None = None
    """Who broke it off: client, upstream, timeout or recorder."""
    error: str | None = None


class Mark(Struct):
    """The record is about to be written here; whether it was, the file must tell."""

    file: str
    offset: int


class Call(Struct):
    """All that is known of a call."""

    asked: Asked
    request: list[tuple[int, memoryview]] = msgspec.field(default_factory=list)
    answered: Answered | None = None
    response: list[tuple[int, memoryview]] = msgspec.field(default_factory=list)
    """Each piece, as of the request, with the microseconds after which it came."""
    trailers: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    first_byte: int | None = None
    last: int = 0
    ended: Ended | None = None
    mark: Mark | None = None


_asked = msgspec.json.Decoder(Asked).decode
_answered = msgspec.json.Decoder(Answered).decode
_ended = msgspec.json.Decoder(Ended).decode
_mark = msgspec.json.Decoder(Mark).decode
_fields = msgspec.json.Decoder(dict[str, str]).decode


def frame(kind: bytes, micros: int, payload: bytes) -> tuple[bytes, bytes]:
    return _FRAME.pack(kind, len(payload), micros), payload


def frames_from(pieces: Sequence[bytes]) -> Iterator[tuple[bytes, int, bytes]]:
    """Yield the frames of which these are heads and payloads in turns."""
    for place in range(0, len(pieces), 2):
        kind, _, micros = _FRAME.unpack(pieces[place])
        yield kind, micros, pieces[place + 1]


def read_call(file: BinaryIO) -> Call | None:
    """Return the call in a file, which must be at its beginning; None if not even the call's first piece is there."""
    return call_of(frames_of(file))


def call_of(frames: Iterable[tuple[bytes, int, "Buffer"]]) -> Call | None:
    """Return the call that these frames (kind, microseconds, payload) make up.

    Each body is in memory once, in one piece: the pieces in which it came are views of it.
    """
    call: Call | None = None
    request, response = bytearray(), bytearray()
    asked: list[tuple[int, int]] = []
    came: list[tuple[int, int]] = []
    """When each piece came, and where it ends."""
    try:
        for kind, micros, payload in frames:
            if kind == b"i":
                call = Call(_asked(payload))
            elif call is None:
                continue
            elif kind == b"q":
                request += payload
                asked.append((micros, len(request)))
            elif kind == b"r":
                response += payload
                came.append((micros, len(response)))
            else:
                _add(call, kind, micros, payload)
            if call is not None and kind != b"w":
                call.last = max(call.last, micros)
    except (msgspec.DecodeError, ValueError):  # torn in the middle of what is no body: what came before it counts
        pass
    if call is not None:
        call.request, call.response = list(_views(request, asked)), list(_views(response, came))
    return call


def frames_in(path: Path) -> int:
    """Return how many whole pieces of a call its file holds; 0 if there is no such file."""
    try:
        with path.open("rb") as file:
            return sum(kind in PIECES for kind, _, _ in frames_of(file))
    except FileNotFoundError:
        return 0


def _views(body: bytearray, ends: Iterable[tuple[int, int]]) -> Iterator[tuple[int, memoryview]]:
    whole, start = memoryview(body), 0
    for micros, end in ends:
        yield micros, whole[start:end]
        start = end


def frames_of(file: BinaryIO) -> Iterator[tuple[bytes, int, bytes]]:
    """Pieces of a body also where they are cut off."""
    file.read(len(MAGIC))
    while len(head := file.read(_FRAME.size)) == _FRAME.size:
        kind, length, micros = _FRAME.unpack(head)
        payload = file.read(length)
        if len(payload) == length or kind in _BODIES:
            yield kind, micros, payload


def _add(call: Call, kind: bytes, micros: int, payload: "Buffer") -> None:
    match kind:
        case b"h":
            call.answered = _answered(payload)
            call.first_byte = micros
        case b"Q" | b"R" if memoryview(payload):
            call.trailers["request" if kind == b"Q" else "response"] = _fields(payload)
        case b"e":
            call.ended = _ended(payload)
        case b"w":
            call.mark = _mark(payload)


def journal_of(path: str | os.PathLike[str]) -> Path:
    """Where the calls in flight of a trace are kept; of a folder of session files, inside it."""
    given = Path(path)
    return given / JOURNAL if given.is_dir() else given.with_name(given.name + JOURNAL)


def left_behind(folder: Path) -> Iterator[str]:
    """Yield what a journal holds of calls that are not in the trace and that no running recorder works on.

    These are the files of single calls, and logs of --durable recorders that hold more of a call than its file.
    """
    from unspool.sources.call_log import Logs  # they need each other

    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except OSError:  # no journal, or none that we may see
        return
    logs = Logs(folder, [folder / name for name in names if name.endswith(LOG) and not is_held(folder / name)])
    for name in names:
        path = folder / name
        if name.endswith(ENDING) and path.stem not in logs.known and not is_held(path) and not was_written(path):
            yield str(path)
    yield from (str(path) for path in logs.paths if logs.left(path))


def is_held(path: Path) -> bool:
    """Return whether a recorder works on a file. True also for a file that is gone or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def was_written(path: Path) -> bool:
    """Whether the trace has the call's record: its recorder was killed between writing that and removing this."""
    with path.open("rb") as file:
        call = call_of(frame for frame in frames_of(file) if frame[0] not in PIECES)  # bodies can be large
    if call is None or call.mark is None:
        return False
    try:
        return stands_in(call.mark.file, call.mark.offset, call.asked.id)
    except OSError:
        return False


def stands_in(trace: str, offset: int, name: str) -> bool:
    """Whether a whole record with this id is in the trace, at the offset or behind it."""
    return bool(ids_in(trace, offset, {name}))


def ids_in(trace: str, offset: int, names: set[str]) -> set[str]:
    """Return those of the ids that have a whole record in a trace, at the offset or after it."""
    from unspool.sources.compact import is_compact, lines_from  # they need each other

    if trace == DASH:  # standard output: the record was passed on before the mark was made
        return names
    missing = {b'{"id":"%b"' % name.encode(): name for name in names}
    lengths = {len(start) for start in missing}

    def search(lines: Iterable[bytes]) -> None:
        for line in lines:
            if line.endswith(b"\n"):
                for length in lengths:
                    missing.pop(line[:length], None)
            if not missing:
                return

    if is_compact(trace):
        search(lines_from(trace, offset))
    else:
        with open(trace, "rb") as file:
            file.seek(offset)
            search(file)
    return names - set(missing.values())
