"""Claude Code's live stream as one document: `claude -p … --output-format json --verbose`, and what its action keeps.

A list of the stream's records; without `--verbose` only the last of them.
"""

from unspool.dialect import Record
from unspool.model import Event, Facts, Note, Origin
from unspool.readers.claude_code.stream import Stream


class Execution:
    def __init__(self, path: str) -> None:
        self._path = path
        self._stream = Stream(path)

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._stream.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        told = record.value if isinstance(record.value, list) else [record.value]
        out: list[Event | Note] = []
        for number, value in enumerate(told, 1):
            if value is not None:
                out += self._stream.feed(Record(b"", Origin(self._path, number, 0, 0), value))
        return out

    def close(self) -> list[Event | Note]:
        return self._stream.close()
