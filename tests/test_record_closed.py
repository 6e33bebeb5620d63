"""`unspool record` is closed: no keys on the disk, no smuggled requests, no open proxy."""

import json
import shutil
import socket
import ssl
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import Run
from recorders import (
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

KEY = "sk-ant-" + "Q7f9Zk2LmX4vB8nR3tY6" * 3
"""Nobody's."""


def everything(folder: Path) -> bytes:
    found = b""
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):  # the journal's files get their names when they are begun
            found += path.read_bytes()
    return found


def test_keys_are_never_on_the_disk_nor_in_what_is_said(trace: Path) -> None:
    """Also not in the journal, while the call is in flight."""
    seen: list[tuple[bytes, bytes]] = []
    headers = [f"Authorization: Bearer {KEY}", f"x-api-key: {KEY}", f"Cookie: s={KEY}", f"X-Own-Secret: {KEY}"]
    headers += [f"Proxy-Authorization: Basic {KEY}", f"x-goog-api-key: {KEY}"]
    looks: list[bytes] = []

    def handle(connection: Connection) -> None:
        seen.append(connection.request())
        eventually(lambda: list(trace.parent.rglob("*.call")))
        looks.append(everything(trace.parent))
        connection.send(body(said("hi"), "application/json", "200 OK", f"Set-Cookie: s={KEY}"))

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        path = f"/v1/chat/completions?key={KEY}&api_key={KEY}&access_token={KEY}&alt=sse"
        recorder.send(post(path, chat("x"), *headers))
        errors, events = recorder.stop()
    assert KEY.encode() not in looks[0] + everything(trace.parent) + errors.encode() + json.dumps(events).encode()
    assert seen[0][0].count(KEY.encode()) == 8  # the upstream got all but what was meant for a proxy
    assert records(trace)[0]["path"].endswith("alt=sse")


def test_keys_in_trailers_and_under_odd_names_are_not_written_either(trace: Path) -> None:
    seen: list[bytes] = []
    tail = f"0\r\nX-Api-Key: {KEY}\r\nX-Sum: 12\r\n\r\n".encode()

    def handle(connection: Connection) -> None:
        seen.append(connection.until(tail))
        answer = f"0\r\nSet-Cookie: s={KEY}\r\nX-Sum: 13\r\n\r\n".encode()
        connection.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n", answer)

    with upstream(handle) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        path = f"/v1/x?authorization={KEY}&jwt={KEY}&%6Bey={KEY}&max_tokens=5&q=a"
        head = f"POST {path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        connection.send(head.encode(), tail)
        assert KEY.encode() in connection.all()
        recorder.stop()
    assert seen[0].count(KEY.encode()) == 4
    assert KEY.encode() not in everything(trace.parent)
    (record,) = records(trace)
    assert record["path"].endswith("%6Bey=REDACTED&max_tokens=5&q=a")
    assert record["request_trailers"] == {"x-api-key": "REDACTED", "x-sum": "12"}
    assert record["response_trailers"] == {"set-cookie": "REDACTED", "x-sum": "13"}


def test_redact_body_takes_secrets_out_of_bodies_and_journal(trace: Path) -> None:
    events = chunked(delta("first"), delta(f"your key {KEY}"))
    looks: list[bytes] = []

    def handle(connection: Connection) -> None:
        _, data = connection.request()
        assert KEY.encode() in data
        connection.send(*events[:-1])
        eventually(lambda: b"first" in everything(trace.parent))
        looks.append(everything(trace.parent))
        connection.send(events[-1])

    with (
        upstream(handle) as server,
        recording(trace, server.url, "--redact-body", UNSPOOL_KEY="k") as recorder,
    ):
        _, data = recorder.send(post("/v1/chat/completions", chat(f"use {KEY}", stream=True)))
        assert KEY.encode() in data  # the client gets what was sent
        recorder.stop()
    assert KEY.encode() not in looks[0] + trace.read_bytes()
    (record,) = records(trace)
    assert record["request"]["messages"][0]["content"].startswith("use [REDACTED:anthropic-key:")
    assert "[REDACTED:anthropic-key:" in record["response"]["sse_lines"][1]


HEAD = b"POST /x HTTP/1.1\r\nHost: a\r\n"


@pytest.mark.parametrize(
    "request_",
    [
        HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        HEAD + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        HEAD + b"Content-Length: 3, 4\r\n\r\nabcd",
        HEAD + b"Content-Length: +3\r\n\r\nabc",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length : 3\r\n\r\nabc",
        HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1g\r\na\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\na\r\n0\r\n\r\n",
        HEAD + b"X: a\r\n folded: b\r\n\r\n",
        HEAD + b"X: a\nInjected: b\r\n\r\n",
        HEAD + b"X: a\rInjected: b\r\n\r\n",
        HEAD + b"X: a\0b\r\n\r\n",
        HEAD + b"Host: other\r\n\r\n",
        b"POST /x HTTP/1.1\nHost: a\r\n\r\n",
        b"GET /x y HTTP/1.1\r\nHost: a\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET http://elsewhere.example/ HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n",
        b"CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n",
        b"GET /x HTTP/1.1\r\nX: " + b"a" * 70_000 + b"\r\n\r\n",
        b"GET /" + b"a" * 70_000,
        b"GET /x HTTP/1.1\nHost: a\n\n",
    ],
)
def test_what_could_be_understood_in_two_ways_is_refused(trace: Path, request_: bytes) -> None:
    """Whatever is refused, nothing behind it is taken for a request of its own."""
    seen: list[tuple[bytes, bytes]] = []
    with upstream(answering(body(b"{}"), seen=seen)) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(request_, b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
        status = int(connection.all().split()[1])
        assert 400 <= status < 600
        recorder.stop()
    assert not any(b"smuggled" in head + data for head, data in seen)


@pytest.mark.parametrize("greeting", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"GET / HTTP/1.1\n", b"\0"])
def test_whoever_speaks_no_http_is_told_at_once(trace: Path, greeting: bytes) -> None:
    with upstream(answering(body(b"{}"))) as server, recording(trace, server.url) as recorder:
        connection = recorder.connect()
        connection.send(greeting)
        assert b"begins with http://, not https://" in connection.all()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"what is this\r\n\r\n",
    ],
)
def test_an_answer_that_could_be_understood_in_two_ways_is_a_502(trace: Path, answer: bytes) -> None:
    with upstream(answering(answer)) as server, recording(trace, server.url) as recorder:
        assert recorder.send(post("/x", b"{}"))[0].startswith(b"HTTP/1.1 502 ")
        recorder.stop()
    assert records(trace)[0]["error"]


def test_another_address_needs_a_token(trace: Path, unspool: Run) -> None:
    done = unspool("record", "--host", "0.0.0.0", "--port", "0", "-o", trace)
    assert (done.returncode, b"set a token" in done.stderr) == (2, True)


def test_the_token_opens_and_goes_no_further(trace: Path) -> None:
    seen: list[tuple[bytes, bytes]] = []
    token = "open" + "-sesame"
    with (
        upstream(answering(body(b"{}"), seen=seen)) as server,
        recording(trace, server.url, "--host", "0.0.0.0", UNSPOOL_RECORD_TOKEN=token) as recorder,
    ):
        assert b" 401 " in recorder.send(post("/v1/x", b"{}"))[0]
        assert b" 401 " in recorder.send(post("/~wrong/v1/x", b"{}"))[0]
        assert b" 200 " in recorder.send(post(f"/~{token}/v1/x", b"{}"))[0]
        assert b" 200 " in recorder.send(post("/v1/y", b"{}", f"X-Unspool-Token: {token}"))[0]
        assert b" 404 " in recorder.send(post(f"/~{token}/v1/z", b"{}", "X-Unspool-Upstream: nobody"))[0]
        errors, _ = recorder.stop()
    assert [head.split()[1] for head, _ in seen] == [b"/v1/x", b"/v1/y"]
    assert [record["path"] for record in records(trace)] == ["/v1/x", "/v1/y", "/v1/z"]
    assert token.encode() not in b"".join(head for head, _ in seen) + trace.read_bytes() + errors.encode()


def test_one_port_serves_every_provider(trace: Path) -> None:
    """Path and headers tell which; a name at the beginning of the path, or in a header, tells it outright."""
    seen: list[tuple[bytes, bytes]] = []
    with upstream(answering(body(b"{}"), seen=seen)) as server:
        names = ("anthropic", "openai", "gemini", "chatgpt", "mine")
        options = [word for name in names for word in ("--upstream", f"{name}={server.url}/{name}-here")]
        with recording(trace, None, *options) as recorder:
            for path, *headers in (
                ("/v1/messages", "anthropic-version: 2023-06-01"),
                ("/v1/models", "x-api-key: k"),
                ("/v1/chat/completions",),
                ("/v1/responses",),
                ("/v1/skills",),
                ("/v1/skills", "anthropic-version: 2023-06-01"),
                ("/v1beta/models/g:generateContent?alt=sse",),
                ("/v1/models/g:countTokens", "x-goog-api-key: k"),
                ("/v1/responses", "chatgpt-account-id: a"),
                ("/mine/some/path",),
                ("/some/path", "X-Unspool-Upstream: mine"),
            ):
                assert b" 200 " in recorder.send(post(path, b"{}", *headers))[0], path
            head, data = recorder.send(post("/unheard-of", b"{}"))
            assert head.startswith(b"HTTP/1.1 404 ")
            assert "--target" in json.loads(data)["error"]["message"]
            recorder.stop()
    assert [head.split()[1].decode() for head, _ in seen] == [
        "/anthropic-here/v1/messages",
        "/anthropic-here/v1/models",
        "/openai-here/v1/chat/completions",
        "/openai-here/v1/responses",
        "/openai-here/v1/skills",
        "/anthropic-here/v1/skills",
        "/gemini-here/v1beta/models/g:generateContent?alt=sse",
        "/gemini-here/v1/models/g:countTokens",
        "/chatgpt-here/responses",
        "/mine-here/some/path",
        "/mine-here/some/path",
    ]
    assert not any(b"nspool" in head for head, _ in seen)
    assert len(records(trace)) == 12


def test_a_base_path_is_not_doubled(trace: Path) -> None:
    seen: list[tuple[bytes, bytes]] = []
    with upstream(answering(body(b"{}"), seen=seen)) as server, recording(trace, f"{server.url}/api/v1") as recorder:
        recorder.send(post("/api/v1/chat/completions", b"{}"))
        recorder.send(post("/chat/completions", b"{}"))
    assert {head.split()[1] for head, _ in seen} == {b"/api/v1/chat/completions"}


@pytest.mark.skipif(shutil.which("openssl") is None, reason="certificates are made with openssl")
def test_tls_to_the_upstream_is_verified(trace: Path, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    make += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(make, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.set_alpn_protocols(["h2", "http/1.1"])
    spoken: list[str | None] = []

    def handle(connection: Connection) -> None:
        with context.wrap_socket(connection.socket, server_side=True) as secured:
            spoken.append(secured.selected_alpn_protocol())
            inner = Connection(secured)
            inner.request()
            inner.send(body(said("hi")))
            inner.until(b"\r\n\r\n")

    def refusing(connection: Connection) -> None:
        try:
            handle(connection)
        except ssl.SSLError:
            return

    with upstream(refusing) as server:
        url = f"https://localhost:{server.port}"
        with recording(trace, url, SSL_CERT_FILE=str(certificate)) as recorder:
            assert recorder.send(post("/v1/chat/completions", chat("x")))[1] == said("hi")
        with recording(trace, url) as recorder:
            head, data = recorder.send(post("/v1/chat/completions", chat("x")))
            assert head.startswith(b"HTTP/1.1 502 ")
            assert b"certificate verify failed" in data
    assert spoken[0] == "http/1.1"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--target", "ftp://x"), b"no URL that can be called"),
        (("--target", "http://u:p@x"), b"has no user"),
        (("--upstream", "x"), b"NAME=URL"),
        (("--upstream", "a/b=http://x"), b"is no name for an upstream"),
        (("--by-session",), b"needs a folder"),
        (("--by-session", "--compact", "-o", "x"), b"exclude each other"),
        (("-o", "/proc/none/trace.jsonl"), b"/proc/none/trace.jsonl"),
    ],
)
def test_mistakes_are_told_before_anything_listens(
    unspool: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], reason: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    done = unspool("record", "--port", "0", *options)
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr


def test_a_port_that_is_taken_is_told(trace: Path, unspool: Run) -> None:
    with upstream(answering(b"")) as server:
        done = unspool("record", "--port", str(server.port), "-o", trace)
    assert (done.returncode, b"cannot listen on" in done.stderr) == (2, True)


def test_a_port_that_is_taken_leaves_nothing_behind(tmp_path: Path, unspool: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = unspool("record", "--port", str(port), "-o", tmp_path / "trace.jsonl")
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr.decode() == f"unspool: cannot listen on 127.0.0.1:{port}: Address already in use\n"
