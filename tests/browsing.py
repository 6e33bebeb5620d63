"""A real browser on a real viewer, for tests and pictures."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHROMIUM = os.environ.get("UNSPOOL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing() -> str | None:
    """Why there can be no browser; CI sets UNSPOOL_DEMAND_BROWSER, and then that is a failure."""
    reason = None
    if CHROMIUM is None:
        reason = "no chromium on the PATH (apt install chromium)"
    else:
        try:
            import playwright.sync_api  # noqa: F401
        except ImportError:
            reason = "playwright is not installed"
    if reason and os.environ.get("UNSPOOL_DEMAND_BROWSER"):
        raise RuntimeError(f"the viewer must be tested in a browser here, and there is none: {reason}")
    return reason


@contextmanager
def viewer(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> Iterator[str]:
    """`unspool view` as a user starts it; its address, token and all."""
    command = [sys.executable, "-m", "unspool", "view", "--no-open", "--port", "0", *map(str, arguments)]
    env = {**os.environ, **environment}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=cwd) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
