"""Screens as a person sees them: a real pseudo-terminal, drawn by a terminal emulator, against golden files."""

from pathlib import Path

import pytest

from streams import Live, everything
from terminal import Terminal, cell_in

SCREENS = Path(__file__).parent / "screens"
FRAMES = ("╔", "║", "╚")


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("options", [(), ("--queue",), ("--full",)], ids=lambda options: "".join(options) or "plain")
def test_golden_screens(columns: int, options: tuple[str, ...], accept: bool) -> None:
    terminal = Terminal("pretty", *options, columns=columns)
    terminal.send(everything().data)
    assert terminal.close() == 0
    golden = SCREENS / f"{''.join(options).strip('-') or 'plain'}-{columns}.txt"
    told = "\n".join(terminal.screen) + "\n"
    if accept:
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(told)
    assert told == golden.read_text()


@pytest.mark.parametrize("columns", [30, 58, 80, 120, 200])
@pytest.mark.parametrize("options", [("--queue",), ("--full", "--color", "never")], ids=" ".join)
def test_every_right_border_stands_in_one_column(columns: int, options: tuple[str, ...]) -> None:
    """Also behind what the emulator draws otherwise than modern terminals do: joined emoji, flags, ⚠️."""
    terminal = Terminal("pretty", *options, columns=columns)
    terminal.send(everything().says("👩‍💻🏳️‍🌈 " * 40 + "क्षत्रिय ไทย ﷺ 한국어 🇩🇪🇫🇷 1️⃣ e\u0301\u0302").data)
    assert terminal.close() == 0
    edge = min(columns, 120) - 1
    last = cell_in(terminal.raw, columns, edge)
    rows = [(row, cell) for row, cell in zip(terminal.screen, last, strict=False) if row.lstrip().startswith(FRAMES)]
    assert len(rows) > 50
    assert {cell for _, cell in rows} == {"╗", "║", "╝"}, [row for row, cell in rows if cell not in "╗║╝"]


def test_the_width_is_the_terminals_up_to_120() -> None:
    for columns, width in ((72, 72), (150, 120)):
        terminal = Terminal("pretty", columns=columns)
        terminal.send(Live().starts().data)
        terminal.close()
        assert max(len(row) for row in terminal.screen) == width


def test_colours_on_a_terminal_unless_nobody_wants_them() -> None:
    cases: tuple[tuple[tuple[str, ...], dict[str, str], bool], ...] = (
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {}, False),
        ((), {"TERM": "dumb"}, False),
    )
    for options, environment, coloured in cases:
        terminal = Terminal("pretty", *options, environment=environment)
        terminal.send(Live().says("Hello **you**.").data)
        assert terminal.close() == 0
        assert (b"\x1b[34m" in terminal.raw) == coloured
