"""The formats of training records beside `messages`, by the name that `--to` takes: a module each, imported when used.

A format's module has

    ENDING                              of its files: `.jsonl`, `.json`, `.parquet`
    encode(record, options) → Encoded   a record as rows of plain JSON values, and what the format cannot hold of it
    encode_session(records, options)    instead of `encode`, where the records of a session belong into one another
    EACH = True                         where each record is a file of its own: `Encoded.file` names it
    finish(part, final, options)        where the file is more than lines: turns rows, a line each, into the file itself
    beside(names)                       files that the format needs beside those of records: name → content
    columns(options)                    name → type, for a README.md that tells `datasets`

The last five may be missing. Rows are lines of JSON until `finish`: so parts of a file can be joined by joining bytes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType
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
    name: str
    module: ModuleType
    options: Options = Options()

    @property
    def ending(self) -> str:
        return str(self.module.ENDING)

    @property
    def each(self) -> bool:
        return bool(getattr(self.module, "EACH", False))

    def encode(self, records: Sequence[TrainingRecord]) -> Iterator[Encoded]:
        """The records of one session, in their order. A record that stands inside another gives nothing of its own."""
        whole = getattr(self.module, "encode_session", None)
        if whole is not None:
            yield from whole(records, self.options)
            return
        for record in records:
            yield self.module.encode(record, self.options)

    @property
    def finishes(self) -> bool:
        """Whether rows still have to become the file that people get."""
        return hasattr(self.module, "finish")

    def finish(self, part: Path, final: Path) -> None:
        self.module.finish(part, final, self.options)

    def beside(self, names: Iterable[str]) -> dict[str, bytes]:
        files: dict[str, bytes] = self.module.beside(sorted(names)) if hasattr(self.module, "beside") else {}
        if hasattr(self.module, "columns"):
            files["README.md"] = _card(self.ending, self.module.columns(self.options))
        return files


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
    return Format(name, import_module(FORMATS[name]), options or Options())


def file_name(record: TrainingRecord, ending: str) -> str:
    name = _UNSAFE.sub("_", record.id or record.session).lstrip(".")
    return (name or "record")[:120] + ending
