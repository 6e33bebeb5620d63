"""An agent whose reader fails where its log says so, to see what becomes of everything else."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from unspool import readers
from unspool.dialect import Head, Reader, Record
from unspool.model import Event, Facts, Note
from unspool.model.event import User
from unspool.readers.log import Log

SAYS, FAILS, STOPS = {"brittle": "says", "text": "Hello"}, {"brittle": "fails"}, {"brittle": "stops"}
UNCLAIMED, UNCLOSED = {"brittle": "claims"}, {"brittle": "close"}


class _Sessions:
    def __init__(self, path: str) -> None:
        self._log = Log("brittle", Path(path).stem)
        self._is_unclosed = False

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        value = self._log.record(record)
        match value:
            case {"brittle": "says", "text": str(text)}:
                self._log.emit(User(text), str(record.origin.line))
            case {"brittle": "fails"}:
                raise KeyError("part")
            case {"brittle": "stops"}:
                raise KeyboardInterrupt
            case {"brittle": "close"}:
                self._is_unclosed = True
        return self._log.take()

    def close(self) -> list[Event | Note]:
        if self._is_unclosed:
            raise MemoryError
        return self._log.take()


def _claims(head: Head) -> bool:
    if head.lines and head.lines[0] == UNCLAIMED:
        raise IndexError("no such place")
    return bool(head.lines) and "brittle" in head.lines[0]


def _module() -> Any:
    module: Any = ModuleType("unspool.readers.brittle")
    module.reader = Reader("brittle", "brittle", "Brittle", _claims, _Sessions)
    return module


def registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the reader among the others, and the net spread as it is for users."""
    module = _module()
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(readers._PLACES, "brittle", "brittle.reader")
    monkeypatch.delenv("UNSPOOL_RAISE")
    yield
    readers.READERS._loaded.pop("brittle", None)


if __name__ == "__main__":  # unspool with this reader, for a command that starts processes of its own
    from unspool.cli import run

    sys.modules["unspool.readers.brittle"] = _module()
    readers._PLACES["brittle"] = "brittle.reader"
    run()
