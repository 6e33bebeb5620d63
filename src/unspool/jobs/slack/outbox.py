"""What is still to be told, in order: each message once, in its newest form.

A message may change before it was sent, and is then sent once; or afterwards, and is then updated in place. Where more
is said than one call a second can carry, messages that wait behind each other become one: late is not lost.
"""

from collections import deque
from typing import Any

from msgspec import Struct

from unspool.views.slack.blocks import Message

_CROWDED = 10
"""So many wait before messages are joined."""
_JOINED = 8
"""In one message. A part that may be joined is small enough that eight of them fit, whatever becomes of them."""
_MOST = 300
"""Wait; what has waited longest is given up. Slack was not there for minutes, or the run is a replay of a huge one."""
_OPEN = 1_000
"""Messages that may still change, and are remembered for it."""
_MISSED = 20


class Part(Struct):
    message: Message
    settled: bool
    """Nothing more will be said of it."""


class Card:
    """One message in Slack."""

    def __init__(self, urgent: bool, joinable: bool, held_until: float) -> None:
        self.parts: dict[str, Part] = {}
        self.ts: str | None = None
        self.waiting = False
        self.sending = False
        self.urgent = urgent
        self.joinable = joinable
        self.held_until = held_until

    @property
    def about(self) -> list[str]:
        return [part.message.text for part in self.parts.values()]

    @property
    def settled(self) -> bool:
        return all(part.settled for part in self.parts.values())

    def content(self) -> dict[str, Any]:
        blocks = [block for part in self.parts.values() for block in part.message.blocks]
        return {"text": self.about[-1], "blocks": blocks}


class Reactions:
    """Those on the head: the one that is wanted, once it is known what others must go."""

    urgent = True
    held_until = 0.0

    def __init__(self, stale: tuple[str, ...]) -> None:
        self.waiting = False
        self.sending = False
        self.wanted = ""
        self._shown: list[str] = []
        self._stale = list(stale)
        """Maybe there, from an earlier run."""

    @property
    def about(self) -> list[str]:
        return [f":{self.wanted}: on the thread"]

    def call(self) -> tuple[str, str] | None:
        """The next to make: the new one comes before the old one goes."""
        if self.wanted not in self._shown:
            return "reactions.add", self.wanted
        old = next((name for name in (*self._shown, *self._stale) if name != self.wanted), None)
        return None if old is None else ("reactions.remove", old)

    def made(self, method: str, name: str) -> None:
        self._shown = [other for other in self._shown if other != name]
        self._stale = [other for other in self._stale if other != name]
        if method == "reactions.add":
            self._shown.append(name)


class Outbox:
    def __init__(self, channel: str, thread: str | None = None, stale: tuple[str, ...] = ()) -> None:
        self.channel = channel
        self.thread = thread
        """Its head's timestamp, which is its name; None until the head was posted."""
        self._reactions = Reactions(stale)
        self.lost = 0
        """How many messages will not be sent any more."""
        self.missed: list[str] = []
        """What the first of them say."""
        self._waiting: deque[Card | Reactions] = deque()
        self._cards: dict[str, Card] = {}
        """Of the messages that may still change."""

    def __len__(self) -> int:
        return len(self._waiting)

    def put(
        self,
        key: str,
        message: Message,
        settled: bool = True,
        urgent: bool = False,
        joinable: bool = False,
        held_until: float = 0.0,
    ) -> None:
        """Say it; or if it was said before, say it so from now on."""
        card = self._cards.get(key)
        if card is None:
            card = self._card(urgent, joinable, held_until)
            self._cards[key] = card
            if len(self._cards) > _OPEN:
                self._forget(next(iter(self._cards.values())))
        before = card.parts.get(key)
        card.parts[key] = Part(message, settled)
        if before is None or before.message != message:
            self._wait(card)
        elif card.ts is not None and card.settled and not card.waiting and not card.sending:
            self._forget(card)

    def _card(self, urgent: bool, joinable: bool, held_until: float) -> Card:
        if joinable and len(self._waiting) >= _CROWDED:
            last = self._waiting[-1]
            if isinstance(last, Card) and last.joinable and last.ts is None and len(last.parts) < _JOINED:
                return last
        return Card(urgent, joinable, held_until)

    def withdraw(self, key: str) -> bool:
        """Never say it; False if it is too late for that."""
        card = self._cards.get(key)
        if card is None or card.ts is not None or card.sending:
            return False
        del card.parts[key], self._cards[key]
        if not card.parts:
            self._waiting.remove(card)
        return True

    def react(self, name: str) -> None:
        """Show this one, and no other of ours, when all that was said before is there."""
        if self._reactions.waiting:
            self._waiting.remove(self._reactions)
            self._reactions.waiting = False
        self._reactions.wanted = name
        self._wait(self._reactions)

    def _wait(self, entry: Card | Reactions) -> None:
        if not entry.waiting:
            entry.waiting = True
            self._waiting.append(entry)
        if len(self._waiting) > _MOST:
            self._give_up(next((one for one in self._waiting if not one.urgent), None))

    def _give_up(self, entry: Card | Reactions | None) -> None:
        if entry is not None:
            self._waiting.remove(entry)
            self.lose(entry)

    def ready_at(self) -> float | None:
        """When the first may be sent: what is held waits for what may change it, but holds up nothing."""
        if not self._waiting:
            return None
        return self._waiting[0].held_until if len(self._waiting) == 1 else 0.0

    def take(self) -> Card | Reactions:
        entry = self._waiting.popleft()
        entry.waiting, entry.sending = False, True
        return entry

    def give_back(self, entry: Card | Reactions) -> None:
        """It was not sent, and is still the first."""
        if entry.waiting:  # it changed meanwhile
            self._waiting.remove(entry)
        entry.waiting, entry.sending = True, False
        self._waiting.appendleft(entry)

    def sent(self, card: Card, ts: str) -> None:
        card.ts, card.sending = ts, False
        if card.settled and not card.waiting:
            self._forget(card)

    def lose(self, entry: Card | Reactions) -> None:
        for told in entry.about:
            self.miss(told)
        entry.waiting = entry.sending = False
        if isinstance(entry, Card):
            self._forget(entry)

    def miss(self, told: str) -> None:
        self.lost += 1
        if len(self.missed) < _MISSED:
            self.missed.append(told)

    def _forget(self, card: Card) -> None:
        for key in card.parts:
            self._cards.pop(key, None)

    def urgent_calls(self) -> int:
        """How many it takes at most to say what matters most."""
        return sum(2 if isinstance(entry, Reactions) else 1 for entry in self._waiting if entry.urgent)

    def only_urgent(self) -> None:
        """There is no time for anything else."""
        for entry in [one for one in self._waiting if not one.urgent]:
            self._give_up(entry)

    def lose_all(self) -> None:
        while self._waiting:
            self._give_up(self._waiting[0])
