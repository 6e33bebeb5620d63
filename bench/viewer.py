"""What the viewer costs, in a real browser: how long one waits, and how much memory it takes.

python bench/viewer.py [--quick] [--json]

Two traces of `data.py`: one conversation of 1,000 calls (3.3 GB), and 10,000 requests. Times are of the wall, because
that is what one waits for; on a machine with other work they mean little. Aims are for the eye.
"""

import argparse
import gzip
import json
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import child

_HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "tests"))

from browsing import CHROMIUM, FLAGS, viewer  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_SWITCH = """async (count) => {
    // from the key to the request on the screen
    const times = [];
    const shown = () => document.querySelector('.request[data-ready=true] h2 .num')?.textContent;
    for (let i = 0; i < count; i++) {
        const before = shown(), start = performance.now();
        dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true}));
        while (shown() === before || shown() === undefined) {
            await new Promise(requestAnimationFrame);
            if (performance.now() - start > 5000) return times;
        }
        times.push(performance.now() - start);
        await new Promise((done) => setTimeout(done, 60));
    }
    return times;
}"""
_SCROLL = """async (frames) => {
    const list = document.querySelector('[role=listbox] > div');
    for (let i = 0; i < frames; i++) {
        list.scrollTop += 260;
        await new Promise(requestAnimationFrame);
    }
    return list.scrollTop;
}"""


@dataclass(frozen=True)
class Figure:
    what: str
    value: float
    unit: str
    aim: float | None = None

    @property
    def verdict(self) -> str:
        return "" if self.aim is None else "over" if self.value > self.aim else "ok"

    def __str__(self) -> str:
        aim = "" if self.aim is None else f"≤ {self.aim:g}"
        return f"{self.what:<58}{self.value:>9.1f} {self.unit:<4}{aim:>8}{self.verdict:>7}"


def main() -> None:
    parser = argparse.ArgumentParser(description="What the viewer costs, in a real browser.")
    parser.add_argument("--quick", action="store_true", help="small traces")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    child.FOLDER.mkdir(exist_ok=True)
    figures: list[Figure] = []
    for figure in measured(options.quick):
        figures.append(figure)
        if not options.json:
            print(figure, flush=True)
    if options.json:
        print(json.dumps([{**asdict(figure), "verdict": figure.verdict} for figure in figures], indent=2))


def measured(quick: bool) -> Iterator[Figure]:
    from playwright.sync_api import sync_playwright

    (script,) = (_HERE.parent / "src" / "unspool" / "web" / "static" / "assets").glob("*.js")
    yield Figure("JavaScript, compressed", len(gzip.compress(script.read_bytes(), 9)) / 1000, "KB", 250)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, "--js-flags=--expose-gc"])
        for case, measure in (("grow-100" if quick else "grow-1000", of_calls), ("requests-10000", of_rows)):
            path = child.FOLDER / f"view-{case}.jsonl"
            command = [sys.executable, str(_HERE / "data.py"), case, str(path), *(["--quick"] if quick else [])]
            try:
                child.run(command)
                yield from measure(browser, path)
            finally:
                path.unlink(missing_ok=True)
        browser.close()


def opened(browser: "Browser", address: str, what: str) -> Iterator[Any]:
    """Figures of opening a page whose data were read before; then the page itself."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    first = context.new_page()
    begin = time.perf_counter()
    first.goto(address)
    first.locator(".row").first.wait_for(timeout=120_000)
    yield Figure(f"{what}: reading and cooking, to the first row", time.perf_counter() - begin, "s")
    first.close()
    page = context.new_page()
    page.goto(address.partition("?")[0])
    page.locator(".request[data-ready=true]").wait_for()
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    told = page.evaluate("performance.now()")
    yield Figure(f"{what}: first paint after the data is cooked", painted, "ms", 1500)
    yield Figure(f"{what}: list and first request shown", told, "ms", 1500)
    yield page


def of_calls(browser: "Browser", path: Path) -> Iterator[Figure]:
    what = f"{path.stat().st_size / 1e9:.1f} GB"
    with viewer(path) as address:
        *figures, page = opened(browser, address, what)
        yield from figures
        page.evaluate(_SWITCH, 5)
        times = page.evaluate(_SWITCH, 40)
        yield Figure(f"{what}: switching requests, median of {len(times)}", statistics.median(times), "ms", 50)
        yield Figure(f"{what}: switching requests, the slowest but one", sorted(times)[-2], "ms")
        page.keyboard.press("End")
        page.wait_for_timeout(1500)
        times = page.evaluate(_SWITCH.replace("'j'", "'k'"), 20)
        yield Figure(f"{what}: switching among the longest", statistics.median(times), "ms", 50)
        yield Figure(f"{what}: memory of the page's process", memory(browser, page), "MB", 300)
        page.context.close()


def of_rows(browser: "Browser", path: Path) -> Iterator[Figure]:
    with viewer(path) as address:
        *figures, page = opened(browser, address, "10,000 rows")
        yield from figures
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        frames = 300
        before = metrics(session)
        page.evaluate(_SCROLL, frames)
        after = metrics(session)
        script = (after["ScriptDuration"] - before["ScriptDuration"]) / frames * 1000
        whole = (after["TaskDuration"] - before["TaskDuration"]) / frames * 1000
        yield Figure("10,000 rows: JavaScript a frame while scrolling", script, "ms", 8)
        yield Figure("10,000 rows: all work a frame while scrolling", whole, "ms")
        yield Figure("10,000 rows: memory of the page's process", memory(browser, page), "MB", 300)
        page.context.close()


def metrics(session: Any) -> dict[str, float]:
    return {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}


def memory(browser: "Browser", page: "Page") -> float:
    """What only the renderer of this page has: megabytes. The largest, if there are several."""
    page.evaluate("gc()")
    told = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")["processInfo"]
    sizes = []
    for process in told:
        if process["type"] == "renderer":
            rollup = Path(f"/proc/{process['id']}/smaps_rollup").read_text()
            private = [line.split() for line in rollup.splitlines() if line.startswith("Private_")]
            sizes.append(sum(int(line[1]) for line in private) / 1000)
    return max(sizes)


if __name__ == "__main__":
    main()
