"""What a log holds is shown, and does not steer the terminal: also as Markdown, which may go there too."""

from pathlib import Path

import pytest

from conftest import Run
from logs import Claude, Machine

EVIL = "\x1b]0;title\x07\x1b[2J\x9b31m\r"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_markdown_does_not_steer_a_terminal(machine: Machine) -> None:
    log = Claude(f"id{EVIL}", cwd=EVIL).user(EVIL).thinks(EVIL).calls("t1", "Bash" + EVIL, command=EVIL)
    path = log.result("t1", EVIL).says(EVIL).save(machine.home / "evil.jsonl")
    text = machine.on_a_terminal("show", path, "--markdown", NO_COLOR="1")
    assert "Bash" in text
    assert not {"\x1b", "\x07", "\x9b"} & set(text)


def test_a_coloured_fence_does_not_end_its_block(unspool: Run, machine: Machine) -> None:
    log = Claude().user("Tea").calls("t1", "Bash", command="cat").result("t1", "\x1b[1m```\x1b[0m\r\nred").says("Done")
    text = unspool("show", log.save(machine.home / "a.jsonl"), "--markdown", **machine.environment).stdout.decode()
    assert "\n````\n```\nred\n````\n" in text


def test_blanks_of_other_widths_and_joined_letters_are_shown(unspool: Run, machine: Machine) -> None:
    said = "10\u202fkm « tea\xa0» 茶\u3000壶 👨\u200d👩\u200d👧 می\u200cشود"
    path = Claude().user("Tea").says(said).save(machine.home / "a.jsonl")
    assert f"\n  {said}\n" in unspool("show", path, **machine.environment).stdout.decode()
    assert said in unspool("grep", "km", path, **machine.environment).stdout.decode()
