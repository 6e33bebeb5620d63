"""The calls of one file → its sessions: by the name that the calls give, else by the roots of their lineage.

Of OpenAI's Responses a request may name the response that it continues, and leave out what was said before: then it is
put in front again.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from unspool.graph.lineage import Lineage, Rows, Step
from unspool.model import Exchange, Message, ToolUse
from unspool.sources.naming import KEYS, named, of_metadata
from unspool.sources.values import mapping
from unspool.transforms.normal import Normal, normal

_SETTINGS = (*KEYS, "prompt_cache_key")
_HEADERS = ("agent-session-id", "x-session-id", "session_id", "session-id", "conversation_id")


def session_of(exchange: Exchange) -> str | None:
    """What the call names as its session, in the places where clients and recorders put it."""
    extra, settings = exchange.extra or {}, exchange.settings
    if found := named(extra, KEYS) or of_metadata(settings.get("metadata")):
        return found
    for name in ("headers", "request_headers"):
        headers = {key.lower(): value for key, value in mapping(extra.get(name)).items()}
        if found := named(headers, _HEADERS):
            return found
    return named(settings, _SETTINGS)


def split(exchanges: list[Exchange], name: str) -> Iterator[tuple[str, list[Exchange]]]:
    """Each session with its calls, in the order of their beginnings. `name` is for those that have none."""
    whole = list(_whole(exchanges))
    keys: list[str | int | None] = [session_of(exchange) for exchange in whole]
    nameless = [at for at, key in enumerate(keys) if key is None]
    for at, root in zip(nameless, _roots([whole[at] for at in nameless]), strict=True):
        keys[at] = root
    sessions: dict[str | int, list[Exchange]] = {}
    for key, exchange in zip(keys, whole, strict=True):
        if key is not None:
            sessions.setdefault(key, []).append(exchange)
    numbered = sum(isinstance(key, int) for key in sessions) > 1
    at = 0
    for session, calls in sessions.items():
        if isinstance(session, str):
            yield session, calls
        else:
            at += 1
            yield f"{name}-{at}" if numbered else name, calls


def _whole(exchanges: Iterable[Exchange]) -> Iterator[Exchange]:
    """The calls with what their provider remembered for them."""
    held: dict[str, tuple[Message, ...]] = {}
    for exchange in exchanges:
        before = exchange.settings.get("previous_response_id")
        if isinstance(before, str) and before in held:
            exchange = replace(exchange, messages=_joined(held[before], exchange.messages))  # noqa: PLW2901
        response = exchange.response
        if response.id and exchange.wire == "responses":
            held[response.id] = (*exchange.messages, *response.messages)
        yield exchange


def _joined(before: tuple[Message, ...], now: tuple[Message, ...]) -> tuple[Message, ...]:
    """What was said before, behind the system prompt of now: an old one is not remembered where there is a new one."""
    lead = _lead(now)
    return (*now[:lead], *before[_lead(before) if lead else 0 :], *now[lead:])


def _lead(messages: tuple[Message, ...]) -> int:
    """How many system prompts stand first."""
    return next((at for at, message in enumerate(messages) if message.role != "system"), len(messages))


def _roots(exchanges: list[Exchange]) -> list[int]:
    """Of each call the first one of its family."""
    rows = _Rows()
    lineage = Lineage(Rows(rows.text, rows.is_user, rows.calls, rows.answers))
    roots: list[int] = []
    for number, exchange in enumerate(exchanges):
        lead = _lead(exchange.messages)
        response = exchange.response
        step = Step(
            rows.path(exchange.messages[lead:]),
            rows.path(response.messages),
            [rows.path(said) for said in response.alternatives],
            rows.path(exchange.messages[:lead]),
            exchange.model,
            response.id,
            exchange.settings.get("previous_response_id"),
        )
        link = lineage.find(step)
        lineage.add(step, link)
        above = link.parent if link.parent is not None else link.retry_of
        roots.append(number if above is None else roots[above])
    return roots


class _Rows:
    """Messages as the rows that lineage compares."""

    def __init__(self) -> None:
        self.calls: dict[str, list[str]] = {}
        self._ids: dict[Normal, str] = {}
        self._known: dict[Message, str] = {}
        self._keys: dict[str, Normal] = {}

    def path(self, messages: Iterable[Message]) -> tuple[str, ...]:
        return tuple([row for message in messages if (row := self._row(message))])

    def _row(self, message: Message) -> str:
        """Nothing for a message that says nothing but thoughts."""
        row = self._known.get(message)
        if row is None:
            key = normal(message)
            row = self._ids.setdefault(key, f"m{len(self._ids)}") if any(key[1:]) else ""
            self._known[message] = row
            self._keys[row] = key
            if made := [block.id for block in message.blocks if isinstance(block, ToolUse) and _is_real(block.id)]:
                self.calls.setdefault(row, [call for call in made if call])
        return row

    def text(self, row: str) -> str:
        key = self._keys[row]
        told = (part for _, _, *parts in key[3] for part in parts if isinstance(part, str))
        return key[1] or "\n".join(told)

    def is_user(self, row: str) -> bool:
        key = self._keys[row]
        return bool(key[0] == "user" and not key[3])

    def answers(self, row: str) -> str | None:
        results = self._keys[row][3]
        return results[0][0] if results and _is_real(results[0][0]) else None


def _is_real(call: str | None) -> bool:
    """Whether the provider gave the id; `call_0` and its like are our own and prove nothing."""
    return bool(call) and not (str(call).startswith("call_") and str(call)[5:].isdecimal())
