"""Invented live streams, short to write: `Live().starts().calls("t1", "Bash", command="ls").result("t1", "a").ends()`.

Claude Code's form. Records have no times unless `at` was called; then each has the time that was said last.
"""

import json
from typing import Any, Self

SESSION = "session_abc123"


class Live:
    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []
        self._clock: dict[str, str] = {}
        self._parent: str | None = None

    def add(self, **record: Any) -> Self:
        self.records.append({**record, "session_id": SESSION, **self._clock})
        return self

    def at(self, seconds: float) -> Self:
        """Seconds of a minute in March; from here on records have times."""
        minutes, rest = divmod(seconds, 60)
        self._clock = {"timestamp": f"2026-03-01T10:{minutes:02.0f}:{rest:06.3f}Z"}
        return self

    def inside(self, call: str | None) -> Self:
        """What comes next is of the sub-agent of that call; None for the agent itself."""
        self._parent = call
        return self

    def starts(self, **more: Any) -> Self:
        return self.add(type="system", subtype="init", tools=["Bash", "Read"], mcp_servers=[], **more)

    def _message(self, role: str, blocks: Any) -> Self:
        named = {"id": f"m{len(self.records)}", "model": "claude-test"} if role == "assistant" else {}
        message = {"role": role, **named, "content": blocks}
        return self.add(type=role, message=message, parent_tool_use_id=self._parent)

    def user(self, text: str) -> Self:
        return self._message("user", [{"type": "text", "text": text}])

    def says(self, text: str) -> Self:
        return self._message("assistant", [{"type": "text", "text": text}])

    def thinks(self, text: str) -> Self:
        return self._message("assistant", [{"type": "thinking", "thinking": text}])

    def calls(self, call: str, name: str, **given: Any) -> Self:
        return self._message("assistant", [{"type": "tool_use", "id": call, "name": name, "input": given}])

    def result(self, call: str, output: Any, failed: bool = False) -> Self:
        block = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": failed}
        return self._message("user", [block])

    def ends(self, **more: Any) -> Self:
        told = {"subtype": "success", "is_error": False, "result": "Task completed successfully", "num_turns": 5}
        times = {"duration_ms": 15000, "duration_api_ms": 5000}
        return self.add(type="result", **{**told, **times, "total_cost_usd": 0.0234, **more})

    def fails(self, subtype: str, **more: Any) -> Self:
        return self.ends(**{"subtype": subtype, "is_error": True, "result": None, **more})

    @property
    def lines(self) -> list[str]:
        return [json.dumps(record, ensure_ascii=False) for record in self.records]

    @property
    def data(self) -> bytes:
        return "".join(f"{line}\n" for line in self.lines).encode()


def everything() -> Live:
    """One of each: all that a screen may have to show."""
    live = (
        Live().starts(cwd="/home/ada/shop", model="claude-test").user("Mend the tests, 请. Café crème, e\u0301t\u00e9")
    )
    live.thinks("First I look.\nThen I mend.")
    live.says(
        "# Plan\nThree **steps** 🚀, one `by` one:\n\n"
        "1. 看看测试文件 and read them until the line has no more room for words\n"
        "   - ⚠️ careful 👨‍👩‍👧 with 🇪🇺 flags\n2. done\n\n"
        "```python\ntotal = sum(prices)  # 合計\n```\n\n> quoted 引用"
    )
    todos = [
        ("Implement feature X", "completed", "high"),
        ("写测试", "in_progress", "medium"),
        ("Ship", "pending", None),
    ]
    named = [{"content": text, "status": status, "priority": priority} for text, status, priority in todos]
    live.calls("todo", "TodoWrite", todos=named).result("todo", "ok")
    live.calls("r", "Read", file_path="/home/ada/shop/src/価格.py", offset=10, limit=40)
    live.calls("b", "Bash", command="ls -la", description="List directory contents", timeout=9000)
    live.result("b", "total 24\ndrwxr-xr-x  6 user\n" + "\n".join(f"file {number}" for number in range(30)))
    live.result("r", "10\tdef total():\n11\t\treturn '🤷🏽‍♀️'")
    live.calls("e", "Edit", file_path="/home/ada/shop/a.py", old_string="a = 1\nb = 2", new_string="a = 1\nb = '二'")
    live.result("e", "Updated.")
    live.calls("x", "Bash", command="invalidcmd").result("x", "Error: Command not found: invalidcmd", failed=True)
    live.calls("k", "Task", description="Look around", prompt="Look.", subagent_type="Explore")
    live.inside("k").user("Look.").calls("g", "Glob", pattern="**/*.py").result("g", "a.py").says("找到了 one.")
    live.inside(None).result("k", [{"type": "text", "text": "One file."}])
    live.calls("m", "mcp__github__create_issue", title="A bug", labels=["p1"]).result("m", "#12")
    live.add(type="system", subtype="api_retry", attempt=1, max_retries=10, error="overloaded")
    live.calls("s", "Bash", command="sleep 100; printf '\x1b]0;evil\x07'")
    return live.fails("error_max_turns", errors=["Reached maximum number of turns (10)"], num_turns=10)
