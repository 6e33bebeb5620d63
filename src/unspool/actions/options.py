"""The words behind a program's name: operands, and options with their values."""

from collections.abc import Iterator
from typing import TypeAlias

Given: TypeAlias = tuple[list[str], str, dict[str, str]]
"""Operands; the letters of all options that take no value; options with a value (`-e`), and all that have a name
(`--regexp`), with an empty one if there is none."""


class Options:
    """Which options of a program take a value."""

    def __init__(self, letters: str = "", names: str = "") -> None:
        self.letters = frozenset(letters)
        self.names = frozenset(f"--{name}" for name in names.split())

    def split(self, words: list[str]) -> Given:
        """Patterns that are given twice stand as alternatives."""
        operands: list[str] = []
        flags = ""
        options: dict[str, str] = {}
        rest = iter(words)
        for word in rest:
            if not word or word[0] != "-" or word == "-":
                operands.append(word)
            elif word[1] != "-":
                flags += word[1:] if self.letters.isdisjoint(word) else self._valued(word, rest, options)
            elif word == "--":
                operands += rest
            else:
                name, given, value = word.partition("=")
                options[name] = value if given else next(rest, "") if name in self.names else ""
        return operands, flags, options

    def _valued(self, word: str, rest: Iterator[str], options: dict[str, str]) -> str:
        """The letters before the one that takes a value, which is the rest of the word or the next."""
        at = 1
        while word[at] not in self.letters:
            at += 1
        name, value = "-" + word[at], word[at + 1 :] or next(rest, "")
        before = options.get(name)
        options[name] = f"{before}|{value}" if before and name == "-e" else value
        return word[1:at]
