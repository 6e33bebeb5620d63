"""A reel's transcript as Markdown."""

from collections.abc import Iterator

from unspool.ingest.assembly import assemble
from unspool.jobs.view.loaded import Loaded
from unspool.jobs.view.pages import Card
from unspool.jobs.view.redacting import Redaction
from unspool.jobs.view.reels import Reel, SessionReel, TrafficReel
from unspool.jobs.view.threads import ThreadReel
from unspool.jobs.view.transcripts import leaf_of, told_of
from unspool.views.markdown import Row, markdown, rows_as_markdown


def as_markdown(reel: Reel, redaction: Redaction | None) -> Iterator[str]:
    """Lines with their ends."""
    known = reel.load()
    if isinstance(reel, TrafficReel):
        reel.finish()
    if redaction is not None:
        known = redaction.loaded(known)
    for line in _lines(reel, known):
        written = redaction.text(line) if redaction is not None else line  # once more, whatever was forgotten
        if redaction is not None:
            redaction.see(written.encode("utf-8", "replace"))
        yield written + "\n"


def _lines(reel: Reel, known: Loaded) -> Iterator[str]:
    if isinstance(reel, SessionReel):
        yield from markdown(assemble(reel.found.facts, known.events))
    elif isinstance(reel, ThreadReel) and reel.at is not None:
        yield from _path(reel, known, reel.at)
    else:
        for root in dict.fromkeys(row.root for row in known.rows):
            yield from _path(reel, known, known.rows[leaf_of(known, root)].id)
            yield ""


def _path(reel: Reel, known: Loaded, end: str) -> Iterator[str]:
    """The requests that lead to this one."""
    first = known.rows[known.rows[known.numbers[end]].root]
    yield f"# {first.title or first.id}"
    yield ""
    yield from (f"- {name}: {value}" for name, value in (("model", first.model), ("agent", first.agent)) if value)
    cards = told_of(reel, known, end, onward=False).cards
    yield from rows_as_markdown(row for card in cards for row in _rows(card))


def _rows(card: Card) -> Iterator[Row]:
    """A card as the rows that transcripts are written from."""
    if card.call is None:
        yield Row(card.kind, card.text, card.depth, level=card.level, body=card.text if card.kind == "result" else "")
        return
    level = "error" if card.failed else "info"
    call = card.call
    form = "diff" if call.diff and call.kind != "plan" else "text"
    yield Row("call", f"{call.name}  {call.does}".rstrip(), card.depth, call.diff, form, level)
    if card.result is not None:
        yield Row("result", "", card.depth, card.result, level=level)
