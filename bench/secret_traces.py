"""Send drawn secrets through `unspool squash`: one session for each, with the secret in its carrier."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from secret_samples import Sample

_TOOL = {"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {}}}}


def redacted_by_squash(drawn: list[Sample]) -> list[str]:
    """Return what `unspool squash` makes of each sample's session."""
    with tempfile.TemporaryDirectory() as folder:
        logs, out = Path(folder, "logs"), Path(folder, "out")
        logs.mkdir()
        for number, sample in enumerate(drawn):
            lines = "".join(json.dumps(entry) + "\n" for entry in _entries(sample, number))
            (logs / f"task-{number:06}.jsonl").write_text(lines, encoding="utf-8")
        command = [sys.executable, "-m", "unspool", "squash", str(logs), "-o", str(out), "-q", "--jobs", "1"]
        subprocess.run(command, check=True)
        written = [path.read_text(encoding="utf-8") for path in sorted(out.rglob("*.jsonl"))]
    texts = [""] * len(drawn)
    for line in "".join(written).splitlines():
        text = "\n".join(_strings(json.loads(line)))
        if "sample number " in text:
            number = int(text.partition("sample number ")[2].split()[0])
            texts[number] += text
    missing = sum(not text for text in texts)
    if missing:
        raise SystemExit(f"unspool squash wrote no record for {missing} of {len(texts)} sessions")
    return texts


def _entries(sample: Sample, number: int) -> Iterator[dict[str, Any]]:
    """Yield the two calls of a session: one that asks for a tool, and one that answers with its result."""
    said = {sample.carrier: sample.text}
    call = {"id": "call_1", "type": "function"}
    arguments = json.dumps({"command": said.get("tool argument", "ls")})
    first = {
        "role": "assistant",
        "content": "I look.",
        "reasoning_content": said.get("thinking", "hm"),
        "tool_calls": [{**call, "function": {"name": "shell", "arguments": arguments}}],
    }
    history: list[dict[str, Any]] = [
        {"role": "user", "content": f"sample number {number} \n" + said.get("prompt", "go")},
    ]
    yield _entry(number, 0, history, first)
    result = {"role": "tool", "tool_call_id": "call_1", "content": said.get("tool result", "done")}
    yield _entry(number, 1, [*history, first, result], {"role": "assistant", "content": said.get("answer", "Done.")})


def _entry(number: int, second: int, history: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    return {
        "timestamp": f"2026-03-02T09:00:{second:02}+00:00",
        "session_id": f"00000000-0000-4000-8000-{number:012}",
        "request": {"model": "gpt-5", "messages": history, "tools": [_TOOL]},
        "response": {"id": f"chatcmpl-{second}", "choices": [{"index": 0, "message": reply, "finish_reason": "stop"}]},
    }


def _strings(value: Any) -> Iterator[str]:
    """Yield all strings of a JSON value, and those of arguments that are JSON themselves."""
    if isinstance(value, str):
        yield value
        if value.startswith("{"):
            try:
                yield from _strings(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)
