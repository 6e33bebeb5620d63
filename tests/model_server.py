"""A model on loopback: a real HTTP server that speaks each provider's API, well or badly, as it is told.

What it is to say is a list of `Words` and `Fault`s, one for each request; then it says `Hello.` for ever.
"""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "tin-1"


@dataclass
class Words:
    """An answer, whoever's API it is asked through."""

    text: str = "Hello."
    thinking: str = ""
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    """Id, name, arguments."""
    stop: str = ""
    """In the provider's words; by itself what the answer is."""
    cut: int | None = None
    """The connection ends behind so many events, or bytes of what is not streamed."""
    error: dict[str, Any] | None = None
    """An event that says so comes behind `cut` events, or at the end."""
    pause: threading.Event | None = None
    """It waits behind the first piece of text until this is set."""
    streamed: bool = True
    meeting: threading.Barrier | None = None
    """It begins when as many have come as this waits for."""


@dataclass
class Fault:
    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: Any


class ModelServer:
    """Use it in a `with`. `asked` has every request that came."""

    def __init__(self, *script: Words | Fault) -> None:
        self.script = list(script)
        self.asked: list[Asked] = []
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                server.note(self, None)
                _send(self, 200, _models(self.path), {})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.note(self, body)
                said = server.next()
                if isinstance(said, Words) and said.meeting is not None:
                    said.meeting.wait(30)
                if isinstance(said, Fault):
                    _send(self, said.status, said.body or {"error": {"message": "no"}}, said.headers)
                elif not said.streamed:
                    _send(self, 200, _whole(self.path, said), {}, said.cut)
                else:
                    _stream(self, list(_events(self.path, said)), said)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def note(self, handler: BaseHTTPRequestHandler, body: Any) -> None:
        with self._lock:
            headers = {name.lower(): value for name, value in handler.headers.items()}
            self.asked.append(Asked(handler.path, headers, body))

    def next(self) -> Words | Fault:
        with self._lock:
            return self.script.pop(0) if self.script else Words()

    @property
    def bodies(self) -> list[Any]:
        return [asked.body for asked in self.asked if asked.body is not None]

    def __enter__(self) -> "ModelServer":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _send(
    handler: BaseHTTPRequestHandler, status: int, body: Any, headers: dict[str, str], cut: int | None = None
) -> None:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("content-type", "text/plain" if isinstance(body, str) else "application/json")
    handler.send_header("content-length", str(len(data)))
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data[:cut])
    if cut is not None:
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)


def _stream(handler: BaseHTTPRequestHandler, events: list[Any], said: Words) -> None:
    handler.send_response(200)
    handler.send_header("content-type", "text/event-stream")
    handler.send_header("transfer-encoding", "chunked")
    handler.end_headers()
    waits = said.pause
    if said.cut is not None:
        events = events[: said.cut] + ([said.error] if said.error else [])
    for event in events:
        name = event.get("type") if isinstance(event, dict) else None
        data = event if isinstance(event, str) else json.dumps(event)
        text = f"event: {name}\ndata: {data}\n\n" if name else f"data: {data}\n\n"
        chunk = text.encode()
        handler.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        handler.wfile.flush()
        if waits is not None and said.text[:3] in data:
            waits.wait(20)
            waits = None
    if said.cut is not None and said.error is None:
        handler.close_connection = True
        handler.connection.shutdown(socket.SHUT_RDWR)
    else:
        handler.wfile.write(b"0\r\n\r\n")


def _pieces(text: str) -> list[str]:
    """The text in three."""
    third = len(text) // 3 + 1
    return [text[at : at + third] for at in range(0, len(text), third)]


def _models(path: str) -> dict[str, Any]:
    if "v1beta" in path:
        able = {"name": f"models/{MODEL}", "supportedGenerationMethods": ["generateContent"]}
        return {"models": [able, {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]}]}
    if "endpoint=chat" in path:
        return {"models": [{"name": MODEL, "endpoints": ["chat"]}]}
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "tin"}]}


def _events(path: str, said: Words) -> Iterator[Any]:
    for end, speak in _SPEAK.items():
        if end in path:
            yield from speak(said)
            return
    raise AssertionError(f"no API at {path}")


def _claude(said: Words) -> Iterator[Any]:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 2, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": []}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    yield {"type": "ping"}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if said.thinking:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in _pieces(said.thinking)]
        signed = {"type": "signature_delta", "signature": "c2lnbmVk"}
        blocks.append(({"type": "thinking", "thinking": "", "signature": ""}, [*deltas, signed]))
    if said.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(said.text)]
        blocks.append(({"type": "text", "text": ""}, deltas))
    for id_, name, given in said.calls:
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(json.dumps(given))]
        blocks.append(({"type": "tool_use", "id": id_, "name": name, "input": {}}, deltas))
    for index, (block, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = said.stop or ("tool_use" if said.calls else "end_turn")
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 7},
    }
    yield {"type": "message_stop"}


def _chat(said: Words) -> Iterator[Any]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
        return {**head, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in _pieces(said.thinking):
        yield chunk({"reasoning_content": piece})
    for piece in _pieces(said.text):
        yield chunk({"content": piece})
    for index, (id_, name, given) in enumerate(said.calls):
        function = {"name": name, "arguments": ""}
        yield chunk({"tool_calls": [{"index": index, "id": id_, "type": "function", "function": function}]})
        for piece in _pieces(json.dumps(given)):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, said.stop or ("tool_calls" if said.calls else "stop"))
    usage = {"prompt_tokens": 16, "completion_tokens": 7, "total_tokens": 23}
    details = {"prompt_tokens_details": {"cached_tokens": 4}}
    yield {**chunk({}), "choices": [], "usage": {**usage, **details}}
    yield "[DONE]"


def _responses(said: Words) -> Iterator[Any]:
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": MODEL, "error": None}
    number = 0

    def event(kind: str, **rest: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        return {"type": f"response.{kind}", "sequence_number": number, **rest}

    yield event("created", response={**head, "status": "in_progress", "output": []})
    items: list[dict[str, Any]] = []
    if said.thinking:
        summary = [{"type": "summary_text", "text": said.thinking}]
        items.append({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "Y2lwaGVy"})
    if said.text:
        part = {"type": "output_text", "text": said.text, "annotations": []}
        items.append({"type": "message", "id": "m_1", "role": "assistant", "status": "completed", "content": [part]})
    for index, (id_, name, given) in enumerate(said.calls):
        call = {"type": "function_call", "id": f"fc_{index}", "call_id": id_, "name": name, "status": "completed"}
        items.append({**call, "arguments": json.dumps(given)})
    for index, item in enumerate(items):
        yield event("output_item.added", output_index=index, item={**item, "content": [], "arguments": ""})
        where = {"output_index": index, "item_id": item["id"]}
        if item["type"] == "message":
            for piece in _pieces(said.text):
                yield event("output_text.delta", delta=piece, content_index=0, logprobs=[], **where)
        elif item["type"] == "function_call":
            yield event("function_call_arguments.delta", delta=item["arguments"], **where)
        else:
            yield event("reasoning_summary_text.delta", delta=said.thinking, summary_index=0, **where)
        yield event("output_item.done", output_index=index, item=item)
    usage = {
        "input_tokens": 16,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 23,
    }
    yield event("completed", response={**head, "status": "completed", "output": items, "usage": usage})


def _gemini(said: Words) -> Iterator[Any]:
    def chunk(parts: list[Any], **rest: Any) -> dict[str, Any]:
        candidate = {"content": {"role": "model", "parts": parts}, "index": 0, **rest}
        return {"candidates": [candidate], "modelVersion": MODEL, "responseId": "g-1"}

    for piece in _pieces(said.thinking):
        yield chunk([{"text": piece, "thought": True}])
    for piece in _pieces(said.text):
        yield chunk([{"text": piece}])
    calls: list[dict[str, Any]] = [
        {"functionCall": {"id": id_, "name": name, "args": given}} for id_, name, given in said.calls
    ]
    if calls:
        calls[0]["thoughtSignature"] = "c2lnbmVk"
        yield chunk(calls)
    usage = {"promptTokenCount": 16, "cachedContentTokenCount": 4, "candidatesTokenCount": 5, "thoughtsTokenCount": 2}
    yield {**chunk([{"text": ""}], finishReason=said.stop or "STOP"), "usageMetadata": {**usage, "totalTokenCount": 23}}


def _cohere(said: Words) -> Iterator[Any]:
    def event(kind: str, message: dict[str, Any], **rest: Any) -> dict[str, Any]:
        return {"type": kind, **rest, "delta": {"message": message}}

    start = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    yield event("message-start", start, id="c-1")
    index = 0
    for kind, text in (("thinking", said.thinking), ("text", "" if said.calls else said.text)):
        if text:
            yield event("content-start", {"content": {"type": kind, kind: ""}}, index=index)
            for piece in _pieces(text):
                yield event("content-delta", {"content": {kind: piece}}, index=index)
            yield {"type": "content-end", "index": index}
            index += 1
    if said.calls and said.text:
        yield event("tool-plan-delta", {"tool_plan": said.text})
    for number, (id_, name, given) in enumerate(said.calls):
        function = {"name": name, "arguments": ""}
        call = {"id": id_, "type": "function", "function": function}
        yield event("tool-call-start", {"tool_calls": call}, index=number)
        for piece in _pieces(json.dumps(given)):
            yield event("tool-call-delta", {"tool_calls": {"function": {"arguments": piece}}}, index=number)
        yield {"type": "tool-call-end", "index": number}
    usage = {
        "billed_units": {"input_tokens": 16, "output_tokens": 7},
        "tokens": {"input_tokens": 90, "output_tokens": 9},
    }
    stop = said.stop or ("TOOL_CALL" if said.calls else "COMPLETE")
    yield {"type": "message-end", "id": "c-1", "delta": {"finish_reason": stop, "usage": {**usage, "cached_tokens": 4}}}


_SPEAK: dict[str, Callable[[Words], Iterator[Any]]] = {
    "/v1/messages": _claude,
    "/chat/completions": _chat,
    "/responses": _responses,
    ":streamGenerateContent": _gemini,
    "/v2/chat": _cohere,
}


def _whole(path: str, said: Words) -> dict[str, Any]:
    """Of a host that does not stream; only Chat Completions."""
    assert "/chat/completions" in path
    message = {"role": "assistant", "content": said.text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 16, "completion_tokens": 7}
    return {"id": "chatcmpl-1", "object": "chat.completion", "model": MODEL, "choices": [choice], "usage": usage}
