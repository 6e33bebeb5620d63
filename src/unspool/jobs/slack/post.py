"""What the entries of the outbox mean as calls, and what the answers mean for what still waits."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from unspool.jobs.slack.calls import Caller, Later, Refused
from unspool.jobs.slack.outbox import Card, Outbox, Reactions

_CLOSED = {
    "account_inactive",
    "cannot_reply_to_message",
    "channel_not_found",
    "invalid_auth",
    "is_archived",
    "missing_scope",
    "not_allowed_token_type",
    "not_authed",
    "not_in_channel",
    "org_login_required",
    "restricted_action",
    "team_access_not_granted",
    "thread_not_found",
    "token_expired",
    "token_revoked",
}
"""Said of one message, it holds for all."""
_DONE_BEFORE = {"already_reacted", "no_reaction"}


class Request(NamedTuple):
    method: str
    arguments: dict[str, Any]


class Post:
    def __init__(self, outbox: Outbox, call: Caller, posted: Callable[[str, str], None]) -> None:
        self.outbox = outbox
        self._call = call
        self._posted = posted
        """Told the channel and the thread, once it is there."""
        self._new: tuple[str, str] | None = None
        self.calls = 0
        self.reasons: dict[str, None] = {}
        """Why something was lost."""
        self.closed = False
        """Slack takes nothing from us."""

    def request(self, entry: Card | Reactions) -> Request | None:
        """None if there is nothing left to do."""
        outbox = self.outbox
        if isinstance(entry, Reactions):
            change = entry.call()
            if change is None or outbox.thread is None:
                entry.sending = False
                return None
            method, name = change
            return Request(method, {"channel": outbox.channel, "timestamp": outbox.thread, "name": name})
        content = {"channel": outbox.channel, **entry.content()}
        if entry.ts is not None:
            return Request("chat.update", {**content, "ts": entry.ts})
        thread = {"thread_ts": outbox.thread} if outbox.thread else {}
        return Request("chat.postMessage", {**content, **thread, "unfurl_links": False, "unfurl_media": False})

    def make(self, request: Request, timeout: float) -> Mapping[str, Any] | Later | Refused:
        self.calls += 1
        try:
            return self._call(request.method, request.arguments, timeout)
        except (Later, Refused) as problem:
            return problem

    def settle(self, entry: Card | Reactions, request: Request, answer: Mapping[str, Any] | Refused) -> None:
        outbox = self.outbox
        if isinstance(entry, Reactions):
            if isinstance(answer, Refused) and str(answer) not in _DONE_BEFORE:
                self._refused(entry, request, answer)
                return
            entry.made(request.method, request.arguments["name"])
            entry.sending = False
            if entry.call() is not None and not entry.waiting:
                outbox.give_back(entry)
        elif isinstance(answer, Refused):
            self._refused(entry, request, answer)
        else:
            ts = str(answer.get("ts") or entry.ts or "")
            outbox.sent(entry, ts)
            outbox.channel = str(answer.get("channel") or outbox.channel)
            if outbox.thread is None:
                outbox.thread = ts
                self._new = outbox.channel, ts

    def _refused(self, entry: Card | Reactions, request: Request, problem: Refused) -> None:
        self.reasons[f"{request.method}: {problem}"] = None
        self.outbox.lose(entry)
        if isinstance(entry, Card) and (self.outbox.thread is None or str(problem) in _CLOSED):
            self.closed = True  # without a head there is no thread, and the channel must not be flooded

    def remember(self) -> None:
        """Tell whoever asked of the new thread. Apart, because it may take time."""
        if self._new is not None:
            new, self._new = self._new, None
            try:
                self._posted(*new)
            except OSError as error:
                self.reasons[f"the thread cannot be remembered: {error.strerror}"] = None
