"""Calls without an id, and results that name no call: paired by position.

Gemini often gives no ids, the oldest OpenAI form never does, and hand-made traces forget them. Such a call is named
`call_0`, `call_1`, … by its place among the calls of its request, so the same call has the same name in every later
request of its conversation.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from unspool.model import Block, Message, ToolResult, ToolUse, message


def lacks_id(block: Block) -> bool:
    return (isinstance(block, ToolUse) and block.id is None) or (
        isinstance(block, ToolResult) and block.call_id is None
    )


class Pairing:
    """The calls of one request, in order; go through its messages, then through each answer's."""

    def __init__(self) -> None:
        self._calls = 0
        self._open: list[ToolUse] = []

    def name(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        named = []
        for each in messages:
            blocks = tuple(map(self._block, each.blocks))
            same = all(new is old for new, old in zip(blocks, each.blocks, strict=True))
            named.append(each if same else message(each.role, blocks, each.form, each.extra))
        return tuple(named)

    def branch(self) -> "Pairing":
        """For an answer: it goes on from here, and the next alternative does too."""
        branch = Pairing()
        branch._calls, branch._open = self._calls, list(self._open)
        return branch

    def _block(self, block: Block) -> Block:
        match block:
            case ToolUse():
                named = block if block.id is not None else replace(block, id=f"call_{self._calls}")
                self._calls += 1
                self._open.append(named)
                return named
            case ToolResult(call_id=None):
                call = self._answered_by(block)
                return block if call is None else replace(block, call_id=call.id)
            case ToolResult():
                self._open = [call for call in self._open if call.id != block.call_id]
        return block

    def _answered_by(self, result: ToolResult) -> ToolUse | None:
        """The first open call; of several tools, the first of that name."""
        fitting = [call for call in self._open if call.server_side == result.server_side]
        named: Sequence[ToolUse] = [call for call in fitting if result.name in (None, call.name)]
        for call in named or fitting:
            self._open.remove(call)
            return call
        return None
