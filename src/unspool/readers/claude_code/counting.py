"""Tokens of Claude's messages, each once.

Claude Code writes a line for each block of a message, and with each line the usage so far; lines of one message may
have tool results between them. So a message is counted when the next one begins, with the largest numbers seen, and
if it still grows after that, by what it grew.
"""

from typing import Any, TypeAlias

from msgspec import Struct, convert

from unspool.model import Origin
from unspool.model.event import TokenUsage
from unspool.readers.log import Log
from unspool.sources.values import Number, count, string

Counts: TypeAlias = tuple[int, int, int, int, int]
NOTHING: Counts = (0, 0, 0, 0, 0)
_NOWHERE = Origin("", 0, 0, 0)
_BESIDE = ("advisor_message", "compaction")


class Usage(Struct, frozen=True, gc=False):
    """Counts as Claude gives them; what else it says beside them is skipped. See `countable`."""

    input_tokens: Number | None = None
    cache_creation_input_tokens: Number | None = None
    cache_read_input_tokens: Number | None = None
    output_tokens: Number | None = None
    output_tokens_details: Any = None
    iterations: Any = None


class _Call:
    """One call to the model."""

    __slots__ = ("beside", "counted", "id", "key", "model", "origin", "request", "seen", "stream", "time", "times")

    def __init__(self, key: str, response: str | None, request: str | None, stream: str) -> None:
        self.key, self.id, self.request, self.stream = key, response, request, stream
        self.model: str | None = None
        self.seen = self.counted = NOTHING
        self.times = 0
        self.beside: tuple[_Call, ...] = ()
        """Calls in it that its own count leaves out."""
        self.time: str | None = None
        self.origin = _NOWHERE


class Counting:
    def __init__(self, log: Log, remembered: int | None = None, named: bool = True) -> None:
        self._log = log
        self._named = named
        """All lines of a message have its id: where a server counts nothing, that it was a call is told even so."""
        self._remembered = remembered
        """Calls after which an older one will not grow any more; None for a log, which may tell in any order."""
        self._calls: dict[str, _Call] = {}
        self._open: dict[str, _Call] = {}
        """The call of each stream that may still be going on."""
        self._total: dict[str, Counts] = {}
        """What was counted so far, by model."""
        self._then: dict[str, Counts] = {}
        """So too, when the program last said what it had used in all."""
        self._told: dict[str, Counts] = {}
        self._before: dict[str, Counts] = {}
        """What was counted before the program was started anew; below nothing, where it counts on from a run unseen."""

    def saw(
        self,
        stream: str,
        key: str,
        model: str | None,
        usage: Usage,
        response: str | None,
        request: str | None,
    ) -> None:
        """A line of the message with these ids; the key is that of the line, for one without."""
        call = self._open.get(stream)
        if call is None or call.id != response or call.request != request or not response:
            name = f"{response}/{request}" if response else key
            if call is None or call.key != name:
                if call is not None:
                    self._settle(call)
                call = self._open[stream] = self._call(name, stream, response, request)
        self._note(call, model, usage)
        within = usage.iterations
        if within.__class__ is list and len(within) > 1:
            self._saw_beside(call, within)

    def _call(self, key: str, stream: str, response: str | None, request: str | None) -> _Call:
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _Call(key, response, request, stream)
            if self._remembered is not None and len(self._calls) > self._remembered:
                del self._calls[next(iter(self._calls))]
        return call

    def _note(self, call: _Call, model: str | None, usage: Usage) -> None:
        counts = counts_of(usage)
        if counts != call.seen:
            call.seen = counts if call.seen is NOTHING else _most(counts, call.seen)
        call.model, call.time, call.origin = model, self._log.time, self._log.origin

    def _saw_beside(self, call: _Call, within: list[Any]) -> None:
        """What a model was asked that gave advice, or that summed all up, while the answer was made."""
        calls: list[_Call] = []
        for at, usage in enumerate(within):
            if isinstance(usage, dict) and usage.get("type") in _BESIDE:
                inner = self._call(f"{call.key}:{at}", call.stream, call.id, call.request)
                self._note(inner, string(usage.get("model")) or call.model, usage_of(usage))
                calls.append(inner)
        call.beside = tuple(calls)

    def settle(self, stream: str | None = None) -> None:
        """The message of the stream, or of each, is over."""
        for name in [stream] if stream is not None else list(self._open):
            if (call := self._open.pop(name, None)) is not None:
                self._settle(call)

    def _settle(self, call: _Call) -> None:
        if call.seen != call.counted or (self._named and call.id is not None and not call.times):
            self._count(call)
        for inner in call.beside:
            self._settle(inner)

    def _count(self, call: _Call) -> None:
        grown = call.seen if call.counted is NOTHING else _less(call.seen, call.counted)
        call.counted = call.seen
        log = self._log
        now = log.time, log.origin
        log.time, log.origin = call.time, call.origin
        used = TokenUsage(call.model, *grown, call.id, call.request)
        log.emit(used, f"{call.key}:usage:{call.times}", call.stream)
        log.time, log.origin = now
        call.times += 1
        self._add(_plain(call.model), grown)

    def grew(self, stream: str, response: str | None, usage: dict[str, Any]) -> None:
        """What the last message of the stream used in the end."""
        call = self._open.get(stream)
        if call is None:  # it was settled in a pause
            call = next((call for call in reversed(self._calls.values()) if call.stream == stream), None)
        if call is not None and call.id == response:
            self._open[stream] = call
            self._note(call, call.model, usage_of(usage))

    def resume(self, used: dict[str, Counts], model: str, own: Counts) -> None:
        """The program counts on from an earlier run. This one took what we saw, and of this model what is told."""
        for name, whole in used.items():
            mine = own if name == model else self._total.get(_plain(name), NOTHING)
            self._before[_plain(name)] = _less(mine, whole)

    def further(self, used: dict[str, Counts]) -> dict[str, Counts]:
        """What each model used in all, where the program says what it used since it last said so."""
        told = self._told.copy()
        for model, counts in used.items():
            told[model] = _sum(told.get(model, NOTHING), counts)
        return told

    def catch_up(self, used: dict[str, Counts], key: str) -> None:
        """What each model used in all, as the program says: what we did not see of it is counted now.

        Who resumes a session starts the program anew, and older ones count from nothing again.
        """
        if any(_is_less(used.get(model, NOTHING), told) for model, told in self._told.items()):
            self._before = self._then
        for at, (model, told) in enumerate(used.items()):
            counted, before = (total.get(_plain(model), NOTHING) for total in (self._total, self._before))
            missing = _most(NOTHING, _less(told, _less(counted, before)))
            if any(missing):
                self._add(_plain(model), missing)
                self._log.emit(TokenUsage(model or None, *missing, apart=True), f"{key}:{at}")
        self._told, self._then = used, self._total.copy()

    def _add(self, model: str, counts: Counts) -> None:
        self._total[model] = _sum(self._total.get(model, NOTHING), counts)


def _is_less(now: Counts, before: Counts) -> bool:
    return any(map(int.__lt__, now, before))


def _plain(model: str | None) -> str:
    """Without the mark of a wider window: `[1m]`."""
    return (model or "").partition("[")[0]


def _sum(one: Counts, other: Counts) -> Counts:
    (a, b, c, d, e), (v, w, x, y, z) = one, other  # as plainly as this: a loop takes ten times as long
    return a + v, b + w, c + x, d + y, e + z


def _less(one: Counts, other: Counts) -> Counts:
    (a, b, c, d, e), (v, w, x, y, z) = one, other
    return a - v, b - w, c - x, d - y, e - z


def _most(one: Counts, other: Counts) -> Counts:
    (a, b, c, d, e), (v, w, x, y, z) = one, other
    return max(a, v), max(b, w), max(c, x), max(d, y), max(e, z)


def countable(usage: dict[str, Any]) -> dict[str, Any]:
    """With counts that are such: somebody's server may have said anything."""
    return usage | {key: count(usage.get(key)) for key in Usage.__struct_fields__ if key.endswith("_tokens")}


def usage_of(usage: dict[str, Any]) -> Usage:
    return convert(countable(usage), Usage)


def counts_of(usage: Usage) -> Counts:
    """Input, cache read, cache write, output, reasoning. Claude's input has no cached tokens in it."""
    details = usage.output_tokens_details
    return (
        usage.input_tokens or 0,
        usage.cache_read_input_tokens or 0,
        usage.cache_creation_input_tokens or 0,
        usage.output_tokens or 0,
        count(details.get("thinking_tokens")) if details.__class__ is dict else 0,
    )
