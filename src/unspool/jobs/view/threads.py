"""Threads of our own as reels. Each answer is a request: what was said before it, and what the model said.

A reel is all that went on from where a thread begins, so forks are branches. Nothing is written to the store.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from unspool.dialect import Record
from unspool.errors import TurnNotFound
from unspool.exports.cooked import Cooker
from unspool.graph.ancestry import parents_first
from unspool.jobs.threads import Shown, prompt_of, when
from unspool.jobs.view.growing import Growing, size_of
from unspool.jobs.view.loaded import Loaded, loaded
from unspool.jobs.view.pages import ReelKind, ReelRow
from unspool.jobs.view.reels import Reel
from unspool.model import (
    Answer,
    Context,
    Cooked,
    CookedRequest,
    Exchange,
    Failure,
    Message,
    Origin,
    ParentReason,
    Response,
    Said,
    Turn,
)
from unspool.model.model_names import same_model
from unspool.sources.home import data_folder
from unspool.sources.jsontext import dumps
from unspool.sources.values import time_of
from unspool.store.database import NAME
from unspool.store.store import Store
from unspool.threads.context import completed
from unspool.threads.options import inherited

_NOWHERE = Origin("", 0, 0, 0)
"""A turn lies in no file that could be read again."""


class _Told(Struct):
    """All turns of a reel, parents first, and what was said in each."""

    turns: dict[str, Turn]
    messages: dict[str, Message]
    paths: dict[str, list[str]]
    """Of each turn, the turns that lead to it, and itself."""
    names: dict[str, list[str]]
    """Bookmarks."""

    def tips(self) -> list[str]:
        continued = {parent for turn in self.turns.values() for parent in turn.continues}
        return [name for name in self.turns if name not in continued]


class ThreadReel(Reel):
    kind: ReelKind = "thread"

    def __init__(self, folder: Path, root: str, title: str, named: str | None = None) -> None:
        super().__init__(f"thread:{root}")
        self._folder = folder
        self._root = root
        self._title = title
        self._named = named
        """The turn that it was asked for by."""
        self._told: _Told | None = None
        self._answers: dict[str, str] = {}
        """Of each turn, the request that first told it to a model, or that it is the answer of."""
        self._stamps = [Growing(str(folder / name)) for name in (NAME, f"{NAME}-wal")]

    def files(self) -> list[str]:
        return [str(self._folder / NAME)]

    def _watched(self) -> list[str]:
        return [stamp.path for stamp in self._stamps]

    @property
    def at(self) -> str | None:
        """The request that was asked for, once it was read."""
        return self._answers.get(self._named or "")

    def _changed(self) -> bool:
        if not any(stamp.changed() for stamp in self._stamps):
            return False
        for stamp in self._stamps:
            stamp.mark()
        with Store(self._folder) as store:
            return self._told is None or list(self._told.turns) != [turn.id for turn in _turns(store, self._root)]

    def _read(self, version: int) -> Loaded:
        for stamp in self._stamps:
            stamp.mark()
        with Store(self._folder) as store, store.database.snapshot():
            told = self._told = _told(store, self._root)
        cooker = Cooker()
        requests = [cooker.add(exchange) for exchange in _exchanges(told)]
        _link(requests, told)
        self._answers = _answers(requests, told)
        agents = {request.id: _agent(told.turns[request.id]) for request in requests}
        made = loaded(Cooked(cooker.messages, cooker.tools, requests, []), agents, version)
        made.first_bytes = dict(_first_bytes(told))
        return made

    def row(self) -> ReelRow:
        row = ReelRow(self.id, "thread", self._title, size=size_of(self.files()), session=self._named or self._root)
        row.at = self.at
        return self._summed(row) or row

    def _forget(self) -> None:
        self._told = None

    def _all_told(self) -> _Told:
        """Those of the store that it was read from; read again if it was closed since."""
        with self._lock:
            if self._told is None:
                self.load()
            assert self._told is not None
            return self._told

    def exchange(self, request: CookedRequest) -> Exchange | None:
        """The call as it can be told again: with its documents, and the options that held."""
        told = self._all_told()
        if request.id not in told.turns:
            return None
        return _exchange(told, told.turns[request.id])

    def record(self, request: CookedRequest) -> Record | None:
        """The turn as `unspool thread show --json` writes it."""
        told = self._all_told()
        if (turn := told.turns.get(request.id)) is None:
            return None
        shown = Shown(turn, told.messages[turn.id], told.names.get(turn.id, []))
        return Record(dumps(shown.record()).encode(), _NOWHERE)


def store_folder() -> Path | None:
    """Of the store, if there is one: looking makes none."""
    folder = data_folder()
    return folder if (folder / NAME).is_file() else None


def all_threads() -> list[ThreadReel]:
    """One for each beginning, newest first."""
    folder = store_folder()
    if folder is None:
        return []
    reels: dict[str, ThreadReel] = {}
    with Store(folder) as store, store.database.snapshot():
        names = _bookmarks(store)
        for end in sorted({*store.tips(), *store.bookmarks().values()}, reverse=True):
            turns = store.lineage([end])
            if (root := turns[0].id) not in reels:
                reels[root] = ThreadReel(folder, root, _title(store, turns, names.get(root, [])))
    return list(reels.values())


def find_thread(headish: str, *, exactly: bool = False) -> ThreadReel | None:
    """By the id of a turn, a bookmark or, unless it must be exact, the beginning of an id; None if none is called so.

    Raises TurnNotFound where several turns begin so.
    """
    folder = store_folder()
    if folder is None:
        return None
    with Store(folder) as store, store.database.snapshot():
        try:
            turn = store.find(headish)
        except TurnNotFound as error:
            if exactly or not str(error).startswith("several"):
                return None
            raise
        if exactly and turn != headish.lower() and store.bookmarks().get(headish) != turn:
            return None
        turns = store.lineage([turn])
        root = turns[0].id
        return ThreadReel(folder, root, _title(store, turns, _bookmarks(store).get(root, [])), turn)


def _bookmarks(store: Store) -> dict[str, list[str]]:
    """By the beginnings of their threads."""
    names: dict[str, list[str]] = {}
    for name, turn in store.bookmarks().items():
        names.setdefault(store.lineage([turn])[0].id, []).append(name)
    return names


def _title(store: Store, turns: list[Turn], names: list[str]) -> str:
    told = f"{', '.join(names[:3])}{' …' if len(names) > 3 else ''}" if names else ""
    asked = " ".join((prompt_of(store, turns) or "").split())[:300]
    return " · ".join(filter(None, (told, asked))) or turns[-1].id


def _turns(store: Store, root: str) -> list[Turn]:
    """All that went on from there, and what else that went on from; parents first."""
    return store.lineage(sorted(store.below(root)))


def _told(store: Store, root: str) -> _Told:
    turns = _turns(store, root)
    told = _Told({turn.id: turn for turn in turns}, {}, {}, {})
    for name, at in store.bookmarks().items():
        if at in told.turns:
            told.names.setdefault(at, []).append(name)
    continues = {turn.id: turn.continues for turn in turns}
    for turn in turns:
        path = told.paths.get(turn.continues[0], []) if len(turn.continues) == 1 else None
        told.paths[turn.id] = [*path, turn.id] if path is not None else parents_first([turn.id], continues)
    messages = dict(zip(told.turns, store.messages(turns), strict=True))
    for tip in told.tips():  # calls are given the ids that the model is told
        path = told.paths[tip]
        whole = completed(Context(tuple(Said(messages[name], name) for name in path)))
        for name, said in zip(path, whole.messages, strict=True):
            told.messages.setdefault(name, said.message)
    return told


def _exchanges(told: _Told) -> Iterator[Exchange]:
    """A call for each answer, and one without an answer for what nobody answered yet."""
    tips = set(told.tips())
    for turn in sorted(told.turns.values(), key=lambda turn: turn.id):
        if turn.role == "assistant" or turn.id in tips:
            yield _exchange(told, turn)


def _exchange(told: _Told, turn: Turn) -> Exchange:
    path = told.paths[turn.id]
    answered = turn.role == "assistant"
    answer = turn.answer or Answer()
    began, ended = answer.started, answer.ended
    return Exchange(
        _NOWHERE,
        answer.api or "",
        tuple(told.messages[name] for name in (path[:-1] if answered else path)),
        response=Response(
            (told.messages[turn.id],) if answered else (),
            id=answer.response_id,
            model=answer.model,
            stop=answer.stop,
            usage=answer.usage,
            interrupted=answer.status == "interrupted",
        ),
        failure=Failure(answer.error or "failed", answer.error or "failed") if answer.status == "error" else None,
        id=turn.id,
        model=answer.requested or answer.model,
        timestamp=began or time_of(when(turn)),
        duration_ms=ended - began if began is not None and ended is not None else None,
        settings=inherited(told.turns[name].inherited for name in path),
    )


def _link(requests: Sequence[CookedRequest], told: _Told) -> None:
    """The nearest answer before it; the turns say which that is, so nothing has to be compared."""
    known = {request.id: request for request in requests}
    tips = set(told.tips())
    tried: dict[tuple[str, ...], list[str]] = defaultdict(list)
    """Answers, by the prompt that they reply to."""
    for request in requests:
        turn = told.turns[request.id]
        before = next((name for name in reversed(told.paths[turn.id][:-1]) if name in known), None)
        request.parent_id = before
        if before is not None:
            request.parent_reason = _reason(request, known[before])
        if turn.role == "assistant" and turn.continues:
            answers = tried[turn.continues]
            first = next((name for name in reversed(answers) if same_model(request.model, known[name].model)), None)
            if first is not None and first in tips:  # nobody went on from it
                request.retry_of, request.parent_reason = first, "retry"
            answers.append(request.id)


def _reason(request: CookedRequest, before: CookedRequest) -> ParentReason:
    return "continues" if same_model(request.model, before.model) else "switch"


def _answers(requests: Sequence[CookedRequest], told: _Told) -> dict[str, str]:
    found: dict[str, str] = {request.id: request.id for request in requests}
    for request in requests:
        for name in told.paths[request.id]:
            found.setdefault(name, request.id)
    return found


def _first_bytes(told: _Told) -> Iterator[tuple[str, float]]:
    for name, turn in told.turns.items():
        answer = turn.answer
        if answer is not None and answer.started is not None and answer.first is not None:
            yield name, answer.first - answer.started


def _agent(turn: Turn) -> str | None:
    """Of an imported thread: whose tools its calls are."""
    agent = (turn.origin or {}).get("agent")
    return agent if isinstance(agent, str) else None
