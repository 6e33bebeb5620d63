"""A server on loopback that speaks the part of Slack's Web API that we use, as strictly as Slack's own, or more."""

import json
import re
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

TOKEN = "a-token"
CHANNEL, NAME = "C0RUNS", "#runs"
ENTITY = re.compile(r"&(?!(?:amp|lt|gt);)")
LINK = re.compile(r"<(?:https?://|mailto:)[^<>|\s]+\|[^<>|]*>")


class Call(NamedTuple):
    time: float
    method: str
    arguments: dict[str, Any]
    status: int
    error: str | None


class Planned(NamedTuple):
    """An answer that the next call gets, whatever it asks."""

    status: int = 200
    error: str = "internal_error"
    retry_after: str | None = None
    hang: float = 0.0
    until: threading.Event | None = None
    """It hangs until this happens."""
    body: bytes | None = None


def length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _text(text: Any, kind: str, limit: int) -> Iterator[str]:
    if not isinstance(text, dict) or text.get("type") != kind or not isinstance(text.get("text"), str):
        yield "no text object"
        return
    if not 1 <= length(text["text"]) <= limit or not text["text"].strip():
        yield f"{length(text['text'])} characters of at most {limit}"
    if ENTITY.search(text["text"]) or re.search("[<>]", LINK.sub("", text["text"])):
        yield f"not escaped: {text['text']!r}"
    if text["text"].count("```") % 2:
        yield f"a block of code without its end: {text['text']!r}"


def faults(blocks: Any) -> Iterator[str]:
    """What Slack would say against them, and what it would do that nobody wants."""
    if not isinstance(blocks, list) or not 1 <= len(blocks) <= 50:
        yield "not 1 to 50 blocks"
        return
    for block in blocks:
        match block:
            case {"type": "header", "text": text, **rest} if not rest:
                yield from _text(text, "plain_text", 150)
            case {"type": "section", "text": text, **rest} if not rest:
                yield from _text(text, "mrkdwn", 3000)
            case {"type": "section", "fields": [_, *_] as fields, **rest} if len(fields) <= 10 and not rest:
                for field in fields:
                    yield from _text(field, "mrkdwn", 2000)
            case {"type": "context", "elements": [_, *_] as elements, **rest} if len(elements) <= 10 and not rest:
                for element in elements:
                    yield from _text(element, "mrkdwn", 3000)
            case _:
                yield f"unknown block {block}"


class SlackServer:
    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.planned: deque[Planned] = deque()
        self.messages: dict[str, dict[str, Any]] = {}
        """By timestamp, as they stand."""
        self.reactions: dict[str, list[str]] = {}
        self.changed = threading.Condition()
        self._over = threading.Event()
        """Nothing hangs longer than the server runs."""
        self._number = 0
        slack = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                slack._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}/api/"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))

    @contextmanager
    def running(self) -> Iterator["SlackServer"]:
        self._thread.start()
        try:
            yield self
        finally:
            self._over.set()
            self._http.shutdown()
            self._thread.join()
            self._http.server_close()

    def post(self, text: str = "a message of somebody") -> str:
        """A message that is there before."""
        return str(self._post({"channel": CHANNEL, "text": text})["ts"])

    @property
    def good(self) -> list[Call]:
        return [call for call in self.calls if call.status == 200 and call.error is None]

    @property
    def methods(self) -> list[str]:
        return [call.method for call in self.good]

    def wait(self, number: int) -> None:
        """Until so many calls came."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.calls) >= number, 20), self.calls

    def _answer(self, http: BaseHTTPRequestHandler) -> None:
        arrived = time.monotonic()
        method = http.path.rsplit("/", 1)[-1]
        body = http.rfile.read(int(http.headers["Content-Length"]))
        arguments = json.loads(body)
        with self.changed:
            planned = self.planned.popleft() if self.planned else None
            answer: dict[str, Any] = (
                {"ok": False, "error": planned.error} if planned else self._do(method, arguments, http)
            )
            self.calls.append(Call(arrived, method, arguments, planned.status if planned else 200, answer.get("error")))
            self.changed.notify_all()
        if planned and planned.until:
            planned.until.wait(20)
        elif planned:
            self._over.wait(planned.hang)
        data = planned.body if planned and planned.body is not None else json.dumps(answer).encode()
        try:
            http.send_response(planned.status if planned else 200)
            if planned and planned.retry_after:
                http.send_header("Retry-After", planned.retry_after)
            http.send_header("Content-Length", str(len(data)))
            http.end_headers()
            http.wfile.write(data)
        except OSError:
            http.close_connection = True  # whoever called has given up

    def _do(self, method: str, arguments: dict[str, Any], http: BaseHTTPRequestHandler) -> dict[str, Any]:
        if http.headers["Authorization"] != f"Bearer {TOKEN}":
            return {"ok": False, "error": "invalid_auth"}
        names = (CHANNEL, NAME) if method == "chat.postMessage" else (CHANNEL,)
        if arguments.get("channel") not in names:
            return {"ok": False, "error": "channel_not_found"}
        match method:
            case "chat.postMessage":
                return self._post(arguments)
            case "chat.update":
                return self._update(arguments)
            case "reactions.add" | "reactions.remove":
                return self._react(method, arguments)
        return {"ok": False, "error": "unknown_method"}

    def _refusal(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        found = list(faults(arguments["blocks"])) if "blocks" in arguments else []
        if found:
            return {"ok": False, "error": "invalid_blocks", "errors": found}
        texts = re.findall(r'"text": "((?:[^"\\]|\\.)*)"', json.dumps(arguments.get("blocks", []), ensure_ascii=False))
        if sum(map(length, texts)) > 12_000:
            return {"ok": False, "error": "msg_blocks_too_long"}
        if not 1 <= length(arguments.get("text", "")) <= 4_000:
            return {"ok": False, "error": "no_text"}
        return None

    def _post(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if refusal := self._refusal(arguments):
            return refusal
        if "thread_ts" in arguments and arguments["thread_ts"] not in self.messages:
            return {"ok": False, "error": "thread_not_found"}
        self._number += 1
        ts = f"17{self._number:08}.000100"
        self.messages[ts] = arguments
        return {"ok": True, "channel": CHANNEL, "ts": ts, "message": arguments}

    def _update(self, arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments.get("ts") not in self.messages:
            return {"ok": False, "error": "message_not_found"}
        if refusal := self._refusal(arguments):
            return refusal
        self.messages[arguments["ts"]] |= arguments
        return {"ok": True, "channel": CHANNEL, "ts": arguments["ts"], "text": arguments["text"]}

    def _react(self, method: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if arguments.get("timestamp") not in self.messages:
            return {"ok": False, "error": "message_not_found"}
        shown = self.reactions.setdefault(arguments["timestamp"], [])
        name = arguments["name"]
        if method == "reactions.add":
            if name in shown:
                return {"ok": False, "error": "already_reacted"}
            shown.append(name)
        elif name not in shown:
            return {"ok": False, "error": "no_reaction"}
        else:
            shown.remove(name)
        return {"ok": True}
