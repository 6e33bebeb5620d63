"""Document 001: what `pretty` posts to Slack, block by block, with our own data."""

import json
from typing import Any

import pytest

from conftest import Run
from streams import Live


@pytest.fixture
def posted(unspool: Run) -> Any:
    """Return what is posted for a stream, without posting it, and without the news that it has no result."""

    def run(live: Live) -> list[dict[str, Any]]:
        done = unspool("pretty", "--slack-dry-run", stdin=live.data)
        calls = [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("{")]
        return [call for call in calls if "blocks" in call and "Ended Without a Result" not in str(call)]

    return run


def section(text: str) -> list[dict[str, Any]]:
    return [{"type": "section", "text": {"type": "mrkdwn", "text": text}}]


def calling(live: Live) -> Live:
    return live.calls("t", "Bash", command="grind rye", description="Grinding…")


def test_the_start_of_a_session(posted: Any) -> None:
    (head,) = posted(Live().starts())
    assert head["blocks"] == [
        {"type": "header", "text": {"type": "plain_text", "text": "🚀 Claude Code Session Started"}},
        {
            "type": "section",
            "fields": [
                {"type": "mrkdwn", "text": "*Session ID:*\n`session_abc123`"},
                {"type": "mrkdwn", "text": "*Tools:*\nBash, Read"},
            ],
        },
    ]


def test_a_tool_in_progress(posted: Any) -> None:
    assert [post["blocks"] for post in posted(calling(Live()))][1] == section(
        "⏳ *Tool:* Bash\n`grind rye`\n_Grinding…_"
    )


@pytest.mark.parametrize(
    ("output", "failed", "text"),
    [
        ("9 sacks (1 torn)", False, "✅ *Tool:* Bash\n`grind rye`\n_9 sacks (1 torn)_"),
        ("no such mill", True, "❌ *Tool:* Bash\n`grind rye`\n_no such mill_"),
    ],
)
def test_a_finished_tool_takes_the_place_of_the_one_in_progress(
    output: str, failed: bool, text: str, posted: Any
) -> None:
    *_, last = posted(calling(Live()).result("t", output, failed))
    assert last["blocks"] == section(text)


def test_texts_in_a_row_are_one_numbered_message(posted: Any) -> None:
    live = Live().says("I look at the wheel").says("It needs oil").says("Now it turns")
    *_, last = posted(live)
    assert last["blocks"] == section("*Assistant:*\n1. I look at the wheel\n2. It needs oil\n3. Now it turns")


@pytest.mark.parametrize(
    ("live", "significant"),
    [
        pytest.param(Live().starts(), True, id="init"),
        pytest.param(Live().says("Done."), True, id="assistant text"),
        pytest.param(calling(Live()), True, id="tool use"),
        pytest.param(Live().ends(), True, id="success"),
        pytest.param(Live().fails("error", error="No grain"), True, id="error"),
        pytest.param(Live().user("Grind the rye."), False, id="prompt"),
        pytest.param(Live().thinks("Which mill?"), False, id="thinking"),
        pytest.param(Live().add(type="system", subtype="status", status="requesting"), False, id="status"),
    ],
)
def test_only_significant_messages_are_posted(live: Live, significant: bool, posted: Any) -> None:
    assert bool(posted(live)) is significant
