"""`unspool pretty` as a program: where its input comes from, and whose it is."""

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from conftest import Run
from streams import Live
from unspool.jobs.pretty.render import pretty

COMMAND = [sys.executable, "-m", "unspool", "pretty"]
DONE = Live().starts().says("Hello.").ends()


def wait_until(path: Path, words: bytes) -> None:
    deadline = time.monotonic() + 60
    while words not in path.read_bytes() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert words in path.read_bytes()


def test_a_pipe_is_shown_in_boxes_of_58_columns(unspool: Run) -> None:
    done = unspool("pretty", stdin=DONE.data, COLUMNS="")
    assert done.returncode == 0
    assert done.stderr == b""
    assert {len(line) for line in done.stdout.decode().split("\n") if "═" in line} == {58}
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize("kind", ["stream", "calls"])
def test_a_packed_file_that_is_cut_off_is_shown_as_far_as_it_goes(kind: str, tmp_path: Path, unspool: Run) -> None:
    calls = [{"id": str(n), "request": {"messages": [{"role": "user", "content": f"Hello {n}."}]}} for n in range(9)]
    lines = DONE.lines if kind == "stream" else list(map(json.dumps, calls))
    file = tmp_path / "run.jsonl.gz"
    file.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode())[:-8])  # what tells that it is whole
    done = unspool("pretty", file, "--style", "line", "--tee", tmp_path / "raw")
    assert done.returncode == 0
    assert b"Hello" in done.stdout
    assert done.stderr.startswith(b"1 record not understood: compressed data is damaged: ")
    assert b"Hello" in (tmp_path / "raw").read_bytes()


@pytest.mark.parametrize("options", [(), ("--follow",)])
def test_a_file_that_is_not_there_is_named(options: tuple[str, ...], unspool: Run) -> None:
    done = unspool("pretty", "gone.jsonl", *options)
    assert (done.returncode, done.stderr) == (2, b"unspool: gone.jsonl: No such file or directory\n")


def test_the_width_can_be_told(unspool: Run) -> None:
    for options, environment, width in ((("--width", "70"), {}, 70), ((), {"COLUMNS": "90"}, 90)):
        done = unspool("pretty", *options, stdin=DONE.data, **environment)
        assert {len(line) for line in done.stdout.decode().split("\n") if "═" in line} == {width}


def test_a_file_gives_what_a_pipe_gives(unspool: Run, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(DONE.data)
    assert (
        unspool("pretty", path).stdout
        == unspool("pretty", stdin=DONE.data).stdout
        == unspool("pretty", "-", stdin=DONE.data).stdout
    )


def test_a_pipe_with_a_name(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen([*COMMAND, str(path)], stdout=PIPE, env={**os.environ, "COLUMNS": ""}) as process:
        with path.open("wb") as pipe:  # comes once: looking at its beginning must not take it away
            pipe.write(DONE.data)
        shown = process.communicate(timeout=60)[0]
    assert shown.decode().splitlines() == list(pretty([DONE.data]))


def test_a_log_that_is_no_stream_is_replayed_too(unspool: Run) -> None:
    logs = Path(__file__).parent.parent / "samples" / "logs"
    for name, words in (
        ("claude-code.jsonl", "loyalty discount"),
        ("codex.jsonl", "prices.py"),
        ("gemini-cli.jsonl", "page"),
    ):
        text = unspool("pretty", logs / name, "--queue").stdout.decode()
        assert words in text
        assert "COMPLETED" in text


def test_documents_databases_and_texts_are_replayed_too(unspool: Run, tmp_path: Path) -> None:
    readers = Path(__file__).parent / "readers"
    document, text = readers / "gemini_cli_json" / "session.json", readers / "aider" / "edits.md"
    database = tmp_path / "sessions.db"
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript((readers / "goose" / "session.sql").read_text())
        connection.commit()
    for path in (document, text, database):
        done = unspool("pretty", path, "--tee", tmp_path / "raw")
        assert (done.returncode, "Session Initialized" in done.stdout.decode()) == (0, True)
        assert (tmp_path / "raw").read_bytes() == path.read_bytes()
    done = unspool("pretty", document, "--follow")
    assert done.returncode == 2
    assert b"cannot be followed" in done.stderr


def test_recorded_time_is_kept_or_not(unspool: Run, tmp_path: Path) -> None:
    live = Live().at(0).starts().at(1).says("One.").at(1.6).says("Two.").at(1.6).ends()
    path = tmp_path / "run.jsonl"
    path.write_bytes(live.data)
    took = {}
    for speed in ("0", "1", "0.5"):
        begin = time.monotonic()
        done = unspool("pretty", path, "--speed", speed)
        took[speed] = time.monotonic() - begin
        assert done.stdout.decode().index("One.") < done.stdout.decode().index("Two.")
    assert took["1"] >= 0.6  # since its first event; before that there was none
    assert took["0.5"] >= 1.2


def test_an_orphan_is_told_in_its_time_also_in_a_replay(unspool: Run, tmp_path: Path) -> None:
    live = Live().at(0).calls("t", "Bash", command="make").at(40).result("t", "done").ends()
    path = tmp_path / "run.jsonl"
    path.write_bytes(live.data)
    for speed in ("0", "200"):
        text = unspool("pretty", path, "--queue", "--speed", speed).stdout.decode()
        assert text.index("ORPHANED (timeout after 30s)") < text.index("COMPLETED (40.00s)")
        assert "ORPHANED" not in unspool("pretty", path, "--queue", "--orphan-after", "1m").stdout.decode()


def test_a_file_that_grows(tmp_path: Path) -> None:
    path, out = tmp_path / "run.jsonl", tmp_path / "out"
    path.write_bytes(Live().starts().data)
    with out.open("wb") as file:
        process = subprocess.Popen([*COMMAND, str(path), "--follow", "--exit-code"], stdout=file, stderr=PIPE)
        wait_until(out, b"Session Initialized")
        with path.open("ab") as log:
            log.write(Live().says("More.").data[:40])
            log.flush()
            log.write(Live().says("More.").data[40:])
        wait_until(out, b"More.")
        path.write_bytes(Live().says("Anew.").data)  # it is written from its beginning
        wait_until(out, b"Anew.")
        assert process.poll() is None
        with path.open("ab") as log:
            log.write(Live().ends().data)
        assert process.communicate(timeout=60)[1] == b""  # with --exit-code, the result is the end
    assert process.returncode == 0


THREAD = "T-5f0c1a2b-0001-4abc-8def-00000000c0de"
OPENINGS: dict[str, list[dict[str, Any]]] = {
    "amp": [{"type": "system", "subtype": "init", "session_id": THREAD, "tools": [], "mcp_servers": []}],
    "codex": [{"type": "thread.started", "thread_id": "th1"}, {"type": "turn.started"}],
    "cursor": [{"type": "system", "subtype": "init", "apiKeySource": "login", "session_id": "k1", "model": "auto"}],
    "droid": [{"type": "system", "subtype": "init", "session_id": "d1", "tools": [], "reasoning_effort": "low"}],
    "gemini": [{"type": "init", "timestamp": "2026-01-01T00:00:00Z", "session_id": "g1", "model": "gemini-x"}],
    "opencode": [
        {"type": "step_start", "timestamp": 1, "sessionID": "s", "part": {"messageID": "m", "type": "step-start"}}
    ],
    "pi": [{"type": "session", "id": "p1", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/w"}, {"type": "agent_start"}],
    "qwen": [{"type": "system", "subtype": "init", "session_id": "q1", "tools": [], "qwen_code_version": "1"}],
}


@pytest.mark.parametrize("name", OPENINGS)
def test_streams_are_told_apart_by_their_first_lines(name: str, unspool: Run) -> None:
    data = "\n".join(map(json.dumps, OPENINGS[name])).encode()
    for options in ((), ("--format", name)):
        done = unspool("pretty", "--style", "json", *options, stdin=data)
        assert done.stderr == b""
        first = json.loads(done.stdout.splitlines()[0])
        assert (first["type"], name in first["agent"].lower()) == ("start", True)


def test_what_seemed_to_be_another_agents_stream(unspool: Run) -> None:
    """The first message could be anybody's; a tool call is Cursor's alone."""
    message = {
        "type": "assistant",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "Hm."}]},
        "session_id": "k",
    }
    call = {
        "type": "tool_call",
        "subtype": "started",
        "call_id": "c",
        "tool_call": {"readToolCall": {"args": {"path": "a.ts"}}},
        "session_id": "k",
    }
    done = unspool("pretty", stdin="\n".join(map(json.dumps, (message, call))).encode())
    assert done.stderr == b""
    assert "Hm." in done.stdout.decode()
    assert "📁 File: a.ts" in done.stdout.decode()


def test_objects_of_nobody_pass_and_unknown_ones_are_counted(unspool: Run) -> None:
    odd = b'{"level":"info","msg":"hi"}\n'
    assert unspool("pretty", stdin=odd * 3).stdout == odd * 3
    done = unspool("pretty", stdin=odd + Live().starts().add(type="prophecy").add(type="prophecy").data)
    assert b"record type 'prophecy' (2)" in done.stderr
    assert b"Session Initialized" in done.stdout


def test_bytes_that_are_no_text_and_a_stream_that_breaks_off(unspool: Run) -> None:
    data = Live().says("Bad # byte.").data.replace(b"#", b"\xff")
    done = unspool("pretty", stdin=b"\xef\xbb\xbf" + data + b"\xff\xfe raw\r\n" + Live().says("cut").data[:-20])
    text = done.stdout.decode()
    assert done.returncode == 0
    assert "Bad � byte." in text
    assert "�� raw" in text
    assert Live().says("cut").data[:-20].decode() in text  # nothing is lost in silence


@pytest.mark.parametrize("agent", ["opencode", "pi"])
def test_a_run_behind_another_has_a_cost_of_its_own(agent: str) -> None:
    lines: list[dict[str, Any]] = []
    for run in ("a", "b"):
        finish = {"id": "p", "type": "step-finish", "reason": "stop", "cost": 0.25, "messageID": f"m{run}"}
        said = {"role": "assistant", "content": [{"type": "text", "text": run}], "usage": {"cost": {"total": 0.25}}}
        runs: dict[str, list[dict[str, Any]]] = {
            "opencode": [{"type": "step_finish", "timestamp": 1, "sessionID": run, "part": finish}],
            "pi": [
                {"type": "session", "version": 3, "id": run, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/srv"},
                {"type": "message_end", "message": said},
                {"type": "agent_end"},
            ],
        }
        lines += runs[agent]
    told = map(json.loads, pretty(map(json.dumps, lines), style="json", format=agent))
    assert [moment["cost"] for moment in told if moment["type"] == "result"] == [0.25, 0.25]


def test_opencode_prints_its_words_behind_the_step_that_ended_them(unspool: Run) -> None:
    parts: list[tuple[str, dict[str, Any]]] = [
        ("step_start", {"type": "step-start"}),
        ("step_finish", {"type": "step-finish", "reason": "stop"}),
        ("text", {"type": "text", "text": "Hot."}),
    ]
    lines = [{"type": kind, "timestamp": 1, "sessionID": "s", "part": part} for kind, part in parts]
    for rest in ([], [{"type": "done", "timestamp": 2, "sessionID": "s", "reason": "idle", "rejected": []}]):
        done = unspool(
            "pretty", "--style", "json", "--exit-code", stdin="\n".join(map(json.dumps, lines + rest)).encode()
        )
        told = [json.loads(line)["type"] for line in done.stdout.splitlines()]
        assert (told, done.returncode) == (["start", "assistant", "result"], 0)


def test_opencode_goes_on_behind_a_step_whose_end_it_does_not_know() -> None:
    steps = [
        {"type": "step_finish", "timestamp": at, "sessionID": "s", "part": {"type": "step-finish", "reason": reason}}
        for at, reason in enumerate(("tool-calls", "unknown", "stop"))
    ]
    told = list(map(json.loads, pretty(map(json.dumps, steps), style="json", format="opencode")))
    assert [moment["type"] for moment in told].count("result") == 1
    assert not any(
        moment["type"] == "result" for moment in map(json.loads, pretty(map(json.dumps, steps[:2]), style="json"))
    )
