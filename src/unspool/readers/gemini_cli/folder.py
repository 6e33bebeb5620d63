"""Where Gemini CLI keeps its logs, and which project they are of.

~/.gemini/projects.json                                  {"projects": {"/home/me/work": "work"}}
~/.gemini/tmp/<project>/.project_root                    the project's folder
~/.gemini/tmp/<project>/chats/session-….jsonl            a session; before that generation .json
~/.gemini/tmp/<project>/chats/<session>/<id>.jsonl       a sub-agent of it
~/.gemini/tmp/<project>/{logs,checkpoint-<tag>}.json     what was typed; conversations that were saved by name
~/.gemini/tmp/<project>/tool-outputs/                    outputs too long for the model

<project> is a short name, and in older versions the SHA-256 of the project's folder. GEMINI_CLI_HOME stands for the
home folder. In the sandbox of macOS everything lies in ~/.cache/.gemini.
"""

import glob
import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from unspool.dialect import Place
from unspool.readers.documents import read_json
from unspool.sources.storage import noticed
from unspool.sources.values import mapping

FULL_OUTPUT = "For full output see: "
"""What stands before the name of a file with all of an output that was cut."""
_OUTPUTS = "tool-outputs"


def places(environment: Mapping[str, str], home: Path, *patterns: str) -> Iterator[Place]:
    home = Path(environment.get("GEMINI_CLI_HOME") or home)
    for root in (home / ".gemini", home / ".cache" / ".gemini"):
        yield Place(root / "tmp", patterns)


def folder_of(path: str) -> Path | None:
    """The folder `.gemini/tmp/<project>` that the log lies in; any other `tmp` is not the agent's."""
    parts = path.replace(os.sep, "/").split("/")
    for at in range(len(parts) - 2, 1, -1):
        if parts[at - 1] == "tmp" and parts[at - 2] in (".gemini", ".qwen"):
            return Path("/".join(parts[: at + 1]))
    return None


def parent_of(path: str) -> str | None:
    """The session whose sub-agent the log is of, if it lies in a session's folder."""
    folder = Path(path).parent
    return folder.name if folder.parent.name == "chats" else None


def kin(path: str) -> Iterator[str]:
    """Its sub-agents. The name of a session's file ends in the beginning of the id that its folder bears whole."""
    file = Path(path)
    begin = file.stem.rpartition("-")[2]
    if file.parent.name == "chats" and begin:
        yield from map(str, sorted(file.parent.glob(f"{glob.escape(begin)}*/*.jsonl")))


def project_of(path: str, digest: str | None = None) -> str | None:
    """The project's folder; `digest` is its SHA-256, where the log has it."""
    folder = folder_of(path)
    if folder is None:
        return None
    root = folder.parent.parent
    for marked in (folder, root / "history" / folder.name):
        try:
            return noticed(marked / ".project_root").read_text(encoding="utf-8").strip() or None
        except (OSError, ValueError):
            continue
    projects = mapping(mapping(read_json(root / "projects.json")).get("projects"))
    names = {folder.name, digest}
    return next(
        (project for project, name in projects.items() if name == folder.name or _digest(project) in names), None
    )


def _digest(project: str) -> str:
    return hashlib.sha256(project.encode("utf-8", "surrogatepass")).hexdigest()


def refers(path: str) -> bytes:
    folder = folder_of(path)
    return FULL_OUTPUT.encode() if folder is not None and (folder / _OUTPUTS).is_dir() else b""


def full_output(output: str, folder: Path | None) -> str | None:
    """All of an output that was cut, from the file that it names; looked for beside the log, wherever that is now."""
    _, found, named = output.rpartition(FULL_OUTPUT)
    name = named.partition("\n")[0].strip().rstrip("]").replace("\\", "/").rpartition("/")[2]
    if not found or not name or folder is None:
        return None
    try:
        for file in (folder / _OUTPUTS).rglob("*"):
            if file.name == name and file.is_file():
                return noticed(file).read_text(encoding="utf-8", errors="replace")
    except OSError:  # it is not ours to read
        return None
    return None
