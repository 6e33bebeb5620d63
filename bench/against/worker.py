"""Run many commands of one revision in one process, because starting `unspool` for each would take most of the time.

Jobs come from standard input, one JSON object a line: {"key", "argv", "result"}. A job runs in an empty folder; its
exit status, standard output and files go to the file `result`, compressed. Then its key is printed. The first argument
is the `src` folder that `unspool` must come from. This module imports nothing else of ours: older revisions run it too.
"""

import json
import os
import shutil
import signal
import sys
import tempfile
import zlib
from pathlib import Path
from typing import IO, Any, NoReturn

_TIMEOUT_SECONDS = 300
_end_process = os._exit
WRONG_SOURCE = 78
"""The exit status if `unspool` is another than the one to be run."""


def main() -> None:
    import unspool.__main__ as program

    source = Path(sys.argv[1]).resolve()
    if source not in Path(program.__file__).resolve().parents:
        sys.stderr.write(f"{program.__file__} is not below {source}\n")
        sys.exit(WRONG_SOURCE)
    os._exit = sys.exit  # type: ignore[assignment]  # or the first command would end the process
    jobs = [json.loads(line) for line in sys.stdin]
    finished = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for job in jobs:
        for path in Path.cwd().iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        store(Path(job["result"]), run(job["argv"], Path(job["result"])))
        print(job["key"], file=finished, flush=True)


def run(argv: list[str], result: Path) -> dict[str, Any]:
    """Return what the command produced: `exit_status`, `error`, `stdout` and `files`."""

    def give_up(_number: int, _frame: object) -> NoReturn:
        store(result, {"exit_status": "timeout", "error": f"over {_TIMEOUT_SECONDS} s", "stdout": "", "files": {}})
        _end_process(1)

    signal.signal(signal.SIGALRM, give_up)
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        own_stderr = os.dup(2)
        os.dup2(stdout.fileno(), 1)
        os.dup2(stderr.fileno(), 2)
        signal.alarm(_TIMEOUT_SECONDS)
        status = _call(argv)
        sys.stdout.flush()
        sys.stderr.flush()
        signal.alarm(0)
        os.dup2(own_stderr, 2)
        os.close(own_stderr)
        return {
            "exit_status": status,
            "error": _read(stderr) if status else None,
            "stdout": _read(stdout),
            "files": {str(path.relative_to(Path.cwd())): _text(path.read_bytes()) for path in _files()},
        }


def _call(argv: list[str]) -> int | str:
    """Run the command as from a shell, and return its exit status."""
    from unspool.__main__ import main as program

    sys.argv = ["unspool", *argv]
    try:
        program()
    except SystemExit as end:
        return end.code or 0
    except Exception as error:  # a crash is a result: the other revision may have none
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return "crash"
    return 0


def _read(file: IO[bytes]) -> str:
    file.seek(0)
    return _text(file.read())


def _files() -> list[Path]:
    return sorted(path for path in Path.cwd().rglob("*") if path.is_file())


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="backslashreplace")


def store(path: Path, result: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(zlib.compress(json.dumps(result).encode(), 1))
    unfinished.replace(path)


if __name__ == "__main__":
    main()
