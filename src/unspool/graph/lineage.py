"""Whose child is this request?

A request's path is its conversation without leading system prompts and without thinking: both change while the
conversation stays the same (a date in the prompt, thoughts that the client drops). Requests are taken in time order.
The parent of a request R is, of the earlier requests C:

    retry        R's path equals C's, and so does the model → R gets the parent of C, and `retry_of` C
    continues    R begins with C's path and answer (or with its path, where the client rewrote or dropped the answer);
                 the longest such beginning wins, then one with R's prompt and model, then the newest C
    switch       the same, with another model
    edit         R shares C's answer (one that says enough to be known again, or one of its tool-call ids), but
                 something before it was changed, or the system prompt was; the fewest changed messages win
    compaction   R shares C's answer, but most of what came before is gone; or R's first messages quote C's answer at
                 length, or say that they are a summary

A request that shares no answer and no whole path with an earlier one is a root: sharing a system prompt, or the same
reminders before another prompt, makes no family. Each candidate is found by an index, not by comparing all with all.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from unspool.graph.distance import distance
from unspool.graph.prompts import Prompts
from unspool.graph.quotes import Quotes
from unspool.model import ParentReason
from unspool.model.model_names import same_model

RowId: TypeAlias = str
Path: TypeAlias = tuple[RowId, ...]
"""Rows one after another; a tuple, because it is hashed whole."""
_CANDIDATES = 12
"""How many requests that share an answer, or seem to be a beginning, are compared; the nearest come first."""
_FEW = 8
_TRANSCRIPT = 1500
"""Characters that make a prompt long enough to be a whole conversation as text."""
SEALED = "[compaction "
"""How the text of a summary begins that only the provider can read."""

CONVERSATION = "conv_"
"""How the ids of conversations begin: whoever names one goes on from the newest answer in it."""


class Step(Struct):
    """What lineage must know of a request."""

    path: Path
    answer: Path
    """Without thinking, and without the words that stand for an error."""
    alternatives: list[Path]
    """Further answers, where the request asked for several."""
    system: Path
    model: str | None
    response_id: str | None = None
    previous_response_id: str | None = None
    """Where the provider holds the history, and the request names its end, or the conversation."""


class Link(Struct):
    parent: int | None = None
    reason: ParentReason | None = None
    retry_of: int | None = None


class Rows(Struct):
    """What the rows behind the ids say; asked for rarely."""

    text: Callable[[RowId], str]
    is_user: Callable[[RowId], bool]
    calls: Mapping[RowId, Sequence[str]]
    """Ids, as the provider gave them, of the tool calls that a row makes."""
    answers: Callable[[RowId], str | None]
    """The id of the tool call whose result a row is."""

    def calls_in(self, path: Path) -> list[str]:
        """The ids of all calls in a path."""
        calls = self.calls
        return [call for row in path if row in calls for call in calls[row]]

    def unit(self, row: RowId) -> str:
        """What counts as one message when paths are compared: a call by its ids, its result by the call."""
        if calls := self.calls.get(row):
            return "calls " + " ".join(calls)
        answered = self.answers(row)
        return f"result of {answered}" if answered else row


class _Found(Struct):
    """A candidate, by its number, and how far R is from it."""

    number: int
    edits: int
    """Changes up to the end of the candidate's answer."""
    added: int
    """What R says after that."""
    reason: ParentReason = "continues"
    weak: bool = False
    """Only its path was found again, not its answer."""


def _far(found: _Found) -> tuple[int, int, int]:
    """The nearest first: few edits and additions, of these few edits, of these the newest."""
    return found.edits + found.added, found.edits, -found.number


class Lineage:
    """Give it requests in time order: it finds the earlier one that each is linked to, and remembers what is added."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._steps: list[Step] = []
        self._links: list[Link] = []
        self._ends: set[tuple[RowId, int]] = set()  # the last row of a path, with or without its answer, and its length
        self._wholes: dict[int, list[int]] = {}  # the hash of such a path, and the requests that have it
        self._prompted: dict[tuple[int, Path], list[int]] = {}  # of many the older ones, by their system prompt too
        self._replies: dict[tuple[int, Path], list[int]] = defaultdict(list)  # an answer → requests that reply to it
        self._heard: set[RowId] = set()  # what a path ended with, and all that was answered
        self._makers: dict[RowId, list[int]] = defaultdict(list)
        self._callers: dict[str, int] = {}
        self._responses: dict[str, int] = {}
        self._prompts = Prompts(rows.text)
        self._quotes = Quotes(rows.text)

    def find(self, step: Step) -> Link:
        previous = self._responses.get(step.previous_response_id or "")
        if previous is None and (retried := self._same_path(step)) is not None:
            parent = self._links[retried].parent
            return Link(parent, None if parent is None else "retry", retried)
        if previous is not None:
            retried = self._same_reply(previous, step)
            reason: ParentReason = "continues" if retried is None else "retry"
            return Link(previous, self._reason(step, previous, reason), retried)
        found = self._shared_path(step)
        if found is None or found.weak:
            found = self._compacted(step) or found
        if found is None:
            return Link()
        return Link(found.number, self._reason(step, found.number, found.reason))

    def _reason(self, step: Step, parent: int, reason: ParentReason) -> ParentReason:
        before = self._steps[parent]
        if reason in ("compaction", "retry"):
            return reason
        if not same_model(step.model, before.model):
            return "switch"
        held = step.previous_response_id is not None and not step.system  # by the provider, the prompt too
        if reason == "continues" and not held and not self._prompts.similar(step.system, before.system):
            return "edit"
        return reason

    def _ending_with(self, rows: Path, system: Path) -> Iterator[int]:
        """Earlier requests whose path, or path and answer, is probably this; the newest first.

        Of many these are the newest few, and of the others those with this very prompt: a thousand prompts may end in
        the same question.
        """
        key = hash(rows)
        ends = self._wholes.get(key, [])
        yield from reversed(ends[-_CANDIDATES:])
        if len(ends) > _CANDIDATES:
            yield from reversed(self._prompted.get((key, system), [])[-_CANDIDATES:])

    def _is_end(self, path: Path, length: int) -> bool:
        """Whether an earlier path, or path and answer, is as long as the beginning of this one, and ends like it."""
        return length > 0 and (path[length - 1], length) in self._ends

    def _same_reply(self, previous: int, step: Step) -> int | None:
        """Return the newest request that sent the same reply to a stored answer of the provider, to the same model."""
        replies = self._replies.get((previous, step.path), [])[-_CANDIDATES:]
        return next((at for at in reversed(replies) if same_model(step.model, self._steps[at].model)), None)

    def _same_path(self, step: Step) -> int | None:
        """The newest request with this path, prompt and model."""
        if not self._is_end(step.path, len(step.path)):
            return None
        for at in self._ending_with(step.path, step.system):
            earlier = self._steps[at]
            if (
                earlier.path == step.path
                and earlier.previous_response_id == step.previous_response_id
                and same_model(step.model, earlier.model)
                and self._prompts.similar(step.system, earlier.system)
            ):
                return at
        return None

    def _shared_path(self, step: Step) -> _Found | None:
        """Go back from the end of the path to messages that an earlier request ended with, or was answered with.

        The further back, the more was added since; so the search ends where nothing nearer can come.
        """
        path, best, tries = step.path, None, _CANDIDATES
        if self._heard.isdisjoint(path) and not self._calls_again(path):
            return None
        seen: set[int] = set()
        for at in range(len(path) - 1, -1, -1):
            row = path[at]
            if best is not None and best.edits + best.added <= len(path) - at - 1:
                break
            if tries and (row, at + 1) in self._ends:
                if found := self._begins_with(step, at + 1):
                    if best is not None and found.weak and best.reason == "compaction" and self._is_sealed(path[at:]):
                        return best  # what it was answered says more than what it was asked
                    return found if best is None else min(best, found, key=_far)
                tries -= 1  # something further back was changed, and stands in the way of all of them
            if len(seen) < _CANDIDATES and (row in self._makers or row in self._rows.calls):
                for maker in self._answered_with(row):
                    if maker not in seen:
                        seen.add(maker)
                        best = min(filter(None, (best, self._compare(step, maker, at, best))), default=None, key=_far)
        return best

    def _calls_again(self, path: Path) -> bool:
        return bool(self._callers) and not self._callers.keys().isdisjoint(self._rows.calls_in(path))

    def _begins_with(self, step: Step, length: int) -> _Found | None:
        """A request whose path and answer, or whose path alone, is the beginning of this path.

        The same may have been said to several: of these the newest with this prompt and model.
        """
        path, best, fit = step.path, None, (False, False)
        for number in self._ending_with(path[:length], step.system):
            earlier = self._steps[number]
            asked = len(earlier.path)
            if path[:asked] != earlier.path:
                continue
            fits = self._prompts.similar(step.system, earlier.system), step.model == earlier.model
            if asked == length:  # it had no answer, or that was dropped or changed: then the prompt must speak for it
                if not fits[0] or length == len(path):
                    continue
            elif path[asked:length] not in (earlier.answer, *earlier.alternatives):
                continue
            if best is None or fits > fit:
                best = _Found(number, 0, len(path) - length, weak=asked == length and bool(earlier.answer))
                fit = fits
            if all(fit):
                break
        return best

    def _answered_with(self, row: RowId) -> list[int]:
        makers = [at for at in reversed(self._makers.get(row, ())[-4:]) if row not in self._steps[at].path]
        for call in self._rows.calls.get(row, ()):
            caller = self._callers.get(call)
            if caller is not None and caller not in makers:
                makers.append(caller)
        return makers

    def _compare(self, step: Step, maker: int, at: int, best: _Found | None) -> _Found | None:
        """How far the path up to `at` is from what the candidate had said when it gave that answer."""
        earlier, row = self._steps[maker], step.path[at]
        expected = earlier.path + earlier.answer
        added = len(step.path) - at - 1
        dropped = 0
        if row in earlier.answer:
            dropped = len(earlier.answer) - 1 - earlier.answer.index(row)
            expected = expected[: len(expected) - dropped]
        limit = len(step.path) // 2
        if best is not None:
            limit = min(limit, best.edits + best.added - added)
        if limit < 0:
            return None
        edits = self._edits(expected, step.path[: at + 1], limit)
        also = set(step.path[:at]).intersection(earlier.answer)
        telling = self._is_telling(row) or any(map(self._is_telling, also))
        shared = 0 if edits is None else max(len(expected), at + 1) - edits
        if edits is not None and (telling or shared > 1):  # a short answer must not be all that is shared
            only_answer = step.path[: len(earlier.path)] == earlier.path
            return _Found(maker, edits + dropped, added, "continues" if only_answer else "edit")
        if edits is None and telling and best is None and len(expected) > at + 1:
            return _Found(maker, len(expected) - at - 1, added, "compaction")
        return None

    def _edits(self, before: Path, now: Path, limit: int) -> int | None:
        """How many messages were changed; of many, calls and results that kept their ids do not count."""
        edits = distance(before, now, limit)
        if edits is not None and edits <= _FEW:
            return edits
        unit = self._rows.unit
        return distance([unit(row) for row in before], [unit(row) for row in now], limit)

    def _is_telling(self, row: RowId) -> bool:
        """Whether two conversations would hardly say this by chance."""
        text = self._rows.text(row)
        return row in self._rows.calls or len(text) >= 40 or text.startswith(SEALED)

    def _is_sealed(self, path: Path) -> bool:
        """Whether it holds a summary that only the provider can read."""
        return any(self._rows.text(row).startswith(SEALED) for row in path)

    def _compacted(self, step: Step) -> _Found | None:
        """A new beginning that carries a summary of what came before."""
        first = [row for row in step.path[:6] if self._rows.is_user(row)][:4]
        for quoted in self._quotes.quoted_by([*first, *step.system]):
            if self._is_summary(quoted, step):
                return _Found(quoted, 0, 0, "compaction")
        if self._quotes.says_summary(first):
            for number in range(len(self._steps) - 1, max(len(self._steps) - 200, -1), -1):
                earlier = self._steps[number]
                repeated = earlier.path == step.path  # the same summary, sent to another model
                if len(earlier.path) > 1 and not repeated and self._prompts.similar(step.system, earlier.system):
                    return _Found(number, 0, 0, "compaction")
        return None

    def _is_summary(self, number: int, step: Step) -> bool:
        """Whether a quoted answer closed a conversation: one of the same program, or one sent as text to another."""
        if len(self._steps[number].path) <= 2:
            return True
        parents = (number, self._links[number].parent)
        systems = [self._steps[at].system for at in parents if at is not None]
        return not step.system or any(self._prompts.similar(step.system, system) for system in systems)

    def _may_be_summary(self, step: Step) -> bool:
        """Whether the request held a conversation, or the text of one, asked for a summary, and got words."""
        if not self._rows.calls.keys().isdisjoint(step.answer):
            return False
        if len(step.path) <= 2 and sum(len(self._rows.text(row)) for row in step.path) < _TRANSCRIPT:
            return False
        asking = [row for row in step.path[-2:] if self._rows.is_user(row)]
        return self._quotes.asks_for_summary((*step.system, *asking))

    def add(self, step: Step, link: Link) -> None:
        number = len(self._steps)
        self._steps.append(step)
        self._links.append(link)
        if step.response_id:
            self._responses[step.response_id] = number
            if (step.previous_response_id or "").startswith(CONVERSATION):
                self._responses[step.previous_response_id or ""] = number
        if step.previous_response_id and link.parent is not None:
            self._replies[link.parent, step.path].append(number)
        self._end(step.path, number)
        for said in (step.answer, *step.alternatives) if step.alternatives else (step.answer,):
            if said:
                self._end(step.path + said, number)
            for row in said:
                self._heard.add(row)
                self._makers[row].append(number)
                if calls := self._rows.calls.get(row):
                    self._callers.update(dict.fromkeys(calls, number))
        if step.answer and self._may_be_summary(step):
            self._quotes.remember(step.answer, number)

    def _end(self, rows: Path, number: int) -> None:
        if rows:
            last = rows[-1]
            self._heard.add(last)
            self._ends.add((last, len(rows)))
            key = hash(rows)
            if key not in self._wholes:
                self._wholes[key] = [number]
                return
            ends = self._wholes[key]
            ends.append(number)
            if len(ends) > _CANDIDATES:
                older = ends[-_CANDIDATES - 1]
                self._prompted.setdefault((key, self._steps[older].system), []).append(older)
