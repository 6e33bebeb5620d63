"""Markdown for a terminal, by rich: rows of a given width."""

import re
from collections.abc import Iterator
from io import StringIO
from typing import TYPE_CHECKING, Any

from unspool.views.pretty.columns import Row, cells, wrap

if TYPE_CHECKING:
    from rich.markdown import Markdown

LONGEST = 1 << 16
"""Bytes of Markdown that are interpreted; what is longer is shown as it was written."""
_NARROW = 5
"""Columns of the terminal that one of a table takes at least: a wide letter, and what stands beside it (older rich)."""
_MARKED = re.compile(
    r"`|\*\S|(?<!\w)_\S|~~|\]\(|\]\[|<https?:|&\w+;|\\[!-/:-@\[-`{-~]"  # in a line
    r"|^[ ]{0,3}(?:#{1,6}[ ]|>|\||[-+*][ ]|\d+[.)][ ]|[-=*_]{2,}[ ]*$)",  # at its beginning
    re.MULTILINE,
)
"""What may be Markdown. Text without any of this looks the same either way, and most texts have none."""
_COLOURS = {"markdown.code": "cyan", "markdown.h1": "bold", "markdown.h2": "bold", "markdown.link_url": "dim"}
"""What stands inside of a frame needs no backgrounds and no lines of its own."""


def plain(text: str, width: int) -> Iterator[Row]:
    """Lines as they are, broken where they are too long."""
    for line in text.split("\n"):
        if len(line) <= width and line.isascii():
            yield len(line), line
        else:
            yield from wrap(line, width)


class Markup:
    """Rows of Markdown. One console serves all: making one takes longer than a message."""

    def __init__(self, color: bool) -> None:
        self._color = color
        self._console: Any = None

    def rows(self, text: str, width: int) -> Iterator[Row]:
        text = text.strip("\n")
        long = len(text) > LONGEST // 4 and len(text.encode("utf-8", "replace")) > LONGEST
        if long or not _MARKED.search(text):
            yield from plain(text, width)
        else:
            yield from self._rendered(text, width)

    def _rendered(self, text: str, width: int) -> Iterator[Row]:
        from rich.color import ColorSystem
        from rich.console import Console
        from rich.theme import Theme

        if self._console is None:
            self._console = Console(
                file=StringIO(),
                width=width,
                force_terminal=self._color,
                color_system="standard",
                legacy_windows=False,
                theme=Theme(_COLOURS),
            )
        console = self._console
        system = ColorSystem.STANDARD
        blanks: list[Row] = []
        begun = False
        for line in console.render_lines(_markdown(text), console.options.update(width=width), pad=False):
            written = "".join(segment.text for segment in line).rstrip()
            if not written:
                blanks = [(0, "")] if begun else []
                continue
            begun = True
            yield from blanks
            blanks = []
            columns = cells(written)
            if columns > width:  # rich may measure otherwise than we do
                yield from plain(written, width)
            else:
                yield columns, _drawn(line, len(written), system) if self._color else written


def _drawn(line: list[Any], length: int, system: Any) -> str:
    """The segments of a line with their colours, without the blanks at its end."""
    pieces: list[str] = []
    for segment in line:
        text = segment.text[:length]
        length -= len(text)
        if text:
            pieces.append(segment.style.render(text, color_system=system) if segment.style else text)
    return "".join(pieces)


_MADE: list[type["Markdown"]] = []


def _markdown(text: str) -> "Markdown":
    """Line breaks and images stay where the model put them."""
    if not _MADE:
        _MADE.append(_flavour())
    document = _MADE[0](text)
    for token in document.parsed:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type = "hardbreak"
            elif child.type == "image":  # rich would put it before its paragraph
                child.type, child.tag, child.children = "text", "", None
                child.content = f"🌆 {child.content} ({child.attrGet('src')})"
    return document


def _flavour() -> type["Markdown"]:
    """Rich's Markdown, quieter: headings on the left and without frames, code without a lexer.

    And without losses: HTML is text like any other, and what is too long for a cell is broken.
    """
    from markdown_it import MarkdownIt
    from rich.console import Console, ConsoleOptions, RenderResult
    from rich.markdown import CodeBlock, Heading, Markdown, TableElement
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    class PlainHeading(Heading):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            self.text.justify = "left"
            yield Text("")
            yield self.text

    class PlainCode(CodeBlock):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            yield Padding(Text(str(self.text).rstrip("\n"), style="cyan"), (0, 0, 0, 2))

    class WholeTable(TableElement):
        def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
            head = self.header.row if self.header else None
            if head and len(head.cells) * _NARROW > options.max_width:
                for row in [head, *(self.body.rows if self.body else ())]:
                    yield Text(" | ").join(cell.content for cell in row.cells)
                return
            for table in super().__rich_console__(console, options):
                for column in table.columns if isinstance(table, Table) else ():
                    column.overflow = "fold"
                yield table

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])

    class Quiet(Markdown):
        elements = {  # noqa: RUF012  # as in the class above
            **Markdown.elements,
            "heading_open": PlainHeading,
            "fence": PlainCode,
            "code_block": PlainCode,
            "table_open": WholeTable,
        }

        def __init__(self, markup: str) -> None:
            super().__init__("", hyperlinks=False)
            self.markup, self.parsed = markup, parser.parse(markup)

    return Quiet
