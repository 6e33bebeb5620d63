"""Tests leave the home folder of whoever runs them alone."""

import os
import subprocess
import sys
from pathlib import Path

from isolation import NOT_SET

ROOT = Path(__file__).parent.parent
GUILTY = (
    "tests/test_providers.py::test_keys_of_servers_are_not_listed",
    "tests/test_squash_foreign.py::test_what_a_snapshot_leaves_out_is_told",
)
"""The first adds servers to unspool's own folder; the second needs a key and a cache of digests."""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_variables_that_lead_to_the_users_files_are_not_set() -> None:
    assert {"CLAUDE_CONFIG_DIR", "CLAWDBOT_STATE_DIR", "CODEX_HOME", "OPENCODE_DB", "UNSPOOL_HOME"} <= NOT_SET
    assert NOT_SET.isdisjoint(os.environ)
    assert list(Path.home().iterdir()) == []


def test_the_users_files_stay_as_they_are(tmp_path: Path) -> None:
    """One of them would make the first test fail, if it could see it."""
    real = tmp_path / "real"
    folders = {"UNSPOOL_HOME": real / "data", "UNSPOOL_CACHE": real / "cache", "XDG_DATA_HOME": real / "xdg"}
    for folder in (*folders.values(), real / ".local/share/unspool", real / ".cache/unspool"):
        folder.mkdir(parents=True)
    for folder in (real / "data", real / ".local/share/unspool"):
        (folder / "servers.json").write_text('{"mcpServers":{"mine":{"command":"cat"}}}', "utf-8")
    before = contents(real)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *GUILTY],
        cwd=ROOT,
        env={**os.environ, "HOME": str(real), **{name: str(folder) for name, folder in folders.items()}},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout.decode()
    assert b"2 passed" in done.stdout
    assert contents(real) == before
