"""Document 003: which files records go to, and the reports beside them."""

import csv
import json

import pytest

from seeds.sessions import Squash, entry, tool, turns

UUID = "0b7f3a52-9d44-4c1e-8f10-6a2f5e9c7d31"
NAMES = (
    "2026-05-04/grind-rye-1769212345678901234.jsonl",
    f"2026-05-04/grind-rye-{UUID}.jsonl",
    "2026-05-05/grind-rye-2.jsonl",
    "2026-05-05/sell.jsonl",
)


@pytest.fixture
def sessions(squash: Squash) -> Squash:
    for number, name in enumerate(NAMES):
        messages = [{"role": "user", "content": f"Session {number}"}]
        squash.log(entry(1, messages, "Yes.", request={"tools": [tool("hours")]}), name=name)
    return squash


def counts(files: dict[str, list[dict[str, object]]]) -> dict[str, int]:
    return {name: len(records) for name, records in files.items()}


def test_a_file_for_each_date(sessions: Squash) -> None:
    assert counts(sessions.run()) == {"2026-05-04.jsonl": 2, "2026-05-05.jsonl": 2}


def test_a_session_outside_of_a_dates_folder_has_the_date_of_its_first_entry(squash: Squash) -> None:
    squash.log({**entry(1, turns(1)), "timestamp": "2026-05-06T23:59:59Z"}, name="mill.jsonl")
    assert counts(squash.run()) == {"2026-05-06.jsonl": 1}


def test_a_file_for_each_scenario(sessions: Squash) -> None:
    files = sessions.run("--group-by", "scenario")
    assert counts(files) == {"grind-rye.jsonl": 3, "sell.jsonl": 1}


@pytest.mark.parametrize("options", [("-s",), ("--single-file",), ("-s", "-j"), ("-s", "--json-tool-calls")])
def test_one_file(options: tuple[str, ...], sessions: Squash) -> None:
    assert counts(sessions.run(*options)) == {"conversations.jsonl": 4}


def test_one_file_and_a_file_for_each_scenario_do_not_go_together(sessions: Squash) -> None:
    assert sessions.run("-s", "--group-by", "scenario", status=2) == {}


def test_reports(sessions: Squash) -> None:
    sessions.run()
    rows = list(csv.DictReader((sessions.out / "tool-usage.csv").read_text(encoding="utf-8").splitlines()))
    assert [(row["date"], row["session_count"], row["tool_call_count"]) for row in rows] == [
        ("2026-05-04", "2", "0"),
        ("2026-05-05", "2", "0"),
    ]
    columns = "date scenario session_count tool_call_count tool_definition_count client_turns assistant_turns"
    assert list(rows[0])[:7] == columns.split()
    summary = json.loads((sessions.out / "summary.json").read_bytes())
    assert {"2026-05-04.jsonl", "2026-05-05.jsonl"} <= set(summary["files"])
    assert {path.name for path in sessions.out.iterdir()} == {
        *("2026-05-04.jsonl", "2026-05-05.jsonl", "tool-usage.csv"),
        *("integrity-report.txt", "integrity-report.json", "summary.json"),
    }


@pytest.mark.parametrize("options", [(), ("-s",), ("--group-by", "scenario"), ("-j",), ("-s", "-j")])
def test_the_same_bytes_each_time(options: tuple[str, ...], sessions: Squash) -> None:
    first = sessions.run(*options)
    assert sessions.run(*options) == first
