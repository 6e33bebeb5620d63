"""How a run is to look, and the words that all styles use for it."""

from msgspec import Struct

from unspool.views.money import dollars
from unspool.views.pretty.banner import Banner
from unspool.views.pretty.moments import Ended, Noticed, Status

WIDTH, WIDEST, NARROWEST = 58, 120, 24
"""Columns of a box where nobody knows how many there are; at most; at least."""
MARKS: dict[Status, str] = {"COMPLETED": "✅", "FAILED": "❌", "INTERRUPTED": "⚠️", "ORPHANED": "⌛"}
RUNNING = "⏳"
OUTPUT_LINES, DIFF_LINES, COMMAND_LINES, BRIEF_LINES = 10, 24, 12, 6
"""Lines that are shown of long things: an output, a diff, a command, a prompt for a sub-agent."""
LONG_LINE = 400
"""Characters of one line of them."""
_ERROR = "Error: "
_UNSAID, _HOOK = ("context", "system"), "hook "
_WRAPPED = ("<tool_use_error>", "</tool_use_error>")


class Look(Struct, frozen=True):
    width: int = WIDTH
    color: bool = False
    terminal: bool = False
    """It is drawn on a terminal, not written into a pipe or a file."""
    full: bool = False
    """Nothing is cut."""
    thinking: bool = False
    queue: bool = False
    """A call and its result are shown as one."""
    banner: Banner = Banner()


def is_hidden(notice: Noticed) -> bool:
    """What the model was shown and nobody said, and hooks that did their work: of use only where nothing is cut."""
    return notice.level in _UNSAID or (notice.level == "info" and notice.text.startswith(_HOOK))


def fault(output: str) -> str:
    """What a failed call says, without the words that its label says already."""
    begin, end = _WRAPPED
    text = output.strip()
    if text.startswith(begin):
        text = text.removeprefix(begin).removesuffix(end).strip()
    return text.removeprefix(_ERROR)


def head_lines(text: str, most: int | None) -> tuple[list[str], int]:
    """The first lines of a text, and how many more there are. A text of any size costs only what is shown of it."""
    if most is None:
        return text.split("\n"), 0
    lines = text.split("\n", most + 1)
    if len(lines) <= most + 1:  # a line that says that one line is missing might as well be that line
        return lines, 0
    return lines[:most], lines[-1].count("\n") + 2


def more(lines: int) -> str:
    return f"… {lines:,} more line{'' if lines == 1 else 's'}"


def short(line: str, most: int = LONG_LINE) -> str:
    """A line that is not longer than anybody reads."""
    return line if len(line) <= most + 40 else f"{line[:most]}… {len(line) - most:,} more characters"


def took(seconds: float) -> str:
    return f"{seconds:.2f}s"


def _long(seconds: float) -> str:
    """From a minute on also as people say it."""
    if seconds < 60:
        return took(seconds)
    minutes, rest = divmod(round(seconds), 60)
    spoken = f"{minutes}m {rest:02}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02}m"
    return f"{took(seconds)} ({spoken})"


def price(end: Ended) -> str:
    """Return the cost of a run."""
    return dollars(end.cost, 4, complete=not end.cost_is_partial)


def figures(end: Ended) -> list[tuple[str, str, str]]:
    """What a run took and cost: an emoji, a word and the figure."""
    rows = []
    if end.seconds is not None:
        rows.append(("⏱ ", "Duration", _long(end.seconds)))
    if end.api_seconds is not None:
        rows.append(("🔄", "API Time", _long(end.api_seconds)))
    if end.turns is not None:
        rows.append(("💬", "Turns", str(end.turns)))
    rows.append(("💰", "Cost", price(end)))
    if end.tokens.total:
        rows.append(("🔢", "Tokens", tokens(end)))
    if end.denied:
        rows.append(("🔒", "Denied", ", ".join(end.denied)))
    return rows


def tokens(end: Ended) -> str:
    used = end.tokens
    asked, cached = used.input + used.cache_read + used.cache_write, used.cache_read
    return f"{asked:,} in{f' ({cached:,} cached)' if cached else ''}, {used.output:,} out"
