"""Failed tool calls in recorded traffic.

Most APIs have no field for the failure of a tool: the client writes it into the text of the result. A log's reader
knows how its agent does that, so results are judged by the reader's rule where the agent of the traffic is recognised.
Results of other programs are left as they are, and so are those of which the API says whether they failed.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TypeAlias

from msgspec.structs import replace

from unspool.ingest.agents import agent_of, client_of
from unspool.model import Block, Exchange, Message, Text, Tool, ToolResult, ToolUse

Rule: TypeAlias = Callable[[str, str | None], bool]
"""Whether a result with this text, of a tool with this name, is that of a failed call."""
_OPENING = 4
"""Messages by which an agent is recognised."""
_MAX_KNOWN = 50_000
"""Messages and calls that are remembered."""


_RULES = {
    "cline": "cline.messages",
    "codex": "codex.outputs",
    "copilot_cli": "copilot_cli.results",
    "droid": "droid.texts",
    "gemini_cli": "genai",
    "goose": "goose.messages",
    "opencode": "opencode.results",
    "pi": "pi.results",
    "qwen_code": "qwen_code.results",
    "roo": "cline.messages",
}
"""Modules of readers that judge results by their text: each has a function `reports_failure`."""
_STOPPING = frozenset({"codex", "gemini_cli", "qwen_code"})
"""Agents whose module can also recognise from the text that a person stopped the call: `was_stopped`."""


@cache
def rule_for(agent: str | None) -> Rule | None:
    """Return the rule by which the reader of an agent's log judges results, if it judges them by their text."""
    module = _RULES.get(agent or "")
    if module is None:
        return None
    rule: Rule = import_module(f"unspool.readers.{module}").reports_failure
    return rule


def was_stopped(agent: str | None, text: str) -> bool:
    """Return whether the text of a failed result says that a person stopped the call, or did not allow it."""
    if agent not in _STOPPING:
        return False
    stopped: Callable[[str], bool] = import_module(f"unspool.readers.{_RULES[agent]}").was_stopped
    return stopped(text)


class Outcomes:
    """Marks failed results in one call after another. The same message is marked in the same way in all of them."""

    def __init__(self) -> None:
        self._judged: dict[Message, Message] = {}
        self._tools: dict[str | None, str] = {}
        """The names of tools by the ids of their calls."""
        self._agents: dict[tuple[str, tuple[Message, ...]], tuple[tuple[Tool, ...], str | None]] = {}

    def judge(self, exchange: Exchange) -> Exchange:
        """Return the call with its failed results marked."""
        rule = rule_for(self._agent_of(exchange))
        known = self._judged
        if rule is None:
            # A request for a title may not show its agent, but it repeats messages of the conversation.
            if known and not known.keys().isdisjoint(exchange.messages):
                return _with_messages(exchange, tuple([known.get(each, each) for each in exchange.messages]))
            return exchange
        if len(known) > _MAX_KNOWN or len(self._tools) > _MAX_KNOWN:
            known.clear()
            self._tools.clear()
        messages = []
        for message in exchange.messages:
            judged = known.get(message)
            if judged is None:
                judged = known[message] = self._judge(message, rule)
            messages.append(judged)
        for message in exchange.response.messages:
            self._learn(message)
        return _with_messages(exchange, tuple(messages))

    def _agent_of(self, exchange: Exchange) -> str | None:
        """Return the agent, which is the same for calls that begin alike and offer the same tools."""
        key = client_of(exchange.extra), exchange.messages[:_OPENING]
        tools, agent = self._agents.get(key, ((), None))
        if tools is not exchange.tools or key not in self._agents:
            if len(self._agents) > _MAX_KNOWN:
                self._agents.clear()
            agent = agent_of(exchange)
            self._agents[key] = exchange.tools, agent
        return agent

    def _learn(self, message: Message) -> None:
        for block in message.blocks:
            if type(block) is ToolUse:
                self._tools[block.id] = block.name

    def _judge(self, message: Message, rule: Rule) -> Message:
        self._learn(message)
        blocks = tuple([self._judge_block(block, rule) for block in message.blocks])
        if all(new is old for new, old in zip(blocks, message.blocks, strict=True)):
            return message
        return Message(message.role, blocks, message.form, message.extra)

    def _judge_block(self, block: Block, rule: Rule) -> Block:
        if type(block) is not ToolResult or block.is_error is not None or block.server_side:
            return block
        text = "\n".join([part.text for part in block.content if type(part) is Text])
        tool = block.name or self._tools.get(block.call_id)
        return replace(block, is_error=True) if rule(text, tool) else block


def _with_messages(exchange: Exchange, messages: tuple[Message, ...]) -> Exchange:
    changed = any(new is not old for new, old in zip(messages, exchange.messages, strict=True))
    return replace(exchange, messages=messages) if changed else exchange
