"""What both forms of Droid's records share: texts with reminders in them, results, tokens."""

import re
from collections.abc import Iterator
from typing import Any

from unspool.model.event import Content, Notification, User
from unspool.sources.values import count

_REMINDER = re.compile(r"<(system-reminder|system-notification)>(?:(?!<\1>).)*?</\1>\s*", re.DOTALL)
_EXIT = re.compile(r"\[Process exited with code (?!0\])\d+\]\s*\Z")


def typed(text: str) -> Iterator[Content]:
    """What a person typed, and before it what the program told the model on the way."""
    rest = text
    if "<system-" in text:
        rest = _REMINDER.sub("", text)
        for reminder in _REMINDER.finditer(text):
            yield Notification(reminder[0].rstrip(), "context")
    if rest.strip() or rest is text:
        yield User(rest if rest is text else rest.strip())


def failed(output: str, flag: Any) -> bool:
    """Older versions flag nothing: a command that failed says so at its beginning or at its end."""
    return reports_failure(output) if flag is None else flag is True


def reports_failure(output: str, _tool: str | None = None) -> bool:
    """Return whether a tool's output says that it failed."""
    return output.startswith("Error: Command failed") or _EXIT.search(output[-80:]) is not None


def counts_of(usage: dict[str, Any], names: tuple[str, str, str, str, str]) -> tuple[int, int, int, int, int]:
    """Input, cache read, cache write, output, reasoning, by these names of them."""
    given, read, written, answered, thought = (count(usage.get(name)) for name in names)
    return given, read, written, answered + (thought if thought > answered else 0), thought
