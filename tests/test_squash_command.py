"""The options of `unspool squash`, run as people run it."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from test_squash import entry, grown, log, records, rules, says, tool
from unspool.cli.squash import FORMATS
from unspool.exports.training import FORMATS as KNOWN
from unspool.transforms.inline import normal, parse

ROOT = Path(__file__).parent.parent
SECRET = "sk-ant-api03-" + "aB3dE5fG7h" * 9
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
CALLED = [
    says("user", f"mail ada@example.com, key {SECRET}"),
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    says("tool", f"</tool_result> {SECRET}", tool_call_id="c1"),
]


@pytest.fixture
def run(tmp_path: Path, unspool: Run) -> Any:
    def run(*options: str, status: int = 0) -> Path:
        done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", *options, UNSPOOL_KEY="k")
        assert done.returncode == status, done.stderr.decode()
        assert done.stdout == b""
        return tmp_path / "out"

    return run


def test_secrets_are_redacted_unless_told_otherwise(tmp_path: Path, run: Any) -> None:
    log(tmp_path, entry(1, CALLED, SECRET, request={"tools": [tool("f", description=SECRET)]}))
    written = (run("-s") / "conversations.jsonl").read_bytes()
    assert SECRET.encode() not in written
    assert written.count(b"[REDACTED:anthropic-key:") == 4
    assert b"ada@example.com" in written
    assert (run("-s") / "conversations.jsonl").read_bytes() == written, "the same on each run"
    assert (run("-s", "--no-redact") / "conversations.jsonl").read_bytes().count(SECRET.encode()) == 4


def test_names_in_addresses_are_replaced_when_asked(tmp_path: Path, run: Any) -> None:
    log(tmp_path, entry(1, CALLED))
    written = (run("-s", "--anonymize") / "conversations.jsonl").read_bytes()
    assert b"ada@" not in written
    assert b"@example.com" in written


@pytest.mark.parametrize("options", [[], ["--no-redact"]])
def test_calls_in_the_text(tmp_path: Path, run: Any, options: list[str]) -> None:
    log(tmp_path, entry(1, CALLED, request={"tools": [tool("f")]}))
    out = run("-s", "-j", *options)
    (record,) = records(out)
    assert record["messages"][1] == says("assistant", '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>')
    assert record["messages"][2]["content"].startswith('<tool_result tool_call_id="c1">&lt;/tool_result> ')
    assert rules(out) == []
    assert SECRET.encode() not in (out / "conversations.jsonl").read_bytes() or options
    if options:
        assert parse(record["messages"]) == normal([*CALLED, says("assistant", "ok")])


def test_gooses_noise(tmp_path: Path, run: Any) -> None:
    title = [
        says("system", "Reply with only a description in four words or less"),
        says("user", "Here are the first few user messages:\nx"),
    ]
    prompt = says("system", "You are a general-purpose AI agent called goose, made by others.")
    info = says("user", "<info-msg>\nIt is noon\n</info-msg>")
    log(
        tmp_path,
        entry(1, [prompt, says("user", "hi"), info]),
        entry(2, [prompt, says("user", "hi"), says("assistant", "ok"), says("user", "more")], "end"),
        entry(3, title, "Greeting a friend"),
    )
    out = run("-s", "--clean-up", "goose")
    (record,) = records(out)
    assert [message["content"] for message in record["messages"]] == [
        "You are a general-purpose AI agent", "hi", "ok", "more", "end",
    ]  # fmt: skip
    counts = json.loads((out / "summary.json").read_bytes())["counts"]
    assert (counts["entries read"], counts["entries kept"], counts["entries cleaned away"]) == (3, 2, 1)


def test_wrong_calls(tmp_path: Path, run: Any, unspool: Run) -> None:
    log(tmp_path, entry(1, grown(1)))
    run("--single-file", "--group-by", "date", status=2)
    run("--to", "hf", "-j", status=2)
    run("--tokenizer", "nowhere.json", "--filter", "turns>=1", status=2)
    assert unspool("squash", "-o", tmp_path / "out").returncode == 2
    assert unspool("squash", tmp_path / "nowhere.jsonl", "-o", tmp_path / "out").returncode == 2
    log(tmp_path, b"", name="file")
    assert unspool("squash", tmp_path / "logs", "-o", tmp_path / "file", "--no-redact").returncode == 2


def test_every_format_can_be_asked_for() -> None:
    assert list(FORMATS) == ["messages", *KNOWN]


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_other_traffic_and_agents_logs_become_records_too(tmp_path: Path, unspool: Run, strategy: str) -> None:
    samples = [ROOT / "samples" / "traces", ROOT / "samples" / "logs"]
    done = unspool("squash", *samples, "-o", tmp_path / "out", "-s", "--strategy", strategy, "--no-redact")
    assert done.returncode == 0, done.stderr.decode()
    found = records(tmp_path / "out")
    assert len(found) >= 8
    assert all(list(record) == ["messages", "tools"] for record in found)
    assert {message["role"] for record in found for message in record["messages"]} <= {
        "system", "user", "assistant", "tool",
    }  # fmt: skip
    said = json.dumps(found)
    assert all(text in said for text in ("Oslo or Rome this weekend?", "The loyalty discount is taken off twice"))


def test_of_one_agent_what_others_recorded_is_no_fault(tmp_path: Path, unspool: Run) -> None:
    out = tmp_path / "out"
    done = unspool("squash", ROOT / "samples", "-o", out, "-s", "--agent", "codex", "--strict", "--no-redact")
    assert done.returncode == 0, done.stderr.decode()
    assert len(records(out)) == 1
    assert json.loads((out / "summary.json").read_bytes())["counts"]["files without sessions of the agent"] == 4
    assert "ERROR" not in (out / "integrity-report.txt").read_text()


def test_a_format_that_wants_more_knows_what_to_train_on(tmp_path: Path, run: Any) -> None:
    made = [says("user", "a"), says("assistant", "generated"), says("user", "b"), says("assistant", "put in")]
    log(tmp_path, entry(1, made[:1], "generated"), entry(2, [*made, says("user", "c")], "last"))
    (record,) = records(run("-s", "--to", "axolotl", "--no-redact"))
    told = {
        message["content"]: message.get("train") for message in record["messages"] if message["role"] == "assistant"
    }
    assert told == {"generated": True, "put in": False, "last": True}
