"""Draw docs/cook.svg: the terminal after `unspool cook samples/traces`, from the program's real output."""

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
WIDTH = 115
COMMANDS = (
    "unspool cook samples/traces -o cooked.json",
    "grep 'parent_reason\":\"compaction' cooked.json | cut -c 1-113",
)


def shown(command: str) -> str:
    """What a person sees, colours included: the command runs in a terminal of its own."""
    parent, child = pty.openpty()
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": str(WIDTH)}
    script = f"stty cols {WIDTH} rows 40; {command}"
    with subprocess.Popen(["bash", "-c", script], stdin=child, stdout=child, stderr=child, cwd=ROOT, env=environment):
        os.close(child)
        output = b""
        try:
            while piece := os.read(parent, 4096):
                output += piece
        except OSError:  # the terminal is gone when its last program is
            pass
    os.close(parent)
    return output.decode().replace("\r\n", "\n")


def main() -> None:
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor", force_terminal=True)
    for command in COMMANDS:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        console.print(Text.from_ansi(shown(command)), end="")
        console.print()
    (ROOT / "cooked.json").unlink()
    console.save_svg(str(ROOT / "docs" / "cook.svg"), title="unspool cook")


if __name__ == "__main__":
    main()
