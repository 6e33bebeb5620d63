"""Numbers, times and names as people read them."""

from datetime import UTC, datetime, timedelta

import click
import pytest

from unspool.cli.words import fit, human, moment, one_line, plural, short_names, span
from unspool.views.harmless import safe


@pytest.mark.parametrize(("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (12345, "12,345 files")])
def test_plural(number: int, text: str) -> None:
    assert plural(number, "file") == text


def test_an_odd_plural() -> None:
    assert plural(2, "retry", "retries") == "2 retries"


@pytest.mark.parametrize(
    ("number", "text"), [(999, "999"), (1000, "1.0k"), (1_500_000, "1.5M"), (2_000_000_000, "2.0G")]
)
def test_large_numbers_are_short(number: int, text: str) -> None:
    assert human(number) == text


@pytest.mark.parametrize("number", [999_950, 999_999, 999_999_999])
def test_no_number_is_a_thousand_of_a_unit(number: int) -> None:
    assert not human(number).startswith("1000")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.4, "0 s"), (59, "59 s"), (60, "1 min"), (5400, "90 min"), (7200, "2 h"), (400_000, "5 d")],
)
def test_a_duration_is_one_number(seconds: float | None, text: str) -> None:
    assert span(seconds) == text


def test_no_duration_is_60_seconds() -> None:
    assert span(59.7) == "1 min"


@pytest.mark.parametrize(
    ("text", "columns"), [("tea", "tea  "), ("teapot", "teap…"), ("茶壶茶壶", "茶壶…"), ("a\nb", "a�b  ")]
)
def test_a_text_fits_its_columns_however_wide_its_letters(text: str, columns: str) -> None:
    assert fit(text, 5) == columns


def test_what_steers_a_terminal_is_replaced() -> None:
    assert safe("a\x1b[2J\x07\x9b\u202e\r\nb") == "a�[2J�����b"
    assert safe("\ud800\u2028") == "��"


@pytest.mark.parametrize(
    "text", ["10\u202fkm", "« tea\xa0»", "茶\u3000壶", "👨\u200d👩\u200d👧", "می\u200cشود", "\u200eאב"]
)
def test_blanks_of_other_widths_and_what_joins_letters_stay(text: str) -> None:
    assert safe(f"{text}\x1b") == f"{text}�"


def test_a_text_of_many_lines_becomes_one() -> None:
    assert one_line(" a \n\t b\u2028c ") == "a b c"
    assert one_line(None) == ""


def test_names_are_as_short_as_they_can_be_told_apart() -> None:
    assert short_names(["aaaaaaaaaa1", "aaaaaaaaaa2", "bbbbbbbbbbbbb"]) == ["aaaaaaaaaa1", "aaaaaaaaaa2", "bbbbbbbb"]


def test_a_name_that_another_begins_with_stays_whole() -> None:
    assert short_names(["teatable1", "teatable12"]) == ["teatable1", "teatable12"]


def test_a_name_is_told_from_those_that_are_not_listed() -> None:
    assert short_names(["teatable1"], among=["teatable12", "teatable3", "teatable1", "x"]) == ["teatable1"]
    assert short_names(["teapot-1234", "x"], 2, ["teapot-1299"]) == ["teapot-123", "x"]


@pytest.mark.parametrize(("text", "back"), [("90s", 90), ("5m", 300), ("12h", 43200), ("3d", 259200), ("2w", 1209600)])
def test_a_span_is_so_long_ago(text: str, back: int) -> None:
    expected = (datetime.now(UTC) - timedelta(seconds=back)).timestamp() * 1000
    assert abs(moment(text) - expected) < 5000


def test_a_moment_with_its_zone() -> None:
    assert moment("2026-03-01T12:00:00+02:00") == moment("2026-03-01T10:00:00Z") == 1_772_359_200_000


def test_a_day_begins_at_midnight_here() -> None:
    here = datetime(2026, 3, 1).astimezone()
    assert moment("2026-03-01") == here.timestamp() * 1000


def test_yesterday_began_a_day_before_today() -> None:
    assert 82_800_000 <= moment("today") - moment("yesterday") <= 90_000_000


@pytest.mark.parametrize("text", ["", "soon", "3 moons", "2026-13-01"])
def test_what_is_no_time_is_a_mistake(text: str) -> None:
    with pytest.raises(click.BadParameter, match="no date, no time"):
        moment(text)


def test_a_moment_that_no_zone_has_is_told() -> None:
    with pytest.raises(click.BadParameter, match="no date"):
        moment("0001-01-01")
