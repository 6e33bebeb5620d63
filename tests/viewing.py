"""Invented calls of an agent for the viewer's tests: `Agent().asks("Mend it").calls("t1", "Bash", command="make")`."""

import json
from pathlib import Path
from typing import Any, Self

from logs import Claude

TOOLS = [
    {"name": name, "description": f"{name} something.", "input_schema": {"type": "object", "properties": {}}}
    for name in ("Read", "Edit", "Bash", "Agent")
]
SYSTEM = "You are Claude Code.\nWork in the user's repository."


class Agent:
    """A conversation that grows; each answer is a recorded call of Anthropic's API, a second after the one before."""

    def __init__(self, model: str = "claude-sonnet-4-5", start: int = 1_772_460_000) -> None:
        self.model = model
        self.time = start
        self.messages: list[dict[str, Any]] = []
        self.records: list[dict[str, Any]] = []
        self.tools: list[dict[str, Any]] = TOOLS
        self.system = SYSTEM
        self.cached = 0
        self.size = 4000

    def asks(self, text: str) -> Self:
        self.messages.append({"role": "user", "content": [{"type": "text", "text": text}]})
        return self

    def result(self, call: str, text: Any, is_error: bool = False) -> Self:
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": is_error}
        self.messages.append({"role": "user", "content": [block]})
        return self

    def calls(self, call: str, name: str, **arguments: Any) -> Self:
        return self._answer([{"type": "tool_use", "id": call, "name": name, "input": arguments}], "tool_use")

    def says(self, text: str, thinking: str = "") -> Self:
        blocks: list[dict[str, Any]] = (
            [{"type": "thinking", "thinking": thinking, "signature": "x"}] if thinking else []
        )
        return self._answer([*blocks, {"type": "text", "text": text}], "end_turn")

    def _answer(self, blocks: list[dict[str, Any]], stop: str, **more: Any) -> Self:
        hit = more.pop("hit", self.cached)
        self.size += 500
        usage = {
            "input_tokens": 10,
            "cache_read_input_tokens": hit,
            "cache_creation_input_tokens": self.size - hit,
            "output_tokens": 50,
        }
        self.cached = self.size
        self.record({"id": f"msg_{len(self.records)}", "role": "assistant", "content": blocks, "usage": usage}, stop)
        self.messages.append({"role": "assistant", "content": blocks})
        return self

    def misses(self, text: str, hit: int = 0) -> Self:
        """An answer to a prompt of which only so much was in the cache."""
        return self._answer([{"type": "text", "text": text}], "end_turn", hit=hit)

    def fails(self, message: str = "Overloaded", status: int = 529) -> Self:
        error = {"type": "error", "error": {"type": "overloaded_error", "message": message}}
        return self.record(None, "", error=error, status=status)

    def record(self, body: dict[str, Any] | None, stop: str, **more: Any) -> Self:
        self.time += 1
        messages = json.loads(json.dumps(self.messages))
        messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
        if body is not None:
            body = {"type": "message", "model": self.model, "stop_reason": stop, **body}
        self.records.append(
            {
                "id": f"c{len(self.records)}",
                "timestamp": self.time,
                "duration_ms": 1500,
                "path": "/v1/messages",
                "request": {
                    "model": self.model,
                    "max_tokens": 1000,
                    "system": [{"type": "text", "text": self.system}],
                    "tools": self.tools,
                    "messages": messages,
                },
                "response": body,
                **more,
            }
        )
        return self

    def save(self, path: Path) -> Path:
        path.write_text("".join(json.dumps(record) + "\n" for record in self.records))
        return path


def a_day() -> Agent:
    """A conversation with all that the viewer tells apart: a retry, a failed tool, an edit, a sub-agent's call."""
    agent = (
        Agent().asks("Make the tests pass").calls("t1", "Read", file_path="src/a.py").result("t1", "def f():\n    pass")
    )
    agent.calls("t2", "Bash", command="pytest -q").result("t2", "\x1b[31m1 failed\x1b[0m", is_error=True)
    agent.fails().calls("t3", "Edit", file_path="src/a.py", old_string="pass", new_string="return 1")
    agent.result("t3", "done").says("Two **changes**: `f` returns 1.", thinking="It should return something.")
    return agent


def a_miss() -> Agent:
    """The same day, and at its end a changed tool that cost the cache."""
    agent = a_day()
    agent.tools = [{**TOOLS[0], "description": "Read a file."}, *TOOLS[1:]]
    return agent.asks("Now the docs").misses("They are written.")


def a_session() -> Claude:
    """Two prompts, a command, an edit."""
    log = Claude().user("Mend the bridge").calls("t1", "Bash", command="make").result("t1", "ok\nall good")
    log.calls("t2", "Edit", file_path="a.py", old_string="x = 1", new_string="x = 2").result("t2", "done")
    return log.says("It holds **now**.").user("And paint it").says("Red it is.")
