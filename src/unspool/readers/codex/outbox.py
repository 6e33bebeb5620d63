"""Events on their way out: in order, none twice, and calls with what they really did.

Codex writes most things twice, once as an item of the conversation and once for its own screen; the second is an
echo. An echo waits until the next event shows whether the item comes; if it does not, the echo is the event.

A script or a patch is written before it ran. Such a call waits, and all behind it, until it is known what it did.
"""

from collections import OrderedDict
from collections.abc import Iterable
from functools import partial
from typing import Any, TypeAlias

from msgspec import Struct

from unspool.model import MAIN, Action, Content, Origin
from unspool.model.event import Thinking, ToolCall
from unspool.readers.log import Log

Mark: TypeAlias = tuple[str, str]
"""A letter for what kind of thing it is, and the words by which its echo is known."""
Marks: TypeAlias = tuple[Mark, ...]
_REMEMBERED = 200
"""Texts that may still be echoed."""
_UNKEPT: list[Content] = [Thinking("")]
"""A thought of which only a cipher was kept."""


class _Echo(Struct):
    contents: list[Content]
    origin: Origin
    time: str | None
    marks: Marks


class _Waiting(Struct):
    content: Content
    key: str
    origin: Origin
    time: str | None
    deeds: list[dict[str, Any]] | None = None
    """Of a call that is still open: what it did, as the log tells it."""
    is_known: bool = False
    """The log said what the call did, be it nothing."""
    answered: bool = False
    cell: str | None = None
    """The script still runs under this number, though its call was answered."""


class Outbox:
    def __init__(self, log: Log) -> None:
        self._log = log
        self.stream = MAIN
        self.prefix = ""
        """Of keys: threads of one session stand in files of their own, each with a first line."""
        self.queue: list[_Waiting] = []
        """Empty, or it begins with a call that is still open."""
        self._unkept: tuple[Origin, str | None] | None = None
        """Where a thought stood whose text was not kept; nothing came behind it yet. Most thoughts are such."""
        self._open: dict[str, _Waiting] = {}
        """The calls in the queue whose deeds may still come."""
        self._echoes: list[_Echo] = []
        self._unechoed: OrderedDict[Mark, int] = OrderedDict()
        """How often a text was told and not echoed; below 0, how often it was echoed and not told."""

    def key(self, part: str) -> str:
        """Of an event that comes of the record at hand."""
        return f"{self.prefix}{self._log.origin.line}:{part}"

    def say(self, content: Content, part: str = "0") -> None:
        if self._echoes:
            self._confirm()
        if self._unkept is not None:
            self._think_silently()
        self.add(content, part)

    def add(self, content: Content, part: str) -> None:
        """Emit an event outside the conversation. Echoes still wait for their items."""
        log = self._log
        key = f"{self.prefix}{log.origin.line}:{part}"
        if self.queue:
            self.queue.append(_Waiting(content, key, log.origin, log.time))
        else:
            log.emit(content, key, self.stream)

    def tell(self, contents: Iterable[Content], marks: Marks) -> None:
        """An item of the conversation; its marks are what its echoes repeat. Dropped if they were events already."""
        if len(self._echoes) == 1 and self._echoes[0].marks == marks and marks:  # nearly always the item comes next
            self._echoes = []
            for part, content in enumerate(contents):
                self.say(content, str(part))
            return
        left, known = list(marks), self._unechoed
        if self._echoes:
            echoes, self._echoes = self._echoes, [echo for echo in self._echoes if not _taken(echo.marks, left)]
            if 0 < len(left) < len(marks) and all(known.get(mark, 0) < 0 for mark in left):
                self._echoes = echoes  # a pause fell between the echoes: some of them were told, these are the rest
                self._confirm()
                self._count(marks, 1)
                return
        if left and known and all(known.get(mark, 0) < 0 for mark in left):
            self._count(left, 1)
            return
        for part, content in enumerate(contents):
            self.say(content, str(part))
        self._count(left, 1)

    def repeats(self, marks: Marks) -> bool:
        """Whether it is the echo of what was told already: nearly every one is."""
        known = self._unechoed
        if not known or not marks:
            return False
        for mark in marks:
            if known.get(mark, 0) <= 0:
                return False
        self._count(marks, -1)
        return True

    def echo(self, contents: list[Content], marks: Marks) -> None:
        if self.repeats(marks):
            return
        if self._unkept is not None:
            if contents and isinstance(contents[0], Thinking):
                self._unkept = None  # it gives way to the text
            else:
                self._think_silently()
        if self._echoes and contents and isinstance(contents[0], Thinking):
            self._echoes = [echo for echo in self._echoes if echo.contents != _UNKEPT]
        self._echoes.append(_Echo(contents, self._log.origin, self._log.time, marks))

    def forget(self, mark: Mark) -> None:
        """No echo is waited for."""
        self._unechoed.pop(mark, None)

    def is_first(self, mark: Mark, side: int) -> bool:
        """Two kinds of records tell the same (side 1 and -1), in any order: whether this one comes first."""
        known = self._unechoed.get(mark, 0)
        self._count((mark,), side)
        return known * side >= 0

    def think(self, texts: list[str]) -> None:
        """A reasoning item. One whose text was not kept gives way to an echo that has it."""
        if texts:
            self.tell([Thinking("\n".join(texts))], marked("r", texts))
        elif not self._echoes and not self.queue:
            if self._unkept is not None:
                self._think_silently()
            self._unkept = self._log.origin, self._log.time
        elif not any(isinstance(content, Thinking) for echo in self._echoes for content in echo.contents):
            self.echo(_UNKEPT, ())

    def hold(self, call: ToolCall) -> None:
        """A call that waits for its deeds."""
        if self._echoes:
            self._confirm()
        if self._unkept is not None:
            self._think_silently()
        key = f"{self.prefix}{self._log.origin.line}:0"
        held = _Waiting(call, key, self._log.origin, self._log.time, deeds=[])
        self.queue.append(held)
        self._open[call.provider_call_id or key] = held

    def done(self, call: str, deed: dict[str, Any] | None, loose: bool) -> bool:
        """Keeps what a call did while it is open; if it is not, and `loose`: what the newest script did. Else False."""
        held = self._open.get(call) or (self._script() if loose else None)
        if held is None or held.deeds is None:
            return False
        if deed is not None:
            held.deeds.append(deed)
        held.is_known = True
        return True

    def _script(self) -> _Waiting | None:
        return next((held for held in reversed(self._open.values()) if _is_script(held.content)), None)

    def at_work(self) -> str | None:
        """The call of the newest script that is open: what no call of the log did, it did."""
        script = self._script()
        return script.content.provider_call_id if script and isinstance(script.content, ToolCall) else None

    def answered(self, call: str, cell: str | None) -> None:
        """The output of a call came; deeds may be written just behind it."""
        if (held := self._open.get(call)) is not None:
            held.answered, held.cell = cell is None, cell

    def finished(self, cell: str) -> None:
        """The script of that number ended."""
        for held in self._open.values():
            if held.cell == cell:
                held.answered = True

    def go_on(self, whole: bool = False) -> None:
        """The model goes on: what was answered before is told. At the end of a turn, all is."""
        if not self.queue:
            return
        for call in [call for call, held in self._open.items() if whole or held.answered]:
            held = self._open.pop(call)
            if held.is_known and isinstance(held.content, ToolCall):
                held.content = held.content.did(partial(_actions, tuple(held.deeds or ())))
            held.deeds = None
        if self.queue[0].deeds is not None:
            return
        free = next((at for at, held in enumerate(self.queue) if held.deeds is not None), len(self.queue))
        out, self.queue = self.queue[:free], self.queue[free:]
        self._emit(out)

    def close(self) -> None:
        if self._unkept is not None:
            self._think_silently()
        if self._echoes:
            self._confirm()
        if self.queue:
            self.go_on(whole=True)

    def _think_silently(self) -> None:
        log = self._log
        now = log.origin, log.time
        if self._unkept is not None:
            log.origin, log.time = self._unkept
            self._unkept = None
            log.emit(_UNKEPT[0], f"{self.prefix}{log.origin.line}:0", self.stream)
            log.origin, log.time = now

    def _confirm(self) -> None:
        """No item came for them: the echoes are the events."""
        echoes, self._echoes = self._echoes, []
        events = []
        for echo in echoes:
            self._count(echo.marks, -1)
            for part, content in enumerate(echo.contents):
                events.append(_Waiting(content, f"{self.prefix}{echo.origin.line}:{part}", echo.origin, echo.time))
        if self.queue:
            self.queue += events
        else:
            self._emit(events)

    def _emit(self, waiting: list[_Waiting]) -> None:
        log = self._log
        origin, time = log.origin, log.time
        for held in waiting:
            log.origin, log.time = held.origin, held.time
            log.emit(held.content, held.key, self.stream)
        log.origin, log.time = origin, time

    def _count(self, marks: Iterable[Mark], by: int) -> None:
        known = self._unechoed
        for mark in marks:
            found = known.pop(mark, 0) + by
            if found:
                known[mark] = found
        while len(known) > _REMEMBERED:
            known.popitem(last=False)


def marked(kind: str, texts: list[str]) -> Marks:
    return tuple([(kind, text) for text in texts])


def _taken(marks: Marks, left: list[Mark]) -> bool:
    """Whether all the marks are among those left; then they are taken from them."""
    rest = left.copy()
    for mark in marks:
        if mark not in rest:
            return False
        rest.remove(mark)
    left[:] = rest
    return bool(marks)


def changes_in(deed: dict[str, Any]) -> tuple[Action, ...]:
    from unspool.actions.codex_changes import changes_of  # 10 ms that a list of sessions need not pay

    return changes_of(deed)


def _actions(deeds: tuple[dict[str, Any], ...]) -> tuple[Action, ...]:
    return tuple([action for deed in deeds for action in changes_in(deed)])


def _is_script(content: Content) -> bool:
    return isinstance(content, ToolCall) and content.name == "exec"
