"""Invented session files, short to write: `log.ask([system(), user("Mend it")], says("Mended"))` is an entry."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from unspool.ingest.conversations import Conversation, read_unit, units
from unspool.jobs.tree import records
from unspool.model import Note
from unspool.model.record import TrainingRecord

Said = dict[str, Any]
LONG = "The login page checks the password twice, and the second check always fails because of a stale token."
SYSTEM = "You are a careful engineer.\nAnswer briefly.\nUse the tools."


def system(text: str = SYSTEM) -> Said:
    return {"role": "system", "content": text}


def user(text: str) -> Said:
    return {"role": "user", "content": text}


def says(text: str, **more: Any) -> Said:
    return {"role": "assistant", "content": text, **more}


def calls(name: str = "bash", ids: tuple[str, ...] = ("c1",), text: str | None = None, **arguments: Any) -> Said:
    made = [
        {"id": each, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}} for each in ids
    ]
    return {"role": "assistant", "content": text, "tool_calls": made}


def result(text: str, call: str = "c1") -> Said:
    return {"role": "tool", "tool_call_id": call, "content": text}


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object"}}}


def conversations(paths: Sequence[str], agent: str | None = None) -> Iterator[Conversation | Note]:
    for unit in units(paths, agent):
        yield from read_unit(unit)


def trained(record: TrainingRecord) -> list[int]:
    return [at for at, turn in enumerate(record.turns) if turn.train]


class Log:
    """Entries of one session, a second apart."""

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def ask(self, messages: list[Said], *answers: Said, tools: tuple[str, ...] = (), tokens: int = 10) -> list[Said]:
        """Returns the history with the first answer in it."""
        number = len(self.entries)
        request: dict[str, Any] = {"model": "gpt-5", "messages": list(messages)}
        if tools:
            request["tools"] = [tool(name) for name in tools]
        choices = [{"index": at, "message": said, "finish_reason": "stop"} for at, said in enumerate(answers)]
        self.entries.append(
            {
                "timestamp": f"2026-03-02T10:{number // 60:02}:{number % 60:02}Z",
                "session_id": "s1",
                "request": request,
                "response": {"id": f"r{number}", "choices": choices, "usage": {"completion_tokens": tokens}},
            }
        )
        return [*messages, *answers[:1]]

    def conversation(self, folder: Path) -> Conversation:
        path = folder / "shop-run.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in self.entries))
        (found,) = [item for item in conversations([str(path)]) if isinstance(item, Conversation)]
        return found

    def records(self, folder: Path) -> list[TrainingRecord]:
        return records(self.conversation(folder))
