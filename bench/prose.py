"""Text like that of real agents: words, code-like lines with indentation, quotes, backslashes, a few letters beyond
ASCII. Written as JSON, about 3.5 % of its bytes are backslashes, as in the logs of real agents."""

import random
from string import ascii_letters, digits

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
_BEYOND_ASCII = ("é", "ü", "→", "…", "✓", "“quoted”", "naïve", "日本語", "Größe", "🚀")


class Prose:
    """A source of text; the same seed gives the same text."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

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

    def _line(self) -> str:
        words = self._random.choices(_WORDS, k=self._random.randint(3, 9))
        kind = self._random.random()
        if kind < 0.24:
            words[1] = f'"{words[1]}"'
        elif kind < 0.29:
            words[1] = self._random.choice(_ESCAPED)
        elif kind < 0.6:
            words[1:3] = [f"{words[1]}_{words[2]}()"]
        return self._random.choice(_INDENTS) + " ".join(words)
