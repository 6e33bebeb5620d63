"""What all files of a run gave together: files of records, counts, reports.

While a run goes on, the records of a group are in a part without a name: which names are free is known at the end.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from unspool.errors import StrictFault
from unspool.exports import chat
from unspool.exports.reports import SUMMARY, TOOL_USAGE, IntegrityReport, summary, tool_usage
from unspool.exports.writing import refuse_unwritable, write
from unspool.ingest.outputs import output_for
from unspool.jobs.squash.folder import Folder
from unspool.jobs.squash.settings import Outcome, Settings, Written
from unspool.sources.files import legible
from unspool.sources.outputs import Output
from unspool.transforms.duplicates import Mark
from unspool.transforms.scenarios import file_names
from unspool.transforms.usage import GroupUsage, ToolUsage, UsageTotals

if TYPE_CHECKING:
    from unspool.exports.training import Format
    from unspool.transforms.filters import Filter

SINGLE, UNDATED = "conversations", "undated"
REJECTS = ".rejects"
_PRIVATE = ("key", "keep_rejects")
Group: TypeAlias = tuple[str, str, str]
"""Date, scenario, own file: what a record is not grouped by is empty."""


class Squashed(Struct):
    """What a run came to: what `summary.json` says."""

    inputs: int
    records: int
    counts: dict[str, int]
    """What was kept and what was dropped, by reason."""
    errors: int
    warnings: int
    files: dict[str, int]
    """The files of records, and how many each has."""
    infos: int = 0


class _Place(Struct):
    """Where a record stands in the part of its group."""

    group: Group
    offset: int
    size: int
    reported: tuple[str, str]
    usage: ToolUsage


def fold(outcomes: Iterable[Outcome], out: str, settings: Settings, rejects: Output | None) -> Squashed:
    """Outcomes in the order of the inputs → the files of `out`, whole or not at all."""
    run = Run(msgspec.structs.replace(settings, keep_rejects=rejects is not None))
    output_for(out, names=[run.example])
    with Folder(out) as folder:
        if rejects is not None:
            refuse_unwritable(rejects.path)
        with IntegrityReport(folder.staging) as integrity:
            for outcome in outcomes:
                run.add(outcome, folder, integrity)
        if rejects is not None:
            write(rejects, folder.take(REJECTS))
        squashed = run.finish(folder, integrity)
        output_for(out, names=squashed.files)
        folder.commit()
    return squashed


def fault_of(outcome: Outcome) -> StrictFault | None:
    """The first thing in it that `strict` does not bear."""
    for reject in outcome.rejects:
        where = f"{reject.file}:{reject.line}" if reject.line else reject.file
        return StrictFault(f"--strict: {where}: {reject.reason}")
    return None


class Run:
    """Told of one outcome after another, in the order of the inputs."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._format = _format(settings)
        self._ending = chat.ENDING if self._format is None else self._format.ending
        self._counts: Counter[str] = Counter()
        self._parts: dict[Group, str] = {}
        self._records: Counter[Group] = Counter()
        self._usage: dict[tuple[str, str], UsageTotals] = defaultdict(UsageTotals)
        self._filters = _filters(settings)
        self._compares = any(one.alike is not None for one in self._filters)
        """Duplicates are to be dropped."""
        self._outcomes = 0
        self._marks: list[Mark] = []
        self._sizes: Counter[Group] = Counter()
        self._own: Counter[str] = Counter()
        """Files of single records, by name."""
        self._places: dict[str, list[_Place]] = {}

    @property
    def example(self) -> str:
        """The name of a file of records, as this run may write it."""
        return f"{SINGLE}{self._ending}"

    def add(self, outcome: Outcome, folder: Folder, integrity: IntegrityReport) -> None:
        if self._settings.strict and (fault := fault_of(outcome)):
            raise fault
        self._counts.update(outcome.counts)
        if self._settings.keep_rejects:
            for reject in outcome.rejects:
                told = replace(reject, file=legible(reject.file))
                folder.append(REJECTS, msgspec.json.encode(told) + b"\n")
        for found in outcome.findings:
            integrity.add(found.finding, found.scenario, found.file)
        self._outcomes += 1
        self._marks += [replace(mark, id=self._unique(mark.id)) for mark in outcome.marks]
        for record in outcome.records:
            group = self._group(record)
            folder.append(self._parts.setdefault(group, f".{len(self._parts)}.part"), record.data)
            place = _Place(group, self._sizes[group], len(record.data), self._reported(record), record.usage)
            if self._compares:
                self._sizes[group] += len(record.data)
                self._places.setdefault(self._unique(record.id), []).append(place)
            else:
                self._count(place)

    def _count(self, place: _Place) -> None:
        self._records[place.group] += 1
        self._usage[place.reported].add(place.usage)

    def _unique(self, name: str) -> str:
        """Sessions of two files may bear one name."""
        return f"{self._outcomes:09}:{name}"

    def _without_repeats(self, folder: Folder) -> None:
        """Duplicates are known only now, when all records are."""
        from unspool.transforms.filters import repeated

        gone: dict[Group, list[_Place]] = defaultdict(list)
        for name, reason in repeated(self._filters, self._marks).items():
            for place in self._places.pop(name, ()):
                gone[place.group].append(place)
                self._counts[f"records filtered, {reason}"] += 1
        for group, places in gone.items():
            folder.cut(self._parts[group], [(place.offset, place.size) for place in places])
        for places in self._places.values():
            for place in places:
                self._count(place)
        for group in [group for group in self._parts if not self._records[group]]:
            (folder.staging / self._parts.pop(group)).unlink()

    def _reported(self, record: Written) -> tuple[str, str]:
        """Date and scenario, of which a report tells only what records are grouped by."""
        if self._settings.single_file:
            return "", ""
        return (record.day or UNDATED, "") if self._settings.group_by == "date" else ("", record.scenario)

    def _group(self, record: Written) -> Group:
        if record.file:  # a second one of that name is another record
            self._own[record.file] += 1
            return "", "", f"{record.file}\0{self._own[record.file] - 1}"
        return *self._reported(record), ""

    def finish(self, folder: Folder, integrity: IntegrityReport) -> Squashed:
        folder.flush()
        if self._compares:
            self._without_repeats(folder)
        names = self._names()
        for group, part in self._parts.items():
            final = folder.staging / names[group]
            if self._format is not None and self._format.into_file is not None:
                self._format.into_file(folder.staging / part, final, self._format.options)
                (folder.staging / part).unlink()
            else:
                (folder.staging / part).rename(final)
        files = {names[group]: self._records[group] for group in sorted(self._parts, key=names.__getitem__)}
        for name, content in (self._format.beside(files) if self._format else {}).items():
            folder.write(name, content)
        rows = [(*group, self._usage[group].row) for group in sorted(self._usage)]
        folder.write(TOOL_USAGE, tool_usage(rows or ([("", "", GroupUsage())] if self._settings.single_file else [])))
        counts = dict(sorted(self._counts.items()))
        squashed = Squashed(
            self._outcomes, sum(files.values()), counts, integrity.errors, integrity.warnings, files, integrity.infos
        )
        written = [*sorted(file.name for file in folder.staging.iterdir()), SUMMARY]
        folder.write(SUMMARY, summary(_told(squashed, self._settings, written)))
        return squashed

    def _names(self) -> dict[Group, str]:
        scenarios = file_names(scenario for _, scenario, _ in self._parts)
        names: dict[Group, str] = {}
        for group in self._parts:
            date, scenario, own = group
            if own:
                name, _, number = own.partition("\0")
                names[group] = name if number == "0" else f"{number}-{name}"
            else:
                stem = SINGLE if self._settings.single_file else date or scenarios[scenario]
                names[group] = f"{stem}{self._ending}"
        return names


def _format(settings: Settings) -> "Format | None":
    """None for `messages`, which needs no module."""
    if settings.to == "messages":
        return None
    from unspool.jobs.squash.writing import form_of

    return form_of(settings)


def _filters(settings: Settings) -> "list[Filter]":
    if not settings.filters:
        return []
    from unspool.transforms.filters import parse_filter

    return [parse_filter(text, settings.tokenizer) for text in settings.filters]


def _told(squashed: Squashed, settings: Settings, written: list[str]) -> dict[str, Any]:
    """Nothing of the moment or the machine: the same input gives the same bytes."""
    return {
        "inputs": squashed.inputs,
        "records": squashed.records,
        "counts": squashed.counts,
        "integrity": {"errors": squashed.errors, "warnings": squashed.warnings, "infos": squashed.infos},
        "records_by_file": squashed.files,
        "files": written,
        "settings": {name: getattr(settings, name) for name in settings.__struct_fields__ if name not in _PRIVATE},
    }
