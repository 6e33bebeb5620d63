"""What a comparison prints: differences by kind, an example of each as a diff, and rules that would allow them."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Any

from against.compare import Difference
from against.rules import Rule

_MAX_TEXT = 160
"""Characters of a string, and items of a list, that a diff shows around the first change."""
_MAX_ITEMS = 12


@dataclass
class Group:
    """Unexplained differences of one kind: the same change at the same place of the same command's output."""

    command: str
    change: str
    pattern: str
    where: tuple[str, str] | None
    example: Difference
    example_file: str
    count: int = 0
    files: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    """Pairs of values before and after, as lines of a rule; two are enough to know that they vary."""

    def __str__(self) -> str:
        where = [f"{self.where[0]}={self.where[1]}"] if self.where else []
        return "  ".join((self.change, self.command, self.pattern, *where, f"({len(self.files):,} inputs)"))


class Unexplained:
    """The differences that no rule allows, grouped as they come."""

    def __init__(self) -> None:
        self._groups: dict[tuple[Any, ...], Group] = {}

    def add(self, file: str, command: str, difference: Difference) -> None:
        key = (command, _change_of(difference), difference.pattern, _kind_of_item(difference))
        if key not in self._groups:
            self._groups[key] = Group(*key, difference, file)
        self._groups[key].count += 1
        self._groups[key].files.add(file)
        if len(self._groups[key].values) < 2:
            self._groups[key].values.add(_values(difference))

    @property
    def groups(self) -> list[Group]:
        return sorted(self._groups.values(), key=lambda group: (-group.count, group.command, group.pattern))

    @property
    def count(self) -> int:
        return sum(group.count for group in self._groups.values())


def _change_of(difference: Difference) -> str:
    if difference.milliseconds is None or abs(difference.milliseconds) > 1:
        return difference.change
    return "truncated_ms" if difference.milliseconds > 0 else "within_ms"


def _values(difference: Difference) -> str:
    """Return the lines of a rule for these values alone, or nothing where TOML cannot hold them."""
    sides = {"old": difference.old, "new": difference.new}
    if difference.change != "changed" or not all(isinstance(value, str | bool | int) for value in sides.values()):
        return ""
    return "\n".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in sides.items())


def _kind_of_item(difference: Difference) -> tuple[str, str] | None:
    """Return what tells an item that a list gained or lost from its others: its type, say."""
    item = difference.old if difference.change == "removed" else difference.new
    if difference.change == "changed" or not difference.path[-1].isdigit() or not isinstance(item, dict):
        return None
    return next(((name, item[name]) for name in ("type", "rule", "role") if isinstance(item.get(name), str)), None)


def lines_of(unexplained: Unexplained, rules: list[Rule], old_name: str, show: int) -> Iterator[str]:
    """Return the whole report, without the summary in front of it."""
    for rule in rules:
        if rule.uses:
            yield f"  {rule.uses:>7,}  {rule}: {rule.reason}"
    for rule in rules:
        if not rule.uses:
            yield f"   unused  {rule}: {rule.reason}"
    groups = unexplained.groups
    if not groups:
        return
    yield ""
    yield f"unexplained: {unexplained.count:,} differences of {len(groups):,} kinds"
    for group in groups:
        yield f"  {group.count:>7,}  {group}"
    for group in groups[:show]:
        yield ""
        yield f"{group.example_file}: {group.command}: {'/'.join(group.example.path)}"
        yield from _diff(group.example, old_name)
    if len(groups) > show:
        yield ""
        yield f"… and {len(groups) - show:,} more kinds: SHOW={len(groups)} shows an example of each"
    yield ""
    yield "Rules that would allow them; write why into `reason`:"
    yield from _proposals(groups, old_name)


def _diff(difference: Difference, old_name: str) -> Iterator[str]:
    """Return a diff of the objects around the difference, or of the values if there is none."""
    sides = [difference.old_object, difference.new_object]
    in_list = bool(difference.path) and difference.path[-1].isdigit()
    if in_list or not any(isinstance(side, dict) for side in sides):
        sides = [difference.old, difference.new]
    old, new = (_pretty(side, other) for side, other in (sides, sides[::-1]))
    for line in unified_diff(old, new, old_name, "working tree", n=2, lineterm=""):
        yield f"  {line}"


def _pretty(value: Any, other: Any) -> list[str]:
    return [] if value is None else json.dumps(shortened(value, other), indent=1, ensure_ascii=False).splitlines()


def shortened(value: Any, other: Any) -> Any:
    """Return the value with long texts and lists cut to what is near the first place where the other differs."""
    match value:
        case str():
            start = max(_first_change(value, other) - _MAX_TEXT // 2, 0) if isinstance(other, str) else 0
            cut = value[start : start + _MAX_TEXT]
            return f"{'…' if start else ''}{cut}{'…' if start + _MAX_TEXT < len(value) else ''}"
        case dict():
            return {
                key: shortened(item, other.get(key) if isinstance(other, dict) else None) for key, item in value.items()
            }
        case list():
            mirror = other if isinstance(other, list) else []
            start = max(_first_change(value, mirror) - _MAX_ITEMS // 2, 0)
            items = [
                shortened(item, mirror[place] if place < len(mirror) else None)
                for place, item in enumerate(value[start : start + _MAX_ITEMS], start)
            ]
            return [*(["…"] if start else []), *items, *(["…"] if start + _MAX_ITEMS < len(value) else [])]
    return value


def _first_change(value: str | list[Any], other: str | list[Any]) -> int:
    pairs = enumerate(zip(value, other, strict=False))
    return next((place for place, (ours, theirs) in pairs if ours != theirs), min(len(value), len(other)))


def _proposals(groups: list[Group], old_name: str) -> Iterator[str]:
    """Return a rule for each key that came, went or holds a time, in any object, and one for each other place."""
    counts: Counter[tuple[str, str, str, tuple[str, str] | None]] = Counter()
    commands: dict[tuple[str, str, str, tuple[str, str] | None], set[str]] = {}
    values: dict[tuple[str, str, str, tuple[str, str] | None], set[str]] = {}
    for group in groups:
        last = group.pattern.split("/")[-1]
        anywhere = group.change != "changed" and last != "*" and "." not in last
        condition = ("key", last) if anywhere else ("path", group.pattern)
        key = (group.change, *condition, group.where)
        counts[key] += group.count
        commands.setdefault(key, set()).add(group.command)
        values.setdefault(key, set()).update(group.values)
    for (change, name, value, where), count in counts.most_common():
        names = sorted(commands[change, name, value, where])
        yield ""
        yield f"[[allowed]]  # {count:,}"
        yield f'from = "{old_name}"'
        yield f"command = {json.dumps(names if len(names) > 1 else names[0])}"
        yield f"{name} = {json.dumps(value, ensure_ascii=False)}"
        yield f'change = "{change}"'
        if where:
            yield f"where = {{ {where[0]} = {json.dumps(where[1], ensure_ascii=False)} }}"
        if change == "changed" and len(values[change, name, value, where]) == 1:
            yield from filter(None, values[change, name, value, where])
        yield 'reason = ""'
