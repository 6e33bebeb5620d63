"""Text in columns of a terminal: what is safe to print, how wide it is, and where it can be broken.

Terminals do not agree on emoji that are put together (👨‍👩‍👧, ⚠️, 🇪🇺): some draw them in two columns, some each part
by itself. So on a terminal the place behind such a character is named (`pin`), and what follows stands right in all of
them. In a pipe they count as what modern terminals draw.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import TypeAlias

_CONTROLS = {
    **{code: chr(0x2400 + code) for code in range(0x20) if code not in (0x09, 0x0A)},
    0x7F: "\u2421",
    **dict.fromkeys((0x2028, 0x2029), "\n"),
}
"""ESC is shown as ␛, BEL as ␇; what has no picture, and what turns the direction of a line around, as �."""
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\U00100000-\U0010ffff]"
)
_STEERING = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_ESCAPE, _JOINER, _EMOJI_STYLE = "\x1b", "\u200d", "\ufe0f"
_TAB = 4
_BLANKS = re.compile(" +")
_FIRST_STAND_IN = 0x100000
"""Private characters that nobody uses: where a line is broken, they stand for what is drawn as one."""

Row: TypeAlias = tuple[int, str]
"""The columns of a line, and the line as it is drawn."""


def safe(text: str) -> str:
    """Lines without what would steer a terminal. A lone carriage return begins a line: it would write over one."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _UNSAFE.search(text):
        text = _UNSAFE.sub(_shown, text)
    return text.expandtabs(_TAB) if "\t" in text else text


def safe_line(text: str) -> str:
    """One line that stays one; its tabs too."""
    if text.isprintable() or not _UNSAFE.search(text):
        return text
    return _UNSAFE.sub(_shown, text).replace("\n", "\u240a")


def escaped(text: str) -> str:
    """JSON that says the same, with what JSON itself does not escape."""
    return (
        text if text.isascii() and "\x7f" not in text else _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    )


def _shown(found: re.Match[str]) -> str:
    return _CONTROLS.get(ord(found[0]), "\N{REPLACEMENT CHARACTER}")


class _Widths(dict[str, int]):
    """Of single characters, looked up once each."""

    def __init__(self) -> None:
        super().__init__()
        self.odd = {_JOINER, _EMOJI_STYLE}
        """Those that change what stands before them, or that terminals draw in different ways."""
        self._pattern: re.Pattern[str] | None = None

    def __missing__(self, letter: str) -> int:
        from rich.cells import get_character_cell_size

        spacing = unicodedata.category(letter) == "Mc"  # a vowel beside its consonant: some draw it in its column
        width = self[letter] = 0 if spacing else get_character_cell_size(letter)
        if letter == _ESCAPE:
            return width  # how colours begin, which we wrote ourselves
        if (width == 0 and not unicodedata.combining(letter)) or _is_flag(letter) or _is_tone(letter):
            self.odd.add(letter)
            self._pattern = None
        return width

    @property
    def clusters(self) -> re.Pattern[str]:
        """Finds what is drawn as one and holds an odd character; and escapes."""
        if self._pattern is None:
            odd = "".join(re.escape(letter) for letter in sorted(self.odd) if not _is_flag(letter))
            flags, escape = "[\U0001f1e6-\U0001f1ff]{2}", "\x1b\\[[0-9;]*m"
            joined = f"[{odd}]+(?:(?<={_JOINER})[^\x1b][{odd}]*)*"
            self._pattern = re.compile(f"{escape}|{flags}|[^\x1b]{joined}|{joined}", re.DOTALL)
        return self._pattern


_WIDTHS = _Widths()


def _is_flag(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def _is_tone(letter: str) -> bool:
    return "\U0001f3fb" <= letter <= "\U0001f3ff"


def cells(text: str) -> int:
    """Columns that the text takes, escapes none."""
    if text.isascii() and _ESCAPE not in text:
        return len(text)
    width = sum(map(_WIDTHS.__getitem__, text))
    if _WIDTHS.odd.isdisjoint(text) and _ESCAPE not in text:
        return width
    return sum(_size(found[0])[0] - sum(map(_WIDTHS.__getitem__, found[0])) for found in _odd_in(text)) + width


def _odd_in(text: str) -> Iterator[re.Match[str]]:
    return _WIDTHS.clusters.finditer(text)


def _size(cluster: str) -> tuple[int, int]:
    """Columns in a modern terminal, and those that a simple one may need, which draws each part."""
    if cluster.startswith(_ESCAPE):
        return 0, 0
    parts = [_WIDTHS[letter] for letter in cluster]
    whole = parts[0]
    if (_is_flag(cluster[0]) and len(cluster) > 1) or (whole == 1 and _EMOJI_STYLE in cluster):
        whole = 2
    elif whole < 2:
        whole += sum(2 for letter in cluster[1:] if _is_tone(letter))  # a colour of nothing is a square
    return whole, max(whole, sum(parts) + (_is_flag(cluster[0]) and 2))


def wrap(line: str, width: int) -> Iterator[Row]:
    """The line in pieces that fit, broken at blanks and between wide characters where that can be."""
    if line.isascii():
        return _wrap_narrow(line, width)
    columns = sum(map(_WIDTHS.__getitem__, line))
    if not _WIDTHS.odd.isdisjoint(line):
        return _wrap_odd(line, width)
    return iter([(columns, line)]) if columns <= width else _wrap_even(line, width, _WIDTHS)


def _wrap_narrow(line: str, width: int) -> Iterator[Row]:
    """Every character takes one column."""
    begin, length = 0, len(line)
    while length - begin > width:
        end = line.rfind(" ", begin, begin + width + 1)
        if end <= begin or line[begin:end].isspace():
            yield width, line[begin : begin + width]
            begin += width
        else:
            yield end - begin, line[begin:end]
            begin = _behind_blanks(line, end)
    if begin < length or not begin:
        yield length - begin, line[begin:]


def _wrap_even(line: str, width: int, widths: dict[str, int], anywhere: bool = False) -> Iterator[Row]:
    """Each character has its own width, and none changes another. `anywhere`: also inside of words."""
    size, begin = widths.__getitem__, 0
    while begin < len(line):
        piece = line[begin : begin + 2 * width]
        sums = list(accumulate(map(size, piece)))
        fits = max(1, bisect_right(sums, width))
        if fits == len(piece):
            yield sums[-1], piece
            begin += fits
            continue
        end = fits if anywhere or piece[fits] == " " else _place_to_break(piece, fits, size)
        yield sums[end - 1], piece[:end]
        begin = _behind_blanks(line, begin + end)


def _behind_blanks(line: str, at: int) -> int:
    found = _BLANKS.match(line, at)
    return found.end() if found else at


def _place_to_break(piece: str, fits: int, size: Callable[[str], int]) -> int:
    """The last place, up to there, behind a blank or at a wide character."""
    for end in range(fits, 0, -1):
        if piece[end - 1] == " " or size(piece[end]) > 1 or size(piece[end - 1]) > 1:
            return end
    return fits


def _wrap_odd(line: str, width: int, anywhere: bool = False) -> Iterator[Row]:
    """What is drawn as one is broken as one: a single character stands for it."""
    names: dict[str, str] = {}
    sizes, needs = _Sizes(), _Sizes()

    def stand_in(found: re.Match[str]) -> str:
        name = names.get(found[0])
        if name is None:
            name = names[found[0]] = chr(_FIRST_STAND_IN + len(names) % 0xFFFF)
            sizes[name], needs[name] = _size(found[0])
        return name

    even = _WIDTHS.clusters.sub(stand_in, line)
    meant = {ord(name): text for text, name in names.items()}
    for _, piece in _wrap_even(even, width, needs, anywhere):
        yield sum(map(sizes.__getitem__, piece)), piece.translate(meant)


class _Sizes(dict[str, int]):
    """Of the characters of one line."""

    def __missing__(self, letter: str) -> int:
        width = self[letter] = _WIDTHS[letter]
        return width


def cut(line: str, width: int) -> str:
    """The beginning of a line, in at most so many columns, with … where more was."""
    if line.isascii() and len(line) <= width:
        return line
    line = line[: width * 8]  # combining characters take no columns, but nobody needs more of them
    if cells(line) <= width:
        return line
    odd = not _WIDTHS.odd.isdisjoint(line)
    _, piece = next(_wrap_odd(line, width - 1, True) if odd else _wrap_even(line, width - 1, _WIDTHS, True))
    return piece.rstrip() + "…"


def pin(drawn: str) -> str:
    """The same, with the column named behind each character that terminals draw in different ways."""
    if drawn.isascii() or _WIDTHS.odd.isdisjoint(drawn):
        return drawn
    pieces: list[str] = []
    column, end = 1, 0
    for found in _odd_in(drawn):
        column += sum(map(_WIDTHS.__getitem__, drawn[end : found.start()])) + _size(found[0])[0]
        pieces.append(drawn[end : found.end()])
        if not found[0].startswith(_ESCAPE):
            pieces.append(f"\x1b[{column}G")
        end = found.end()
    return "".join(pieces) + drawn[end:]
