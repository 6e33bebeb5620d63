"""Sessions of agents, told by one log or by several → the calls that they imply."""

from collections.abc import Iterable, Iterator

from unspool.ingest.digests import digest_file
from unspool.ingest.finding import installed
from unspool.ingest.implied import implied
from unspool.ingest.logs import open_log
from unspool.ingest.sessions import Found, digests, gather, pick
from unspool.model import MAIN, Event, Exchange, Note
from unspool.model.event import AgentSpawn


def on_this_machine(names: Iterable[str]) -> list[Found]:
    """The sessions with these ids; all of them, the oldest first, if none is named."""
    here = _gathered(list(installed()))
    return [pick(here, name) for name in names] or here[::-1]


def sessions_in(files: list[str], named: Iterable[str]) -> dict[str, list[Found]]:
    """What each of these logs holds, the oldest first. Sub-agents' logs near those that were named are read too."""
    near = (path for log in named for path in _kin(log))
    held: dict[str, list[Found]] = {}
    for session in reversed(_gathered(list(dict.fromkeys([*files, *near])))):
        for path in session.files:
            held.setdefault(path, []).append(session)
    return held


def _gathered(files: list[str]) -> list[Found]:
    """The newest first."""
    return gather(digests(files, lambda missing: map(digest_file, missing)))


def _kin(path: str) -> Iterable[str]:
    log = open_log(path)
    return () if log is None else log.reader.kin(path)


def calls_of(found: Found) -> Iterator[Exchange | Note]:
    """The calls to the model, those of sub-agents among them: these name the call that asked for the agent."""
    spawned: dict[str, str] = {}
    made: list[Exchange] = []
    for item in implied(_told(found, spawned)):
        if isinstance(item, Note):
            yield item
        else:
            made.append(item)
    for exchange in made:  # who asked for an agent may be told after the agent spoke
        if exchange.extra is not None and (call := spawned.get(exchange.extra["stream_id"])) is not None:
            exchange.extra["spawned_by"] = call
    yield from made


def _told(found: Found, spawned: dict[str, str]) -> Iterator[tuple[str, Event | Note]]:
    """The events of all of its files: of a stream that is told twice, only the fuller telling."""
    for path in found.files:
        log = open_log(path)
        for item in log or ():
            if isinstance(item, Event):
                kin = item.stream_id != MAIN and f"agent:{item.session_id}" in found.streams
                if item.session_id != found.id and not kin:
                    continue
                if isinstance(item.content, AgentSpawn) and item.content.provider_call_id is not None:
                    spawned[f"agent:{item.content.agent_id}"] = item.content.provider_call_id
                if path not in found.tellers.get(item.stream_id, (path,)):
                    continue
            yield found.facts.agent, item
