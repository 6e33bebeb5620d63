"""Kill recorders under load, and fill their disks: what did clients see that has no record?

python bench/stress.py [kills] [fills] [--kills 20] [--fills 10] [--streams 200] [--modes MODE…] [--seed N] [--json]

kills   kill -9 at a random moment, with so many streams, beside a process that keeps the disk busy: plain, --compact,
        --by-session, --durable, and --strict --durable. `whole` are answers that a client saw to their end, `begun`
        calls of whose answer it saw a byte; `log alone` ignores all that --durable does not sync as it goes.
fills   a disk of 2 MB in memory (needs root), 20 clients, requests of 40 kB, --strict and --strict --durable.
"""

import argparse
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import child
from crashes import Lost, busy_disk, can_mount, fill, kill, small_disk, some_seconds

_MODES = {
    "plain": (),
    "compact": ("--compact",),
    "by-session": ("--by-session",),
    "durable": ("--durable",),
    "durable by-session": ("--durable", "--by-session"),
    "strict durable": ("--strict", "--durable"),
}
_CLIENTS, _CALLS, _SIZE = 20, 15, 40_000


def kills(
    folder: Path, modes: Sequence[str], rounds: int, streams: int, chance: random.Random
) -> dict[str, dict[str, Lost]]:
    """Return, by mode and by who looks, what was lost in all rounds."""
    lost: dict[str, dict[str, Lost]] = {}
    with busy_disk(folder):
        for _ in range(rounds):
            for name in modes:
                for reader, found in kill(folder / "kill", streams, some_seconds(chance), *_MODES[name]).items():
                    lost.setdefault(name, {}).setdefault(reader, Lost()).add(found)
                    print(f"{name}, {reader}: {found}", file=sys.stderr)
    return lost


def fills(folder: Path, rounds: int) -> dict[str, dict[str, int]]:
    counts = {}
    for name, options in {"strict": (), "strict durable": ("--durable",)}.items():
        total = {"answered": 0, "refused": 0, "without_record": 0}
        for _ in range(rounds):
            with small_disk(folder / "disk") as disk:
                seen, unrecorded = fill(disk, _CLIENTS, _CALLS, _SIZE, *options)
            total["answered"] += len(seen.whole)
            total["refused"] += len(seen.refused)
            total["without_record"] += len(unrecorded)
        counts[name] = total
    return counts


def is_within(mode: str, lost: Lost) -> bool:
    """Return whether the guarantee of the mode holds."""
    if "durable" in mode:
        return not (lost.whole or lost.incomplete or lost.begun)
    return not lost.whole and lost.begun <= lost.seen_begun / 1000


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill recorders under load, and fill their disks.")
    parser.add_argument("parts", metavar="PART", nargs="*", help="kills, fills; default: both")
    parser.add_argument("--kills", type=int, default=20, metavar="N", help="rounds of each mode")
    parser.add_argument("--fills", type=int, default=10, metavar="N")
    parser.add_argument("--streams", type=int, default=200, metavar="N")
    parser.add_argument("--modes", nargs="*", choices=_MODES, default=list(_MODES), metavar="MODE")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = child.FOLDER / "stress"
    folder.mkdir(parents=True, exist_ok=True)
    parts = options.parts or ["kills", "fills"]
    good = True
    if "kills" in parts:
        for mode, readers in kills(
            folder, options.modes, options.kills, options.streams, random.Random(options.seed)
        ).items():
            for reader, lost in readers.items():
                is_good = is_within(mode, lost)
                good &= is_good
                words = f"{'ok' if is_good else 'LOST'}  {mode}, {reader}: {lost}"
                print(json.dumps({"mode": mode, "reader": reader, **vars(lost)}) if options.json else words)
    if "fills" in parts:
        if not can_mount(folder / "disk"):
            print("fills: no file system can be mounted here (needs root)", file=sys.stderr)
            return 2
        for mode, counts in fills(folder, options.fills).items():
            good &= not counts["without_record"]
            print(json.dumps({"mode": mode, **counts}) if options.json else f"{mode}: {counts}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
