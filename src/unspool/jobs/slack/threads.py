"""The thread that was last begun in a channel from a folder: a small file each, so that two runs do not mix them up."""

import hashlib
import json
import re
from pathlib import Path

from unspool.sources.home import data_folder, write_private

_NAME = re.compile(r"\d{10}\.\d{6}")
_IN_LINK = re.compile(r"(?:.*/)?p(\d{10})(\d{6})(?:\?.*)?")


def thread_name(written: str) -> str | None:
    """A message's timestamp, as Slack's API writes it or as it stands at the end of a link; None if it is neither."""
    if _NAME.fullmatch(written):
        return written
    found = _IN_LINK.fullmatch(written)
    return f"{found[1]}.{found[2]}" if found else None


def _file(channel: str, folder: str) -> Path:
    name = hashlib.sha256(f"{channel}\n{folder}".encode("utf-8", "surrogateescape")).hexdigest()[:24]
    return data_folder() / "slack" / f"{name}.json"


def last_thread(channel: str, folder: str) -> str | None:
    try:
        kept = json.loads(_file(channel, folder).read_bytes())
    except (OSError, ValueError):
        return None
    thread = kept.get("thread") if isinstance(kept, dict) else None
    return thread_name(thread) if isinstance(thread, str) else None


def keep_thread(channel: str, folder: str, thread: str) -> None:
    told = {"channel": channel, "folder": folder.encode("utf-8", "replace").decode(), "thread": thread}
    write_private(_file(channel, folder), json.dumps(told).encode())
