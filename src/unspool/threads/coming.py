"""An answer that is still coming: its bytes are written to a file of their own as they arrive.

So even what kills the process at once loses nothing that had come. Whoever asks holds a lock on the file; one that
nobody holds was left behind, and becomes an interrupted answer when the store is next opened.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from unspool.errors import ProviderFailed, TurnNotFound, UnspoolError
from unspool.model import Answer, Draft, Message, Response, Turn
from unspool.sources.sse import Assembler
from unspool.store.store import Store

_FOLDER = "answers"
_ENDING = ".jsonl"


class Asked(Struct):
    """What was asked for, and of whom: the first line of the file."""

    turn: str
    head: str | None
    provider: str
    api: str
    model: str | None
    started: int


class Coming:
    """Use it in a `with`: what is stored as a turn by its end, or was refused, is needed here no longer."""

    def __init__(self, store: Store, asked: Asked) -> None:
        folder = store.folder / _FOLDER
        name = f"{asked.turn}-{os.urandom(4).hex()}{_ENDING}"
        self._path = folder / name
        self._first = msgspec.json.encode(asked) + b"\n"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            beside = folder / f".{name}"
            self._file = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX)
            beside.rename(self._path)  # nobody finds it before it is locked
        except OSError as error:
            raise UnspoolError(f"{error.filename or self._path}: {error.strerror}") from error
        self.again()

    def __enter__(self) -> "Coming":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None or issubclass(kind, ProviderFailed):
            self._path.unlink(missing_ok=True)
        os.close(self._file)

    def again(self) -> None:
        """What came so far was no answer: it is asked for once more."""
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        self._write(self._first)

    def piece(self, data: bytes) -> None:
        """A full disk is told where the answer is stored: here it costs only what a later kill would lose."""
        with suppress(OSError):
            self._write(data)

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]


def take_in(store: Store) -> Iterator[Turn]:
    """Store what was left behind, mostly as interrupted answers, each beside what else was answered to its turn."""
    folder = store.folder / _FOLDER
    if store.database.is_read_only or not folder.is_dir():
        return  # what is on a read-only disk waits for one that takes it
    for path in sorted(folder.glob(f"*{_ENDING}")):
        try:
            handle = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        with open(handle, "rb") as file:
            if _is_left(file.fileno(), path):
                yield from _stored(store, file.read())
                path.unlink(missing_ok=True)


def _is_left(file: int, path: Path) -> bool:
    """Nobody writes to it, and nobody has taken it in meanwhile."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(file), path.stat())
    except (BlockingIOError, FileNotFoundError):
        return False


def _stored(store: Store, data: bytes) -> Iterator[Turn]:
    from unspool.wires import WIRES
    from unspool.wires.aggregate import aggregate

    first, _, came = data.partition(b"\n")
    try:
        asked = msgspec.json.decode(first, type=Asked)
        turn = store.turn(asked.turn)
    except (msgspec.DecodeError, TurnNotFound):
        return  # killed before anything came, or the thread was removed since
    if asked.api not in WIRES:
        return
    response = aggregate(asked.api, Assembler().feed(came)).response
    message = response.messages[0] if response.messages else Message("assistant", ())
    if not message.blocks or _is_known(store, turn, message, response):
        return
    answer = Answer(
        provider=asked.provider,
        api=asked.api,
        model=response.model or asked.model,
        requested=asked.model if response.model not in (None, asked.model) else None,
        response_id=response.id,
        stop=response.stop,
        usage=response.usage,
        status="interrupted" if response.interrupted else "complete",
        error="unspool was killed" if response.interrupted else None,
        started=asked.started,
    )
    at_end = asked.head if asked.head is not None and store.bookmarks().get(asked.head) == turn.id else None
    draft = Draft(message, continues=(turn.id,), head=at_end, answer=answer)
    yield store.append(draft, follow=False)


def _is_known(store: Store, turn: Turn, message: Message, response: Response) -> bool:
    """It was stored, and only its file was left behind."""
    for child in map(store.turn, store.children(turn.id)):
        if child.answer is None:
            continue
        if response.id is not None and child.answer.response_id == response.id:
            return True
        if store.message(child.message).id == message.id:
            return True
    return False
