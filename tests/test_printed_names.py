"""What lists print for people: text is cut between characters, and every name that they print finds what it names."""

import json
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from logs import Claude, Machine
from unspool.jobs.grep import excerpt
from unspool.sources.jsontext import dumps
from unspool.views.prose import whole_characters

FAMILY = "👩\u200d👩\u200d👧"
ACCENTED = "e\N{COMBINING ACUTE ACCENT}"


def body(text: str) -> bytes:
    return b'{"type":"user","content":{"text":%s}}' % dumps(text).encode()


@pytest.mark.parametrize("padding", range(16))
@pytest.mark.parametrize("letter", ["漢", "é", "🚀", FAMILY, ACCENTED, "👍🏽", "ф"])
def test_no_character_is_cut_in_two(letter: str, padding: int) -> None:
    text = letter * 200 + "x" * padding + "kettle" + "y" * padding + letter * 200
    data = body(text)
    at = data.index(b"kettle")
    before, match, after = excerpt(data, at, at + len("kettle"))
    assert match == "kettle"
    assert before == letter * (len(before.rstrip("x")) // len(letter)) + "x" * padding
    assert after == "y" * padding + letter * (len(after.lstrip("y")) // len(letter))
    assert before.startswith(letter)
    assert after.endswith(letter)


@pytest.mark.parametrize("padding", range(16))
@pytest.mark.parametrize("escape", [r"\u00e9", r"\n", r"\"", r"\\", r"\ud83d\ude00"])
def test_no_escape_is_cut_in_two(escape: str, padding: int) -> None:
    data = b'{"text":"' + (escape * 200 + "x" * padding + "kettle" + "y" * padding + escape * 200).encode() + b'"}'
    at = data.index(b"kettle")
    before, _, after = excerpt(data, at, at + 6)
    assert re.fullmatch(rf"(?:{re.escape(escape)})+x*", before)
    assert re.fullmatch(rf"y*(?:{re.escape(escape)})+", after)


@pytest.mark.parametrize("padding", range(16))
def test_a_doubled_backslash_escapes_nothing_behind_it(padding: int) -> None:
    data = rb'{"text":"' + rb"\\u00e9" * 100 + b"x" * padding + b'kettle"}'
    at = data.index(b"kettle")
    before, _, _ = excerpt(data, at, at + 6)
    assert before.count("\\") % 2 == 0
    assert before.endswith(r"\\u00e9" + "x" * padding)


@given(st.text(), st.integers(0, 300), st.integers(0, 40))
def test_an_excerpt_is_a_part_of_the_text_whatever_it_holds(text: str, begin: int, size: int) -> None:
    data = body(text.encode("utf-8", "ignore").decode())
    begin = min(begin, len(data))
    before, match, after = excerpt(data, begin, min(begin + size, len(data)))
    assert "\N{REPLACEMENT CHARACTER}" in text or "\N{REPLACEMENT CHARACTER}" not in before + match + after
    assert before + match + after in data.decode()


@given(st.text(), st.integers(0, 40))
def test_a_cut_never_moves_back_nor_beyond_the_text(text: str, index: int) -> None:
    index = min(index, len(text))
    at = whole_characters(text, index)
    assert index <= at <= len(text)
    assert at in (0, len(text)) or unicodedata.category(text[at])[0] != "M"


def test_a_pattern_that_begins_within_a_character_shows_it_whole(unspool: Run, tmp_path: Path) -> None:
    log = Claude().user("a 追踪 b").save(tmp_path / "log.jsonl")
    shown = unspool("grep", "-E", "..踪", log).stdout.decode()  # in bytes: the dots are the last two of 追
    assert "追踪 b" in shown
    assert "\N{REPLACEMENT CHARACTER}" not in shown


def test_show_finds_every_session_that_a_list_names(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    ids = [
        *("11111111-2222-4333-8444-555555555501", "11111111-2222-4333-8444-555555555502"),
        *("test-session-1", "test-session-12", "test-session-2", "99999999-2222-4333-8444-555555555503"),
    ]
    for number, name in enumerate(ids):
        machine.claude(Claude(name, day=number + 1).user(f"kettle {number}"))
    lists = (("sessions",), ("sessions", "--limit", "1"), ("sessions", "--since", "2026-03-06"), ("grep", "kettle"))
    for arguments in lists:
        printed = unspool(*arguments, **machine.environment).stdout.decode().splitlines()
        names = [line.split()[0] for line in printed if not line.startswith("session ")]
        assert names, arguments
        for name in names:
            shown = unspool("show", name, **machine.environment)
            assert shown.returncode == 0, (arguments, name, shown.stderr)


def test_of_two_agents_sessions_with_one_id_the_newest_is_shown(unspool: Run, tmp_path: Path) -> None:
    from logs import Codex

    machine = Machine(tmp_path)
    codex = Codex().user("of codex")
    session = codex.records[0]["payload"]["id"]
    machine.codex(codex)
    machine.claude(Claude(session, day=9).user("of claude"))
    shown = unspool("show", session, **machine.environment)
    assert shown.returncode == 0, shown.stderr
    assert b"of claude" in shown.stdout
    assert b"the newest of 2 sessions" in shown.stderr


def test_a_thread_is_listed_by_a_name_that_no_other_turn_has(unspool: Run) -> None:
    """The turns of an imported session are stored in one moment, so that their ids begin alike."""
    log = Path(__file__).parent.parent / "samples" / "logs" / "codex.jsonl"
    last = unspool("thread", "from", log).stdout.decode().strip()
    name = unspool("thread", "list").stdout.decode().splitlines()[1].split()[0]
    shown = unspool("thread", "show", name, "--json")
    assert json.loads(shown.stdout.splitlines()[-1])["id"] == last
