"""Cursor: its agents' transcripts, as JSON lines and as the text that they once were, and the stream of its command.

Its databases are not read: `state.vscdb` keeps chats and keys to its user's account side by side.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from unspool.dialect import Place, Reader
from unspool.readers.cursor import live, plain, transcript
from unspool.readers.cursor.transcript import AGENT

_PROJECT = "projects/*/agent-transcripts"


def _places(suffix: str, environment: Mapping[str, str], home: Path) -> Iterator[Place]:
    folder = Path(environment.get("CURSOR_CONFIG_DIR") or home / ".cursor")
    names = (f"*.{suffix}", f"*/*.{suffix}", f"*/subagents/*.{suffix}")
    yield Place(folder, tuple(f"{_PROJECT}/{name}" for name in names))


reader = Reader(
    name=AGENT,
    agent=AGENT,
    title="Cursor",
    claims=transcript.claims,
    decoder=transcript.Transcript,
    places=lambda environment, home: _places("jsonl", environment, home),
)
text = Reader(
    name="cursor_text",
    agent=AGENT,
    title="Cursor (text)",
    claims=plain.claims,
    decoder=plain.PlainTranscript,
    places=lambda environment, home: _places("txt", environment, home),
)
stream = Reader(
    name="cursor_stream",
    agent=AGENT,
    title="Cursor (stream)",
    claims=live.claims,
    decoder=live.Stream,
)
