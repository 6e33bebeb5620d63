"""Calls without an id, and results that name no call: paired by position.

Gemini often gives no ids, the oldest OpenAI form never does, and hand-made traces forget them. Such a call is named
`call_0`, `call_1`, … by its place among such calls of its request, so the same call has the same name in every later
request of its conversation. A result that names no call answers the first open call of its tool, before all one that
had no id either.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from unspool.model import Block, Message, ToolResult, ToolUse


def lacks_id(block: Block) -> bool:
    return (isinstance(block, ToolUse) and block.id is None) or (
        isinstance(block, ToolResult) and block.call_id is None
    )


class Pairing:
    """The calls of one request, in order; go through its messages, then through each answer's."""

    def __init__(self) -> None:
        self._named = 0
        self._given: set[str | None] = set()
        self._open: list[tuple[bool, ToolUse]] = []  # whether the source gave an id, and the call

    def name(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        messages = tuple(messages)
        self._given.update(block.id for each in messages for block in each.blocks if isinstance(block, ToolUse))
        named = []
        for each in messages:
            blocks = tuple(map(self._block, each.blocks))
            same = all(new is old for new, old in zip(blocks, each.blocks, strict=True))
            named.append(each if same else Message(each.role, blocks, each.form, each.extra))
        return tuple(named)

    def branch(self) -> "Pairing":
        """For an answer: it goes on from here, and the next alternative does too."""
        branch = Pairing()
        branch._named, branch._given, branch._open = self._named, set(self._given), list(self._open)
        return branch

    def _block(self, block: Block) -> Block:
        match block:
            case ToolUse():
                call = block if block.id is not None else replace(block, id=self._new_name())
                self._open.append((call is block, call))
                return call
            case ToolResult(call_id=None):
                answered = self._answered_by(block)
                return block if answered is None else replace(block, call_id=answered.id)
            case ToolResult():
                self._open = [entry for entry in self._open if entry[1].id != block.call_id]
        return block

    def _new_name(self) -> str:
        while (name := f"call_{self._named}") in self._given:
            self._named += 1
        self._named += 1
        return name

    def _answered_by(self, result: ToolResult) -> ToolUse | None:
        fitting = [entry for entry in self._open if entry[1].server_side == result.server_side]
        of_tool = [entry for entry in fitting if result.name in (None, entry[1].name)]
        if not fitting:
            return None
        entry = min(of_tool or fitting, key=lambda entry: entry[0])
        self._open.remove(entry)
        return entry[1]
