"""Sessions of Codex that nobody had: the mix of records, their shapes and sizes are those of real ones.

Much is written twice: what was said is an item of the conversation and an event for the screen, and a patch is a call
and the event that it was applied.
"""

import msgspec

import commands
from prose import Clock, Prose
from traffic import Json

_encode = msgspec.json.encode
_STEPS = {"exec_command": 217, "shell_command": 99, "apply_patch": 19, "web_search": 11, "update_plan": 4, "mcp": 8}
_INSTRUCTIONS = "<permissions instructions>\n"


def session(prose: Prose, lines: int, opening: str = "") -> tuple[str, bytes]:
    """The name of its file and what is in it: at least so many lines, for the last turn is whole."""
    log = _Session(prose)
    log.turn(f"{opening}{prose.sentence(9)}")
    while len(log.lines) < lines:
        log.turn(prose.text(prose.spread(50, 70)))
    return f"rollout-2026-01-20T09-00-00-{log.id}.jsonl", b"\n".join(log.lines) + b"\n"


class _Session:
    def __init__(self, prose: Prose) -> None:
        self.id = prose.uuid()
        self.lines: list[bytes] = []
        self._prose = prose
        self._clock = Clock(prose)
        self._folder = f"/home/me/{prose.word()}/{prose.word()}"
        self._turn = ""
        self._used = dict.fromkeys(
            ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens"), 0
        )
        time = self._clock.tick()
        header: Json = {"id": self.id, "timestamp": time, "cwd": self._folder, "originator": "codex-tui"}
        header |= {"cli_version": "0.118.0", "source": "cli", "model_provider": "openai"}
        header["base_instructions"] = {"text": prose.text(prose.spread(1500, 5000))}
        header["git"] = {"commit_hash": prose.token(""), "branch": prose.word(), "repository_url": prose.path()}
        self._add("session_meta", header)
        if prose.chance(0.4):
            self._item("message", role="developer", content=_text("input_text", _INSTRUCTIONS + prose.text(26_000)))
        context = f"<environment_context>\n  <cwd>{self._folder}</cwd>\n</environment_context>"
        self._item("message", role="user", content=_text("input_text", context))
        self._item(
            "message",
            role="user",
            content=_text("input_text", f"# AGENTS.md instructions\n{prose.text(prose.spread(3000, 9000))}"),
        )

    def turn(self, prompt: str) -> None:
        prose = self._prose
        self._turn = prose.uuid()
        about = {"model_context_window": 258_400, "collaboration_mode_kind": "default"}
        self._happened("task_started", turn_id=self._turn, **about)
        self._context()
        if prose.chance(0.2):
            kept = [
                {"type": "message", "role": "user", "content": _text("input_text", prose.text(800))} for _ in range(8)
            ]
            self._add("compacted", {"message": "", "replacement_history": kept})
        self._item("message", role="user", content=_text("input_text", prompt))
        self._happened("user_message", message=prompt, images=[], local_images=[], text_elements=[])
        for _ in range(prose.spread(5, 7)):
            self._step()
        self._think()
        said = self._say(prose.text(prose.spread(700, 900)), "final_answer")
        self._count()
        if prose.chance(0.3):
            plan = {"type": "Plan", "id": prose.uuid(), "text": prose.text(prose.spread(300, 1200))}
            self._happened("item_completed", thread_id=self.id, turn_id=self._turn, item=plan, completed_at_ms=0)
        times = {"completed_at": 1_770_000_000, "duration_ms": prose.number(900, 90_000)}
        self._happened("task_complete", turn_id=self._turn, last_agent_message=said, **times)

    def _step(self) -> None:
        """One call to the model: it thinks, says what it does, and calls a tool or two."""
        prose = self._prose
        self._think()
        if prose.chance(0.7):
            self._say(prose.text(prose.spread(130, 160)), "commentary")
        calls = [self._call(prose.pick(_STEPS)) for _ in range(prose.pick({1: 30, 2: 35, 3: 35}))]
        early = prose.chance(0.33)
        if early:
            self._count()
        for call, name in calls:
            self._answer(call, name)
        if not early:
            self._count()

    def _think(self) -> None:
        prose = self._prose
        summary = [{"type": "summary_text", "text": prose.sentence(9)}] if prose.chance(0.06) else []
        for part in summary:
            self._happened("agent_reasoning", text=part["text"])
        self._item("reasoning", summary=summary, content=None, encrypted_content=prose.token(""))

    def _say(self, text: str, phase: str) -> str:
        self._happened("agent_message", message=text, phase=phase, memory_citation=None)
        self._item("message", role="assistant", content=_text("output_text", text), phase=phase)
        return text

    def _call(self, name: str) -> tuple[str, str]:
        prose, call = self._prose, self._prose.token("call_")
        match name:
            case "exec_command":
                given: Json = {"cmd": commands.command(prose), "workdir": self._folder}
                given |= {"yield_time_ms": 1000, "max_output_tokens": 12_000}
            case "shell_command":
                given = {"command": commands.command(prose), "workdir": self._folder, "timeout_ms": 10_000}
            case "update_plan":
                given = {"plan": [{"step": prose.sentence(7), "status": "pending"} for _ in range(4)]}
            case "mcp":
                name, given = "mcp__browser__navigate", {"url": prose.path()}
            case "apply_patch":
                self._item("custom_tool_call", status="completed", call_id=call, name=name, input=_patch(prose))
                return call, name
            case _:
                query = prose.sentence(9)
                action = {"type": "search", "query": query, "queries": [query, prose.sentence(9)]}
                self._happened("web_search_end", call_id=prose.token("ws_"), query=query, action=action)
                self._item("web_search_call", status="completed", action=action)
                return call, name
        arguments = msgspec.json.encode(given).decode()
        self._item("function_call", name=name, arguments=arguments, call_id=call)
        return call, name

    def _answer(self, call: str, name: str) -> None:
        prose = self._prose
        output = prose.text(prose.spread(430, 3900))
        code = 1 if prose.chance(0.07) else 0
        match name:
            case "web_search":
                return
            case "exec_command":
                head = f"Chunk ID: {prose.number(100_000, 999_999)}\nWall time: 0.0513 seconds\n"
                output = f"{head}Process exited with code {code}\nOriginal token count: 90\nOutput:\n{output}"
            case "shell_command":
                output = f"Exit code: {code}\nWall time: 0.4 seconds\nOutput:\n{output}"
            case "mcp__browser__navigate":
                told = {"Ok": {"content": _text("text", output), "isError": False}}
                invocation = {"server": "browser", "tool": "navigate", "arguments": {}}
                self._happened("mcp_tool_call_end", call_id=call, invocation=invocation, result=told)
            case "apply_patch":
                path, done = prose.path(), "Success. Updated the following files:\nM "
                change = {"type": "update", "unified_diff": prose.text(prose.spread(500, 2500)), "move_path": None}
                self._happened(
                    "patch_apply_end",
                    call_id=call,
                    turn_id=self._turn,
                    stdout=done + path,
                    stderr="",
                    success=True,
                    changes={f"{self._folder}/{path}": change},
                )
                written = msgspec.json.encode({"output": done + path, "metadata": {"exit_code": 0}}).decode()
                self._item("custom_tool_call_output", call_id=call, output=written)
                return
        self._item("function_call_output", call_id=call, output=output)

    def _count(self) -> None:
        prose = self._prose
        sizes = prose.number(4000, 90_000), prose.number(1000, 4000), prose.number(40, 900), prose.number(0, 40)
        last = dict(zip(self._used, (*sizes, sizes[0] + sizes[2]), strict=True))
        self._used = {key: number + last[key] for key, number in self._used.items()}
        limit = {"used_percent": 12.5, "window_minutes": 300, "resets_at": 1_770_000_000}
        limits = {"limit_id": "codex", "limit_name": None, "primary": limit, "secondary": limit, "credits": None}
        info = {"total_token_usage": self._used, "last_token_usage": last, "model_context_window": 258_400}
        self._happened("token_count", info=info, rate_limits={**limits, "plan_type": "pro"})

    def _context(self) -> None:
        prose = self._prose
        context: Json = {"turn_id": self._turn, "cwd": self._folder, "current_date": "2026-01-20", "timezone": "UTC"}
        context |= {"approval_policy": "never", "sandbox_policy": {"type": "danger-full-access"}, "model": "gpt-5.4"}
        mode = {"mode": "default", "settings": {"model": "gpt-5.4", "developer_instructions": prose.text(500)}}
        context |= {"personality": "pragmatic", "collaboration_mode": mode, "effort": "high", "summary": "none"}
        if prose.chance(0.2):
            context["developer_instructions"] = prose.text(prose.spread(3000, 4500))
        self._add("turn_context", context)

    def _item(self, kind: str, **fields: object) -> None:
        self._add("response_item", {"type": kind, **fields})

    def _happened(self, kind: str, **fields: object) -> None:
        self._add("event_msg", {"type": kind, **fields})

    def _add(self, kind: str, payload: Json) -> None:
        self.lines.append(_encode({"timestamp": self._clock.tick(), "type": kind, "payload": payload}))


def _text(kind: str, text: str) -> list[Json]:
    return [{"type": kind, "text": text}]


def _patch(prose: Prose) -> str:
    """An update of one file, in hunks of some lines."""
    lines = [f"*** Update File: {prose.path()}"]
    for _ in range(prose.pick({1: 5, 2: 3, 6: 2})):
        kept, gone, new = (prose.text(prose.spread(100, 200)).split("\n") for _ in range(3))
        lines += ["@@", *(f" {line}" for line in kept), *(f"-{line}" for line in gone), *(f"+{line}" for line in new)]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
