"""Pictures of the viewer, from real pages in a real browser: those of the README, and others to be looked at.

python docs/make_screenshots.py        docs/view-*.png for the README, .screenshots/*.png for the eye
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browsing import CHROMIUM, FLAGS, viewer  # noqa: E402
from viewing import TOOLS, Agent  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Page

OTHERS = ROOT / ".screenshots"


DONE = """The session holds a token now, and no password.

- `src/auth.py` makes it
- `src/api.py` checks it

All five tests pass."""


class Shot(NamedTuple):
    name: str
    keys: tuple[str, ...] = ()
    width: int = 1360
    height: int = 820
    dark: bool = False


def main() -> None:
    from playwright.sync_api import sync_playwright

    OTHERS.mkdir(exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for paths, shots in scenes(Path(folder)):
            with viewer(*paths, cwd=Path(folder), HOME=f"{folder}/home", UNSPOOL_CACHE=f"{folder}/home") as address:
                for shot in shots:
                    page = browser.new_page(
                        viewport={"width": shot.width, "height": shot.height},
                        color_scheme="dark" if shot.dark else "light",
                        timezone_id="UTC",
                    )
                    page.goto(address)
                    take(page, shot)
                    page.close()
        browser.close()


def take(page: "Page", shot: Shot) -> None:
    page.wait_for_timeout(900)
    for key in shot.keys:
        if key.startswith("click "):
            page.locator(key.removeprefix("click ")).first.click()
        else:
            page.keyboard.press(key)
        page.wait_for_timeout(250)
    page.mouse.move(0, 0)
    page.wait_for_timeout(500)
    place = ROOT / "docs" if shot.name.startswith("view-") else OTHERS
    page.screenshot(path=place / f"{shot.name}.png")
    print(place / f"{shot.name}.png")


def scenes(folder: Path) -> Iterator[tuple[list[str], list[Shot]]]:
    (folder / "samples").symlink_to(ROOT / "samples")
    shop(folder / "shop.jsonl")
    yield (
        ["shop.jsonl"],
        [
            Shot("view-graph", ("End",)),
            Shot("graph-dark", ("End",), dark=True),
            Shot("graph-wide", ("End",), width=2560, height=1300),
            Shot("graph-narrow", ("click .row:nth-child(1)",), width=360, height=740),
            Shot("graph-list-narrow", width=360, height=740),
            Shot("graph-tablet", width=820, height=1000),
            Shot("diff", ("End", "d")),
            Shot("transcript-calls", ("t",)),
            Shot("keys", ("?",)),
        ],
    )
    yield (
        ["samples/logs/claude-code.jsonl"],
        [
            Shot("view-transcript", dark=True),
            Shot("transcript-light"),
            Shot("transcript-narrow", width=360, height=740),
            Shot("transcript-all", ("e",)),
        ],
    )
    yield (
        ["samples"],
        [Shot("home"), Shot("home-narrow", width=360, height=740), Shot("view-usage", ("u",), height=700)],
    )
    yield [], [Shot("empty"), Shot("empty-dark", dark=True)]
    many(folder / "many.jsonl")
    yield ["many.jsonl"], [Shot("many", ("End",)), Shot("many-narrow", width=360, height=740)]
    (folder / "nothing.jsonl").touch()
    yield ["nothing.jsonl"], [Shot("no-request-yet"), Shot("no-request-yet-narrow", width=360, height=740)]
    hostile = Agent().asks("<img src=x onerror=alert(1)>\n\n[click](javascript:alert(1))")
    hostile.says("<script>alert(1)</script>\n\n![x](https://evil.example/x.png)\n\n\x1b[31mred\x1b[0m \x1b[2J")
    broken = hostile.save(folder / "hostile.jsonl")
    with broken.open("a") as file:
        file.write("no call at all\n")
    yield [broken.name], [Shot("hostile"), Shot("hostile-dark", dark=True)]


def many(path: Path) -> Path:
    """A long conversation with late forks."""
    agent = Agent()
    for number in range(300):
        agent.asks(f"Step {number}") if number % 9 == 0 else agent.result(f"t{number - 1}", "done")
        agent.calls(f"t{number}", "Bash", command=f"make step-{number}")
        if number in (40, 120, 200):
            kept = list(agent.messages)
            del agent.messages[len(kept) - 60 :]
            agent.asks(f"Rather another way than step {number}").says("That works too.")
            agent.messages = kept
        if number % 9 == 8:
            agent.result(f"t{number}", "done", is_error=number % 18 == 8).says(f"Step {number} is done.")
    return agent.save(path)


def shop(path: Path) -> Path:
    """An afternoon with an agent: a retry, a fork, a sub-agent, and a prompt cache that was missed."""
    agent = Agent(start=1_772_460_120)
    agent.size = 14_000
    agent.asks("Make the login use tokens instead of passwords").calls("r1", "Read", file_path="src/auth.py")
    agent.result("r1", "def login(user, password):\n    session['password'] = password\n    return user")
    agent.calls("b1", "Bash", command="pytest -q tests/auth").result("b1", "1 failed, 4 passed", is_error=True)
    agent.fails().calls(
        "e1",
        "Edit",
        file_path="src/auth.py",
        old_string="session['password'] = password",
        new_string="token = make_token(user)\n    session['token'] = token",
    )
    agent.result("e1", "The file has been updated.")
    agent.calls("a1", "Agent", description="find other uses", prompt="Find every use of session['password'].")
    helper = Agent("claude-haiku-4-5", agent.time)
    helper.system, helper.tools, helper.size = "You search code.", TOOLS[2:3], 1200
    helper.asks("Find every use of session['password'].").calls(
        "g1", "Bash", command="grep -rn \"session\\['password'\\]\" src"
    )
    helper.result("g1", "src/api.py:14: check(session['password'])").says("src/api.py:14 is the only other use.")
    agent.time = helper.time
    agent.result("a1", "src/api.py:14 is the only other use.")
    agent.calls(
        "e2",
        "Edit",
        file_path="src/api.py",
        old_string="check(session['password'])",
        new_string="check_token(session['token'])",
    )
    agent.result("e2", "The file has been updated.").calls("b2", "Bash", command="pytest -q tests/auth")
    agent.result("b2", "5 passed in 0.41s").says(DONE)
    before = len(agent.messages)
    agent.asks("Let tokens expire after an hour").calls(
        "e3", "Edit", file_path="src/auth.py", old_string="make_token(user)", new_string="make_token(user, hours=1)"
    )
    del agent.messages[before:]
    agent.asks("Let tokens expire after one day").calls(
        "e4", "Edit", file_path="src/auth.py", old_string="make_token(user)", new_string="make_token(user, days=1)"
    )
    agent.result("e4", "The file has been updated.")
    agent.tools = [
        TOOLS[0],
        {**TOOLS[1], "description": "Edit something, and say which lines were changed."},
        *TOOLS[2:],
    ]
    agent.misses("Tokens expire after **one day** now. Nothing tests it yet; shall I add a test?")
    for number, record in enumerate(helper.records):
        record["id"] = f"helper-{number}"
    agent.records += helper.records
    return agent.save(path)


if __name__ == "__main__":
    main()
