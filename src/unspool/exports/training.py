"""The formats of training records beside `messages`, by the name that `--to` takes.

Each is a module, imported when it is used, that ends in one value: `form = Format(…)`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from unspool.errors import UnknownFormat
from unspool.model.record import TrainingRecord

FORMATS = {
    "openai": "unspool.exports.openai",
    "hf": "unspool.exports.hf",
    "axolotl": "unspool.exports.axolotl",
    "sharegpt": "unspool.exports.sharegpt",
    "hermes": "unspool.exports.hermes",
    "swe-xml": "unspool.exports.swe_xml",
    "atif": "unspool.exports.atif",
    "sts": "unspool.exports.sts",
    "parquet": "unspool.exports.parquet",
}

Losses: TypeAlias = Counter[str]
"""What a format cannot hold, and how often: `image`, `thinking`, `document`, `training mark`, …"""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_encode = msgspec.json.Encoder().encode


class Options(Struct, frozen=True):
    """What can be asked of a format."""

    json_columns: Literal["json", "string"] = "json"
    """parquet: typed as JSON, or as text for readers that do not know that type (`datasets` before 4.8)."""
    completions: bool = False
    """hf: a row of prompt and completion for each message to train on. TRL's only way to leave the others out."""


class Encoded(Struct):
    """One record in a format."""

    record: TrainingRecord
    rows: list[dict[str, Any]]
    losses: Losses = msgspec.field(default_factory=Counter)
    refused: str | None = None
    """Why the format's readers would not take the record at all. It has no rows then."""

    @property
    def data(self) -> bytes:
        """The rows, a line each."""
        return b"".join([_encode(row) + b"\n" for row in self.rows])

    def file(self, ending: str) -> str:
        """The name of the record's own file."""
        return file_name(self.record, ending)


class Format(Struct, frozen=True):
    """How records are written. Rows are lines of JSON until `into_file`, so that parts of a file can just be joined."""

    ending: str
    """Of its files: `.jsonl`, `.json`, `.parquet`."""
    session: Callable[[Sequence[TrainingRecord], Options], Iterator[Encoded]]
    """The records of one session, in their order. One that stands inside another gives nothing of its own."""
    each: bool = False
    """Each record is a file of its own: `Encoded.file` names it."""
    into_file: Callable[[Path, Path, Options], None] | None = None
    """Makes the file that people get of rows, where it is more than lines."""
    more_files: Callable[[list[str]], dict[str, bytes]] = lambda _names: {}
    """What the format needs beside files of records with these names: name → content."""
    columns: Callable[[Options], dict[str, str]] | None = None
    """Name → type, for a README.md that tells `datasets`."""
    options: Options = Options()

    def encode(self, records: Sequence[TrainingRecord]) -> Iterator[Encoded]:
        return self.session(records, self.options)

    def beside(self, names: Iterable[str]) -> dict[str, bytes]:
        files = self.more_files(sorted(names))
        if self.columns is not None:
            files["README.md"] = _card(self.ending, self.columns(self.options))
        return files


def alone(
    encode: Callable[[TrainingRecord, Options], Encoded],
) -> Callable[[Sequence[TrainingRecord], Options], Iterator[Encoded]]:
    """For a format in which no record need know of the others of its session."""

    def session(records: Sequence[TrainingRecord], options: Options) -> Iterator[Encoded]:
        return (encode(record, options) for record in records)

    return session


def listed(*names: str) -> str:
    """The type of a column that is a list of objects with these texts in them."""
    return "list:" + "".join([f"\n    - name: {name}\n      dtype: string" for name in names])


def _card(ending: str, columns: dict[str, str]) -> bytes:
    """What `datasets` reads of a folder: which files are data, and the types of their columns.

    It would take reports for data, and the types of the first file, and fail on the first tool of another that takes
    other arguments.
    """
    features = "".join([f"  - name: {name}\n    {kind}\n" for name, kind in columns.items()])
    files = f'configs:\n- config_name: default\n  data_files: "*{ending}"\n'
    return f"---\n{files}dataset_info:\n  features:\n{features}---\n".encode()


def format_for(name: str, options: Options | None = None) -> Format:
    if name not in FORMATS:
        raise UnknownFormat(f"{name!r} is no format of training records: there are {', '.join(FORMATS)}")
    form: Format = import_module(FORMATS[name]).form
    return form if options is None else msgspec.structs.replace(form, options=options)


def file_name(record: TrainingRecord, ending: str) -> str:
    name = _UNSAFE.sub("_", record.id or record.session).lstrip(".")
    return (name or "record")[:120] + ending
