"""Draw a fresh set of secrets, redact it, and count what is left.

python bench/secrets_drawn.py --seed 7 --count 5000
"""

import argparse
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from secret_samples import Sample, samples
from secret_traces import redacted_by_squash
from unspool.transforms.redact import Redactor


def main() -> None:
    options = _options()
    redactor = Redactor(b"a key for this run")
    drawn = list(islice(samples(options.seed), options.count))
    texts = redacted_by_squash(drawn) if options.through_squash else [redactor.text(sample.text) for sample in drawn]
    missed = [sample for sample, text in zip(drawn, texts, strict=True) if sample.leaks(text)]
    for label in ("group", "carrier", "kind", "place"):
        _print_table(label, drawn, missed, worst_only=label in ("kind", "place"))
    print(f"\nall: {len(drawn) - len(missed)} of {len(drawn)} removed, {1 - len(missed) / len(drawn):.2%}")
    if options.show:
        for sample in missed[: options.show]:
            print(f"{sample.group} | {sample.kind} | {sample.place}: {redactor.text(sample.text)!r:.300}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--through-squash", action="store_true", help="Write sessions, and run unspool squash on them.")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="Print the first N samples that leak.")
    return parser.parse_args()


def _print_table(label: str, drawn: list[Sample], missed: list[Sample], worst_only: bool) -> None:
    everything = Counter(getattr(sample, label) for sample in drawn)
    left = Counter(getattr(sample, label) for sample in missed)
    names = sorted(everything, key=lambda name: (1 - left[name] / everything[name], name))
    print(f"\n{label}")
    for name in names:
        removed = everything[name] - left[name]
        if worst_only and removed == everything[name]:
            continue
        print(f"  {name:24}{removed:6} of {everything[name]:6}  {removed / everything[name]:8.1%}")


if __name__ == "__main__":
    main()
