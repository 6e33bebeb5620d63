"""`codex exec --json`: what a run writes to its standard output, without times.

{"type": "thread.started", "thread_id"}, {"type": "item.completed", "item": {"id", "type", …}}    since fall 2025
{"prompt"}, {"id": "0", "msg": {"type": "exec_command_begin", …}}                                 before
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from unspool.dialect import Record
from unspool.model import Event, Facts, Note
from unspool.model.action import PlanItem
from unspool.model.event import Compacted, Notification, Planned, Said, Thinking, ToolOutput, TurnEnd, User
from unspool.readers.codex.counting import Tally
from unspool.readers.codex.messages import Messages
from unspool.readers.codex.outbox import changes_in
from unspool.readers.codex.outputs import result_of
from unspool.readers.codex.thread import Thread
from unspool.sources.values import listing, mapping, string, text_of

_PASSED_OVER = frozenset(("turn.started", "thread.resumed", "item.plan.delta"))
_ENDED = ("completed", "failed", "declined")


class Stream:
    def __init__(self, path: str) -> None:
        self._thread = Thread(Path(path).name.partition(".")[0])
        self._log = self._thread.log
        self._outbox = self._thread.outbox
        self._messages = Messages(self._thread)
        self._run = 0
        """Ids of items begin anew in each run."""
        self._tallies: dict[str, Tally] = {}
        """Totals are those of a thread, and go on when it is resumed."""
        self._lists: dict[str, tuple[PlanItem, ...]] = {}
        self._items: dict[str | None, Callable[[str, dict[str, Any], bool], None]] = {
            "command_execution": self._command,
            "file_change": self._change,
            "mcp_tool_call": self._mcp,
            "collab_tool_call": self._collaboration,
            "web_search": self._search,
            "todo_list": self._list,
        }

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> Iterable[Event | Note]:
        line = self._log.record(record)
        if line is not None:
            self._read(line)
        return self._log.take()

    def close(self) -> Iterable[Event | Note]:
        self._outbox.close()
        return self._log.take()

    def _read(self, line: dict[str, Any]) -> None:
        self._log.at(line.get("timestamp"))
        if isinstance(message := line.get("msg"), dict):
            self._messages.read(message)
            return
        match kind := line.get("type"):
            case "thread.started" | "session.created":
                self._run += 1
                self._log.session = string(line.get("thread_id") or line.get("session_id")) or self._log.session
                _ = self._log.facts
                self._thread.tally = self._tallies.setdefault(self._log.session, Tally())
            case "item.started" | "item.updated" | "item.completed":
                self._item(mapping(line.get("item")), is_over=kind == "item.completed")
            case "turn.completed":
                self._used(mapping(line.get("usage")))
                self._outbox.say(TurnEnd("completed"), "1")
            case "turn.failed":
                self._used(mapping(line.get("usage")), "1")
                error = line.get("error")
                self._outbox.say(TurnEnd("failed", text=text_of(mapping(error).get("message") or error) or None))
            case "error":
                self._outbox.say(Notification(text_of(line.get("message")), "error"))
            case None:
                self._messages.opening(line)
            case str() if kind in _PASSED_OVER:
                pass
            case _:
                self._log.note("unknown", f"record type {kind!r}")

    def _used(self, usage: dict[str, Any], part: str = "0") -> None:
        """The thread's total so far, if it is told."""
        grown = self._thread.tally.grown({"total_token_usage": usage}, self._thread.model) if usage else None
        if grown is not None:
            self._outbox.say(replace(grown, apart=True), part)

    def _item(self, item: dict[str, Any], is_over: bool) -> None:
        kind = string(item.get("type") or item.get("item_type"))
        handler = self._items.get(kind)
        if handler is not None:
            is_over = is_over or item.get("status") in _ENDED
            call = string(item.get("id")) or (f"line {self._log.origin.line}" if is_over else "")
            if call:  # what has no id cannot be known again: it is told when it is over
                handler(f"{self._run}.{call}" if self._run > 1 else call, item, is_over)
            return
        if not is_over:
            return  # these come whole
        match kind:
            case "agent_message" | "assistant_message":
                self._outbox.say(Said(text_of(item.get("text"))))
            case "reasoning":
                self._outbox.say(Thinking(text_of(item.get("text"))))
            case "user_message":
                self._outbox.say(User(text_of(item.get("text"))))
            case "plan":
                self._outbox.say(Planned(text=text_of(item.get("text"))))
            case "context_compaction":
                self._outbox.say(Compacted())
            case "error":
                self._outbox.say(Notification(text_of(item.get("message")), "warning"))
            case _:
                self._log.note("unknown", f"item type {kind!r}")

    def _call(self, call: str, name: str, arguments: Any, item: dict[str, Any]) -> None:
        """Told when it is first heard of."""
        if call not in self._thread.calls:
            self._thread.called(name, arguments, call, changes_in(item))

    def _end(self, call: str, text: str, is_error: bool, declined: bool = False) -> None:
        self._outbox.say(ToolOutput(call, text, is_error, interrupted=declined), "1")

    def _command(self, call: str, item: dict[str, Any], is_over: bool) -> None:
        self._call(call, "shell_command", {"command": item.get("command")}, {})
        if is_over:
            code = item.get("exit_code")
            failed = item.get("status") != "completed" or code not in (0, None)
            output = text_of(item.get("aggregated_output")) or (f"exit code {code}" if code not in (0, None) else "")
            self._end(call, output, failed, item.get("status") == "declined")

    def _change(self, call: str, item: dict[str, Any], is_over: bool) -> None:
        if is_over:  # until then the changes may grow
            self._call(call, "apply_patch", {"changes": item.get("changes")}, {**item, "type": "FileChange"})
            self._end(call, "", item.get("status") != "completed", item.get("status") == "declined")

    def _mcp(self, call: str, item: dict[str, Any], is_over: bool) -> None:
        name = f"mcp__{text_of(item.get('server'))}__{text_of(item.get('tool'))}"
        self._call(call, name, item.get("arguments") or {}, {})
        if is_over:
            text, failed = result_of(item.get("result"))
            if error := item.get("error"):
                text, failed = text_of(mapping(error).get("message") or error), True
            self._end(call, text, failed or item.get("status") == "failed")

    def _collaboration(self, call: str, item: dict[str, Any], is_over: bool) -> None:
        tool, agents = text_of(item.get("tool")), listing(item.get("receiver_thread_ids"))
        prompt = item.get("prompt")
        self._call(call, tool, {"message": prompt, "targets": agents}, {})
        if is_over:
            states = mapping(item.get("agents_states"))
            self._end(call, text_of(states) if states else "", item.get("status") == "failed")
            if tool == "spawn_agent":
                for part, agent in enumerate(agents, 2):
                    self._thread.spawned(call, agent, str(part), prompt=prompt)

    def _search(self, call: str, item: dict[str, Any], is_over: bool) -> None:
        if is_over:  # until then it has no query
            action = {key: value for key, value in mapping(item.get("action")).items() if value is not None}
            self._call(call, "web_search", {"query": item.get("query"), **action}, {})
            if results := item.get("results"):
                self._end(call, text_of(results), False)

    def _list(self, call: str, item: dict[str, Any], _is_over: bool) -> None:
        """Written again whenever a step changed."""
        steps = tuple(
            PlanItem(text_of(step.get("text")), "completed" if step.get("completed") is True else "pending")
            for step in map(mapping, listing(item.get("items")))
        )
        if self._lists.get(call) != steps:
            self._lists[call] = steps
            self._outbox.say(Planned(steps))
