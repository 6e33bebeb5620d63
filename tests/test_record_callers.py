"""Web pages may not call a recorder, nor what answers from its traces, unless somebody allowed them to."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from recorders import Connection, Running, answering, body, chat, post, recording, records, said, upstream
from unspool.recorder.callers import Callers, with_headers

PATH = "/v1/chat/completions"
APP = "http://localhost:3000"
CALL = {
    "id": "1",
    "method": "POST",
    "path": PATH,
    "status": 200,
    "request": json.loads(chat("hi")),
    "response": json.loads(said("yes")),
    "response_headers": {"access-control-allow-origin": "https://app.example"},
}


@contextmanager
def serving(kind: str, trace: Path, *options: str) -> Iterator[tuple[Running, list[Any]]]:
    """A recorder, or a server that answers as one recorded, and the calls that reached the upstream."""
    seen: list[Any] = []
    if kind == "record":
        answer = body(said("yes"), "application/json", "200 OK", "Access-Control-Allow-Origin: *")
        with upstream(answering(answer, seen=seen)) as server, recording(trace, server.url, *options) as running:
            yield running, seen
        return
    trace.write_text(json.dumps(CALL) + "\n", "utf-8")
    running = Running("serve-recorded", trace, "--port", "0", "--json", *options)
    try:
        yield running, seen
    finally:
        for connection in running.connections:
            connection.close()
        running.kill()


def ask(running: Running, host: str = "here", *headers: str, method: str = "POST") -> tuple[int, dict[str, str], bytes]:
    request = post(PATH, chat("hi") if method == "POST" else b"", *headers)
    request = request.replace(b"POST ", method.encode() + b" ", 1)
    if host != "here":
        request = request.replace(b"Host: here\r\n", f"Host: {host}\r\n".encode() if host else b"", 1)
    head, data = running.send(request)
    start, *lines = head.decode().rstrip().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    return int(start.split()[1]), {name.lower(): value for name, value in fields.items()}, data


KINDS = pytest.mark.parametrize("kind", ["record", "serve-recorded"])


@KINDS
def test_requests_of_programs_are_answered(kind: str, trace: Path) -> None:
    with serving(kind, trace) as (running, _):
        for host in (f"127.0.0.1:{running.port}", f"localhost:{running.port}", f"LOCALHOST:{running.port}"):
            status, fields, data = ask(running, host)
            assert (status, json.loads(data)) == (200, json.loads(said("yes")))
            assert fields.get("access-control-allow-origin") == ("*" if kind == "record" else "https://app.example")
        own = f"http://127.0.0.1:{running.port}"
        assert ask(running, "here", f"Origin: {own}", "Sec-Fetch-Site: same-origin")[0] == 200
        assert ask(running, "here", "Sec-Fetch-Mode: cors")[0] == 200, "Node's fetch sends it"
        assert ask(running, "here", "Sec-Fetch-Site: none")[0] == 200, "an address that somebody typed"


REFUSED: list[tuple[str, list[str], int]] = [
    ("evil.example", [], 421),
    ("evil.example:{port}", [], 421),
    ("127.0.0.1.evil.example:{port}", [], 421),
    ("127.0.0.1:1", [], 421),
    ("127.0.0.1", [], 421),
    ("[::2]:{port}", [], 421),
    ("", [], 421),
    ("here", ["Origin: https://evil.example", "Sec-Fetch-Site: cross-site"], 403),
    ("here", ["Origin: https://evil.example"], 403),
    ("here", ["Origin: null"], 403),
    ("here", ["Origin: http://127.0.0.1:1"], 403),
    ("here", ["Origin: http://127.0.0.1:{port}", "Origin: https://evil.example"], 403),
    ("here", ["Sec-Fetch-Site: cross-site"], 403),
    ("here", ["Sec-Fetch-Site: same-site"], 403),
]


@KINDS
def test_requests_of_web_pages_are_refused_and_leave_no_record(kind: str, trace: Path) -> None:
    with serving(kind, trace) as (running, seen):
        for host, headers, expected in REFUSED:
            filled = [each.format(port=running.port) for each in (host, *headers)]
            status, fields, data = ask(running, *filled)
            assert status == expected, (host, headers)
            assert json.loads(data)["error"]["message"]
            assert "access-control-allow-origin" not in fields
        upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Origin: https://evil.example")
        assert ask(running, "here", *upgrade, method="GET")[0] == 403
        preflight = ("Origin: https://evil.example", "Access-Control-Request-Method: POST")
        assert ask(running, "here", *preflight, method="OPTIONS")[0] == 403
        assert seen == []
        errors, events = running.stop()
    assert "Host 'evil.example' is not an address of this server" in errors
    assert "--allow-origin https://evil.example" in errors
    if kind == "record":
        assert (events[-1]["recorded"], events[-1]["foreign"]) == (0, len(REFUSED) + 2)
        assert not trace.exists()
    else:
        statuses = [event["status"] for event in events if event["event"] == "request"]
        assert statuses == [*(status for _, _, status in REFUSED), 403, 403]


@KINDS
def test_a_web_app_that_was_allowed_is_answered_and_may_read_it(kind: str, trace: Path) -> None:
    page = (f"Origin: {APP}", "Sec-Fetch-Site: same-site")
    with serving(kind, trace, "--allow-origin", f"{APP}/", "--allow-origin", "app://other") as (running, seen):
        asked = ("Access-Control-Request-Method: POST", "Access-Control-Request-Headers: x-api-key, content-type")
        status, fields, data = ask(running, "here", *page, *asked, method="OPTIONS")
        assert (status, data) == (204, b"")
        assert fields["access-control-allow-origin"] == APP
        assert fields["access-control-allow-methods"] == "POST"
        assert fields["access-control-allow-headers"] == "x-api-key, content-type"
        assert seen == [], "the upstream is not asked"
        status, fields, data = ask(running, "here", *page)
        assert (status, json.loads(data)) == (200, json.loads(said("yes")))
        assert (fields["access-control-allow-origin"], fields["vary"]) == (APP, "Origin")
        assert ask(running, "here", "Origin: app://other", "Sec-Fetch-Site: cross-site")[0] == 200
        assert ask(running, "here", "Origin: http://localhost:3001")[0] == 403
        assert ask(running, "evil.example", *page)[0] == 421
        head, _ = running.send(post("/unknown", b"{}", *page, "X-Unspool-Upstream: nobody"))
        assert b" 404 " in head.split(b"\r\n")[0]
        assert f"access-control-allow-origin: {APP}".encode() in head, "errors can be read, too"
        running.stop()
    if kind == "record":
        assert [record["status"] for record in records(trace)] == [200, 200, 404]


def test_the_next_call_on_the_same_connection_is_judged_by_itself(trace: Path) -> None:
    with serving("record", trace, "--allow-origin", APP) as (running, _):
        connection = running.connect()
        for headers, shared in (((f"Origin: {APP}",), True), ((), False)):
            connection.send(post(PATH, chat("hi"), *headers))
            assert (APP.encode() in connection.answer()[0]) is shared
        connection.send(post(PATH, chat("hi"), "Origin: https://evil.example"))
        assert b" 403 " in connection.answer()[0]


def test_with_a_token_any_host_will_do_but_no_page(trace: Path) -> None:
    """Containers and other machines call it by names that it cannot know."""
    with serving("record", trace, "--token", "open-sesame") as (running, _):
        token = "X-Unspool-Token: open-sesame"
        assert ask(running, "host.docker.internal:9000", token)[0] == 200
        assert ask(running, "host.docker.internal:9000")[0] == 401
        assert ask(running, "here", token, "Origin: https://evil.example")[0] == 403


def test_a_websocket_of_a_program_is_tunnelled(trace: Path) -> None:
    head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"

    def handle(connection: Connection) -> None:
        connection.until(b"\r\n\r\n")
        connection.send(head, b"\x81\x02hi")

    with upstream(handle) as server, recording(trace, server.url) as running:
        connection = running.connect()
        connection.send(b"GET /ws HTTP/1.1\r\nHost: here\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        assert connection.until(b"\r\n\r\n") == head
        assert connection.exactly(4) == b"\x81\x02hi"


@pytest.mark.parametrize("origin", ["*", "localhost:3000", "http://", "http://a.example/path", "null"])
@pytest.mark.parametrize("command", ["record", "serve-recorded"])
def test_what_is_no_origin(command: str, origin: str, trace: Path, unspool: Run) -> None:
    trace.write_text(json.dumps(CALL) + "\n", "utf-8")
    done = unspool(command, *([trace] if command == "serve-recorded" else []), "--allow-origin", origin, "--port", "0")
    assert (done.returncode, b"is not an origin" in done.stderr) == (2, True)


def test_names_of_a_server() -> None:
    callers = Callers("fd00::1")
    assert all(callers.knows_host(f"{name}:80", 80) for name in ("127.0.0.1", "localhost", "[::1]", "[fd00::1]"))
    assert callers.knows_host("localhost", 80)
    assert callers.knows_host("[::1]", 80)
    assert not callers.knows_host("[::1]", 8080)
    assert not callers.knows_host("", 80)
    assert not callers.knows_host("fd00::1:80", 80)


def test_headers_of_an_answer() -> None:
    head = b"HTTP/1.1 200 OK\r\nX: 1\r\nAccess-Control-Allow-Origin: *\r\n\r\n"
    assert with_headers(head, {}) == head
    assert with_headers(head, {"vary": "Origin"}) == b"HTTP/1.1 200 OK\r\nX: 1\r\nvary: Origin\r\n\r\n"
