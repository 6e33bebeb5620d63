"""Pages that open from disk, without a server: the viewer and the data in one file, or a folder of them."""

import hashlib
import html
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator

from unspool.errors import UnspoolError
from unspool.jobs.view.catalog import in_list
from unspool.jobs.view.indexing import Index
from unspool.jobs.view.pages import Home, ReelRow
from unspool.jobs.view.redacting import Redaction
from unspool.jobs.view.reels import Reel
from unspool.jobs.view.sharing import kept, packed
from unspool.web.built import NOT_BUILT, STATIC

_DATA = 'type="text/plain"'


def one_page(reels: Iterable[Reel], version: str, redaction: Redaction | None) -> Iterator[bytes]:
    """Everything in one file."""
    script, style = _assets()
    rows: list[ReelRow] = []
    blocks: list[str] = []
    for reel in reels:
        row, whole = kept(reel, redaction)
        rows.append(row)
        blocks.append(f'<script {_DATA} id="unspool-reel-{row.id}">{packed(whole, redaction)}</script>\n')
    blocks.append(_home(rows, version, redaction))
    policy = f"script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:"
    yield _head(rows, policy)
    yield f'<style>{style}</style>\n</head>\n<body>\n<div id="app"></div>\n'.encode()
    yield from (block.encode() for block in blocks)
    yield f'<script type="module">{script}</script>\n</body>\n</html>\n'.encode()


def site(reels: Iterable[Reel], version: str, redaction: Redaction | None) -> Iterator[tuple[str, bytes]]:
    """Names of files and what is in them: a page with the list, and the data of each reel beside it."""
    script, style = _assets()
    yield "assets/unspool.js", script.encode()
    yield "assets/unspool.css", style.encode()
    rows: list[ReelRow] = []
    index = Index(redaction)
    for reel in reels:
        row, whole = kept(reel, redaction)
        rows.append(row)
        index.add(row.id, whole)
        yield f"data/{row.id}.js", f'unspoolReel("{row.id}", "{packed(whole, redaction)}");\n'.encode()
    yield "data/search.js", f'unspoolReel("search", "{packed(index.value(), redaction)}");\n'.encode()
    body = (
        '<link rel="stylesheet" href="assets/unspool.css" />\n</head>\n<body>\n<div id="app"></div>\n'
        f'{_home(rows, version, redaction)}<script defer src="assets/unspool.js"></script>\n</body>\n</html>\n'
    )
    yield "index.html", _head(rows, "script-src 'self' file:; style-src 'self' file:; img-src data:") + body.encode()


def _home(rows: list[ReelRow], version: str, redaction: Redaction | None) -> str:
    rows.sort(key=in_list)
    home = Home(rows, version, False, None)
    if redaction is not None:
        packed(home, redaction)  # so that its own secrets are counted too
        home.redacted = redaction.kinds
    return f'<script {_DATA} id="unspool-home">{packed(home, redaction)}</script>\n'


def _head(rows: list[ReelRow], policy: str) -> bytes:
    title = html.escape(rows[0].name[:120] if len(rows) == 1 else f"{len(rows)} conversations")
    policy = f"default-src 'none'; {policy}; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8" />\n'
        f'<meta http-equiv="content-security-policy" content="{policy}" />\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1" />\n'
        '<meta name="referrer" content="no-referrer" />\n<meta name="color-scheme" content="light dark" />\n'
        f"<title>{title} · unspool</title>\n"
    ).encode()


def _assets() -> tuple[str, str]:
    scripts, styles = sorted(STATIC.glob("assets/*.js")), sorted(STATIC.glob("assets/*.css"))
    if len(scripts) != 1 or len(styles) != 1:
        raise UnspoolError(NOT_BUILT)
    script = re.sub(r"</(?=script)", r"<\\/", scripts[0].read_text("utf-8"), flags=re.IGNORECASE)
    return script, re.sub(r"</(?=style)", r"<\\/", styles[0].read_text("utf-8"), flags=re.IGNORECASE)


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
