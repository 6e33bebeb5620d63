"""Claude Code's transcripts: one JSON line for each block of an answer, each prompt, each result, and much else."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import replace

from unspool.dialect import Record
from unspool.model import MAIN, Event, Facts, Note
from unspool.model.event import Compacted, Level, Notification, QueueOperation, Summary, TurnEnd, User
from unspool.readers.blocks import content_text
from unspool.readers.claude_code.attachments import attached, is_told, stop_hooks, typed_in, words_in
from unspool.readers.claude_code.bookkeeping import PASSED_OVER, SILENT, TICKS
from unspool.readers.claude_code.copies import told_above
from unspool.readers.claude_code.counting import Odd
from unspool.readers.claude_code.messages import AGENT, Message, Messages, content_of, mended
from unspool.readers.claude_code.queue import Queue
from unspool.readers.claude_code.tags import is_typed, said, within
from unspool.readers.log import Log
from unspool.sources.jsontext import Unreadable, dumps, loads_or_text
from unspool.sources.values import listing, mapping, number, string, text_of

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LEVELS: dict[str, Level] = {"warning": "warning", "error": "error"}


class Line(Struct, rename="camel", gc=False):
    """The fields of a record that we read. All else in it is skipped without being decoded: that is most of it.

    Those that most records have stand in the order that they have there: so each is found at once.
    """

    parent_uuid: Any = None
    is_sidechain: Any = None
    cwd: Any = None
    session_id: Any = None
    version: Any = None
    git_branch: Any = None
    agent_id: Any = None
    type: Any = None
    message: Message | Odd = None
    request_id: Any = None
    uuid: Any = None
    timestamp: Any = None
    tool_use_result: Raw = Raw()
    """The program's own record of a result. It repeats the result, and often a whole file: decoded only if needed."""
    request_session_id: Any = None
    """The session that the answer was made in, where that is not this one: the record is a copy."""
    is_meta: Any = None
    is_visible_in_transcript_only: Any = None
    origin: Any = None
    prompt_source: Any = None
    tool_denial_kind: Any = None
    is_compact_summary: Any = None
    is_api_error_message: Any = None
    forked_from: Any = None
    subtype: Any = None
    content: Any = None
    level: Any = None
    error: Any = None
    cause: Any = None
    duration_ms: Any = None
    compact_metadata: Any = None
    hook_infos: Any = None
    hook_errors: Any = None
    data: Any = None
    parent_tool_use_id: Any = field(default=None, name="parentToolUseID")
    attachment: Any = None
    operation: Any = None
    reason: Any = None
    task_id: Any = None
    summary: Any = None
    custom_title: Any = None
    ai_title: Any = None
    agent_name: Any = None
    pr_number: Any = None
    pr_url: Any = None
    parent_session_id: Any = None
    source_session_id: Any = None
    cost_usd: Any = field(default=None, name="costUSD")


_decoder = msgspec.json.Decoder(Line)
_line = _decoder.decode
decode: Callable[[bytes], list[Line]] = _decoder.decode_lines


class Transcript:
    def __init__(self, path: str, agent: str = AGENT) -> None:
        stem = Path(path).name.partition(".")[0]
        self._folder = Path(path).with_suffix("")
        self._stem = stem
        self._begun = False
        """The session's own records have begun; what stands before them was copied from another one."""
        self._own = stem if _UUID.fullmatch(stem) else None
        self._log = Log(agent)
        self._messages = Messages(self._log, path)
        self._early: list[Record] = []
        """Records from before the session was named."""
        self._seen = told_above(path)
        self._sidechains: dict[str, str] = {}
        """Of records in a sidechain without an agent's id: the first record of their chain."""
        self._boundary: Compacted | None = None
        """A compaction whose summary comes with the next record."""
        self._queue = Queue()
        self._inherited: str | None = None
        """In the log of an agent that was forked: the answer that began it, empty until it is known."""
        self._named = False
        """The person gave the session its title."""
        self._filed: dict[str, bool] = {}
        """Agents with a file of their own."""

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        log = self._log
        log.origin = record.origin
        line = record.value
        if line.__class__ is not Line:
            line = self._opened(record)
        if line is None:
            return log.take()
        session = line.session_id
        if (session != log.session or not self._begun) and isinstance(session, str):
            self._session(session)
        elif not log.session:
            self._early.append(record)
            return log.take()
        log.at(line.timestamp)
        kind = line.type
        handler = self._TYPES.get(kind) if isinstance(kind, str) else None
        if handler is None:
            if not isinstance(kind, str) or kind not in PASSED_OVER:
                log.note("unknown", f"record type {kind!r}")
            return log.take()
        key = line.uuid
        if not isinstance(key, str):
            key = str(record.origin.line)
        elif key in self._seen:  # the same record once more
            return log.take()
        else:
            self._seen.add(key)
        handler(self, line, key, MAIN if not line.is_sidechain else self._stream(line, key))
        return log.take() if log.out else []

    def _opened(self, record: Record) -> Line | None:
        try:
            return _line(record.data)
        except Unreadable:
            value = self._log.record(record)
            return None if value is None else _line(dumps(value | {"message": mended(value.get("message"))}))

    def close(self) -> list[Event | Note]:
        if self._early and not self._log.session:
            self._session(self._own or self._stem)
        self._compacted()
        self._tell_left(f"{self._log.origin.line}:end")
        self._messages.close()
        return self._log.take()

    def _tell_left(self, key: str) -> None:
        for at, told in enumerate(self._queue.left()):
            self._messages.user(told, f"{key}:told:{at}", MAIN)

    def _session(self, session: str) -> None:
        """The file is one session, even if it begins with a copy of another one's records."""
        if self._own is None:
            self._own = session
        log = self._log
        log.session = self._own
        self._begun = self._begun or session == self._own
        if not self._begun:
            log.facts.parent = session
        if self._early:
            origin, early, self._early = log.origin, self._early, []
            log.hold([item for record in early for item in self.feed(record)])
            log.origin = origin

    def _stream(self, line: Line, key: str) -> str:
        """Of a sub-agent. Older versions do not name it: then the first record of its chain does."""
        agent = line.agent_id
        if isinstance(agent, str):
            return f"agent:{agent}"
        parent = line.parent_uuid
        root = self._sidechains.get(parent, key) if isinstance(parent, str) else key
        self._sidechains[key] = root
        return f"agent:{root}"

    def _learn(self, line: Line) -> None:
        facts = self._log.facts
        if facts.project is None:
            facts.project = string(line.cwd)
        facts.version = string(line.version) or facts.version
        facts.branch = string(line.git_branch) or facts.branch
        facts.parent = facts.parent or string(mapping(line.forked_from).get("sessionId"))

    def _user(self, line: Line, key: str, stream: str) -> None:
        message = line.message
        content = content_of(message)
        if self._boundary is not None or line.is_compact_summary is True:
            if line.is_compact_summary is True:
                self._compacted(content_text(content), stream)
                return
            self._compacted()
        if isinstance(content, str) or self._log.facts.project is None:
            self._learn(line)
        typed = is_typed(line.origin, line.prompt_source)
        if line.is_meta is True or line.is_visible_in_transcript_only is True or not typed:
            self._messages.sent(message, mapping(line.origin), key, stream, line.tool_use_result)
        else:
            denied, follows = line.tool_denial_kind is not None, line.parent_uuid
            self._messages.user(message, key, stream, line.tool_use_result, denied, follows)

    def _compacted(self, summary: str | None = None, stream: str = MAIN) -> None:
        """The model sees a summary from here on."""
        held, self._boundary = self._boundary, None
        if held is not None or summary is not None:
            held = held or Compacted()
            made = replace(held, text=summary or held.text)
            self._log.emit(made, f"{self._log.origin.line}:compaction", stream)

    def _assistant(self, line: Line, key: str, stream: str) -> None:
        message = line.message
        if line.is_api_error_message is True:
            text = content_text(content_of(message))
            self._log.emit(Notification(text, "error"), key, stream)
            return
        if line.is_compact_summary is True:
            self._compacted(content_text(content_of(message)), stream)
            message = replace(message, content=[]) if isinstance(message, Message) else Message(content=[])
        own = line.forked_from is None and self._begun  # else its session has counted it
        if line.request_session_id is not None:
            own = own and not self._is_copied(line.request_session_id)
        if self._inherited is not None:
            own = own and not self._is_inherited(message)
        self._messages.assistant(message, key, stream, line.request_id, counted=own, cost=line.cost_usd)

    def _system(self, line: Line, key: str, stream: str) -> None:
        emit = self._log.emit
        text = text_of(line.content)
        match line.subtype:
            case "turn_duration":
                self._tell_left(key)
                self._messages.counting.settle(stream)
                emit(TurnEnd("completed", number(line.duration_ms)), key, stream)
            case "compact_boundary":
                self._boundary = self._messages.boundary(mapping(line.compact_metadata), stream)
            case "microcompact_boundary":
                emit(Notification(text or "old tool results were dropped", "info"), key, stream)
            case "local_command":
                for at, content in enumerate(said(text)):
                    told = Notification(text, "info") if isinstance(content, User) else content
                    emit(told, f"{key}:{at}", stream)
                if launched := within(text, "forked-skill-launch"):
                    about = mapping(loads_or_text(launched.encode()))
                    if agent := string(about.get("agentId")):
                        self._messages.spawned(agent, None, stream, about.get("skillName"), about.get("description"))
            case "stop_hook_summary":
                emit(stop_hooks(line.hook_infos, line.hook_errors), key, stream)
            case "api_error":
                error = mapping(line.error)
                cause = string(error.get("message")) or string(error.get("formatted"))
                reason = cause or text or text_of(line.error) or text_of(line.cause)
                emit(Notification(f"API error: {reason}", "error"), key, stream)
            case "away_summary":
                emit(Summary(text), key, stream)
            case "agents_killed":
                emit(Notification("all agents in the background were stopped", "warning"), key, stream)
            case str() as subtype if subtype in SILENT:
                pass
            case subtype:
                if text:
                    emit(Notification(text, _LEVELS.get(text_of(line.level), "info")), key, stream)
                elif line.content != "":  # else it is known to have nothing to say
                    self._log.note("unknown", f"system record {subtype!r}")

    def _progress(self, line: Line, key: str, stream: str) -> None:
        data = mapping(line.data)
        match data.get("type"):
            case "hook_progress":
                name, command = text_of(data.get("hookName")), text_of(data.get("command"))
                self._log.emit(Notification(f"hook {name}: {command}", "info"), key, stream)
            case "agent_progress":
                self._inline(line, data, stream)
            case str() as kind if kind in TICKS:
                pass
            case kind:
                self._log.note("unknown", f"progress {kind!r}")

    def _inline(self, line: Line, data: dict[str, Any], stream: str) -> None:
        """A record of a sub-agent in the log of its master; passed over if the agent has a log of its own."""
        agent = string(data.get("agentId"))
        inner = mapping(data.get("message"))
        key = string(inner.get("uuid"))
        if not agent or not key or key in self._seen:
            return
        self._seen.add(key)
        self._messages.spawned(agent, string(line.parent_tool_use_id), stream)
        if agent not in self._filed:
            self._filed[agent] = self._has_file(f"agent-{agent}.jsonl")
        if self._filed[agent]:
            return
        now = self._log.time
        self._log.at(inner.get("timestamp"))
        own = f"agent:{agent}"
        if inner.get("type") == "assistant":
            self._messages.assistant(inner.get("message"), key, own, inner.get("requestId"), cost=inner.get("costUSD"))
        else:
            self._messages.user(inner.get("message"), key, own, inner.get("toolUseResult"))
        self._log.time = now

    def _has_file(self, name: str) -> bool:
        try:
            return any(path.name == name for path in (self._folder / "subagents").rglob("agent-*.jsonl"))
        except OSError:
            return False

    def _attachment(self, line: Line, key: str, stream: str) -> None:
        attachment = mapping(line.attachment)
        if not self._queue.attached(typed_in(attachment)) or is_told(attachment, key, self._seen):
            return
        contents, known = attached(attachment)
        for at, content in enumerate(contents):
            if isinstance(content, User):
                self._messages.counting.settle(stream)
            self._log.emit(content, f"{key}:{at}" if at else key, stream)
        if attachment.get("type") == "prompt_snapshot" and (tools := listing(attachment.get("tools"))):
            self._log.facts.tools = tuple(text_of(mapping(tool).get("name")) for tool in tools)
        if not known:
            self._log.note("unknown", f"attachment {attachment.get('type')!r}")

    def _hooked(self, line: Line, key: str, stream: str) -> None:
        self._log.emit(Notification(content_text(line.content), "context"), key, stream)

    def _queued(self, line: Line, key: str, stream: str) -> None:
        text = content_text(line.content) if line.content is not None else None
        operation = QueueOperation(text_of(line.operation), text, string(line.task_id))
        self._log.emit(operation, key if line.uuid else f"{key}:queue", stream)
        if told := self._queue.told(operation.operation, words_in(line.content), line.reason):
            self._messages.user(told, f"{key}:told", stream)

    def _summary(self, line: Line, key: str, stream: str) -> None:
        text = text_of(line.summary)
        if self._log.facts.title is None:
            self._log.facts.title = text or None
        self._log.emit(Summary(text), key if line.uuid else f"{key}:summary", stream)

    def _title(self, line: Line, _key: str, _stream: str) -> None:
        """The model's titles are written again and again, also behind one that the person gave."""
        if given := string(line.custom_title) or string(line.agent_name):
            self._log.facts.title, self._named = given, True
        elif (made := string(line.ai_title)) and not self._named:
            self._log.facts.title = made

    def _pull_request(self, line: Line, key: str, stream: str) -> None:
        text = f"pull request #{text_of(line.pr_number)}: {text_of(line.pr_url)}"
        self._log.emit(Notification(text, "info"), f"{key}:pr", stream)

    def _fork(self, line: Line, _key: str, _stream: str) -> None:
        """A session, or an agent of this one, that knows what another said so far; an agent's log repeats the last."""
        parent = string(line.parent_session_id) or string(line.source_session_id)
        if parent and parent != self._log.session:
            self._log.facts.parent = parent
        if line.agent_id is not None:
            self._inherited = ""

    def _is_copied(self, session: Any) -> bool:
        """Whether it was answered in another session, of which this one is a fork."""
        if not isinstance(session, str) or session == self._log.session:
            return False
        self._log.facts.parent = session
        return True

    def _is_inherited(self, message: Any) -> bool:
        """Whether it is the answer that began the agent: the first one here, and not the agent's own."""
        answer = string(message.id) if isinstance(message, Message) else None
        self._inherited = self._inherited or answer
        return answer is not None and answer == self._inherited

    _TYPES: ClassVar[dict[Any, Callable[["Transcript", Line, str, str], None]]] = {
        "user": _user,
        "assistant": _assistant,
        "system": _system,
        "progress": _progress,
        "attachment": _attachment,
        "queue-operation": _queued,
        "saved_hook_context": _hooked,
        "summary": _summary,
        "ai-title": _title,
        "custom-title": _title,
        "agent-name": _title,
        "pr-link": _pull_request,
        "fork-context-ref": _fork,
    }
