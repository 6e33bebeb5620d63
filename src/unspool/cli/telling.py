"""What a recorder tells, to people on standard error or to programs on standard output."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING

import click
import msgspec

from unspool.cli.words import human, one_line, plural, say
from unspool.errors import MissingExtra

if TYPE_CHECKING:
    from unspool.recorder.calls import Counts
    from unspool.sources.composing import Recorded

VARIABLES = (("ANTHROPIC_BASE_URL", ""), ("OPENAI_BASE_URL", "/v1"), ("GOOGLE_GEMINI_BASE_URL", ""))
_TOLD = (
    *("id", "method", "path", "status", "duration_ms", "ttfb_ms", "request_bytes", "response_bytes"),
    *("interrupted", "error", "client", "session"),
)


@contextmanager
def needed() -> Iterator[None]:
    """For what only the extra brings."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(f"recording needs {error.name}: pip install 'unspool[record]'") from error


def upstreams_of(given: Sequence[str]) -> dict[str, str]:
    named = {}
    for each in given:
        name, equals, url = each.partition("=")
        if not equals:
            raise click.BadParameter(f"{each!r} is not NAME=URL", param_hint="--upstream")
        named[name] = url
    return named


class Teller:
    def __init__(self, place: str, as_json: bool, quiet: bool, token: bool = False) -> None:
        self._place, self._as_json, self._quiet, self._path = place, as_json, quiet, "/~TOKEN" if token else ""

    def say(self, text: str) -> None:
        with suppress(OSError):  # nobody reads it any more, and recording must go on
            say(f"unspool: {text}")

    def listening(self, url: str) -> None:
        if self._as_json:
            event("listening", {"url": url, "output": self._place})
        elif not self._quiet:
            say(f"recording to {self._place}, listening on {url}")
            for name, path in VARIABLES:
                say(click.style(f"  {name}={url}{self._path}{path}", dim=True))

    def called(self, record: "Recorded") -> None:
        if self._as_json:
            event("call", {name: getattr(record, name) for name in _TOLD})
        elif not self._quiet:
            say(_line(record))

    def ended(self, counts: "Counts") -> None:
        if self._as_json:
            names = ("recorded", "unrecorded", "late", "refused", "kept", "broken", "foreign", "sent", "received")
            facts = {name: getattr(counts, name) for name in names}
            event("ended", {**facts, "sessions": len(counts.sessions), "output": self._place})
        else:
            for line in summary(counts, self._place):
                say(line)


def event(kind: str, facts: dict[str, object]) -> None:
    """For programs, at once."""
    if sys.stdout is not None:
        sys.stdout.buffer.write(msgspec.json.encode({"event": kind, **facts}) + b"\n")
        sys.stdout.buffer.flush()


def _line(record: "Recorded") -> str:
    status = str(record.status or "---")
    good = record.status is not None and record.status < 400 and not record.error
    words = [
        datetime.now().astimezone().strftime("%H:%M:%S"),
        click.style(status, fg="green" if good else "red"),
        f"{record.method:<4} {one_line(record.path.partition('?')[0])}",
        f"{record.duration_ms / 1000:.1f} s" if record.duration_ms >= 100 else f"{record.duration_ms} ms",
        f"{human(record.request_bytes)}B → {human(record.response_bytes)}B",
    ]
    if record.interrupted:
        words.append(click.style(f"interrupted by the {record.interrupted_by}", fg="yellow"))
    if record.error:
        words.append(click.style(one_line(record.error), fg="red"))
    return "  ".join(words)


def summary(counts: "Counts", place: str) -> list[str]:
    """What was recorded, and how to look at it."""
    about = [plural(len(counts.sessions), "session")] if counts.sessions else []
    about += [f"{counts.broken:,} interrupted or failed"] if counts.broken else []
    told = f" ({', '.join(about)})" if about else ""
    lines = ["no call was recorded"]
    if counts.recorded:
        sizes = f"{human(counts.sent)}B sent, {human(counts.received)}B received"
        lines = [f"{plural(counts.recorded, 'call')} recorded{told}: {sizes}, in {place}"]
    if counts.unrecorded:
        lines.append(click.style(f"{plural(counts.unrecorded, 'call')} went unrecorded", fg="red"))
    if counts.foreign:
        lines.append(f"{plural(counts.foreign, 'request')} refused: from web pages, or for another host")
    if counts.late:
        lines.append(
            click.style(f"{plural(counts.late, 'answer')} passed on before the disk had taken the request", fg="red")
        )
    if counts.refused:
        lines.append(
            click.style(f"{plural(counts.refused, 'call')} refused, because nothing could be written", fg="red")
        )
    if counts.kept:
        waits = "waits" if counts.kept == 1 else "wait"
        lines.append(
            click.style(f"{plural(counts.kept, 'call')} could not be written, and {waits} in the journal", fg="red")
        )
    return lines
