"""Recorded calls → the events of the run that made them: the other way round than `implied`.

A request says what happened since the one that it goes on from: a prompt, results of tools. Its answer says what the
model then did. A conversation is the main stream of its session, or that of a sub-agent: one that a call asked for by
its prompt, or that asks a thing aside: without tools, though its agent has some (a title, a summary).
"""

from collections.abc import Iterable

from msgspec import Struct

from unspool.actions import vocabulary_for
from unspool.errors import UnspoolError
from unspool.graph.linking import is_real
from unspool.ingest.agents import agent_of
from unspool.ingest.facts import BESIDE
from unspool.ingest.families import Families, Placed
from unspool.ingest.outcomes import was_stopped
from unspool.ingest.splitting import session_of
from unspool.model import (
    MAIN,
    Block,
    Compaction,
    Content,
    Document,
    Event,
    Exchange,
    Facts,
    Message,
    Note,
    Other,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Usage,
)
from unspool.model import event as events
from unspool.readers.log import Log
from unspool.sources.jsontext import dumps
from unspool.sources.values import iso_time, placeholder, text_of
from unspool.transforms.asides import without_asides
from unspool.transforms.prices import CostSum, first_price

_IN_WORDS = frozenset({"cline", "roo"})
"""Agents that describe their tools in the prompt."""
_UNANSWERED = "the recording ends before the results of its calls"


class _Lane(Struct):
    """One conversation."""

    number: int
    session: str
    stream: str
    agent: str | None
    model: str | None
    task: "_Task | None" = None
    """What it was asked for by a call, if it was."""
    newest: int = -1
    """The number of its last call."""
    begun: bool = False
    """Something of it was told."""
    waiting: dict[str | None, str] = {}
    """Calls without a result, and their names."""


class _Task(Struct, frozen=True):
    """What a call asked of a sub-agent."""

    call: str
    description: str | None


class _Total(Struct):
    """What the calls came to that were told."""

    calls: int = 0
    began: int | None = None
    ended: int | None = None
    api_ms: float = 0.0
    used: list[tuple[tuple[str | None, ...], Usage | None, int | None, str]] = []


class Happenings:
    """Give it exchanges as they were recorded. Those that began before `since` are known, and not told."""

    def __init__(self, since: int | None = None) -> None:
        self._since = since
        self._families = Families()
        self._lanes: dict[int, _Lane] = {}
        """By the first call of their families."""
        self._equipped: set[str] = set()
        """Sessions whose agents have tools."""
        self._tasks: dict[str, _Task] = {}
        self._log = Log("")
        self._shown: _Lane | None = None
        """The conversation of a main stream that was told of last."""
        self._last: tuple[Exchange, bool] | None = None
        """The last call of a main stream, if there is one, and whether it waits for results."""
        self._total = _Total()
        self._part = 0

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, exchange: Exchange) -> list[Event | Note]:
        if BESIDE.search(exchange.path):
            return []
        placed = self._families.place(exchange)
        lane, told, log = self._lane(exchange, placed), self._is_told(exchange), self._log
        log.enter(lane.session)
        log.origin, self._part = exchange.origin, 0
        log.at(iso_time(exchange.timestamp))
        self._opening(exchange, placed, lane)
        for message in placed.new:
            if message.role != "assistant" or placed.link.parent is None:  # what it heard was told when it heard it
                self._said(message, lane, heard=False)
        if exchange.timestamp is not None:
            log.at(iso_time(exchange.timestamp + int(exchange.duration_ms or 0)))
        for message in placed.heard:
            self._said(message, lane, heard=True)
        self._closing(exchange, lane)
        out = log.take()
        if not told:
            return []
        lane.begun = True
        self._count(exchange)
        if lane.stream == MAIN:
            self._shown = lane
        if lane.stream == MAIN or self._shown is None:
            self._last = exchange, _waits(exchange)
        return out

    def close(self) -> list[Event | Note]:
        """The trace is at its end: how it went, and what it took."""
        if self._last is None:
            return []
        (exchange, waits), total, log = self._last, self._total, self._log
        answer = "\n\n".join(_words(exchange.response.messages))
        failure, cost = exchange.failure, _cost(total)
        ended = events.TurnEnd(
            status="failed" if failure else "interrupted" if waits or exchange.response.interrupted else "completed",
            text=failure.message if failure else _UNANSWERED if waits else None,
            answer=answer or None,
            duration_ms=None if total.began is None or total.ended is None else float(total.ended - total.began),
            api_ms=total.api_ms or None,
            model_turns=total.calls,
            cost_usd=cost.usd,
            cost_is_partial=cost.usd is not None and not cost.complete,
        )
        if self._shown is not None:
            log.enter(self._shown.session)
        log.emit(ended, "end")
        return log.take()

    def _is_told(self, exchange: Exchange) -> bool:
        return self._since is None or exchange.timestamp is None or exchange.timestamp >= self._since

    def _count(self, exchange: Exchange) -> None:
        total, began = self._total, exchange.timestamp
        total.calls += 1
        total.api_ms += exchange.duration_ms or 0.0
        if began is not None:
            ended = began + int(exchange.duration_ms or 0)
            total.began = began if total.began is None else min(total.began, began)
            total.ended = ended if total.ended is None else max(total.ended, ended)
        usage = exchange.response.usage
        if usage is not None or (exchange.response.messages and exchange.failure is None):
            models = exchange.response.model, exchange.model
            total.used.append((models, usage, began, exchange.wire))

    # Whose call it is.

    def _lane(self, exchange: Exchange, placed: Placed) -> _Lane:
        lane = self._lanes.get(placed.root)
        if lane is not None:
            return lane
        number = len(self._lanes) + 1
        session = session_of(exchange) or exchange.id or f"{exchange.origin.file}:{exchange.origin.line}"
        agent, task = agent_of(exchange), self._task(placed.new)
        toolless = agent is None or agent in _IN_WORDS
        aside = task is not None or (not exchange.tools and (session in self._equipped or not toolless))
        if task is not None and self._shown is not None:
            session, agent = self._shown.session, agent or self._shown.agent
        if exchange.tools:
            self._equipped.add(session)
        lane = _Lane(number, session, f"agent:{number}" if aside else MAIN, agent, exchange.model, task)
        self._lanes[placed.root] = lane
        if session not in self.sessions:
            tools = tuple(tool.name for tool in exchange.tools)
            self.sessions[session] = Facts(agent or "", session, model=exchange.model, tools=tools)
        return lane

    def _task(self, messages: Iterable[Message]) -> _Task | None:
        for message in messages:
            for block in message.blocks if message.role == "user" else ():
                if isinstance(block, Text) and (task := self._tasks.get(block.text.strip())) is not None:
                    return task
        return None

    # What it tells.

    def _emit(self, content: Content, lane: _Lane) -> None:
        self._part += 1
        origin = self._log.origin
        self._log.emit(content, f"{origin.line}.{lane.number}.{self._part}", lane.stream)

    def _notice(self, text: str, level: events.Level, lane: _Lane) -> None:
        self._emit(events.Notification(text, level), lane)

    def _opening(self, exchange: Exchange, placed: Placed, lane: _Lane) -> None:
        if lane.task is not None and lane.newest < 0:
            self._emit(events.AgentSpawn(str(lane.number), lane.task.call, description=lane.task.description), lane)
        if lane.stream == MAIN and self._shown is not None and self._shown is not lane:
            back = lane.begun
            self._notice(f"{'back to ' if back else ''}conversation {lane.number}", "info", lane)
        parent, newest, lane.newest = placed.link.parent, lane.newest, placed.number
        if placed.link.retry_of is not None:
            self._notice("asked again", "warning", lane)
        elif placed.link.reason == "edit" and placed.gone:  # clients write an answer in their own way, and that is all
            self._notice("the history was edited", "warning", lane)
        elif placed.link.reason == "compaction":
            self._emit(events.Compacted(), lane)
        elif parent is not None and parent != newest:
            self._notice("goes on from an earlier answer", "info", lane)
        if exchange.model and lane.model and exchange.model != lane.model:
            self._emit(events.ModelChange(exchange.model, lane.model), lane)
        lane.model = exchange.model or lane.model

    def _closing(self, exchange: Exchange, lane: _Lane) -> None:
        response = exchange.response
        if (usage := response.usage) is not None:
            used = events.TokenUsage(
                response.model or exchange.model,
                *(usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning, response.id),
                cache_write_1h=usage.cache_write_1h,
                cache_miss=response.cache_miss,
            )
            self._emit(used, lane)
        if exchange.failure is not None:
            status = f"{exchange.status} " if exchange.status else ""
            self._notice(f"{status}{exchange.failure.message}", "error", lane)
        elif response.interrupted:
            self._notice("the answer broke off", "warning", lane)

    def _said(self, message: Message, lane: _Lane, heard: bool) -> None:
        for block in message.blocks:
            match block:
                case ToolUse():
                    self._called(block, lane)
                case ToolResult():
                    self._emit(_output(block, lane), lane)
                case Thinking(text=text):
                    if heard:
                        self._emit(events.Thinking(text), lane)
                case _:
                    self._words(message.role, _text(block), lane)

    def _words(self, role: str, text: str, lane: _Lane) -> None:
        if not text.strip():
            return
        if role == "assistant":
            self._emit(events.Said(text), lane)
        elif role == "system":
            self._notice(text, "system", lane)
        elif typed := without_asides(text):
            self._emit(events.User(typed), lane)
        else:
            self._notice(text, "context", lane)

    def _called(self, block: ToolUse, lane: _Lane) -> None:
        given = {"raw": block.text or ""} if block.arguments is None else block.arguments
        call = events.ToolCall(block.name, _id(block.id, lane), given, vocabulary_for(lane.agent or "").read)
        self._emit(call, lane)
        lane.waiting[call.provider_call_id] = block.name
        prompt = given.get("prompt")
        if isinstance(prompt, str) and prompt.strip() and call.kind in ("agent", "generic"):
            description = text_of(given.get("description")) or None
            self._tasks[prompt.strip()] = _Task(call.provider_call_id or "", description)


def _id(call: str | None, lane: _Lane) -> str | None:
    """Names that only we gave stand for another call in each conversation."""
    return call if call is None or is_real(call) else f"{lane.number}.{call}"


def _answered(result: ToolResult, lane: _Lane) -> str | None:
    """The call that a result is of. Some clients give calls ids of their own before they send them back."""
    call = _id(result.call_id, lane)
    if call not in lane.waiting:
        call = next((other for other, name in lane.waiting.items() if name == result.name), call)
    lane.waiting.pop(call, None)
    return call


def _output(result: ToolResult, lane: _Lane) -> events.ToolOutput:
    text, failed = "\n".join(map(_text, result.content)), bool(result.is_error)
    return events.ToolOutput(
        _answered(result, lane), text, failed, interrupted=failed and was_stopped(lane.agent, text)
    )


def _text(block: Block) -> str:
    match block:
        case Text(text=text) | Compaction(text=text):
            return text
        case Document(source="base64"):
            return placeholder(block.medium, block.media_type, block.data)
        case Document(source="url" | "file"):
            return f"[{block.medium}: {block.data}]"
        case Document():
            return f"[{block.medium}]"
        case Other(value=value):
            return dumps(value)
        case ToolResult(content=content):
            return "\n".join(map(_text, content))
    return ""


def _words(messages: Iterable[Message]) -> list[str]:
    return [block.text for message in messages for block in message.blocks if isinstance(block, Text)]


def _waits(exchange: Exchange) -> bool:
    """Whether the model was told to wait for what its calls give."""
    blocks = [block for message in exchange.response.messages for block in message.blocks]
    return any(isinstance(block, ToolUse) and not block.server_side for block in blocks)


def _cost(total: _Total) -> CostSum:
    """Return the list price of all calls; incomplete with a model without a price or an answer without a count."""
    try:
        return CostSum.total(
            CostSum.of(first_price(models, usage, time, wire)) for models, usage, time, wire in total.used
        )
    except UnspoolError:  # the table of prices is an extra
        return CostSum(None, False)
