"""What is told of a run: which moments, in which words."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slack_server import faults
from unspool.actions import vocabulary_for
from unspool.model.action import PlanItem
from unspool.model.event import ToolCall
from unspool.transforms.redact import Redactor
from unspool.views.pretty.banner import Banner
from unspool.views.pretty.moments import (
    Ended,
    Listed,
    Moment,
    Noticed,
    Prompted,
    Spoke,
    Started,
    Status,
    Thought,
    ToolEnded,
    ToolStarted,
)
from unspool.views.slack.story import React, Say, Story, Told, Unsay, duration, significant

START = Started("Claude Code", "session_abc123", tools=("Bash", "Read", "Write", "Edit"))
KEY = "sk-" + "ant-api03-" + "Zk3vQ9xT1mB7nR5cL2wY8pH4sD6fG0jK3aU9"


def call(name: str, **given: Any) -> ToolCall:
    return ToolCall(name, "t1", given, vocabulary_for("claude_code").read)


def tool(name: str, **given: Any) -> ToolStarted:
    return ToolStarted("t1", call(name, **given))


def done(told: ToolCall, output: str = "", seconds: float | None = None, status: Status = "COMPLETED") -> ToolEnded:
    return ToolEnded("t1", told, status, output, None, seconds)


def story(banner: Banner | None = None) -> Story:
    return Story(Redactor(b"a key").text, banner or Banner())


def tell(*moments: Moment, banner: Banner | None = None) -> list[Told]:
    teller = story(banner)
    return [told for moment in moments for told in teller.tell(moment)]


def said(told: Told) -> list[dict[str, Any]]:
    assert isinstance(told, Say)
    return told.message.blocks


def text_of(told: Told) -> str:
    (block,) = said(told)
    return str(block["text"]["text"])


def test_the_start() -> None:
    head, reaction = tell(START)
    assert isinstance(head, Say)
    assert head.key == "head"
    assert said(head) == [
        {"type": "header", "text": {"type": "plain_text", "text": "🚀 Claude Code Session Started"}},
        {
            "type": "section",
            "fields": [
                {"type": "mrkdwn", "text": "*Session ID:*\n`session_abc123`"},
                {"type": "mrkdwn", "text": "*Tools:*\nBash, Read, Write, Edit"},
            ],
        },
    ]
    assert reaction == React("rocket")


def test_the_start_with_what_the_user_calls_it() -> None:
    banner = Banner("Data & Pipeline", "Q4 <data>", "https://e.org/job/1?a=1&b=2")
    many = Started("Codex", "s", "gpt-5-codex", tools=tuple(f"tool_{number}" for number in range(100)))
    header, about, fields = said(tell(many, banner=banner)[0])
    assert header["text"]["text"] == "🚀 Data &amp; Pipeline"
    url = "https://e.org/job/1?a=1&amp;b=2"
    assert about["text"]["text"] == f"Q4 &lt;data&gt;\n<{url}|{url}>"
    assert fields["fields"][1]["text"].endswith("tool_11 and 88 more")
    assert fields["fields"][2]["text"] == "*Model:*\ngpt-5-codex"


def test_a_tool_while_it_runs_and_afterwards() -> None:
    test = call("Bash", command="npm test", description="Running test suite")
    _, _, running, ended = tell(
        START, ToolStarted("t1", test), done(test, "\nTest suite passed (15 tests)\nmore", 2.31)
    )
    assert isinstance(running, Say)
    assert isinstance(ended, Say)
    assert running.key == ended.key
    assert not running.settled
    assert ended.settled
    assert text_of(running) == "⏳ *Tool:* Bash\n`npm test`\n_Running test suite..._"
    assert text_of(ended) == "✅ *Tool:* Bash\n`npm test`\n_Test suite passed (15 tests, 2.3s)_"


@pytest.mark.parametrize(
    ("ended", "expected"),
    [
        (done(call("Bash", command="x"), "Error: no such file", 0.25, "FAILED"), "❌ … _no such file (0.25s)_"),
        (done(call("Bash", command="x"), "", None, "COMPLETED"), "✅ … _done_"),
        (done(call("Bash", command="x"), "Chunk ID: 1f\nWall time: 0.1 seconds\nOutput:\nok"), "✅ … _ok_"),
        (done(call("Bash", command="x"), "", 75.0, "FAILED"), "❌ … _failed (1m 15s)_"),
        (done(call("Bash", command="x"), "\x1b[32mok\x1b[0m a_b"), "✅ … `ok a_b`"),
        (
            ToolEnded("t1", call("Bash", command="x"), "INTERRUPTED", "", "the turn was stopped"),
            "⚠️ … _the turn was stopped_",
        ),
        (ToolEnded("t1", call("Bash", command="x"), "ORPHANED", "", "No result", 30.0), "⌛ … _No result (30.0s)_"),
    ],
)
def test_outcomes(ended: ToolEnded, expected: str) -> None:
    assert text_of(tell(START, ended)[-1]).replace(" *Tool:* Bash\n`x`\n", " … ") == expected


def test_what_a_call_is_about() -> None:
    told = {
        "`src/a.py` · Offset: `10` · Limit: `20`": tool("Read", file_path="src/a.py", offset=10, limit=20),
        "`def .*` · Path: `src`": tool("Grep", pattern="def .*", path="src"),
        "`Explore`\n_Find the uses..._": tool("Task", subagent_type="Explore", description="Find the uses", prompt="…"),
        'title: `It breaks`\nlabels: `["bug"]`': tool("mcp__gh__open_issue", title="It breaks", labels=["bug"]),
        "```\ncd a\nmake\n```": tool("Bash", command="cd a\nmake"),
    }
    for expected, moment in told.items():
        assert text_of(tell(START, moment)[-1]) == f"⏳ *Tool:* {moment.name}\n{expected}"
    patch = "*** Begin Patch\n*** Add File: a\n+1\n*** Update File: b\n*** Move to: c\n@@\n-1\n+2\n*** Delete File: d\n"
    patched = ToolCall("apply_patch", "t", {"input": f"{patch}*** End Patch"}, vocabulary_for("codex").read)
    assert text_of(tell(START, ToolStarted("t", patched))[-1]) == "⏳ *Tool:* apply_patch\n`a` · `b` · `d`"
    here = Started("Claude Code", "s", folder="/home/ada/bakery")
    assert text_of(tell(here, tool("Read", file_path="/home/ada/bakery/a.py"))[-1]).endswith("`a.py`")
    assert text_of(tell(here, tool("Read", file_path="/etc/hosts"))[-1]).endswith("`/etc/hosts`")


def test_what_the_model_says_is_one_message_numbered() -> None:
    texts = (
        "I'll analyze your code for performance issues",
        "Running the profiler to identify bottlenecks",
        "Found several optimization opportunities",
    )
    told = tell(START, *map(Spoke, texts), tool("Bash", command="ls"), Spoke("Then"))
    spoken = [each for each in told if isinstance(each, Say) and each.key.startswith("said")]
    assert text_of(spoken[0]) == "*Assistant:*\nI'll analyze your code for performance issues"
    assert text_of(spoken[2]) == (
        "*Assistant:*\n1. I'll analyze your code for performance issues\n"
        "2. Running the profiler to identify bottlenecks\n3. Found several optimization opportunities"
    )
    assert len({each.key for each in spoken[:4]}) == 1
    assert spoken[0].held
    assert spoken[3].settled
    assert not spoken[3].held
    assert text_of(spoken[4]) == "*Assistant:*\nThen"


def test_a_long_group_goes_on_in_another_message() -> None:
    told = tell(START, *(Spoke(f"Thing {number}") for number in range(1, 13)))
    assert text_of(told[-1]) == "*Assistant:*\n11. Thing 11\n12. Thing 12"


def test_the_result() -> None:
    end = Ended(True, "All **done**", None, 15.0, 5.0, 5, 0.0234, "claude-sonnet-4-5")
    result, reaction = tell(START, end)[-2:]
    assert isinstance(result, Say)
    assert result.urgent
    assert said(result) == [
        {"type": "header", "text": {"type": "plain_text", "text": "✅ Task Success"}},
        {"type": "section", "text": {"type": "mrkdwn", "text": "All *done*"}},
        {
            "type": "context",
            "elements": [
                {"type": "mrkdwn", "text": "*Model:* claude-sonnet-4-5"},
                {"type": "mrkdwn", "text": "*Turns:* 5"},
                {"type": "mrkdwn", "text": "*Cost:* $0.0234"},
                {"type": "mrkdwn", "text": "*Duration:* 15.0s"},
            ],
        },
    ]
    assert reaction == React("white_check_mark")


def test_a_failed_result() -> None:
    end = Ended(False, "Error: Reached 3 < 4 turns", "error_max_turns", denied=("Bash",))
    result, reaction = tell(START, end)[-2:]
    header, section, context = said(result)
    assert header["text"]["text"] == "❌ Task Failed (error_max_turns)"
    assert section["text"]["text"] == "🚨 *Error:* Reached 3 &lt; 4 turns"
    assert [element["text"] for element in context["elements"]] == ["*Cost:* unknown", "*Denied:* Bash"]
    assert reaction == React("rotating_light")
    bare = said(tell(START, Ended(False, None, "killed"))[-2])
    assert [bare[0]["text"]["text"], bare[1]["text"]["text"]] == ["❌ Task Failed", "🚨 *Error:* killed"]


def test_a_result_that_repeats_the_answer_says_it_alone() -> None:
    answer = Spoke("Done.\n\nAll of it.")
    assert tell(START, answer, Ended(True, "Done.\n\nAll of it."))[-3] == Unsay("said 1", None)
    before = tell(START, Spoke("First"), answer, Ended(True, answer.text))[-3]
    assert isinstance(before, Unsay)
    assert before.instead is not None
    assert before.instead.blocks[0]["text"]["text"] == "*Assistant:*\nFirst"
    own = tell(START, answer, Ended(True))[-2]
    assert said(own)[1]["text"]["text"] == "Done.\n\nAll of it."
    other = tell(START, answer, Ended(True, "Something else"))[-3]
    assert isinstance(other, Say)


def test_what_ended_without_a_result_is_no_success() -> None:
    teller = story()
    for moment in (START, Spoke("Let me see")):
        teller.tell(moment)
    said_at_end, reaction = teller.end()
    assert said(said_at_end)[0]["text"]["text"] == "🚨 Ended Without a Result"
    assert reaction == React("rotating_light")
    assert teller.end() == []


def test_a_turn_after_the_result_runs_again() -> None:
    teller = story()
    teller.tell(START)
    teller.tell(Ended(True, "One"))
    assert teller.end() == []
    assert teller.tell(START) == []
    assert teller.tell(Prompted("And now?")) == []
    assert teller.tell(Spoke("Now this"))[0] == React("rocket")
    assert len(teller.end()) == 2


def test_a_run_that_does_not_say_who_it_is_has_a_head() -> None:
    head, reaction, spoken = tell(Spoke("Hello"))
    assert said(head) == [{"type": "header", "text": {"type": "plain_text", "text": "🚀 Agent Session Started"}}]
    assert reaction == React("rocket")
    assert text_of(spoken) == "*Assistant:*\nHello"
    late = tell(Spoke("Hello"), START, Started("Claude Code", "another"))
    starts = [each for each in late if isinstance(each, Say) and not each.key.startswith("said")]
    assert [each.key for each in starts] == ["head", "head", "start 2"]
    assert [each.settled for each in starts] == [False, True, True]
    assert said(starts[1])[0]["text"]["text"] == "🚀 Claude Code Session Started"


def test_the_list_of_tasks_is_one_message() -> None:
    def todo(status: str) -> ToolCall:
        second = {"content": "Write tests", "status": status, "priority": "medium"}
        return call("TodoWrite", todos=[{"content": "Feature X", "status": "completed", "priority": "high"}, second])

    one, two = todo("pending"), todo("in_progress")
    told = tell(START, ToolStarted("a", one), done(one, "ok"), ToolStarted("b", two))
    lists = [each for each in told[2:] if isinstance(each, Say)]
    assert [each.key for each in lists] == ["list 1", "list 1"]
    assert text_of(lists[1]) == "📝 *Todo List:*\n\n✅ [HIGH] Feature X\n🔄 [MEDIUM] Write tests"
    other = tell(START, Listed((PlanItem("A"),)), Listed((PlanItem("B"),)))
    assert [each.key for each in other[2:] if isinstance(each, Say)] == ["list 1", "list 2"]
    failed = tell(START, done(one, "Error: no", None, "FAILED"))[-1]
    assert text_of(failed).startswith("❌ *Tool:* TodoWrite")


def test_what_is_not_significant_is_not_told() -> None:
    inner = ToolStarted("x", call("Bash", command="ls"), depth=1, parent="t1")
    nothing: list[Moment] = [
        Prompted("Please"),
        Thought("Hm"),
        Noticed("retrying", "warning"),
        Noticed("a hook", "context"),
        Spoke(" \n"),
        Spoke("inside", depth=1),
        inner,
        ToolEnded("y", None, "COMPLETED", "a result of nothing"),
    ]
    assert not any(map(significant, nothing))
    assert tell(START, *nothing)[2:] == []
    assert text_of(tell(START, Noticed("API error: overloaded", "error"))[-1]) == "🚨 API error: overloaded"


def test_secrets_never_get_there() -> None:
    """However near to a cut they stand."""
    for before in (0, 200, 590, 595, 2980, 9990):
        text = "x" * before + " " + KEY
        bash = call("Bash", command=text, description=text)
        told = tell(
            Started(text, text, text, tools=(text,)),
            Spoke(text),
            ToolStarted("t1", bash),
            done(bash, text),
            tool("mcp__db__connect", password="hunter2-Z9xQ", dsn=text),
            Noticed(text, "error"),
            Listed((PlanItem(text),)),
            Ended(False, text, text, denied=(text,)),
            banner=Banner(text, text, f"https://e.org/{KEY}"),
        )
        everything = repr(told)
        assert "sk-ant" not in everything
        assert "hunter2" not in everything
        assert KEY[10:20] not in everything


@pytest.mark.parametrize(
    "hidden",
    [
        KEY.replace("-", "\\-"),
        KEY.replace("-", "&#45;"),
        KEY.replace("ant", "\x1b[31mant\x1b[0m"),
        f"[a link](https://e.org/{KEY.replace('-', chr(92) + '-')})",
        f"| a | b |\n|--|--|\n| {KEY.replace('-', chr(92) + '-')} | 1 |",
    ],
)
def test_secrets_are_not_hidden_by_escapes_and_colours(hidden: str) -> None:
    everything = repr(tell(START, Spoke(hidden), done(call("Bash", command="x"), hidden), Ended(True, f"So: {hidden}")))
    assert KEY not in everything


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.25, 2.34, 59.9, 60, 3725)] == [
        "0.25s",
        "2.3s",
        "59.9s",
        "1m 0s",
        "1h 2m",
    ]


HOSTILE = st.text(st.sampled_from("a &<>`*_@|\n\x1b\U0001f468\u200d日#-[]()"), max_size=4000) | st.sampled_from(
    ["<!channel> " * 500, "`" * 4000, "&" * 6000, "\U0001f680" * 5000, "- a\n" * 3000, "```\n" + "x\n" * 4000]
)


@settings(max_examples=60)
@given(HOSTILE, HOSTILE)
def test_whatever_a_run_holds_slack_takes_it(one: str, other: str) -> None:
    bash = call("Bash", command=one, description=other)
    todos = [{"content": one, "status": "pending"}, *({"content": f"{other} {number}"} for number in range(99))]
    told = tell(
        Started(one, other, one, tools=(one, other) * 20),
        Spoke(one),
        Spoke(other),
        ToolStarted("t1", bash),
        done(bash, other, 1.0),
        tool("mcp__a__b", **{one: other, other: one, "c": {one: other}}),
        tool("TodoWrite", todos=todos),
        Noticed(one, "error"),
        Ended(False, one, other, 1.0, 1.0, 1, 1.0, other, denied=(one, other)),
        banner=Banner(one, other, f"https://e.org/{one}"),
    )
    for each in told:
        if isinstance(each, Say):
            assert list(faults(each.message.blocks)) == []
            assert each.message.text
