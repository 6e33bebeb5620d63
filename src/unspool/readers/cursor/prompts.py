"""What stands in a message of the user's: what was typed, what Cursor showed the model beside it, and when.

<timestamp>Sunday, Sep 20, 2026, 12:31 AM (UTC+3)</timestamp>
<open_and_recently_viewed_files>…</open_and_recently_viewed_files>
<user_query>
what was typed
</user_query>
"""

import re
from datetime import datetime

from msgspec import Struct

_QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
_STAMP = re.compile(r"<timestamp>((?:(?!<timestamp>).)*?)</timestamp>\s*", re.DOTALL)
_TIME = re.compile(
    r"([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4}), (\d{1,2}:\d{2} [AP]M) \(UTC(?:([+-]\d{1,2})(?::(\d{2}))?)?\)"
)
_OPENING = re.compile(r"\s*<([a-z][\w-]*)(?: [^>]*)?>")


class Prompt(Struct, frozen=True):
    typed: tuple[str, ...]
    shown: str
    time: str | None


def parted(text: str) -> Prompt:
    time = None
    if "<timestamp>" in text and (stamp := _STAMP.search(text)):
        time = _time_of(stamp[1])
        text = text[: stamp.start()] + text[stamp.end() :]
    if "<user_query>" in text:
        typed = tuple([query.strip() for query in _QUERY.findall(text)])
        return Prompt(typed, _QUERY.sub("", text).strip(), time)
    if _is_tagged(text):
        return Prompt((), text.strip(), time)
    return Prompt((text,) if text.strip() else (), "", time)


def _is_tagged(text: str) -> bool:
    """Whether it is nothing but tags: nobody types that."""
    at = 0
    while opening := _OPENING.match(text, at):
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            return False
        at = end + len(closing)
    return at > 0 and not text[at:].strip()


def _time_of(written: str) -> str | None:
    found = _TIME.search(written.replace("\u202f", " "))
    if found is None:
        return None
    month, day, year, clock, hours, minutes = found.groups()
    try:
        zone = f"{int(hours or 0):+03}{minutes or '00'}"
        return datetime.strptime(f"{month} {day} {year} {clock} {zone}", "%b %d %Y %I:%M %p %z").isoformat()
    except ValueError:
        return None
