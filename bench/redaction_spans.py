"""List every span that redaction changes in a folder, and say which of them nobody has reviewed.

    python bench/redaction_spans.py FOLDER… [--show]

`reviewed_spans.json` calls each span right or wrong, with the reason. It holds no text: a span is known by its kind,
its length, and the beginning of its SHA-256. `--show` prints the text of spans that are not reviewed, to review them.
"""

import argparse
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from unspool.transforms.redact import Redactor

REVIEWED = Path(__file__).with_name("reviewed_spans.json")
_MAX_LINE = 64 << 20


class Changed(NamedTuple):
    """A span that redaction changes."""

    kind: str
    length: int
    digest: str

    @property
    def name(self) -> str:
        """Return the name of the span in the file of reviews."""
        return f"{self.kind} {self.length} {self.digest}"


class Listing(Redactor):
    """A redactor that remembers what it took out."""

    def __init__(self) -> None:
        super().__init__(b"no placeholder is kept")
        self.spans: dict[Changed, bytes] = {}

    def _placeholder(self, kind: str, secret: bytes) -> bytes:
        self.spans[Changed(kind, len(secret), hashlib.sha256(secret).hexdigest()[:16])] = secret
        return super()._placeholder(kind, secret)


def changed_spans(folders: Iterable[Path]) -> tuple[int, dict[Changed, bytes]]:
    """Return how many bytes the folders hold as text, and the spans that redaction changes in them."""
    listing, size = Listing(), 0
    for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
        for part in _parts(path):
            size += len(part)
            listing.raw(part)
    return size, listing.spans


def _parts(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, or the texts of one that is not a text, as in a database."""
    data = path.read_bytes()
    if b"\0" in data[:4096]:
        yield from (part for part in data.split(b"\0") if len(part) > 8)
    elif path.suffix == ".jsonl":
        yield from data.splitlines()
    else:
        yield data[:_MAX_LINE]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--show", action="store_true", help="Print the text of spans that are not reviewed.")
    options = parser.parse_args()
    size, spans = changed_spans(options.folders)
    reviews = json.loads(REVIEWED.read_text(encoding="utf-8"))
    for span, text in spans.items():
        review = reviews.get(span.name)
        verdict = f"{review['verdict']}: {review['reason']}" if review else "NOT REVIEWED"
        shown = f"  {text[:120]!r}" if options.show and not review else ""
        print(f"{span.name}  {verdict}{shown}")
    wrong = sum(reviews.get(span.name, {}).get("verdict") == "wrong" for span in spans)
    print(f"{size / 1e6:.1f} MB, {len(spans)} different spans, {wrong} wrong")


if __name__ == "__main__":
    main()
