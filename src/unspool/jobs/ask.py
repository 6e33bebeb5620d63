"""Ask a provider: a prompt becomes a turn, and the loop goes on from it."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from msgspec import Struct

from unspool.errors import BookmarkTaken, NotConfigured, TurnNotFound, WrongTurn
from unspool.jobs.opening import open_store
from unspool.model import Block, Context, Draft, Message, Said, Text, Tool, ToolUse, Turn
from unspool.providers.config import Target, read_config, target_of
from unspool.providers.network import Network
from unspool.providers.secrets import key_of
from unspool.sources.files import DASH, stdin_text
from unspool.store.store import Store
from unspool.threads.context import resolve
from unspool.threads.documents import document
from unspool.threads.loop import Loop, Outcome, Screen
from unspool.threads.offering import offered
from unspool.threads.options import inherited


class Wish(Struct):
    """What is to be asked, and how."""

    prompt: str | None = None
    continues: tuple[str, ...] = ()
    bookmark: str | None = None
    move: bool = False
    """The bookmark may be taken away from another thread."""
    system: str | None = None
    files: tuple[str, ...] = ()
    options: dict[str, Any] = {}
    """Those that hold from here on; None takes one away."""
    cache: bool = False
    resume: bool = False
    lenient: bool = False
    max_tokens: int | None = None
    rounds: int = 100
    patience: float = 600.0


def ask(wish: Wish, screen: Screen) -> Outcome:
    """Nothing is stored before it is clear that it can be sent."""
    with ExitStack() as stack:
        store = stack.enter_context(open_store(screen.warn))
        turn = _resumed(store, wish) if wish.resume else None
        given = _context(store, wish) if turn is None else _held(resolve(store, [turn.id]), wish)
        target = _target(given, wish)
        key_of(target.provider)
        network = stack.enter_context(Network(wish.patience))
        served, servers = _tools(given, stack)
        tools, given = offered(given, served)
        loop = Loop(store, network, target, screen, given.options, tools, servers, wish.lenient, wish.rounds)
        if turn is None:
            loop.body(given)
            turn = _store(store, wish, target, given)
        return loop.run(turn)


def _message(wish: Wish) -> Message:
    """What is attached comes first: a question about a text is best asked behind it."""
    blocks: list[Block] = [block for path in wish.files for block in _attached(path)]
    if wish.prompt:
        blocks.append(Text(wish.prompt))
    if not blocks:
        raise WrongTurn("there is nothing to ask: give a prompt, or write it to standard input")
    return Message("user", tuple(blocks))


def _attached(path: str) -> Sequence[Block]:
    if path == DASH:
        return (Text(stdin_text()),)
    return document(path).message.blocks


def _context(store: Store, wish: Wish) -> Context:
    """What the new turn will resolve to."""
    before = resolve(store, wish.continues) if wish.continues else Context()
    said = [*before.messages]
    if wish.system:
        said.append(Said(Message("system", (Text(wish.system),))))
    said.append(Said(_message(wish), cache=wish.cache))
    return Context(tuple(said), inherited([before.options, wish.options]))


def _held(context: Context, wish: Wish) -> Context:
    """What was said so far, with other options for this once."""
    return Context(context.messages, inherited([context.options, wish.options]))


def _target(context: Context, wish: Wish) -> Target:
    pointer = context.options.get("provider_ptr")
    target = target_of(pointer if isinstance(pointer, str) else None, read_config())
    if wish.max_tokens:
        from msgspec.structs import replace

        target = replace(target, max_tokens=wish.max_tokens)
    return target


def _tools(context: Context, stack: ExitStack) -> tuple[list[Tool], Any]:
    """The tools of the servers that hold for this thread, and the connections to them."""
    names = context.options.get("servers") or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise NotConfigured(f"the option `servers` is no list of names: {names!r}")
    if not names:
        return [], None
    from unspool.servers.connections import Connections
    from unspool.servers.registry import find_server, read_servers

    known = read_servers()
    wanted = {name: find_server(name, known) for name in names}
    connections = stack.enter_context(Connections())
    return [tool for name, server in wanted.items() for tool in connections.open(name, server)], connections


def _store(store: Store, wish: Wish, target: Target, context: Context) -> Turn:
    """The prompt, behind its system prompt: both or neither."""
    options = dict(wish.options)
    if "provider_ptr" not in context.options:
        options["provider_ptr"] = target.name
    before, head = wish.continues, wish.bookmark
    message = context.messages[-1].message
    with store.database.transaction():
        if head is not None and not wish.move:
            _not_elsewhere(store, head, before)
        if wish.system:
            system = Draft(Message("system", (Text(wish.system),)), continues=before, head=head)
            before = (store.put_draft(system, move=wish.move).id,)
        draft = Draft(message, continues=before, head=head, inherited=options, cache=wish.cache)
        return store.put_draft(draft, move=wish.move)


def _not_elsewhere(store: Store, name: str, continues: Sequence[str]) -> None:
    at = store.bookmarks().get(name)
    if at is not None and not any(store.continues(store.find(each), at) for each in continues):
        ways = f"-c {name} goes on from there, --move takes the name away"
        raise BookmarkTaken(f"bookmark {name} is on another thread, at turn {at}: {ways}")


def _resumed(store: Store, wish: Wish) -> Turn:
    """Where a thread was cut off: at calls that nobody carried out, or at a turn without a whole answer."""
    if len(wish.continues) > 1:
        raise TurnNotFound("one thread can be resumed at a time")
    name = store.find(wish.continues[0]) if wish.continues else store.newest()
    if name is None:
        raise TurnNotFound(f"{store.folder}: no turn is stored yet")
    turn = store.turn(name)
    if turn.role != "assistant":
        return turn
    if turn.answer is not None and turn.answer.status != "complete":
        if not turn.continues:
            raise WrongTurn(f"turn {turn.id} broke off, and nothing is before it that could be asked again")
        return store.turn(turn.continues[0])  # what came of it stays, on a branch of its own
    blocks = store.message(turn.message).blocks
    waits = any(isinstance(block, ToolUse) and not block.server_side for block in blocks)
    paused = turn.answer is not None and turn.answer.stop is not None and turn.answer.stop.reason == "pause"
    if not waits and not paused:
        raise WrongTurn(f"turn {turn.id} is a whole answer: there is nothing to resume")
    return turn
