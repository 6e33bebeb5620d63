"""Invented logs of agents, short to write: `Claude().user("Mend it").calls("t1", "Bash", command="make").says("Done")`.

Each record comes a second after the one before it. `save` writes what was said so far.
"""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

SHOP = "11111111-2222-4333-8444-555555555555"
THREAD = "019c0001-0000-7000-8000-000000000001"
CHAT = "33333333-aaaa-4000-8000-000000000001"


class _Log:
    """A clock and a list of records."""

    def __init__(self, day: int) -> None:
        self.records: list[dict[str, Any]] = []
        self._time = datetime(2026, 3, day, 10, tzinfo=UTC)

    def add(self, **record: Any) -> Self:
        self.records.append(record)
        return self

    def later(self, seconds: float) -> Self:
        self._time += timedelta(seconds=seconds)
        return self

    def since(self, time: datetime) -> Self:
        self._time = time
        return self

    def now(self) -> str:
        self.later(1)
        return self._time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def lines(self) -> bytes:
        return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in self.records)

    def save(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.lines())
        return path


class Claude(_Log):
    """A transcript of Claude Code: of a session, or of a sub-agent of it."""

    def __init__(
        self, session: str = SHOP, *, agent: str | None = None, cwd: str = "/home/ada/shop", day: int = 1
    ) -> None:
        super().__init__(day)
        self.session, self.agent, self._cwd = session, agent, cwd
        self._messages = 0

    def _record(self, kind: str, **more: Any) -> Self:
        number = len(self.records) + 1
        parent = self.records[-1].get("uuid") if self.records else None
        own = {"agentId": self.agent} if self.agent else {}
        return self.add(
            parentUuid=parent,
            isSidechain=self.agent is not None,
            cwd=self._cwd,
            sessionId=self.session,
            version="2.1.50",
            gitBranch="main",
            type=kind,
            uuid=f"{self.agent or 'u'}-{self.session[:2]}-{number}",
            timestamp=self.now(),
            **own,
            **more,
        )

    def user(self, text: str | list[Any], **more: Any) -> Self:
        return self._record("user", message={"role": "user", "content": text}, **more)

    def _answer(self, block: dict[str, Any], new: bool, usage: tuple[int, int, int, int]) -> Self:
        self._messages += new
        name = f"msg_{self.agent or 'main'}_{self._messages}"  # with the request's id, unlike any other session's
        counted = dict(
            zip(
                ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"),
                usage,
                strict=True,
            )
        )
        message = {
            "id": name,
            "type": "message",
            "role": "assistant",
            "model": "claude-test-1",
            "content": [block],
            "usage": counted,
        }
        return self._record("assistant", message=message, requestId=f"req_{self.session[::-1]}_{name}")

    def says(self, text: str, *, new: bool = True, usage: tuple[int, int, int, int] = (10, 1000, 100, 5)) -> Self:
        """Input, cache read, cache write, output. What is not `new` is one more block of the message before."""
        return self._answer({"type": "text", "text": text}, new, usage)

    def thinks(self, text: str, *, new: bool = True, usage: tuple[int, int, int, int] = (10, 1000, 100, 5)) -> Self:
        return self._answer({"type": "thinking", "thinking": text, "signature": "c2ln"}, new, usage)

    def calls(self, call: str, name: str, *, new: bool = True, **arguments: Any) -> Self:
        return self._answer({"type": "tool_use", "id": call, "name": name, "input": arguments}, new, (10, 1000, 100, 5))

    def result(self, call: str, output: Any, *, failed: bool = False, **told: Any) -> Self:
        """`told` is the program's own record of the result."""
        block = {"type": "tool_result", "tool_use_id": call, "content": output}
        more = {"toolUseResult": told} if told else {}
        return self._record(
            "user", message={"role": "user", "content": [block | ({"is_error": True} if failed else {})]}, **more
        )

    def compacted(self, summary: str) -> Self:
        boundary = {"trigger": "auto", "preTokens": 150_000}
        self._record("system", subtype="compact_boundary", content="Conversation compacted", compactMetadata=boundary)
        return self.user(summary, isCompactSummary=True)

    def inline(self, other: "Claude", call: str) -> Self:
        """All that a sub-agent said, as its master's log repeats it."""
        for record in other.records:
            message = {
                key: record[key] for key in ("type", "uuid", "timestamp", "message", "requestId") if key in record
            }
            progress = {"type": "agent_progress", "agentId": other.agent, "message": message}
            self._record("progress", data=progress, parentToolUseID=call)
        return self


class Codex(_Log):
    """A thread of Codex."""

    def __init__(self, thread: str = THREAD, *, cwd: str = "/srv/tea", day: int = 2, **header: Any) -> None:
        super().__init__(day)
        self.thread = thread
        about = {"id": thread, "timestamp": self.now(), "cwd": cwd, "cli_version": "0.146.0", "source": "cli"}
        self.line("session_meta", **about | header)
        self.line("turn_context", cwd=cwd, model="gpt-test")
        self._total = [0, 0, 0, 0]

    def line(self, kind: str, **payload: Any) -> Self:
        return self.add(timestamp=self.now(), type=kind, payload=payload)

    def user(self, text: str) -> Self:
        self.line("response_item", type="message", role="user", content=[{"type": "input_text", "text": text}])
        return self.line("event_msg", type="user_message", message=text, images=[])

    def says(self, text: str) -> Self:
        return self.line(
            "response_item", type="message", role="assistant", content=[{"type": "output_text", "text": text}]
        )

    def calls(self, call: str, name: str, **arguments: Any) -> Self:
        return self.line(
            "response_item", type="function_call", name=name, call_id=call, arguments=json.dumps(arguments)
        )

    def patches(self, call: str, patch: str) -> Self:
        return self.line("response_item", type="custom_tool_call", name="apply_patch", call_id=call, input=patch)

    def result(self, call: str, output: str, kind: str = "function_call_output") -> Self:
        return self.line("response_item", type=kind, call_id=call, output=output)

    def counts(self, *used: int) -> Self:
        """Input (with what was cached), cached, output (with reasoning), reasoning."""
        self._total = [before + more for before, more in zip(self._total, used, strict=True)]
        return self.line(
            "event_msg",
            type="token_count",
            info={"total_token_usage": _usage(self._total), "last_token_usage": _usage(used)},
        )

    def name(self) -> str:
        return f"rollout-2026-03-02T10-00-00-{self.thread}.jsonl"


def _usage(counts: Any) -> dict[str, int]:
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
    return {**dict(zip(names, counts, strict=True)), "total_tokens": counts[0] + counts[2]}


class Gemini(_Log):
    """A recording of Gemini CLI."""

    def __init__(self, session: str = CHAT, *, day: int = 3) -> None:
        super().__init__(day)
        self.session = session
        self.add(sessionId=session, projectHash="5f0c", startTime=self.now(), lastUpdated=self.now(), kind="main")

    def user(self, text: str) -> Self:
        return self.add(id=f"m{len(self.records)}", timestamp=self.now(), type="user", content=[{"text": text}])

    def says(self, text: str, *calls: dict[str, Any], tokens: tuple[int, int, int, int] = (100, 50, 25, 5)) -> Self:
        """Tokens: prompt (with what was cached), cached, output (without thoughts), thoughts."""
        prompt, cached, output, thoughts = tokens
        counted = {"input": prompt, "cached": cached, "output": output, "thoughts": thoughts, "tool": 0}
        time = self.now()
        more = {"toolCalls": [{**call, "timestamp": self.now()} for call in calls]} if calls else {}
        return self.add(
            id=f"m{len(self.records)}",
            timestamp=time,
            type="gemini",
            content=text,
            thoughts=[],
            tokens={**counted, "total": prompt + output + thoughts},
            model="gemini-test",
            **more,
        )

    def called(self, call: str, name: str, output: str, **arguments: Any) -> dict[str, Any]:
        """A call and its result, to be given to `says`."""
        response = {"functionResponse": {"id": call, "name": name, "response": {"output": output}}}
        return {"id": call, "name": name, "args": arguments, "result": [response], "status": "success"}


class Machine:
    """A home folder with the logs of agents in it, and a cache of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            "HOME": str(home),
            "UNSPOOL_CACHE": str(home / "cache"),
            "UNSPOOL_HOME": "",
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "CLAUDE_CONFIG_DIR": "",
            "CODEX_HOME": "",
            "GEMINI_CLI_HOME": "",
            "TZ": "UTC",
        }

    def claude(self, log: Claude, *, nested: bool = False) -> Path:
        """In the place of its kind: a session's, an agent's beside it (older versions), or below its folder."""
        folder = self.home / ".claude" / "projects" / "-home-ada-shop"
        if log.agent is None:
            return log.save(folder / f"{log.session}.jsonl")
        return log.save((folder / log.session / "subagents" if nested else folder) / f"agent-{log.agent}.jsonl")

    def codex(self, log: Codex) -> Path:
        return log.save(self.home / ".codex" / "sessions" / "2026" / "03" / "02" / log.name())

    def gemini(self, log: Gemini, *, master: str | None = None) -> Path:
        """That of a sub-agent lies in the folder of its master."""
        project = self.home / ".gemini" / "tmp" / "garden"
        name = f"{master}/{log.session}" if master else f"session-2026-03-03T10-00-{log.session[:8]}"
        saved = log.save(project / "chats" / f"{name}.jsonl")
        (project / ".project_root").write_text("/home/ada/garden")
        return saved

    def on_a_terminal(self, *arguments: str | Path, **environment: str) -> str:
        """What a terminal is sent by the command; not what is said beside it, such as that it takes long."""
        script = (
            "import os, pty, sys\n"
            "quietly = ['sh', '-c', 'exec \"$@\" 2>/dev/null', 'sh']\n"
            "status = pty.spawn([*quietly, sys.executable, '-m', 'unspool', *sys.argv[1:]])\n"
            "sys.exit(os.waitstatus_to_exitcode(status))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, *map(str, arguments)],
            capture_output=True,
            check=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "120", **self.environment, **environment},
        )
        return done.stdout.decode().replace("\r\n", "\n")
