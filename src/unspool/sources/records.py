"""Records of a file: a line each, or the elements of one JSON document.

{"id": 1}\\n{"id": 2}\\n        JSON lines, the usual form, read block by block
[{"id": 1}, {"id": 2}]         one array: its elements
{\\n  "id": 1\\n}\\n              one object over several lines
{"log": {"entries": [{…}, …]}}  what browsers save (HAR): its entries
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from unspool.dialect import Record
from unspool.model import Note, Origin
from unspool.sources.density import is_suspicious, left_out_note, smallest_suspicious, thinned
from unspool.sources.files import BLOCK, Damaged, blocks
from unspool.sources.jsontext import Unreadable, mend, spans
from unspool.sources.limits import max_record, too_large_note

_ARRAY = re.compile(rb"\[\s*(?:[{\]]|$)")  # of objects; a log line may begin with a bracket too
_BOM = b"\xef\xbb\xbf"
_OPENS, _CLOSES = b"{}"
_elements = msgspec.json.Decoder(list[Raw]).decode
_any = msgspec.json.Decoder(Raw).decode


class _Saved(msgspec.Struct):
    entries: list[Raw]


class _Har(msgspec.Struct):
    log: _Saved


_har = msgspec.json.Decoder(_Har).decode
_IS_HAR = re.compile(rb'\s*\{\s*"log"\s*:\s*\{\s*"(?:version|creator|browser|pages|entries|comment)"')


def read_records(path: str) -> Iterator[Record | Note]:
    """Each record of the file with its origin. Damage costs only what it damaged."""
    lines = read_lines(path)
    first = next(lines, None)
    if first is None:
        return
    if isinstance(first, Record) and opens_a_document(first.data.strip()):
        yield from _from_document(path, first, lines)
    else:
        yield first
        yield from lines


def opens_a_document(line: bytes) -> bool:
    """Whether the first line is the beginning of one document over the whole file: no record ends like this."""
    if line.startswith(b"{"):
        return line.endswith((b"{", b"[", b",", b":")) or bool(_IS_HAR.match(line))
    return bool(_ARRAY.match(line))


def _from_document(path: str, first: Record, lines: Iterable[Record | Note]) -> Iterator[Record | Note]:
    start, text, most = first.origin.offset, bytearray(first.data), max_record()
    is_lean = len(first.data) < first.origin.size
    """Whether something was left out, so that places in the text are not those in the file."""
    notes: list[Note] = []
    for item in lines:
        if isinstance(item, Note):
            notes.append(item)
            continue
        is_lean = is_lean or len(item.data) < item.origin.size
        text += b"\n" * (item.origin.offset - start - len(text)) + item.data
        if len(text) > most:
            yield too_large_note("this document", Origin(path, 1, start, len(text)))
            return
    whole = bytes(text)
    del text
    origin = Origin(path, 1, start, len(whole))
    if is_suspicious(whole):
        whole, count = thinned(whole)
        if count:
            is_lean = True
            notes.append(left_out_note(count, origin))
    if is_lean:
        yield from _mended(whole, origin)
    else:
        try:
            yield from _placed(path, whole, start, _split(whole))
        except Unreadable:
            yield from _mended(whole, origin)
    yield from notes


def _mended(document: bytes, origin: Origin) -> Iterator[Record | Note]:
    """Yield the records of a document with faults or without some values: all of them, else those that are whole."""
    repaired = False
    try:
        try:
            elements = _split(document)
        except Unreadable:
            elements, repaired = _split(mend(document)), True
    except Unreadable as fault:
        yield Note("unreadable", f"no whole document: {fault}; what is whole in it was read", origin)
        text = document.decode("utf-8", "surrogateescape")
        at = behind = 0
        for number, (begin, end) in enumerate(spans(text, having='"request"'), 1):
            at += len(text[behind:begin].encode("utf-8", "surrogateescape"))
            element = text[begin:end].encode("utf-8", "surrogateescape")
            yield Record(element, Origin(origin.file, number, origin.offset + at, len(element)))
            at, behind = at + len(element), end
        return
    if repaired:
        yield Note("repaired", "a document with faults in its text, read after mending them", origin)
    for number, element in enumerate(elements, 1):
        yield Record(element, replace(origin, line=number))


def _split(document: bytes) -> list[bytes]:
    if document.lstrip().startswith(b"["):
        return [bytes(raw) for raw in _elements(document)]
    if _IS_HAR.match(document):
        try:
            return [bytes(raw) for raw in _har(document).log.entries]
        except msgspec.ValidationError:  # a log of another kind
            pass
    return [bytes(_any(document))]


def _placed(path: str, whole: bytes, start: int, elements: list[bytes]) -> Iterator[Record]:
    at = 0
    for number, element in enumerate(elements, 1):
        at = whole.find(element, at)
        yield Record(element, Origin(path, number, start + at, len(element)))
        at += len(element)


def read_lines(path: str, first: int = BLOCK) -> Iterator[Record | Note]:
    """Lines that are not blank, without their ends, and a note for each that is too large. `first` bytes are read at
    first."""
    return split_lines(path, blocks(path, first))


def split_lines(path: str, pieces: Iterable[bytes], number: int = 0, offset: int = 0) -> Iterator[Record | Note]:
    """The same, of a file that is being read already: so many lines and bytes of it."""
    pending: list[bytes] = []
    held, most, large = 0, max_record(), smallest_suspicious()
    broken: Note | None = None
    try:
        for data in pieces:
            start, end = 0, data.find(b"\n")
            while end >= 0:  # lines are long, and `find` is several times as fast as `split`
                number += 1
                size = held + end - start
                if size > most:
                    yield too_large_note("this line", Origin(path, number, offset, size))
                else:
                    line = data[start:end]
                    if pending:
                        line = b"".join([*pending, line])
                        pending.clear()
                    if number == 1:
                        line = _first(line)
                    if line and not line.isspace():
                        if size > large:
                            yield from _lean(line, Origin(path, number, offset, size))
                        else:
                            yield Record(line, Origin(path, number, offset, size))
                held = 0
                offset += size + 1
                start = end + 1
                end = data.find(b"\n", start)
            held += len(data) - start
            if held > most:
                pending.clear()  # the rest of the line is read to find its end, and not kept
            else:
                pending.append(data[start:])
    except Damaged as damage:
        broken = _damaged(damage, path, number + 1, offset)
    if held > most:
        yield too_large_note("this line", Origin(path, number + 1, offset, held))
    else:
        line = _first(b"".join(pending)) if number == 0 else b"".join(pending)
        if line and not line.isspace():
            yield from _lean(line, Origin(path, number + 1, offset, len(line)))
    if broken is not None:
        yield broken


def _lean(line: bytes, origin: Origin) -> Iterator[Record | Note]:
    """Yield the record of a line. Values of very many tiny parts are left out of it, with a note before it."""
    if is_suspicious(line):
        line, count = thinned(line)
        if count:
            yield left_out_note(count, origin)
    yield Record(line, origin)


def decoded_lines(path: str, pieces: Iterable[bytes], decode: Callable[[bytes], list[Any]]) -> Iterator[Record | Note]:
    """The same lines, without their bytes but decoded, all of a block at once: a line alone costs a microsecond more.

    Where one of them is no plain object, the lines of its block come as they stand.
    """
    return chain.from_iterable(_decoded_blocks(path, pieces, decode))


def _decoded_blocks(
    path: str, pieces: Iterable[bytes], decode: Callable[[bytes], list[Any]]
) -> Iterator[Iterable[Record | Note]]:
    number = offset = 0
    most = max_record()
    try:
        for lines in _runs(pieces, most):
            if isinstance(lines, int):
                yield [too_large_note("this line", Origin(path, number + 1, offset, lines))]
                number += 1
                offset += lines + 1
                continue
            if (
                len(lines) <= most
                and not is_suspicious(lines)
                and (records := _decoded(path, lines, number, offset, decode))
            ):
                yield records
                number = records[-1].origin.line
            else:
                yield split_lines(path, [lines], number, offset)
                number += lines.count(b"\n")
            offset += len(lines)
    except Damaged as damage:
        yield [_damaged(damage, path, number + 1, offset)]


def _runs(pieces: Iterable[bytes], most: int) -> Iterator[bytes | int]:
    """Whole lines, as many as came; of a line that is too large only its size; at last the text after the last line."""
    pending: list[bytes] = []
    held = 0
    try:
        for data in pieces:
            start, cut = 0, data.rfind(b"\n") + 1
            if cut and held > most:
                start = data.find(b"\n") + 1
                yield held + start - 1
            if cut > start:
                run = [b"".join([*pending, data[start:cut]])]
                pending.clear()
                yield run.pop()  # which is not kept while it is read
            if cut:
                held = 0
            held += len(data) - cut
            if held > most:
                pending.clear()
            else:
                pending.append(data[cut:])
    except Damaged:
        yield held if held > most else b"".join(pending)
        raise
    yield held if held > most else b"".join(pending)


def _decoded(
    path: str, lines: bytes, number: int, offset: int, decode: Callable[[bytes], list[Any]]
) -> list[Record] | None:
    """None, unless each line is an object. One that begins and ends with its brackets cannot go on in the next."""
    try:
        values = decode(lines)
    except Unreadable:
        return None
    records, start = [], 0
    for value in values:
        end = lines.find(b"\n", start)
        if end <= start or lines[start] != _OPENS or lines[end - 1] != _CLOSES:
            return None
        number += 1
        records.append(Record(b"", Origin(path, number, offset + start, end - start), value))
        start = end + 1
    return records if start == len(lines) else None


def _damaged(damage: Damaged, path: str, line: int, offset: int) -> Note:
    return Note("unreadable", f"compressed data is damaged: {damage}", Origin(path, line, offset, 0))


def _first(line: bytes) -> bytes:
    """The first line, a byte order mark turned into blanks, so that offsets stay those of the file."""
    return b"   " + line[3:] if line.startswith(_BOM) else line
