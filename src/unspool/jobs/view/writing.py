"""A reel's transcript as Markdown."""

from collections.abc import Iterator

from unspool.ingest.assembly import assemble
from unspool.jobs.view.pages import Card
from unspool.jobs.view.redacting import Redaction
from unspool.jobs.view.reels import Reel, SessionReel
from unspool.jobs.view.transcripts import leaf_of, told_of
from unspool.views.markdown import Row, markdown, rows_as_markdown


def as_markdown(reel: Reel, redaction: Redaction | None) -> Iterator[str]:
    """Lines with their ends."""
    known = reel.load()
    if redaction is not None:
        known = redaction.loaded(known)
    if isinstance(reel, SessionReel):
        session = assemble(reel.found.facts, known.events)
        for line in markdown(session):
            written = redaction.text(line) if redaction is not None else line
            if redaction is not None:
                redaction.see(written.encode("utf-8", "replace"))
            yield written + "\n"
        return
    for root in dict.fromkeys(row.root for row in known.rows):
        first = known.rows[root]
        yield f"# {first.title or first.id}\n\n"
        yield from (f"- {name}: {value}\n" for name, value in (("model", first.model), ("agent", first.agent)) if value)
        cards = told_of(reel, known, known.rows[leaf_of(known, root)].id).cards
        for line in rows_as_markdown(row for card in cards for row in _rows(card)):
            if redaction is not None:
                redaction.see(line.encode("utf-8", "replace"))
            yield line + "\n"
        yield "\n"


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
