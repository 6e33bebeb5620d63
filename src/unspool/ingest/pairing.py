"""Calls without an id, and results that name no call: paired by position.

Gemini often gives no ids, the oldest OpenAI form never does, and hand-made traces forget them. Such a call is named
`call_0`, `call_1`, … by its place among such calls of its request, so the same call has the same name in every later
request of its conversation. A result that names no call answers the first open call of its tool, before all one that
had no id either. Where none is open, what the provider ran has printed once more.
"""

from collections.abc import Iterable
from typing import TypeAlias

from msgspec.structs import replace

from unspool.model import Block, Message, ToolResult, ToolUse

Named: TypeAlias = dict[tuple[Message, tuple[str | None, ...]], Message]
"""A message and the ids that its calls and results got → the message with them: the same object every time."""
_MANY = 50_000


class Pairing:
    """The calls of one request, in order; go through its messages, then through each answer's."""

    def __init__(self, named: Named) -> None:
        self._known = named
        self._count = 0
        self._given: set[str | None] = set()
        self._open: dict[str | None, tuple[bool, ToolUse]] = {}  # by id: whether the source gave it, and the call
        self._ran: ToolUse | None = None  # the last that the provider ran, and that was answered

    def name(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        messages = tuple(messages)
        self._given.update(block.id for each in messages for block in each.blocks if isinstance(block, ToolUse))
        return tuple([self._message(each) for each in messages])

    def branch(self) -> "Pairing":
        """For an answer: it goes on from here, and the next alternative does too."""
        branch = Pairing(self._known)
        branch._count, branch._given, branch._open = self._count, set(self._given), dict(self._open)
        branch._ran = self._ran
        return branch

    def _message(self, message: Message) -> Message:
        blocks = [self._block(block) for block in message.blocks]
        if all(new is old for new, old in zip(blocks, message.blocks, strict=True)):
            return message
        ids = tuple([_id(block) for block in blocks])
        known = self._known.get((message, ids))
        if known is None:
            if len(self._known) > _MANY:
                self._known.clear()
            known = self._known[message, ids] = Message(message.role, tuple(blocks), message.form, message.extra)
        return known

    def _block(self, block: Block) -> Block:
        match block:
            case ToolUse():
                call = block if block.id is not None else replace(block, id=self._new_name())
                self._open[call.id] = call is block, call
                return call
            case ToolResult(call_id=None):
                answered = self._answered_by(block)
                return block if answered is None else replace(block, call_id=answered.id)
            case ToolResult():
                self._open.pop(block.call_id, None)
        return block

    def _new_name(self) -> str:
        while (name := f"call_{self._count}") in self._given:
            self._count += 1
        self._count += 1
        return name

    def _answered_by(self, result: ToolResult) -> ToolUse | None:
        first: ToolUse | None = None
        for given, call in self._open.values():
            if call.server_side == result.server_side and result.name in (None, call.name):
                first = first or call
                if not given:
                    first = call
                    break
        if first is not None:
            del self._open[first.id]
            self._ran = first if first.server_side else self._ran
        elif result.server_side and self._ran is not None and self._ran.name == result.name:
            return self._ran
        return first


def _id(block: Block) -> str | None:
    match block:
        case ToolUse():
            return block.id
        case ToolResult():
            return block.call_id
    return None
