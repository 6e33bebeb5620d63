"""The viewer in a real browser, in every state: growing, empty, broken, dark, narrow, large, exported."""

import json
import re
from pathlib import Path

import pytest

from browsing import NARROW, Window, missing, ready, rows, scroll_down_to, selected, viewer
from conftest import Run
from logs import Claude
from viewing import Agent, a_day

if reason := missing():
    pytest.skip(f"the viewer was not tested: {reason}", allow_module_level=True)

from playwright.sync_api import Page, expect

AXE = Path(__file__).parent.parent / "web" / "node_modules" / "axe-core" / "axe.min.js"
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    "rules": {"landmark-one-main": {"enabled": True}, "page-has-heading-one": {"enabled": True}},
}


def test_what_grows_appears_and_nothing_moves(window: Window, tmp_path: Path) -> None:
    agent = a_day()
    path = agent.save(tmp_path / "trace.jsonl")
    with viewer(path) as address:
        page = window.open(address)
        rows(page).nth(1).click()
        ready(page)
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        agent.asks("One more").says("Here it is")
        with path.open("a") as file:
            file.write(json.dumps(agent.records[-1]) + "\n")
        expect(rows(page)).to_have_count(6, timeout=20_000)
        expect(rows(page).nth(5)).to_contain_text("One more")
        expect(page.get_by_role("button", name=re.compile("new ↓"))).to_have_count(0)  # it is seen already
        assert selected(page) == "c1"


def test_a_transcript_that_grows(window: Window, tmp_path: Path) -> None:
    """A call without a result gets it; what is shown stays where it is."""
    log = Claude().user("Mend it").calls("t1", "Bash", command="make")
    path = log.save(tmp_path / "log.jsonl")
    with viewer(path) as address:
        page = window.open(address)
        transcript = page.get_by_role("region", name="Transcript")
        expect(transcript.get_by_text("no result")).to_have_count(1)
        log.result("t1", "all built").says("It is mended.").save(path)
        expect(transcript.get_by_text("It is mended.")).to_be_visible(timeout=20_000)
        expect(transcript.get_by_text("no result")).to_have_count(0)


def test_where_there_is_little_room_a_conversation_keeps_its_title(window: Window, tmp_path: Path) -> None:
    day, title = a_day(), "Move the opening hours into the calendar"
    other = Agent(start=day.time + 60).asks(title).says("Moved.").asks("Thanks").says("Gladly.")
    for number, record in enumerate(other.records):
        record["id"] = f"other-{number}"
    day.records += other.records
    with viewer(day.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address, {"width": 900, "height": 700})
        heading = page.locator(".head", has_text=title)
        assert heading.locator(".what").evaluate("title => title.clientWidth") > 150
        expect(heading).to_contain_text("2 requests")


def test_all_facts_of_a_session_are_shown_on_a_small_screen(window: Window, tmp_path: Path) -> None:
    for name in ("one", "two"):
        Claude(name).user("Mend it").says("Mended.").save(tmp_path / f"{name}.jsonl")
    with viewer(tmp_path) as address:
        page = window.open(address, {"width": 620, "height": 700})
        facts = page.locator(".reel .facts").first
        expect(facts).to_contain_text("1 turn")
        assert facts.evaluate("line => line.scrollWidth <= line.clientWidth")


def test_many_tabs_all_follow(window: Window, tmp_path: Path) -> None:
    """A browser holds six connections to a server: more tabs than that must not wait for each other."""
    agent = a_day()
    path = agent.save(tmp_path / "trace.jsonl")
    with viewer(path) as address:
        first = window.open(address)
        ready(first)
        pages = [first.context.new_page() for _ in range(7)]
        for page in pages:
            page.goto(first.url)
            expect(rows(page)).to_have_count(5)
            expect(page.get_by_text("live", exact=True)).to_be_visible()
        for count, gone in ((6, None), (7, first)):
            if gone is not None:  # the tab that listened for all
                gone.close()
                expect(pages[0].get_by_text("live", exact=True)).to_be_visible()
            agent.asks(f"Question {count}").says("Here it is")
            agent.save(path)
            for page in (pages[0], pages[-1]):
                expect(rows(page)).to_have_count(count, timeout=20_000)


def test_a_hit_in_a_closed_session_leads_to_it(window: Window, missed: Path, tmp_path: Path) -> None:
    log = Claude()
    for number in range(300):
        log.user(f"Task {number}").calls(f"t{number}", "Bash", command="make").result(
            f"t{number}", f"made needle{number}."
        )
        log.says("Done")
    with viewer(missed, log.save(tmp_path / "log.jsonl")) as address:
        page = window.open(address)
        page.locator(".reel").first.wait_for()
        for number in (200, 100):  # it is closed, then open
            words = f"needle{number}."
            page.keyboard.press("/")
            page.keyboard.type(words)
            expect(page.get_by_role("option", name=re.compile(words))).to_be_visible()
            page.keyboard.press("Enter")
            card = page.locator(f'.marked[data-card="{3 * number + 1}"]')  # a prompt, a call and an answer each
            card.get_by_role("button", name="Bash").click()
            expect(card).to_contain_text(words)
        region = page.get_by_role("region", name="Transcript")
        scroll_down_to(region, region.get_by_text("Task 299"))  # 900 cards, sent 200 at a time
        expect(page.locator("[aria-current=true]").filter(has_text="Task 29")).to_be_visible()
        page.keyboard.press("k")
        expect(page.locator(".marked")).to_contain_text("Task 29")


def test_runs_of_calls_are_folded(window: Window, tmp_path: Path) -> None:
    agent = Agent().asks("Read it all")
    for number in range(60):
        agent.calls(f"t{number}", "Read", file_path=f"{number}.py").result(f"t{number}", "x")
    with viewer(agent.says("Done").save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        expect(rows(page)).to_have_count(3)
        expect(rows(page).nth(1)).to_contain_text("59 calls")
        ready(page)
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(rows(page).nth(2)).to_contain_text("Read 2.py")
        page.keyboard.press("Enter")
        expect(rows(page)).to_have_count(3)


def test_an_unknown_block_is_folded(window: Window, tmp_path: Path) -> None:
    agent = Agent().asks("Hello")
    agent.messages[0]["content"].append({"type": "hologram", "depth": 3})
    with viewer(agent.says("Hi").save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        page.get_by_role("button", name="unknown block hologram").click()
        expect(page.get_by_text('"depth"', exact=True)).to_be_visible()
        expect(rows(page).first).to_contain_text("Hello")


def test_no_request_yet(window: Window, tmp_path: Path) -> None:
    """A recorder's file before its first call; then the first call."""
    path = tmp_path / "trace.jsonl"
    path.touch()
    with viewer(path) as address:
        page = window.open(address)
        expect(page.get_by_text("No recorded call in it yet.")).to_be_visible()
        Agent().asks("First").says("Yes").save(path)
        expect(rows(page)).to_have_count(1, timeout=20_000)


def test_no_session_at_all(window: Window, tmp_path: Path) -> None:
    with viewer(HOME=str(tmp_path), UNSPOOL_CACHE=str(tmp_path)) as address:
        expect(window.open(address).get_by_text("No agent logs here.")).to_be_visible()


def test_a_broken_file_says_what_was_not_read(window: Window, tmp_path: Path) -> None:
    path = Agent().asks("One").says("1").save(tmp_path / "trace.jsonl")
    with path.open("a") as file:
        file.write('{"not": "a call"}\nnothing of the kind\n')
    with viewer(path) as address:
        page = window.open(address)
        page.get_by_role("button", name=re.compile("Not understood")).click()
        expect(page.get_by_text("trace.jsonl:3")).to_be_visible()


def test_dark_and_light(window: Window, address: str) -> None:
    page = window.open(address, dark=True)
    ready(page)
    colour = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(colour) == "rgb(20, 23, 27)"
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(colour) == "rgb(255, 255, 255)"
    page.reload()
    ready(page)
    assert page.evaluate(colour) == "rgb(255, 255, 255)"


def test_what_is_printed_is_whole_and_light(window: Window, tmp_path: Path) -> None:
    agent = Agent().asks("Go").says("\n\n".join(f"Paragraph {number}" for number in range(200)))
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address, dark=True)
        page.get_by_role("button", name=re.compile("more lines")).click()
        page.emulate_media(media="print")
        expect(page.get_by_text("Paragraph 199")).to_be_visible()
        expect(page.get_by_role("navigation", name="Place")).to_contain_text("trace.jsonl")
        for name in ("Copy link", "Copy text", "Diff with", "Keys"):
            expect(page.get_by_label(name).locator("visible=true")).to_have_count(0)
        height = page.locator(".request").evaluate("request => request.offsetHeight")
        assert page.evaluate("document.body.offsetHeight") >= height > 2000
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 32, 39)"


def test_a_viewer_that_ended_says_so(window: Window, missed: Path) -> None:
    with viewer(missed) as address:
        page = window.open(address)
        ready(page)
    expect(page.get_by_text("offline", exact=True)).to_be_visible(timeout=20_000)
    rows(page).nth(4).click()
    expect(page.get_by_role("alert")).to_contain_text("unspool does not run any more")


def test_a_narrow_screen(window: Window, address: str) -> None:
    page = window.open(address, NARROW)
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
    lists = page.get_by_role("button", name="Show the list")
    expect(lists).to_have_count(0)  # usage has none
    page.keyboard.press("t")
    prompts = page.get_by_role("complementary", name="Prompts")
    expect(prompts).not_to_be_visible()
    lists.click()
    expect(prompts).to_be_visible()
    page.mouse.click(350, 400)  # beside it
    expect(prompts).not_to_be_visible()


def test_ten_thousand_requests(window: Window, tmp_path: Path) -> None:
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
        page = window.open(address)
        expect(page.get_by_text("10,000 requests")).to_be_visible(timeout=60_000)
        assert rows(page).count() < 120
        page.locator("[role=listbox] > div").first.evaluate("list => list.scrollTo(0, list.scrollHeight)")
        expect(rows(page).last).to_contain_text("Step 18")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(window: Window, missed: Path, address: str, session: Path, dark: bool) -> None:
    assert AXE.is_file(), "npm packages are not installed: `make web`"
    page = window.open(address, dark=dark, bypass_csp=True)
    ready(page)
    page.wait_for_timeout(300)
    check(page, "graph")
    page.keyboard.press("d")
    for key in ("t", "u", "/"):
        page.keyboard.press(key)
        page.wait_for_timeout(400)
        check(page, key)
    with viewer(session) as other:
        page = window.open(other, dark=dark, bypass_csp=True)
        expect(page.get_by_role("region", name="Transcript")).to_be_visible()
        expect(page.get_by_role("heading", name="user", level=2)).to_have_count(2)  # from prompt to prompt
        page.keyboard.press("e")
        page.wait_for_timeout(300)
        check(page, "session")
        page.set_viewport_size(NARROW)
        check(page, "narrow")
    with viewer(session, missed) as other:
        page = window.open(other, dark=dark, bypass_csp=True)
        expect(page.get_by_role("list", name="Traces and sessions")).to_be_visible()
        check(page, "list")


def check(page: Page, where: str) -> None:
    page.evaluate(AXE.read_text())
    found = page.evaluate("rules => axe.run(document, rules)", RULES)
    told = [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found["violations"]]
    assert told == [], where


def test_usage_of_all_by_tool(window: Window, missed: Path, session: Path) -> None:
    """By session as long as none was read; then every call counts."""
    with viewer(missed, session) as address:
        page = window.open(address)
        page.get_by_role("link", name="Usage").click()
        expect(page.get_by_role("heading", name=re.compile("Cost over time, by model"))).to_be_visible()
        expect(
            page.get_by_text("not at all (≥). Sessions that were not opened yet are priced by what each")
        ).to_be_visible()
        expect(page.get_by_role("columnheader", name="errors")).to_have_count(0)  # nobody knows them yet
        page.get_by_role("button", name="tool", exact=True).click()
        expect(page.get_by_role("row", name=re.compile("^Bash 2 "))).to_be_visible()
        expect(page.get_by_role("row", name=re.compile("^Edit 2 "))).to_be_visible()
        expect(page.get_by_role("heading", name=re.compile("Cost over time, by tool"))).to_be_visible()
        expect(page.get_by_role("columnheader", name="calls")).to_be_visible()
        expect(page.get_by_role("columnheader", name="errors")).to_be_visible()


def test_a_thread_with_its_forks_grows(window: Window, unspool: Run, home: Path) -> None:
    def add(text: str, *more: str) -> str:
        return unspool("thread", "add", text, *more).stdout.decode().strip()

    add("Why is the sky blue?", "-b", "sky")
    answer = add("Rayleigh.", "-c", "sky", "--role", "assistant")
    with viewer("sky", UNSPOOL_HOME=str(home)) as address:
        page = window.open(address)
        expect(rows(page)).to_have_count(1)
        assert selected(page) == answer
        add("And the sea?", "-c", answer, "-b", "sea")
        add("It mirrors.", "-c", "sea", "--role", "assistant")
        expect(rows(page)).to_have_count(2, timeout=20_000)
        expect(rows(page).nth(1)).to_contain_text("And the sea?")
        assert selected(page) == answer
        page.get_by_role("button", name="Raw").click()
        expect(page.locator(".code", has_text='"role": "assistant"')).to_be_visible()


def test_a_page_opens_from_disk(window: Window, unspool: Run, missed: Path, session: Path, tmp_path: Path) -> None:
    done = unspool("export", "html", missed, session, "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    page = window.open((tmp_path / "page.html").as_uri())
    page.get_by_role("link", name=re.compile("trace.jsonl")).click()
    expect(rows(page)).to_have_count(6)
    rows(page).nth(5).click()
    ready(page)
    expect(page.locator("#cache")).to_contain_text("Tool Read changed its description")
    page.get_by_role("button", name="Unchanged").click()
    expect(page.get_by_text("Make the tests pass").nth(1)).to_be_visible()
    page.keyboard.press("t")
    expect(page.get_by_role("region", name="Transcript")).to_contain_text("They are written.")
    page.keyboard.press("/")
    page.keyboard.type("Bash")
    expect(page.get_by_role("option", name=re.compile("^tool · .*Bash.*pytest -q")).first).to_be_visible()


def test_a_site_opens_from_disk(window: Window, unspool: Run, missed: Path, session: Path, tmp_path: Path) -> None:
    done = unspool("export", "html", missed, session, "--site", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    page = window.open((tmp_path / "site" / "index.html").as_uri())
    page.get_by_role("link", name=re.compile("Mend the bridge")).click()
    expect(page.get_by_role("region", name="Transcript")).to_contain_text("It holds")
    page.get_by_role("link", name="unspool").click()
    page.get_by_role("link", name=re.compile("trace.jsonl")).click()
    expect(rows(page)).to_have_count(6)
    for name, words in (("Settings", '"max_tokens": 1000'), ("Raw", '"timestamp"'), ("curl", "api.anthropic.com")):
        page.get_by_role("button", name=name).click()
        expect(page.locator(".code", has_text=words)).to_be_visible()


def test_search_in_a_site_finds_what_was_not_opened(
    window: Window, unspool: Run, missed: Path, session: Path, tmp_path: Path
) -> None:
    unspool("export", "html", missed, session, "--site", tmp_path / "site")
    page = window.open((tmp_path / "site" / "index.html").as_uri())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    for words, found in (("ALL good", "all good"), ("1 fail", "1 failed"), ("(nowhere at all)", None)):
        page.keyboard.press("/")
        page.keyboard.type(words)
        if found is None:
            expect(page.get_by_role("dialog").get_by_role("status")).to_have_text("Nothing found")
        else:
            expect(page.get_by_role("option", name=re.compile(found)).first).to_be_visible()
            page.keyboard.press("Enter")
            expect(page).to_have_url(re.compile("#/[0-9a-f]+/"))
            page.get_by_role("link", name="unspool").click()
    assert asked.count("search.js") == 1
    assert len(asked) == 3  # and the two in which something was found
