"""Invented session files for document 003, and the command on a folder of them."""

import json
from pathlib import Path
from typing import Any

from conftest import Run

Message = dict[str, Any]


def entry(second: int, messages: list[Message], answer: Any = "Yes.", **more: Any) -> dict[str, Any]:
    """Return an entry of a session; `answer` is the text or the message of the assistant."""
    message = {"role": "assistant", "content": answer} if isinstance(answer, str) else answer
    request = {"model": "tin-1", "messages": messages, **more.pop("request", {})}
    fields = {"timestamp": f"2026-05-04T08:00:{second:02}Z", "session_id": "mill-1", "request": request}
    return {**fields, "response": {"id": "r", "choices": [{"index": 0, "message": message}]}, **more}


def turns(count: int, first: str = "Turn") -> list[Message]:
    return [{"role": ("user", "assistant")[place % 2], "content": f"{first} {place}"} for place in range(count)]


def tool(name: str, description: str = "d") -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, "required": []}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def save(path: Path, *entries: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in entries]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


class Squash:
    """The command on a folder of logs."""

    def __init__(self, unspool: Run, folder: Path) -> None:
        self._unspool, self.logs, self.out = unspool, folder / "logs", folder / "out"

    def log(self, *entries: Any, name: str = "2026-05-04/mill.jsonl") -> "Squash":
        save(self.logs / name, *entries)
        return self

    def run(self, *options: str, status: int = 0) -> dict[str, list[dict[str, Any]]]:
        """Return the records of each file."""
        done = self._unspool("squash", self.logs, "-o", self.out, "-q", *options)
        assert done.returncode == status, done.stderr.decode()
        return {
            path.name: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            for path in sorted(self.out.glob("*.jsonl"))
        }

    def record(self, *options: str) -> dict[str, Any]:
        ((record,),) = self.run(*options).values()
        return record

    def report(self) -> str:
        return (self.out / "integrity-report.txt").read_text(encoding="utf-8")
