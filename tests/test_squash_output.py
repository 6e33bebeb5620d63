"""What `unspool squash` tells and how it names things: counts of what was taken out, files of records, progress."""

import fcntl
import json
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from many import SECRET, entry, says, session, write
from unspool.errors import OutputNotWritable
from unspool.exports.training import FORMATS
from unspool.ingest.conversations import Unit
from unspool.jobs.squash import Settings, squash, squash_tasks
from unspool.jobs.squash.run import fold
from unspool.jobs.squash.settings import Outcome, Task
from unspool.sources.outputs import Output

KEY = b"k"


def counts(out: Path) -> dict[str, int]:
    told: dict[str, int] = json.loads((out / "summary.json").read_bytes())["counts"]
    return told


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
@pytest.mark.parametrize("to", ["atif", "sts"])
def test_a_file_for_each_record_whatever_sessions_are_called(tmp_path: Path, to: str, strategy: Any) -> None:
    """Its name tells the session, and is the same whatever else is squashed with it."""
    for number in range(3):
        session(tmp_path / "logs", f"{number}.jsonl", f"Question {number}", session="a session/1")
    settings = Settings(key=KEY, to=to, strategy=strategy)
    squash(tmp_path / "logs", out=tmp_path / "out", settings=settings)
    squash(tmp_path / "logs/2.jsonl", out=tmp_path / "alone", settings=settings)
    named = {path.name for path in (tmp_path / "out").iterdir()} - {"integrity-report.json", "summary.json"}
    alone = {path.name for path in (tmp_path / "alone").iterdir()} - {"integrity-report.json", "summary.json"}
    records = {name for name in named if name.endswith((".json", ".jsonl"))}
    assert len(records) == json.loads((tmp_path / "out/summary.json").read_bytes())["records"] >= 3
    assert alone <= named
    assert strategy == "tree" or all(name.startswith("a_session_1-") for name in records)


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
@pytest.mark.parametrize("to", ["hermes", "swe-xml", "atif", "sts"])
def test_the_name_of_a_session_is_scrubbed_too(tmp_path: Path, to: Any, strategy: Any) -> None:
    session(tmp_path / "logs", "a.jsonl", "Question", session=f"{SECRET} ada@example.com")
    settings = Settings(key=KEY, to=to, strategy=strategy, anonymize=True, filters=("no-duplicates",))
    told = squash(tmp_path / "logs", out=tmp_path / "out", settings=settings)
    assert told.records
    for path in (tmp_path / "out").iterdir():
        for text in (path.name, path.read_text()):
            assert SECRET[:20] not in text
            assert "ada@" not in text
            assert "ada_example" not in text


CHAT = {"choices": [{"message": says("assistant", "Not yet.")}]}
MESSAGES = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Not yet."}]}


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
@pytest.mark.parametrize(
    ("answer", "names"), [(CHAT, ("prompt_tokens", "completion_tokens")), (MESSAGES, ("input_tokens", "output_tokens"))]
)
def test_the_same_answer_again_is_of_another_call(
    tmp_path: Path, answer: Any, names: tuple[str, str], strategy: Any
) -> None:
    messages: list[Any] = []
    entries = []
    for number in (1, 2, 3):
        messages = [*messages, says("user", f"And now, {number}?")]
        usage = dict(zip(names, (number * 100, number), strict=True))
        entries.append(entry("s", number, messages) | {"response": answer | {"usage": usage}})
        messages = [*messages, says("assistant", "Not yet.")]
    write(tmp_path / "logs", "polls.jsonl", *entries)
    told = squash(tmp_path / "logs", out=tmp_path / "out", settings=Settings(key=KEY, to="atif", strategy=strategy))
    (file,) = told.files
    steps = [step for step in json.loads((tmp_path / "out" / file).read_bytes())["steps"] if "metrics" in step]
    assert [step["metrics"]["prompt_tokens"] for step in steps] == [100, 200, 300]
    assert len({step["timestamp"] for step in steps}) == 3


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
@pytest.mark.parametrize("answer", [CHAT, MESSAGES])
def test_an_example_that_says_what_the_model_says_is_not_trained_on(tmp_path: Path, answer: Any, strategy: Any) -> None:
    asked = [says("user", "Ripe?"), says("assistant", "Not yet."), says("user", "And this one?")]
    later = [*asked, says("assistant", "Not yet."), says("user", "And that one?")]
    entries = [entry("s", number, messages) | {"response": answer} for number, messages in enumerate((asked, later))]
    write(tmp_path / "logs", "pears.jsonl", *entries)
    told = squash(tmp_path / "logs", out=tmp_path / "out", settings=Settings(key=KEY, to="axolotl", strategy=strategy))
    (file,) = told.files
    (record,) = map(json.loads, (tmp_path / "out" / file).read_bytes().splitlines())
    assert [message["train"] for message in record["messages"]] == [False, False, False, True, False, True]


@pytest.mark.parametrize("to", FORMATS)
def test_a_record_that_no_line_holds_is_not_counted_as_one(tmp_path: Path, to: Any) -> None:
    write(tmp_path / "logs", "empty.jsonl", entry("s", 1, []) | {"response": None})
    session(tmp_path / "logs", "full.jsonl", "Question")
    told = squash(tmp_path / "logs", out=tmp_path / "out", settings=Settings(key=KEY, to=to))
    assert (told.records, told.counts["records refused by the format"]) == (1, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
@pytest.mark.parametrize("to", ["messages", *FORMATS])
def test_a_file_whose_name_is_no_text_costs_nothing(tmp_path: Path, to: Any, strategy: Any) -> None:
    (tmp_path / "logs").mkdir()
    session(tmp_path / "logs", "plain.jsonl", "Question 1")
    lines = (tmp_path / "logs/plain.jsonl").read_bytes().replace(b"session_id", b"unknown")
    (tmp_path / "logs" / os.fsdecode(b"caf\xe9.jsonl")).write_bytes(lines)
    told = squash(tmp_path / "logs", out=tmp_path / "out", settings=Settings(key=KEY, to=to, strategy=strategy))
    assert told.records >= 2
    assert told.inputs == 2


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_what_was_taken_out_is_counted(tmp_path: Path, jobs: int, strategy: Any) -> None:
    for number in range(4):
        said = [says("user", f"{SECRET} {number}"), says("assistant", "ok"), says("user", "ada@example.com")]
        write(tmp_path / "logs", f"{number}.jsonl", entry("s", 1, said, f"again {SECRET}"), f"no entry: {SECRET}")
    settings = Settings(key=KEY, strategy=strategy, anonymize=True)
    squash(tmp_path / "logs", out=tmp_path / "out", settings=settings, jobs=jobs)
    told = counts(tmp_path / "out")
    assert told["redacted: anthropic-key"] == 8
    assert told["anonymized: email"] == 4
    squash(tmp_path / "logs", out=tmp_path / "out", settings=settings, jobs=jobs, rejects=str(tmp_path / "rejects"))
    assert counts(tmp_path / "out") == told, "rejects are no records"
    squash(tmp_path / "logs", out=tmp_path / "out", settings=Settings(redact=False, strategy=strategy))
    assert not [what for what in counts(tmp_path / "out") if "redacted" in what or "anonymized" in what]


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_what_was_cleaned_is_counted_as_the_record_shows_it(tmp_path: Path, strategy: Any) -> None:
    prompt = says("system", "You are a general-purpose AI agent called goose, made by others.")
    info = says("user", "<info-msg>It is noon</info-msg>")
    history = [prompt, says("user", "hi"), info, says("assistant", ""), says("assistant", "ok"), says("user", "more")]
    write(tmp_path / "logs", "a.jsonl", entry("s", 1, history[:3], ""), entry("s", 2, history, "end"))
    squash(tmp_path / "logs", out=tmp_path / "out", settings=Settings(key=KEY, clean_up="goose", strategy=strategy))
    told = {what: number for what, number in counts(tmp_path / "out").items() if what.startswith("messages")}
    assert set(told) >= {"messages cleaned: goose's prompt", "messages cleaned away: goose's notes"}
    if strategy == "snapshot":
        assert set(told.values()) == {1}
        assert "messages cleaned away: silent ones" in told


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_gooses_titles_are_cleaned_away(tmp_path: Path, strategy: Any) -> None:
    title = says("system", "Reply with only a description in four words or less.")
    first = says("user", "Here are the first few user messages: hi")
    write(
        tmp_path / "logs",
        "a.jsonl",
        entry("s", 1, [title, first], "A short greeting"),
        entry("s", 2, [says("system", "Help."), says("user", "hi")], "Hello"),
    )
    settings = Settings(key=KEY, clean_up="goose", strategy=strategy, single_file=True)
    told = squash(tmp_path / "logs", out=tmp_path / "out", settings=settings)
    (line,) = (tmp_path / "out/conversations.jsonl").read_bytes().splitlines()
    assert [message["content"] for message in json.loads(line)["messages"]] == ["Help.", "hi", "Hello"]
    assert [number for what, number in told.counts.items() if "cleaned away" in what] == [1]


def test_a_file_that_is_gone_when_it_is_read_is_a_reject(tmp_path: Path) -> None:
    session(tmp_path / "logs", "here.jsonl", "A question")
    here, gone = str(tmp_path / "logs/here.jsonl"), str(tmp_path / "logs/gone.jsonl")
    for strategy, units in (("snapshot", False), ("tree", True)):
        todo = [Task(path, None, Unit(path) if units else None) for path in (gone, here)]
        settings = Settings(key=KEY, strategy="tree" if strategy == "tree" else "snapshot")
        squashed = squash_tasks(todo, str(tmp_path / "out"), settings, rejects=str(tmp_path / "rejects"))
        assert squashed.counts["sessions invalid: unreadable"] == 1
        assert squashed.counts["sessions kept"] == 1
        reject = json.loads((tmp_path / "rejects").read_bytes())
        assert (reject["file"], reject["rule"]) == (gone, "unreadable")


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_what_is_nested_too_deeply_costs_no_other_session(tmp_path: Path, strategy: Any) -> None:
    deep: Any = SECRET
    for _ in range(700):
        deep = [deep]
    write(tmp_path / "logs", "deep.jsonl", entry("s", 1, [says("user", f"{SECRET} for a@example.com", odd=deep)], "ok"))
    session(tmp_path / "logs", "plain.jsonl", "Question")
    settings = Settings(key=KEY, to="hf", strategy=strategy, anonymize=True)
    alone = squash(tmp_path / "logs/plain.jsonl", out=tmp_path / "alone", settings=settings)
    told = squash(tmp_path / "logs", out=tmp_path / "out", settings=settings)
    assert told.records == alone.records
    assert told.counts == alone.counts | {"sessions invalid: unreadable": 1}
    assert "deep.jsonl\tno record: something in it is nested" in (tmp_path / "out/integrity-report.txt").read_text()


def test_what_a_killed_run_left_goes_with_the_next(tmp_path: Path) -> None:
    session(tmp_path / "logs", "a.jsonl", "Question")
    out = tmp_path / "out"
    killed, running, others = (out / f".squash-{name}" for name in ("a1b2c3d4", "e5f6g7h8", "of-somebody-else"))
    for folder in (killed, running, others):
        folder.mkdir(parents=True)
        (folder / "2026-03-02.jsonl").write_bytes(b"{}")
    lock = os.open(running, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    squash(tmp_path / "logs", out=out, settings=Settings(key=KEY))
    os.close(lock)
    assert {file.name for file in out.iterdir() if file.is_dir()} == {running.name, others.name}


def test_rejects_that_have_no_place_are_told_before_any_work(tmp_path: Path) -> None:
    def outcomes() -> Iterator[Outcome]:
        pytest.fail("it has begun")
        yield

    with pytest.raises(OutputNotWritable, match="nowhere"):
        fold(outcomes(), str(tmp_path / "out"), Settings(key=KEY), Output(str(tmp_path / "nowhere" / "rejects")))
    assert not (tmp_path / "out").exists()


def test_options_of_formats(tmp_path: Path, unspool: Run) -> None:
    session(tmp_path / "logs", "a.jsonl", "A question")
    out = tmp_path / "out"
    assert unspool("squash", tmp_path / "logs", "-o", out, "-s", "--to", "hf", "--completions").returncode == 0
    row = json.loads((out / "conversations.jsonl").read_text().splitlines()[0])
    assert {"prompt", "completion"} <= set(row)
    arrow = pytest.importorskip("pyarrow.parquet")
    for wanted, kind in (("json", "extension<arrow.json>"), ("string", "string")):
        options = ("--to", "parquet", "-s", "--json-columns", wanted)
        assert unspool("squash", tmp_path / "logs", "-o", out, *options).returncode == 0
        assert str(arrow.read_schema(out / "conversations.parquet").field("metadata").type) == kind
        assert json.loads((out / "summary.json").read_bytes())["settings"]["json_columns"] == wanted


@pytest.mark.parametrize("options", [(), ("--shards", "8")])
def test_a_terminal_shows_how_far_it_is(tmp_path: Path, options: tuple[str, ...]) -> None:
    """For work that takes its time: until that is so, there is more and more of it."""
    shown = b""
    for size in (30, 120, 480):
        for number in range(size // 2, size):
            session(tmp_path / "logs", f"{number}.jsonl", f"{number} " + "some words of it " * 20_000)
        parent, child = pty.openpty()
        command = [sys.executable, "-m", "unspool", "squash", str(tmp_path / "logs"), "-o", str(tmp_path / "out")]
        more = ["--jobs", "1", "--strategy", "tree", "--filter", "near-duplicates<0.9", *options]
        process = subprocess.Popen([*command, *more], stderr=child, env={**os.environ, "TERM": "xterm"})
        os.close(child)
        shown = _read(parent)
        assert process.wait(60) == 0
        if b"reading" in shown:
            break
    assert b"reading" in shown
    assert "━".encode() in shown
    assert b"record" in shown[shown.rindex(b"reading") :], "the summary comes behind it"


def _read(terminal: int) -> bytes:
    pieces: list[bytes] = []
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            piece = b""
        if not piece:
            os.close(terminal)
            return b"".join(pieces)
        pieces.append(piece)
