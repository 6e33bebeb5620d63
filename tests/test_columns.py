"""Text in columns: as wide as terminals draw it, broken without loss."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from unspool.views.pretty.columns import cells, cut, pin, safe, safe_line, wrap

PIECES = [
    *("a", " ", "word", "é", "e\u0301", "█", "你", "한", "ﷺ", "🚀", "✅", "ก็", "क्षि"),
    *("⚠️", "1️⃣", "👨‍👩‍👧", "👍🏽", "🤷🏽‍♀️", "🏳️‍🌈", "🇩🇪", "\u200b"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=80).map("".join)


@pytest.mark.parametrize("piece", PIECES)
def test_widths_are_those_of_modern_terminals(piece: str) -> None:
    assert cells(piece) == wcswidth(piece)
    assert cells(f" {piece} {piece}") == 2 * wcswidth(piece) + 2
    assert cells(f"\x1b[31m{piece}\x1b[0m") == wcswidth(piece)


@given(TEXTS, st.integers(8, 60))
def test_a_wrapped_line_fits_and_loses_nothing_but_blanks(text: str, width: int) -> None:
    rows = list(wrap(text, width))
    assert [cells(drawn) for _, drawn in rows] == [columns for columns, _ in rows]
    assert all(columns <= width for columns, _ in rows)
    assert "".join(drawn for _, drawn in rows).replace(" ", "") == text.replace(" ", "")


@given(TEXTS, st.integers(8, 60))
def test_what_is_cut_fits(text: str, width: int) -> None:
    short = cut(text, width)
    assert cells(short) <= width
    assert short == text or (short.endswith("…") and text.startswith(short[:-1].rstrip()))


@pytest.mark.parametrize(
    ("line", "short"),
    [
        ("💭 hello world", "💭 hello …"),
        ("⚠️ hello world", "⚠️ hello …"),
        ("你好 worlds", "你好 worl…"),
        ("plain words", "plain wor…"),
    ],
)
def test_what_is_cut_is_cut_at_the_last_column(line: str, short: str) -> None:
    assert cut(line, 10) == short.replace(" …", "…")


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        ("hello wide world", 10, ["hello wide", "world"]),
        ("  indented words stay", 12, ["  indented", "words stay"]),
        ("F." + " " * 30 + "[100%]", 10, ["F.", "[100%]"]),
        ("✓." + " " * 30 + "[100%]", 10, ["✓.", "[100%]"]),
        ("x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5]),
        ("你好世界你好", 5, ["你好", "世界", "你好"]),
        ("tea 你好 tea", 8, ["tea 你好", "tea"]),
        ("👨‍👩‍👧👨‍👩‍👧", 7, ["👨‍👩‍👧", "👨‍👩‍👧"]),  # a simple terminal draws six columns of each
        ("", 10, [""]),
    ],
)
def test_where_lines_are_broken(line: str, width: int, rows: list[str]) -> None:
    assert [drawn.rstrip() for _, drawn in wrap(line, width)] == rows


def test_the_column_is_named_only_where_terminals_differ() -> None:
    assert pin("║ plain é 你好 🚀 ║") == "║ plain é 你好 🚀 ║"
    assert pin("a⚠️ b") == "a⚠️\x1b[4G b"
    assert pin("\x1b[1m你👨‍👩‍👧\x1b[0m║") == "\x1b[1m你👨‍👩‍👧\x1b[5G\x1b[0m║"


def test_what_steers_a_terminal_is_shown() -> None:
    assert safe("\x1b[31mred\x07\x00\x7f") == "␛[31mred␇␀␡"
    assert safe("a\r\nb\rc\u2028d") == "a\nb\nc\nd"
    assert safe("\x9b2J \u202eevil\u2069 \ud800") == "�2J �evil� �"
    assert safe("a\tb") == "a   b"
    assert safe_line("one\ttab \x1b \r") == "one\ttab ␛ ␍"
    assert safe("👨‍👩‍👧 ⚠️ é") == "👨‍👩‍👧 ⚠️ é"
