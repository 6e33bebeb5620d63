"""Who is told the moments of a run, and tells them in Slack. Whatever happens there, the run goes on as it would."""

import os
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from unspool.errors import UnspoolError
from unspool.jobs.slack.calls import Client, Written
from unspool.jobs.slack.delivery import AtOnce, Background, Report
from unspool.jobs.slack.outbox import Outbox
from unspool.jobs.slack.post import Post
from unspool.jobs.slack.threads import keep_thread, last_thread, thread_name
from unspool.sources.keys import key
from unspool.views.pretty.banner import Banner
from unspool.views.pretty.moments import Moment
from unspool.views.slack.mrkdwn import mrkdwn
from unspool.views.slack.pieces import shorten
from unspool.views.slack.story import FAILED, SUCCEEDED, Story, Told

TOKEN, CHANNEL, THREAD = "CCPRETTY_SLACK_TOKEN", "CCPRETTY_SLACK_CHANNEL", "CCPRETTY_SLACK_THREAD_TS"
URL = "CCPRETTY_SLACK_API_URL"
DEADLINE = 15.0
_SHOWN, _LINE = 5, 100
"""Of the messages that were not sent, and of the characters of each."""

Say = Callable[[str], None]


class Delivery(Protocol):
    def put(self, told: Told) -> None: ...

    def close(self, deadline: float, /) -> Report: ...


class Wishes(Struct, frozen=True):
    """What the user asks for on the command line."""

    resume: bool = False
    """Go on in the thread that was begun last, here and in this channel."""
    deadline: float = DEADLINE
    """Seconds that the end may take."""
    dry_run: bool = False


class Listener:
    def __init__(self, story: Story, delivery: Delivery, deadline: float, say: Say) -> None:
        self._story = story
        self._delivery = delivery
        self._deadline = deadline
        self._say = say
        self._fault: Exception | None = None

    def tell(self, moment: Moment) -> None:
        self._do(lambda: self._story.tell(moment))

    def close(self, deadline: float | None = None) -> None:
        """Wait for Slack as long as was allowed, and say what it was not told."""
        self._do(self._story.end)
        try:
            report = self._delivery.close(self._deadline if deadline is None else deadline)
        except BaseException:  # whoever waits here has had enough
            self._complain(self._delivery.close(0.0))
            raise
        self._complain(report)

    def _complain(self, report: Report) -> None:
        for line in complaint(report, self._fault):
            self._say(line)

    def _do(self, happens: Callable[[], list[Told]]) -> None:
        if self._fault is None:
            try:
                for told in happens():
                    self._delivery.put(told)
            except Exception as error:  # a fault of ours must not end the run; it is told at the end
                self._fault = error


def complaint(report: Report, fault: Exception | None = None) -> list[str]:
    """What to say of it: nothing, if all was sent."""
    lines = []
    if fault is not None:
        lines.append(f"Slack was told nothing more: {type(fault).__name__}: {fault}")
    if number := report.lost:
        lines.append(f"Slack: {number:,} message{'s' * (number > 1)} not sent ({'; '.join(report.reasons)}):")
        lines += [f"  {shorten(unescape(text), _LINE)}" for text in report.missed[:_SHOWN]]
        lines += [f"  … and {number - _SHOWN:,} more"] if number > _SHOWN else []
    elif report.reasons:
        lines.append(f"Slack: {'; '.join(report.reasons)}")
    return lines


def listener(environment: Mapping[str, str], banner: Banner, wishes: Wishes, say: Say) -> Listener | None:
    """Nobody, if Slack is not set up; `say` tells what is missing where it is set up by half."""
    token, channel = environment.get(TOKEN, ""), environment.get(CHANNEL, "")
    if not wishes.dry_run and not (token and channel):
        if token or channel or wishes.resume:
            missing = " and ".join(name for name, value in ((TOKEN, token), (CHANNEL, channel)) if not value)
            say(f"Slack is off: {missing} not set")
        return None
    channel = channel or "#dry-run"
    given, folder = environment.get(THREAD, ""), str(Path.cwd())
    thread = thread_name(given.strip()) if given else last_thread(channel, folder) if wishes.resume else None
    if given and thread is None:
        say(f"Slack is off: {THREAD} is no timestamp of a message: {given!r}")
        return None
    mrkdwn("")  # what it imports, the first words need not wait for
    outbox = Outbox(channel, thread, (SUCCEEDED, FAILED) if thread else ())
    story = Story(_redact(), banner)
    if wishes.dry_run:
        delivery: Delivery = AtOnce(Post(outbox, Written(say), lambda _channel, _thread: None))
    else:
        try:
            client = Client(token, environment.get(URL))
        except ImportError:
            say("Slack is off: it needs `pip install 'unspool[slack]'`")
            return None
        delivery = Background(Post(outbox, client, lambda _, new: keep_thread(channel, folder, new)))
        say(f"Slack: {channel}, {f'thread {thread}' if thread else 'a new thread'}")
    return Listener(story, delivery, wishes.deadline, say)


def _redact() -> Callable[[str], str]:
    from unspool.transforms.redact import Redactor

    try:
        secret = key()
    except UnspoolError:  # no folder of ours: then placeholders are the same only in this run
        secret = os.urandom(32)
    return Redactor(secret).text
