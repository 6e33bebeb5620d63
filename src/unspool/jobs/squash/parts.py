"""What shards leave in OUT/parts until they are joined. Every file is written whole or not at all.

    plan.json                    where each shard begins
    00003-of-00016.part          what each file of the third shard gave, one frame after another
    00003-of-00016.done.json     that it is whole: counts, its inputs with their hashes, the settings

A frame is a length (8 bytes, the lowest first) and an outcome in MessagePack: so joining parts is telling a `Run` what
it would have been told if there were no shards.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from unspool.errors import InputNotFound, OutputNotWritable, UnspoolError
from unspool.jobs.squash.plan import Plan
from unspool.jobs.squash.settings import Found, Outcome, Reject, Settings, Task, Written
from unspool.jobs.squash.tasks import Stretch
from unspool.sources import storage
from unspool.sources.files import BLOCK
from unspool.transforms.duplicates import Mark

FOLDER = "parts"
_MAGIC = b"unspool part 2\n"
_LENGTH = 8
_PLAN = "plan.json"
Told = TypeVar("Told", bound="Completed")


class Input(Struct, frozen=True, array_like=True, gc=False):
    """A file that a shard was made from."""

    path: str
    stamp: str
    """Size and time, or what object storage tells one version from another by."""
    sha256: str
    """Of a file; an object's stamp says enough."""


class Completed(Struct):
    """What a completion file says, but for the inputs: enough to join parts by."""

    shard: int
    shards: int
    stretch: Stretch
    run: str
    """The same for all shards of a run: of its settings, its key and this program."""
    settings: Settings
    """Without the key, which is on no disk."""
    outcomes: int = 0
    records: int = 0
    bytes: int = 0
    """Of the part."""
    counts: dict[str, int] = {}


class Completion(Completed):
    inputs: list[Input] = []


class _Frame(Struct, array_like=True):
    path: str
    records: list[Written]
    findings: list[Found]
    rejects: list[Reject]
    counts: dict[str, int]
    marks: list[Mark]
    wrapped: bool = False
    """Names of files are not always text. Then all strings here are bytes, each written as a Latin-1 character."""


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(_Frame).decode


class Parts:
    def __init__(self, out: str) -> None:
        self._folder = storage.joined(out, FOLDER)

    def plan(self) -> Plan | None:
        data = _read(self._path(_PLAN))
        return None if data is None else _told(data, Plan, self._path(_PLAN))

    def keep_plan(self, plan: Plan) -> None:
        _write(self._path(_PLAN), [msgspec.json.encode(plan)])

    def completed(self, shard: int, shards: int, kind: type[Told]) -> Told | None:
        """What the completion file says; None if there is none."""
        path = self._path(_name(shard, shards) + ".done.json")
        data = _read(path)
        return None if data is None else _told(data, kind, path)

    def write(self, completion: Completion, outcomes: Iterable[Outcome]) -> None:
        """The part, and then, with what was counted on the way, that it is whole."""
        name = _name(completion.shard, completion.shards)
        storage.remove(self._path(f"{name}.done.json"))
        _write(self._path(f"{name}.part"), _counted(completion, outcomes))
        _write(self._path(f"{name}.done.json"), [msgspec.json.encode(completion)])

    def read(self, completed: Completed) -> Iterator[Outcome]:
        path = self._path(f"{_name(completed.shard, completed.shards)}.part")
        left = completed.outcomes
        try:
            with storage.opened(path, BLOCK) as file:
                sound = file.read(len(_MAGIC)) == _MAGIC
                while sound and left:
                    length = int.from_bytes(file.read(_LENGTH), "little")
                    frame = _decode(file.read(min(length, completed.bytes)))
                    left -= 1
                    yield _outcome(frame)
        except (FileNotFoundError, msgspec.DecodeError):
            sound = False
        except OSError as error:
            raise InputNotFound(f"{path}: {error.strerror}") from error
        if left or not sound:
            raise UnspoolError(f"{path} is damaged or gone: squash shard {completed.shard} again")

    def clear(self) -> None:
        """All of it, the plan last, and what workers that were killed have left behind. Other files are not ours."""
        ours = [name for name in storage.names(self._folder) if name.endswith((".part", ".done.json", _PLAN))]
        for name in sorted(ours, key=lambda name: name == _PLAN):
            storage.remove(self._path(name))
        if not storage.is_url(self._folder) and Path(self._folder).is_dir() and not any(Path(self._folder).iterdir()):
            Path(self._folder).rmdir()

    def _path(self, name: str) -> str:
        return storage.joined(self._folder, name)


def _name(shard: int, shards: int) -> str:
    return f"{shard:05}-of-{shards:05}"


def _counted(completion: Completion, outcomes: Iterable[Outcome]) -> Iterator[bytes]:
    """The bytes of a part. The completion is told of each outcome."""
    completion.bytes = len(_MAGIC)
    yield _MAGIC
    counts: dict[str, int] = {}
    for outcome in outcomes:
        data = _framed(outcome)
        completion.outcomes += 1
        completion.records += len(outcome.records)
        completion.bytes += _LENGTH + len(data)
        for what, number in outcome.counts.items():
            counts[what] = counts.get(what, 0) + number
        yield len(data).to_bytes(_LENGTH, "little")
        yield data
    completion.counts = dict(sorted(counts.items()))


def _framed(outcome: Outcome) -> bytes:
    frame = _Frame(outcome.task.path, outcome.records, outcome.findings, outcome.rejects, outcome.counts, outcome.marks)
    try:
        return _encode(frame)
    except UnicodeEncodeError:
        frame.wrapped = True
        return _encode(_each_string(msgspec.to_builtins(frame, builtin_types=(bytes,)), _wrapped))


def _outcome(frame: _Frame) -> Outcome:
    if frame.wrapped:
        plain = _each_string(msgspec.to_builtins(frame, builtin_types=(bytes,)), _unwrapped)
        frame = msgspec.convert(plain, _Frame)
    return Outcome(Task(frame.path), frame.records, frame.findings, frame.rejects, frame.counts, frame.marks)


def _each_string(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple):
        return [_each_string(inner, change) for inner in value]
    if isinstance(value, dict):
        return {_each_string(key, change): _each_string(inner, change) for key, inner in value.items()}
    return value


def _wrapped(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("latin-1")


def _unwrapped(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "surrogatepass")


def _told(data: bytes, kind: type[Any], path: str) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.DecodeError as error:
        raise UnspoolError(f"{path} is none of this version: {error}; remove the folder, and begin anew") from error


def _read(path: str) -> bytes | None:
    """None for a file that is not there."""
    try:
        return storage.read_bytes(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputNotFound(f"{path}: {error.strerror}") from error


def _write(path: str, pieces: Iterable[bytes]) -> None:
    try:
        with storage.replacing(path) as file:
            file.writelines(pieces)
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error
