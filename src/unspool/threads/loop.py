"""Asking: a thread goes to a provider, its answer comes back, its calls are carried out, and so on until it is said.

Every step is stored before the next begins. So whatever happens, what was finished is there; what was cut off is told
as such, and can be gone on with.
"""

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from unspool.dialect import Asking, Piece
from unspool.errors import BookmarkTaken, ProviderFailed, UnsupportedContent
from unspool.model import Answer, Context, Draft, Message, Response, Text, Tool, ToolResult, ToolUse, Turn
from unspool.providers import prices
from unspool.providers.calling import Answered, ask, now
from unspool.providers.config import Target
from unspool.providers.network import Network
from unspool.servers.connections import Connections
from unspool.servers.results import failed
from unspool.sources.jsontext import dumps
from unspool.store.store import Store
from unspool.threads.coming import Asked, Coming
from unspool.threads.context import resolve
from unspool.wires import speaker_for
from unspool.wires.calls import fit_name

CANCELLED = "The call was cancelled by the user."


class Verdict(Struct, frozen=True):
    """What a person says of a call."""

    allowed: bool
    reason: str = ""
    """Why not; the model is told."""
    arguments: dict[str, Any] | None = None
    """What to call it with instead."""


class Unattended(Exception):
    """Nobody is there to ask."""


class Screen(Protocol):
    """Who watches, and is asked."""

    def piece(self, piece: Piece) -> None: ...
    def waiting(self, why: str, seconds: float) -> None: ...
    def warn(self, text: str) -> None: ...
    def answered(self, turn: Turn, message: Message) -> None:
        """An answer is stored, whole or as far as it came."""

    def approve(self, call: ToolUse) -> Verdict:
        """Raises Unattended."""

    def given(self, call: ToolUse, result: ToolResult) -> None: ...
    def results(self, turn: Turn, message: Message) -> None:
        """The results of an answer's calls are stored."""


class Outcome(Struct):
    turn: Turn
    """The last that was stored."""
    halted: Literal["person", "refused", "cut off", "error", "unattended", "unserved", "too long"] | None = None
    error: str | None = None


class Loop:
    def __init__(
        self,
        store: Store,
        network: Network,
        target: Target,
        screen: Screen,
        options: dict[str, Any],
        tools: Sequence[Tool] = (),
        servers: Connections | None = None,
        lenient: bool = False,
        rounds: int = 100,
    ) -> None:
        self._store, self._network, self._target, self._screen = store, network, target, screen
        self._options, self._lenient, self._rounds = options, lenient, rounds
        self._tools, self._servers = tools, servers
        asking = target.asking()
        self._names = {fit_name(tool.name, asking): tool.name for tool in tools}
        self._warned: set[str] = set()
        self._begun = False

    def run(self, turn: Turn) -> Outcome:
        """From a turn that waits for an answer, or whose calls wait to be carried out."""
        asked = 0
        while True:
            if calls := self._calls(turn):
                if self._servers is None and self._tools:  # what is offered was recorded elsewhere
                    return Outcome(turn, "unserved", ", ".join(dict.fromkeys(call.name for call in calls)))
                try:
                    turn, interrupted = self._carry_out(turn, calls)
                except Unattended:
                    return Outcome(turn, "unattended")
                if interrupted:
                    return Outcome(turn, "person")
            if turn.role == "assistant" and not _paused(turn):
                return Outcome(turn)
            if asked == self._rounds:
                return Outcome(turn, "too long")
            asked += 1
            try:
                turn, answered = self._ask(turn)
            except (ProviderFailed, UnsupportedContent) as error:  # of the latter, a tool's result
                return Outcome(turn, "refused", str(error))
            except KeyboardInterrupt:  # before anything came
                return Outcome(turn, "person")
            if answered.halted:
                return Outcome(turn, answered.halted, answered.error)

    def _calls(self, turn: Turn) -> list[ToolUse]:
        if turn.role != "assistant":
            return []
        blocks = self._store.message(turn.message).blocks
        return [block for block in blocks if isinstance(block, ToolUse) and not block.server_side]

    def body(self, context: Context) -> dict[str, Any]:
        """What is sent. What had to be changed is told once."""
        asking: Asking = self._target.asking(self._lenient)
        body = speaker_for(self._target.provider.api).prepare(context, self._tools, asking)
        for warning in asking.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                self._screen.warn(warning)
        return body

    def _ask(self, turn: Turn) -> tuple[Turn, Answered]:
        body = self.body(Context(resolve(self._store, [turn.id]).messages, self._options))
        provider = self._target.provider
        asked = Asked(turn.id, turn.head, provider.name, provider.api, self._target.model, now())
        with Coming(self._store, asked) as coming:

            def waiting(why: str, seconds: float) -> None:
                coming.again()
                self._screen.waiting(why, seconds)

            answered = ask(self._network, self._target, body, self._piece, waiting, coming.piece)
            response = answered.response
            message = response.messages[0] if response.messages else Message("assistant", ())
            about = self._about(answered, response)
            stored = self._append(Draft(message, continues=(turn.id,), head=turn.head, answer=about))
        self._screen.answered(stored, message)
        return stored, answered

    def _piece(self, piece: Piece) -> None:
        if not self._begun:
            self._begun = True
            prices.fetch()
        self._screen.piece(piece)

    def _about(self, answered: Answered, response: Response) -> Answer:
        provider, model = self._target.provider, response.model or self._target.model
        return Answer(
            provider=provider.name,
            api=provider.api,
            model=model,
            requested=self._target.model if self._target.model != model else None,
            response_id=response.id,
            stop=response.stop,
            usage=response.usage,
            cost=prices.cost_of(response.usage, provider, model, self._target.model),
            status="complete" if answered.halted is None else "error" if answered.halted == "error" else "interrupted",
            error=answered.error,
            started=answered.started,
            first=answered.first,
            ended=answered.ended,
            extra=response.extra,
        )

    def _append(self, draft: Draft) -> Turn:
        """An answer is never lost because its bookmark has gone elsewhere meanwhile.

        From an answer that broke off, the bookmark comes over to the one that was asked for again.
        """
        try:
            at = self._store.bookmarks().get(draft.head) if draft.head else None
            beside = at is not None and self._store.turn(at).continues == draft.continues
            return self._store.append(draft, move=beside)
        except BookmarkTaken:
            self._screen.warn(f"bookmark {draft.head} has gone to another thread meanwhile, and stays there")
            return self._store.append(replace(draft, head=None), follow=False)

    def _carry_out(self, turn: Turn, calls: list[ToolUse]) -> tuple[Turn, bool]:
        """Every call gets an answer, whether it was allowed, failed, or was cut off; they are stored as one turn."""
        results: dict[int, ToolResult] = {}
        running: dict[int, Future[ToolResult]] = {}
        judged: list[ToolResult | ToolUse] = []
        interrupted = False
        try:
            judged += [self._judged(call) for call in calls]  # all, before any begins
            for number, verdict in enumerate(judged):
                if isinstance(verdict, ToolResult):
                    results[number] = verdict
                    self._screen.given(calls[number], verdict)
                else:
                    running[number] = self._begin(verdict)
            for number, future in running.items():
                results[number] = future.result()
                self._screen.given(calls[number], results[number])
        except KeyboardInterrupt:
            interrupted = True
            for number, future in running.items():
                if number not in results:
                    results[number] = _left(future, calls[number])
        for number in running:
            results[number] = _of_what_was_asked(results[number], calls[number], judged[number])
        blocks = tuple(results.get(number) or failed(call, CANCELLED, "cancelled") for number, call in enumerate(calls))
        message = Message("user", blocks)
        stored = self._append(Draft(message, continues=(turn.id,), head=turn.head))
        self._screen.results(stored, message)
        return stored, interrupted

    def _judged(self, call: ToolUse) -> ToolResult | ToolUse:
        """The call as it may be made, or why not to."""
        servers, name = self._servers, self._names.get(call.name)
        if servers is None or name is None or (server := servers.server_of(name)) is None:
            return failed(call, f"There is no tool {call.name}.")
        if call.arguments is None:
            return failed(call, f"The arguments are no JSON object: {call.text}")
        verdict = Verdict(True) if server.trusted else self._screen.approve(call)
        if not verdict.allowed:
            reason = f": {verdict.reason}" if verdict.reason else "."
            return failed(call, f"The user did not allow this call{reason}", "denied")
        return call if verdict.arguments is None else replace(call, arguments=verdict.arguments, text=None)

    def _begin(self, call: ToolUse) -> "Future[ToolResult]":
        assert self._servers is not None  # `_judged` found the tool there
        return self._servers.call(call, self._names[call.name])


def _of_what_was_asked(result: ToolResult, call: ToolUse, asked: ToolResult | ToolUse) -> ToolResult:
    """A result of other arguments than the model gave says so: else it would wonder."""
    if not isinstance(asked, ToolUse) or asked.arguments == call.arguments:
        return result
    note = Text(f"(The user changed the arguments to {dumps(asked.arguments)})")
    extra = {**(result.extra or {}), "arguments": asked.arguments}
    return replace(result, content=(*result.content, note), extra=extra)


def _left(future: "Future[ToolResult]", call: ToolUse) -> ToolResult:
    """The result of a call that was cut off, if it had come already."""
    future.cancel()
    try:
        return future.result(timeout=5)
    except (CancelledError, TimeoutError):
        return failed(call, CANCELLED, "cancelled")


def _paused(turn: Turn) -> bool:
    """The provider stopped in the middle of work of its own, and goes on when asked again."""
    stop = turn.answer.stop if turn.answer else None
    return stop is not None and stop.reason == "pause" and turn.answer is not None and turn.answer.status == "complete"
