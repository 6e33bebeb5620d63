"""Markdown as pieces of Slack's own markup, which knows less: no headings, no tables, no images, one level of bold."""

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from unspool.views.slack.pieces import Close, Open, Piece, Text, code, fenced, link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MARKS = {"strong": "*", "em": "_", "s": "~"}
_BULLETS = ("•", "◦", "▪")


@lru_cache(1)
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def mrkdwn(markdown: str) -> list[Piece]:
    """What it says, without blank lines around it."""
    pieces = _Blocks().pieces(_parser().parse(markdown))
    while pieces and isinstance(pieces[-1], Text) and not pieces[-1].raw.strip():
        pieces.pop()
    return pieces


class _Blocks:
    def __init__(self) -> None:
        self._lists: list[int | None] = []
        """Those that are open; of a numbered one its next number."""
        self._quotes = 0
        self._out: list[Piece] = []
        self._at_start = True
        """Of a line: nothing stands before what comes, or only a bullet."""

    def pieces(self, tokens: "list[Token]") -> list[Piece]:
        place = 0
        while place < len(tokens):
            token = tokens[place]
            if token.type == "table_open":
                end = next(at for at in range(place, len(tokens)) if tokens[at].type == "table_close")
                self._block(fenced(_table(tokens[place:end])))
                place = end
            else:
                self._token(token)
            place += 1
        return self._out

    def _token(self, token: "Token") -> None:
        match token.type:
            case "heading_open":
                self._out.append(Open("*", "*"))
            case "heading_close":
                self._out.append(Close())
                self._end_line()
            case "paragraph_close":
                self._end_line()
            case "inline":
                self._text(list(_inline(token.children or [], self._in_heading())))
            case "fence" | "code_block":
                self._block(fenced(token.content.rstrip("\n")))
            case "hr":
                self._block([Text("———")])
            case "bullet_list_open":
                self._lists.append(None)
            case "ordered_list_open":
                start = token.attrGet("start")
                self._lists.append(int(start) if start is not None else 1)
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
                if not self._lists:
                    self._blank_line()
            case "list_item_open":
                self._item()
            case "list_item_close":
                self._at_start = True
            case "blockquote_open":
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
                self._blank_line()

    def _in_heading(self) -> bool:
        return bool(self._out) and self._out[-1] == Open("*", "*")

    def _item(self) -> None:
        depth = len(self._lists) - 1
        number = self._lists[-1]
        mark = _BULLETS[min(depth, 2)] if number is None else f"{number}."
        if number is not None:
            self._lists[-1] = number + 1
        self._out.append(Text(f"{'> ' * self._quotes}{'    ' * depth}{mark} "))
        self._at_start = False

    def _text(self, pieces: list[Piece]) -> None:
        if self._at_start and (margin := self._margin()):
            self._out.append(Text(margin))
        self._at_start = False
        if not self._quotes:
            self._out += pieces
            return
        for piece in pieces:  # every line of a quotation is marked
            self._out.append(Text(piece.raw.replace("\n", f"\n{self._margin()}")) if isinstance(piece, Text) else piece)

    def _margin(self) -> str:
        return "> " * min(self._quotes, 1) + "    " * len(self._lists)

    def _block(self, pieces: list[Piece]) -> None:
        if not self._at_start:
            self._out.append(Text("\n"))
        self._out += pieces
        self._end_line()

    def _end_line(self) -> None:
        self._out.append(Text("\n"))
        self._at_start = True
        if not self._lists and not self._quotes:
            self._blank_line()

    def _blank_line(self) -> None:
        self._out.append(Text("\n"))


def _inline(tokens: "list[Token]", in_bold: bool = False) -> Iterator[Piece]:
    """Each mark once: Slack cannot nest what is alike."""
    depths = {"*": int(in_bold), "_": 0, "~": 0}
    place = 0
    while place < len(tokens):
        token = tokens[place]
        name = token.type.rsplit("_", 1)[0]
        match token.type:
            case "text":
                yield Text(token.content)
            case "softbreak" | "hardbreak":
                yield Text("\n")
            case "code_inline":
                yield from code(token.content.replace("`", "ˋ"))
            case "image":
                yield from link(str(token.attrGet("src") or ""), [Text(token.content or "image")])
            case "link_open":
                end = next(at for at in range(place, len(tokens)) if tokens[at].type == "link_close")
                inner = list(_inline(tokens[place + 1 : end], bool(depths["*"])))
                yield from link(str(token.attrGet("href") or ""), inner)
                place = end
            case _ if name in _MARKS:
                mark = _MARKS[name]
                depths[mark] += token.nesting
                if depths[mark] == (token.nesting == 1):
                    yield Open(mark, mark) if token.nesting == 1 else Close()
            case _:
                yield Text(token.content)
        place += 1


def _table(tokens: "list[Token]") -> str:
    """Columns, one under another: Slack has no tables in a text."""
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append("".join(piece.raw for piece in _inline(token.children or []) if isinstance(piece, Text)))
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    filled = [[cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)] for row in rows]
    lines = ["  ".join(row).rstrip() for row in filled]
    return "\n".join([lines[0], "  ".join("─" * width for width in widths), *lines[1:]])


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else not combining(letter) for letter in text)
