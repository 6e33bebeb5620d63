"""Numbers that no clock shows, and nesting that no page can hold, cost nothing but themselves."""

import json
from pathlib import Path
from typing import Any

import pytest

from calls import call
from conftest import Run, Write
from logs import Claude
from unspool.jobs.view import transcripts
from unspool.jobs.view.catalog import Catalog
from unspool.sources.values import number

HUGE = ("1" + "0" * 400, "1e999", "-1e300", "NaN", "1" + "0" * 5000, "1e300")


def with_number(record: dict[str, Any], key: str, written: str) -> bytes:
    """The record as JSON, with a number in it that no encoder writes."""
    return json.dumps({**record, key: "NUMBER"}).replace('"NUMBER"', written).encode()


@pytest.mark.parametrize(
    "value",
    [10**400, -(10**400), float("inf"), float("nan"), 1e300, 1 << 53, True, "3"],
    ids=lambda value: str(value)[:9],
)
def test_what_is_no_number_of_anything(value: Any) -> None:
    assert number(value) is None


@pytest.mark.parametrize("value", [0, -1, 1.5, (1 << 53) - 1])
def test_numbers(value: float) -> None:
    assert number(value) == value


def test_recorded_calls(unspool: Run, write: Write) -> None:
    odd = [
        with_number(call(f"u{key}{at}", answer="a1"), key, written)
        for key in ("duration_ms", "timestamp")
        for at, written in enumerate(HUGE)
    ]
    path = write(*odd, call("the last", answer="a2"))
    for arguments in (("pretty", path), ("cook", path), ("export", "html", path, "-o", "-")):
        done = unspool(*arguments)
        assert done.returncode == 0, done.stderr
        assert b"the last" in done.stdout or arguments[0] == "export"


def test_agents_logs(unspool: Run, write: Write) -> None:
    log = Claude().user("Mend it").says("Done").user("The last")
    *lines, last = log.lines().splitlines()
    end = {"type": "system", "subtype": "turn_duration", "sessionId": log.session}
    for at, written in enumerate(HUGE):
        lines.append(with_number({**end, "uuid": f"e{at}", "timestamp": log.now()}, "durationMs", written))
    path = write(*lines, last)
    for arguments in (("show", path), ("show", "--json", path), ("pretty", path)):
        done = unspool(*arguments)
        assert done.returncode == 0, done.stderr
        assert b"Mend it" in done.stdout
        assert b"The last" in done.stdout
    assert b"Mend it" in unspool("sessions", path).stdout
    (reel,) = Catalog([str(path)])
    assert transcripts.transcript(reel, reel.load()).total > 0


@pytest.mark.parametrize("depth", [500, 5000])
def test_a_page_of_a_call_with_nested_lists(unspool: Run, write: Write, tmp_path: Path, depth: int) -> None:
    nested = "[" * depth + '"deep"' + "]" * depth
    path = write(with_number(call("u1", answer="a1"), "odd", nested))
    done = unspool("export", "html", path, "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").stat().st_size > 1000


def test_a_text_of_which_nothing_is_a_call_has_an_empty_transcript(write: Write) -> None:
    (reel,) = Catalog([str(write("nothing of this is a call"))])
    assert transcripts.transcript(reel, reel.load()).total == 0


def test_one_file_that_cannot_be_read_any_more_hides_no_other(tmp_path: Path) -> None:
    Claude().user("Mend it").says("Done").save(tmp_path / "log.jsonl")
    other = Claude("22222222-2222-4333-8444-555555555555").user("Then?").says("Yes").save(tmp_path / "other.jsonl")
    (tmp_path / "traces").mkdir()
    trace = tmp_path / "traces" / "trace.jsonl"
    trace.write_text(json.dumps(call("u1", answer="a1")) + "\n")
    catalog = Catalog([str(tmp_path / "log.jsonl"), str(other), str(trace)])
    for path in (other, trace):
        path.unlink()
        path.symlink_to(path)  # whoever opens it goes round in circles
    assert len(catalog.rows()) == 3
    alone = Catalog([str(tmp_path / "log.jsonl")])
    (tmp_path / "log.jsonl").unlink()
    (tmp_path / "log.jsonl").symlink_to(tmp_path / "log.jsonl")
    assert len(alone.rows()) == 1
