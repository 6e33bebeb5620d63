"""`--strategy snapshot`: one session file, one record, taken from its fullest entry.

Entries before it are only looked at: how many messages, which tools, do the roles continue.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from unspool.jobs.squash.definitions import Definitions
from unspool.jobs.squash.entries import NULL, Entry, unstreamed
from unspool.sources.jsontext import Unreadable, mend, strict
from unspool.transforms.findings import Finding, error
from unspool.transforms.integrity import left_out, tools_changed
from unspool.transforms.traces import continues
from unspool.transforms.validate import Validation

_encode = msgspec.json.Encoder().encode
_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_ASSISTANT = Raw(b'"assistant"')
_SYSTEM = Raw(b'"system"')


class Snapshot(Struct):
    """What a session came to."""

    entry: Entry
    day: str | None
    messages: list[bytes]
    values: list[dict[str, Any]]
    """The same messages, decoded."""
    answered: bool
    """The last message is the answer of the entry."""
    tools: list[bytes]
    tool_values: list[Any]
    tool_wholes: list[Any]
    """The same tools, as the request had them."""
    findings: list[Finding]


class Session:
    """Told of entries in the order of the file."""

    def __init__(self, strict: bool, only_last_tools: bool, kept: Callable[[Entry, int], None]) -> None:
        """`kept` is called with each entry that counts, and the number of its messages."""
        self.validation = Validation(strict)
        self._tools = Definitions(only_last_tools)
        self._kept = kept
        self._fullest: Entry | None = None
        self._day: str | None = None
        self._trace: list[str] = []
        self._waiting: list[tuple[Entry, int, Finding | None]] = []
        self._findings: list[Finding] = []

    def add(self, entry: Entry) -> None:
        """Raises `Invalid` where the session is none."""
        number, asked = self.validation.entries + 1, len(entry.trace)
        fullest = self.validation.add(entry.session, entry.time, asked)
        broken = None
        if number > 1 and not continues(self._trace, entry.trace):
            broken = error("trace", f"the roles of entry {number} do not continue those of the entry before it")
        self._trace = entry.trace
        if number == 1:
            self._day = entry.day
        if fullest:
            for waiting in self._waiting:
                self._keep(*waiting)
            self._waiting.clear()
            self._keep(entry, asked, broken)
            self._fullest = entry
        else:
            self._waiting.append((_light(entry), asked, broken))

    def _keep(self, entry: Entry, asked: int, broken: Finding | None) -> None:
        self._tools.add(entry.tools)
        self._kept(entry, asked)
        if broken is not None:
            self._findings.append(broken)

    def finish(self) -> Snapshot | None:
        """The record's parts; None for a session without entries."""
        entry = self._fullest
        if entry is None:
            return None
        findings, validation = self._findings, self.validation
        findings += tools_changed(self._tools.changed)
        if self._tools.odd:
            findings.append(error("tools", "`request.tools` is no list"))
        pairs = [tidied(bytes(raw), value) for raw, value in zip(entry.messages, entry.values, strict=False)]
        answer, choices = answer_of(unstreamed(entry.response))
        if answer is not None:
            pairs.append(answered(answer))
        findings += left_out(validation.kept, validation.entries, answer is not None, choices)
        return Snapshot(
            entry=entry,
            day=self._day,
            messages=[written for written, _ in pairs],
            values=[value for _, value in pairs],
            answered=answer is not None,
            tools=self._tools.flat,
            tool_values=self._tools.values,
            tool_wholes=self._tools.wholes,
            findings=findings,
        )


def _light(entry: Entry) -> Entry:
    """An entry that may never be kept, without its messages: what waits must not hold one long line after another."""
    return Entry(entry.origin, b"", entry.time, entry.day, entry.session, [], [], entry.tools, entry.response.copy())


def answer_of(response: Raw) -> tuple[bytes | None, int]:
    """The message of the first choice, and how many choices there are."""
    if response == NULL:
        return None, 0
    try:
        choices = _fields(response).get("choices", NULL)
        listed = msgspec.json.decode(choices, type=list[Raw])
        message = _fields(listed[0]).get("message") if listed else None
    except Unreadable:
        return None, 0
    if message is None or not bytes(message).startswith(b"{"):
        return None, len(listed)
    return bytes(message), len(listed)


def answered(written: bytes) -> tuple[bytes, dict[str, Any]]:
    """An answer as a message: it need not say whose it is."""
    try:
        value = strict(written)
    except Unreadable:
        written = mend(written)
        value = strict(written)
    if "role" not in value:
        value = {"role": "assistant", **value}
        written = _encode({"role": _ASSISTANT, **_fields(written)})
    return tidied(written, value)


def tidied(written: bytes, value: dict[str, Any]) -> tuple[bytes, dict[str, Any]]:
    """A message without null fields, `developer` as `system`: the same bytes where there is nothing to do."""
    developer = value["role"] == "developer"
    if developer or None in value.values():
        value = {key: inner for key, inner in value.items() if inner is not None}
        fields = {key: raw for key, raw in _fields(written).items() if key in value}
        if developer:
            value["role"], fields["role"] = "system", _SYSTEM
        written = _encode(fields)
    if b"\n" in written or b"\r" in written:  # blanks of a document over several lines: a record is one line
        written = _encode(value)
    return written, value
