"""Gemini CLI: its recordings, the documents that it wrote before them, and its live stream."""

import re

from unspool.dialect import Reader
from unspool.readers.gemini_cli import documents, live, recording, shapes
from unspool.readers.gemini_cli.folder import kin, places, refers
from unspool.readers.gemini_cli.recording import AGENT

_TITLE = "Gemini CLI"

reader = Reader(
    name=AGENT,
    agent=AGENT,
    title=_TITLE,
    claims=recording.claims,
    decoder=recording.Recording,
    decode=shapes.decode_lines,
    places=lambda environment, home: places(environment, home, "*/chats/**/*.jsonl"),
    mark=re.compile(rb'\{"sessionId":"[^"\n]*","projectHash":"[^"\n]*"[^\n\[{]*\}\r?\n'),
    unfold=recording.unfold,
    payload=recording.payload,
    refers=refers,
    kin=kin,
)
document = Reader(
    name="gemini_cli_json",
    agent=AGENT,
    title=_TITLE,
    claims=documents.claims,
    decoder=documents.Document,
    places=lambda environment, home: places(
        environment, home, "*/chats/**/*.json", "*/logs.json", "*/checkpoint-*.json"
    ),
    document=True,
    decode=shapes.decode_document,
    mark=re.compile(rb'\{\n  "sessionId": "[^"\n]*",\n  "projectHash": '),
    refers=refers,
    payload=documents.payload,
    beside=documents.continued,
)
stream = Reader(
    name="gemini_stream",
    agent=AGENT,
    title=_TITLE,
    claims=live.claims,
    decoder=live.Stream,
    pieced=True,
)
