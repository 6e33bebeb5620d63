"""The examples of document 001, as they are written there: messages, drawn boxes and Slack blocks."""

import json
import re
import unicodedata
from typing import Any

import pytest

from conftest import Run
from seeds.documents import example, needs_documents

pytestmark = needs_documents

INIT, VARIABLES, TEXT, TOOL_USE, TOOL_RESULT = "001-02", "001-04", "001-06", "001-07", "001-08"
RESULTS = {"001-09": "✅ Task Success", "001-10": "❌ Task Failed"}
TODO, TODO_LIST, TOOL_ERROR = "001-13", "001-14", "001-15"
START, NAMED, COMPLETED, FAILED, INTERRUPTED, ORPHANED = "001-03", "001-05", "001-12", "001-16", "001-17", "001-18"
SLACK_START, SLACK_RUNNING, SLACK_DONE, SLACK_TEXTS = "001-20", "001-21", "001-22", "001-23"
RUN = {
    *(INIT, VARIABLES, TEXT, TOOL_USE, TOOL_RESULT, *RESULTS, TODO, TODO_LIST, TOOL_ERROR),
    *(START, NAMED, COMPLETED, FAILED, INTERRUPTED, ORPHANED),
    *(SLACK_START, SLACK_RUNNING, SLACK_DONE, SLACK_TEXTS),
}
_CROOKED = "its right border is not under the corner: only the words are compared"
_WIDER = "this box is two columns wider than all others: only the words are compared"
KNOWN_DIFFERENCES: dict[str, dict[int, str]] = {
    COMPLETED: {8: _CROOKED, 9: _CROOKED},
    INTERRUPTED: {**dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 8), _WIDER), 16: _CROOKED},
    ORPHANED: {6: _CROOKED},
}
"""Lines, from 1, in which our drawing is another."""


def value(key: str) -> Any:
    return json.loads(example(key).text)


def stream(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def timed(seconds: float, record: dict[str, Any]) -> dict[str, Any]:
    return {**record, "timestamp": f"2026-03-01T10:00:{seconds:06.3f}Z"}


def uses(name: str, call: str = "t", **arguments: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call, "name": name, "input": arguments}
    return {"type": "assistant", "message": {"role": "assistant", "content": [block]}, "session_id": "s"}


def answers(block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": [block]}, "session_id": "s"}


def result(output: str, call: str = "t") -> dict[str, Any]:
    return answers({"type": "tool_result", "tool_use_id": call, "content": output, "is_error": False})


def cells(text: str) -> int:
    """Return the columns of a line: an emoji takes two, also one that only a selector after it makes wide."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def words(text: str) -> str:
    return " ".join(re.sub("[╔╗╚╝═║]", " ", text).split())


def label(key: str, name: str) -> str:
    (text,) = re.findall(rf"{name}: (.*?) *║", example(key).text)[:1]
    return str(text)


def assert_drawn(drawing: str, key: str) -> None:
    """The drawing is the example's, character for character but in the lines that are known to differ."""
    expected = example(key).text.rstrip("\n").split("\n")
    differences = KNOWN_DIFFERENCES.get(key, {})
    if not differences:
        assert drawing.split("\n") == expected
        return
    ours = drawing.split("\n")
    assert [line for line in ours if cells(line) not in (0, 58)] == []
    straight = [line for number, line in enumerate(expected, 1) if number not in differences]
    assert [line for line in straight if line not in ours] == []
    others = [line for number, line in enumerate(expected, 1) if differences.get(number) in (_CROOKED, _WIDER)]
    assert [line for line in others if words(line) not in words(drawing)] == []


@pytest.fixture
def pretty(unspool: Run) -> Any:
    def run(data: bytes, *options: str, **variables: str) -> str:
        return unspool("pretty", *options, stdin=data, **variables).stdout.decode().rstrip("\n")

    return run


def test_the_literal_start(pretty: Any) -> None:
    assert_drawn(pretty(stream(value(INIT))), START)


def test_the_literal_start_with_variables(pretty: Any) -> None:
    variables = dict(re.findall(r'^export (\w+)="(.*)"$', example(VARIABLES).text, re.MULTILINE))
    assert len(variables) == 3
    assert_drawn(pretty(stream(value(INIT)), **variables), NAMED)


def test_the_literal_text(pretty: Any) -> None:
    record = value(TEXT)
    assert words(pretty(stream(record))) == f"assistant {record['message']['content'][0]['text']}"


def test_the_literal_tool_use(pretty: Any) -> None:
    record = value(TOOL_USE)
    arguments = record["message"]["content"][0]["input"]
    expected = f"tool ⏳ Tool: Bash 🔧 Command: {arguments['command']} 📝 Description: {arguments['description']}"
    assert words(pretty(stream(record))) == expected


def test_the_literal_tool_result_in_a_box_with_its_use(pretty: Any) -> None:
    assert_drawn(pretty(stream(timed(1, value(TOOL_USE)), timed(1.75, value(TOOL_RESULT))), "--queue"), COMPLETED)


@pytest.mark.parametrize(("key", "title"), RESULTS.items())
def test_literal_results(key: str, title: str, pretty: Any) -> None:
    record = value(key)
    text = words(pretty(stream(record)))
    figures = (
        f"⏱ Duration: {record['duration_ms'] / 1000:.2f}s 🔄 API Time: {record['duration_api_ms'] / 1000:.2f}s "
        f"💬 Turns: {record['num_turns']} 💰 Cost: ${record['cost_usd']:.4f}"
    )
    assert text.startswith(f"result {title}")
    assert text.endswith(figures)
    assert record.get("result", record.get("error", "").partition(": ")[2]) in text


def test_the_literal_list_of_tasks_in_a_box(pretty: Any) -> None:
    record = answers({**value(TODO), "id": "t"})
    record = {**record, "type": "assistant", "message": {**record["message"], "role": "assistant"}}
    assert words(pretty(stream(record))) == f"todo {words(example(TODO_LIST).text)}"


def test_the_literal_tool_error(pretty: Any) -> None:
    block = value(TOOL_ERROR)
    use = uses("Bash", block["tool_use_id"], command=label(FAILED, "Command"))
    assert_drawn(pretty(stream(timed(1, use), timed(1.25, answers(block))), "--queue"), FAILED)


def test_the_literal_interruption(pretty: Any) -> None:
    listing = re.findall(r"║  (total.*?|drwx.*?) *║", example(INTERRUPTED).text.replace("📄 Result: ", ""))
    assert len(listing) == 2
    records = (
        timed(1, uses("Read", "r", file_path=label(INTERRUPTED, "File"))),
        timed(2, uses("Bash", "b", command=label(INTERRUPTED, "Command"))),
        timed(2.45, result("\n".join(listing), "b")),
    )
    assert_drawn(pretty(stream(*records), "--queue", "--one-tool-at-a-time"), INTERRUPTED)


def test_the_literal_orphan(pretty: Any) -> None:
    path = label(ORPHANED, "File")
    records = (timed(1, uses("Write", file_path=path)), timed(31.5, value(TEXT)))
    assert_drawn(pretty(stream(*records), "--queue").split("\n\n")[0], ORPHANED)


def test_known_differences_are_differences() -> None:
    """A line that is listed as crooked has its border elsewhere than the box above it."""
    for key, lines in KNOWN_DIFFERENCES.items():
        expected = example(key).text.split("\n")
        for number in lines:
            assert cells(expected[number - 1]) != 58, (key, number)


# Slack


@pytest.fixture
def posted(unspool: Run) -> Any:
    def run(data: bytes) -> list[dict[str, Any]]:
        done = unspool("pretty", "--slack-dry-run", stdin=data)
        calls = [json.loads(line) for line in done.stderr.decode().splitlines() if line.startswith("{")]
        blocks = [{"blocks": call["blocks"]} for call in calls if "blocks" in call]
        assert "Ended Without a Result" in str(blocks.pop())
        return blocks

    return run


def slack_text(key: str) -> str:
    return str(value(key)["blocks"][0]["text"]["text"])


def test_the_literal_start_in_slack(posted: Any) -> None:
    assert posted(stream(value(INIT))) == [value(SLACK_START)]


@pytest.mark.parametrize("key", [SLACK_RUNNING, SLACK_DONE])
def test_literal_tools_in_slack(key: str, posted: Any) -> None:
    (name, command, last), *_ = re.findall(r"^\S+ \*Tool:\* (\w+)\n`(.*)`\n_(.*)_$", slack_text(key))
    records = [uses(name, command=command, description=last)]
    if key == SLACK_DONE:
        records.append(result(last))
    assert value(key) in posted(stream(*records))


def test_literal_texts_in_slack(posted: Any) -> None:
    texts = re.findall(r"^\d\. (.*)$", slack_text(SLACK_TEXTS), re.MULTILINE)
    records = [
        {**uses("x"), "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}} for text in texts
    ]
    assert posted(stream(*records))[-1] == value(SLACK_TEXTS)
