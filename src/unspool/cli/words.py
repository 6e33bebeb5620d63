"""Numbers, times and texts as the commands write them for people."""

import os
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import click

from unspool.views.harmless import safe


def plural(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def human(number: int) -> str:
    if number < 1_000:
        return str(number)
    for size, letter in ((1_000_000_000, "G"), (1_000_000, "M")):
        if number >= size - size // 20_000:  # what would be rounded up to a thousand of the smaller unit
            return f"{number / size:.1f}{letter}"
    return f"{number / 1_000:.1f}k"


def span(seconds: float | None) -> str:
    """A duration, in two units at most."""
    if seconds is None:
        return ""
    if round(seconds) < 60:
        return f"{seconds:.0f} s"
    minutes, hours, days = round(seconds / 60), round(seconds / 3600), round(seconds / 86400)
    return f"{minutes} min" if minutes < 100 else f"{hours} h" if hours < 72 else f"{days} d"


def local(timestamp: str | None) -> str:
    """A moment in the reader's own time."""
    from unspool.sources.values import time_of

    return on_clock(time_of(timestamp))


def on_clock(moment: int | None) -> str:
    """The same of milliseconds since 1970."""
    try:
        return "" if moment is None else datetime.fromtimestamp(moment / 1000).isoformat(" ", "minutes")  # noqa: DTZ006
    except (ValueError, OverflowError):  # the first and the last day that there are: no zone has all of them
        return ""


def fit(text: str, width: int) -> str:
    """The text in just so many columns, however wide its characters are."""
    head = text[: width + 1]
    if head.isascii() and head.isprintable():  # most are: a column each
        return f"{head if len(head) <= width else head[: width - 1].rstrip() + '…':<{width}}"
    text = safe(text)
    from rich.cells import cell_len, set_cell_size

    return set_cell_size(text if cell_len(text) <= width else set_cell_size(text, width - 1).rstrip() + "…", width)


def one_line(text: str | None) -> str:
    return safe(" ".join((text or "").split()))


def option_text(value: object) -> str:
    """What an option of a turn was set to; of definitions, only how many."""
    from unspool.sources.jsontext import dumps

    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return plural(len(value), "definition")
    return "unset" if value is None else value if isinstance(value, str) else dumps(value)


def short_names(ids: Sequence[str], least: int = 8, among: Iterable[str] = ()) -> list[str]:
    """Return a prefix of each id that no other id has, neither of these nor of those that it is looked up among.

    Many ids begin with the time, so that the ids of one hour are alike.
    """
    ordered = sorted({*ids, *among})
    shared = dict.fromkeys(ordered, 0)
    for one, other in pairwise(ordered):
        if one[:least] == other[:least]:
            same = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))
            shared[one], shared[other] = max(shared[one], same), max(shared[other], same)
    return [safe(name[: max(least, shared[name] + 1)]) for name in ids]


def terminal_width(stream: int, otherwise: int = 100) -> int:
    """Columns of the terminal that a stream is; of a pipe, those of a usual one."""
    if not os.isatty(stream):
        return otherwise
    from shutil import get_terminal_size  # 2 ms that pipes need not pay

    return get_terminal_size((otherwise, 24)).columns


def columns_of(stream: int) -> int | None:
    """None of a pipe, a file: there lines are as long as they are."""
    return terminal_width(stream) if os.isatty(stream) else None


def colour() -> bool | None:
    """For click: None leaves it to the stream, False takes all colour away."""
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    return False if plain else None


def shows_colour() -> bool:
    """Return whether standard output is a terminal that shows colours."""
    return colour() is None and sys.stdout is not None and sys.stdout.isatty()


def say(text: str = "") -> None:
    """To people, beside the data."""
    if sys.stderr is not None:
        click.echo(text, err=True, color=colour())


def say_lost(files: Sequence[str]) -> None:
    """Files that could not be read, each with the reason."""
    if files:
        first = ", the first" if len(files) > 1 else ""
        say(f"{plural(len(files), 'file')} could not be read{first}: {safe(files[0])}")


def moment(text: str, option: str | None = None) -> int:
    """Milliseconds since 1970: of a date, of a time, or of so long ago (`90m`, `12h`, `3d`, `2w`, `today`)."""
    import re
    import time

    from unspool.sources.values import milliseconds

    now = time.time()
    if found := re.fullmatch(r"(\d+)\s*([smhdw])", text.strip()):
        unit = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}[found[2]]
        return int(now * 1000) - int(found[1]) * unit * 1000
    today = datetime.fromtimestamp(now).astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    if text in ("today", "yesterday"):
        return milliseconds(today - timedelta(days=text == "yesterday"))
    try:
        given = datetime.fromisoformat(text)
        return milliseconds(given if given.tzinfo else given.astimezone())
    except (ValueError, OverflowError):  # the first and the last day that there are: no zone has all of them
        told = f"{text!r} is no date, no time, and no span like 3d or 12h"
        raise click.BadParameter(told, param_hint=option) from None
