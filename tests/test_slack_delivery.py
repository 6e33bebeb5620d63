"""The queue, emptied into a real server through Slack's own client. A second is short here; nothing else is changed."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import pytest

from slack_server import CHANNEL, NAME, TOKEN, Planned, SlackServer
from unspool.actions import vocabulary_for
from unspool.jobs.slack.calls import Client
from unspool.jobs.slack.delivery import Background, Report
from unspool.jobs.slack.outbox import Outbox
from unspool.jobs.slack.post import Post
from unspool.model.event import ToolCall
from unspool.views.pretty.banner import Banner
from unspool.views.pretty.moments import Started, ToolEnded, ToolStarted
from unspool.views.slack.blocks import Message, message, section
from unspool.views.slack.pieces import Text
from unspool.views.slack.story import React, Say, Story, Unsay

SECOND = 0.02
ENOUGH = 3000
"""Of these seconds: a minute."""


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with SlackServer().running() as server:
        yield server


Make = Callable[..., Background]


@pytest.fixture
def deliver(slack: SlackServer) -> Make:
    def make(channel: str = NAME, token: str = TOKEN, thread: str | None = None, second: float = SECOND) -> Background:
        outbox = Outbox(channel, thread, ("white_check_mark", "rotating_light") if thread else ())
        saved: list[tuple[str, str]] = []
        return Background(Post(outbox, Client(token, slack.url), lambda *new: saved.append(new)), second)

    return make


def said(text: str) -> Message:
    return message([section([Text(text)])], text)


HEAD = Say("head", said("head"), urgent=True)


def texts(slack: SlackServer) -> list[str]:
    return [each["blocks"][0]["text"]["text"] if "blocks" in each else each["text"] for each in slack.messages.values()]


def nothing_lost(report: Report) -> None:
    assert report.lost == 0
    assert report.reasons == ()


def test_in_order_in_one_thread_one_call_a_second(slack: SlackServer, deliver: Make) -> None:
    delivery = deliver()
    delivery.put(HEAD)
    delivery.put(React("rocket"))
    for number in range(5):
        delivery.put(Say(f"m{number}", said(f"message {number}")))
    delivery.put(React("white_check_mark"))
    report = delivery.close(ENOUGH)
    nothing_lost(report)
    assert texts(slack) == ["head", *(f"message {number}" for number in range(5))]
    head, *rest = slack.messages.values()
    assert "thread_ts" not in head
    assert {each["thread_ts"] for each in rest} == {report.thread}
    assert all(each["unfurl_links"] is False for each in slack.messages.values())
    assert all(after.time - before.time >= SECOND for before, after in pairwise(slack.calls))
    assert slack.reactions == {report.thread: ["white_check_mark"]}


def test_a_message_is_updated_in_place(slack: SlackServer, deliver: Make) -> None:
    delivery = deliver()
    delivery.put(HEAD)
    delivery.put(Say("tool", said("⏳ make"), settled=False))
    slack.wait(2)
    delivery.put(Say("tool", said("✅ make")))
    nothing_lost(delivery.close(ENOUGH))
    assert slack.methods == ["chat.postMessage", "chat.postMessage", "chat.update"]
    assert texts(slack) == ["head", "✅ make"]
    assert slack.calls[2].arguments["channel"] == CHANNEL


def test_updates_of_one_message_are_merged(slack: SlackServer, deliver: Make) -> None:
    told = threading.Event()
    slack.planned.append(Planned(500, until=told))
    delivery = deliver()
    delivery.put(HEAD)
    slack.wait(1)
    for number in range(100):
        delivery.put(Say("list", said(f"list {number}"), settled=False))
        delivery.put(Say("tool", said(f"tool {number}"), settled=number == 99))
    told.set()
    nothing_lost(delivery.close(ENOUGH))
    assert slack.methods == ["chat.postMessage"] * 3
    assert texts(slack) == ["head", "list 99", "tool 99"]


def test_a_change_while_a_message_is_being_sent_follows_it(slack: SlackServer, deliver: Make) -> None:
    delivery = deliver()
    delivery.put(HEAD)
    slack.wait(1)
    told = threading.Event()
    slack.planned.append(Planned(error="", until=told, body=b'{"ok":true,"ts":"x","channel":"C0RUNS"}'))
    delivery.put(Say("tool", said("⏳"), settled=False))
    slack.wait(2)
    delivery.put(Say("tool", said("✅")))
    told.set()
    delivery.close(ENOUGH)
    assert [call.method for call in slack.calls] == ["chat.postMessage", "chat.postMessage", "chat.update"]
    assert slack.calls[2].arguments["ts"] == "x"


def test_retry_after_is_honoured(slack: SlackServer, deliver: Make) -> None:
    slack.planned += [Planned(429, "ratelimited", "8"), Planned(429, "ratelimited", "12")]
    delivery = deliver()
    for told in (HEAD, Say("a", said("a")), Say("b", said("b"))):
        delivery.put(told)
    nothing_lost(delivery.close(ENOUGH))
    first, second, third, *_ = slack.calls
    assert second.time - first.time >= 8 * SECOND
    assert third.time - second.time >= 12 * SECOND
    assert texts(slack) == ["head", "a", "b"]


@pytest.mark.parametrize(
    "trouble",
    [
        Planned(500),
        Planned(503, body=b"<html>Bad gateway</html>"),
        Planned(200, body=b"<html>Sign in to this network</html>"),
        Planned(200, "service_unavailable"),
        Planned(429, "ratelimited", "soon"),
    ],
)
def test_what_passes_is_tried_again_and_less_and_less_often(
    trouble: Planned, slack: SlackServer, deliver: Make
) -> None:
    slack.planned += [trouble] * 3
    delivery = deliver()
    delivery.put(HEAD)
    delivery.put(Say("a", said("a")))
    nothing_lost(delivery.close(ENOUGH))
    assert texts(slack) == ["head", "a"]
    gaps = [after.time - before.time for before, after in pairwise(slack.calls)]
    assert all(gap >= least * SECOND for gap, least in zip(gaps[:3], (2, 4, 8), strict=True))


def test_nobody_there_is_told_at_the_end(slack: SlackServer) -> None:
    client = Client(TOKEN, "http://127.0.0.1:9/api/")
    delivery = Background(Post(Outbox(CHANNEL), client, lambda *_: None), SECOND)
    delivery.put(HEAD)
    delivery.put(Say("a", said("a")))
    report = delivery.close(10)
    assert report.missed == ("head", "a")
    assert report.reasons[0].startswith("chat.postMessage: ")
    assert "refused" in report.reasons[0]
    assert slack.calls == []


def test_the_deadline_ends_it_though_slack_never_answers(slack: SlackServer, deliver: Make) -> None:
    slack.planned.append(Planned(500, hang=60))
    delivery = deliver(second=0.05)
    delivery.put(HEAD)
    slack.wait(1)
    delivery.put(Say("a", said("a")))
    begin = time.monotonic()
    report = delivery.close(4)
    assert time.monotonic() - begin < 50
    assert report.missed == ("head", "a")
    assert report.reasons == ("there was no time left",)


def test_a_pause_that_outlasts_the_deadline_is_not_waited_for(slack: SlackServer, deliver: Make) -> None:
    slack.planned.append(Planned(429, "ratelimited", "30000"))
    delivery = deliver()
    delivery.put(HEAD)
    slack.wait(1)
    begin = time.monotonic()
    report = delivery.close(10_000)
    assert time.monotonic() - begin < 10_000 * SECOND / 2
    assert report == Report(1, None, 1, ("head",), ("chat.postMessage: rate limited",))


def test_what_matters_most_is_said_when_there_is_no_time_for_all(slack: SlackServer, deliver: Make) -> None:
    delivery = deliver(second=0.1)
    delivery.put(HEAD)
    delivery.put(React("rocket"))
    for number in range(60):
        delivery.put(Say(f"m{number}", said(f"message {number}")))
    delivery.put(Say("result", said("result"), urgent=True))
    delivery.put(React("white_check_mark"))
    report = delivery.close(12)
    assert texts(slack)[-1] == "result"
    assert slack.reactions == {report.thread: ["white_check_mark"]}
    assert 1 <= len(slack.messages) - 2 < 60
    assert report.lost == 60 - (len(slack.messages) - 2)
    assert report.reasons == ("there was no time left",)


def test_a_flood_of_short_messages_is_joined(slack: SlackServer, deliver: Make) -> None:
    told = threading.Event()
    slack.planned.append(Planned(500, until=told))
    delivery = deliver()
    delivery.put(HEAD)
    slack.wait(1)
    for number in range(90):
        delivery.put(Say(f"tool {number}", said(f"⏳ {number}"), settled=False, joinable=True))
        delivery.put(Say(f"tool {number}", said(f"✅ {number}"), joinable=True))
    told.set()
    nothing_lost(delivery.close(ENOUGH))
    assert len(slack.messages) == 1 + 9 + 11  # the head, nine alone, and then eight in one
    blocks = [block["text"]["text"] for each in list(slack.messages.values())[1:] for block in each["blocks"]]
    assert blocks == [f"✅ {number}" for number in range(90)]


def test_a_part_of_a_joined_message_is_updated_in_place(slack: SlackServer, deliver: Make) -> None:
    told = threading.Event()
    slack.planned.append(Planned(500, until=told))
    delivery = deliver()
    delivery.put(HEAD)
    slack.wait(1)
    for number in range(14):
        delivery.put(Say(f"tool {number}", said(f"⏳ {number}"), settled=False, joinable=True))
    told.set()
    slack.wait(12)
    for number in range(14):
        delivery.put(Say(f"tool {number}", said(f"✅ {number}"), joinable=True))
    nothing_lost(delivery.close(ENOUGH))
    blocks = [block["text"]["text"] for each in list(slack.messages.values())[1:] for block in each["blocks"]]
    assert blocks == [f"✅ {number}" for number in range(14)]


def test_joined_messages_fit_whatever_they_hold(slack: SlackServer, deliver: Make) -> None:
    all_told = threading.Event()
    slack.planned.append(Planned(500, until=all_told))
    delivery = deliver()
    story = Story(str, Banner())
    bash = ToolCall("Bash", None, {"command": "<&>\U0001f680 `" * 3000}, vocabulary_for("claude_code").read)
    for told in story.tell(Started("Claude Code", "s")):
        delivery.put(told)
    slack.wait(1)
    for number in range(60):
        for moment in (ToolStarted(f"{number}", bash), ToolEnded(f"{number}", bash, "FAILED", "&" * 5000)):
            for told in story.tell(moment):
                delivery.put(told)
    all_told.set()
    nothing_lost(delivery.close(ENOUGH))
    assert max(len(each["blocks"]) for each in slack.messages.values()) == 8
    assert sum(len(each["blocks"]) for each in list(slack.messages.values())[1:]) == 60


def test_what_waits_is_bounded(slack: SlackServer, deliver: Make) -> None:
    slack.planned.append(Planned(500, hang=60))
    delivery = deliver()
    delivery.put(HEAD)
    slack.wait(1)
    for number in range(1000):
        delivery.put(Say(f"m{number}", said(f"message {number}")))
    report = delivery.close(0)
    assert report.lost == 1001


def test_held_text_may_be_withdrawn(slack: SlackServer, deliver: Make) -> None:
    delivery = deliver(second=1)
    delivery.put(HEAD)
    slack.wait(1)
    delivery.put(Say("said", said("the answer"), held=True))
    time.sleep(1.1)  # more than a second here, and much less than two
    delivery.put(Unsay("said", None))
    delivery.put(Say("said 2", said("one, two"), held=True))
    delivery.put(Unsay("said 2", said("one")))
    nothing_lost(delivery.close(ENOUGH))
    assert texts(slack) == ["head", "one"]


def test_what_was_said_cannot_be_withdrawn(slack: SlackServer, deliver: Make) -> None:
    delivery = deliver()
    delivery.put(HEAD)
    delivery.put(Say("said", said("the answer"), settled=False, held=True))
    slack.wait(2)  # it is not held for ever
    delivery.put(Unsay("said", None))
    nothing_lost(delivery.close(ENOUGH))
    assert texts(slack) == ["head", "the answer"]
    assert slack.methods == ["chat.postMessage"] * 2


@pytest.mark.parametrize(
    ("wrong", "error"),
    [("token", "invalid_auth"), ("channel", "channel_not_found"), ("thread", "thread_not_found")],
)
def test_what_slack_refuses_for_ever_is_asked_once(wrong: str, error: str, slack: SlackServer, deliver: Make) -> None:
    delivery = deliver(**{wrong: "wrong"})
    delivery.put(HEAD)
    slack.wait(1)
    for number in range(3):
        delivery.put(Say(f"m{number}", said(f"message {number}")))
    report = delivery.close(ENOUGH)
    assert len(slack.calls) == 1
    assert set(report.missed) == {"head", "message 0", "message 1", "message 2"}
    assert report.reasons == (f"chat.postMessage: {error}",)


def test_one_refused_message_costs_no_other(slack: SlackServer, deliver: Make) -> None:
    delivery = deliver()
    delivery.put(HEAD)
    slack.wait(1)
    slack.planned.append(Planned(200, "invalid_blocks"))
    for number in range(3):
        delivery.put(Say(f"m{number}", said(f"message {number}")))
    report = delivery.close(ENOUGH)
    assert texts(slack) == ["head", "message 1", "message 2"]
    assert report.missed == ("message 0",)
    assert report.reasons == ("chat.postMessage: invalid_blocks",)


def test_without_the_right_to_react_all_else_is_said(slack: SlackServer, deliver: Make) -> None:
    delivery = deliver()
    delivery.put(HEAD)
    slack.wait(1)
    slack.planned.append(Planned(200, "missing_scope"))
    delivery.put(React("rocket"))
    delivery.put(Say("a", said("a")))
    report = delivery.close(ENOUGH)
    assert texts(slack) == ["head", "a"]
    assert report.missed == (":rocket: on the thread",)
    assert report.reasons == ("reactions.add: missing_scope",)


def test_a_thread_that_is_there_is_gone_on_with(slack: SlackServer, deliver: Make) -> None:
    thread = slack.post()
    slack.reactions[thread] = ["rotating_light"]
    delivery = deliver(thread=thread)
    delivery.put(HEAD)
    delivery.put(React("rocket"))
    delivery.put(Say("a", said("a")))
    delivery.put(React("white_check_mark"))
    report = delivery.close(ENOUGH)
    nothing_lost(report)
    assert [each.get("thread_ts") for each in slack.messages.values()] == [None, thread, thread]
    assert slack.reactions == {thread: ["white_check_mark"]}


def test_nobody_waits_for_slack(slack: SlackServer, deliver: Make) -> None:
    slack.planned.append(Planned(500, hang=60))
    delivery = deliver()
    delivery.put(HEAD)
    slack.wait(1)
    finished = threading.Event()

    def work() -> None:
        for number in range(500):
            delivery.put(Say(f"m{number}", said(f"message {number}"), joinable=True))
        finished.set()

    threading.Thread(target=work).start()
    assert finished.wait(5), "a put waited for the call that hangs"
    delivery.close(0)


def test_a_fault_of_ours_is_told_and_ends_nothing(slack: SlackServer) -> None:
    def broken(method: str, arguments: Mapping[str, Any], timeout: float) -> Mapping[str, Any]:
        raise RuntimeError(f"no such thing: {method} {len(arguments)} {timeout:g}")

    delivery = Background(Post(Outbox(CHANNEL), broken, lambda *_: None), SECOND)
    delivery.put(HEAD)
    report = delivery.close(ENOUGH)
    assert report.missed == ("head",)
    assert report.reasons == ("RuntimeError: no such thing: chat.postMessage 5 10",)
    assert slack.calls == []


def test_what_was_said_so_already_is_not_said_again(slack: SlackServer, deliver: Make) -> None:
    delivery = deliver()
    delivery.put(HEAD)
    delivery.put(Say("said", said("the same"), settled=False))
    slack.wait(2)
    delivery.put(Say("said", said("the same")))
    nothing_lost(delivery.close(ENOUGH))
    assert slack.methods == ["chat.postMessage"] * 2
