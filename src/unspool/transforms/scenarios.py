"""What a log's name says of its session: the day, and the scenario that it is a run of.

logs/2026-03-02/book-a-table-1769212345678901234.jsonl   →   2026-03-02, book-a-table
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from pathlib import PurePath

_ENDING = re.compile(r"(?:\.(?:jsonl|ndjson|json))?(?:\.(?:gz|zst))?$", re.IGNORECASE)
_RUN = re.compile(r"-(?:\d{19}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,6}")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_EDGES = "._- "
_LONGEST = 120
NAMELESS = "scenario"


def stem_of(path: str) -> str:
    return _ENDING.sub("", PurePath(path).name)


def scenario_of(path: str) -> str:
    """The name of the file without what tells one run from the next: times in nanoseconds, UUIDs, then a number."""
    stem = stem_of(path)
    for _ in range(3):
        stem = _RUN.sub("", stem)
    parts = stem.split("-")
    if len(parts) >= 3 and _NUMBER.fullmatch(parts[-1]) and not parts[-2].isdigit():
        stem = "-".join(parts[:-1])
    return stem


def day_of(path: str, root: str | None) -> str | None:
    """The day that the first folder below the root is named after."""
    if root is None:
        return None
    folders = PurePath(path).relative_to(root).parts[:-1]
    try:
        return date.fromisoformat(folders[0]).isoformat() if folders else None
    except ValueError:
        return None


def file_names(scenarios: Iterable[str]) -> dict[str, str]:
    """A name for each scenario's file, no two alike on any file system, whatever the order in which they come."""
    alike: dict[str, list[str]] = defaultdict(list)
    for scenario in sorted(set(scenarios)):
        alike[_sanitised(scenario).casefold()].append(scenario)
    names: dict[str, str] = {}
    for group in alike.values():
        owner = next((scenario for scenario in group if _sanitised(scenario) == scenario), None)
        for scenario in group:
            name = _sanitised(scenario)
            names[scenario] = name if scenario == owner or len(group) == 1 else f"{name}-{_mark(scenario)}"
    return names


def _sanitised(scenario: str) -> str:
    return _UNSAFE.sub("_", scenario).strip(_EDGES)[:_LONGEST].strip(_EDGES) or NAMELESS


def _mark(scenario: str) -> str:
    return hashlib.sha256(scenario.encode("utf-8", "surrogatepass")).hexdigest()[:8]
