"""Sessions of Claude Code that nobody had: the mix of records, their shapes and sizes are those of real ones.

A turn is a prompt, then some calls to the model, one line for each block of an answer. Each tool call is followed by
its result, which stands in its line twice: as the model was told it, and as the program keeps it.
"""

from collections.abc import Callable

import msgspec

from claude_tools import INLINE, PROGRESS, TOOLS, result, tool_use, usage
from prose import Clock, Prose
from traffic import Json

_encode = msgspec.json.encode
_ANSWERS = {
    ("thinking", "tool_use"): 301,
    ("tool_use",): 284,
    ("text", "tool_use"): 243,
    ("thinking", "text", "tool_use"): 231,
    ("thinking", "text", "tool_use", "tool_use"): 43,
    ("thinking", "tool_use", "tool_use"): 37,
    ("tool_use", "tool_use"): 17,
    ("text", "tool_use", "tool_use"): 16,
    ("tool_use", "tool_use", "tool_use"): 11,
    ("thinking", "text", "tool_use", "tool_use", "tool_use"): 8,
}
"""What one answer of the model is made of, and how often."""
_LAST = {("text",): 76, ("thinking", "text"): 70}
_ATTACHED = {
    "hook_success": (900, 1500),
    "hook_additional_context": (300, 700),
    "task_reminder": (40, 50),
    "deferred_tools_delta": (2000, 3100),
    "nested_memory": (400, 450),
    "skill_listing": (18_000, 21_000),
    "agent_listing_delta": (9000, 9800),
}
"""The text of attachments: median and mean of its size."""
_ATTACHED_SHARES = dict(zip(_ATTACHED, (47, 34, 19, 12, 15, 10, 8), strict=True))
_BESIDE = {"last-prompt": 85, "permission-mode": 65, "mode": 64, "ai-title": 60, "queue-operation": 57, "pr-link": 31}


def session(prose: Prose, lines: int, opening: str = "") -> tuple[str, bytes]:
    """The name of its file and what is in it: at least so many lines, for the last turn is whole."""
    log = _Session(prose)
    log.beside("summary")
    log.turn(f"{opening}{prose.sentence(9)}")
    while len(log.lines) < lines:
        log.turn(prose.text(prose.spread(100, 1600)))
    return f"{log.id}.jsonl", b"\n".join(log.lines) + b"\n"


class _Session:
    def __init__(self, prose: Prose) -> None:
        self.id = prose.uuid()
        self.lines: list[bytes] = []
        self._prose = prose
        self._clock = Clock(prose)
        self._last: str | None = None
        self._frame: Json = {
            "isSidechain": False,
            "userType": "external",
            "cwd": f"/home/me/{prose.word()}/{prose.word()}",
            "sessionId": self.id,
            "version": "2.1.41",
            "gitBranch": f"{prose.word()}-{prose.word()}",
            "slug": f"{prose.word()}-{prose.word()}-{prose.word()}",
        }

    def turn(self, prompt: str) -> None:
        prose = self._prose
        self._snapshot()
        self._add(
            "user", {"message": {"role": "user", "content": prompt}, "thinkingMetadata": {"maxThinkingTokens": 3}}
        )
        while prose.chance(0.42):
            self._attachment()
        for _ in range(prose.spread(5.5, 7)):
            self._answer(prose.pick(_ANSWERS))
        self._answer(prose.pick(_LAST))
        self._hooks()
        if prose.chance(0.4):
            self._add("system", {"subtype": "turn_duration", "durationMs": prose.number(900, 90_000), "isMeta": False})
        while prose.chance(0.63):
            self.beside(prose.pick(_BESIDE))

    def _add(self, kind: str, fields: Json) -> str:
        """A record that is part of the chain."""
        name = self._prose.uuid()
        head = {"parentUuid": self._last, **self._frame}
        self.lines.append(_encode({**head, "type": kind, **fields, "uuid": name, "timestamp": self._clock.tick()}))
        self._last = name
        return name

    def _answer(self, blocks: tuple[str, ...]) -> None:
        """A line for each block; the usage is told with each, and grows."""
        prose = self._prose
        frame, request = _message(prose), prose.token("req_")
        for kind in blocks:
            frame["usage"]["output_tokens"] += prose.number(1, 300)
            call: Json = {}
            match kind:
                case "thinking":
                    text = prose.text(prose.spread(300, 700))
                    block: Json = {"type": kind, "thinking": text, "signature": prose.token("") * prose.spread(15, 26)}
                case "text":
                    block = {"type": kind, "text": prose.text(prose.spread(120, 330))}
                case _:
                    call = block = tool_use(prose, prose.pick(TOOLS))
            name = self._add("assistant", {"message": {**frame, "content": [block]}, "requestId": request})
            if call:
                self._run(call, name)

    def _run(self, call: Json, name: str) -> None:
        prose = self._prose
        if call["name"] == "Bash" and prose.chance(0.14):
            for second in range(2, 2 + prose.spread(3, 4.5)):
                self._tick(call, second)
        agent = None
        if call["name"] == "Task":
            agent = prose.token("")[:7]
            for _ in range(PROGRESS):
                self._inline(call, agent)
        if prose.chance(0.38):
            hook = {"type": "hook_progress", "hookEvent": "PostToolUse", "hookName": f"PostToolUse:{call['name']}"}
            self._progress({**hook, "command": "callback"}, call["id"], call["id"])
        told, kept = result(prose, call, agent)
        message = {"role": "user", "content": [{"tool_use_id": call["id"], "type": "tool_result", **told}]}
        self._add("user", {"message": message, "toolUseResult": kept, "sourceToolAssistantUUID": name})

    def _progress(self, data: Json, by: str, of: str) -> None:
        self._add("progress", {"data": data, "toolUseID": by, "parentToolUseID": of})

    def _tick(self, call: Json, second: int) -> None:
        output = self._prose.text(self._prose.spread(200, 900)) if self._prose.chance(0.5) else ""
        ticking = {"type": "bash_progress", "output": output[-60:], "fullOutput": output}
        self._progress(
            {**ticking, "elapsedTimeSeconds": second, "totalLines": 4}, f"bash-progress-{second}", call["id"]
        )

    def _inline(self, call: Json, agent: str) -> None:
        """A call of a sub-agent and its result."""
        prose = self._prose
        own = tool_use(prose, prose.pick(INLINE))
        told, kept = result(prose, own)
        answer = {"type": "tool_result", "tool_use_id": own["id"], **told}
        for inner in (
            {"type": "assistant", "message": {**_message(prose), "content": [own]}, "requestId": prose.token("req_")},
            {"type": "user", "message": {"role": "user", "content": [answer]}, "toolUseResult": kept},
        ):
            message = {**inner, "uuid": prose.uuid(), "timestamp": self._clock.tick()}
            data = {"message": message, "normalizedMessages": [], "type": "agent_progress", "prompt": prose.text(600)}
            self._progress({**data, "agentId": agent}, prose.token("agent_msg_"), call["id"])

    def _attachment(self) -> None:
        prose = self._prose
        kind = prose.pick(_ATTACHED_SHARES)
        text = prose.text(prose.spread(*_ATTACHED[kind]))
        hook = {"hookName": "PostToolUse", "hookEvent": "PostToolUse", "toolUseID": prose.uuid()}
        match kind:
            case "hook_success":
                attachment: Json = {**hook, "content": text[:200], "stdout": text, "stderr": "", "exitCode": 0}
            case "hook_additional_context":
                attachment = {**hook, "content": [text]}
            case "deferred_tools_delta" | "agent_listing_delta":
                attachment = {"addedNames": text.split("\n")[:20], "addedLines": text.split("\n")}
            case "nested_memory":
                attachment = {"path": prose.path(), "content": {"path": prose.path(), "content": text}}
            case _:
                attachment = {"content": text, "itemCount": 3}
        self._add("attachment", {"attachment": {"type": kind, **attachment}})

    def _hooks(self) -> None:
        if self._prose.chance(0.6):
            infos = [{"command": self._prose.sentence(7), "durationMs": 40}]
            told: Json = {"subtype": "stop_hook_summary", "hookCount": 1, "hookInfos": infos, "hookErrors": []}
            told |= {"preventedContinuation": False, "stopReason": "", "hasOutput": True, "level": "suggestion"}
            self._add("system", {**told, "toolUseID": self._prose.uuid()})

    def _snapshot(self) -> None:
        prose, name = self._prose, self._prose.uuid()
        kept = {prose.path(): {"backupFileName": prose.token(""), "version": 2} for _ in range(prose.spread(2, 3.5))}
        state = {"messageId": name, "trackedFileBackups": kept, "timestamp": self._clock.tick()}
        line = {"type": "file-history-snapshot", "messageId": name, "snapshot": state, "isSnapshotUpdate": False}
        self.lines.append(_encode(line))

    def beside(self, kind: str) -> None:
        """A record that is no part of the chain."""
        prose = self._prose
        told: dict[str, Callable[[], Json]] = {
            "last-prompt": lambda: {"lastPrompt": prose.text(130), "leafUuid": self._last},
            "permission-mode": lambda: {"permissionMode": "default"},
            "mode": lambda: {"mode": "normal"},
            "ai-title": lambda: {"aiTitle": prose.sentence(5)},
            "queue-operation": lambda: {
                "operation": "enqueue",
                "timestamp": self._clock.tick(),
                "content": prose.text(prose.spread(100, 2600)),
            },
            "pr-link": lambda: {"prNumber": 18, "prUrl": f"https://git.example/{prose.path()}"},
            "summary": lambda: {"summary": prose.sentence(6), "leafUuid": prose.uuid()},
        }
        self.lines.append(_encode({"type": kind, **told[kind](), "sessionId": self.id}))


def _message(prose: Prose) -> Json:
    """A message of the API without its content."""
    kind = {"type": "message", "role": "assistant"}
    stop = {"stop_reason": None, "stop_sequence": None}
    return {"model": "claude-opus-4-5-20251101", "id": prose.token("msg_"), **kind, **stop, "usage": usage(prose)}
