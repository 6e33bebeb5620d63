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

_QUERY = re.compile(r"<user_query>\s*(.*?)\s*(?:</user_query>|\Z)", re.DOTALL)
_STAMP = re.compile(r"<timestamp>(.*?)</timestamp>\s*", re.DOTALL)
_TIME = re.compile(
    r"([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4}), (\d{1,2}:\d{2} [AP]M) \(UTC(?:([+-]\d{1,2})(?::(\d{2}))?)?\)"
)
_TAGGED = re.compile(r"\s*(?:<([a-z][\w-]*)(?: [^>]*)?>.*?</\1>\s*)+\Z", re.DOTALL)
"""Nothing but tags: nobody types that."""


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
        return Prompt(tuple(_QUERY.findall(text)), _QUERY.sub("", text).strip(), time)
    if text.lstrip().startswith("<") and _TAGGED.match(text):
        return Prompt((), text.strip(), time)
    return Prompt((text,) if text.strip() else (), "", time)


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
