"""What `unspool cook`, `squash`, `pretty`, reading agents' logs and the store cost, most of it against parsing alone.

python bench/run.py [CASE…] [--quick] [--json]

The floor of a case is `orjson.loads` on each line of its input, or on each file that is one document. Floor and job run
in processes of their own; their CPU seconds (user and system) include the start of the interpreter. Bounds are for the
eye: a busy machine exceeds them. The status is 1 only when a job fails. All cases need 4 GB of disk in .bench/.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import agents
import asking
import child
import pretty
import squash
import threads
from data import CASES, Case
from report import (
    FIGURE_HEADER,
    HEADER,
    LATENCY_HEADER,
    LINEAGE_HEADER,
    WALL_HEADER,
    AnyRow,
    FigureRow,
    LatencyRow,
    LineageRow,
    Row,
    WallRow,
)

_HERE = Path(__file__).resolve().parent
_PYTHON = sys.executable
_FLOOR = "import sys, orjson\nfor line in open(sys.argv[1], 'rb'): orjson.loads(line)"
_START_UP = "start-up"
_START_UPS = {("--version",): 1.5, ("--help",): 5.0, ("cook", "--help"): 6.5}
_LARGE = 400_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description="What unspool costs, measured against parsing alone.")
    names = [_START_UP, *CASES, *squash.CASES, *pretty.CASES, *threads.CASES, *asking.CASES, *agents.CASES]
    parser.add_argument("cases", metavar="CASE", nargs="*", help=f"one of {', '.join(names)}; default: all")
    parser.add_argument(
        "--quick", action="store_true", help="small inputs, under a minute; start-up weighs too much for bounds"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    options = parser.parse_args()
    if unknown := set(options.cases) - set(names):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    child.FOLDER.mkdir(exist_ok=True)
    rows: list[Row] = []
    wall: list[WallRow] = []
    lineage: list[LineageRow] = []
    latency: list[LatencyRow] = []
    figures: list[FigureRow] = []
    failed = False
    if not options.json:
        print(HEADER)
    for name, found in measured(options.cases or names, options.quick):
        try:
            for row in found:
                match row:
                    case LineageRow():
                        lineage.append(row)
                    case LatencyRow():
                        latency.append(row)
                    case FigureRow():
                        figures.append(row)
                    case WallRow():
                        wall.append(row)
                    case Row():
                        rows.append(row)
                        if not options.json:
                            print(row, flush=True)
        except child.ChildFailed as fault:
            failed = True
            print(f"{name}: {fault}", file=sys.stderr)
    if options.json:
        told = {"rows": as_json(rows), "wall": as_json(wall), "lineage": as_json(lineage)}
        told |= {"latency": as_json(latency), "figures": as_json(figures)}
        print(json.dumps({"quick": options.quick, **told}, indent=2))
    else:
        tables = (WALL_HEADER, wall), (LINEAGE_HEADER, lineage), (LATENCY_HEADER, latency), (FIGURE_HEADER, figures)
        for header, table in tables:
            if table:
                print("", header, *table, sep="\n")
    sys.exit(1 if failed else 0)


def measured(names: Sequence[str], quick: bool) -> Iterator[tuple[str, Iterator[AnyRow]]]:
    """What is measured at one go: a case, or all cases of a folder with logs."""
    for name in names:
        if not any(name in part.CASES for part in (agents, squash, pretty, threads, asking)):
            yield name, measure(name, quick)
    if set(names) & set(squash.CASES):
        yield "squash", squash.measure(names, quick)
    if set(names) & set(pretty.CASES):
        yield "pretty", pretty.measure(names, quick)
    for name in names:
        if name in threads.CASES:
            yield name, threads.measure(name, quick)
        elif name in asking.CASES:
            yield name, asking.measure(name, quick)
    for folder, cases in agents.by_folder(names).items():
        yield folder, agents.measure(folder, cases, quick)


def measure(name: str, quick: bool) -> Iterator[AnyRow]:
    if name == _START_UP:
        yield from start_up(5 if quick else 15)
        return
    case = CASES[name]
    if quick and not case.quick_count:
        return
    path = child.FOLDER / f"{name}.jsonl"
    try:
        child.run([_PYTHON, str(_HERE / "data.py"), name, str(path), *(["--quick"] if quick else [])])
        yield from cooking(name, case, path, quick)
        if case.lineage:
            _, printed = child.run([_PYTHON, str(_HERE / "lineage.py"), str(path)])
            yield LineageRow(name, **json.loads(printed))
    finally:
        path.unlink(missing_ok=True)


def cooking(name: str, case: Case, path: Path, quick: bool) -> Iterator[Row]:
    """`unspool cook` and its peers against the floor."""
    size, out = path.stat().st_size, path.with_suffix(".cooked.json")
    try:
        floor, job = child.best(
            [
                [_PYTHON, "-c", _FLOOR, str(path)],
                [_PYTHON, "-m", "unspool", "cook", str(path), "-o", str(out), "-q"],
            ],
            times=2 if size > _LARGE else 3,
        )
        bound, peak_bound = (None, None) if quick else (case.bound, case.peak_bound)
        yield Row(name, floor.cpu, job.cpu, size, job.peak, bound, peak_bound)
        peer = os.environ.get("UNSPOOL_BENCH_LLM_PATH") or shutil.which("llm-path")
        if case.peers and peer:
            try:
                cost, _ = child.run([peer, "cook", str(path), "-o", str(out)])
                yield Row(f"{name} llm-path", floor.cpu, cost.cpu, size, cost.peak)
            except (child.ChildFailed, OSError) as fault:
                print(f"{name} llm-path: {fault}", file=sys.stderr)
    finally:
        out.unlink(missing_ok=True)


def start_up(times: int) -> Iterator[Row]:
    """The command's first answers against an interpreter that does nothing."""
    commands = [[_PYTHON, "-m", "unspool", *arguments] for arguments in _START_UPS]
    floor, *costs = child.best([[_PYTHON, "-c", "pass"], *commands], times)
    for (arguments, bound), cost in zip(_START_UPS.items(), costs, strict=True):
        yield Row(" ".join(arguments), floor.cpu, cost.cpu, bound=bound)


def as_json(rows: Sequence[AnyRow]) -> list[dict[str, object]]:
    return [{**asdict(row), "verdict": row.verdict} for row in rows]


if __name__ == "__main__":
    main()
