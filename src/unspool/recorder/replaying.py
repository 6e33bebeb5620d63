"""Which recorded call answers a request: by content, then by order.

    the same method, path and body                       equal as JSON: blanks and the order of keys do not count
    the same but for names of sessions, users and caches
    the same body at another path                        recorded behind a gateway, say

Of several that match, the first request gets the first answer, the second the second, and so on; then the last again.
"""

from base64 import b64decode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Raw, Struct

from unspool.dialect import Record
from unspool.model import Note, Origin
from unspool.sources.composing import restored
from unspool.sources.files import is_packed
from unspool.sources.storage import local

VOLATILE = ("metadata", "user", "prompt_cache_key", "safety_identifier", "client_metadata", "session_id")
"""Keys of a request that differ from run to run, and mean nothing for the answer."""
_LEFT = frozenset(
    "content-length transfer-encoding content-encoding connection keep-alive date trailer upgrade".split()
)
_SECRET = "REDACTED"
_MOST_DIFFERENCES = 20
_LONGEST = 300
_open = msgspec.json.Decoder(dict[str, Raw]).decode
_decode = msgspec.json.decode
_encode = msgspec.json.Encoder(order="sorted").encode


class Asked(Struct):
    """A request, as it is compared."""

    method: str
    path: str | None
    body: Any
    """A JSON value, or bytes that are none."""

    @property
    def keys(self) -> list[bytes]:
        """From the strictest to the loosest."""
        path = None if self.path is None else _path(self.path)
        found = [_hash(self.method, path, self.body)]
        if isinstance(self.body, dict):
            rest = {key: value for key, value in self.body.items() if key not in VOLATILE}
            found += [
                _hash(self.method, path, rest),
                _hash(self.method, None, self.body),
                _hash(self.method, None, rest),
            ]
        return found


class Answer(Struct):
    """What was answered, and when each part of it came."""

    status: int
    headers: dict[str, str]
    pieces: list[bytes]
    times: list[float] | None
    """Seconds after the request, of each piece; None if nobody noted them."""
    streamed: bool
    whole: bool
    """Else the connection broke off behind the last piece."""


class RecordedCall(Struct):
    """A recorded call; its line is read again when it is needed."""

    id: str
    origin: Origin
    line: Callable[[], bytes]
    method: str
    path: str | None
    parts: frozenset[int]
    """Of its request, to tell which is nearest to another."""


class Recordings:
    def __init__(self) -> None:
        self._all: list[RecordedCall] = []
        self._levels: list[dict[bytes, list[int]]] = [defaultdict(list) for _ in range(4)]
        self._served: Counter[tuple[int, bytes]] = Counter()
        self._at: dict[str, int] = {}
        self.skipped = 0

    def __len__(self) -> int:
        return len(self._all)

    def add(self, items: Iterable[Record | Note]) -> None:
        """All records of a file; what is none is counted."""
        for item in items:
            recording = None if isinstance(item, Note) else self._recording(item)
            if recording is None:
                self.skipped += 1
                continue
            asked = _asked(_open(recording.line()))
            for level, key in zip(self._levels, asked.keys, strict=False):
                level[key].append(len(self._all))
            self._all.append(recording)

    def _recording(self, record: Record) -> RecordedCall | None:
        try:
            envelope = _open(record.data)
            asked = _asked(envelope)
        except (msgspec.DecodeError, ValueError):
            return None
        if "request" not in envelope:
            return None
        name = _plain(envelope, "id")
        line = _reader(record)
        return RecordedCall(
            str(name or ""), record.origin, line, asked.method, asked.path, frozenset(_parts(asked.body))
        )

    def find(self, asked: Asked) -> RecordedCall | None:
        """The one to answer with. Each time that the same is asked, the next one of those that match."""
        for number, (level, key) in enumerate(zip(self._levels, asked.keys, strict=False)):
            if found := level.get(key):
                turn = self._served[number, key]
                self._served[number, key] += 1
                return self._all[found[min(turn, len(found) - 1)]]
        return None

    def next_for(self, asked: Asked) -> RecordedCall | None:
        """Without looking at what is said: the next one that was recorded at this path."""
        path = None if asked.path is None else _path(asked.path)
        turn = self._at.get(f"{asked.method} {path}", 0)
        same = [each for each in self._all if each.method == asked.method and each.path and _path(each.path) == path]
        if turn >= len(same):
            return None
        self._at[f"{asked.method} {path}"] = turn + 1
        return same[turn]

    def nearest(self, asked: Asked) -> RecordedCall | None:
        """The one that has most in common with it."""
        parts = frozenset(_parts(asked.body))

        def likeness(each: RecordedCall) -> tuple[bool, float, bool]:
            shared = len(parts & each.parts) / (len(parts | each.parts) or 1)
            return each.method == asked.method, shared, each.path == asked.path

        return max(self._all, key=likeness, default=None)


def _reader(record: Record) -> Callable[[], bytes]:
    """From the file again, where that is possible."""
    origin, data = record.origin, record.data
    if is_packed(origin.file) or not origin.size or origin.size != len(data):
        return lambda: data

    def read() -> bytes:
        with local(origin.file) as file:
            file.seek(origin.offset)
            return file.read(origin.size)

    return read if read() == data else lambda: data


def _plain(envelope: dict[str, Raw], key: str) -> Any:
    return _decode(envelope[key]) if key in envelope else None


def _asked(envelope: dict[str, Raw]) -> Asked:
    method, path = _plain(envelope, "method"), _plain(envelope, "path")
    return Asked(
        method if isinstance(method, str) else "POST",
        path if isinstance(path, str) else None,
        _body(_plain(envelope, "request")),
    )


def _body(value: Any) -> Any:
    """What was sent: JSON, or the bytes that a recorder kept in another form."""
    match value:
        case {"raw": str(text)} if len(value) == 1:
            return _unmarked(text.encode())
        case {"base64": str(text)} if len(value) == 1:
            return _unmarked(b64decode(text))
    return value


def _unmarked(data: bytes) -> bytes:
    """Uploads come in parts, with a mark between them that is another one each time: without it."""
    mark = data[:_LONGEST].partition(b"\r\n")[0]
    is_parted = mark.startswith(b"--") and len(mark) > 2 and data.rstrip().endswith(mark + b"--")
    return data.replace(mark, b"--") if is_parted else data


def asked_of(method: str, path: str, data: bytes) -> Asked:
    """A request on the wire."""
    try:
        return Asked(method, path, _decode(data) if data else None)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return Asked(method, path, _unmarked(data))


def answer_of(recording: RecordedCall) -> Answer:
    envelope = _open(recording.line())
    value = _plain(envelope, "response")
    streamed, data = _sent(value, envelope)
    status, error = _plain(envelope, "status"), _plain(envelope, "error")
    headers = _plain(envelope, "response_headers")
    kept = {name: str(text) for name, text in (headers or {}).items() if name not in _LEFT}
    kept.setdefault("content-type", "text/event-stream" if streamed else "application/json")
    if not isinstance(status, int) and isinstance(error, dict):  # where other recorders keep it
        status = error.get("status_code", error.get("status"))
    if not isinstance(status, int) or not 200 <= status < 600:
        status = 200 if data or not error else 502
    if not data and error:
        data = _encode({"error": {"type": "recorded", "message": error}})
    pieces, times = _cut(data, _plain(envelope, "chunks"))
    whole = not _plain(envelope, "interrupted")
    return Answer(status, kept, pieces, times, streamed or len(pieces) > 1, whole)


def _sent(value: Any, envelope: dict[str, Raw]) -> tuple[bool, bytes]:
    match value:
        case None:
            return False, b""
        case {"base64": str(text)}:
            return "sse_lines" in value, b64decode(text)
        case {"sse_lines": list(lines)}:
            return True, restored(map(str, lines), str(value.get("line_end", "\n")))
        case {"raw": str(text)} if len(value) == 1:
            return False, text.encode()
    return False, bytes(envelope["response"])


def _cut(data: bytes, chunks: Any) -> tuple[list[bytes], list[float] | None]:
    """The answer in the pieces in which it came. What they do not count was put at the end of a stream by us."""
    if not chunks or sum(size for _, size in chunks) > len(data):
        return [data] if data else [], None
    pieces, at = [], 0
    for _, size in chunks:
        pieces.append(data[at : at + size])
        at += size
    return pieces, [time / 1000 for time, _ in chunks]


def _path(path: str) -> str:
    """Without the parameters that hold keys: those were not recorded."""
    place, _, query = path.partition("?")
    kept = [part for part in query.split("&") if part and not _is_secret(part)]
    return f"{place}?{'&'.join(kept)}" if kept else place


def _is_secret(parameter: str) -> bool:
    from unspool.recorder.secrecy import clean_path

    return clean_path(f"?{parameter}").endswith(f"={_SECRET}")


def _hash(method: str, path: str | None, body: Any) -> bytes:
    data = body if isinstance(body, bytes) else _encode(body)
    return sha256(f"{method} {path}\n".encode() + data).digest()


def _parts(body: Any) -> Iterator[int]:
    """A mark for each value of an object, and each element of its lists."""
    if isinstance(body, dict):
        for key, value in body.items():
            for each in value if isinstance(value, list) else (value,):
                yield hash((key, _encode(each)))
    elif body is not None:
        yield hash(body if isinstance(body, bytes) else _encode(body))


def differences(recorded: Any, sent: Any, at: str = "") -> Iterator[dict[str, Any]]:
    """Where two values part: the place, and what stands there in each. Absent is what is not there."""
    if recorded == sent:
        return
    if isinstance(recorded, dict) and isinstance(sent, dict):
        for key in dict.fromkeys([*recorded, *sent]):
            yield from differences(recorded.get(key), sent.get(key), f"{at}.{key}" if at else key)
    elif isinstance(recorded, list) and isinstance(sent, list):
        for number in range(max(len(recorded), len(sent))):
            before, now = (side[number] if number < len(side) else None for side in (recorded, sent))
            yield from differences(before, now, f"{at}[{number}]")
    else:
        yield {"at": at or "body", "recorded": _short(recorded), "sent": _short(sent)}


def difference(recording: RecordedCall, asked: Asked) -> list[dict[str, Any]]:
    """The first places where a request differs from a recorded one."""
    recorded = _asked(_open(recording.line()))
    found: list[dict[str, Any]] = []
    for what in ("method", "path"):
        before, now = getattr(recorded, what), getattr(asked, what)
        if before is not None and before != now:
            found.append({"at": what, "recorded": before, "sent": now})
    for each in differences(recorded.body, asked.body):
        found.append(each)
        if len(found) >= _MOST_DIFFERENCES:
            break
    return found


def _short(value: Any) -> Any:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    text = value if isinstance(value, str) else _encode(value).decode()
    return value if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
