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

_QUERY = re.compile(r"(</system_notification>\s*)?<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
"""What stands behind a notification, of a task that ended or the like, Cursor asks itself."""
_STAMP = re.compile(r"<timestamp>((?:(?!<timestamp>).)*?)</timestamp>\s*", re.DOTALL)
_TIME = re.compile(
    r"([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4}), (\d{1,2}:\d{2} [AP]M) \(UTC(?:([+-]\d{1,2})(?::(\d{2}))?)?\)"
)
_OPENING = re.compile(r"\s*<([a-z][\w-]*)(?: [^>]*)?>")
_PICTURES = re.compile(r"\s*((?:\[Image\]\s*)+)(<image_files>.*?</image_files>)?", re.DOTALL)
"""A sign for each picture that was given, and where they were saved."""
_SAVED = re.compile(r"^\d+\. +(\S.*)$", re.MULTILINE)
_AROUND = frozenset(
    "additional_data agent_skills agent_transcripts attached_files cursor_commands external_links git_status "
    "image_files manually_attached_skills open_and_recently_viewed_files rules system_notification system_reminder "
    "terminal_files_information uploaded_documents user_info".split()
)
"""Tags that stand before words which are in none."""


class Prompt(Struct, frozen=True):
    typed: tuple[str, ...]
    shown: str
    time: str | None


def parted(text: str) -> Prompt:
    time = None
    if "<timestamp>" in text and (stamp := _STAMP.search(text)):
        time = _time_of(stamp[1])
        text = text[: stamp.start()] + text[stamp.end() :]
    pictures, saved, text = _pictured(text)
    if "<user_query>" in text:
        typed = tuple([query.strip() for notified, query in _QUERY.findall(text) if not notified])
        shown = _QUERY.sub(lambda found: found[0] if found[1] else "", text).strip()
    else:
        end = _tagged(text)
        typed, shown = (text[end:].strip() if end else text,), text[:end].strip()
    typed = tuple([words for words in (*typed, *pictures) if words.strip()])
    return Prompt(typed, "\n".join(filter(None, (saved, shown))), time)


def _pictured(text: str) -> tuple[list[str], str, str]:
    """The pictures that stand before all else, what is said of them, and the rest."""
    found = _PICTURES.match(text) if text.lstrip().startswith("[Image]") else None
    if found is None:
        return [], "", text
    saved = found[2] or ""
    named = [f"[image: {place.strip()}]" for place in _SAVED.findall(saved)]
    return named or ["[image]"] * found[1].count("[Image]"), saved, text[found.end() :]


def _tagged(text: str) -> int:
    """Where the leading tags that nobody typed end. Unknown tags count only if the whole text is tags."""
    at, known = 0, True
    while opening := _OPENING.match(text, at):
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            break
        known = known and opening[1] in _AROUND
        at = end + len(closing)
    return at if known or not text[at:].strip() else 0


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
