"""What the program told its own screen: `event_msg` lines. Most repeat an item, and are passed over."""

from collections.abc import Callable
from typing import Any, ClassVar
from urllib.parse import unquote

from unspool.model.action import PlanItem
from unspool.model.event import (
    AgentMessage,
    Compacted,
    Level,
    Notification,
    Planned,
    Said,
    Thinking,
    ToolOutput,
    TurnEnd,
)
from unspool.readers.codex.envelopes import answered
from unspool.readers.codex.items import Items, named, picture_in, said_in
from unspool.readers.codex.outbox import marked
from unspool.readers.codex.outputs import result_of
from unspool.readers.codex.texts import content_text, lines_of, told, typed_text, visible, words_of
from unspool.readers.codex.thread import Thread
from unspool.readers.codex.transient import TRANSIENT
from unspool.sources.jsontext import dumps
from unspool.sources.values import count, listing, mapping, number, string, text_of

_PASSED_OVER = TRANSIENT | frozenset(
    (
        "dynamic_tool_call_request",  # its call is an item
        "collab_waiting_end",  # so are those of these
        "collab_close_end",
        "collab_resume_end",
        "exec_command_begin",
        "patch_apply_begin",
        "mcp_tool_call_begin",
        "session_configured",
        "plan_update",
        "background_event",
    )
)
_DEEDS = frozenset(
    ("CommandExecution", "FileChange", "McpToolCall", "ImageView", "Extension", "DynamicToolCall", "Sleep")
)


class Happenings:
    """Events of the program → events, where no item says the same."""

    def __init__(self, thread: Thread, items: Items) -> None:
        self._thread = thread
        self._items = items
        self._outbox = thread.outbox
        self._log = thread.log
        self._goal: Any = None

    def read(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind.__class__ is not str:
            kind = string(kind)
        handler = self._HANDLERS.get(kind)
        if handler is not None:
            handler(self, event)
        elif kind not in _PASSED_OVER:
            self._log.note("unknown", f"event type {kind!r}")

    def _tokens(self, event: dict[str, Any]) -> None:
        info, thread = event.get("info"), self._thread
        if info.__class__ is dict:
            usage = thread.tally.grown(info, thread.model)
            if usage is not None:
                self._outbox.say(usage)
        limits = event.get("rate_limits")
        if limits.__class__ is dict and limits != thread.limits:
            thread.limited(limits)

    # what items say too

    def _said(self, event: dict[str, Any]) -> None:
        text = event.get("message")
        unusual = self._outbox.queue or self._thread.taken_over
        if text.__class__ is str and text and text[0] != "<" and not unusual:  # nearly always
            self._thread.has_spoken = True
            self._outbox.echo([Said(text)], (("a", visible(text)),))
        else:
            self._speak([{"text": text_of(text)}])

    def _speak(self, content: Any) -> None:
        self._outbox.go_on()
        if texts := words_of(content):
            self._thread.has_spoken = True
            said = "\n".join(texts)
            contents = answered(said) if self._thread.taken_over else (Said(said),)
            self._outbox.echo(list(contents), marked("a", [visible(text) for text in texts]))

    def _thought(self, event: dict[str, Any]) -> None:
        self._think(lines_of([event.get("text")]))

    def _think(self, texts: list[str]) -> None:
        self._outbox.go_on()
        if texts:
            self._outbox.echo([Thinking("\n".join(texts))], marked("r", texts))

    def _asked(self, event: dict[str, Any]) -> None:
        images = [{"type": "input_image", "image_url": image} for image in listing(event.get("images"))]
        images += [{"type": "local_image", "path": path} for path in listing(event.get("local_images"))]
        sounds = [{"type": "audio", "url": sound} for sound in listing(event.get("audio"))]
        sounds += [{"type": "local_audio", "path": path} for path in listing(event.get("local_audio"))]
        self._ask([{"type": "text", "text": text_of(event.get("message"))}, *images, *sounds])

    def _ask(self, content: Any) -> None:
        self._outbox.go_on()
        words = typed_text(content)
        self._outbox.echo(list(told(content)), (("u", words),) if words else ())

    def _compacted(self, _event: dict[str, Any]) -> None:
        self._thread.compacted(Compacted(tokens_before=self._thread.tally.context), is_echo=True)

    def _item(self, event: dict[str, Any]) -> None:
        item = mapping(event.get("item"))
        match kind := item.get("type"):
            case "AgentMessage":
                self._speak(item.get("content"))
            case "Reasoning":
                self._think(lines_of(item.get("summary_text")) or lines_of(item.get("raw_content")))
            case "UserMessage":
                self._ask(item.get("content"))
            case "ContextCompaction":
                self._compacted(item)
            case "Plan":
                self._outbox.go_on()
                self._outbox.say(Planned(text=text_of(item.get("text"))))
            case "SubAgentActivity":
                self._activity(item)
            case "WebSearch":
                self._searched({**item, "call_id": item.get("id")})
            case "ImageGeneration":
                self._pictured(item)
            case "EnteredReviewMode":
                self._review(item)
            case "ExitedReviewMode":
                self._reviewed(item)
            case "FunctionCallOutput":
                self._returned(item)
            case "CollabAgentToolCall":
                self._collaborated(item)
            case "HookPrompt":
                pass  # its message is an item
            case str() if kind in _DEEDS:
                self._done({**item, "call_id": item.get("id"), **_paths(item)})
            case _:
                self._log.note("unknown", f"item type {kind!r}")

    # deeds: what calls did

    def _done(self, event: dict[str, Any]) -> None:
        call = string(event.get("call_id"))
        if event.get("type") == "exec_command_end" and event.get("exit_code") not in (0, None):
            self._thread.failed.add(call)
        if not self._thread.did(call, event) and event.get("source") not in ("user_shell", "userShell"):
            self._alone(call, event)

    def _mcp(self, event: dict[str, Any]) -> None:
        call = string(event.get("call_id"))
        _, failed = result_of(event.get("result"))
        if failed:
            self._thread.failed.add(call)
        if not self._thread.did(call, event):
            self._alone(call, {**mapping(event.get("invocation")), **event})

    def _alone(self, call: str | None, deed: dict[str, Any]) -> None:
        """Done by no call that the log has: it is told as one."""
        match deed:
            case {"tool": tool, "server": server}:
                name, arguments = f"mcp__{text_of(server)}__{text_of(tool)}", deed.get("arguments")
                text, failed = result_of(deed.get("result"))
                text = text or _reason(deed)
            case {"tool": tool}:
                name, arguments = named({**deed, "name": tool}), deed.get("arguments")
                text, failed = content_text(listing(deed.get("content_items"))), deed.get("success") is False
                text = text or _reason(deed)
            case {"kind": "image_gen.generation"}:
                name, arguments = "image_generation", {"prompt": deed.get("revisedPrompt")}
                text, failed = picture_in(deed), deed.get("status") == "failed"
            case {"command": command}:
                name, arguments = "shell", {"command": command, "workdir": deed.get("cwd")}
                text, failed = text_of(deed.get("aggregated_output") or deed.get("stdout")), False
            case {"changes": changes}:
                name, arguments = "apply_patch", {"changes": changes}
                text, failed = text_of(deed.get("stdout")) + text_of(deed.get("stderr")), False
            case {"path": path}:
                name, arguments, text, failed = "view_image", {"path": path}, "", False
            case {"kind": "web.search"}:
                name, arguments = "web_search", {"query": deed.get("query"), **said_in(mapping(deed.get("action")))}
                text, failed = text_of(deed.get("results")), False
            case _:
                name = text_of(deed.get("kind") or deed.get("type"))
                arguments = {key: deed[key] for key in ("query", "action", "duration_ms", "durationMs") if key in deed}
                text, failed = text_of(deed.get("results")), False
        failed = failed or call in self._thread.failed
        self._thread.alone(name, arguments or {}, deed, ToolOutput(call, text, failed))

    def _searched(self, event: dict[str, Any]) -> None:
        """A web search; the item that says the same has no id in older logs."""
        call, action = string(event.get("call_id")), mapping(event.get("action"))
        if call not in self._thread.calls:
            if self._outbox.is_first(mark := ("w", dumps(action)), -1):
                self._thread.called("web_search", said_in(action) or {"query": event.get("query")}, call)
            else:
                call = self._thread.searches.get(mark) or call
        if event.get("results"):
            self._outbox.say(ToolOutput(call, text_of(event["results"]), is_error=False), "1")

    def _pictured(self, event: dict[str, Any]) -> None:
        self._items.pictured(event, -1)

    def _returned(self, item: dict[str, Any]) -> None:
        """What a tool gave that has no other item; its call may stand in the log, with the same output."""
        self._items.came(item, string(item.get("id")))

    # turns

    def _started(self, event: dict[str, Any]) -> None:
        self._outbox.go_on(whole=True)
        self._thread.begin_turn(event.get("turn_id"))

    def _ended(self, event: dict[str, Any]) -> None:
        self._outbox.go_on(whole=True)
        last = event.get("last_agent_message")
        if not self._thread.has_spoken and isinstance(last, str) and last:
            self._outbox.say(Said(last), "1")
        error = event.get("error")
        text = text_of(mapping(error).get("message") or error) or None
        self._outbox.say(TurnEnd("failed" if error else "completed", number(event.get("duration_ms")), text))

    def _aborted(self, event: dict[str, Any]) -> None:
        self._outbox.go_on(whole=True)
        reason = string(event.get("reason"))
        self._outbox.say(
            TurnEnd("interrupted", number(event.get("duration_ms")), None if reason == "interrupted" else reason)
        )

    def _settings(self, event: dict[str, Any]) -> None:
        self._thread.runs(mapping(event.get("thread_settings")).get("model"))

    def _named(self, event: dict[str, Any]) -> None:
        if not self._thread.is_agent and isinstance(name := event.get("thread_name"), str):
            self._log.facts.title = name

    def _aimed(self, event: dict[str, Any]) -> None:
        """A goal is written again whenever it used tokens."""
        goal = mapping(event.get("goal"))
        item = PlanItem(text_of(goal.get("objective")), string(goal.get("status")))
        if item != self._goal and item.text:
            self._goal = item
            self._outbox.say(Planned((item,)))

    def _rolled_back(self, event: dict[str, Any]) -> None:
        turns = event.get("num_turns")
        self._outbox.close()
        self._outbox.say(Notification(f"turns that were taken back: {text_of(turns)}", "info"))
        self._log.take_back_last(count(turns))

    # agents

    def _spawned(self, event: dict[str, Any]) -> None:
        call, agent = string(event.get("call_id")), event.get("new_thread_id")
        name, role = event.get("new_agent_nickname"), event.get("new_agent_role")
        self._thread.spawned(call, agent, name=name, role=role, prompt=event.get("prompt"))

    def _collaborated(self, item: dict[str, Any]) -> None:
        """A call is an item, or a script made it: then only this says which agent it began."""
        if item.get("tool") != "spawnAgent":
            return
        about = {text_of(agent.get("thread_id")): agent for agent in map(mapping, listing(item.get("receiver_agents")))}
        for part, agent in enumerate(listing(item.get("receiver_thread_ids"))):
            known = about.get(text_of(agent), {})
            name, role = known.get("agent_nickname"), known.get("agent_role")
            spawner = self._spawner(string(item.get("id")))
            self._thread.spawned(spawner, agent, str(part), name=name, role=role, prompt=item.get("prompt"))

    def _spawner(self, call: str | None) -> str | None:
        """The call that began an agent; of a call that a script made, the script's."""
        return call if call in self._thread.calls else self._outbox.at_work()

    def _interacted(self, event: dict[str, Any]) -> None:
        if string(event.get("call_id")) not in self._thread.calls:
            sender, recipient = string(event.get("sender_thread_id")), string(event.get("receiver_thread_id"))
            self._outbox.say(AgentMessage(text_of(event.get("prompt")), sender, recipient))

    def _activity(self, event: dict[str, Any]) -> None:
        call, agent = string(event.get("id") or event.get("event_id")), event.get("agent_thread_id")
        path = text_of(event.get("agent_path"))
        match event.get("kind"):
            case "started":
                self._thread.spawned(self._spawner(call), agent, name=path)
            case "interacted":
                pass  # by a call, which is an item
            case kind:
                self._outbox.say(Notification(f"agent {path or text_of(agent)}: {text_of(kind)}", "info"))

    # reviews and warnings

    def _review(self, event: dict[str, Any]) -> None:
        hint = event.get("user_facing_hint") or event.get("prompt") or event.get("target")
        self._outbox.say(Notification(f"review of {text_of(hint)}", "info"))

    def _reviewed(self, event: dict[str, Any]) -> None:
        review = mapping(event.get("review_output"))
        lines = [text_of(review.get("overall_explanation")) or "review ended"]
        findings = map(mapping, listing(review.get("findings")))
        lines += [f"{text_of(finding.get('title'))}\n{text_of(finding.get('body'))}" for finding in findings]
        self._outbox.say(Notification("\n\n".join(lines), "info"))

    def _guarded(self, event: dict[str, Any]) -> None:
        """Another model judged whether a call may run without asking the person."""
        status = text_of(event.get("status"))
        if status not in ("in_progress", "inProgress"):
            reason = text_of(event.get("rationale")) or text_of(mapping(event.get("action")).get("command"))
            level: Level = "info" if status == "approved" else "warning"
            self._outbox.say(Notification(f"guardian: {status}: {reason}" if reason else f"guardian: {status}", level))

    def _hooked(self, event: dict[str, Any]) -> None:
        """A program of the person's ran; it is told of if it said something or stood in the way."""
        run = mapping(event.get("run"))
        status, entries = text_of(run.get("status")), map(mapping, listing(run.get("entries")))
        said = lines_of([text_of(entry.get("text")) for entry in entries]) or lines_of([run.get("status_message")])
        if run and (said or status != "completed"):
            level: Level = "info" if status == "completed" else "warning"
            head = f"hook {text_of(run.get('event_name'))}: {status}"
            self._outbox.say(Notification("\n".join([head, *said]), level))

    def _failed(self, event: dict[str, Any]) -> None:
        self._outbox.say(Notification(text_of(event.get("message")), "error"))

    def _warned(self, event: dict[str, Any]) -> None:
        text = text_of(event.get("message") or event.get("summary") or event.get("details"))
        self._outbox.say(Notification(text, "warning"))

    def _rerouted(self, event: dict[str, Any]) -> None:
        self._thread.runs(event.get("to_model"))

    _HANDLERS: ClassVar[dict[str | None, Callable[["Happenings", dict[str, Any]], None]]] = {
        "token_count": _tokens,
        "agent_message": _said,
        "agent_reasoning": _thought,
        "agent_reasoning_raw_content": _thought,
        "user_message": _asked,
        "item_completed": _item,
        "task_started": _started,
        "turn_started": _started,
        "task_complete": _ended,
        "turn_complete": _ended,
        "turn_aborted": _aborted,
        "patch_apply_end": _done,
        "exec_command_end": _done,
        "mcp_tool_call_end": _mcp,
        "view_image_tool_call": _done,
        "dynamic_tool_call_response": _done,
        "web_search_end": _searched,
        "image_generation_end": _pictured,
        "context_compacted": _compacted,
        "thread_settings_applied": _settings,
        "thread_name_updated": _named,
        "thread_goal_updated": _aimed,
        "thread_rolled_back": _rolled_back,
        "undo_completed": _warned,
        "entered_review_mode": _review,
        "exited_review_mode": _reviewed,
        "guardian_assessment": _guarded,
        "hook_completed": _hooked,
        "collab_agent_spawn_end": _spawned,
        "collab_agent_interaction_end": _interacted,
        "sub_agent_activity": _activity,
        "error": _failed,
        "stream_error": _warned,
        "warning": _warned,
        "guardian_warning": _warned,
        "deprecation_notice": _warned,
        "model_reroute": _rerouted,
    }


def _reason(deed: dict[str, Any]) -> str:
    """Why it failed, where it gave nothing."""
    error = deed.get("error")
    return text_of(mapping(error).get("message") or error) if error else ""


def _paths(item: dict[str, Any]) -> dict[str, str]:
    """Where an item names a folder or a file by its address, its path."""
    found = {key: item[key] for key in ("cwd", "path") if isinstance(item.get(key), str)}
    return {key: unquote(place.removeprefix("file://")) for key, place in found.items() if place.startswith("file://")}
