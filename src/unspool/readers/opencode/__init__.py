"""OpenCode, and the programs that keep their sessions as it does (Kilo, MiMoCode).

~/.local/share/opencode/opencode.db        its database; `opencode-<channel>.db` for other than releases
~/.local/share/opencode/storage/session/…  its files, before there was a database
~/.local/share/opencode/project/…          its files in the first versions
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from unspool.dialect import Place, Reader
from unspool.readers.folders import data_folder
from unspool.readers.opencode import database as _database
from unspool.readers.opencode import export as _export
from unspool.readers.opencode import stream as _stream
from unspool.readers.opencode import tree as _tree
from unspool.readers.opencode.conversation import AGENT, TITLE

_KIN = ("opencode", "kilo", "mimocode")


def _folders(environment: Mapping[str, str], home: Path) -> list[Path]:
    """The same on all systems."""
    folders = [data_folder(environment, home) / name for name in _KIN]
    if moved := environment.get("MIMOCODE_HOME"):
        folders[-1] = Path(moved) / "data"
    return folders


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    folders = _folders(environment, home)
    for folder, name in zip(folders, _KIN, strict=True):
        named = environment.get(f"{name.upper()}_DB", "")
        if named and named != ":memory:":
            file = folder / named  # an absolute name stays as it is
            yield Place(file.parent, (file.name,))
    for folder in folders:
        yield Place(folder, ("opencode*.db", "kilo*.db", "mimocode*.db"))


def _tree_places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for folder in _folders(environment, home):
        yield Place(folder, ("storage/session/*/*.json", "project/*/storage/session/info/*.json"))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title=TITLE,
    claims=_database.claims,
    decoder=_database.Database,
    places=_places,
    rows=_database.read,
    unfold=_database.unfold,
    payload=_database.payload,
)
tree = Reader(
    name="opencode_tree",
    agent=AGENT,
    title=TITLE,
    claims=_tree.claims,
    decoder=_tree.Tree,
    places=_tree_places,
    document=True,
    beside=_tree.beside,
    kin=_tree.kin,
    payload=_tree.payload,
)
export = Reader(
    name="opencode_export",
    agent=AGENT,
    title=TITLE,
    claims=_export.claims,
    decoder=_export.Export,
    document=True,
    unfold=_export.unfold,
    payload=_export.payload,
)
stream = Reader(
    name="opencode_stream",
    agent=AGENT,
    title=TITLE,
    claims=_stream.claims,
    decoder=_stream.Stream,
    pieced=True,
)
