"""What a run of squash is asked for, and what one file of it gave. All of it can be sent to another process."""

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from unspool.errors import InputNotFound
from unspool.transforms.duplicates import Mark
from unspool.transforms.findings import Finding, error
from unspool.transforms.scenarios import scenario_of
from unspool.transforms.usage import ToolUsage

if TYPE_CHECKING:
    from unspool.ingest.conversations import Unit

Grouping: TypeAlias = Literal["date", "scenario"]
Strategy: TypeAlias = Literal["snapshot", "tree"]


class Settings(Struct, frozen=True):
    strategy: Strategy = "snapshot"
    to: str = "messages"
    single_file: bool = False
    group_by: Grouping = "date"
    inline: bool = False
    """Calls and results as tags in the text."""
    clean_up: str | None = None
    """The agent whose noise is taken out: `goose`."""
    anonymize: bool = False
    redact: bool = True
    tools_from: Literal["all", "last"] = "all"
    pairs: bool = False
    """Two answers to one prompt each, in place of conversations."""
    filters: tuple[str, ...] = ()
    """What a record must be like: see `transforms.filters`."""
    tokenizer: str | None = None
    """A tokenizer's file, to count tokens with."""
    strict: bool = False
    keep_rejects: bool = False
    """Lines that were no entries are wanted whole."""
    json_columns: Literal["json", "string"] = "json"
    """Of `parquet`."""
    completions: bool = False
    """Of `hf`: a row for each message to train on."""
    key: bytes = b""
    """Of placeholders: the same key gives the same ones."""


def with_key(settings: Settings) -> Settings:
    """One key for all processes, fetched once; none where nothing needs it."""
    if settings.key or not (settings.redact or settings.anonymize):
        return settings
    from unspool.sources.keys import key

    return replace(settings, key=key())


class Task(Struct, frozen=True):
    """One file to squash."""

    path: str
    root: str | None = None
    """The folder that was given, and that the file was found in."""
    unit: "Unit | None" = None
    """What is no session file: how it is to be read."""


class Written(Struct):
    """One record, encoded."""

    data: bytes
    day: str | None
    scenario: str
    usage: ToolUsage
    file: str = ""
    """Of its own, where the format wants one for each record."""
    id: str = ""
    """Of the record."""


class Reject(Struct, omit_defaults=True):
    """What gave no record: a line, or a whole session."""

    kind: Literal["line", "session"]
    file: str
    reason: str
    line: int = 0
    rule: str = ""
    text: str = ""
    """The line itself."""


class Found(Struct):
    """A finding, and whose it is."""

    finding: Finding
    scenario: str
    file: str


class Outcome(Struct):
    """What one file gave."""

    task: Task
    records: list[Written] = []
    findings: list[Found] = []
    rejects: list[Reject] = []
    counts: dict[str, int] = {}
    """What was kept and what was dropped, by reason."""
    marks: list[Mark] = []
    """Of the records, where duplicates are to be dropped: they are found when all are known."""

    def count(self, what: str, number: int = 1) -> None:
        if number:
            self.counts[what] = self.counts.get(what, 0) + number

    def find(self, finding: Finding) -> None:
        """Of the file itself; what is found of a record is put down with where that came from."""
        self.findings.append(Found(finding, scenario_of(self.task.path), self.task.path))

    def invalid(self, kind: str, reason: str) -> None:
        """It gave no record."""
        self.count(f"sessions invalid: {kind}")
        self.rejects.append(Reject("session", self.task.path, reason, rule=kind))
        self.find(error(kind, f"no record: {reason}"))

    def unreadable(self, fault: OSError | InputNotFound) -> None:
        """It may be gone by now."""
        told = fault.strerror if isinstance(fault, OSError) else None
        self.invalid("unreadable", told or str(fault))
