"""Events of the server since version 2, told to the reader as those of before.

{"id": …, "created": …, "type": "session.text.ended", "location": {"directory": …}, "data": {"sessionID": …, …}}

inbox.enqueued   item: {type: user | synthetic, payload}; before that input.admitted, and prompt.admitted
step.started     assistantMessageID, model; step.ended: tokens; step.failed: error
text, reasoning  started, delta, ended: text
tool             input.started: name; called: input; progress, success, failed
execution        started, succeeded, failed, interrupted
"""

from collections.abc import Callable
from typing import Any

from unspool.readers.opencode.conversation import Conversation
from unspool.readers.opencode.outcomes import reason_of
from unspool.readers.opencode.whole import WholeMessages, part_of
from unspool.sources.values import mapping, string, text_of

_PREFIX, _BETA = "session.", "next."
_GROWING = ("text", "reasoning")
_FACTS = ("title", "directory", "location", "parentID", "model", "version")
_OUTCOMES = ("succeeded", "failed", "interrupted")
_PASSED_OVER = frozenset(
    # Settings, what a later event says in full, and marks for undoing.
    "agent.selected agent.switched moved deleted status idle diff execution.started inbox.delivered input.promoted "
    "prompt.promoted step.streamed tool.input.delta tool.input.ended compaction.admitted compaction.started "
    "compaction.delta revert.staged revert.cleared revert.committed usage.updated usage.recorded "
    "interrupt.requested inbox.delivery.changed metadata.updated permissions viewed archived unarchived".split()
)


def is_of_second(event: dict[str, Any]) -> bool:
    return text_of(event.get("type")).startswith(_PREFIX) and "sessionID" in mapping(event.get("data"))


class Second:
    """`tell` takes an event of before: its type and its properties."""

    def __init__(self, conversation: Conversation, tell: Callable[[str, dict[str, Any]], None]) -> None:
        self._conversation, self._tell = conversation, tell
        self._whole = WholeMessages(conversation)
        self._sessions: dict[str, dict[str, Any]] = {}
        self._calls: dict[str, dict[str, Any]] = {}
        """Calls that have no result yet: name, input and times."""
        self._commands: dict[str, Any] = {}
        """Commands of the person's own that still run."""
        self._typed: dict[str, str] = {}
        """Prompts by the names under which they wait."""
        self._failed: dict[str, str] = {}
        """Why the last step of a session failed."""
        self._said: dict[str, Callable[[dict[str, Any], str, Any, str], None]] = {
            **dict.fromkeys(("created", "updated", "renamed"), self._session),
            "forked": self._forked,
            **dict.fromkeys(("inbox.enqueued", "input.admitted", "prompt.admitted", "prompted"), self._prompted),
            "inbox.cancelled": self._withdrawn,
            **dict.fromkeys(("synthetic", "skill.activated"), self._shown),
            **dict.fromkeys(("instructions.updated", "context.updated"), self._instructed),
            **dict.fromkeys(("model.selected", "model.switched"), self._switched),
            **dict.fromkeys(("shell.started", "shell.ended"), self._shell),
            **dict.fromkeys(("compaction.ended", "compaction.failed"), self._compacted),
            **dict.fromkeys(("retry.scheduled", "retried"), self._retried),
        }

    def read(self, event: dict[str, Any], line: str) -> None:
        kind = text_of(event.get("type")).removeprefix(_PREFIX).removeprefix(_BETA)
        data, time = mapping(event.get("data")), event.get("created", mapping(event.get("data")).get("timestamp"))
        session, key = text_of(data.get("sessionID")), string(event.get("id")) or line
        if session not in self._sessions:
            place = mapping(event.get("location")).get("directory")
            self._sessions[session] = {"id": session, "directory": place, "time": {"created": time}}
            self._tell("session.updated", {"info": self._sessions[session]})
        what, _, how = kind.partition(".")
        if handler := self._said.get(kind):
            handler(data, session, time, key)
        elif what == "step" and how in ("started", "ended", "failed"):
            self._step(data, session, time, how)
        elif what in _GROWING and how in ("started", "delta", "ended"):
            self._text(data, session, time, what, how)
        elif what == "tool" and how in ("input.started", "called", "progress", "success", "failed"):
            self._tool(data, session, time, how)
        elif what == "execution" and how in _OUTCOMES:
            self._over(data, session, time, how, key)
        elif kind not in _PASSED_OVER:
            self._conversation.unknown(f"record type {text_of(event.get('type'))!r}")

    def _session(self, data: dict[str, Any], session: str, _time: Any, _key: str) -> None:
        told = mapping(data.get("info") or data.get("session")) or data
        self._sessions[session] |= {name: told[name] for name in _FACTS if name in told}
        self._tell("session.updated", {"info": self._sessions[session]})

    def _forked(self, data: dict[str, Any], session: str, _time: Any, _key: str) -> None:
        """Its parent is no caller."""
        self._sessions[session]["fork"] = {"sessionID": data.get("parentID")}
        self._tell("session.updated", {"info": self._sessions[session]})

    def _prompted(self, data: dict[str, Any], session: str, time: Any, key: str) -> None:
        item = mapping(data.get("item") or data.get("input"))
        prompt = mapping(item.get("payload") or item.get("data") or data.get("prompt"))
        kind = item.get("type", "user")
        if kind in ("user", "synthetic"):
            name = text_of(data.get("inboxID") or data.get("inputID") or data.get("messageID") or key)
            self._typed[name] = text_of(prompt.get("text"))
            self._whole.read({**prompt, "time": {"created": time}}, kind, name, session)

    def _withdrawn(self, data: dict[str, Any], session: str, time: Any, key: str) -> None:
        """A prompt that waited for its turn, and that no model will see."""
        text = f"withdrawn: {self._typed.pop(text_of(data.get('inboxID')), '')}"
        self._whole.read({"text": text, "time": {"created": time}}, "synthetic", key, session)

    def _shown(self, data: dict[str, Any], session: str, time: Any, key: str) -> None:
        self._whole.read({"text": data.get("text"), "time": {"created": time}}, "synthetic", key, session)

    def _instructed(self, data: dict[str, Any], session: str, time: Any, key: str) -> None:
        if data.get("text"):  # newer ones say only which of them changed
            self._whole.read({"text": data["text"], "time": {"created": time}}, "system", key, session)

    def _switched(self, data: dict[str, Any], session: str, time: Any, key: str) -> None:
        self._whole.read({"model": data.get("model"), "time": {"created": time}}, "model-switched", key, session)

    def _shell(self, data: dict[str, Any], session: str, time: Any, key: str) -> None:
        shell = mapping(data.get("shell")) or data
        name = text_of(shell.get("id") or shell.get("callID"))
        if "output" not in data:
            self._commands[name] = shell.get("command")
            return
        command = self._commands.pop(name, shell.get("command"))
        told = {"command": command, "output": data["output"], "time": {"created": time}}
        self._whole.read(told, "shell", key, session)

    def _compacted(self, data: dict[str, Any], session: str, time: Any, key: str) -> None:
        """It took a call of its own, of which nothing else tells, also where it failed."""
        told = {name: data.get(name) for name in ("reason", "recent", "model", "tokens", "error")}
        status = "failed" if data.get("error") else None
        about = {"summary": data.get("text"), "status": status, "time": {"created": time}}
        self._whole.read({**told, **about}, "compaction", key, session)

    def _retried(self, data: dict[str, Any], session: str, time: Any, key: str) -> None:
        about = {"attempt": data.get("attempt"), "error": data.get("error"), "time": {"created": time}}
        self._part(data, session, time, {"type": "retry", "id": key, **about})

    def _step(self, data: dict[str, Any], session: str, time: Any, how: str) -> None:
        info = {"id": data.get("assistantMessageID"), "sessionID": session, "role": "assistant"}
        if how == "started":
            self._tell("message.updated", {"info": {**info, "model": data.get("model"), "time": {"created": time}}})
            return
        tokens = {"tokens": data.get("tokens"), "cost": data.get("cost")}
        if how == "ended":
            self._part(data, session, time, {"type": "step-finish", "id": f"{info['id']}:finish", **tokens})
        else:
            self._failed[session] = reason_of(data.get("error"))
            self._tell("session.idle", {})  # of what it was saying, no more will come
        self._tell(
            "message.updated", {"info": {**info, **tokens, "error": data.get("error"), "time": {"completed": time}}}
        )

    def _text(self, data: dict[str, Any], session: str, time: Any, what: str, how: str) -> None:
        place = data.get("ordinal", data.get(f"{what}ID"))
        key = f"{text_of(data.get('assistantMessageID'))}:{what}:{text_of(place)}"
        if how == "delta":
            self._tell("message.part.delta", {"partID": key, "field": "text", "delta": data.get("delta")})
        else:
            span = {"start": time} if how == "started" else {"end": time}
            part = {"type": what, "id": key, "text": data.get("text", ""), "time": span}
            self._part(data, session, time, part)

    def _tool(self, data: dict[str, Any], session: str, time: Any, how: str) -> None:
        name = text_of(data.get("callID") or data.get("id"))
        call = self._calls.setdefault(name, {"time": {"created": time}})
        call["name"] = data.get("name") or data.get("tool") or call.get("name")
        if "input" in data:
            call["input"] = data["input"]
        if how == "input.started":
            return
        call["time"].setdefault("ran", time)
        over = how in ("success", "failed")
        status = {"success": "completed", "failed": "error"}.get(how, "running")
        time_of_it = {**call["time"], "completed": time} if over else call["time"]
        state = {**data, "status": status, "input": call.get("input")}
        item = {"type": "tool", "id": name, "name": call["name"], "state": state, "time": time_of_it}
        key = f"{text_of(data.get('assistantMessageID'))}:{name}"
        self._part(data, session, time, {**part_of(item), "id": key})
        if over:
            self._calls.pop(name, None)

    def _over(self, data: dict[str, Any], session: str, time: Any, how: str, key: str) -> None:
        known = self._failed.pop(session, None)
        if how == "failed" and reason_of(data.get("error")) != known:
            self._conversation.failed(session, data.get("error"), f"{key}:error")
        self._whole.read({"outcome": how, "time": {"created": time}}, "idle", key, session)

    def _part(self, data: dict[str, Any], session: str, time: Any, part: dict[str, Any]) -> None:
        about = {"messageID": data.get("assistantMessageID"), "sessionID": session}
        self._tell("message.part.updated", {"part": {**part, **about}, "time": time})
