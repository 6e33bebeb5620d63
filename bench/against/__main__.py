"""Compare the output of an earlier revision with that of the working tree, and list what no rule allows.

PYTHONPATH=bench python -m against REV [--only GLOB] [--show N] [INPUT…]

Exit status 1 if there is a difference that tests/allowed_differences.toml does not explain.
"""

import argparse
import os
import shutil
import sys
import time
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

from against.compare import differences
from against.inputs import ROOT, Input, default_inputs, input_at
from against.outputs import comparable
from against.report import Unexplained, lines_of
from against.rules import InvalidRule, Rule, commit_of, explain, read_rules, rules_against
from against.runs import COMMANDS, Job, Revision, install, load, run_all

FOLDER = ROOT / ".bench" / "against"
ALLOWED = ROOT / "tests" / "allowed_differences.toml"


def main() -> None:
    options = _options()
    FOLDER.mkdir(parents=True, exist_ok=True)
    try:
        commit = commit_of(options.revision)
        rules = rules_against(commit, read_rules(options.allowed))
    except InvalidRule as error:
        sys.exit(f"against: {error}")
    old, new = install(commit, FOLDER), Revision("working tree", ROOT / "src", FOLDER / "working-tree")
    shutil.rmtree(new.results, ignore_errors=True)
    inputs = [input_at(path.resolve()) for path in options.inputs] or default_inputs(FOLDER / "databases")
    inputs = [item for item in inputs if fnmatchcase(item.name, options.only)]
    if not inputs:
        sys.exit(f"against: no input is called {options.only!r}; names look like samples/logs/codex.jsonl")
    commands = [name for name in COMMANDS if fnmatchcase(name, options.command)]
    jobs = [Job(item, command) for item in inputs for command in commands]
    run_all(jobs, [old, new], options.jobs, _Progress())
    unexplained, differing = compare_all(jobs, old, new, rules)
    print(f"{old.name} against the working tree: {_inputs(inputs)}, {len(jobs):,} outputs, {differing:,} differ")
    for line in lines_of(unexplained, rules, old.name, options.show):
        print(line)
    sys.exit(1 if unexplained.count else 0)


def compare_all(jobs: list[Job], old: Revision, new: Revision, rules: list[Rule]) -> tuple[Unexplained, int]:
    """Return the differences that no rule explains, and how many outputs differ."""
    unexplained, differing = Unexplained(), 0
    for job in jobs:
        left, right = job.result_path(old), job.result_path(new)
        if left.read_bytes() == right.read_bytes():
            continue
        differing += 1
        for difference in differences(*comparable(load(left), load(right))):
            if explain(rules, job.input.name, job.command, difference) is None:
                unexplained.add(job.input.name, job.command, difference)
    return unexplained, differing


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="against", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("revision", metavar="REV", help="the earlier revision")
    parser.add_argument(
        "inputs", metavar="INPUT", nargs="*", type=Path, help="files or folders; default: all there are"
    )
    parser.add_argument("--only", metavar="GLOB", default="*", help="only inputs whose name matches")
    parser.add_argument("--command", metavar="GLOB", default="*", help=f"only some of {', '.join(COMMANDS)}")
    parser.add_argument("--show", metavar="N", type=int, default=10, help="show examples of N kinds [default: 10]")
    parser.add_argument("--allowed", metavar="FILE", type=Path, default=ALLOWED, help="the file of allowed differences")
    parser.add_argument("--jobs", metavar="N", type=int, default=os.cpu_count() or 1, help="processes at a time")
    return parser.parse_intermixed_args()  # options may stand between REV and inputs


def _inputs(inputs: list[Input]) -> str:
    """Return how many inputs there are, by their first folder."""
    counts = Counter(item.name.split("/")[0] if "/" in item.name else "named" for item in inputs)
    return f"{len(inputs):,} inputs ({', '.join(f'{number:,} {name}' for name, number in counts.items())})"


class _Progress:
    """Shows how many outputs are done: in place on a terminal, else a line now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._shown = 0.0

    def __call__(self, done: int, total: int) -> None:
        last = done == total and self._terminal
        if last or time.monotonic() - self._shown > (0.2 if self._terminal else 15):
            self._shown = time.monotonic()
            end = "\r" if self._terminal and not last else "\n"
            print(f"{done:,} of {total:,}", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
