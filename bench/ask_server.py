"""A model on loopback, for benchmarks: `python bench/ask_server.py EVENTS`. It prints its port, then serves for ever.

It streams an answer of so many pieces of text in Anthropic's form; with 0 it refuses what it is asked (400), so that
whoever asks ends as soon as the request is sent.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


def stream(pieces: int) -> bytes:
    message = {"id": "m", "type": "message", "role": "assistant", "model": "tin", "content": [], "usage": {}}
    block = {"type": "text", "text": ""}
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
    ]
    delta = {"type": "text_delta", "text": "twelve words "}
    events += [{"type": "content_block_delta", "index": 0, "delta": delta}] * pieces
    end = {"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": pieces}}
    events += [{"type": "content_block_stop", "index": 0}, {"type": "message_delta", **end}, {"type": "message_stop"}]
    return b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)


def main() -> None:
    pieces = int(sys.argv[1])
    body = stream(pieces) if pieces else b'{"error": {"message": "no"}}'
    lines = body.split(b"\n\n")

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200 if pieces else 400)
            self.send_header("content-type", "text/event-stream" if pieces else "application/json")
            self.send_header("connection", "close")
            self.end_headers()
            for line in lines:  # one event a packet, as a model writes them
                self.wfile.write(line + b"\n\n")

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
