"""One call to a provider: sent, tried again where that can help, and put together from what came back."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Literal

from msgspec import Struct
from msgspec.json import encode

from unspool.dialect import Piece
from unspool.errors import ProviderFailed
from unspool.model import Response, Text, Thinking, ToolUse
from unspool.providers.addresses import ask_url, headers, models_url
from unspool.providers.config import Target
from unspool.providers.network import CutOff, Network, Reply, Unreachable
from unspool.providers.secrets import key_of, secrets_of
from unspool.sources.hiding import without_keys
from unspool.sources.jsontext import loads_or_text
from unspool.sources.sse import Assembler
from unspool.sources.values import listing, mapping, string
from unspool.wires import speaker_for
from unspool.wires.aggregate import aggregate, aggregate_body, error_text

_TRIES = 5
_MOST = 500
"""Letters of an error that are told."""
_LONGEST = 60.0
"""Seconds that we wait for a provider that says how long; who says more is told to people instead."""
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_PASSING_KINDS = ("overloaded_error", "rate_limit_error", "api_error", "server_error", "UNAVAILABLE", "INTERNAL")
_HIDDEN = "[key]"
_LASTING_KINDS = ("insufficient_quota", "billing_not_active")


class Answered(Struct):
    """What came of a call."""

    response: Response
    started: int
    """Milliseconds since 1970, as the two below."""
    ended: int
    first: int | None = None
    """When the first piece came."""
    halted: Literal["person", "cut off", "error"] | None = None
    """Why it is not whole."""
    error: str | None = None
    """What the provider or the network said of that."""
    unknown: tuple[str, ...] = ()


class _Refused(Exception):
    """An answer that is none."""

    def __init__(self, message: str, status: int | None, wait: float | None, passing: bool) -> None:
        super().__init__(message)
        self.status, self.wait, self.passing = status, wait, passing


Waiting = Callable[[str, float], None]
"""Told why a call is tried again, and in how many seconds."""
Heard = Callable[[bytes], None]
"""Given the bytes of a stream as they come."""


def ask(
    network: Network,
    target: Target,
    body: dict[str, Any],
    shown: Callable[[Piece], None],
    waiting: Waiting,
    heard: Heard | None = None,
) -> Answered:
    """Raises ProviderFailed where nothing was answered; an answer that broke off is one, and says so."""
    provider = target.provider
    key = key_of(provider)
    call = _Call(network, target, encode(body), key, shown, heard)
    for attempt in range(1, _TRIES + 1):
        try:
            return call.once()
        except _Refused as refused:
            said = f"{provider.title}: {refused}"
            wait = _wait(refused.wait, attempt)
            if not refused.passing or attempt == _TRIES or wait > _LONGEST:
                again = f"; it asks to wait {wait:.0f} s" if wait > _LONGEST else ""
                raise ProviderFailed(said + again, refused.status) from None
            waiting(said, wait)
            time.sleep(wait)
    raise AssertionError("unreachable")


def _wait(asked: float | None, attempt: int) -> float:
    """As long as the provider says; else twice as long each time, and never two callers at once."""
    return asked if asked is not None else min(0.5 * 2 ** (attempt - 1), 8.0) * random.uniform(0.75, 1.25)


def _told(error: Any, secrets: Sequence[str]) -> str:
    """What an error says, in one line, without keys: some providers repeat what they refuse."""
    text = " ".join(error_text(error).split())
    for secret in secrets:
        text = text.replace(secret, _HIDDEN)
    return text[:_MOST]


class _Call:
    def __init__(
        self,
        network: Network,
        target: Target,
        body: bytes,
        key: str | None,
        shown: Callable[[Piece], None],
        heard: Heard | None,
    ) -> None:
        self._network = network
        self._api = target.provider.api
        self._show = speaker_for(self._api).show
        self._url = ask_url(target.provider, target.model)
        self._headers = headers(target.provider, key)
        self._secrets = secrets_of(target.provider, key)
        self._body, self._shown, self._heard = body, shown, heard

    def once(self) -> Answered:
        started = now()
        try:
            with self._network.post(self._url, self._headers, self._body) as reply:
                if reply.status != 200:
                    raise _refusal(reply, self._secrets)
                if "json" in reply.headers.get("content-type", ""):
                    return self._whole(reply.whole(), started)
                return self._streamed(reply, started)
        except (Unreachable, CutOff) as error:
            raise _Refused(f"{_place(self._url)}: {error}", None, None, True) from error

    def _whole(self, data: bytes, started: int) -> Answered:
        """From a host that does not stream, or an error that is called a success."""
        value = loads_or_text(data)
        listed = isinstance(value, list)
        told = aggregate(self._api, value) if listed else aggregate_body(self._api, mapping(value))
        if not told.response.messages and told.response.stop is None:
            raise _Refused(_told(value, self._secrets) or "an empty answer", None, None, False)
        for block in told.response.messages[0].blocks if told.response.messages else ():
            match block:
                case Text() | Thinking():
                    self._shown(Piece("text" if isinstance(block, Text) else "thinking", content=block.text))
                case ToolUse():
                    self._shown(Piece("tool_use", block.name, block.id))
        return Answered(told.response, started, now(), now())

    def _streamed(self, reply: Reply, started: int) -> Answered:
        events: list[Any] = []
        first: int | None = None
        halted: Literal["person", "cut off", "error"] | None = None
        why: str | None = None
        try:
            for event in self._events(reply):
                events.append(event)
                for piece in self._show(event):
                    first = first or now()
                    self._shown(piece)
        except CutOff as error:
            halted, why = "cut off", str(error)
        except KeyboardInterrupt:
            halted = "person"
        told = aggregate(self._api, events)
        if told.error is not None:
            halted, why = "error", _told(told.error, self._secrets)
        blocked = halted is None and not told.response.interrupted and told.response.stop is not None
        if first is None and halted != "person" and not told.response.messages and not blocked:
            passing = halted == "cut off" or any(kind in str(told.error) for kind in _PASSING_KINDS)
            raise _Refused(why or self._nothing(reply), None, None, passing)
        if halted is None and told.response.interrupted:
            halted, why = "cut off", "the stream ended before the answer did"
        return Answered(told.response, started, now(), first, halted, why, told.unknown)

    def _nothing(self, reply: Reply) -> str:
        """Of a good status without an answer. A page to log in at, or of a site that has no API there, is told."""
        kind = reply.headers.get("content-type", "").partition(";")[0]
        if kind in ("", "text/event-stream"):
            return "the stream ended before it began"
        return f"{_place(self._url)}: what came is {kind}, and no answer"

    def _events(self, reply: Reply) -> Iterator[Any]:
        assembler = Assembler()
        for piece in reply.pieces():
            if self._heard is not None:
                heard = piece
                for secret in self._secrets:
                    heard = heard.replace(secret.encode(), _HIDDEN.encode())
                self._heard(heard)
            yield from assembler.feed(piece)
        yield from assembler.end()


def _place(url: str) -> str:
    return without_keys(url.partition("?")[0])


def _refusal(reply: Reply, secrets: Sequence[str]) -> _Refused:
    try:
        said = loads_or_text(reply.whole()[:100_000])
    except CutOff:
        said = ""
    passing = reply.status in _PASSING and reply.headers.get("x-should-retry") != "false"
    if any(kind in str(said) for kind in _LASTING_KINDS):
        passing = False
    return _Refused(f"{reply.status} {_told(said, secrets)}".strip(), reply.status, _asked_to_wait(reply), passing)


def _asked_to_wait(reply: Reply) -> float | None:
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        said = reply.headers.get(name)
        if not said:
            continue
        try:
            if isfinite(seconds := float(said) * unit):
                return max(seconds, 0.0)
        except ValueError:
            pass  # a date, perhaps
        try:
            return max(parsedate_to_datetime(said).timestamp() - time.time(), 0.0)
        except ValueError:
            continue
    return None


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def models(network: Network, target: Target) -> list[str]:
    """The names of the provider's models, as it lists them."""
    provider = target.provider
    key = key_of(provider)
    try:
        with network.get(models_url(provider), headers(provider, key)) as reply:
            if reply.status != 200:
                raise ProviderFailed(f"{provider.title}: {_refusal(reply, secrets_of(provider, key))}", reply.status)
            value = mapping(loads_or_text(reply.whole()))
    except (Unreachable, CutOff) as error:
        raise ProviderFailed(f"{provider.title}: {_place(models_url(provider))}: {error}") from error
    listed = map(mapping, listing(value.get("data")) or listing(value.get("models")))
    names = (string(each.get("id")) or string(each.get("name")) for each in listed if _answers(each))
    return [name.removeprefix("models/") for name in names if name]


def _answers(model: dict[str, Any]) -> bool:
    """Whether it can be talked to, where the provider says what its models are for."""
    ways = model.get("supportedGenerationMethods")
    return not isinstance(ways, list) or "generateContent" in ways
