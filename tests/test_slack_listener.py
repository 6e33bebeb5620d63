"""Slack as the command sets it up: variables, the thread to go on with, the dry run, what is said at the end."""

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from slack_server import CHANNEL, NAME, TOKEN, SlackServer
from unspool.actions import vocabulary_for
from unspool.jobs.slack.delivery import Report
from unspool.jobs.slack.listener import Listener, Wishes, complaint, listener
from unspool.jobs.slack.threads import keep_thread, last_thread, thread_name
from unspool.model.event import ToolCall
from unspool.views.pretty.banner import Banner
from unspool.views.pretty.moments import Ended, Moment, Spoke, Started, ToolEnded, ToolStarted

MAKE = ToolCall("Bash", "t1", {"command": "make"}, vocabulary_for("claude_code").read)
RUN: list[Moment] = [
    Started("Claude Code", "s1", tools=("Bash",)),
    Spoke("Let me build it."),
    ToolStarted("t1", MAKE),
    ToolEnded("t1", MAKE, "COMPLETED", "built", None, 2.0),
    Spoke("Done."),
    Ended(True, "Done.", turns=2),
]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with SlackServer().running() as server:
        yield server


def variables(slack: SlackServer, **others: str) -> dict[str, str]:
    names = {"TOKEN": TOKEN, "CHANNEL": NAME, "API_URL": slack.url, **others}
    return {f"CCPRETTY_SLACK_{name}": value for name, value in names.items()}


def made(environment: dict[str, str], **wishes: Any) -> tuple[Listener | None, list[str]]:
    lines: list[str] = []
    return listener(environment, Banner(), Wishes(**wishes), lines.append), lines


def test_a_run_is_told(slack: SlackServer) -> None:
    """With real seconds, as the command has it."""
    teller, lines = made(variables(slack))
    assert teller is not None
    for moment in (RUN[0], RUN[-1]):
        teller.tell(moment)
    teller.close()
    assert lines == ["Slack: #runs, a new thread"]
    head, result = slack.messages
    assert slack.messages[head]["blocks"][0]["text"]["text"] == "🚀 Claude Code Session Started"
    assert slack.messages[result]["thread_ts"] == head
    assert slack.reactions == {head: ["white_check_mark"]}
    assert last_thread(NAME, str(Path.cwd())) == head
    times = [call.time for call in slack.calls]
    assert all(after - before >= 1 for before, after in pairwise(times))


def test_the_thread_that_was_begun_last_is_gone_on_with(slack: SlackServer, tmp_path: Path) -> None:
    thread = slack.post()
    keep_thread(NAME, str(tmp_path), thread)
    teller, lines = made(variables(slack), resume=True, deadline=3)
    assert teller is not None
    teller.tell(RUN[0])
    slack.wait(1)
    teller.close(0)
    assert lines[0] == f"Slack: #runs, thread {thread}"
    assert slack.calls[0].arguments["thread_ts"] == thread


def test_a_given_thread_comes_before_the_last_one(slack: SlackServer, tmp_path: Path) -> None:
    keep_thread(NAME, str(tmp_path), "1700000000.000001")
    link = "https://team.slack.com/archives/C0RUNS/p1700000000000777"
    _, lines = made(variables(slack, THREAD_TS=link), resume=True)
    assert lines == ["Slack: #runs, thread 1700000000.000777"]


def test_threads_are_apart_by_channel_and_folder(tmp_path: Path) -> None:
    keep_thread("#a", "/one", "1700000000.000001")
    keep_thread("#b", "/one", "1700000000.000002")
    keep_thread("#a", "/two", "1700000000.000003")
    assert [last_thread(*place) for place in (("#a", "/one"), ("#b", "/one"), ("#a", "/two"), ("#b", "/two"))] == [
        "1700000000.000001",
        "1700000000.000002",
        "1700000000.000003",
        None,
    ]
    for file in (tmp_path / "home" / "slack").iterdir():
        file.write_text("{")
    assert last_thread("#a", "/one") is None


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("1700000000.000777", "1700000000.000777"),
        ("p1700000000000777", "1700000000.000777"),
        ("https://x.slack.com/archives/C1/p1700000000000777?thread_ts=1.2&cid=C1", "1700000000.000777"),
        ("yesterday", None),
        ("", None),
        ("1700000000", None),
    ],
)
def test_names_of_threads(written: str, name: str | None) -> None:
    assert thread_name(written) == name


@pytest.mark.parametrize(
    ("environment", "wishes", "expected"),
    [
        ({}, {}, []),
        ({}, {"resume": True}, ["Slack is off: CCPRETTY_SLACK_TOKEN and CCPRETTY_SLACK_CHANNEL not set"]),
        ({"CCPRETTY_SLACK_TOKEN": "x"}, {}, ["Slack is off: CCPRETTY_SLACK_CHANNEL not set"]),
        ({"CCPRETTY_SLACK_CHANNEL": "x"}, {}, ["Slack is off: CCPRETTY_SLACK_TOKEN not set"]),
        (
            {"CCPRETTY_SLACK_TOKEN": "x", "CCPRETTY_SLACK_CHANNEL": "x", "CCPRETTY_SLACK_THREAD_TS": "a\x1bb"},
            {},
            ["Slack is off: CCPRETTY_SLACK_THREAD_TS is no timestamp of a message: 'a\\x1bb'"],
        ),
    ],
)
def test_what_is_set_up_by_half_is_off_and_says_so(
    environment: dict[str, str], wishes: dict[str, Any], expected: list[str]
) -> None:
    assert made(environment, **wishes) == (None, expected)


def test_without_the_client_it_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "slack_sdk", None)
    assert made({"CCPRETTY_SLACK_TOKEN": "x", "CCPRETTY_SLACK_CHANNEL": "x"}) == (
        None,
        ["Slack is off: it needs `pip install 'unspool[slack]'`"],
    )


def test_a_dry_run_writes_the_calls_and_makes_none(slack: SlackServer) -> None:
    teller, lines = made(variables(slack, CHANNEL=CHANNEL), dry_run=True)
    assert teller is not None
    for moment in RUN:
        teller.tell(moment)
    teller.close()
    calls = [json.loads(line) for line in lines]
    assert [call["method"] for call in calls] == [
        "chat.postMessage",
        "reactions.add",
        "chat.postMessage",
        "chat.postMessage",
        "chat.update",
        "chat.postMessage",
        "reactions.add",
        "reactions.remove",
    ]
    head, _, said, running, done, result, *reactions = calls
    assert said["thread_ts"] == running["thread_ts"] == result["thread_ts"] == "0000000001.000000"
    assert "thread_ts" not in head
    assert done["ts"] == "0000000003.000000"
    assert [call["name"] for call in reactions] == ["white_check_mark", "rocket"]
    assert slack.calls == []
    assert last_thread(CHANNEL, str(Path.cwd())) is None


def test_a_dry_run_needs_nothing() -> None:
    teller, lines = made({}, dry_run=True)
    assert teller is not None
    teller.tell(Spoke("Hello"))
    teller.close()
    assert json.loads(lines[0])["channel"] == "#dry-run"
    assert "🚨 Ended Without a Result" in "".join(lines)


def test_secrets_are_redacted_though_no_key_can_be_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("UNSPOOL_HOME", str(tmp_path / "file" / "no folder"))
    teller, lines = made({}, dry_run=True)
    assert teller is not None
    teller.tell(Spoke("the key is sk-" + "ant-api03-Zk3vQ9xT1mB7nR5cL2wY8pH4sD6fG0jK3aU9"))
    teller.close()
    assert "[REDACTED:anthropic-key:" in "".join(lines)


def test_a_fault_of_ours_is_told_and_ends_nothing() -> None:
    teller, lines = made({}, dry_run=True)
    assert teller is not None
    teller.tell(Started("a", None))  # type: ignore[arg-type]  # what no reader gives
    teller.tell(Spoke(7))  # type: ignore[arg-type]
    teller.tell(Spoke("later"))
    teller.close()
    assert "Slack was told nothing more: AttributeError: 'int' object has no attribute 'strip'" in lines


def test_what_is_said_of_what_was_not_sent() -> None:
    assert complaint(Report(3, "1", 0, (), ())) == []
    lost = tuple(f"✅ Tool: Bash {number} &lt;x&gt;" for number in range(7))
    assert complaint(Report(3, "1", 7, lost, ("chat.postMessage: rate limited",))) == [
        "Slack: 7 messages not sent (chat.postMessage: rate limited):",
        *(f"  ✅ Tool: Bash {number} <x>" for number in range(5)),
        "  … and 2 more",
    ]
    assert complaint(Report(1, "1", 0, (), ("the thread cannot be remembered: full",))) == [
        "Slack: the thread cannot be remembered: full"
    ]
