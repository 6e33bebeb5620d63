"""`unspool record` changes nothing: what the upstream sees and what the client gets is what was sent."""

import gzip
import json
import socket
import threading
import time
from pathlib import Path

import pytest
import zstandard

from recorders import (
    PATIENCE,
    Connection,
    answering,
    body,
    chat,
    chunked,
    delta,
    eventually,
    post,
    recording,
    records,
    said,
    upstream,
)


def test_headers_pass_in_order_with_their_case_and_duplicates(trace: Path) -> None:
    seen: list[tuple[bytes, bytes]] = []
    answer = body(
        said("hi"), "application/json", "200 Very OK", "X-b: 1", "x-A:2", "Set-Cookie: a=1", "Set-Cookie: b=2"
    )
    with upstream(answering(answer, seen=seen)) as server, recording(trace, server.url) as recorder:
        lines = ["x-Zed:  two  spaces ", "X-API-Key: k", "x-zed: again", "Empty:", "accept-encoding: br, zstd"]
        request = post("/v1/x?a=%2F&b=c", chat("hé"), *lines)
        connection = recorder.connect()
        connection.send(request)
        head, data = connection.answer()
        assert head + data == answer
    host = f"Host: 127.0.0.1:{server.port}".encode()
    assert seen == [(request.replace(b"Host: here", host)[: -len(chat("hé"))], chat("hé"))]


def test_chunk_boundaries_extensions_and_trailers_pass(trace: Path) -> None:
    seen: list[tuple[bytes, bytes]] = []
    wire = b"HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n"
    stream = b'5;a="b"\r\nhello\r\n0A\r\n, world!!!\r\n0\r\nX-Sum: 12\r\n\r\n'

    def handle(connection: Connection) -> None:
        head = connection.until(b"\r\n\r\n")
        seen.append((head, connection.until(b"0\r\nX-T: v\r\n\r\n")))
        for at in range(len(wire + stream)):  # byte by byte: no boundary may depend on how bytes arrive
            connection.send((wire + stream)[at : at + 1])

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        sent = b"3;x=y\r\nabc\r\n02\r\nde\r\n0\r\nX-T: v\r\n\r\n"
        connection.send(
            b"POST /up HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n", sent
        )
        assert connection.all() == wire + stream
        assert seen[0][1] == sent
        recorder.stop()
    (record,) = records(trace)
    assert (record["request"], record["response"]) == ({"raw": "abcde"}, {"raw": "hello, world!!!"})
    assert (record["request_trailers"], record["response_trailers"]) == ({"x-t": "v"}, {"x-sum": "12"})


def test_each_chunk_is_passed_on_before_the_next_exists(trace: Path) -> None:
    """The upstream waits with its second event until the client has the first one."""
    got = threading.Event()
    head, first, second, end = chunked(delta("one"), delta("two"))

    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(head, first)
        assert got.wait(PATIENCE)
        connection.send(second, end)

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x")))
        assert connection.until(b"one").endswith(b"one")
        got.set()
        connection.until(b"0\r\n\r\n")


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n", body(b'{"data":[]}')),
        (b"HEAD /v1/models HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"),
        (b"OPTIONS /x HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 204 No Content\r\nAllow: GET\r\n\r\n"),
        (b"DELETE /v1/files/1 HTTP/1.1\r\nHost: a\r\n\r\n", body(b"{}")),
        (b"GET /x HTTP/1.1\r\nHost: a\r\n\r\n", b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"),
        (b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", body(b'{"error":"no"}', status="429 Slow Down")),
        (b"GET /old HTTP/1.0\r\nHost: a\r\n\r\n", b"HTTP/1.0 200 OK\r\n\r\nuntil the end"),
    ],
)
def test_any_method_passes(trace: Path, request_: bytes, answer: bytes) -> None:
    def handle(connection: Connection) -> None:
        assert connection.until(b"\r\n\r\n") == request_.replace(b"Host: a", f"Host: 127.0.0.1:{server.port}".encode())
        connection.send(answer)

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(request_)
        assert connection.all() == answer
        recorder.stop()
    (record,) = records(trace)
    assert record["method"] == request_.split()[0].decode()
    assert record["status"] == int(answer.split()[1])
    assert not record["interrupted"]


def test_one_connection_serves_many_calls_and_pipelined_ones_in_order(trace: Path) -> None:
    connections: list[int] = []

    def handle(connection: Connection) -> None:
        connections.append(1)
        while True:
            _, data = connection.request()
            connection.send(body(data))

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        for number in range(3):
            connection.send(post("/a", b'{"n":%d}' % number))
            assert connection.answer()[1] == b'{"n":%d}' % number
        several = b"".join(post("/b", b'{"p":%d}' % number) for number in range(50))
        connection.send(several[:333], several[333:])
        assert [connection.answer()[1] for _ in range(50)] == [b'{"p":%d}' % number for number in range(50)]
        recorder.stop()
    assert sum(connections) == 1
    assert [record["request"] for record in records(trace)][3:] == [{"p": number} for number in range(50)]


def test_100_continue_is_the_upstreams_to_say(trace: Path) -> None:
    def handle(connection: Connection) -> None:
        head = connection.until(b"\r\n\r\n")
        assert b"Expect: 100-continue" in head
        connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        connection.send(body(connection.exactly(7)))

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(b"POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 7\r\n\r\n")
        assert connection.until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.send(b'{"a":1}')
        assert connection.answer()[1] == b'{"a":1}'


def test_an_early_answer_reaches_a_client_that_still_sends(trace: Path) -> None:
    def handle(connection: Connection) -> None:
        connection.until(b"\r\n\r\n")
        connection.send(body(b'{"error":"too large"}', status="413 Too Large"))
        connection.all()

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(b"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n", b"x" * 100_000)
        assert connection.answer()[1] == b'{"error":"too large"}'
        recorder.stop()
    assert records(trace)[0]["status"] == 413


def test_an_upgrade_becomes_a_tunnel_and_is_recorded_as_bytes(trace: Path) -> None:
    def handle(connection: Connection) -> None:
        head = connection.until(b"\r\n\r\n")
        assert b"Connection: Upgrade" in head
        assert b"Upgrade: other" in head
        connection.send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n\x81\x02hi")
        assert connection.exactly(3) == b"\x00\xff\n"
        connection.send(b"\xfe")

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n")
        assert connection.until(b"\x02hi").endswith(b"\r\n\r\n\x81\x02hi")
        connection.send(b"\x00\xff\n")
        assert connection.all() == b"\xfe"
        recorder.stop()
    (record,) = records(trace)
    assert (record["status"], record["interrupted"]) == (101, False)
    assert (record["request"], record["response"]) == ({"base64": "AP8K"}, {"base64": "gQJoaf4="})


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
def test_compressed_bodies_pass_packed_and_are_recorded_unpacked(trace: Path, coding: str) -> None:
    pack = gzip.compress if coding == "gzip" else zstandard.ZstdCompressor().compress
    seen: list[tuple[bytes, bytes]] = []
    answer = body(pack(said("hé")), "application/json", "200 OK", f"Content-Encoding: {coding}")
    with upstream(answering(answer, seen=seen)) as server, recording(trace, server.url) as recorder:
        packed = pack(chat("zażółć"))
        head, data = recorder.send(post("/v1/chat/completions", packed, f"Content-Encoding: {coding}"))
        assert head + data == answer
        assert seen[0][1] == packed
        recorder.stop()
    (record,) = records(trace)
    assert record["request"] == json.loads(chat("zażółć"))
    assert record["response"] == json.loads(said("hé"))
    assert record["request_bytes"] == len(packed)


def test_a_gzipped_stream_is_recorded_as_its_lines(trace: Path) -> None:
    packer = gzip.zlib.compressobj(wbits=31)  # type: ignore[attr-defined]
    sync = gzip.zlib.Z_SYNC_FLUSH  # type: ignore[attr-defined]
    pieces = [packer.compress(delta(word)) + packer.flush(sync) for word in ("one", "two")] + [packer.flush()]
    wire = b"".join(chunked(*pieces)).replace(b"\r\nTransfer", b"\r\nContent-Encoding: gzip\r\nTransfer", 1)

    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(wire)

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x"), "Connection: close"))
        assert connection.all() == wire
        recorder.stop()
    lines = [delta(word).decode().strip() for word in ("one", "two")]
    assert records(trace)[0]["response"] == {"stream": True, "sse_lines": lines}


def test_bytes_that_nobody_understands_pass_and_are_kept(trace: Path) -> None:
    binary = bytes(range(256)) * 40
    with upstream(answering(body(binary, "audio/mpeg"))) as server, recording(trace, server.url) as recorder:
        for coding in ((), ("Content-Encoding: gzip",), ("Content-Encoding: secret",)):
            assert recorder.send(post("/v1/audio/speech", binary, *coding))[1] == binary
        recorder.stop()
    found = records(trace)
    assert len(found) == 3
    assert len({json.dumps(record["request"]) for record in found}) == 1
    assert found[0]["request"].keys() == found[0]["response"].keys() == {"base64"}


def test_100_megabytes_pass_both_ways(trace: Path) -> None:
    large = b"0123456789abcdef" * (100 << 16)

    def handle(connection: Connection) -> None:
        _, data = connection.request()
        connection.send(body(data, "application/octet-stream"))

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        sender = threading.Thread(target=connection.send, args=(post("/upload", large),))
        sender.start()
        data = connection.answer()[1]
        sender.join()
        assert data == large
        recorder.stop()
    (record,) = records(trace)
    assert record["request"] == record["response"] == {"raw": large.decode()}


def test_a_slow_client_holds_the_upstream_up(trace: Path) -> None:
    """What is not read must not pile up in the recorder: the upstream cannot get rid of 200 MB."""
    sent: list[int] = []

    def handle(connection: Connection) -> None:
        connection.request()
        connection.socket.settimeout(1.5)
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: 200000000\r\n\r\n")
        try:
            while sum(sent) < 200_000_000:
                sent.append(connection.socket.send(b"x" * 1_000_000))
        except TimeoutError:
            sent.append(0)

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.send(post("/x", b"{}"))
        eventually(lambda: sent and sent[-1] == 0)
        assert sum(sent) < 50_000_000
        connection.close()


def test_lines_end_only_where_a_stream_says_so(trace: Path) -> None:
    """U+2028 and U+0085 end no line; CRLF does, and is told from LF; comments are kept."""
    odd = '{"choices":[{"index":0,"delta":{"content":"a\u2028b\u0085c"}}]}'
    text = f": hello\r\n\r\ndata: {odd}\r\n\r\n".encode()
    with upstream(answering(b"".join(chunked(text)))) as server, recording(trace, server.url) as recorder:
        assert recorder.send(post("/v1/chat/completions", chat("x")))[1].count(text) == 1
        recorder.stop()
    response = records(trace)[0]["response"]
    assert response == {"stream": True, "sse_lines": [": hello", f"data: {odd}"], "line_end": "\r\n"}


@pytest.mark.parametrize(("late", "interrupted"), [(chunked()[-1], False), (chunked(delta("three"))[1], True)])
def test_a_client_that_hangs_up_behind_the_last_event_interrupts_nothing(
    trace: Path, late: bytes, interrupted: bool
) -> None:
    """The SDKs do, and the end of the stream comes a moment later."""
    left = threading.Event()

    def handle(connection: Connection) -> None:
        connection.request()
        connection.send(*chunked(delta("one"), delta("two"))[:-1])
        left.wait(PATIENCE)
        connection.send(late)

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(post("/v1/chat/completions", chat("x", stream=True)))
        connection.until(b"two")
        connection.close()
        time.sleep(0.05)  # so that the recorder has seen it
        left.set()
        eventually(lambda: records(trace))
    (record,) = records(trace)
    assert (record["interrupted"], record["error"]) == (interrupted, None)
    assert len(record["response"]["sse_lines"]) == 2
