"""What the documents say is what the program does: every shown command is run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)


def shown() -> list[tuple[str, str, str]]:
    """Page, command, and the output that the page shows for it."""
    found = []
    for page in PAGES:
        for block in BLOCK.findall(page.read_text()):
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                found.append((page.name, command.split("  #")[0].strip(), output))
    return found


COMMANDS = [each for each in shown() if not each[1].startswith("make ")]


def a_home(folder: Path) -> dict[str, str]:
    """An environment: the samples are at hand, and the agents whose logs are among them were used here."""
    logs, home = ROOT / "samples" / "logs", folder / "home"
    shutil.copytree(ROOT / "samples", folder / "samples")
    shutil.copytree(
        logs, home / ".claude" / "projects" / "bakery", ignore=lambda *_: ["codex.jsonl", "gemini-cli.jsonl"]
    )
    for log, place in (
        ("codex.jsonl", home / ".codex" / "sessions" / "rollout-codex.jsonl"),
        ("gemini-cli.jsonl", home / ".gemini" / "tmp" / "bakery" / "chats" / "session.jsonl"),
    ):
        place.parent.mkdir(parents=True)
        shutil.copy(logs / log, place)
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    cache = str(folder / "cache")
    return {"PATH": path, "HOME": str(home), "UNSPOOL_CACHE": cache, "TZ": "UTC", "LANG": "C.UTF-8"}


@pytest.mark.parametrize(("page", "command", "output"), COMMANDS, ids=[each[1][:60] for each in COMMANDS])
def test_shown_commands_run(page: str, command: str, output: str, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=a_home(tmp_path),
        timeout=60,
    )
    assert done.returncode == 0, f"{page}: {done.stdout}"
    if output.strip():
        assert done.stdout == output, page


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for page, command, _ in shown():
        if command.startswith("make "):
            assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE), page


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name} → {target}"


def test_the_python_in_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "samples", tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(code, names)
    assert len(names["cooked"].requests) == 19
