"""The fenced examples of the five documents, where these are present.

They are looked for in $UNSPOOL_SEEDS, else in ../shared/seeds beside the repository. None of their text is kept here.
"""

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("UNSPOOL_SEEDS", ROOT.parent / "shared" / "seeds"))
NAMES = ("000", "001", "002", "003", "004")
ABSENT = f"needs the five documents in {FOLDER} (UNSPOOL_SEEDS)"
needs_documents = pytest.mark.skipif(not list(FOLDER.glob("000_*.txt")), reason=ABSENT)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A fenced block: the document, its number in the document from 1, its language, and the heading above it."""

    document: str
    number: int
    language: str
    heading: str
    text: str

    @property
    def key(self) -> str:
        return f"{self.document}-{self.number:02}"


@cache
def text_of(document: str) -> str:
    (path,) = FOLDER.glob(f"{document}_*.txt")
    return path.read_text(encoding="utf-8")


@cache
def examples(document: str) -> tuple[Example, ...]:
    """Return the fenced examples of a document, or none if it is absent."""
    if not list(FOLDER.glob(f"{document}_*.txt")):
        return ()
    text = text_of(document)
    blocks = []
    for number, match in enumerate(_FENCE.finditer(text), 1):
        above = re.findall(r"^#+ (.*)$|^\*\*(.*?)\*\*:?$", text[: match.start()], re.MULTILINE)
        heading = "".join(above[-1]).strip(":") if above else ""
        blocks.append(Example(document, number, match[1], heading, match[2]))
    return tuple(blocks)


def example(key: str) -> Example:
    document, number = key.split("-")
    return examples(document)[int(number) - 1]
