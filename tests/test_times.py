"""Times in milliseconds: smaller parts are cut off, exactly, whatever form the time has."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calls import call
from conftest import Run, Write
from unspool.sources.values import clock, iso_time, time_of

SECOND = 1_771_581_600  # 2026-02-20T10:00:00Z


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-02-20T10:00:00Z", SECOND * 1000),
        ("2026-02-20T10:00:00.725900Z", SECOND * 1000 + 725),
        ("2026-02-20T10:00:00.725999999Z", SECOND * 1000 + 725),
        ("2026-02-20T11:00:00.9999+01:00", SECOND * 1000 + 999),
        (SECOND + 0.999, SECOND * 1000 + 999),
        (SECOND + 0.7259, SECOND * 1000 + 725),
        (f"{SECOND}.7259999999999999", SECOND * 1000 + 725),
        (SECOND * 1000 + 725.9, SECOND * 1000 + 725),
        (SECOND * 10**6 + 725_999, SECOND * 1000 + 725),
        (SECOND * 10**9 + 725_999_999, SECOND * 1000 + 725),
        (f"{SECOND}999999", SECOND * 1000 + 999),
        ("1969-12-31T23:59:59.9995Z", -1),
        ("1969-12-31T23:59:58.0001Z", -2000),
        (float("nan"), None),
        (float("inf"), None),
        (-1, None),
    ],
)
def test_a_time_is_cut_to_its_millisecond(value: Any, expected: int | None) -> None:
    assert time_of(value) == expected


@given(st.integers(0, 10**11 - 1), st.integers(0, 999))
def test_a_number_of_seconds_is_read_as_it_is_written(seconds: int, millis: int) -> None:
    exact = seconds * 1000 + millis
    assert time_of(f"{seconds:09}.{millis:03}") == (exact if seconds or millis else None)
    if seconds:
        assert time_of(json.loads(f"{seconds}.{millis:03}")) == exact


@given(st.datetimes(min_value=datetime(1, 1, 1), max_value=datetime(9999, 12, 31, 23, 59, 59, 999_999)))  # noqa: DTZ001
def test_a_time_is_never_later_than_it_was(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)
    known = time_of(aware.isoformat())
    assert known is not None
    late = aware - (datetime(1970, 1, 1, tzinfo=UTC) + known * timedelta(milliseconds=1))
    assert timedelta(0) <= late < timedelta(milliseconds=1)
    assert iso_time(known) == aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_milliseconds_are_no_seconds() -> None:
    assert (iso_time(5000), clock(5000)) == ("1970-01-01T00:00:05.000Z", "1970-01-01T01:23:20.000Z")
    assert (iso_time(None), iso_time(10**15)) == (None, None)


def test_cook_cuts(unspool: Run, write: Write) -> None:
    times = ["2026-02-20T10:00:00.725900Z", SECOND + 1.9999]
    trace = write(*({**call(f"u{number}"), "timestamp": time} for number, time in enumerate(times)))
    cooked = json.loads(unspool("cook", trace, "-q").stdout)
    assert [request["timestamp"] for request in cooked["requests"]] == [SECOND * 1000 + 725, SECOND * 1000 + 1999]


def test_events_of_a_log_are_cut(unspool: Run, write: Write) -> None:
    message = {"role": "user", "content": "Hello"}
    line = {"type": "user", "sessionId": "s1", "uuid": "a1", "timestamp": "2026-02-20T10:00:00.725999Z"}
    log = write({**line, "cwd": "/home/ada", "version": "2.0.0", "message": message}, name="s1.jsonl")
    events = map(json.loads, unspool("show", log, "--json").stdout.splitlines())
    assert {event["timestamp"] for event in events} == {"2026-02-20T10:00:00.725Z"}
