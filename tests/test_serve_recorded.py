"""`unspool serve-recorded`: a recording in place of the API."""

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, Write
from recorders import Connection, Running, answering, body, chat, chunked, delta, post, recording, said, upstream


@contextmanager
def serving(*arguments: str | Path) -> Iterator[Running]:
    running = Running("serve-recorded", *arguments, "--port", "0", "--json")
    try:
        yield running
    finally:
        for connection in running.connections:
            connection.close()
        running.kill()


def call(text: str, answer: Any, **more: Any) -> dict[str, Any]:
    facts = {"method": "POST", "path": "/v1/chat/completions", "status": 200, **more}
    return {"id": f"id-{text}", "request": json.loads(chat(text)), "response": answer, "error": None, **facts}


def ask(server: Running, text: str, path: str = "/v1/chat/completions", **more: Any) -> Any:
    return json.loads(server.send(post(path, chat(text, **more)))[1])


def test_what_was_recorded_is_answered_byte_for_byte(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    events = [delta("zażółć"), delta("two"), b"data: [DONE]\n\n"]
    answers = [body(said("hé"), "application/json", "200 OK", "X-Request-Id: r1"), b"".join(chunked(*events))]
    odd = b"data: a\ndata: b\n\n\n: x\n"
    answers += [b"".join(chunked(odd)), body(bytes(range(256)), "audio/mpeg"), body(b'{"error":"no"}', status="429 No")]
    requests = [post("/v1/chat/completions", chat(f"n{number}")) for number in range(len(answers))]

    def handle(connection: Connection) -> None:
        for answer in answers:
            connection.request()
            connection.send(answer)

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        before = []
        for request in requests:
            connection.send(request)
            before.append(connection.answer())
        recorder.stop()
    with serving(trace) as replay:
        after = [replay.send(request) for request in requests]
    for (head, data), (head_after, data_after) in zip(before, after, strict=True):
        assert unchunked(head, data) == unchunked(head_after, data_after)
        assert head.split()[1] == head_after.split()[1]
    assert b"x-request-id: r1" in after[0][0].lower()
    assert b"content-type: audio/mpeg" in after[3][0].lower()


def unchunked(head: bytes, data: bytes) -> bytes:
    if b"chunked" not in head:
        return data
    found = b""
    while True:
        size, data = data.split(b"\r\n", 1)
        if not int(size, 16):
            return found
        found, data = found + data[: int(size, 16)], data[int(size, 16) + 2 :]


def test_the_order_of_keys_and_names_of_sessions_do_not_count(write: Write) -> None:
    trace = write(call("a", {"n": 1}), call("b", {"n": 2}))
    with serving(trace) as server:
        swapped = {"messages": [{"content": "b", "role": "user"}], "model": "m"}
        assert json.loads(server.send(post("/v1/chat/completions", json.dumps(swapped, indent=1).encode()))[1]) == {
            "n": 2
        }
        assert ask(server, "a", metadata={"user_id": "x"}, prompt_cache_key="y") == {"n": 1}
        assert ask(server, "a", path="/gateway/v1/chat/completions") == {"n": 1}


def test_equal_requests_get_their_answers_in_order_and_then_the_last(write: Write) -> None:
    trace = write(call("a", {"n": 1}), call("b", {"n": 9}), call("a", {"n": 2}))
    with serving(trace) as server:
        assert [ask(server, "a")["n"] for _ in range(4)] == [1, 2, 2, 2]


def test_in_order_looks_at_the_path_alone(write: Write) -> None:
    with serving(write(call("a", {"n": 1}), call("b", {"n": 2})), "--in-order") as server:
        assert [ask(server, text)["n"] for text in ("x", "y")] == [1, 2]
        assert ask(server, "z")["error"]["type"] == "not_recorded"


def test_an_unknown_request_is_told_the_nearest_one_and_the_difference(write: Write) -> None:
    trace = write(call("Oslo", {}, path="/other"), call("Which way to Rome?", {}), call("Paris", {}))
    with serving(trace) as server:
        head, data = server.send(post("/v1/chat/completions", chat("Which way to Turin?", model="m")))
        assert head.startswith(b"HTTP/1.1 404 ")
    error = json.loads(data)["error"]
    assert error["nearest"]["path"] == "/v1/chat/completions"
    changed = {"at": "messages[0].content", "sent": "Which way to Turin?"}
    (told,) = error["difference"]
    assert {key: told[key] for key in changed} == changed


def test_the_nearest_is_the_conversation_that_parts_last(write: Write) -> None:
    def turns(*texts: str) -> dict[str, Any]:
        return {"model": "m", "messages": [{"role": "user", "content": text} for text in texts]}

    records = [call("x", {}) | {"id": str(at), "request": turns("one", *["more"] * at)} for at in range(4)]
    with serving(write(*records)) as server:
        sent = json.dumps(turns("one", "more", "less")).encode()
        error = json.loads(server.send(post("/v1/chat/completions", sent))[1])["error"]
    assert error["nearest"]["id"] == "1"
    assert error["difference"] == [{"at": "messages[2]", "recorded": None, "sent": {"role": "user", "content": "less"}}]


def test_recorded_times_are_kept_with_timing(write: Write) -> None:
    lines = [delta(word).decode().strip() for word in ("one", "two")]
    sizes = [len(delta(word)) for word in ("one", "two")]
    answer = {"stream": True, "sse_lines": lines}
    trace = write(call("a", answer, chunks=[[20, sizes[0]], [420, sizes[1]]]))
    with serving(trace, "--timing") as server:
        connection = server.connect()
        start = time.monotonic()
        connection.send(post("/v1/chat/completions", chat("a")))
        connection.until(b"two")
        assert time.monotonic() - start > 0.4


def test_an_answer_that_broke_off_breaks_off_again(write: Write) -> None:
    lines = [delta("one").decode().strip()]
    with serving(write(call("a", {"stream": True, "sse_lines": lines}, interrupted=True))) as server:
        connection = server.connect()
        connection.send(post("/v1/chat/completions", chat("a")))
        data = connection.all()
    assert delta("one") in data
    assert not data.endswith(b"0\r\n\r\n")


def test_traces_of_other_recorders_match_at_any_path(write: Write) -> None:
    bare = {"id": "1", "request": json.loads(chat("a")), "response": {"n": 1}}
    with serving(write("no json", bare)) as server:
        assert ask(server, "a", path="/anything") == {"n": 1}
    refused = {**bare, "response": {"error": "no"}, "error": {"status_code": 429, "body": "…"}}
    with serving(write(refused)) as server:
        assert server.send(post("/x", chat("a")))[0].startswith(b"HTTP/1.1 429 Too Many Requests")


def test_get_and_binary_requests_match_too(write: Write) -> None:
    models: dict[str, Any] = {
        "id": "1",
        "method": "GET",
        "path": "/v1/models?key=REDACTED",
        "request": None,
        "response": {"data": []},
    }
    upload = {"id": "2", "method": "POST", "path": "/up", "response": {"ok": 1}}
    upload["request"] = {"base64": base64.b64encode(b"\xff\x00").decode()}
    with serving(write(models, upload)) as server:
        secret = "ab" + "cd"
        get = f"GET /v1/models?key={secret} HTTP/1.1\r\nHost: a\r\n\r\n".encode()
        assert json.loads(server.send(get)[1]) == {"data": []}
        assert json.loads(server.send(post("/up", b"\xff\x00"))[1]) == {"ok": 1}


def test_compact_traces_are_served(tmp_path: Path) -> None:
    trace = tmp_path / "trace.zst"
    with upstream(answering(body(said("hi")))) as server, recording(trace, server.url, "--compact") as recorder:
        recorder.send(post("/v1/chat/completions", chat("a")))
        recorder.stop()
    with serving(trace) as replay:
        assert ask(replay, "a") == json.loads(said("hi"))


@pytest.mark.parametrize("content", ["", "{}\n", "nothing\n"])
def test_a_file_without_calls_is_refused(tmp_path: Path, unspool: Run, content: str) -> None:
    (tmp_path / "empty.jsonl").write_text(content)
    done = unspool("serve-recorded", tmp_path / "empty.jsonl", "--port", "0")
    assert (done.returncode, b"no recorded call in" in done.stderr) == (2, True)


def form(mark: str, name: str, data: bytes) -> bytes:
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return post("/v1/files", head.encode() + data + f"\r\n--{mark}--\r\n".encode(), f"Content-Type: x; boundary={mark}")


@pytest.mark.parametrize("data", [b"words", bytes(range(256))], ids=["text", "bytes"])
def test_an_upload_is_known_again_whatever_parts_it(tmp_path: Path, data: bytes) -> None:
    trace = tmp_path / "trace.jsonl"
    with upstream(answering(body(b'{"id":"f1"}'))) as server, recording(trace, server.url) as recorder:
        recorder.send(form("a1b2", "a.txt", data))
        recorder.stop()
    with serving(trace) as replay:
        assert replay.send(form("c3d4e5", "a.txt", data))[1] == b'{"id":"f1"}'
        assert b" 404 " in replay.send(form("c3d4e5", "a.txt", data + b"!"))[0]
