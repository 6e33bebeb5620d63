"""What `unspool squash` costs. Run as a program, it writes the input: session files as a capture proxy logs them.

python bench/squash.py FOLDER [--quick]

200 sessions of 40 entries, about 335 MB. The text holds what a redaction rule must look at and leave alone: URLs,
`token=`, hexadecimal.
"""

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import child
from prose import Prose
from report import Row
from traffic import chat_tools

CASES: dict[str, tuple[list[str], float | None]] = {
    "squash": (["--no-redact"], 0.7),
    "squash-redact": ([], 1.2),
    "squash-shard": (["--shard", "1/1"], None),
    "squash-tree": (["--no-redact", "--strategy", "tree"], 2.5),
}
"""Name → options, and the bound as a multiple of the floor, where there is one."""
_PEAK = 150
_FLOOR = """
import sys, orjson, pathlib
for path in pathlib.Path(sys.argv[1]).rglob("*.jsonl"):
    for line in path.open("rb"): orjson.loads(line)
"""
_SEED = "unspool squash 1"
_SESSIONS, _QUICK, _ENTRIES = 200, 10, 40


def entries(prose: Prose, session: str) -> Iterator[bytes]:
    """One session that grows by an answer, a result or a question with each entry."""
    tools = chat_tools(prose)
    history: list[dict[str, object]] = [{"role": "system", "content": prose.text(2500)}]
    now = datetime(2026, 3, 2, 9, tzinfo=UTC) + timedelta(minutes=prose.number(0, 20_000))
    for turn in range(_ENTRIES):
        if turn % 4 == 0:
            history.append({"role": "user", "content": prose.text(500)})
        call = prose.token("call_")
        arguments = json.dumps({"path": prose.path(), "note": prose.sentence(6)})
        called = {"id": call, "type": "function", "function": {"name": "read_file", "arguments": arguments}}
        reply: dict[str, object] = {"role": "assistant", "content": prose.text(250)}
        if turn % 4 != 3:
            reply["tool_calls"] = [called]
        request = {"model": "gpt-5", "messages": history, "tools": tools}
        response = {
            "id": prose.token("chatcmpl-"),
            "choices": [{"index": 0, "message": reply, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100 * turn, "completion_tokens": 90},
        }
        now += timedelta(seconds=prose.number(1, 60))
        entry = {"timestamp": now.isoformat(), "session_id": session, "request": request, "response": response}
        yield json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        history.append(reply)
        if turn % 4 != 3:
            history.append({"role": "tool", "tool_call_id": call, "content": output(prose)})


def output(prose: Prose) -> str:
    """What a tool says."""
    url = f"https://{prose.word()}.example.com/{prose.path()}?token={prose.word()}&page={prose.number(1, 99)}"
    return f"{prose.text(480)}\n{url}\ncommit {prose.uuid().replace('-', '')}\n{prose.text(300)}"


def write(folder: Path, quick: bool) -> None:
    prose = Prose(_SEED)
    for number in range(_QUICK if quick else _SESSIONS):
        session = prose.uuid()
        path = folder / f"2026-03-{number % 20 + 1:02}" / f"task-{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(entries(prose, session)))


def measure(names: Iterable[str], quick: bool) -> Iterator[Row]:
    """The cases on one input, against `orjson.loads` on each of its lines."""
    wanted = [name for name in CASES if name in names]
    logs, out = child.FOLDER / "squash", child.FOLDER / "squash.out"
    try:
        child.run([sys.executable, __file__, str(logs), *(["--quick"] if quick else [])])
        size = sum(path.stat().st_size for path in logs.rglob("*.jsonl"))
        squash = [sys.executable, "-m", "unspool", "squash", str(logs), "-o", str(out), "-q", "--jobs", "1"]
        floor, *costs = child.best(
            [[sys.executable, "-c", _FLOOR, str(logs)], *([*squash, *CASES[name][0]] for name in wanted)], times=3
        )
        for name, cost in zip(wanted, costs, strict=True):
            bound, peak = (None, None) if quick else (CASES[name][1], _PEAK)
            yield Row(name, floor.cpu, cost.cpu, size, cost.peak, bound, peak)
    finally:
        shutil.rmtree(logs, ignore_errors=True)
        shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    write(Path(sys.argv[1]), quick="--quick" in sys.argv)
