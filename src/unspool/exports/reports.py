"""The reports beside training records: tool-usage.csv, integrity-report.json and .txt, summary.json."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from unspool.transforms.findings import Finding
from unspool.transforms.usage import GroupUsage

TOOL_USAGE, FINDINGS, FINDINGS_TEXT, SUMMARY = (
    "tool-usage.csv",
    "integrity-report.json",
    "integrity-report.txt",
    "summary.json",
)
_BREAKS = re.compile(r"[\t\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_encode = msgspec.json.Encoder().encode


def tool_usage(rows: Iterable[tuple[str, str, GroupUsage]]) -> bytes:
    """A row for each date and scenario; what records are not grouped by is blank."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = GroupUsage.__struct_fields__
    writer.writerow(["date", "scenario", *names])
    writer.writerows([date, scenario, *(getattr(usage, name) for name in names)] for date, scenario, usage in rows)
    return text.getvalue().encode("utf-8", "replace")


def summary(values: Mapping[str, Any]) -> bytes:
    return msgspec.json.format(_encode(values), indent=2) + b"\n"


class _Row(Struct):
    severity: str
    rule: str
    session: str
    """The scenario: what the text report calls so."""
    input: str
    message: str


class _Fact(_Row):
    count: int
    """How often this fact was found. Session and input are those of the first occurrence."""


class IntegrityReport:
    """Both forms of the report, written as findings come: a million of them need no memory.

    Facts (severity INFO) are the exception: each is kept, counted, and written once, at the end. There are few
    different ones, because their messages name neither tools nor places.
    """

    def __init__(self, folder: Path) -> None:
        self._json: BinaryIO = (folder / FINDINGS).open("wb")
        self._text: BinaryIO = (folder / FINDINGS_TEXT).open("wb")
        self.errors = self.warnings = 0
        self._facts: dict[tuple[str, str], _Fact] = {}

    def __enter__(self) -> "IntegrityReport":
        self._json.write(b'{"findings": [')
        return self

    def add(self, finding: Finding, scenario: str, file: str) -> None:
        if finding.severity == "INFO" and (fact := self._facts.get((finding.rule, finding.message))):
            fact.count += finding.count
            return
        session, name, message = map(_sound, (scenario, file, finding.message))
        if finding.severity == "INFO":
            fact = _Fact(finding.severity, finding.rule, session, name, message, finding.count)
            self._facts[finding.rule, finding.message] = fact
            return
        self._write(_Row(finding.severity, finding.rule, session, name, message), message, first=self.total == 0)
        if finding.severity == "ERROR":
            self.errors += 1
        else:
            self.warnings += 1

    def _write(self, row: _Row, message: str, first: bool) -> None:
        self._json.write((b"\n" if first else b",\n") + _encode(row))
        fields = (row.severity, f"session={row.session}", f"input={row.input}", message)
        self._text.write("\t".join(_BREAKS.sub(" ", field) for field in fields).encode() + b"\n")

    @property
    def total(self) -> int:
        """Faults: facts are none."""
        return self.errors + self.warnings

    @property
    def infos(self) -> int:
        """Different facts."""
        return len(self._facts)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, fact in enumerate(self._facts.values()):
            often = f" ({fact.count} times, first here)" if fact.count > 1 else ""
            self._write(fact, fact.message + often, first=self.total + number == 0)
        counts = {"errors": self.errors, "warnings": self.warnings, "total": self.total, "infos": self.infos}
        with self._json as file:
            file.write(b"\n], " + _encode(counts)[1:] + b"\n")
        with self._text as file:
            told = " ".join(f"{name}={number}" for name, number in counts.items())
            file.write(f"Integrity summary: {told}\n".encode())


def _sound(text: str) -> str:
    """A name of a file may hold bytes that are no text."""
    return text.encode("utf-8", "replace").decode()
