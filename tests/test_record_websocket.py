"""WebSockets through the recorder: a real client and a real server, and what stands in the trace."""

import base64
import json
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from recorders import Connection, recording, records, upstream
from unspool.sources.websocket import NoWebSocket, messages

connect = pytest.importorskip("websockets.sync.client").connect
serve = pytest.importorskip("websockets.sync.server").serve
EVENT = {"type": "response.output_text.delta", "delta": "zażółć 你好 "}
SECRET = "sk-" + "ant-" + "api03-" + "Ab1" * 31


@contextmanager
def talking(compression: str | None = "deflate") -> Iterator[str]:
    """A server that answers each message with three."""

    def handle(connection: Any) -> None:
        for message in connection:
            for number in range(3):
                connection.send(json.dumps({**EVENT, "n": number}) if isinstance(message, str) else message * 2)

    server = serve(handle, "127.0.0.1", 0, compression=compression)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
    finally:
        server.shutdown()
        thread.join()


def recorded(trace: Path, compression: str | None, *options: str) -> dict[str, Any]:
    with talking(compression) as url, recording(trace, url, *options) as recorder:
        with connect(f"ws://127.0.0.1:{recorder.port}/v1/realtime?model=m", compression=compression) as client:
            client.send(json.dumps({"type": "response.create", "key": SECRET}))
            assert [json.loads(client.recv())["n"] for _ in range(3)] == [0, 1, 2]
            client.send([b"in ", b"two frames", b"x" * 70_000])
            assert len(client.recv()) == 2 * (3 + 10 + 70_000)
            client.send(json.dumps({"type": "response.create", "key": SECRET}))
            for _ in range(5):
                client.recv()
        recorder.stop()
    (record,) = records(trace)
    return record


@pytest.mark.parametrize("compression", ["deflate", None])
def test_each_message_is_readable(tmp_path: Path, compression: str | None, unspool: Run) -> None:
    trace = tmp_path / "trace.jsonl"
    record = recorded(trace, compression)
    assert (record["status"], record["interrupted"], record["path"]) == (101, False, "/v1/realtime?model=m")
    asked, answered = record["request"], record["response"]
    assert asked["websocket"] is answered["websocket"] is True
    assert json.loads(asked["messages"][0]["text"]) == {"type": "response.create", "key": SECRET}
    assert base64.b64decode(asked["messages"][1]["bytes"]) == b"in two frames" + b"x" * 70_000
    assert asked["messages"][-1]["close"] == answered["messages"][-1]["close"] == 1000
    assert [json.loads(told["text"]) for told in answered["messages"][:3]] == [{**EVENT, "n": n} for n in range(3)]
    times = [told["ms"] for told in answered["messages"]]
    assert times == sorted(times)
    assert "rest" not in {*asked, *answered}
    done = unspool("cook", trace)
    assert (done.returncode, json.loads(done.stdout)["requests"]) == (0, [])


def test_with_redaction_what_cannot_be_searched_is_left_out(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    record = recorded(trace, None, "--redact-body")
    told = {"raw": "[left out, because it cannot be searched for secrets: no HTTP any more]"}
    assert record["request"] == record["response"] == told


def test_what_breaks_off_keeps_its_messages_and_its_rest(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\r\n"

    def handle(connection: Connection) -> None:
        connection.until(b"\r\n\r\n")
        connection.send(head, b"\x81\x02hi", b"\x81\x7e\x01")

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        connection.send(b"\xff\xffno frame that anybody knows")
        connection.all()
        recorder.stop()
    (record,) = records(trace)
    told = record["response"]
    assert ([each["text"] for each in told["messages"]], told["rest"]) == (["hi"], "gX4B")
    assert base64.b64decode(record["request"]["base64"]) == b"\xff\xffno frame that anybody knows"


@given(st.lists(st.binary(max_size=20)), st.booleans())
def test_any_bytes_are_messages_or_none(pieces: list[bytes], packed: bool) -> None:
    try:
        _, rest = messages([(0, memoryview(piece)) for piece in pieces], packed)
    except NoWebSocket:
        return
    assert len(rest) <= len(b"".join(pieces))


def test_a_few_bytes_that_stand_for_very_many_are_kept_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_MAX_RECORD", "1MB")
    packer = zlib.compressobj(wbits=-15)
    packed = packer.compress(bytes(1 << 21)) + packer.flush(zlib.Z_SYNC_FLUSH)[:-4]
    frame = b"\xc1\x7e" + len(packed).to_bytes(2) + packed
    with pytest.raises(NoWebSocket, match="more than"):
        messages([(0, memoryview(frame))], packed=True)


@given(st.lists(st.text()), st.data())
def test_any_split_tells_the_same(texts: list[str], data: st.DataObject) -> None:
    encoded = [text.encode() for text in texts]
    stream = b"".join(
        b"\x81" + (bytes([len(each)]) if len(each) < 126 else b"\x7e" + len(each).to_bytes(2)) + each
        for each in encoded
    )
    at = data.draw(st.integers(0, len(stream)))
    said, rest = messages([(0, memoryview(stream[:at])), (1, memoryview(stream[at:]))], packed=False)
    assert ([each["text"] for each in said], rest) == (texts, b"")
