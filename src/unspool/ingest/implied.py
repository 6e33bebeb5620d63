"""A session as the calls to the model that it implies: what was sent, as far as the log tells, and what came back.

A log does not keep the system prompt nor the tools' definitions, so the exchanges have none unless it does.
"""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import dropwhile, takewhile

from msgspec.structs import replace

from unspool.model import CacheMiss, Event, Exchange, Message, Note, Response, Text, ToolResult, ToolUse, Usage
from unspool.model import Thinking as ThinkingBlock
from unspool.model.blocks import Block
from unspool.model.event import (
    AgentMessage,
    Compacted,
    Notification,
    Said,
    SlashCommand,
    Summary,
    Thinking,
    TokenUsage,
    ToolCall,
    ToolOutput,
    User,
)
from unspool.readers import READERS
from unspool.sources.values import time_of
from unspool.wires.values import arguments_of


def _as_text(_event: Event, text: str) -> tuple[Block, ...]:
    return (Text(text),) if text else ()


class Implied:
    """One stream of one session. Feed it events; it gives exchanges as soon as they are over.

    `blocks` makes blocks of what an event says: whoever can read its record again puts images back.
    """

    def __init__(
        self, agent: str, blocks: Callable[[Event, str], tuple[Block, ...]] = _as_text, inherits: bool = True
    ) -> None:
        self._agent = agent
        self._inherits = inherits
        self._blocks = blocks
        self._system: list[Message] = []
        self._messages: list[Message] = []
        self._answer: list[Block] = []
        self._results: list[Block] = []
        self._first: Event | None = None
        self._last: Event | None = None
        self._sent: str | None = None
        """When the model was last given something."""
        self._asked: str | None = None
        """When it was given what it answers to."""
        self._later: list[Message] = []
        """What was said behind an answer whose tokens are still to be counted: with the next one, in some logs."""
        self._usage: Usage | None = None
        self._cache_miss: CacheMiss | None = None
        self._cost_usd: float | None = None
        self._places: dict[str, tuple[list[Message], Message]] = {}
        """What was said or answered, by the event's id, and the conversation that it stands in: the person may go back
        to before it, and a compaction may keep it."""
        self._unclaimed: list[tuple[Event, TokenUsage]] = []
        """Counts of tokens for which there is no answer: they go to the next one, so that none is lost."""
        self._told: TokenUsage | None = None
        self._newest: str | None = None
        self._compacted: str | None = None
        """The last call before a compaction, until the first behind it."""
        self._held: list[Event] | None = []
        """What came before the first count of a call's tokens: only then it is known what ends a call."""
        self._counts = False
        self._named = False
        """The log names the calls that it counts, and leaves none out."""
        self._answered_at = 0
        """The record of the last result."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the model would be sent next: at the end, the conversation as the log leaves it."""
        return *self._system, *self._messages

    def feed(self, event: Event) -> Iterator[Exchange]:
        if self._held is None:
            yield from self._feed(event)
            return
        self._held.append(event)
        if isinstance(event.content, TokenUsage) and not event.content.apart:
            self._named = event.content.response_id is not None
            yield from self._release(counts=True)

    def end(self) -> Iterator[Exchange]:
        """The log is at its end."""
        yield from self._release()
        yield from self.close()
        if self._unclaimed:
            (first, _), (last, _) = self._unclaimed[0], self._unclaimed[-1]
            yield self._exchange(first, last, None)

    def _release(self, counts: bool = False) -> Iterator[Exchange]:
        """The turn that ends with a count is counted. Those before it are not: a fork copied them."""
        held, self._held = self._held or [], None
        if held and self._inherits:
            self._inherit(held[0])
        counted = _last_turn(held) if counts else len(held)
        for at, event in enumerate(held):
            self._counts = at >= counted
            yield from self._feed(event)

    def _inherit(self, first: Event) -> None:
        """What another session said before this one went on from it: its calls are not made again, but sent."""
        reader = READERS.get(self._agent)
        before = Implied(self._agent, self._blocks, inherits=False)
        for event in reader.inherited(first.origin.file) if reader is not None else ():
            deque(before.feed(event), maxlen=0)
        deque(before.end(), maxlen=0)
        self._system, self._messages = before._system, before._messages

    def _feed(self, event: Event) -> Iterator[Exchange]:
        match event.content:
            case Thinking() | Said() | ToolCall() as said:
                if self._usage is not None or self._later or self._begins_anew(event, said):
                    yield from self.close()
                if self._first is None:
                    self._first, self._asked = event, self._sent
                self._last = event
                self._answer.append(_block(said))
            case ToolOutput() as result:
                content = self._blocks(event, result.output)
                self._give(ToolResult(result.provider_call_id, content, result.is_error))
                self._sent, self._answered_at = event.timestamp, event.origin.line
            case TokenUsage() as usage:
                if self._answer:
                    self._count(usage)
                else:
                    self._unclaimed.append((event, usage))
            case User(text=text, replaces=before, follows=after):
                if before is not None or after is not None:
                    yield from self._go_back(before, after)
                self._places[event.id] = self._messages, (yield from self._say(event, text))
            case Summary(text=text, replaces=before, follows=after) if before is not None or after is not None:
                yield from self._go_back(before, after)
                self._places[event.id] = self._messages, (yield from self._say(event, text))
            case AgentMessage(text=text) | Notification(text=text, level="context"):
                self._places[event.id] = self._messages, (yield from self._say(event, text))
            case SlashCommand(name=name, args=args):
                yield from self._say(event, f"{name} {args}" if args else name)
            case Notification(text=text, level="system"):
                blocks = (Text(text),)
                if all(known.blocks != blocks for known in self._system):  # a log that goes on elsewhere repeats it
                    self._system.append(Message("system", blocks, "string"))
            case Compacted() as compacted:
                yield from self._compact(event, compacted)

    def _begins_anew(self, event: Event, said: Thinking | Said | ToolCall) -> bool:
        """Whether the model was called again, where no count says so: it had results, or speaks behind calls."""
        if self._counts and self._first is not None:
            return not (self._named or isinstance(said, ToolCall)) and bool(said.text) and self._was_answered(event)
        if self._results:
            return True
        return not isinstance(said, ToolCall) and any(type(block) is ToolUse for block in self._answer)

    def _was_answered(self, event: Event) -> bool:
        """Whether all calls had results, by records of their own: so an answer that was not counted came to its end.

        Words tell it. Calls do not: Goose writes those of one answer apart, each with its result behind it.
        """
        given = {result.call_id for result in self._results if type(result) is ToolResult}
        asked = {block.id for block in self._answer if type(block) is ToolUse}
        told = self._last.origin.line if self._last is not None else 0
        return bool(given) and asked <= given and told < self._answered_at < event.origin.line

    def close(self) -> Iterator[Exchange]:
        """The call to the model is over."""
        if self._first is not None and self._last is not None:
            answer = Message("assistant", self._answered())
            yield self._exchange(self._first, self._last, answer)
            self._messages.append(answer)
            self._places[self._first.id] = self._messages, answer
        if self._results:
            self._messages.append(Message("user", tuple(self._results)))
        self._messages += self._later
        self._answer, self._results, self._later, self._first, self._last = [], [], [], None, None
        self._usage = self._told = self._cache_miss = self._cost_usd = None

    def _answered(self) -> tuple[Block, ...]:
        """A call without a result, behind which the model went on at once, was the provider's: a search of Codex."""
        given = {result.call_id for result in self._results if type(result) is ToolResult}
        blocks, went_on = self._answer, False
        for at in range(len(blocks) - 1, -1, -1):
            block = blocks[at]
            if isinstance(block, Text | ThinkingBlock):
                went_on = went_on or bool(block.text)
            elif went_on and type(block) is ToolUse and block.id not in given:
                blocks[at] = replace(block, server_side=True)
        return tuple(blocks)

    def _give(self, result: ToolResult) -> None:
        """Behind the answer that asked for it. In logs a person's word may come first; to the model it never did."""
        said = self._messages
        at = len(said)
        while at and said[at - 1].role != "assistant":
            at -= 1
        if self._first is not None or not at or result.call_id not in _calls(said[at - 1]):
            self._results.append(result)
        elif at < len(said) and type(said[at].blocks[0]) is ToolResult:
            said[at] = Message("user", (*said[at].blocks, result))
        else:
            said.insert(at, Message("user", (result,)))

    def _count(self, usage: TokenUsage) -> None:
        before = self._usage or Usage()
        self._told = self._told or usage
        self._usage = Usage(
            before.input + usage.input,
            before.cache_read + usage.cache_read,
            before.cache_write + usage.cache_write,
            before.output + usage.output,
            before.reasoning + usage.reasoning,
            before.cache_write_1h + usage.cache_write_1h,
        )
        self._cache_miss = self._cache_miss or usage.cache_miss
        if usage.cost_usd is not None:
            self._cost_usd = (self._cost_usd or 0.0) + usage.cost_usd

    def _say(self, event: Event, text: str) -> Generator[Exchange, None, Message]:
        message = Message("user", self._blocks(event, text) or (Text(text),), "string")
        self._sent = event.timestamp
        if self._answer and self._counts and self._usage is None:
            self._later.append(message)
            return message
        if self._answer or self._results:
            yield from self.close()
        self._messages.append(message)
        return message

    def _compact(self, event: Event, compacted: Compacted) -> Iterator[Exchange]:
        yield from self.close()
        self._compacted = self._newest
        _, first = self._places.get(compacted.kept or "", (None, None))
        kept = list(dropwhile(lambda message: message is not first, self._messages))
        self._places[event.id] = self._messages, Message("user", ())  # who goes back to before it has all of them again
        self._messages = [self._places[prompt][1] for prompt in compacted.prompts if prompt in self._places]
        if compacted.text:
            yield from self._say(event, compacted.text)
        self._messages += kept

    def _go_back(self, before: str | None, after: str | None) -> Iterator[Exchange]:
        """To before an event: the model is told nothing more of it and of what came of it. Or to the end of what was
        left behind another."""
        yield from self.close()
        said, first = self._places.get(before or after or "", (self._messages, None))
        self._messages = list(takewhile(lambda message: message is not first, said)) if before else said

    def _exchange(self, first: Event, last: Event, answer: Message | None) -> Exchange:
        for _, usage in self._unclaimed:
            self._count(usage)
        self._unclaimed.clear()
        compacted, self._compacted, self._newest = self._compacted, None, first.id
        model = self._told.model if self._told else None
        started, ended = time_of(self._asked or first.timestamp), time_of(last.timestamp)
        return Exchange(
            origin=first.origin,
            wire=self._agent,
            messages=(*self._system, *self._messages),
            response=Response(
                () if answer is None else (answer,),
                id=self._told.response_id if self._told else None,
                model=model,
                usage=self._usage,
                cache_miss=self._cache_miss,
                cost_usd=self._cost_usd,
            ),
            id=first.id,
            model=model,
            timestamp=started,
            duration_ms=ended - started if started is not None and ended is not None and ended >= started else None,
            extra={"session_id": first.session_id, "stream_id": first.stream_id, "compacts": compacted},
        )


def implied(items: Iterable[tuple[str, Event | Note]]) -> Iterator[Exchange | Note]:
    """The calls of all streams of these logs, as they come about. Each event comes with the name of its agent."""
    streams: dict[tuple[str, str], Implied] = {}
    for agent, item in items:
        if isinstance(item, Note):
            yield item
            continue
        name = item.session_id, item.stream_id
        stream = streams.get(name)
        if stream is None:
            stream = streams[name] = Implied(agent)
        yield from stream.feed(item)
    for stream in streams.values():
        yield from stream.end()


def is_implied(exchange: Exchange) -> bool:
    """Whether an agent's log tells of the call; else it was recorded."""
    return "stream_id" in (exchange.extra or {})


def _last_turn(events: list[Event]) -> int:
    """Where the last turn begins in which the model said something."""
    answered = False
    for at in range(len(events) - 1, -1, -1):
        content = events[at].content
        answered = answered or isinstance(content, Thinking | Said | ToolCall)
        if answered and isinstance(content, User | SlashCommand):
            return at
    return 0


def _calls(message: Message) -> set[str | None]:
    return {block.id for block in message.blocks if type(block) is ToolUse}


def _block(said: Thinking | Said | ToolCall) -> Block:
    match said:
        case Thinking(text=text):
            return ThinkingBlock(text)
        case Said(text=text):
            return Text(text)
    given = said.given
    if isinstance(given, dict) and given.keys() == {"raw"} and isinstance(given["raw"], str):
        given = given["raw"]  # so readers keep a text that is no object
    arguments, written = arguments_of(given)
    return ToolUse(said.provider_call_id, said.name, arguments, written)
