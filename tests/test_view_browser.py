"""The viewer in a real browser."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browsing import CHROMIUM, FLAGS, missing, viewer
from conftest import Run
from logs import Claude
from test_view_data import PIXEL
from viewing import TOOLS, Agent, a_day

if reason := missing():
    pytest.skip(f"the viewer was not tested: {reason}", allow_module_level=True)

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import ViewportSize

AXE = Path(__file__).parent.parent / "web" / "node_modules" / "axe-core" / "axe.min.js"
WIDE: "ViewportSize" = {"width": 1400, "height": 900}
NARROW: "ViewportSize" = {"width": 360, "height": 740}
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Faults(list[str]):
    """What the browser complained of: scripts that failed, what the policy refused, requests to elsewhere."""

    def watch(self, page: Page, home: str) -> None:
        def said(message: ConsoleMessage) -> None:
            if message.type == "error" and "net::ERR_" not in message.text:  # a viewer that ended before its page
                self.append(message.text)

        def asked(request: Request) -> None:
            if not request.url.startswith((home.rpartition("/")[0], "data:")):
                self.append(request.url)

        page.on("pageerror", lambda error: self.append(f"error: {error}"))
        page.on("console", said)
        page.on("request", asked)


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """A page of its own for each test, which must not complain of anything."""
    contexts = []
    faults = Faults()

    def open_page(address: str, view: "ViewportSize" = WIDE, scheme: str = "light", **more: Any) -> Page:
        context = browser.new_context(viewport=view, color_scheme=scheme, timezone_id="UTC", **more)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        faults.watch(page, address.partition("?")[0])
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    agent = a_day()
    agent.tools = [{**TOOLS[0], "description": "Read a file."}, *TOOLS[1:]]
    agent.asks("Now the docs").misses("They are written.")
    return agent.save(tmp_path_factory.mktemp("browser") / "trace.jsonl")


@pytest.fixture(scope="module")
def address(trace: Path) -> Iterator[str]:
    with viewer(trace) as address:
        yield address


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = Claude().user("Mend the bridge").calls("t1", "Bash", command="make").result("t1", "ok\nall good")
    log.calls("t2", "Edit", file_path="a.py", old_string="x = 1", new_string="x = 2").result("t2", "done")
    log.says("It holds **now**.").user("And paint it").says("Red it is.")
    return log.save(tmp_path_factory.mktemp("session") / "log.jsonl")


def rows(page: Page) -> Any:
    return page.get_by_role("listbox", name="Requests").locator(".row")


def selected(page: Page) -> str:
    return re.sub(r".*graph/([^?]*).*", r"\1", page.url)


def ready(page: Page) -> None:
    expect(page.locator(".request[data-ready=true]")).to_be_visible()


def test_the_graph_and_what_is_new_in_a_request(open_page: Open, address: str) -> None:
    page = open_page(address)
    expect(rows(page)).to_have_count(6)
    expect(rows(page).nth(0)).to_contain_text("Make the tests pass")
    expect(rows(page).nth(2)).to_contain_text("529 Overloaded")
    rows(page).nth(1).click()
    ready(page)
    new = page.locator("section", has=page.get_by_role("heading", name="New in this request"))
    expect(new.locator("article")).to_have_count(1)
    expect(new).to_contain_text("Read")
    response = page.locator("section", has=page.get_by_role("heading", name="Response"))
    expect(response).to_contain_text("pytest -q")
    expect(response).to_contain_text("1 failed")  # the result, which the next request brought
    page.get_by_role("button", name="Unchanged").click()
    expect(page.get_by_text("You are Claude Code.").first).to_be_visible()


def test_why_the_cache_missed_and_what_it_cost(open_page: Open, address: str) -> None:
    page = open_page(address)
    rows(page).nth(5).click()
    cache = page.locator("#cache")
    expect(cache).to_contain_text("Tool `Read` changed its description")
    expect(cache).to_contain_text("+$0.0")
    expect(cache.locator("ins")).to_contain_text("a file")


def test_keys(open_page: Open, address: str) -> None:
    page = open_page(address)
    ready(page)
    for step in ("j c1", "ArrowDown c2", "k c1", "l c2", "h c1", "Space c3", "[ c2"):
        key, request = step.split()
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"/{request}$"))
    page.keyboard.press("d")
    expect(page.get_by_role("heading", name=re.compile("messages? added"))).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("u")
    expect(page.get_by_text("read from the cache", exact=True)).to_be_visible()
    page.keyboard.press("t")
    expect(page.get_by_role("region", name="Transcript")).to_be_visible()
    page.keyboard.press("g")
    expect(rows(page).first).to_be_visible()


def test_filters_and_order(open_page: Open, address: str) -> None:
    page = open_page(address)
    page.get_by_label("Filter by text").fill("pytest")
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name=re.compile("clear")).click()
    expect(rows(page)).to_have_count(6)
    page.get_by_label("errors").check()
    expect(rows(page)).to_have_count(2)
    page.get_by_label("errors").uncheck()
    page.get_by_label("Tool", exact=True).select_option("Edit")
    expect(rows(page)).to_have_count(1)
    page.get_by_label("Tool", exact=True).select_option("")
    page.get_by_label("misses").check()
    expect(rows(page)).to_have_count(1)
    page.get_by_label("misses").uncheck()
    page.get_by_label("Order").select_option("newest")
    expect(rows(page).first).to_contain_text("Now the docs")


def test_search(open_page: Open, address: str) -> None:
    page = open_page(address)
    ready(page)
    page.keyboard.press("/")
    page.keyboard.type("1 FAILED")
    hits = page.get_by_role("option", name=re.compile("1 failed"))
    expect(hits).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("graph/c2$"))


def test_a_deep_link_and_a_reload(open_page: Open, address: str) -> None:
    page = open_page(address)
    rows(page).nth(3).click()
    ready(page)
    link = page.url
    page.reload()
    ready(page)
    expect(page.get_by_role("heading", name="#4")).to_be_visible()
    assert page.url == link
    page.goto(link.replace("c3", "nothing"))
    expect(page.get_by_role("alert")).to_contain_text("No request")


def test_raw_settings_and_curl(open_page: Open, address: str) -> None:
    page = open_page(address)
    ready(page)
    for name, words in (("Settings", '"max_tokens": 1000'), ("Raw", '"timestamp"'), ("curl", "api.anthropic.com")):
        page.get_by_role("button", name=name).click()
        expect(page.locator(".code", has_text=words)).to_be_visible()


def test_copying(open_page: Open, address: str) -> None:
    page = open_page(address, permissions=["clipboard-read", "clipboard-write"])
    ready(page)
    page.keyboard.press("y")
    expect(page.get_by_role("status").filter(has_text="link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_a_diff_word_by_word(open_page: Open, address: str) -> None:
    page = open_page(address)
    rows(page).nth(5).click()
    ready(page)
    page.keyboard.press("d")
    told = page.locator(".told")
    expect(told).to_contain_text("tool Read changed")
    expect(page.locator(".diff ins", has_text="file")).to_be_visible()


def test_a_session(open_page: Open, session: Path) -> None:
    with viewer(session) as address:
        page = open_page(address)
        index = page.get_by_role("complementary", name="Prompts")
        expect(index.get_by_role("button")).to_have_count(2)
        expect(index.get_by_role("button").first).to_contain_text("It holds **now**.")
        transcript = page.get_by_role("region", name="Transcript")
        expect(transcript.locator("strong", has_text="now")).to_be_visible()
        expect(transcript.locator(".one .removed")).to_contain_text("x = 1")
        transcript.get_by_role("button", name=re.compile("Bash")).click()
        expect(transcript.get_by_text("all good")).to_be_visible()
        transcript.locator("article.said").first.hover()
        transcript.locator("article.said").first.get_by_role("link", name="request").click()
        ready(page)
        expect(page.locator(".request")).to_contain_text("It holds")


def test_pictures_are_shown(open_page: Open, tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    agent = Agent().asks("Look").calls("t1", "Read", file_path="a.png").result("t1", [image]).says("I see")
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = open_page(address)
        rows(page).nth(1).click()
        expect(page.locator("img")).to_be_visible()
        assert page.locator("img").evaluate("image => image.naturalWidth") == 1
        page.keyboard.press("t")
        expect(page.get_by_role("region", name="Transcript").locator("img")).to_be_visible()


def test_what_grows_appears_and_nothing_moves(open_page: Open, tmp_path: Path) -> None:
    agent = a_day()
    path = agent.save(tmp_path / "trace.jsonl")
    with viewer(path) as address:
        page = open_page(address)
        rows(page).nth(1).click()
        ready(page)
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        agent.asks("One more").says("Here it is")
        with path.open("a") as file:
            file.write(json.dumps(agent.records[-1]) + "\n")
        expect(rows(page)).to_have_count(6, timeout=20_000)
        expect(rows(page).nth(5)).to_contain_text("One more")
        assert selected(page) == "c1"


def test_no_request_yet(open_page: Open, tmp_path: Path) -> None:
    """A recorder's file before its first call; then the first call."""
    path = tmp_path / "trace.jsonl"
    path.touch()
    with viewer(path) as address:
        page = open_page(address)
        expect(page.get_by_text("No recorded call in it yet.")).to_be_visible()
        Agent().asks("First").says("Yes").save(path)
        expect(rows(page)).to_have_count(1, timeout=20_000)


def test_no_session_at_all(open_page: Open, tmp_path: Path) -> None:
    with viewer(HOME=str(tmp_path), UNSPOOL_CACHE=str(tmp_path)) as address:
        expect(open_page(address).get_by_text("No agent logs here.")).to_be_visible()


def test_a_broken_file_says_what_was_not_read(open_page: Open, tmp_path: Path) -> None:
    path = Agent().asks("One").says("1").save(tmp_path / "trace.jsonl")
    with path.open("a") as file:
        file.write('{"not": "a call"}\nnothing of the kind\n')
    with viewer(path) as address:
        page = open_page(address)
        page.get_by_role("button", name=re.compile("Not understood")).click()
        expect(page.get_by_text("trace.jsonl:3")).to_be_visible()


def test_dark_and_light(open_page: Open, address: str) -> None:
    page = open_page(address, scheme="dark")
    ready(page)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 23, 27)"
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.reload()
    ready(page)
    assert page.evaluate(colour) == "rgb(255, 255, 255)"


def test_a_narrow_screen(open_page: Open, address: str) -> None:
    page = open_page(address, NARROW)
    rows(page).nth(1).click()
    ready(page)
    expect(rows(page).first).not_to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.get_by_role("button", name="Show the list").click()
    expect(rows(page).first).to_be_visible()
    for key in ("t", "u"):
        page.keyboard.press("Escape")
        page.keyboard.press(key)
        page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_ten_thousand_requests(open_page: Open, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with path.open("w") as file:
        for number in range(500):
            agent = Agent(start=1_772_460_000 + 100 * number).asks(f"Task {number}")
            for step in range(20):
                agent.says(f"Answer {number}.{step}").asks(f"Step {step}")
            for record in agent.records:
                record["request"]["messages"] = record["request"]["messages"][-3:]
                record["id"] = f"t{number}-{record['id']}"
            file.writelines(json.dumps(record) + "\n" for record in agent.records)
    with viewer(path) as address:
        page = open_page(address)
        expect(page.get_by_text("10,000 requests")).to_be_visible(timeout=60_000)
        assert rows(page).count() < 120
        page.locator("[role=listbox] > div").first.evaluate("list => list.scrollTo(0, list.scrollHeight)")
        expect(rows(page).last).to_contain_text("Step 18")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: Open, address: str, session: Path, scheme: str) -> None:
    assert AXE.is_file(), "npm packages are not installed: `make web`"
    page = open_page(address, scheme=scheme, bypass_csp=True)
    ready(page)
    page.wait_for_timeout(300)
    check(page, "graph")
    page.keyboard.press("d")
    for key in ("t", "u", "/"):
        page.keyboard.press(key)
        page.wait_for_timeout(400)
        check(page, key)
    with viewer(session) as other:
        page = open_page(other, scheme=scheme, bypass_csp=True)
        expect(page.get_by_role("region", name="Transcript")).to_be_visible()
        page.keyboard.press("e")
        page.wait_for_timeout(300)
        check(page, "session")


def check(page: Page, where: str) -> None:
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")
    told = [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found["violations"]]
    assert told == [], where


def test_a_page_opens_from_disk(open_page: Open, unspool: Run, trace: Path, session: Path, tmp_path: Path) -> None:
    done = unspool("export", "html", trace, session, "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    page = open_page((tmp_path / "page.html").as_uri())
    page.get_by_role("link", name=re.compile("trace.jsonl")).click()
    expect(rows(page)).to_have_count(6)
    rows(page).nth(5).click()
    ready(page)
    expect(page.locator("#cache")).to_contain_text("Tool `Read` changed its description")
    page.get_by_role("button", name="Unchanged").click()
    expect(page.get_by_text("Make the tests pass").nth(1)).to_be_visible()
    page.keyboard.press("t")
    expect(page.get_by_role("region", name="Transcript")).to_contain_text("They are written.")
    page.keyboard.press("/")
    page.keyboard.type("pytest")
    expect(page.get_by_role("option", name=re.compile("pytest")).first).to_be_visible()


def test_a_site_opens_from_disk(open_page: Open, unspool: Run, trace: Path, session: Path, tmp_path: Path) -> None:
    done = unspool("export", "html", trace, session, "--site", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    page = open_page((tmp_path / "site" / "index.html").as_uri())
    page.get_by_role("link", name=re.compile("Mend the bridge")).click()
    expect(page.get_by_role("region", name="Transcript")).to_contain_text("It holds")
    page.get_by_role("link", name="unspool").click()
    page.get_by_role("link", name=re.compile("trace.jsonl")).click()
    expect(rows(page)).to_have_count(6)
