"""The differences between two JSON values, each with the place where it is."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from typing import Any, Literal

Change = Literal["added", "removed", "changed"]
_MAX_ALIGNED = 3_000
"""Items between the first and the last difference of two lists; longer stretches are compared place by place."""


_TIMES = frozenset({"timestamp", "time", "start", "end", "created", "duration"})
"""Keys whose numbers are times or durations; a text is a time if it reads as one."""


@dataclass(frozen=True)
class Difference:
    """A value that only one side has, or that differs; `old_object` and `new_object` are the objects around it."""

    path: tuple[str, ...]
    change: Change
    old: Any
    new: Any
    old_object: Any
    new_object: Any

    @property
    def pattern(self) -> str:
        """The path with `*` for each number, and for the names of files of records."""
        parts = ["*" if part.isdigit() else part for part in self.path]
        if parts[:2] == ["files", "out"] and len(parts) > 2 and parts[2].endswith(".jsonl"):
            parts[2] = "*.jsonl"
        return "/".join(parts)

    @property
    def milliseconds(self) -> float | None:
        """How much less the new time is, or None if these are no times or durations."""
        if self.change != "changed" or not self.path:
            return None
        name = self.path[-1]
        is_time = name.endswith(("_ms", "_at", "_time")) or name in _TIMES
        return _milliseconds(self.old, self.new, is_time)


def differences(old: Any, new: Any, path: tuple[str, ...] = (), around: tuple[Any, Any] = ()) -> Iterator[Difference]:  # type: ignore[assignment]
    """Return what differs between two decoded JSON values, the deepest places that do."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            place = (*path, key.replace("~", "~0").replace("/", "~1"))
            if key not in new:
                yield Difference(place, "removed", old[key], None, old, new)
            elif key not in old:
                yield Difference(place, "added", None, new[key], old, new)
            else:
                yield from differences(old[key], new[key], place, (old, new))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _list_differences(old, new, path, around)
    elif type(old) is not type(new) or old != new:
        yield Difference(path, "changed", old, new, *(around or (None, None)))


def _list_differences(
    old: list[Any], new: list[Any], path: tuple[str, ...], around: tuple[Any, Any]
) -> Iterator[Difference]:
    for left, right in align(old, new):
        if left is None:
            assert right is not None
            item = new[right]
            objects = (None, item) if isinstance(item, dict) else around or (None, None)
            yield Difference((*path, str(right)), "added", None, item, *objects)
        elif right is None:
            item = old[left]
            objects = (item, None) if isinstance(item, dict) else around or (None, None)
            yield Difference((*path, str(left)), "removed", item, None, *objects)
        else:
            yield from differences(old[left], new[right], (*path, str(right)), around)


def align(old: Sequence[Any], new: Sequence[Any]) -> Iterator[tuple[int | None, int | None]]:
    """Pair the items of two lists: by their ids if they have any, else by what is equal; the rest by place."""
    left, right = [_identity(item) for item in old], [_identity(item) for item in new]
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    middle_left, middle_right = left[start : len(left) - end], right[start : len(right) - end]
    yield from ((place, place) for place in range(start))
    if max(len(middle_left), len(middle_right)) > _MAX_ALIGNED:
        yield from _by_place(start, start + len(middle_left), start, start + len(middle_right))
    else:
        matcher = SequenceMatcher(None, middle_left, middle_right, autojunk=False)
        for _, left_from, left_to, right_from, right_to in matcher.get_opcodes():
            yield from _by_place(start + left_from, start + left_to, start + right_from, start + right_to)
    yield from ((len(left) - back, len(right) - back) for back in range(end, 0, -1))


def _by_place(left: int, left_end: int, right: int, right_end: int) -> Iterator[tuple[int | None, int | None]]:
    for offset in range(max(left_end - left, right_end - right)):
        yield (
            left + offset if left + offset < left_end else None,
            right + offset if right + offset < right_end else None,
        )


def _identity(item: Any) -> str:
    if isinstance(item, dict) and isinstance(item.get("id"), str):
        return f"id {item['id']}"
    return json.dumps(item, sort_keys=True)


def _milliseconds(old: Any, new: Any, is_time: bool) -> float | None:
    match old, new:
        case (bool(), _) | (_, bool()):
            return None
        case int(), int():
            return old - new if is_time else None
        case float() | int(), float() | int():
            return round((old - new) * 1000, 6) if is_time else None
        case str(), str():
            try:
                past: timedelta = datetime.fromisoformat(old) - datetime.fromisoformat(new)
            except (ValueError, TypeError):
                return None
            return past / timedelta(milliseconds=1)
    return None
