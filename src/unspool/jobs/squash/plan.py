"""How input is cut into shards: each is a stretch of the tasks' order, about as many bytes as the others.

A shard is told by where it begins and where the next one does, not by the files in it. So whatever comes to the input
later, each file is in one shard, and those in which nothing changed stay as they are.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from unspool.jobs.squash.tasks import FIRST, Key, Stretch

_FILE = 64 << 10
"""Bytes that opening a file costs about as much as reading."""
_GRAINS = 64
"""So finely, for each shard, is the input looked at before it is cut: no more need be remembered."""
_SHARD = 512 << 20
"""Bytes of input in a shard that nobody gave a number for: seconds of work, and a part of some megabytes."""
_MOST = 99_999


class Cut(Struct, array_like=True):
    """A shard to be."""

    start: Key
    bytes: int = 0
    files: int = 0

    @property
    def weight(self) -> int:
        return self.bytes + self.files * _FILE


class Plan(Struct):
    logs: list[str]
    agent: str | None
    cuts: list[Cut]

    @property
    def shards(self) -> int:
        return len(self.cuts)

    def stretch(self, shard: int) -> Stretch:
        start = self.cuts[shard - 1].start
        return start, self.cuts[shard].start if shard < self.shards else None

    def fits(self, logs: Sequence[str], agent: str | None, shards: int | None) -> bool:
        """Whether it is for this input, and this number of shards."""
        return (self.logs, self.agent) == (list(logs), agent) and shards in (None, self.shards)


def cut(listed: Iterable[tuple[Key, int]], shards: int | None, workers: int = 1) -> list[Cut]:
    """As many shards as were asked for, else as many as keep the workers busy. Some are empty where files are few."""
    grains, files = _grains(listed, (shards or _MOST // _GRAINS) * _GRAINS)
    whole = sum(grain.weight for grain in grains)
    if shards is None:
        shards = max(1, min(files, _MOST, max(4 * workers, whole // _SHARD)))
    made = [Cut(FIRST)]
    before = 0
    for grain in grains:
        middle = before + grain.weight / 2
        while len(made) < shards and middle * shards >= len(made) * whole:
            made.append(Cut(grain.start))
        made[-1].bytes += grain.bytes
        made[-1].files += grain.files
        before += grain.weight
    behind_all = (made[-1].start[0] + 1, "")
    return made + [Cut(behind_all) for _ in range(shards - len(made))]


def _grains(listed: Iterable[tuple[Key, int]], most: int) -> tuple[list[Cut], int]:
    """Neighbours together, in at most twice as many pieces as are wanted, and the number of files."""
    grains: list[Cut] = []
    least = 0
    files = 0
    for key, size in listed:
        files += 1
        if not grains or (grains[-1].weight >= least and _is_text(key[1])):
            grains.append(Cut(key))
        grains[-1].bytes += size
        grains[-1].files += 1
        if len(grains) >= 2 * most:
            least = 2 * max(least, sum(grain.weight for grain in grains) // len(grains))
            pairs = zip(grains[::2], grains[1::2], strict=True)
            grains = [Cut(one.start, one.bytes + two.bytes, one.files + two.files) for one, two in pairs]
    return grains, files


def _is_text(path: str) -> bool:
    """A plan is text, which not every name is: no shard begins with such a file."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
