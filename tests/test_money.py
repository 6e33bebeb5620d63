"""What sessions cost: cache writes for an hour, the agent's own estimates, sums that are incomplete."""

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from contexts import environment
from logs import Claude, Codex, Machine
from model_server import ModelServer, Words
from unspool.views.money import dollars

OLD = "99999999-2222-4333-8444-555555555555"


def rows(run: Run, machine: Machine, *arguments: str) -> list[dict[str, Any]]:
    done = run("sessions", "--json", *arguments, **machine.environment)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def hour_long(log: Claude, tokens: int, model: str = "claude-sonnet-4-5") -> Claude:
    """Say that the last answer wrote so much of its cache for an hour."""
    message = log.records[-1]["message"]
    written = message["usage"]["cache_creation_input_tokens"]
    split = {"ephemeral_5m_input_tokens": written - tokens, "ephemeral_1h_input_tokens": tokens}
    message["usage"]["cache_creation"] = split
    message["model"] = model
    return log


def priced(cost: float | None, model: str = "model-without-a-price") -> Claude:
    """A session of a version that wrote its own estimates; the last of two answers may have none."""
    log = Claude(OLD).user("What did that cost?")
    for text, estimate in (("This much", 0.25), ("and this", cost)):
        log.says(text)
        log.records[-1]["message"]["model"] = model
        if estimate is not None:
            log.records[-1]["costUSD"] = estimate
    return log


@pytest.mark.parametrize(
    ("amount", "marks", "text"),
    [
        (None, {}, "unknown"),
        (0.0, {}, "$0.00"),
        (1234.5, {}, "$1,234.50"),
        (0.004, {}, "<$0.01"),
        (0.005, {}, "$0.01"),
        (0.00006, {"digits": 4}, "$0.0001"),
        (0.00004, {"digits": 4}, "<$0.0001"),
        (1.2, {"complete": False}, "≥ $1.20"),
        (1.2, {"estimated": True}, "~$1.20"),
        (1.2, {"complete": False, "estimated": True}, "≥ ~$1.20"),
        (0.004, {"complete": False}, "≥ $0.004"),
        (0.00004, {"complete": False, "digits": 4}, "≥ $0.00004"),
    ],
)
def test_an_amount_for_people(amount: float | None, marks: dict[str, Any], text: str) -> None:
    assert dollars(amount, **marks) == text


def test_what_is_cached_for_an_hour_is_counted_and_has_its_own_price(unspool: Run, tmp_path: Path) -> None:
    pytest.importorskip("genai_prices")
    machine = Machine(tmp_path)
    log = hour_long(Claude().user("Rest").says("1", usage=(0, 0, 1_000_000, 0)), 400_000)
    machine.claude(hour_long(log.says("1, too", new=False, usage=(0, 0, 1_000_000, 0)), 400_000))
    (row,) = rows(unspool, machine, "--cost")
    assert (row["tokens"]["cache_write"], row["tokens"]["cache_write_1h"]) == (1_000_000, 400_000)
    assert row["cost"] == pytest.approx(0.6 * 3.75 + 0.4 * 6)
    (again,) = rows(unspool, machine, "--cost")  # from the cache
    assert again == row


def test_what_a_fork_copied_is_subtracted_with_its_lifetime(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    first = hour_long(Claude().user("Rest").says("1", usage=(1, 2, 100, 3)), 40)
    machine.claude(first)
    fork = Claude(OLD)
    fork.records = [{**record, "sessionId": OLD} for record in first.records]
    machine.claude(hour_long(fork.later(60).says("2", usage=(1, 2, 10, 3)), 10))
    told = {row["id"]: row["tokens"] for row in rows(unspool, machine)}
    assert [(each["cache_write"], each["cache_write_1h"]) for each in told.values()] == [(10, 10), (100, 40)]


def test_cooking_a_log_keeps_what_its_calls_say(unspool: Run, tmp_path: Path) -> None:
    log = hour_long(Claude().user("Rest").says("1", usage=(1, 2, 100, 3)), 40)
    log.records[-1]["message"]["diagnostics"] = {"cache_miss_reason": {"type": "system_changed"}}
    log.records[-1]["costUSD"] = 0.5
    path = log.save(tmp_path / "log.jsonl")
    (request,) = json.loads(unspool("cook", path, "-q").stdout)["requests"]
    assert request["usage"]["cache_write_1h"] == 40
    assert (request["cache_miss"], request["cost_usd"]) == ({"reason": "system_changed"}, 0.5)
    events = [json.loads(line) for line in unspool("show", path, "--json").stdout.splitlines()]
    (usage,) = [event["content"] for event in events if event["type"] == "token_usage"]
    assert (usage["cache_write"], usage["cache_write_1h"], usage["cost_usd"]) == (100, 40, 0.5)


def test_digests_of_another_version_are_read_anew(unspool: Run, tmp_path: Path) -> None:
    """As an earlier version left them: with other numbers, and five a call."""
    machine = Machine(tmp_path)
    machine.claude(hour_long(Claude().user("Rest").says("1", usage=(1, 2, 100, 3)), 40))
    (expected,) = rows(unspool, machine)
    (cache,) = tmp_path.rglob("digests.db")
    with sqlite3.connect(cache) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (digest,) = database.execute("SELECT digest FROM digests").fetchone()
        database.execute("UPDATE digests SET digest = ?", (digest.replace(b"Rest", b"Rust"),))
    assert rows(unspool, machine)[0]["prompt"] == "Rust"  # of this version, they are believed
    with sqlite3.connect(cache) as database:
        database.execute(f"PRAGMA user_version = {version - 1}")
    assert rows(unspool, machine) == [expected]


@pytest.mark.parametrize(
    ("cost", "known", "whole", "shown"),
    [(0.5, 0.75, True, "~$0.75"), (None, 0.25, False, "≥ ~$0.25"), (0, 0.25, False, "≥ ~$0.25")],
)
def test_the_agent_s_own_estimate_counts_where_there_is_no_price(
    unspool: Run, tmp_path: Path, cost: float | None, known: float, whole: bool, shown: str
) -> None:
    pytest.importorskip("genai_prices")
    machine = Machine(tmp_path)
    machine.claude(priced(cost))
    (row,) = rows(unspool, machine, "--cost")
    assert (row["cost"], row["priced"], row["estimated"]) == (pytest.approx(known), whole, True)
    done = unspool("sessions", "--cost", **machine.environment)
    assert f" {shown}  What did" in done.stdout.decode()
    assert f", {shown}" in done.stderr.decode()
    assert f" · {shown}\n" in unspool("show", "latest", "--cost", **machine.environment).stdout.decode()
    assert (
        f" {shown}\n" in unspool("cook", "latest", "--cost", "-o", "/dev/null", **machine.environment).stderr.decode()
    )
    assert f" {shown}  What did" in unspool("view", "--list", **machine.environment).stdout.decode()


def test_a_list_price_goes_before_the_agent_s_own_estimate(unspool: Run, tmp_path: Path) -> None:
    pytest.importorskip("genai_prices")
    machine = Machine(tmp_path)
    machine.claude(priced(0.5, "claude-sonnet-4-5"))
    (row,) = rows(unspool, machine, "--cost")
    assert row["cost"] < 0.01
    assert (row["priced"], row["estimated"]) == (True, False)


def test_a_copied_estimate_counts_once(unspool: Run, tmp_path: Path) -> None:
    pytest.importorskip("genai_prices")
    machine = Machine(tmp_path)
    first = priced(0.5)
    machine.claude(first)
    fork = Claude("aaaaaaaa-2222-4333-8444-555555555555")
    fork.records = [{**record, "sessionId": fork.session} for record in first.records]
    fork.later(60).says("and that")
    fork.records[-1] |= {"costUSD": 0.125}
    fork.records[-1]["message"]["model"] = "model-without-a-price"
    machine.claude(fork)
    assert [row["cost"] for row in rows(unspool, machine, "--cost")] == [pytest.approx(0.125), pytest.approx(0.75)]


def test_show_tells_the_cost_only_in_the_transcript(unspool: Run, tmp_path: Path) -> None:
    path = Claude().user("Rest").says("1").save(tmp_path / "log.jsonl")
    assert "$" not in unspool("show", path).stdout.decode()
    done = unspool("show", path, "--json", "--cost")
    assert (done.returncode, b"unspool sessions --cost --json" in done.stderr) == (2, True)


def test_the_newest_state_of_each_limit_is_in_the_list(unspool: Run, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    log = Codex().user("Boil")
    for limit, used in (("codex", 1.0), ("other", 50.0), ("codex", 2.0), ("codex", 2.0)):
        primary = {"used_percent": used, "window_minutes": 300, "resets_at": 1_772_500_000}
        limits = {"limit_id": limit, "primary": primary, "secondary": None, "plan_type": "plus"}
        log.line("event_msg", type="token_count", info=None, rate_limits=limits)
    machine.codex(log.says("Boiling"))
    machine.claude(Claude().user("Rest").says("1"))
    told = {row["agent"]: row["rate_limits"] for row in rows(unspool, machine)}
    assert told["claude_code"] == []
    assert [(state["limit"], state["windows"][0]["used_percent"]) for state in told["codex"]] == [
        ("other", 50.0),
        ("codex", 2.0),
    ]
    assert told["codex"][0].keys() == {"timestamp", "limit", "plan", "windows"}
    events = unspool("show", "latest", "--json", **machine.environment).stdout
    assert events.count(b'"type":"rate_limits"') == 3  # the last one repeats what is known
    assert b"plus" not in unspool("show", "latest", "--full", **machine.environment).stdout


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("model", ["claude-haiku-4-5", "claude-3-haiku-20240307", "claude-opus-4-1"])
def test_a_turn_costs_the_same_when_it_is_shown_again(unspool: Run, model: str) -> None:
    pytest.importorskip("genai_prices")
    with ModelServer(Words("Hi")) as at:
        done = unspool("ask", "Hi", "-p", f"anthropic/{model}", "-b", "yard", **environment(at.url))
        shown = unspool("thread", "show", "yard", **environment(at.url))
    told, again = (re.findall(r" · (<?\$[\d.]+)", text.decode()) for text in (done.stderr, shown.stdout))
    assert len(told) == 1
    assert told == again
    assert told != ["$0.0000"]


def test_normalised_usage_has_the_split_of_what_was_written(unspool: Run) -> None:
    split = {"ephemeral_5m_input_tokens": 60, "ephemeral_1h_input_tokens": 40}
    usage = {"input_tokens": 1, "output_tokens": 3, "cache_creation_input_tokens": 100, "cache_creation": split}
    body = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Hi"}], "usage": usage}
    done = unspool("response", "anthropic", stdin=json.dumps(body).encode())
    assert json.loads(done.stdout)["message"]["usage"]["cache_creation"] == split


def test_atif_has_what_was_written_for_an_hour(unspool: Run, tmp_path: Path) -> None:
    log = hour_long(Claude().user("Rest").says("1", usage=(1, 2, 100, 3)), 40).save(tmp_path / "log.jsonl")
    done = unspool("squash", log, "-o", tmp_path / "out", "--to", "atif")
    assert done.returncode == 0, done.stderr
    (written,) = [path for path in (tmp_path / "out").rglob("*.json") if b"steps" in path.read_bytes()]
    (metrics,) = [step["metrics"] for step in json.loads(written.read_bytes())["steps"] if "metrics" in step]
    assert metrics["extra"] == {
        "reasoning_tokens": 0,
        "cache_creation_input_tokens": 100,
        "ephemeral_1h_input_tokens": 40,
    }
