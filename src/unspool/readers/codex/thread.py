"""A thread while it is read: what its records share, and how calls become events."""

from typing import Any

from unspool.actions import meanings_for
from unspool.model import Action, Meaning
from unspool.model.event import AgentSpawn, Compacted, ModelChange, ToolCall, ToolOutput
from unspool.readers.calls import arguments_of
from unspool.readers.codex.counting import Tally
from unspool.readers.codex.envelopes import is_taken_over
from unspool.readers.codex.limits import rate_limits_of
from unspool.readers.codex.outbox import Mark, Outbox, changes_in
from unspool.readers.codex.outputs import SPAWNING, STRUCTURED, outcome_of, running_cell, was_stopped
from unspool.readers.log import Log
from unspool.sources.jsontext import Unreadable, strict
from unspool.sources.values import mapping, string

AGENT = "codex"
_PATCH, _HOSTED = "apply_patch", "web_search"
_COMPACTION: Mark = ("c", "")


class Thread:
    def __init__(self, session: str) -> None:
        self.log = Log(AGENT, session)
        self.outbox = Outbox(self.log)
        self.tally = Tally()
        self.id = session
        self.is_agent = False
        """It is a sub-agent's: the facts of the session are not its own."""
        self.itemised = False
        """The log has a record for everything that was done: so scripts and patches are held back until theirs came."""
        self.tells_patches = False
        """The log may tell what became of a patch before its output comes: patches wait for that."""
        self._scripted = False
        """In this turn a script ran. A log that is not itemised does not tell what it did."""
        self.has_spoken = False
        """The model said something in this turn."""
        self.taken_over = False
        """The turn is one of another agent's, whose session was taken over."""
        self.hears = False
        """The log has what the person spoke: so what the model for speech passed on of it is not told as a prompt."""
        self.just_compacted = False
        self.shown: dict[int, str] = {}
        """Hashes of what the program showed the model in the person's place, and the events of it."""
        self.calls: set[str | None] = set()
        self.failed: set[str | None] = set()
        """Calls that were told to have failed before their output came."""
        self.searches: dict[Mark, str | None] = {}
        """The calls of searches, by what was searched for."""
        self.model: str | None = None
        self._meaning = meanings_for(AGENT)
        self._waits: dict[str, str] = {}
        """Calls of `wait`, and the script that each asks for."""
        self._structured: dict[str, str] = {}
        """Names of tools that return structured output, by the ids of their calls."""
        self._spawns: dict[str, dict[str, Any]] = {}
        self.limits: Any = None
        """The rate limits as they were last written; most counts of tokens repeat them."""
        self._agents: set[str] = set()

    def runs(self, model: Any) -> None:
        """The model that is told to run now."""
        if not isinstance(model, str) or not model or model == self.model:
            return
        before, self.model = self.model, model
        if not self.is_agent:
            self.log.facts.model = model
        if before is not None:
            self.outbox.say(ModelChange(model, before))

    def limited(self, limits: dict[str, Any]) -> None:
        """Report the account's rate limits, which changed."""
        self.limits = limits
        if (content := rate_limits_of(limits, self.log.time)) is not None:
            self.outbox.add(content, "limits")

    def begin_turn(self, turn: Any) -> None:
        self.has_spoken = self._scripted = False
        self.taken_over = is_taken_over(turn)

    def _read(self, name: str, given: Any) -> Meaning:
        return self._meaning(name, arguments_of(given))

    def called(self, name: str, given: Any, call: str | None, actions: tuple[Action, ...] = ()) -> None:
        """A call and what it was given: JSON in a string, a text, or an object."""
        content = ToolCall(name, call, given, self._read, hosted=name == _HOSTED)
        if actions:
            content = content.did(lambda: actions)
        if name == "exec":
            self._scripted = True
        if call is None:
            self.outbox.say(content)
            return
        self.calls.add(call)
        if name == "wait":
            self._waits[call] = str(mapping(arguments_of(given)).get("cell_id"))
        elif name in STRUCTURED:
            self._structured[call] = name
            if name in SPAWNING:
                self._spawns[call] = mapping(arguments_of(given))
        if (self.itemised and name == "exec") or (self.tells_patches and _is_patch(name, given)):
            self.outbox.hold(content)
        else:
            self.outbox.say(content)

    def returned(self, call: str | None, output: Any) -> None:
        text, failed = outcome_of(output, self._structured.get(call or ""))
        if call is not None:
            failed = failed or call in self.failed
            if self.outbox.queue:
                self._settle(call, running_cell(text))
        self.outbox.say(ToolOutput(call, text, failed, interrupted=failed and was_stopped(text)))
        if self._spawns and call in self._spawns and text.startswith("{"):
            try:
                answer = mapping(strict(text))
            except Unreadable:
                return
            self.spawned(call, answer.get("agent_id") or answer.get("thread_id"), "1", answer.get("nickname"))

    def _settle(self, call: str, cell: str | None) -> None:
        """An output came while calls wait for their deeds: of one of these, or of a `wait` for one."""
        if call not in self._waits:
            self.outbox.answered(call, cell)
        elif cell is None:
            self.outbox.finished(self._waits[call])

    def did(self, call: str | None, item: dict[str, Any]) -> bool:
        """Keeps what was done with the call that it was done for. False if nothing told of it yet: then it is news."""
        deed: dict[str, Any] | None = item
        known = call in self.calls
        if item.get("success") is False or item.get("status") in ("failed", "declined"):
            self.failed.add(call)
            if "changes" in item:
                deed = None
        if self.outbox.done(call or "", deed, loose=self.itemised and not known):
            return True
        return known or (self._scripted and not self.itemised)

    def alone(self, name: str, arguments: Any, deed: dict[str, Any], output: ToolOutput) -> None:
        """Something was done by no call that the log has: it is told as one."""
        call = output.provider_call_id
        self.calls.add(call)
        content, actions = ToolCall(name, call, arguments, self._read), changes_in(deed)
        self.outbox.say(content.did(lambda: actions) if actions else content)
        self.outbox.say(output, "1")

    def compacted(self, content: Compacted, is_echo: bool) -> None:
        """Up to three kinds of records tell of one compaction."""
        if not is_echo:
            self.outbox.tell([content], (_COMPACTION,))
            self.outbox.forget(_COMPACTION)
        elif not self.just_compacted:
            self.outbox.echo([content], (_COMPACTION,))
        self.just_compacted = True

    def spawned(
        self, call: str | None, agent: Any, part: str = "0", name: Any = None, role: Any = None, prompt: Any = None
    ) -> None:
        """A sub-agent began; it is told once, however many records say so."""
        if not isinstance(agent, str) or not agent or agent in self._agents:
            return
        self._agents.add(agent)
        asked = self._spawns.get(call or "", {})
        kind = role or asked.get("agent_type")
        task = prompt or asked.get("task_name") or asked.get("message") or name
        self.outbox.say(AgentSpawn(agent, call, string(kind) or None, string(task) or None), part)


def _is_patch(name: str, given: Any) -> bool:
    """A patch, or a shell command that holds one."""
    if given.__class__ is str and _PATCH not in given:
        return name == _PATCH
    if name == _PATCH:
        return True
    arguments = mapping(arguments_of(given))
    command = arguments.get("cmd") or arguments.get("command")
    words = command if isinstance(command, list) else [command]
    return any(isinstance(word, str) and _PATCH in word for word in words)
