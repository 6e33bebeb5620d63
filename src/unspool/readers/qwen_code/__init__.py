"""Qwen Code: its transcripts, the documents that it wrote before them, and its live stream.

~/.qwen/projects/<folder>/chats/<session>.jsonl                        a session; put away, in chats/archive
~/.qwen/projects/<folder>/subagents/<session>/agent-<id>.jsonl         a sub-agent; agent-<id>.meta.json says whose
~/.qwen/tmp/<sha256 of the folder>/chats/session-….json                older: as Gemini CLI wrote them

QWEN_RUNTIME_DIR and QWEN_HOME stand for ~/.qwen.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from unspool.dialect import Head, Place, Reader
from unspool.readers.gemini_cli import documents
from unspool.readers.qwen_code import live, transcript
from unspool.readers.qwen_code.transcript import AGENT

_TITLE = "Qwen Code"


def _roots(environment: Mapping[str, str], home: Path) -> list[Path]:
    given = [
        Path(environment[name]).expanduser() for name in ("QWEN_RUNTIME_DIR", "QWEN_HOME") if environment.get(name)
    ]
    return given or [home / ".qwen"]


def _places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for root in _roots(environment, home):
        yield Place(root / "projects", ("*/chats/**/*.jsonl", "*/subagents/**/*.jsonl"))
        yield Place(root / "tmp", ("*/chats/**/*.jsonl",))


def _older_places(environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    for root in _roots(environment, home):
        yield Place(root / "tmp", ("*/chats/**/*.json", "*/logs.json", "*/checkpoint-*.json"))


def _kin(path: str) -> Iterator[str]:
    """Its sub-agents, in the folder of its name."""
    log = Path(path)
    folder = next((above for above in log.parents if above.name == "chats"), None)
    if folder is not None:
        yield from map(str, sorted((folder.parent / "subagents" / log.stem).glob("*.jsonl")))


def _claims_older(head: Head) -> bool:
    return documents.is_document(head.document) and documents.is_qwen(head)


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title=_TITLE,
    claims=transcript.claims,
    decoder=transcript.Transcript,
    places=_places,
    beside=transcript.beside,
    kin=_kin,
)
document = Reader(
    name="qwen_code_json",
    agent=AGENT,
    title=_TITLE,
    claims=_claims_older,
    decoder=partial(documents.Document, agent=AGENT),
    places=_older_places,
    document=True,
    payload=documents.payload,
    beside=documents.continued,
)
stream = Reader(name="qwen_stream", agent=AGENT, title=_TITLE, claims=live.claims, decoder=live.Stream, pieced=True)
