"""`unspool squash --filter` and `--pairs`: what is left out, and why."""

import json
from pathlib import Path
from typing import Any

from conftest import Run
from many import records


def entry(*messages: tuple[str, str], answer: str, at: int = 0) -> dict[str, Any]:
    said = [{"role": role, "content": text} for role, text in messages]
    return {
        "timestamp": f"2026-03-01T10:00:{at:02}Z",
        "session_id": "s",
        "request": {"model": "m", "messages": said},
        "response": {"choices": [{"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}]},
    }


def log(folder: Path, name: str, *entries: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("".join(json.dumps(each) + "\n" for each in entries))


def summary(out: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((out / "summary.json").read_text())
    return told


def test_a_record_that_a_filter_refuses_is_counted_by_reason(unspool: Run, tmp_path: Path) -> None:
    log(tmp_path / "logs", "short.jsonl", entry(("user", "Hi"), answer="Hello"))
    log(tmp_path / "logs", "long.jsonl", entry(("user", "a"), ("assistant", "b"), ("user", "c"), answer="d"))
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", "--filter", "turns>=2")
    assert done.returncode == 0, done.stderr
    assert [record["messages"][-1]["content"] for record in records(tmp_path / "out")] == ["d"]
    assert summary(tmp_path / "out")["counts"]["records filtered, turns>=2: too few turns"] == 1


def test_equal_records_of_two_files_are_one(unspool: Run, tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        text = "Hello" if name != "b.jsonl" else "Good morning"
        log(tmp_path / "logs", name, entry(("user", "Hi"), answer=text))
    for jobs in ("1", "2"):
        out = tmp_path / f"out{jobs}"
        done = unspool("squash", tmp_path / "logs", "-o", out, "--filter", "no-duplicates", "--jobs", jobs)
        assert done.returncode == 0, done.stderr
        assert sorted(record["messages"][-1]["content"] for record in records(out)) == ["Good morning", "Hello"]
        assert summary(out)["records"] == 2
    assert (tmp_path / "out1/2026-03-01.jsonl").read_bytes() == (tmp_path / "out2/2026-03-01.jsonl").read_bytes()


def test_a_file_of_which_nothing_is_left_is_not_written(unspool: Run, tmp_path: Path) -> None:
    for name in ("tea.jsonl", "coffee.jsonl"):
        log(tmp_path / "logs", name, entry(("user", "Hi"), answer="Hello"))
    arguments = ("--group-by", "scenario", "--filter", "no-duplicates")
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", *arguments)
    assert done.returncode == 0, done.stderr
    assert len(list((tmp_path / "out").glob("*.jsonl"))) == 1


def test_a_wrong_filter_is_told_before_anything_is_written(unspool: Run, tmp_path: Path) -> None:
    log(tmp_path / "logs", "a.jsonl", entry(("user", "Hi"), answer="Hello"))
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", "--filter", "nice")
    assert done.returncode == 2
    assert b"there is no filter 'nice'" in done.stderr
    assert not (tmp_path / "out").exists()


def test_what_only_a_dropped_branch_trained_on_is_trained_on_in_another(unspool: Run, tmp_path: Path) -> None:
    """Two branches share an answer: the longer one, which holds its mark, is too long."""
    log(
        tmp_path / "logs",
        "a.jsonl",
        entry(("user", "a"), answer="b", at=0),
        entry(("user", "a"), ("assistant", "b"), ("user", "c"), answer="d", at=1),
        entry(("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d"), ("user", "e"), answer="f", at=2),
        entry(("user", "a"), ("assistant", "b"), ("user", "other"), answer="g", at=3),
    )
    arguments = ("--strategy", "tree", "--to", "axolotl", "--filter", "steps<=2")
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", *arguments)
    assert done.returncode == 0, done.stderr
    (record,) = records(tmp_path / "out")
    trained = [message["content"] for message in record["messages"] if message.get("train")]
    assert trained == ["b", "g"]


def test_two_answers_to_one_prompt_are_a_pair(unspool: Run, tmp_path: Path) -> None:
    log(
        tmp_path / "logs",
        "a.jsonl",
        entry(("user", "a"), answer="poor", at=0),
        entry(("user", "a"), answer="good", at=1),
        entry(("user", "a"), ("assistant", "good"), ("user", "c"), answer="d", at=2),
    )
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", "--strategy", "tree", "--pairs")
    assert done.returncode == 0, done.stderr
    (pair,) = records(tmp_path / "out")
    assert [message["content"] for message in pair["prompt"]] == ["a"]
    assert [message["content"] for message in pair["chosen"]] == ["good"]
    assert [message["content"] for message in pair["rejected"]] == ["poor"]


def test_calls_of_pairs_can_be_had_in_the_text(unspool: Run, tmp_path: Path) -> None:
    lines = [entry(("user", "a"), answer="poor", at=0), entry(("user", "a"), answer="good", at=1)]
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    lines[1]["response"]["choices"][0]["message"] |= {"content": None, "tool_calls": [call]}
    last = entry(("user", "a"), answer="d", at=2)
    result = {"role": "tool", "tool_call_id": "c1", "content": "seen"}
    last["request"]["messages"] += [lines[1]["response"]["choices"][0]["message"], result]
    log(tmp_path / "logs", "a.jsonl", *lines, last)
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", "--strategy", "tree", "--pairs", "-j")
    assert done.returncode == 0, done.stderr
    (pair,) = records(tmp_path / "out")
    (chosen,) = pair["chosen"]
    assert chosen == {"role": "assistant", "content": '<tool_call>{"name": "look", "arguments": {}}</tool_call>'}


def test_pairs_need_the_tree(unspool: Run, tmp_path: Path) -> None:
    log(tmp_path / "logs", "a.jsonl", entry(("user", "a"), answer="b"))
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", "--pairs")
    assert done.returncode == 2
    assert b"--pairs goes with --strategy tree" in done.stderr
