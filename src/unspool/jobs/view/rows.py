"""The graph's rows: each request in one line, told by what is new in it."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from msgspec.structs import replace

from unspool.jobs.view.caching import missed
from unspool.jobs.view.meanings import briefly, in_words, one_line, words_of
from unspool.jobs.view.pages import GraphRow, Reason, RowKind
from unspool.model import Cooked, CookedCall, CookedMessage, CookedRequest, Usage
from unspool.sources.values import mapping, text_of
from unspool.transforms.asides import without_asides
from unspool.transforms.prices import Cost, CostSum, first_price
from unspool.views.outline import change_of
from unspool.wires import WIRES

_MARKS = re.compile(r"\*\*|`+|^#+ ", re.MULTILINE)
"""Of Markdown, which a title is not."""
_NOTICE = re.compile(r"\s*(?:<task-notification>\s*)?<task-id>.{0,2000}?<summary>(.+?)</summary>", re.DOTALL)
"""As Claude Code writes it in its user's name."""
_UNKNOWN = '{"type":"'
_TITLE = 240
_TAIL = 8


def graph_rows(cooked: Cooked, agents: Mapping[str, str | None], typed: Set[str] | None = None) -> list[GraphRow]:
    """In the order of the requests. `agents` says whose each request is, by id; `typed` what people typed, if known."""
    return _Rows(cooked, agents, typed).rows()


def spoken(text: str, typed: Set[str] | None = None) -> str:
    """What a person typed of a user message. A log tells; of recorded calls it is what stands outside of tags."""
    if typed is not None:
        return text.strip() if text in typed else ""
    return without_asides(text)


def headline(prompt: str) -> str:
    """What a prompt is told by: a notice that a background task ended says so in one of its parts."""
    found = _NOTICE.match(prompt)
    return found[1] if found is not None else prompt


def unmarked(text: str) -> str:
    """The beginning of an answer, without the signs of Markdown."""
    return _MARKS.sub("", text[:2000])


class _Task(NamedTuple):
    """What a tool call asked of a sub-agent."""

    number: int
    """Of the request whose answer made the call."""
    description: str
    call: str | None


class _Rows:
    def __init__(self, cooked: Cooked, agents: Mapping[str, str | None], typed: Set[str] | None) -> None:
        self._typed = typed
        self._requests = cooked.requests
        self._agents = agents
        self._messages = {message.id: message for message in cooked.messages}
        self._numbers = {request.id: number for number, request in enumerate(cooked.requests)}
        self._failed = {
            message.tool_use_id: bool(message.is_error)
            for message in cooked.messages
            if message.role == "tool_result" and message.tool_use_id
        }
        self._tasks: dict[str, _Task] = {}
        """By what was asked of sub-agents."""
        self._made: list[GraphRow] = []

    def rows(self) -> list[GraphRow]:
        rows = self._made
        for number, request in enumerate(self._requests):
            agent = self._agents.get(request.id) or self._master(request)
            calls = [call for said in self._said(request) for call in said.tool_calls or ()]
            self._remember(number, calls, agent)
            rows.append(self._row(number, request, agent, calls, rows))
        return rows

    def _master(self, request: CookedRequest) -> str | None:
        """A sub-agent that does not say whose it is speaks as the one that called it."""
        parent = self._earlier(request.parent_id, len(self._made))
        if parent is not None:
            return self._made[parent].agent
        task = self._task(self._tail(request, None))
        return None if task is None else self._made[task.number].agent

    def _earlier(self, name: str | None, number: int) -> int | None:
        """Nothing descends from what came later, whatever a cooked file of somebody's says."""
        found = self._numbers.get(name or "")
        return found if found is not None and found < number else None

    def _said(self, request: CookedRequest) -> list[CookedMessage]:
        return [self._messages[name] for name in request.response_messages if name in self._messages]

    def _remember(self, number: int, calls: Sequence[CookedCall], agent: str | None) -> None:
        for call in calls:
            prompt = call.arguments.get("prompt")
            if not isinstance(prompt, str) or not prompt.strip():
                continue
            if words_of(agent).read(call.name, call.arguments).kind in ("agent", "generic"):
                told = text_of(call.arguments.get("description"))
                self._tasks[prompt.strip()] = _Task(number, told, call.id)

    def _row(
        self, number: int, request: CookedRequest, agent: str | None, calls: list[CookedCall], rows: list[GraphRow]
    ) -> GraphRow:
        parent, retried = self._earlier(request.parent_id, number), self._earlier(request.retry_of, number)
        tail = self._tail(request, parent)
        reason: Reason | None = request.parent_reason
        task = self._task(tail) if parent is None and retried is None else None
        if task is not None and task.number >= number:
            task = None
        if task is not None:
            parent, reason = task.number, "agent"
        prompt = self._prompt(tail)
        told = self._told(request, calls, agent)
        before = self._requests[parent] if parent is not None and reason != "agent" else None
        error, cost = _error(request), CostSum.of(list_price(request), request.cost_usd)
        return GraphRow(
            id=request.id,
            title=one_line(headline(prompt or told) or error or "")[:_TITLE],
            kind=_kind(prompt, told, calls, error),
            root=rows[parent].root if parent is not None else rows[retried].root if retried is not None else number,
            parent=parent,
            reason=reason if parent is not None or retried is not None else None,
            label="" if task is None else one_line(task.description)[:80],
            call=None if task is None else task.call,
            retry_of=retried,
            does=one_line(told)[:_TITLE] if prompt else "",
            model=request.model,
            agent=agent,
            time=request.timestamp,
            duration=request.duration_ms,
            usage=_bare(request),
            cost=cost.usd,
            estimated=cost.estimated,
            uncounted=_is_uncounted(request),
            added=_added(request, self._counted(before)),
            missed=missed(request, before),
            tools=list(dict.fromkeys(call.name for call in calls)),
            failed=any(self._failed.get(call.id) for call in calls if call.id),
            error=error,
            stop=request.stop_reason,
            messages=len(request.request_messages),
        )

    def _counted(self, before: CookedRequest | None) -> CookedRequest | None:
        """The nearest request whose tokens are known: a log does not tell those of every call."""
        while before is not None and not whole(before):
            number = self._earlier(before.parent_id, self._numbers[before.id])
            before = None if number is None else self._requests[number]
        return before

    def _tail(self, request: CookedRequest, parent: int | None) -> list[CookedMessage]:
        """Messages behind those that the parent had: what is new at the end."""
        asked = request.request_messages
        at = 0
        if parent is not None:
            before = self._requests[parent]
            known = {*before.response_messages, *before.request_messages[-_TAIL:]}
            at = next((place for place in range(len(asked), 0, -1) if asked[place - 1] in known), 0)
        return [self._messages[name] for name in asked[at:] if name in self._messages]

    def _task(self, tail: list[CookedMessage]) -> _Task | None:
        for message in tail:
            if message.role == "user" and (task := self._tasks.get(message.content.strip())):
                return task
        return None

    def _prompt(self, tail: list[CookedMessage]) -> str:
        """The last thing that somebody typed; a block of a kind that we do not know only if there is nothing else."""
        texts = [spoken(message.content, self._typed) for message in reversed(tail) if message.role == "user"]
        return next((text for text in texts if text and not text.startswith(_UNKNOWN)), "") or next(
            filter(None, texts), ""
        )

    def _told(self, request: CookedRequest, calls: list[CookedCall], agent: str | None) -> str:
        """What the answer does, or says."""
        if calls:
            return " · ".join(_call(call, agent) for call in calls[:3]) + (f" +{len(calls) - 3}" * (len(calls) > 3))
        said = [message.content for message in self._said(request) if message.role == "assistant"]
        if request.error is not None:
            said = said[:-1]
        return unmarked(next((text.strip() for text in said if text.strip()), ""))


def _kind(prompt: str, told: str, calls: list[CookedCall], error: str | None) -> RowKind:
    """What the request is best told by."""
    if error is not None:
        return "error"
    if prompt:
        return "prompt"
    return "tools" if calls else "answer" if told else "empty"


def cost_of_requests(requests: Iterable[CookedRequest]) -> CostSum:
    """Return what these calls cost together. Calls that used nothing, as far as is known, need no price."""
    return CostSum.total(
        CostSum.of(list_price(request), request.cost_usd)
        for request in requests
        if request.usage is not None or _is_uncounted(request)
    )


def list_price(request: CookedRequest) -> Cost | None:
    """Return the price by the model that answered or, if that has none, by the requested model."""
    models = request.response_model, request.model
    return first_price(models, request.usage, request.timestamp, request.format)


def _call(call: CookedCall, agent: str | None) -> str:
    told = in_words(call, agent)
    line = f"{call.name} {briefly(told)[:160]}".rstrip()
    if told.kind == "file_edit" and not re.search(r"\+\d+ −\d+$", line):
        lines = change_of(told).split("\n")
        line += f" +{sum(text[:1] == '+' for text in lines)} −{sum(text[:1] == '-' for text in lines)}"
    return line


def _error(request: CookedRequest) -> str | None:
    if request.error is None:
        return "the stream broke off" if request.interrupted else None
    told = request.error if isinstance(request.error, str) else _words(request.error)
    return one_line(f"{request.status} {told}" if request.status else told)[:_TITLE]


def _words(error: object) -> str:
    """The message in an error body, however deep it lies."""
    for _ in range(4):
        inner = mapping(error)
        if isinstance(said := inner.get("message"), str):
            return said
        error = inner.get("error", inner.get("detail"))
        if isinstance(error, str):
            return error
    return text_of(error) or "failed"


def _bare(request: CookedRequest) -> Usage | None:
    """Usage without the provider's own words, which the list does not show."""
    return None if request.usage is None else replace(request.usage, raw=None)


def _is_uncounted(request: CookedRequest) -> bool:
    """Not so of a log, which may count by the turn."""
    counted = whole(request) or (request.usage is not None and request.usage.output)
    return not counted and bool(request.response_messages) and request.error is None and request.format in WIRES


def _added(request: CookedRequest, before: CookedRequest | None) -> int | None:
    if before is None or not whole(request) or not whole(before):
        return None
    return whole(request) - whole(before)


def whole(request: CookedRequest) -> int:
    """Tokens of the prompt, wherever they came from."""
    usage = request.usage
    return 0 if usage is None else usage.input + usage.cache_read + usage.cache_write
