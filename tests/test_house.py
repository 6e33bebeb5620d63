"""The house's own rules, kept by a machine."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import unspool
from unspool.cli import COMMANDS
from unspool.model import cooked

ROOT = Path(__file__).parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
ALL = [*SOURCES, *sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "bench").rglob("*.py"))]
VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "core", "manager", "misc"}


def test_no_file_is_over_400_lines() -> None:
    assert [str(path) for path in ALL if len(path.read_text().splitlines()) > 400] == []


def test_no_function_is_over_60_lines() -> None:
    long = []
    for path in ALL:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > 60:
                    long.append(f"{path}:{node.lineno} {node.name}: {lines}")
    assert long == []


def test_texts_are_utf_8_whatever_the_locale() -> None:
    guilty = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                plain = len(node.args) == {"read_text": 0, "write_text": 1}.get(name)
                texts = name in ("open", "fdopen") and any(
                    isinstance(mode, ast.Constant) and mode.value in ("r", "w", "a", "x") for mode in node.args
                )
                if (plain or texts) and "encoding" not in [given.arg for given in node.keywords]:
                    guilty.append(f"{path}:{node.lineno}")
    assert guilty == []


def test_no_module_has_a_vague_name() -> None:
    assert [str(path) for path in SOURCES if path.stem in VAGUE or path.parent.name in VAGUE] == []


def test_every_module_says_what_it_is() -> None:
    assert [str(path) for path in SOURCES if not ast.get_docstring(ast.parse(path.read_text()))] == []


def test_no_module_imports_the_root_package() -> None:
    """But the two that tell the version."""
    guilty = [path.relative_to(ROOT / "src") for path in SOURCES if "from unspool import" in path.read_text()]
    assert [str(path) for path in guilty] == ["unspool/__main__.py", "unspool/cli/__init__.py"]


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs" / "commands.md").read_text()
    assert [name for name in COMMANDS if f"## unspool {name}" not in text] == []


def test_every_field_of_the_output_is_documented() -> None:
    text = (ROOT / "docs" / "cooked.md").read_text()
    structs = (cooked.CookedMessage, cooked.CookedTool, cooked.CookedRequest, cooked.Cooked)
    assert [name for struct in structs for name in struct.__struct_fields__ if f"`{name}`" not in text] == []


def test_every_public_name_can_be_had() -> None:
    assert all(getattr(unspool, name) is not None for name in unspool.__all__)


def test_the_changelog_knows_this_version() -> None:
    assert f"## {unspool.__version__}" in (ROOT / "CHANGELOG.md").read_text()


IMPORTS = """
import os, sys
os._exit = sys.exit  # or nothing could be printed behind the command
sys.argv[1:] = {arguments!r}
import runpy
try:
    runpy.run_module("unspool", run_name="__main__")
except SystemExit:
    pass
print(" ".join(sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--version"], {"click", "msgspec", "rich", "asyncio", "typing", "unspool.cli", "unspool.model"}),
        (["--help"], {"msgspec", "rich", "asyncio", "unspool.cli.cook", "unspool.model", "zstandard"}),
        (["view", "--help"], {"msgspec", "rich", "asyncio", "starlette", "uvicorn", "unspool.jobs", "unspool.web"}),
        (["cook", "--help"], {"msgspec", "rich", "asyncio", "zstandard", "unspool.model"}),
        (["record", "--help"], {"msgspec", "rich", "asyncio", "zstandard", "httptools", "uvloop", "unspool.recorder"}),
        (["run", "--help"], {"msgspec", "rich", "asyncio", "httptools", "uvloop", "unspool.recorder"}),
    ],
)
def test_start_up_imports_only_what_it_needs(arguments: list[str], absent: set[str]) -> None:
    command = [sys.executable, "-S", "-c", IMPORTS.format(arguments=arguments)]
    path = ":".join(entry for entry in sys.path if entry)
    done = subprocess.run(command, capture_output=True, check=True, env={"PYTHONPATH": path})
    assert absent & set(done.stderr.decode().splitlines()[-1].split()) == set()


def test_nothing_of_this_machine_is_in_the_tree() -> None:
    tracked = subprocess.run(["git", "ls-files"], capture_output=True, text=True, cwd=ROOT, check=False).stdout.split()
    home = str(ROOT if ROOT.parent == Path("/tmp") else ROOT.parent)
    for name in tracked:
        path = ROOT / name
        if path.is_file() and len(home) > 1:
            assert f"{home}/".encode() not in path.read_bytes(), name


def test_pins_name_no_host() -> None:
    for path in ROOT.glob("*.lock"):
        assert "://" not in path.read_text()
    assert not (ROOT / "uv.lock").exists()
