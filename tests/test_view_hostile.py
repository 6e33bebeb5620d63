"""Content of a trace can never run: whatever it holds, in whatever field, in a real browser."""

import json
from base64 import b64encode
from pathlib import Path

import pytest

from browsing import missing, viewer
from conftest import Run
from logs import Claude
from viewing import Agent

if reason := missing():
    pytest.skip(f"the viewer was not tested: {reason}", allow_module_level=True)

from playwright.sync_api import Browser, Page, expect

SPELLS = [
    "<script>window.ran=1</script>",
    "<img src=x onerror=window.ran=1>",
    "<svg onload=window.ran=1><script>window.ran=1</script></svg>",
    "<iframe srcdoc='<script>parent.ran=1</script>'></iframe>",
    "<a href='javascript:window.ran=1' id=bad>click</a>",
    "[click](javascript:window.ran=1)",
    "[click](JaVaScRiPt:window.ran=1)",
    "[click](data:text/html,<script>opener.ran=1</script>)",
    "[click](vbscript:x) <javascript:window.ran=1>",
    "![x](https://evil.example/pixel.png)",
    "![x](x' onerror='window.ran=1)",
    '[a](https://evil.example/"onmouseover="window.ran=1)',
    "```html\n<script>window.ran=1</script>\n```",
    "```<img src=x onerror=window.ran=1>\ncode\n```",
    "<style>body{display:none}</style><link rel=stylesheet href=https://evil.example/x.css>",
    "<math><mtext></mtext><mglyph><style><img src=x onerror=window.ran=1></style></mglyph></math>",
    "</script><script>window.ran=1</script>",
    "</pre></code></div><script>window.ran=1</script>",
    "\x1b]8;;javascript:window.ran=1\x07click\x1b]8;;\x07 \x1b[31mred\x1b[0m \x1b[2J\x1b]0;title\x07",
    "\u202egnp.exe \u2066hidden\u2069 \x00\x08",
    "{{constructor.constructor('window.ran=1')()}} ${window.ran=1} {@html '<img src=x onerror=window.ran=1>'}",
    "__proto__",
]
EVERYTHING = "\n\n".join(SPELLS)


def hostile(folder: Path) -> Path:
    """Recorded calls with such text in every field, and a session of an agent's."""
    agent = Agent(model=SPELLS[1])
    agent.system = EVERYTHING
    agent.tools = [
        {"name": SPELLS[1], "description": EVERYTHING, "input_schema": {"type": "object", "title": EVERYTHING}},
        {"name": "Edit", "description": EVERYTHING, "input_schema": {}},
    ]
    agent.asks(EVERYTHING).calls(SPELLS[1], SPELLS[1], command=EVERYTHING, __proto__={"ran": 1})
    agent.result(SPELLS[1], EVERYTHING, is_error=True)
    agent.calls("e", "Edit", file_path=SPELLS[2], old_string=EVERYTHING, new_string=EVERYTHING[::-1]).result("e", "x")
    agent.fails(EVERYTHING).says(EVERYTHING, thinking=EVERYTHING)
    drawing = b64encode(b"<svg onload=ran=1><script>ran=1</script></svg>").decode()
    agent.messages[0]["content"] += [
        {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": drawing}},
        {"type": "image", "source": {"type": "url", "url": "https://evil.example/pixel.png"}},
        {"type": SPELLS[1], SPELLS[2]: EVERYTHING},
    ]
    agent.asks("More").says("Yes")
    for number, record in enumerate(agent.records):
        record["id"] = f"{SPELLS[number]}/../?#%00{number}"
    (folder / "<img src=x onerror=ran=1>").mkdir()
    place = folder / "<img src=x onerror=ran=1>"
    agent.save(place / "trace.jsonl")
    log = Claude().user(EVERYTHING).calls("t1", "Bash", command=EVERYTHING).result("t1", EVERYTHING).says(EVERYTHING)
    log.save(place / "log.jsonl")
    with (place / "trace.jsonl").open("a") as file:
        file.write(json.dumps({SPELLS[1]: EVERYTHING}) + "\n" + SPELLS[0] + "\n")
    return place


def look_everywhere(page: Page) -> None:
    """Open each view, each row, each card, each section; click what looks like a link."""
    page.wait_for_timeout(300)
    for reel in range(2):
        page.goto(page.url.partition("#")[0] + "#/")
        page.locator(".reel").nth(reel).click()
        page.wait_for_timeout(400)
        for key in ("g", "e", "j", "j", "d", "j", "j", "t", "u", "/"):
            page.keyboard.press(key)
            page.wait_for_timeout(150)
        page.keyboard.type("img")
        page.wait_for_timeout(400)
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        for name in ("Unchanged", "Tools", "Settings", "Raw", "curl", "Notes", "Not understood"):
            button = page.get_by_role("button", name=name, exact=False)
            if button.count():
                button.first.click()
                page.wait_for_timeout(100)
        for link in page.get_by_role("link", name="click").all()[:10]:
            assert link.get_attribute("href", timeout=1000) is None
        page.keyboard.press("t")
        page.wait_for_timeout(300)


@pytest.mark.parametrize("how", ["server", "page", "site"])
def test_nothing_of_it_runs(browser: Browser, unspool: Run, tmp_path: Path, how: str) -> None:
    place = hostile(tmp_path)
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    page = context.new_page()
    faults: list[str] = []
    page.on("dialog", lambda dialog: faults.append(dialog.message))
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    page.on("popup", lambda opened: faults.append(opened.url))
    page.on("request", lambda asked: faults.append(asked.url) if "evil" in asked.url else None)
    page.on("console", lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None)
    if how == "server":
        with viewer(place) as address:
            page.goto(address)
            look_everywhere(page)
            ran = page.evaluate("window.ran")
    else:
        target = tmp_path / ("page.html" if how == "page" else "site")
        done = unspool("export", "html", place, "-o" if how == "page" else "--site", target)
        assert done.returncode == 0, done.stderr
        page.goto((target if how == "page" else target / "index.html").as_uri())
        look_everywhere(page)
        ran = page.evaluate("window.ran")
    assert ran is None
    assert page.evaluate("({}).ran") is None
    assert faults == []
    context.close()


def test_what_it_says_is_shown_as_text(browser: Browser, tmp_path: Path) -> None:
    Agent().asks("Hello").says(SPELLS[1] + "\n\n\x1b[31mred\x1b[0m\x07").save(tmp_path / "trace.jsonl")
    with viewer(tmp_path / "trace.jsonl") as address:
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        said = page.locator("article.said .md")
        expect(said).to_contain_text(SPELLS[1])
        assert said.locator("img").count() == 0
        expect(said).to_contain_text("red")
        context.close()
