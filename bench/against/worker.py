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
from typing import Any, NoReturn

_TIMEOUT_SECONDS = 300
WRONG_SOURCE = 78
"""The exit status if `unspool` is another than the one to be run."""


def main() -> None:
    import unspool.cli

    source = Path(sys.argv[1]).resolve()
    if source not in Path(unspool.cli.__file__).resolve().parents:
        sys.stderr.write(f"{unspool.cli.__file__} is not below {source}\n")
        sys.exit(WRONG_SOURCE)
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
        os._exit(1)

    signal.signal(signal.SIGALRM, give_up)
    with tempfile.TemporaryFile() as captured:
        os.dup2(captured.fileno(), 1)
        signal.alarm(_TIMEOUT_SECONDS)
        status, error = _call(argv)
        sys.stdout.flush()
        signal.alarm(0)
        captured.seek(0)
        stdout = _text(captured.read())
    files = {str(path.relative_to(Path.cwd())): _text(path.read_bytes()) for path in _files()}
    return {"exit_status": status, "error": error, "stdout": stdout, "files": files}


def _call(argv: list[str]) -> tuple[int | str, str | None]:
    """Return the exit status and the error message, as `unspool.cli.run` would print it."""
    import click

    from unspool.cli import unspool
    from unspool.errors import UnspoolError

    try:
        return unspool.main(argv, prog_name="unspool", standalone_mode=False) or 0, None
    except UnspoolError as error:
        return error.exit_status, str(error)
    except click.ClickException as error:
        return error.exit_code, error.format_message()
    except SystemExit as error:
        return error.code or 0, None
    except OSError as error:
        return 2, f"{error.filename}: {error.strerror}"
    except Exception as error:  # a crash is a result: the other revision may have none
        return "crash", f"{type(error).__name__}: {error}"


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
