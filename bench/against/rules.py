"""The file of allowed differences: which ones are wanted, since which revision, and why."""

import re
import subprocess
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from against.compare import Difference
from against.inputs import ROOT

CHANGES = ("added", "removed", "changed", "truncated_ms", "within_ms", "any")
_FIELDS = {"from", "command", "file", "key", "path", "change", "where", "old", "new", "reason"}


class InvalidRule(Exception):
    """A rule that cannot be read; the message says which one and why."""


@dataclass
class Rule:
    """Differences that are wanted. Every condition that is given must hold."""

    revision: str
    reason: str
    commands: tuple[str, ...] = ("*",)
    files: tuple[str, ...] = ("*",)
    path: str = "**"
    change: str = "any"
    where: dict[str, Any] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    uses: int = 0

    def explains(self, file: str, command: str, difference: Difference) -> bool:
        return (
            _has_change(self.change, difference)
            and path_matches(self.path, difference.path)
            and any(fnmatchcase(command, pattern) for pattern in self.commands)
            and any(fnmatchcase(file, pattern) for pattern in self.files)
            and all(getattr(difference, side) == value for side, value in self.values.items())
            and self._is_where(difference)
        )

    def _is_where(self, difference: Difference) -> bool:
        objects = [side for side in (difference.old_object, difference.new_object) if isinstance(side, dict)]
        return not self.where or any(
            all(key in side and side[key] == value for key, value in self.where.items()) for side in objects
        )

    def __str__(self) -> str:
        parts = [self.change if self.change != "any" else "", self.path, *(f"{k}={v!r}" for k, v in self.where.items())]
        return " ".join(filter(None, parts))


def _has_change(change: str, difference: Difference) -> bool:
    match change:
        case "any":
            return True
        case "truncated_ms":  # a duration in seconds is a float: it may be less than a whole millisecond off
            return difference.milliseconds is not None and 0 < difference.milliseconds <= 1
        case "within_ms":
            return difference.milliseconds is not None and abs(difference.milliseconds) <= 1
    return difference.change == change


def path_matches(pattern: str, path: tuple[str, ...]) -> bool:
    """Whether a path fits: `*` is any part, or any text within one; `**` is any number of parts."""
    parts = [r"(?:[^/]*/)*" if part == "**" else _part(part) + "/" for part in pattern.split("/")]
    return re.fullmatch("".join(parts), "".join(f"{part}/" for part in path)) is not None


def _part(pattern: str) -> str:
    return "[^/]*".join(map(re.escape, pattern.split("*")))


def read_rules(path: Path) -> list[Rule]:
    """Return the rules of a file, or none if there is no such file."""
    if not path.exists():
        return []
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise InvalidRule(f"{path.name}: {error}") from error
    rules = []
    for number, values in enumerate(document.get("allowed", []), 1):
        try:
            rules.append(_rule(values))
        except (KeyError, ValueError) as error:
            raise InvalidRule(f"{path.name}: rule {number}: {error}") from error
    return rules


def rules_against(commit: str, rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules that hold against this commit: those whose `from` is this commit, or came after it."""
    return [rule for rule in rules if _is_ancestor(commit, rule.revision)]


def _rule(values: dict[str, Any]) -> Rule:
    if unknown := values.keys() - _FIELDS:
        raise ValueError(f"unknown field {', '.join(sorted(unknown))}; a rule may have {', '.join(sorted(_FIELDS))}")
    for name in ("from", "reason"):
        if not isinstance(values.get(name), str) or not values[name].strip():
            raise ValueError(f"`{name}` is missing")
    if "key" in values and "path" in values:
        raise ValueError("give `key` or `path`, not both")
    if (change := values.get("change", "any")) not in CHANGES:
        raise ValueError(f"`change` is {change!r}; it may be {', '.join(CHANGES)}")
    return Rule(
        values["from"],
        values["reason"],
        _strings(values.get("command", "*")),
        _strings(values.get("file", "*")),
        f"**/{values['key']}" if "key" in values else values.get("path", "**"),
        change,
        values.get("where", {}),
        {side: values[side] for side in ("old", "new") if side in values},
    )


def _strings(value: str | list[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def commit_of(revision: str) -> str:
    """Return the full name of a revision."""
    command = ["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        raise InvalidRule(f"git knows no revision {revision!r}; a shallow clone needs `git fetch --unshallow`")
    return process.stdout.strip()


def _is_ancestor(commit: str, revision: str) -> bool:
    command = ["git", "merge-base", "--is-ancestor", commit, commit_of(revision)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def explain(rules: Iterable[Rule], file: str, command: str, difference: Difference) -> Rule | None:
    """Return the first rule that allows this difference, and count its use."""
    for rule in rules:
        if rule.explains(file, command, difference):
            rule.uses += 1
            return rule
    return None
