"""The outbox, emptied: by a thread of its own, in order and slowly; or at once, where nothing is really sent."""

import threading
from time import monotonic

from msgspec import Struct, structs

from unspool.jobs.pretty.stopping import waiting
from unspool.jobs.slack.calls import Later, Refused
from unspool.jobs.slack.outbox import Card, Outbox, Reactions
from unspool.jobs.slack.post import Post
from unspool.views.slack.story import React, Say, Told, Unsay

_PACE = 1.0
"""Seconds from an answer to the next call."""
_HELD = 2.0
_TIMEOUT = 10.0
_LONGEST = 30.0
"""Between two tries, where Slack does not say how long."""
_PIECE = 0.5


class Report(Struct, frozen=True):
    """What became of it."""

    calls: int
    thread: str | None
    lost: int
    """Messages that were not sent."""
    missed: tuple[str, ...]
    """What the first of them say."""
    reasons: tuple[str, ...]
    """Why not, each once."""


def _report(post: Post) -> Report:
    post.outbox.lose_all()
    outbox = post.outbox
    return Report(post.calls, outbox.thread, outbox.lost, tuple(outbox.missed), tuple(post.reasons))


def _place(outbox: Outbox, told: Told, held_until: float) -> None:
    match told:
        case Say(key=key, message=message):
            held = held_until if told.held else 0.0
            outbox.put(key, message, told.settled, told.urgent, told.joinable, held)
        case Unsay(key=key, instead=instead):
            if outbox.withdraw(key) and instead is not None:
                outbox.put(key, instead)
        case React(name=name):
            outbox.react(name)


class AtOnce:
    """For a dry run: every call as soon as it is known, but what the next moment may change."""

    def __init__(self, post: Post) -> None:
        self._post = post

    def put(self, told: Told) -> None:
        _place(self._post.outbox, told, float("inf"))
        while self._post.outbox.ready_at() == 0.0:
            self._send()

    def close(self, _deadline: float) -> Report:
        while len(self._post.outbox):
            self._send()
        return _report(self._post)

    def _send(self) -> None:
        entry = self._post.outbox.take()
        if (request := self._post.request(entry)) is not None:
            answer = self._post.make(request, _TIMEOUT)
            if isinstance(answer, Later):
                raise answer  # nobody is called, so nobody can be busy
            self._post.settle(entry, request, answer)


class Background:
    """One thread that calls Slack; nobody waits for it before `close`."""

    def __init__(self, post: Post, second: float = 1.0) -> None:
        self._post = post
        self._second = second
        """How long one is: tests have no time."""
        self._changed = threading.Condition()
        self._sending: Card | Reactions | None = None
        self._not_before = 0.0
        self._deadline: float | None = None
        self._stopped = False
        self._pause = _PACE
        self._trouble: str | None = None
        """Why the first that waits could not be sent so far."""
        self._thread = threading.Thread(target=self._work, name="slack", daemon=True)
        self._thread.start()

    def put(self, told: Told) -> None:
        with self._changed:
            if not self._post.closed:
                _place(self._post.outbox, told, monotonic() + _HELD * self._second)
                self._changed.notify()
            elif isinstance(told, Say):
                self._post.outbox.miss(told.message.text)

    def close(self, deadline: float) -> Report:
        """Wait for what waits, so many seconds at most."""
        with self._changed:
            self._deadline = monotonic() + deadline * self._second
            self._changed.notify()
        try:
            with waiting:
                self._wait(deadline * self._second)
        finally:
            with self._changed:
                self._stopped = True
                self._changed.notify()
        with self._changed:
            if self._sending is not None:
                self._post.outbox.lose(self._sending)
                self._sending = None
            report = _report(self._post)
        if report.lost and not report.reasons:
            return structs.replace(report, reasons=(self._trouble or "there was no time left",))
        return report

    def _wait(self, seconds: float) -> None:
        """For the thread's end, in pieces: a signal that comes just as one begins is heard only when it is over."""
        end = monotonic() + seconds
        while self._thread.is_alive() and (left := end - monotonic()) > 0:
            self._thread.join(min(left, _PIECE))

    def _work(self) -> None:
        try:
            while (entry := self._next()) is not None:
                self._send(entry)
        except Exception as error:  # a fault of ours must not end the run; it is told in the report
            with self._changed:
                self._post.reasons[f"{type(error).__name__}: {error}"] = None
                self._post.closed = True

    def _next(self) -> Card | Reactions | None:
        outbox = self._post.outbox
        with self._changed:
            while not self._stopped and not self._post.closed:
                now, ready = monotonic(), outbox.ready_at()
                if self._deadline is not None:
                    if ready is None or not self._in_time(now, self._deadline):
                        return None
                    ready = 0.0  # nothing more will come that could change it
                if ready is None:
                    self._changed.wait()
                elif now < (start := max(ready, self._not_before)):
                    self._changed.wait(start - now)
                else:
                    return outbox.take()
        return None

    def _in_time(self, now: float, deadline: float) -> bool:
        """Whether anything can still be sent. If not all can, what matters most goes first."""
        start = max(now, self._not_before)
        if start >= deadline:
            return False
        urgent = self._post.outbox.urgent_calls()
        if urgent and start + (urgent + 1) * _PACE * self._second >= deadline:
            self._post.outbox.only_urgent()
        return True

    def _send(self, entry: Card | Reactions) -> None:
        with self._changed:
            request = self._post.request(entry)
            if request is None:
                return
            self._sending = entry
            left = _TIMEOUT if self._deadline is None else (self._deadline - monotonic()) / self._second
        answer = self._post.make(request, min(_TIMEOUT, left))
        with self._changed:
            if self._stopped:
                return
            self._sending = None
            pause = _PACE
            if isinstance(answer, Later):
                self._trouble = f"{request.method}: {answer}"
                self._post.outbox.give_back(entry)
                self._pause = min(2 * self._pause, _LONGEST)
                pause = self._pause if answer.after is None else max(answer.after, _PACE)
            else:
                self._pause, self._trouble = _PACE, None
                self._post.settle(entry, request, answer)
            self._not_before = monotonic() + pause * self._second
        if not isinstance(answer, Refused):
            self._post.remember()
