"""What `unspool pretty` costs, and how long one waits for it. Run as a program, it writes a stream.

python bench/pretty.py FILE MESSAGES
python bench/pretty.py FILE --long

Of the messages 70 % are calls to tools and their results, as many of each; the others are texts, every third of them
with Markdown in it. `--long` writes one answer of 5 MB.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import child
from prose import Prose
from report import LatencyRow, Row

MESSAGES, _TENTH, _QUICK = 100_000, 10_000, 2_000
_LATENCY = "pretty-latency"
_LONG = "pretty-long"
CASES = {
    "pretty-box": (MESSAGES, [], 50.0),
    "pretty-queue": (MESSAGES, ["--queue"], 50.0),
    "pretty-line": (MESSAGES, ["--style", "line"], 5.0),
    "pretty-tenth": (_TENTH, [], 5.0),
    _LONG: (0, [], 2.0),
    _LATENCY: (0, [], 0.0),
}
"""Name → messages, options, and the CPU seconds that are allowed: 0.5 ms a message, 0.05 ms in lines."""
_PEAK, _LONG_PEAK = 60, 100
_LATENCY_BOUND = 20.0
"""Milliseconds at the 99th percentile."""
_FLOOR = "import sys, orjson\nfor line in open(sys.argv[1], 'rb'): orjson.loads(line)"
_SEED = "unspool pretty 1"
_SESSION = "0b6a7c1e-52d4-4a38-9f10-6c2d8e4b7a95"


def record(number: int, kind: str, message: object) -> bytes:
    told = {"type": kind, "message": message, "parent_tool_use_id": None, "session_id": _SESSION}
    return (
        json.dumps({**told, "uuid": f"{number:08d}-41d7-4a0b-8c55-6e1d20b9f3a4"}, ensure_ascii=False).encode() + b"\n"
    )


def said(number: int, block: dict[str, object]) -> bytes:
    usage = {
        "input_tokens": 12,
        "cache_read_input_tokens": 9000,
        "cache_creation_input_tokens": 300,
        "output_tokens": 70,
    }
    message = {"id": f"msg_{number}", "role": "assistant", "model": "claude-test", "content": [block], "usage": usage}
    return record(number, "assistant", message)


def stream(prose: Prose, messages: int) -> Iterator[bytes]:
    about = {"cwd": "/home/ada/shop", "tools": ["Bash"], "mcp_servers": [], "model": "claude-test"}
    yield json.dumps({"type": "system", "subtype": "init", "session_id": _SESSION, **about}).encode() + b"\n"
    open_call = ""
    texts = 0
    for number in range(messages):
        if number % 10 in (0, 3, 7):
            texts += 1
            text = prose.text(300)
            if texts % 3 == 0:
                text = f"**{prose.sentence(5)}**\n\n- `{prose.path()}`\n- {prose.sentence(12)}\n\n{text}"
            yield said(number, {"type": "text", "text": text})
        elif not open_call:
            open_call = f"toolu_{number}"
            name, given = call(prose, number)
            yield said(number, {"type": "tool_use", "id": open_call, "name": name, "input": given})
        else:
            failed = number % 20 == 1
            block = {"type": "tool_result", "tool_use_id": open_call, "content": prose.text(900), "is_error": failed}
            open_call = ""
            yield record(number, "user", {"role": "user", "content": [block]})
    yield json.dumps({"type": "result", "subtype": "success", "session_id": _SESSION, "num_turns": 9}).encode() + b"\n"


def call(prose: Prose, number: int) -> tuple[str, dict[str, object]]:
    path = f"/home/ada/shop/{prose.path()}"
    match number % 4:
        case 0:
            return "Bash", {"command": f"pytest -q {prose.path()}", "description": prose.sentence(4)}
        case 1:
            return "Read", {"file_path": path, "offset": 10, "limit": 40}
        case 2:
            old = prose.text(200)
            return "Edit", {"file_path": path, "old_string": old, "new_string": f"{old}\n{prose.sentence(6)}"}
    return "Grep", {"pattern": prose.word(), "path": "src"}


def measure(names: Iterable[str], quick: bool) -> Iterator[Row | LatencyRow]:
    for name in (name for name in CASES if name in names):
        if name == _LATENCY:
            yield latency(300 if quick else 3000)
            continue
        messages, options, most = CASES[name]
        wanted = ["--long"] if name == _LONG else [str(_QUICK if quick else messages)]
        path = child.FOLDER / f"{name}.jsonl"
        try:
            child.run([sys.executable, __file__, str(path), *wanted])
            job = [
                "sh",
                "-c",
                'exec "$@" > /dev/null',
                "sh",
                sys.executable,
                "-m",
                "unspool",
                "pretty",
                str(path),
                *options,
            ]
            floor, cost = child.best([[sys.executable, "-c", _FLOOR, str(path)], job], times=2)
            peak = _LONG_PEAK if name == _LONG else _PEAK
            size = path.stat().st_size
            bounds = (None, None) if quick else (peak, most)
            yield Row(name, floor.cpu, cost.cpu, size, cost.peak, None, *bounds)
        finally:
            path.unlink(missing_ok=True)


def latency(messages: int) -> LatencyRow:
    """From when a line was written until what it becomes has been read, one line after another with pauses between."""
    command = [sys.executable, "-m", "unspool", "pretty"]
    waits: list[float] = []
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, line in enumerate(stream(Prose(_SEED), messages)):
            begin = time.perf_counter()
            process.stdin.write(line)
            shown = b""
            while not shown.endswith("╝\n".encode()) and select.select([process.stdout], [], [], 10)[0]:
                shown += os.read(process.stdout.fileno(), 1 << 20)
            if number > 20:  # until then the program starts
                waits.append((time.perf_counter() - begin) * 1000)
            time.sleep(0.001)
        process.stdin.close()
        process.stdout.read()
    waits.sort()
    return LatencyRow(_LATENCY, waits[len(waits) // 2], waits[len(waits) * 99 // 100], _LATENCY_BOUND)


def main(path: str, wanted: str) -> None:
    prose = Prose(_SEED)
    with Path(path).open("wb") as file:
        if wanted == "--long":
            file.write(said(0, {"type": "text", "text": prose.text(5_000_000)}))
        else:
            file.writelines(stream(prose, int(wanted)))


if __name__ == "__main__":
    main(*sys.argv[1:])
