"""What people see on a narrow terminal: no list is broken by its edge, and no word of what was said."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.cells import cell_len

from logs import SHOP, Claude, Codex, Machine
from unspool.views.prose import broken

LONG = (
    "Please read the whole of the kitchen's inventory, and tell me which of the kettles has been descaled lately 水壶"
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    log = Claude().user(LONG).says(LONG).calls("t1", "Teleport", where="Mars", why="to see whether there is any water")
    machine.claude(log.result("t1", "kettle " * 400).says(f"- {LONG}\n\n```\n{LONG}\n```"))
    machine.codex(Codex().user(LONG).says("Ready").counts(100, 40, 20, 5))
    return machine


def screen(machine: Machine, *arguments: str, columns: int = 80) -> list[str]:
    return machine.on_a_terminal(*arguments, COLUMNS=str(columns), NO_COLOR="1").splitlines()


@pytest.mark.parametrize(
    "command",
    [
        ["sessions"],
        ["sessions", "--cost"],
        ["sources"],
        ["tools"],
        ["grep", "kettle"],
        ["grep", "kettles has been descaled lately 水壶"],
        ["view", "--list"],
        ["thread", "list"],
        ["thread", "tree"],
        ["context", "list"],
    ],
    ids=" ".join,
)
def test_lists_fit(machine: Machine, command: list[str]) -> None:
    machine.on_a_terminal("thread", "from", SHOP, "-b", "kitchen")
    lines = screen(machine, *command)
    assert len(lines) > 1
    assert [line for line in lines if cell_len(line) > 80] == []


@pytest.mark.parametrize(
    "command",
    [["sessions"], ["sessions", "--cost"], ["sources"], ["tools"], ["view", "--list"], ["thread", "list"]],
    ids=" ".join,
)
def test_half_a_screen_has_fewer_columns(machine: Machine, command: list[str]) -> None:
    machine.on_a_terminal("thread", "from", SHOP, "-b", "kitchen")
    lines = screen(machine, *command, columns=60)
    assert len(lines) > 1
    assert [line for line in lines[:-1] if cell_len(line) > 60] == []


def test_what_is_told_of_a_turn_has_a_line_of_its_own_where_it_must(machine: Machine) -> None:
    machine.on_a_terminal("thread", "from", SHOP, "-b", "kitchen")
    lines = screen(machine, "thread", "show")
    told = [line for line in lines if "1.1k in, 5 out" in line]
    assert told
    assert all(line.startswith("   assistant · 2026-") and len(line) <= 80 for line in told)
    assert any(line.endswith("  kitchen") for line in lines)


def test_a_name_of_any_length_pushes_only_its_own_row_aside(machine: Machine) -> None:
    for number in range(2):
        machine.claude(Claude(f"{SHOP}-{number}", day=2 + number).user(LONG))
    rows = [line for line in screen(machine, "sessions") if "2026" not in line]
    assert {line.index("03-") for line in rows if SHOP not in line and "03-" in line} == {rows[0].index("start")}


def test_other_years_have_a_year(machine: Machine) -> None:
    earlier = Claude("22222222-2222-4333-8444-555555555555").since(datetime(2025, 3, 1, 10, tzinfo=UTC))
    machine.claude(earlier.user("Boil"))
    assert [line.split()[2] for line in screen(machine, "sessions")[1:4]] == ["03-02", "03-01", "2025-03-01"]


def test_what_was_said_is_broken_between_words(machine: Machine) -> None:
    lines = screen(machine, "show", SHOP)
    assert "❯ Please read the whole of the kitchen's inventory, and tell me which of the" in lines
    assert "  kettles has been descaled lately 水壶" in lines
    at = lines.index("  - Please read the whole of the kitchen's inventory, and tell me which of the")
    assert lines[at + 1] == "    kettles has been descaled lately 水壶"
    assert f"  {LONG}" in lines  # in a fence


def test_a_folded_thought_is_one_line(machine: Machine) -> None:
    thought = Claude("44444444-2222-4333-8444-555555555555", day=5).user("Go").thinks(f"{LONG}\nand on").thinks(LONG)
    machine.claude(thought)
    lines = screen(machine, "show", thought.session)
    at = lines.index("  ✻ Please read the whole of the kitchen's inventory, and tell me … 1 more line")
    assert lines[at + 1] == "  ✻ Please read the whole of the kitchen's inventory, and tell me which of the …"


def test_one_long_line_of_output_is_not_all_that_is_seen(machine: Machine) -> None:
    told = [line for line in screen(machine, "show", SHOP) if line.startswith("    kettle")]
    assert len(told[0]) < 450
    assert told[0].endswith("… 2,400 more characters")
    assert any(len(line) > 2800 for line in screen(machine, "show", SHOP, "--full"))


def test_into_a_pipe_lines_go_as_they_are() -> None:
    assert list(broken(f"{LONG}\n{LONG}", None)) == [LONG, LONG]


@pytest.mark.parametrize("width", range(16, 130, 7))
def test_nothing_is_lost_between_the_lines(width: int) -> None:
    text = f"  1. {LONG} {'x' * 200} {LONG}\n\n> {LONG}\nshort\n| {LONG} |\n\t{LONG}"
    lines = list(broken(text, width))
    assert " ".join(" ".join(lines).split()) == " ".join(text.split())
    words = [line for line in lines if not line.startswith(("|", "\t")) and "x" * 200 not in line]
    assert all(cell_len(line) <= width for line in words)
