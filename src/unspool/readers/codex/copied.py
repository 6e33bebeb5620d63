"""Forks and sub-agents: their file may begin with a copy of the thread that they come from.

    session_meta            its own: id, forked_from_id, parent_thread_id, source{subagent{thread_spawn}}
    session_meta            that of the other thread, if the copy has it
    …                       what the other said, with old times or new ones
    task_started, …         what it says itself

Newer headers number the first record of its own, or only point to the other file (`history_base`). In others the turns
tell: ids of turns and threads are UUIDs that begin with their time, and a turn that is older than the thread is
another's.
"""

from typing import Any

from unspool.sources.values import mapping, text_of, time_of

_UUID, _VERSION = 36, 14
_EARLIER, _PAUSE = 1000, 1500
"""Milliseconds by which clocks may differ, and that pass between no two lines of a copy."""
_BEGINNINGS = ("task_started", "user_message", "thread_settings_applied")


class Copied:
    """Tells the records of a thread from those that it repeats, until the first of its own."""

    def __init__(self, header: dict[str, Any]) -> None:
        self._id = text_of(header.get("id"))
        self._is_timed = _is_timed(self._id)
        self._created = time_of(header.get("timestamp"))
        self._start = _ordinal(header.get("subagent_history_start_ordinal"))
        self.found = False
        """There is a copy: something in it was another thread's for certain."""
        self.ends_before = False
        """Records before this one that had no verdict are copied: the thread itself begins with this one."""
        self._before: int | None = None
        self._keeps_times = False
        """The other thread's header has its old time: then so has all that was copied."""

    def verdict(self, line: dict[str, Any]) -> bool | None:
        """Whether the record is copied; None if the next ones must tell."""
        ordinal = _ordinal(line.get("ordinal"))
        if self._start is not None and ordinal is not None:
            return ordinal < self._start
        payload = mapping(line.get("payload"))
        moment = time_of(line.get("timestamp"))
        is_old = self._created is not None and moment is not None and moment < self._created - _EARLIER
        if self._is_foreign(line, payload):
            self._keeps_times = self._keeps_times or (is_old and line.get("type") == "session_meta")
            self.found = True
            return True
        paused = moment is not None and self._before is not None and moment - self._before > _PAUSE
        self._before = moment or self._before
        turn = _turn(payload)
        if turn is not None and _is_timed(turn) and self._is_timed:
            self.found = self.found or turn < self._id
            return turn < self._id
        if is_old:
            self.found = True
            return True
        if self._keeps_times and self._created is not None and moment is not None and moment >= self._created:
            return False
        if self.found:
            is_unanswered = self._is_unanswered(line, payload)
            self.ends_before = paused and is_unanswered
            return False if paused else None if is_unanswered else True
        return None if turn is None else False

    @staticmethod
    def _is_unanswered(line: dict[str, Any], payload: dict[str, Any]) -> bool:
        """Whether it was said to the model, which did not answer yet: who forks may ask at once, without a pause."""
        kind, inner = line.get("type"), payload.get("type")
        said = kind == "response_item" and inner == "message" and payload.get("role") != "assistant"
        return said or kind == "turn_context" or (kind == "event_msg" and inner in _BEGINNINGS)

    def _is_foreign(self, line: dict[str, Any], payload: dict[str, Any]) -> bool:
        if line.get("type") == "session_meta":
            return payload.get("id") != self._id
        thread = payload.get("thread_id")
        if isinstance(thread, str) and thread != self._id:
            return True
        return mapping(line.get("metadata")).get("inherited_user_message") is True


def comes_from_another(header: dict[str, Any]) -> bool:
    """Whether the thread is a fork or a sub-agent: it may begin with a copy, and its total with another's."""
    keys = ("forked_from_id", "history_base", "subagent_history_start_ordinal")
    return any(header.get(key) for key in keys) or parent_of(header) is not None


def may_repeat(header: dict[str, Any]) -> bool:
    """Whether it may begin with a copy."""
    if header.get("history_base") and not header.get("subagent_history_start_ordinal"):
        return False
    return comes_from_another(header)


def parent_of(header: dict[str, Any]) -> str | None:
    """The thread that this one works for."""
    source = mapping(mapping(header.get("source")).get("subagent"))
    parent = header.get("parent_thread_id") or mapping(source.get("thread_spawn")).get("parent_thread_id")
    return parent if isinstance(parent, str) else None


def _turn(payload: dict[str, Any]) -> str | None:
    turn = payload.get("turn_id") or mapping(payload.get("internal_chat_message_metadata_passthrough")).get("turn_id")
    return turn if isinstance(turn, str) else None


def _is_timed(name: str) -> bool:
    """Whether it is a UUID of the version that begins with its time."""
    return len(name) == _UUID and name[_VERSION] == "7"


def _ordinal(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
