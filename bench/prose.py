"""Text like that of real agents: words, code-like lines with indentation, quotes, backslashes, a few letters beyond
ASCII. Written as JSON, about 3.5 % of its bytes are backslashes, as in the logs of real agents."""

import math
import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from string import ascii_letters, digits
from typing import TypeVar
from uuid import UUID

Thing = TypeVar("Thing")

_VOCABULARY = """
about after again agent answer apply argument array assert await before begin branch buffer build cache call change
check class client close code column command commit compare config connection context convert copy count create current
data database debug default define delete deploy describe directory document each edit empty encode error event
every exception execute expect export factory fail false field file filter find first fixture folder follow format found
from function generate group handle header import include index input insert install integer into invalid item iterate
join just keep kernel language last layer length library limit line list load local lock logger lookup main make match
memory merge message method migrate missing module move name network never number object offset only open option order
output package page parent parse patch path pattern payload pending pipeline pointer print process profile project query
queue raise random range read record reduce refactor release remove rename replace report request reset resolve response
restart result retry return review rewrite route router sample schema scope script search second select send server
session should signal socket sort source split stack start state status stream string suite switch symbol table target
task template test text thread timeout token trace transaction trigger true type update upload user valid value variable
vector version view wait warning when where which with without worker write yield
"""
_WORDS = _VOCABULARY.split()
_INDENTS = ("", "", "", "  ", "    ", "    ", "        ")
_ESCAPED = (r"\w+", r"\bfound\b", r"C:\src\main", r"\d{3}", r"line\n")
_ENDINGS = ("py", "ts", "md", "rs", "json")
_BEYOND_ASCII = ("é", "ü", "→", "…", "✓", "“quoted”", "naïve", "日本語", "Größe", "🚀")


class Prose:
    """A source of text; the same seed gives the same text."""

    def __init__(self, seed: str, quotes: float = 0.24) -> None:
        """`quotes` is the share of lines with a quoted word."""
        self._random = random.Random(seed)
        self._quotes = quotes

    def text(self, size: int) -> str:
        """Lines of about `size` bytes in all; one in eight has characters beyond ASCII."""
        lines: list[str] = []
        while size > 0:
            line = self._line()
            lines.append(line)
            size -= len(line) + 1
        if self._random.random() < 0.13:
            for _ in range(3):
                lines[self._random.randrange(len(lines))] += f" {self._random.choice(_BEYOND_ASCII)}"
        return "\n".join(lines)

    def sentence(self, words: int) -> str:
        """Words alone, without anything that JSON must escape."""
        return " ".join(self._random.choices(_WORDS, k=words)).capitalize() + "."

    def token(self, prefix: str) -> str:
        """An id as providers give them."""
        return prefix + "".join(self._random.choices(ascii_letters + digits, k=24))

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def spread(self, median: float, mean: float) -> int:
        """A size. Real ones are log-normal: most are small, and the few large ones make the mean; none is huge."""
        size = self._random.lognormvariate(math.log(median), math.sqrt(2 * math.log(mean / median)))
        return max(1, round(min(size, 25 * mean)))

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def pick(self, shares: Mapping[Thing, float]) -> Thing:
        return self._random.choices(list(shares), list(shares.values()))[0]

    def uuid(self) -> str:
        return str(UUID(int=self._random.getrandbits(128), version=4))

    def word(self) -> str:
        return self._random.choice(_WORDS)

    def path(self) -> str:
        """Of a file in a project."""
        return f"{self.word()}/{self.word()}/{self.word()}_{self.word()}.{self._random.choice(_ENDINGS)}"

    def _line(self) -> str:
        words = self._random.choices(_WORDS, k=self._random.randint(3, 9))
        kind = self._random.random()
        if kind < self._quotes:
            words[1] = f'"{words[1]}"'
        elif kind < self._quotes + 0.05:
            words[1] = self._random.choice(_ESCAPED)
        elif kind < self._quotes + 0.36:
            words[1:3] = [f"{words[1]}_{words[2]}()"]
        return self._random.choice(_INDENTS) + " ".join(words)


class Clock:
    """Times as agents write them, one after another."""

    def __init__(self, prose: Prose) -> None:
        self._prose = prose
        self._now = datetime(2026, 1, 20, 9, 0, tzinfo=UTC) + timedelta(minutes=prose.number(0, 200_000))

    def tick(self) -> str:
        self._now += timedelta(milliseconds=self._prose.number(20, 9000))
        return f"{self._now:%Y-%m-%dT%H:%M:%S}.{self._now.microsecond // 1000:03}Z"
