"""Cline and Roo Code (and Kilo and Zoo Code, which came of it): a folder a task; what the API got is one file of it."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from unspool.dialect import Decoder, Head, Place, Reader
from unspool.readers.cline.task import COMPACTION, METADATA, Task
from unspool.readers.cline.whose import HISTORIES, ITEM, SCREEN, Writer, writer_of
from unspool.readers.documents import element_of
from unspool.readers.folders import data_folder, settings_folders

_EDITORS = (
    *("Code", "Code - Insiders", "Code - OSS", "VSCodium", "Cursor", "Windsurf", "Windsurf - Next"),
    *("Antigravity", "Kiro", "Positron", "Trae"),
)
_SERVERS = (
    *(".vscode-server", ".vscode-server-insiders", ".vscodium-server", ".cursor-server", ".windsurf-server"),
    *(".antigravity-server", ".trae-server"),
)
_CLINES = ("saoudrizwan.claude-dev", "saoudrizwan.cline-nightly")
_ROOS = (
    *("rooveterinaryinc.roo-cline", "rooveterinaryinc.roo-code-nightly"),
    *("zoocodeorganization.zoo-code", "kilocode.kilo-code"),
)
_FILES = tuple(f"tasks/*/{name}" for name in (*HISTORIES, SCREEN))


def _storages(environment: Mapping[str, str], home: Path) -> Iterator[Path]:
    """Where editors of VS Code's kind keep what their extensions store."""
    for editor in _EDITORS:
        for folder in settings_folders(environment, home):
            yield folder / editor / "User" / "globalStorage"
    for server in _SERVERS:
        yield home / server / "data" / "User" / "globalStorage"
    yield data_folder(environment, home) / "code-server" / "User" / "globalStorage"


def _clines(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for storage in _storages(environment, home):
        for extension in _CLINES:
            yield Place(storage / extension, _FILES)
    own = Path(environment.get("CLINE_DIR") or home / ".cline")
    data = Path(environment.get("CLINE_DATA_DIR") or own / "data")
    yield Place(data, (*_FILES, "sessions/*/*.messages.json"))
    if sessions := environment.get("CLINE_SESSION_DATA_DIR"):
        yield Place(Path(sessions), ("*/*.messages.json",))


def _roos(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for storage in _storages(environment, home):
        for extension in _ROOS:
            yield Place(storage / extension, _FILES)
    yield Place(home / ".vscode-mock" / "global-storage", _FILES)  # of Roo's command
    yield Place(home / ".kilocode" / "cli" / "global", _FILES)  # of Kilo's, before it was OpenCode's kin


def _beside(path: str) -> Iterator[str]:
    file = Path(path)
    own = file.name.partition(".")[0]
    for name in (*HISTORIES, SCREEN, ITEM, METADATA, f"{own}.json", f"{own}{COMPACTION}"):
        if name != file.name:
            yield str(file.with_name(name))


def _written_by(writer: Writer) -> Callable[[Head], bool]:
    return lambda head: writer_of(head) == writer


def _reader(writer: Writer, title: str, places: Callable[[Mapping[str, str], Path], Iterator[Place]]) -> Reader:
    decoder: Callable[[str], Decoder] = partial(Task, writer)
    return Reader(
        name=writer,
        agent=writer,
        title=title,
        claims=_written_by(writer),
        decoder=decoder,
        places=places,
        document=True,
        payload=element_of("messages"),
        beside=_beside,
    )


reader = _reader("cline", "Cline", _clines)
roo = _reader("roo", "Roo Code", _roos)
