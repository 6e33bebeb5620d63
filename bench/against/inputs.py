"""What both revisions read: the samples, the fixtures of the tests, and the corpus and clients' logs where present."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_SHARED = ROOT.parent / "shared"
_CORPUS = Path(os.environ.get("UNSPOOL_CORPUS", _SHARED / "corpus"))
_CLIENTS = Path(os.environ.get("UNSPOOL_CLIENTS", _SHARED / "clients" / "logs"))


@dataclass(frozen=True)
class Input:
    """A file or folder to run every command on."""

    name: str
    path: Path
    stamp: str
    size: int


def default_inputs(databases: Path) -> list[Input]:
    """Return every input that this machine has. Fixtures in SQL are made databases below `databases`."""
    return [
        *_below("samples/logs", ROOT / "samples" / "logs"),
        *_below("samples/streams", ROOT / "samples" / "streams"),
        *_below("samples/traces", ROOT / "samples" / "traces"),
        *(item for wire in _folders(ROOT / "tests" / "wires") for item in _below(f"wires/{wire.name}", wire)),
        *(
            item
            for reader in _folders(ROOT / "tests" / "readers")
            for item in _below(f"readers/{reader.name}", reader, databases)
        ),
        *(item for family in _folders(_CORPUS) for item in _below(f"corpus/{family.name}", family)),
        *(item for client in _folders(_CLIENTS) for item in _below(f"clients/{client.name}", client)),
    ]


def input_at(path: Path, name: str = "", databases: Path | None = None) -> Input:
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    stats = [(str(file.relative_to(path)), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    stamp = hashlib.sha256(repr(stats).encode()).hexdigest()[:16]
    name = name or path.name
    if databases and any(file.suffix == ".sql" for file in files):
        path = _with_databases(path, databases / name)
    return Input(name, path, stamp, sum(size for _, size, _ in stats))


def _folders(path: Path) -> list[Path]:
    return sorted(folder for folder in path.iterdir() if folder.is_dir()) if path.is_dir() else []


def _below(name: str, folder: Path, databases: Path | None = None) -> Iterator[Input]:
    for path in sorted(folder.iterdir()):
        if not path.name.endswith(".golden.json"):
            yield input_at(path, f"{name}/{path.name}", databases)


def _with_databases(path: Path, folder: Path) -> Path:
    """Copy a case to the folder, with each SQL script made the database that it describes."""
    shutil.rmtree(folder, ignore_errors=True)
    if path.is_dir():
        shutil.copytree(path, folder)
    else:
        folder.mkdir(parents=True)
        shutil.copy(path, folder)
    for script in sorted(folder.rglob("*.sql")):
        with closing(sqlite3.connect(script.with_suffix(".db"))) as database:
            database.executescript(script.read_text(encoding="utf-8"))
        script.unlink()
    return folder
