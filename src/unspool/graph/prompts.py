"""Are two system prompts the same, but for what changes with every request?

Prompts carry the date, the state of a repository, a billing line with a hash: compared line by line, most stays.
"""

from collections.abc import Callable

Prompt = tuple[str, ...]
_MOST = 0.5


class Prompts:
    def __init__(self, text: Callable[[str], str]) -> None:
        self._text = text
        self._known: dict[Prompt, tuple[frozenset[int], frozenset[int]]] = {}

    def similar(self, one: Prompt, other: Prompt) -> bool:
        """Equal, or of one size and different in one line only, or alike in more than half of all lines.

        Where either is a single line, words are compared in place of lines.
        """
        if one == other:
            return True
        if not one or not other:
            return False
        (mine, my_words), (yours, your_words) = self._pieces(one), self._pieces(other)
        if len(mine) < 2 or len(yours) < 2:
            mine, yours = my_words, your_words
        shared = len(mine & yours)
        if shared > _MOST * len(mine | yours):
            return True
        return bool(shared) and len(mine) == len(yours) == shared + 1

    def _pieces(self, prompt: Prompt) -> tuple[frozenset[int], frozenset[int]]:
        """Hashes of its lines, and of its words if they are few."""
        known = self._known.get(prompt)
        if known is None:
            if len(self._known) > 256:  # prompts that change with every request would pile up
                self._known.clear()
            lines = [line for row in prompt for line in self._text(row).splitlines() if line.strip()]
            words = " ".join(lines[:8]).split()
            known = self._known[prompt] = frozenset(map(hash, lines)), frozenset(map(hash, words))
        return known
