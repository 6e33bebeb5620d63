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
from unspool.sources.prompt_cache import cache_miss_of, hour_long
from unspool.sources.values import Number, count, number, string

Counts: TypeAlias = tuple[int, int, int, int, int, int]
"""Input, cache read, cache write, output, reasoning; last the cache writes that live an hour, part of the writes."""
NOTHING: Counts = (0, 0, 0, 0, 0, 0)
_WRITE, _HOUR_LONG = 2, 5
_NOWHERE = Origin("", 0, 0, 0)
_BESIDE = ("advisor_message", "compaction")


Odd: TypeAlias = list[Any] | str | int | float | bool | None
"""What may stand anywhere in place of an object."""


class Split(Struct, frozen=True, gc=False):
    """How long what was written to the cache lives; the five-minute part is the difference to the total."""

    ephemeral_1h_input_tokens: Number | None = None


class Usage(Struct, frozen=True, gc=False):
    """Counts as Claude gives them; what else it says beside them is skipped. See `countable`."""

    input_tokens: Number | None = None
    cache_creation_input_tokens: Number | None = None
    cache_read_input_tokens: Number | None = None
    output_tokens: Number | None = None
    output_tokens_details: Any = None
    iterations: Any = None
    cache_creation: Split | Odd = None


class _Call:
    """One call to the model."""

    __slots__ = (
        *("beside", "cost", "counted", "diagnostics", "id", "key", "model", "origin", "request", "seen", "stream"),
        *("time", "times", "unpaid", "usage"),
    )

    def __init__(self, key: str, response: str | None, request: str | None, stream: str) -> None:
        self.key, self.id, self.request, self.stream = key, response, request, stream
        self.model: str | None = None
        self.usage: Usage | None = None
        """As its last line has it."""
        self.seen = self.counted = NOTHING
        self.times = 0
        self.beside: tuple[_Call, ...] = ()
        """Calls in it that its own count leaves out."""
        self.time: str | None = None
        self.origin = _NOWHERE
        self.diagnostics: Any = None
        """The provider's reason for a cache miss, until an event carries it."""
        self.cost = 0.0
        """The largest cost that a line of the message gives, in US dollars. 0 means that the agent knew no price."""
        self.unpaid = 0.0
        """The part of that cost which no event carries yet."""


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
        self._hour_long = 0
        """Cache writes for an hour that were counted since the last result."""

    def saw(
        self,
        stream: str,
        key: str,
        model: str | None,
        usage: Usage,
        response: str | None,
        request: str | None,
        diagnostics: Any = None,
        cost: Any = None,
    ) -> None:
        """Take note of a line of the message with these ids; a line without ids is known by its key.

        Every line of a message may repeat its usage, the provider's diagnostics and the agent's estimate of the cost.
        """
        call = self._open.get(stream)
        if call is None or call.id != response or call.request != request or not response:
            name = f"{response}/{request}" if response else key
            if call is None or call.key != name:
                if call is not None:
                    self._settle(call)
                call = self._open[stream] = self._call(name, stream, response, request)
        self._note(call, model, usage)
        if diagnostics is not None:
            call.diagnostics = diagnostics
        if cost is not None and (paid := number(cost) or 0.0) > call.cost:
            call.unpaid += paid - call.cost
            call.cost = paid
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
        if usage != call.usage:  # most lines repeat it
            call.usage, counts = usage, counts_of(usage)
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
        if grown[_HOUR_LONG] or call.diagnostics is not None or call.unpaid:
            used = _event(call, grown)
        else:  # nearly always, and keywords take time
            fresh, read, written, output, thought, _ = grown
            used = TokenUsage(call.model, fresh, read, written, output, thought, call.id, call.request)
        log.emit(used, f"{call.key}:usage:{call.times}", call.stream)
        log.time, log.origin = now
        call.times += 1
        if self._remembered is not None:  # a log has no results, which are compared with the total
            self._hour_long += grown[_HOUR_LONG]
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

    def catch_up(self, used: dict[str, Counts], key: str, hour_long: int = 0) -> None:
        """Count what each model used in all, as the program reports it, and was not counted yet.

        The program reports hour-long cache writes for the last turn only, of all models together: `hour_long`. Who
        resumes a session starts the program anew, and older ones count from nothing again.
        """
        if any(_is_less(used.get(model, NOTHING), told) for model, told in self._told.items()):
            self._before = self._then
        missing = {model: self._missing(_plain(model), told) for model, told in used.items()}
        left = max(0, hour_long - self._hour_long)
        lasting = dict.fromkeys(missing, 0)
        for model in sorted(missing, key=lambda model: missing[model][_WRITE], reverse=True):
            lasting[model] = min(left, missing[model][_WRITE])
            left -= lasting[model]
        for at, (model, (fresh, read, written, output, thought, _)) in enumerate(missing.items()):
            if fresh or read or written or output or thought:
                self._add(_plain(model), (fresh, read, written, output, thought, lasting[model]))
                counts = fresh, read, written, output, thought
                event = TokenUsage(model or None, *counts, apart=True, cache_write_1h=lasting[model])
                self._log.emit(event, f"{key}:{at}")
        self._told, self._then = used, self._total.copy()
        self._hour_long = 0

    def _missing(self, model: str, told: Counts) -> Counts:
        """Return what the program reports of a model beyond what was counted in this run of it."""
        counted, before = (total.get(model, NOTHING) for total in (self._total, self._before))
        return _most(NOTHING, _less(told, _less(counted, before)))

    def _add(self, model: str, counts: Counts) -> None:
        self._total[model] = _sum(self._total.get(model, NOTHING), counts)


def _event(call: _Call, grown: Counts) -> TokenUsage:
    """Return the event for what a call used since its last event; the provider's diagnostics and the cost go once."""
    miss = None if call.diagnostics is None else cache_miss_of(call.diagnostics)
    cost = call.unpaid or None
    call.diagnostics, call.unpaid = None, 0.0
    fresh, read, written, output, thought, lasting = grown
    return TokenUsage(
        call.model,
        *(fresh, read, written, output, thought, call.id, call.request),
        cache_write_1h=lasting,
        cache_miss=miss,
        cost_usd=cost,
    )


def _is_less(now: Counts, before: Counts) -> bool:
    return any(map(int.__lt__, now, before))


def _plain(model: str | None) -> str:
    """Without the mark of a wider window: `[1m]`."""
    return (model or "").partition("[")[0]


def _sum(one: Counts, other: Counts) -> Counts:
    (a, b, c, d, e, f), (u, v, w, x, y, z) = one, other  # as plainly as this: a loop takes ten times as long
    return a + u, b + v, c + w, d + x, e + y, f + z


def _less(one: Counts, other: Counts) -> Counts:
    (a, b, c, d, e, f), (u, v, w, x, y, z) = one, other
    return a - u, b - v, c - w, d - x, e - y, f - z


def _most(one: Counts, other: Counts) -> Counts:
    (a, b, c, d, e, f), (u, v, w, x, y, z) = one, other
    return max(a, u), max(b, v), max(c, w), max(d, x), max(e, y), max(f, z)


def countable(usage: dict[str, Any]) -> dict[str, Any]:
    """With counts that are such: somebody's server may have said anything."""
    counts: dict[str, Any] = {key: count(usage.get(key)) for key in Usage.__struct_fields__ if key.endswith("_tokens")}
    if isinstance(split := usage.get("cache_creation"), dict):
        counts["cache_creation"] = {key: count(split.get(key)) for key in Split.__struct_fields__}
    return usage | counts


def usage_of(usage: dict[str, Any]) -> Usage:
    return convert(countable(usage), Usage)


def counts_of(usage: Usage) -> Counts:
    """Return the counts of one usage. Claude's input has no cached tokens in it."""
    details, written, split = usage.output_tokens_details, usage.cache_creation_input_tokens or 0, usage.cache_creation
    lasting = (split.ephemeral_1h_input_tokens or 0) if split.__class__ is Split else 0
    if written and not lasting and usage.iterations.__class__ is list:
        lasting = _hour_long_of(usage.iterations, written)
    return (
        usage.input_tokens or 0,
        usage.cache_read_input_tokens or 0,
        written,
        usage.output_tokens or 0,
        count(details.get("thinking_tokens")) if details.__class__ is dict else 0,
        min(lasting, written),
    )


def _hour_long_of(iterations: list[Any], written: int) -> int:
    """Return the cache writes that live an hour, where only the steps of a call have the split: at a stream's end."""
    steps = [step for step in iterations if isinstance(step, dict) and step.get("type") not in _BESIDE]
    return sum(hour_long(step.get("cache_creation"), written) for step in steps)
