"""What the guarantees of `unspool record` cost: ratios of recorders that run side by side and take turns.

python bench/record_modes.py [hold] [throughput] [cpu] [--before DIR] [--quick] [--json]

hold        The upstream answers after 20 ms. Time to the first byte: with the hold of plain recorders ÷ without it;
            and what recorders add to a direct call, by option.
throughput  200 clients that call one after the other, for some seconds in turns: calls with --durable ÷ plain.
cpu         CPU a call: requests of 500 KB one after the other, and 200 clients at once. With --before, the `src` folder
            of another revision, also ÷ what that took.
"""

import argparse
import asyncio
import json
import os
import shutil
import socket
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import child
from record import Growing, ask, cpu, free_port, post, process

_UNHELD = "from unspool.recorder import outbox; outbox.HOLD_SECONDS = 0; from unspool.__main__ import main; main()"
_PATH = "/v1/chat/completions"
_WAIT = "/wait/20"
_CLIENTS = 200


@contextmanager
def upstream() -> Iterator[int]:
    port = free_port()
    with process([sys.executable, str(Path(__file__).with_name("record.py")), "--serve", str(port)], port):
        yield port


@contextmanager
def recorder(
    folder: Path, target: int, *options: str, hold: bool = True, source: str = ""
) -> Iterator[tuple[int, int]]:
    """The process id and port of a recorder, of this revision or of the source folder."""
    port = free_port()
    program = ["-m", "unspool"] if hold else ["-c", _UNHELD]
    where = ["--target", f"http://127.0.0.1:{target}", "--port", str(port), "-o", str(folder / f"{port}.jsonl"), "-q"]
    command = [sys.executable, *program, "record", *where, *options]
    with process(["env", f"PYTHONPATH={source}", *command] if source else command, port) as pid:
        yield pid, port


def connect(port: int) -> socket.socket:
    end = socket.create_connection(("127.0.0.1", port))
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return end


def hold(folder: Path, quick: bool, before: str) -> dict[str, Any]:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * 50_000}]}).encode()
    modes: dict[str, tuple[str, ...]] = {"plain": (), "durable": ("--durable",), "strict": ("--strict",)}
    with ExitStack() as stack:
        target = stack.enter_context(upstream())
        ports = {"direct": target, "unheld": stack.enter_context(recorder(folder, target, hold=False))[1]}
        for name, options in modes.items():
            ports[name] = stack.enter_context(recorder(folder, target, *options))[1]
        if before:
            ports["before"] = stack.enter_context(recorder(folder, target, source=before))[1]
        ends = {name: stack.enter_context(connect(port)) for name, port in ports.items()}
        times: dict[str, list[float]] = {name: [] for name in ends}
        for number in range(60 if quick else 300):
            for name, end in ends.items():
                first, _ = ask(end, post(ports[name], _WAIT, body))
                if number >= 5:
                    times[name].append(first)
    medians = {name: statistics.median(found) * 1e3 for name, found in times.items()}
    told = {f"{name}_median_ms": round(median, 2) for name, median in medians.items()}
    return {**told, "held_by_unheld": round(medians["plain"] / medians["unheld"], 4)}


async def _clients(port: int, seconds: float) -> int:
    """Return how many calls 200 clients made."""
    body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "x" * 5_000}]}).encode()
    end, made = time.monotonic() + seconds, 0

    async def client() -> None:
        nonlocal made
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.monotonic() < end:
            writer.write(post(port, _WAIT, body))
            await reader.readuntil(b"\r\n0\r\n\r\n")
            made += 1
        writer.close()

    await asyncio.gather(*(client() for _ in range(_CLIENTS)))
    return made


def throughput(folder: Path, quick: bool, before: str) -> dict[str, Any]:
    modes: dict[str, tuple[str, ...]] = {"plain": (), "durable": ("--durable",), "strict": ("--strict",)}
    made = dict.fromkeys(modes, 0)
    rounds, seconds = (2, 1.0) if quick else (6, 2.0)
    with ExitStack() as stack:
        target = stack.enter_context(upstream())
        ports = {name: stack.enter_context(recorder(folder, target, *each))[1] for name, each in modes.items()}
        if before:
            ports["before"] = stack.enter_context(recorder(folder, target, source=before))[1]
            made["before"] = 0
        for _ in range(rounds):
            for name, port in ports.items():
                made[name] += asyncio.run(_clients(port, seconds))
                time.sleep(0.5)
    told: dict[str, Any] = {f"{name}_calls_a_second": round(count / rounds / seconds) for name, count in made.items()}
    return told | {f"{name}_by_plain": round(made[name] / made["plain"], 2) for name in made if name != "plain"}


def cpu_a_call(folder: Path, quick: bool, before: str) -> dict[str, Any]:
    rounds, calls = (2, 20) if quick else (6, 40)
    used: dict[str, list[float]] = {}
    with ExitStack() as stack:
        target = stack.enter_context(upstream())
        recorders = {"plain": stack.enter_context(recorder(folder, target))}
        recorders["durable"] = stack.enter_context(recorder(folder, target, "--durable"))
        if before:
            recorders["before"] = stack.enter_context(recorder(folder, target, source=before))
        growing = Growing("cpu", 500_000, rounds * calls * len(recorders))
        for turn in range(rounds):
            for name, (pid, port) in recorders.items():
                large = _used(pid, calls, lambda port=port: _one_by_one(port, growing, calls))
                start = cpu(pid)
                made = asyncio.run(_clients(port, 1.0))
                _rest(pid)
                if turn:  # the first round warms up
                    used.setdefault(f"{name}_large", []).append(large)
                    used.setdefault(f"{name}_at_once", []).append((cpu(pid) - start) / made)
    told = {f"{name}_ms": round(statistics.mean(values) * 1e3, 2) for name, values in used.items()}
    for kind in ("large", "at_once") if before else ():
        for name in ("plain", "durable"):
            ratio = statistics.mean(used[f"{name}_{kind}"]) / statistics.mean(used[f"before_{kind}"])
            told[f"{name}_{kind}_by_before"] = round(ratio, 2)
    return told


def _used(pid: int, calls: int, run: Any) -> float:
    """Return the seconds of CPU a call."""
    start = cpu(pid)
    run()
    _rest(pid)
    return (cpu(pid) - start) / calls


def _rest(pid: int) -> None:
    """Wait until a recorder has written what waits."""
    before = -1.0
    while (now := cpu(pid)) > before:
        before = now
        time.sleep(0.5)


def _one_by_one(port: int, growing: Growing, calls: int) -> None:
    with connect(port) as end:
        for _ in range(calls):
            ask(end, post(port, _PATH, growing.next()))


_PARTS = {"hold": hold, "throughput": throughput, "cpu": cpu_a_call}


def main() -> None:
    parser = argparse.ArgumentParser(description="What the guarantees of unspool record cost.")
    parser.add_argument("parts", metavar="PART", nargs="*", help=f"of {', '.join(_PARTS)}; default: all")
    parser.add_argument("--before", metavar="DIR", default="", help="the src folder of another revision")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = child.FOLDER / "record-modes"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in options.parts or _PARTS:
        told = _PARTS[name](folder, options.quick, options.before)
        shown = "  ".join(f"{key} {value}" for key, value in told.items())
        print(json.dumps({name: told}) if options.json else f"{name:<10} {shown}", flush=True)
    print(f"load: {' '.join(f'{load:.1f}' for load in os.getloadavg())}")
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
