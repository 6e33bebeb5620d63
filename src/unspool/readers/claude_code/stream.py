"""Claude Code's live stream: `claude -p … --output-format stream-json --verbose`; `amp -x … --stream-json` prints such.

So too `audit.jsonl`, which the desktop app keeps of its agent: it stamps each record, and writes down what was typed
before it is known how the session will be called.
"""

from pathlib import Path
from typing import Any

from unspool.dialect import Record
from unspool.model import MAIN, Event, Facts, Note
from unspool.model.event import Compacted, Notification, TurnEnd
from unspool.readers.blocks import content_text
from unspool.readers.claude_code.carried import own_share
from unspool.readers.claude_code.counting import Counts, counts_of, usage_of
from unspool.readers.claude_code.messages import AGENT, Messages
from unspool.readers.claude_code.tags import INTERRUPTED, is_typed
from unspool.readers.log import Log
from unspool.readers.pieces import Pieces
from unspool.sources.values import count, listing, mapping, number, string, text_of

_PASSED_OVER = frozenset(
    # Signs of life, and the talk of a program with its host.
    "tool_progress rate_limit_event keep_alive control_request control_response "
    "control_cancel_request prompt_suggestion command_lifecycle conversation_reset active_goal autocompact_state "
    "streamlined_text streamlined_tool_use_summary transcript_mirror".split()
)
_NOISE = frozenset(
    "thinking_tokens status session_state_changed files_persisted background_tasks_changed commands_changed "
    "hook_progress hook_started task_progress elicitation_complete plugin_install memory_recall "
    "worker_shutting_down post_turn_summary control_request_progress permission_request permission_response "
    "task_summary permission_check_status turn_starting turn_preempted turn_handoff_available tool_host_result "
    "per_turn_effort_changed instruction_size_warning peer_message_hold session_metadata bridge_state "
    "cloud_session_delta cloud_session_status code_change_published vcs_state_changed file_snapshot memory_saved "
    "dev_intent feedback_draft_queued ui_focus ui_invalidate ui_panes ui_scroll ui_status".split()
)

_OWN = "[ede_diagnostic]"
"""How an error of a result begins that is meant for those who make the program."""
_STAMP = "_audit_timestamp"
_REMEMBERED = 1000
"""Records and calls that may come once more: a stream may go on for days, and memory must not grow with it."""


class Stream:
    def __init__(self, path: str, agent: str = AGENT) -> None:
        self._path = path
        self._log = Log(agent)
        self._messages = Messages(self._log, path, _REMEMBERED)
        self._seen: dict[str, None] = {}
        """The keys of the last records."""
        self._pieces = Pieces()
        self._by_model = False
        """The program says what each model used in all. A turn that failed may leave it out."""
        self._is_whole = True
        """So far, all that the run took was its main loop's, in its first turn."""
        self._stopped: tuple[dict[str, Any], str] | None = None
        """That the person stopped the turn, and its key: the result says so too, if it still comes."""
        self._waited_for: set[str] = set()
        """Tasks that a call waits for; its result tells of them."""
        self._early: list[Record] = []
        """What the app wrote down before the session began."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log = self._log
        value = log.record(record)
        if value is None:
            return log.take()
        stamped = value.get(_STAMP)
        if stamped is not None and not log.session and value.get("type") == "user":
            self._early.append(record)
            return log.take()
        if (
            isinstance(session := value.get("session_id"), str)
            and session != log.session
            and _begins(value, log.session)
        ):
            self._begin(session)
        log.at(value.get("timestamp") or stamped)
        key = string(value.get("uuid")) or str(record.origin.line)
        if key in self._seen:
            return log.take()
        self._seen[key] = None
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        self._read(value, key)
        return log.take()

    def _begin(self, session: str) -> None:
        """A run; what several runs wrote may stand in one file."""
        self._cut_off()
        self._messages.counting.settle()
        self._log.enter(session)
        self._messages = Messages(self._log, self._path, _REMEMBERED)
        self._seen.clear()
        self._by_model, self._is_whole = False, True
        origin, early, self._early = self._log.origin, self._early, []
        self._log.hold([item for record in early for item in self.feed(record)])
        self._log.origin = origin

    def close(self) -> list[Event | Note]:
        if self._early:
            self._begin(string(mapping(self._log.record(self._early[0])).get("session_id")) or Path(self._path).stem)
        self._cut_off()
        self._messages.counting.settle()
        return self._log.take()

    def _cut_off(self, of: str | None = None) -> None:
        self._tell_stop()
        for message, key, stream in self._pieces.left(of):
            self._messages.assistant(message, key, stream, counted=False)

    def _tell_stop(self) -> None:
        """The turn was stopped, and no result told of it."""
        if self._stopped is not None:
            (value, key), self._stopped = self._stopped, None
            self._messages.user(value.get("message"), key, MAIN)

    def _read(self, value: dict[str, Any], key: str) -> None:
        call = string(value.get("parent_tool_use_id"))
        agent = string(value.get("agent_id")) or self._messages.agents.get(call or "", call)
        stream = f"agent:{agent}" if agent else MAIN
        if agent:
            kind, description = value.get("subagent_type"), value.get("task_description")
            self._messages.spawned(agent, call, self._messages.waiting(call), kind, description)
        match value.get("type"):
            case "assistant":
                self._tell_stop()
                self._answer(value, key, stream)
            case "user" if not agent and _stop_in(value.get("message")):
                self._tell_stop()
                self._stopped = value, key
            case "user":
                self._tell_stop()
                origin, result = value.get("origin"), value.get("tool_use_result")
                if value.get("isSynthetic") is True or not is_typed(origin):
                    self._messages.sent(value.get("message"), mapping(origin), key, stream, result)
                else:
                    about = map(mapping, listing(value.get("tool_result_meta")))
                    denied = any(call.get("non_execution_kind") for call in about)
                    self._messages.user(value.get("message"), key, stream, result, denied)
            case "system":
                self._system(value, key, stream)
            case "result":
                self._result(value, key)
            case "stream_event":
                self._piece(mapping(value.get("event")), key, stream)
            case "tool_use_summary":
                self._log.emit(Notification(text_of(value.get("summary")), "info"), key, stream)
            case "auth_status" if value.get("error"):
                self._log.emit(Notification(text_of(value["error"]), "error"), key, stream)
            case str() as kind if kind in _PASSED_OVER or kind == "auth_status":
                pass
            case kind:
                self._log.note("unknown", f"record type {kind!r}")

    def _piece(self, event: dict[str, Any], key: str, stream: str) -> None:
        """Messages come whole too. What one took in the end only its last piece says, should the run be cut off."""
        self._pieces.feed(event, key, stream)
        if event.get("type") == "message_delta" and isinstance(usage := event.get("usage"), dict):
            self._messages.counting.grew(stream, string(self._pieces.id_of(stream)), usage)

    def _answer(self, value: dict[str, Any], key: str, stream: str) -> None:
        self._pieces.came(stream)
        message = value.get("message")
        error = value.get("error") or value.get("is_api_error_message") is True
        if error and mapping(message).get("model") == "<synthetic>":
            text = content_text(mapping(message).get("content"))
            self._log.emit(Notification(text or text_of(error), "error"), key, stream)
        else:
            self._messages.assistant(message, key, stream, value.get("request_id"))

    def _system(self, value: dict[str, Any], key: str, stream: str) -> None:
        emit = self._log.emit
        match value.get("subtype"):
            case "init":
                facts = self._log.facts
                facts.project = facts.project or string(value.get("cwd"))
                facts.version = string(value.get("claude_code_version")) or facts.version
                facts.model = facts.model or string(value.get("model"))
                facts.tools = tuple(map(text_of, listing(value.get("tools"))))
            case "compact_boundary":
                about = mapping(value.get("compact_metadata") or value.get("compactMetadata"))
                before = count(about.get("pre_tokens") or about.get("preTokens"))
                self._is_whole = False
                emit(Compacted("", string(about.get("trigger")), before or None), key, stream)
            case "microcompact_boundary":
                emit(Notification("old tool results were dropped", "info"), key, stream)
            case "status" if value.get("compact_error"):
                emit(Notification(f"no compaction: {text_of(value['compact_error'])}", "warning"), key, stream)
            case "api_retry":
                reason = string(value.get("error")) or text_of(value.get("error_status"))
                attempt = f"{text_of(value.get('attempt'))} of {text_of(value.get('max_retries'))}"
                emit(Notification(f"API error: {reason}; attempt {attempt}", "warning"), key, stream)
            case "hook_response":
                name = text_of(value.get("hook_name"))
                said = string(value.get("output")) or string(value.get("stdout")) or text_of(value.get("stderr"))
                failed = value.get("exit_code") not in (0, None) or value.get("outcome") == "error"
                emit(Notification(f"hook {name}: {said}".rstrip(": "), "error" if failed else "info"), key, stream)
            case "task_started" | "task_updated" | "task_notification" as subtype:
                self._task(subtype, value, key, stream)
            case "session_title_changed":
                self._log.facts.title = string(value.get("title")) or self._log.facts.title
            case "file_attachments_missing":
                lost = f"{len(listing(value.get('missing')))} of {text_of(value.get('sent_count'))}"
                emit(Notification(f"{lost} attached files did not arrive", "warning"), key, stream)
            case "permission_denied":
                emit(Notification(f"permission denied: {text_of(value.get('tool_name'))}", "warning"), key, stream)
            case str() as subtype if subtype in _NOISE:
                pass
            case subtype:
                words = next(filter(None, (string(value.get(name)) for name in ("content", "message", "text"))), None)
                fault = string(value.get("error")) or string(value.get("error_code"))
                if words is not None:
                    emit(Notification(words, "info"), key, stream)
                elif fault is not None:
                    emit(Notification(f"{text_of(subtype)}: {fault}", "error"), key, stream)
                elif value.get("content") != "":  # else it is known to have nothing to say
                    self._log.note("unknown", f"system record {subtype!r}")

    def _task(self, subtype: str, value: dict[str, Any], key: str, stream: str) -> None:
        task, changed = text_of(value.get("task_id")), mapping(value.get("patch"))
        if subtype == "task_started":
            self._is_whole = self._is_whole and value.get("task_type") != "local_workflow"
            if value.get("is_backgrounded") is False:
                self._waited_for.add(task)
        elif subtype == "task_notification" and task not in self._waited_for:
            told = (string(value.get("summary")), string(mapping(value.get("handback_report")).get("text")))
            text = "\n".join(filter(None, told)) or text_of(value.get("status"))
            self._log.emit(Notification(f"task {task}: {text}", "info"), key, stream)
        elif subtype == "task_notification" or changed.get("is_backgrounded") is True:
            self._waited_for.discard(task)

    def _result(self, value: dict[str, Any], key: str) -> None:
        """The end of a turn. Here the true numbers stand: those of the answers are of their beginning."""
        counting, facts = self._messages.counting, self._log.facts
        counting.settle()
        own = counts_of(usage_of(mapping(value.get("usage"))))
        lasting = own[-1]
        since = value.get("model_usage_since_last_result")
        by_model = since if isinstance(since, dict) else mapping(value.get("modelUsage"))
        used = {model: _used(mapping(usage)) for model, usage in by_model.items()}
        if isinstance(since, dict):
            self._by_model = True
            counting.catch_up(counting.further(used), f"{key}:usage", lasting)
        elif any(map(any, used.values())):
            alone = self._is_whole and not self._messages.agents
            if alone and (share := own_share(value, used, facts.version)):
                counting.resume(used, *share)
            self._by_model = True
            counting.catch_up(used, f"{key}:usage", lasting)
        elif not self._by_model and isinstance(value.get("usage"), dict):  # of this turn alone
            told = {facts.model or "": own}
            counting.catch_up(counting.further(told), f"{key}:usage", lasting)
        self._is_whole = False
        failed = value.get("is_error") is True or text_of(value.get("subtype")).startswith("error")
        subtype = string(value.get("subtype"))
        faults = (text_of(error) for error in listing(value.get("errors")))
        errors = "\n".join(fault for fault in faults if not fault.startswith(_OWN)) or text_of(value.get("error"))
        denials = listing(value.get("permission_denials"))
        stopped = text_of(value.get("terminal_reason")).startswith("aborted")
        if stopped and self._stopped is not None:
            errors = errors or _stop_in(self._stopped[0].get("message"))
            self._stopped = None
        self._tell_stop()
        if failed or stopped:
            self._cut_off(MAIN)
        self._pieces.came(MAIN)
        end = TurnEnd(
            "interrupted" if stopped else "failed" if failed else "completed",
            number(value.get("duration_ms")),
            (errors or string(value.get("result")) or subtype) if failed else None,
            reason=subtype if failed and not stopped and subtype != "success" else None,
            answer=None if failed else string(value.get("result")),
            api_ms=number(value.get("duration_api_ms")),
            model_turns=count(value.get("num_turns")) or None,
            cost_usd=_first_number(value.get("total_cost_usd"), value.get("cost_usd")),
            denied=tuple(dict.fromkeys(text_of(mapping(denial).get("tool_name")) for denial in denials)),
        )
        self._log.emit(end, key)


def _begins(value: dict[str, Any], session: str) -> bool:
    return not session or (value.get("type") == "system" and value.get("subtype") == "init")


def _stop_in(message: Any) -> str:
    """The words by which the person is said to have stopped the turn, if that is all that it says."""
    content = mapping(message).get("content")
    text = content if isinstance(content, str) else content_text(content) if len(listing(content)) == 1 else ""
    return text if text.startswith(INTERRUPTED) else ""


def _used(usage: dict[str, Any]) -> Counts:
    """A model's share of a run, as the stream's last record has it."""
    keys = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens", "thinkingTokens")
    read, cached, written, output, thought = (count(usage.get(key)) for key in keys)
    return read, cached, written, output, thought, 0  # for how long it was written, the result's usage says


def _first_number(*values: Any) -> float | None:
    return next((told for value in values if (told := number(value)) is not None), None)
