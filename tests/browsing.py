"""A real browser on a real viewer, for tests and pictures."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, ViewportSize

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PLACES = (
    "/usr/lib/chromium/chromium",
    "/opt/google/chrome/chrome",
    "/snap/bin/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def chromium() -> str | None:
    """Debian's, or any other that is there; UNSPOOL_CHROMIUM names one, and then no other will do."""
    if named := os.environ.get("UNSPOOL_CHROMIUM"):
        return shutil.which(named)
    found = (shutil.which(name) for name in (*NAMES, *PLACES))
    return next(filter(None, found), None)


CHROMIUM = chromium()
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

WIDE: "ViewportSize" = {"width": 1400, "height": 900}
NARROW: "ViewportSize" = {"width": 360, "height": 740}


def missing() -> str | None:
    """Why there can be no browser; CI sets UNSPOOL_DEMAND_BROWSER, and then that is a failure."""
    reason = None
    if CHROMIUM is None:
        named = os.environ.get("UNSPOOL_CHROMIUM")
        reason = (
            f"UNSPOOL_CHROMIUM={named} is no program" if named else "no Chromium is installed (apt install chromium)"
        )
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


class Window:
    """Opens pages, each in a profile of its own, and hears what the browser complains of."""

    def __init__(self, browser: "Browser") -> None:
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []
        """Scripts that failed, what the policy refused, requests to elsewhere."""

    def open(self, address: str, view: "ViewportSize" = WIDE, dark: bool = False, **more: Any) -> "Page":
        context = self._browser.new_context(
            viewport=view, color_scheme="dark" if dark else "light", timezone_id="UTC", **more
        )
        self._contexts.append(context)
        page = context.new_page()
        self._watch(page, address.partition("?")[0].rpartition("/")[0])
        page.goto(address)
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _watch(self, page: "Page", home: str) -> None:
        def said(message: "ConsoleMessage") -> None:
            if message.type == "error" and "net::ERR_" not in message.text:  # a viewer that ended before its page
                self.faults.append(message.text)

        def asked(request: "Request") -> None:
            if not request.url.startswith((home, "data:")):
                self.faults.append(request.url)

        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("console", said)
        page.on("request", asked)


def rows(page: "Page") -> "Locator":
    """Of the graph, as many as are drawn."""
    return page.get_by_role("listbox", name="Requests").locator(".row")


def selected(page: "Page") -> str:
    return re.sub(r".*graph/([^?]*).*", r"\1", page.url)


def ready(page: "Page") -> None:
    """The request that was chosen is shown."""
    page.locator(".request[data-ready=true]").wait_for()


def scroll_down_to(region: "Locator", last: "Locator") -> None:
    """To the end of a transcript. Cards come as one gets there, and how high they are is known once they are shown."""
    for _ in range(200):
        region.locator("> div").evaluate("list => list.scrollTo(0, 1e7)")
        region.page.wait_for_timeout(100)
        if last.is_visible():
            return
    raise AssertionError(f"{last} is not at the end")
