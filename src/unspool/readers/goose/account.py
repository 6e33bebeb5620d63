"""The tokens of one Goose session: what it says of itself, and what each call to the model said.

Goose counts what came from a cache as input too.
"""

from typing import Any

from unspool.model import Origin
from unspool.model.event import TokenUsage
from unspool.sources.values import count, mapping, time_of

_NAMES = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_CAMEL = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_READ = ("cache_read_input_tokens", "cacheReadInputTokens")
_WRITE = ("cache_write_input_tokens", "cacheWriteInputTokens")

Tokens = tuple[int, int, int, int]
"""Input with what was cached, output, read from the cache, written to it."""


def tokens_of(row: dict[str, Any], prefix: str = "") -> Tokens:
    given, output, read, write = (
        count(row.get(prefix + name)) or count(row.get(camel)) for name, camel in zip(_NAMES, _CAMEL, strict=True)
    )
    read = read or max(count(row.get(name)) for name in _READ)
    write = write or max(count(row.get(name)) for name in _WRITE)
    return given, output, read, write


class Account:
    def __init__(self) -> None:
        self.model: str | None = None
        self.ledger: list[tuple[str, dict[str, Any], Origin]] = []
        self.has_ledger = False
        self._total: Tokens = (0, 0, 0, 0)
        self._spent: Tokens = (0, 0, 0, 0)
        self._ahead: Tokens = (0, 0, 0, 0)
        """What was told as the rest, while the log still grew: calls that come later are part of it."""

    def said(self, session: dict[str, Any]) -> None:
        """The session's own totals; older ones know only those of the last call. Newer exports have objects of them."""
        told = (
            tokens_of(session, "accumulated_"),
            tokens_of(mapping(session.get("accumulated_usage"))),
            tokens_of(session),
            tokens_of(mapping(session.get("usage"))),
        )
        self._total = next(filter(any, told), told[0])

    def over(self, moment: Any, done: bool) -> list[tuple[str, dict[str, Any], Origin]]:
        """Takes out the rows from before this moment (with `done`, also those of the very moment); all, without one."""
        self.has_ledger = self.has_ledger or bool(self.ledger)
        limit = time_of(moment)
        at = 0
        for _, row, _ in self.ledger:
            time = time_of(row.get("created_timestamp"))
            if limit is not None and time is not None and not (time < limit or (done and time == limit)):
                break
            at += 1
        taken, self.ledger = self.ledger[:at], self.ledger[at:]
        return taken

    def spend(self, tokens: Tokens, model: str | None, apart: bool = False) -> TokenUsage | None:
        if any(self._ahead) and not apart:
            told = tokens
            a, b, c, d = (max(now - before, 0) for now, before in zip(told, self._ahead, strict=True))
            tokens = a, b, c, d
            a, b, c, d = (max(before - now, 0) for now, before in zip(told, self._ahead, strict=True))
            self._ahead = a, b, c, d
        if not any(tokens):
            return None
        given, output, read, write = tokens
        a, b, c, d = self._spent
        self._spent = a + given, b + output, c + read, d + write
        fresh = given - read - write
        return TokenUsage(model or self.model, fresh if fresh >= 0 else given, read, write, output, 0, apart=apart)

    def rest(self) -> TokenUsage | None:
        """What no call told of: all of it in a session that is older than the ledger."""
        given, output, read, write = (max(a - b, 0) for a, b in zip(self._total, self._spent, strict=True))
        a, b, c, d = self._ahead
        self._ahead = a + given, b + output, c + read, d + write
        return self.spend((given, output, read, write), None, apart=True)
