"""`unspool pretty` with Slack beside it: the run is shown and ends as without, whatever Slack does."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from slack_server import NAME, TOKEN, Planned, SlackServer

SECRET = "sk-" + "ant-api03-" + "Zk3vQ9xT1mB7nR5cL2wY8pH4sD6fG0jK3aU9"


BASH = {"command": f"curl -H 'x-api-key: {SECRET}' https://e.org", "description": "Ask"}
USE = {"type": "tool_use", "id": "t1", "name": "Bash", "input": BASH}
ANSWER = {"type": "tool_result", "tool_use_id": "t1", "content": "<!channel> all & done"}


def message(role: str, block: dict[str, Any], time_: str) -> dict[str, Any]:
    told = {"role": role, "id": "m", "content": [block]}
    return {"type": role, "message": told, "session_id": "s1", "timestamp": f"2026-03-02T10:00:{time_}Z"}


INIT = {"type": "system", "subtype": "init", "session_id": "s1", "tools": ["Bash"], "mcp_servers": []}
CALL, DONE = message("assistant", USE, "00.000"), message("user", ANSWER, "02.500")
RESULT = {"type": "result", "subtype": "error_max_turns", "is_error": True, "errors": ["Too many"], "num_turns": 3}
RUN = [INIT, CALL, DONE, RESULT]


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.fixture
def slack() -> Iterator[SlackServer]:
    with SlackServer().running() as server:
        yield server


@pytest.fixture
def variables(slack: SlackServer, tmp_path: Path) -> dict[str, str]:
    return {
        "CCPRETTY_SLACK_TOKEN": TOKEN,
        "CCPRETTY_SLACK_CHANNEL": NAME,
        "CCPRETTY_SLACK_API_URL": slack.url,
        "UNSPOOL_HOME": str(tmp_path),
        "UNSPOOL_KEY": "a key",
    }


@pytest.fixture
def without(unspool: Run) -> bytes:
    """What the terminal shows without Slack."""
    return unspool("pretty", stdin=lines(*RUN)).stdout


def test_a_run_is_told_in_a_thread(slack: SlackServer, variables: dict[str, str], unspool: Run, without: bytes) -> None:
    done = unspool("pretty", "--exit-code", stdin=lines(*RUN), **variables)
    assert done.returncode == 1
    assert done.stdout == without
    assert done.stderr.decode() == "Slack: #runs, a new thread\n"
    head, tool, result = slack.messages.values()
    assert head["blocks"][0]["text"]["text"] == "🚀 Claude Code Session Started"
    said = tool["blocks"][0]["text"]["text"]
    assert said.startswith("✅ *Tool:* Bash\n`curl -H 'x-api-key: [REDACTED:anthropic-key:")
    assert said.endswith("\n_&lt;!channel&gt; all &amp; done (2.5s)_")
    assert result["blocks"][0]["text"]["text"] == "❌ Task Failed (error_max_turns)"
    assert list(slack.reactions.values()) == [["rotating_light"]]
    assert SECRET[15:] not in repr(slack.calls)


def test_the_next_run_goes_on_in_the_thread(slack: SlackServer, variables: dict[str, str], unspool: Run) -> None:
    for resumed in ((), ("--resume-slack-thread",)):
        unspool("pretty", "--slack-deadline", "1500ms", *resumed, stdin=lines(INIT), **variables)
    posted = list(slack.messages)
    assert {each.get("thread_ts") for each in list(slack.messages.values())[1:]} == {posted[0]}


def test_nobody_notices_that_slack_is_away(variables: dict[str, str], unspool: Run, without: bytes) -> None:
    away = {**variables, "CCPRETTY_SLACK_API_URL": "http://127.0.0.1:9/api/"}
    done = unspool("pretty", "--exit-code", "--slack-deadline", "200ms", stdin=lines(*RUN), **away)
    assert done.returncode == 1
    assert done.stdout == without
    said = done.stderr.decode().splitlines()
    assert said[1].startswith("Slack: 4 messages not sent (chat.postMessage: ")
    assert "refused" in said[1]
    assert "  🚀 Claude Code Session Started" in said[2:]  # which is given up first depends on the time left
    assert SECRET[15:] not in done.stderr.decode()


def test_slack_that_is_busy_for_ever_is_not_waited_for(
    slack: SlackServer, variables: dict[str, str], unspool: Run, without: bytes
) -> None:
    slack.planned += [Planned(429, "ratelimited", "600")] * 9
    begin = time.monotonic()
    done = unspool("pretty", stdin=lines(*RUN), **variables)
    assert time.monotonic() - begin < 60
    assert done.returncode == 0
    assert done.stdout == without
    assert "4 messages not sent (chat.postMessage: rate limited)" in done.stderr.decode()
    assert len(slack.calls) == 1


def started(variables: dict[str, str], *options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "unspool", "pretty", "--style", "line", *options]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env={**os.environ, **variables})


def test_the_terminal_does_not_wait_for_slack(slack: SlackServer, variables: dict[str, str]) -> None:
    slack.planned.append(Planned(500, hang=60))
    with started(variables, "--slack-deadline", "100ms") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines(INIT))
        process.stdin.flush()
        slack.wait(1)  # and now it hangs
        begin = time.monotonic()
        for record in (CALL, DONE, RESULT):
            process.stdin.write(lines(record))
            process.stdin.flush()
            process.stdout.readline()
        assert time.monotonic() - begin < 50
        process.stdin.close()
        process.stdout.read()
        process.wait(60)
        assert time.monotonic() - begin < 50
        assert process.returncode == 0


def test_a_signal_ends_it_soon_and_slack_hears_of_it(slack: SlackServer, variables: dict[str, str]) -> None:
    with started(variables, "--slack-deadline", "10m") as process:
        assert process.stdin is not None
        process.stdin.write(lines(INIT, CALL))
        process.stdin.flush()
        slack.wait(3)  # head, rocket, tool
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 143
    assert "Traceback" not in said.decode()
    assert "Ended Without a Result" in repr(slack.messages) + said.decode()
    assert "white_check_mark" not in repr(slack.reactions)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_waits_for_slack_may_have_enough(
    number: signal.Signals, status: int, slack: SlackServer, variables: dict[str, str]
) -> None:
    slack.planned.append(Planned(429, "ratelimited", "60"))
    with started(variables, "--slack-deadline", "10m") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines(*RUN))
        process.stdin.close()
        for line in process.stdout:  # until the run is shown to its end
            if b"Too many" in line:
                break
        slack.wait(1)
        process.send_signal(number)
        assert process.stderr is not None
        said = process.stderr.read().decode()
        process.wait(60)
    assert process.returncode == status
    assert "Slack: 4 messages not sent (" in said
    assert "Traceback" not in said


def test_a_dry_run_prints_the_calls(
    slack: SlackServer, variables: dict[str, str], unspool: Run, without: bytes
) -> None:
    done = unspool("pretty", "--slack-dry-run", stdin=lines(*RUN), **variables)
    assert done.stdout == without
    calls = [json.loads(line) for line in done.stderr.splitlines()]
    methods = [call["method"] for call in calls]
    assert methods[:4] == ["chat.postMessage", "reactions.add", "chat.postMessage", "chat.update"]
    assert SECRET[15:] not in done.stderr.decode()
    assert slack.calls == []


def test_what_is_set_up_by_half_is_said(unspool: Run, without: bytes) -> None:
    done = unspool("pretty", stdin=lines(*RUN), CCPRETTY_SLACK_TOKEN=TOKEN)
    assert done.stdout == without
    assert done.stderr.decode() == "Slack is off: CCPRETTY_SLACK_CHANNEL not set\n"
