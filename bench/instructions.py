"""What reading and searching agents' logs cost in instructions, which a busy machine does not change.

python bench/instructions.py [claude|codex|gemini-json|gemini-jsonl …]

valgrind counts the instructions of each job on a twentieth of the data, and on its smallest file alone: what that takes
is start-up. The ratios are those that all of the data would have.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import child
from agents import ANY_PATTERN, FLOOR
from log_data import LOGS, QUICK_SHARE

_HERE = Path(__file__).resolve().parent
_VALGRIND = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
_JOBS = {
    "floor": ["-c", FLOOR],
    "events": [str(_HERE / "reading.py")],
    "grep-any": ["-m", "unspool", "grep", "-E", ANY_PATTERN, "--jobs", "1"],
}


def main() -> None:
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed")
    names = sys.argv[1:] or list(LOGS)
    if unknown := set(names) - set(LOGS):
        sys.exit(f"no such logs: {', '.join(sorted(unknown))}")
    print(f"{'millions':<14}{'floor':>8}{'events':>8}{'grep-any':>10}{'events':>10}{'grep-any':>10}")
    for name in names:
        folder, one = child.FOLDER / f"{name}-sample", child.FOLDER / f"{name}-one"
        try:
            child.run([sys.executable, str(_HERE / "log_data.py"), name, str(folder), "--quick"])
            one.mkdir(parents=True, exist_ok=True)
            shutil.copy(min(folder.iterdir(), key=lambda file: file.stat().st_size), one)
            starts = {job: counted([*command, str(one)]) for job, command in _JOBS.items()}
            costs = {job: counted([*command, str(folder)]) - starts[job] for job, command in _JOBS.items()}
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(one, ignore_errors=True)
        whole = {job: QUICK_SHARE * cost + starts[job] for job, cost in costs.items()}
        events, search = whole["events"] / whole["floor"], whole["grep-any"] / whole["floor"]
        floor, read, searched = costs.values()
        print(f"{name:<14}{floor:>8.0f}{read:>8.0f}{searched:>10.0f}{events:>10.2f}{search:>10.2f}", flush=True)


def counted(arguments: list[str]) -> float:
    """Millions of instructions. The first run leaves compiled modules behind, as an installed package has them."""
    command = [sys.executable, *arguments]
    environment = {**os.environ, **child.ENVIRONMENT, "PYTHONHASHSEED": "0"}
    for prefix in ([], _VALGRIND):
        done = subprocess.run([*prefix, *command], capture_output=True, text=True, env=environment, check=False)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if found is None:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr[-2000:]}")
    return int(found[1].replace(",", "")) / 1e6


if __name__ == "__main__":
    main()
