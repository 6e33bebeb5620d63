"""Are two system prompts the same, but for what changes with every request?

Prompts carry the date, the state of a repository, a billing line with a hash: compared line by line, most stays.
"""

from collections.abc import Callable

Prompt = tuple[str, ...]
_ALIKE = 0.5


class Prompts:
    def __init__(self, text: Callable[[str], str]) -> None:
        self._text = text
        self._lines: dict[Prompt, frozenset[int]] = {}

    def similar(self, one: Prompt, other: Prompt) -> bool:
        """Equal, equal but for the first line, or alike in more than half of all lines."""
        if one == other:
            return True
        if not one or not other:
            return False
        mine, yours = self._fingerprints(one), self._fingerprints(other)
        shared = len(mine & yours)
        return shared > _ALIKE * len(mine | yours) or (shared > 0 and shared >= min(len(mine), len(yours)) - 1)

    def _fingerprints(self, prompt: Prompt) -> frozenset[int]:
        """Hashes of the lines; a prompt of one line counts by its words."""
        known = self._lines.get(prompt)
        if known is None:
            if len(self._lines) > 256:  # prompts that change with every request would pile up
                self._lines.clear()
            lines = [line for row in prompt for line in self._text(row).splitlines() if line.strip()]
            pieces = lines if len(lines) > 1 else " ".join(lines).split()
            known = self._lines[prompt] = frozenset(map(hash, pieces))
        return known
