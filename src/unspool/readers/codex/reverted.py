"""A thread whose last turns were taken back goes on in a file of its own, and the file with those turns stays as it is.

rollout-<time>-<thread>.jsonl             the thread
rollout-<time>-<thread>_<file>.jsonl      what it says since; the header tells how much of which file it keeps
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unspool.sources.values import mapping, text_of

_DAYS = 3
"""Folders above a file that are a day, a month and a year."""
_NAME = re.compile(r"rollout-[\dT-]{19}-([\w-]+?)_[\w-]+\.jsonl")


def kept_of(path: str, header: dict[str, Any]) -> tuple[str, int] | None:
    """The file with the turns that were taken back, and the byte at which the first of them begins."""
    base, thread = mapping(header.get("history_base")), text_of(header.get("id"))
    kept, end = text_of(base.get("thread_id")), base.get("end_byte_offset")
    name = f"-{thread}.jsonl" if kept == thread else f"-{thread}_{kept}.jsonl"
    found = next((file for file in files_before(path) if name in Path(file).name), None)
    return (found, end) if found is not None and isinstance(end, int) else None


def files_before(path: str) -> Iterator[str]:
    """The files of the thread that goes on in this one, of whichever day; none if it is the only one."""
    file = Path(path)
    if (name := _NAME.match(file.name)) is not None:
        found = list(file.parent.glob(pattern := f"rollout-*-{name[1]}*.jsonl*"))
        if all(above.name.isdigit() for above in file.parents[:_DAYS]):
            found += file.parents[_DAYS].glob(f"*/*/*/{pattern}")
        yield from sorted(set(map(str, found)))
