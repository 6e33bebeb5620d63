"""Recorded calls, shown as the run that made them."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from calls import call, said
from conftest import Run
from recorders import PATIENCE, answering, body, chat, eventually, in_flight, post, recording, upstream
from unspool.jobs.pretty.render import pretty
from unspool.sources.compact import Packer

TOOLS = [{"type": "function", "function": {"name": "run", "parameters": {}}}]
HEAD = {"id": "h", "timestamp": 1_700_000_000, "request": None, "response": None, "method": "HEAD", "path": "/"}


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def shown(unspool: Run, path: Path, *options: str) -> list[str]:
    done = unspool("pretty", path, "--style", "line", *options)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode().splitlines()


def a_run() -> list[dict[str, Any]]:
    asked = ["s:Be brief.", "u1"]
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    first = call(*asked, answer="c:x1", id="1", request={"tools": TOOLS})
    second = call(*asked, "c:x1", "t:x1", answer="a1", id="2", request={"tools": TOOLS})
    for each in (first, second):
        each["response"]["usage"] = usage
    return [first, second]


def test_each_thing_is_told_once(tmp_path: Path, unspool: Run) -> None:
    lines = shown(unspool, written(tmp_path / "t.jsonl", HEAD, *a_run()), "--queue")
    assert lines[0].startswith("[start] Recorded calls session=1 model=m")
    assert lines[1:4] == ["[user] u1", "[result] run COMPLETED (0.99s): x1 → result of x1", "[text] a1"]
    assert lines[4].startswith("[done] success, 1.00s, API 0.01s, 2 turns,")
    assert len(lines) == 5


def test_calls_that_were_kept_as_text_are_calls_too(tmp_path: Path, unspool: Run) -> None:
    kept = call("u1", answer="a1", id="1")
    told = shown(unspool, written(tmp_path / "object.jsonl", kept))
    assert shown(unspool, written(tmp_path / "text.jsonl", kept | {"request": json.dumps(kept["request"])})) == told


def test_the_cost_is_a_lower_bound_if_an_answer_does_not_say_what_it_took(tmp_path: Path, unspool: Run) -> None:
    pytest.importorskip("genai_prices")
    calls = a_run()
    for each in calls:
        each["request"]["model"] = "gpt-4o"
    path = written(tmp_path / "t.jsonl", *calls)
    assert "cost $0.0001" in shown(unspool, path)[-1]
    refused = calls[1] | {"id": "3", "response": {"error": {"message": "Slow down"}}, "status": 429}
    assert "cost $0.0001" in shown(unspool, written(path, calls[0], refused, calls[1]))[-1]
    del calls[0]["response"]["usage"]
    assert "cost ≥ $0.00005" in shown(unspool, written(path, *calls))[-1]
    end = unspool("pretty", path, "--style", "json").stdout.splitlines()[-1]
    assert json.loads(end)["cost_is_partial"] is True
    del calls[1]["response"]["usage"]
    assert "cost unknown" in shown(unspool, written(path, *calls))[-1]


def test_tokens_are_the_sum_of_the_calls(tmp_path: Path, unspool: Run) -> None:
    told = unspool("pretty", written(tmp_path / "t.jsonl", *a_run()), "--style", "json").stdout.splitlines()
    end = json.loads(told[-1])
    assert (end["type"], end["tokens"]["input"], end["tokens"]["output"]) == ("result", 20, 4)


def test_a_result_finds_its_call_though_the_client_gave_that_another_id(tmp_path: Path, unspool: Run) -> None:
    """As clients do with Gemini, which gives calls none."""
    asked = {"role": "user", "parts": [{"text": "u1"}]}
    made = {"name": "look", "args": {"at": "sky"}}
    given = {"name": "look", "id": "own-1", "response": {"seen": "moon"}}
    echo = [
        {"role": "model", "parts": [{"functionCall": {**made, "id": "own-1"}}]},
        {"role": "user", "parts": [{"functionResponse": given}]},
    ]
    answers = [[{"functionCall": made}], [{"text": "The moon."}]]
    records = [
        {
            "id": str(number),
            "path": "/v1beta/models/g:generateContent",
            "request": {"contents": contents},
            "response": {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]},
        }
        for number, (contents, parts) in enumerate(zip(([asked], [asked, *echo]), answers, strict=True))
    ]
    lines = shown(unspool, written(tmp_path / "t.jsonl", *records), "--queue")
    assert [line for line in lines if line.startswith("[result]")] == ['[result] look COMPLETED: sky → {"seen":"moon"}']


def test_the_same_words_once_more_are_said_once_more(tmp_path: Path, unspool: Run) -> None:
    one = call("u1", answer="a1")
    two = call("u1", "a1", "u1", answer="a1")
    lines = shown(unspool, written(tmp_path / "t.jsonl", one, two))
    assert lines[1:5] == ["[user] u1", "[text] a1", "[user] u1", "[text] a1"]


def test_a_sub_agent_stands_under_the_call_that_asked_for_it(tmp_path: Path, unspool: Run) -> None:
    arguments = json.dumps({"prompt": "Find it.", "description": "a search"})
    task = said("c:x9")
    task["tool_calls"][0]["function"] = {"name": "Task", "arguments": arguments}
    master = call("You are Claude Code", answer="a1", request={"tools": TOOLS})
    master["response"]["choices"][0]["message"] = task
    agent = call("Find it.", answer="a here", request={"tools": TOOLS})
    lines = shown(unspool, written(tmp_path / "t.jsonl", master, agent))
    assert lines[2:] == [
        "[tool] Task: a search",
        "  [user] Find it.",
        "  [text] a here",
        lines[-1],
    ]
    assert "the recording ends before the results of its calls" in lines[-1]


def test_retries_forks_errors_and_other_models_are_told(tmp_path: Path, unspool: Run) -> None:
    lines = shown(
        unspool,
        written(
            tmp_path / "t.jsonl",
            call("u1", error="overloaded"),
            call("u1", answer="a1"),
            call("u1", "a1", "u2", answer="a2", model="n"),
            call("u1", "a1", "u3", answer="a3", model="n"),
        ),
    )
    assert lines[1:4] == ["[user] u1", "[error] overloaded", "[warning] asked again"]
    assert lines[4:8] == ["[text] a1", "[notice] model: m → n", "[user] u2", "[text] a2"]
    assert lines[8:11] == ["[notice] goes on from an earlier answer", "[user] u3", "[text] a3"]


def test_conversations_that_take_turns_are_told_apart(tmp_path: Path, unspool: Run) -> None:
    one, two = {"X-Session-Id": "one"}, {"X-Session-Id": "two"}
    lines = shown(
        unspool,
        written(
            tmp_path / "t.jsonl",
            call("u1", answer="a1", headers=one),
            call("v1", answer="a of v1", headers=two),
            call("u1", "a1", "u2", answer="a2", headers=one),
        ),
    )
    assert [line for line in lines if line.startswith(("[start", "[notice"))] == [
        "[start] Recorded calls session=one model=m",
        "[start] Recorded calls session=two model=m",
        "[notice] conversation 2",
        "[notice] back to conversation 1",
    ]


def test_a_title_stands_aside(tmp_path: Path, unspool: Run) -> None:
    named = {"headers": {"X-Session-Id": "s"}}
    first, second = a_run()
    title = call("Give it a title", answer="a title")
    lines = shown(unspool, written(tmp_path / "t.jsonl", *(each | named for each in (first, title, second))))
    assert [line for line in lines if "itle" in line] == ["  [user] Give it a title", "  [text] a title"]


@pytest.mark.parametrize("way", ["compact", "standard input", "gzip"])
def test_all_forms_of_a_trace_look_the_same(tmp_path: Path, unspool: Run, way: str) -> None:
    import gzip

    records = [HEAD, *a_run()]
    plain = written(tmp_path / "t.jsonl", *records)
    expected, packed = shown(unspool, plain), tmp_path / "t.zst"
    if way == "standard input":
        done = unspool("pretty", "--style", "line", stdin=plain.read_bytes())
        found = done.stdout.decode().splitlines()
    else:
        packer = Packer()
        lines = plain.read_bytes().splitlines(keepends=True)
        packed.write_bytes(gzip.compress(plain.read_bytes()) if way == "gzip" else b"".join(map(packer.pack, lines)))
        found = shown(unspool, packed)
        assert b"cannot be followed" in unspool("pretty", packed, "--follow").stderr
    assert found == expected


def test_a_call_that_a_killed_recorder_left_is_shown(tmp_path: Path, unspool: Run) -> None:
    trace = tmp_path / "trace.jsonl"
    journal = tmp_path / "trace.jsonl.journal"

    def half(connection: Any) -> None:
        connection.request()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        event = b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": "Half an ans"}}]}).encode()
        connection.send(head, b"%x\r\n%b\n\n\r\n" % (len(event) + 2, event))
        connection.all()

    with upstream(half) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("u1", stream=True)))
        connection.until(b"Half an ans")
        eventually(lambda: any(b"Half an ans" in call for call in in_flight(journal)))
        recorder.kill()
    lines = shown(unspool, trace)
    assert lines[1:4] == ["[user] u1", "[text] Half an ans", "[warning] the answer broke off"]


def test_a_trace_that_grows_is_followed(tmp_path: Path) -> None:
    trace = written(tmp_path / "t.jsonl", HEAD)
    command = [sys.executable, "-m", "unspool", "pretty", str(trace), "--follow", "--style", "line"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for number, record in enumerate(a_run()):
            with trace.open("a") as file:
                file.write(json.dumps(record) + "\n")
            expected = b"[tool] run: x1\n" if not number else b"[text] a1\n"
            while process.stdout.readline() != expected:
                assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(PATIENCE) == 130
    assert b"[done] success" in rest


def test_what_is_no_call_in_a_trace_is_counted(tmp_path: Path, unspool: Run) -> None:
    trace = written(tmp_path / "t.jsonl", *a_run())
    trace.write_bytes(trace.read_bytes() + b'{"neither": 1}\n{"request": {"torn\n\xff\xfe\n')
    done = unspool("pretty", trace, "--style", "line")
    assert done.returncode == 0
    assert b"[text] a1" in done.stdout
    assert b"3 records not understood" in done.stderr


ASK = """
import os, sys, urllib.request
for text in sys.argv[1:]:
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, text.encode(), {"Content-Type": "application/json"})).read()
print("its own output")
sys.exit(4)
"""


@pytest.mark.parametrize("form", [[], ["--compact"]])
def test_run_shows_what_was_recorded_by_it_and_nothing_older(tmp_path: Path, unspool: Run, form: list[str]) -> None:
    trace = tmp_path / "trace"
    answer = body(json.dumps({"choices": [{"index": 0, "message": said("a here")}]}).encode())
    with upstream(answering(answer)) as server:
        for text in ("the first", "the second"):
            where = ["-o", trace, "--upstream", f"openai={server.url}", "--pretty", *form, "--"]
            done = unspool("run", *where, sys.executable, "-c", ASK, chat(text).decode())
    assert (done.returncode, done.stdout) == (4, b"its own output\n")
    told = done.stderr.decode()
    assert "║  the second" in told
    assert "the first" not in told
    assert told.index("a here") < told.index("1 call recorded") < told.index(f"unspool pretty {trace}")


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield (*at, key)
        yield from places(each, (*at, key))


@pytest.mark.parametrize("odd", [None, 7, -1.5, 1e308, True, "x", [], [1, {}], {}, {"type": "text", "text": 5}])
def test_whatever_stands_in_a_record_it_is_shown_or_noted(odd: object) -> None:
    for place in places(a_run()[1]):
        first, second = json.loads(json.dumps(a_run()))
        inner: Any = second
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = odd
        lines = list(pretty([json.dumps(first), json.dumps(second)], style="line"))
        assert lines[1] == "[user] u1"


ASKED, MORE = ({"role": "user", "content": text} for text in ("Build a small boat", "Paint it"))
BUILT = {"role": "assistant", "content": "Here it is"}
PLAIN = {"type": "compaction", "content": "The user wants a boat of cedar, with a sail of linen."}
SEALED = {"type": "compaction", "encrypted_content": "c2VhbGVk"}


@pytest.mark.parametrize(
    ("key", "answers", "after"),
    [
        (
            "messages",
            [
                {"type": "message", "content": content}
                for content in ([{"type": "text", "text": "Here it is"}], [PLAIN])
            ],
            [{"role": "assistant", "content": [PLAIN]}, MORE],
        ),
        (
            "input",
            [{"object": "response", "output": output} for output in ([BUILT], [ASKED, SEALED])],
            [ASKED, SEALED, MORE],
        ),
    ],
)
def test_a_summary_that_the_provider_made_is_a_compaction(
    key: str, answers: list[Any], after: list[Any], tmp_path: Path, unspool: Run
) -> None:
    asked = [[ASKED], [ASKED, BUILT], after]
    records = [
        {
            "id": f"{at}",
            "timestamp": 1_700_000_000 + at,
            "request": {"model": "m", key: items},
            "response": answers[at % 2],
        }
        for at, items in enumerate(asked)
    ]
    lines = shown(unspool, written(tmp_path / "t.jsonl", *records))
    assert [line for line in lines[1:] if line.startswith(("[start]", "[notice]"))] == []
    assert lines[-4:-1] == ["[warning] compacted", "[user] Paint it", "[text] Here it is"]
    assert lines.count("[user] Build a small boat") == 1
