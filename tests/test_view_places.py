"""The viewer in a real browser: who goes away and comes back, opens or folds things, finds the place again."""

import re
from pathlib import Path

import pytest

from browsing import NARROW, Window, missing, ready, viewer
from logs import Claude
from viewing import Agent

if reason := missing():
    pytest.skip(f"the viewer was not tested: {reason}", allow_module_level=True)

from playwright.sync_api import expect

NUMBERED = "\n".join(f"{number}\t{'def f(): pass' if number == 40 else '# a line'}" for number in range(40, 70))


def test_back_to_the_list_is_back_to_where_one_was(window: Window, tmp_path: Path) -> None:
    for number in range(60):
        Claude(f"s{number:02}", day=1 + number % 28).user(f"Prompt {number}").says("Done").save(
            tmp_path / f"{number:02}.jsonl"
        )
    with viewer(tmp_path) as address:
        page = window.open(address)
        page.locator(".reel").first.wait_for()
        page.keyboard.press("f")
        page.keyboard.type("prompt")
        page.keyboard.press("Escape")
        page.keyboard.press("End")
        focused = page.locator(".reel:focus .name")
        expect(focused).to_be_visible()
        name = focused.inner_text()
        page.keyboard.press("Enter")
        expect(page.get_by_role("region", name="Transcript")).to_be_visible()
        page.keyboard.press("Escape")
        expect(focused).to_have_text(name)
        expect(page.locator("#filter")).to_have_value("prompt")
        page.keyboard.press("u")
        expect(page).to_have_url(re.compile("#/usage$"))
        page.keyboard.press("Escape")
        expect(focused).to_have_text(name)


def test_expanding_all_leaves_what_is_read_where_it_is(window: Window, tmp_path: Path) -> None:
    agent = Claude(agent="abc").later(3).user("Find the prices")
    for number in range(30):
        agent.calls(f"g{number}", "Grep", pattern="price").result(f"g{number}", "line\n" * 40)
    agent.says("price.py").save(tmp_path / "agent-abc.jsonl")
    log = Claude().user("Mend the prices").calls("t1", "Task", prompt="Find the prices", description="Find")
    log.later(60).result("t1", "price.py", agentId="abc").says("Done")
    for number in range(12):
        log.user(f"Prompt {number}").says("Done\n\n" * 5)
    with viewer(log.save(tmp_path / "log.jsonl")) as address:
        page = window.open(address)
        page.get_by_role("region", name="Transcript").get_by_text("Mend the prices").wait_for()
        for _ in range(5):
            page.keyboard.press("j")
        marked = page.locator(".marked")
        expect(marked).to_contain_text("Prompt 4")
        expect(marked).to_be_in_viewport()
        for _ in range(2):
            page.keyboard.press("e")
            page.wait_for_timeout(700)  # what is drawn is measured, and put in its place
            expect(marked).to_be_in_viewport()


def test_what_nobody_typed_is_folded_to_the_first_of_it(window: Window, tmp_path: Path) -> None:
    log = Claude().user("Boil water")
    for number in range(6):
        log.user(f"<system-reminder>Reminder {number}</system-reminder>", isMeta=True)
    log.says("It boils").user("<system-reminder>Alone</system-reminder>", isMeta=True).says("Still")
    with viewer(log.save(tmp_path / "log.jsonl")) as address:
        page = window.open(address)
        region = page.get_by_role("region", name="Transcript")
        expect(region.get_by_text("Reminder 0")).to_be_visible()
        expect(region.get_by_text("Alone")).to_be_visible()
        expect(region.get_by_text("Reminder 5")).to_have_count(0)
        more = region.get_by_role("button", name="5 more things that nobody typed")
        more.click()
        expect(region.get_by_text("Reminder 5")).to_be_visible()
        region.get_by_role("button", name="less").click()
        expect(region.get_by_text("Reminder 5")).to_have_count(0)
        page.keyboard.press("/")
        page.keyboard.type("Reminder 4")
        page.get_by_role("option").first.click()
        expect(region.locator(".marked")).to_contain_text("Reminder 4")


def test_a_folded_text_says_how_many_lines_are_hidden(window: Window, tmp_path: Path) -> None:
    log = Claude().user("Count").says("  \n".join(f"line {number}" for number in range(1, 41)))
    with viewer(log.save(tmp_path / "log.jsonl")) as address:
        page = window.open(address)
        expect(page.get_by_role("button", name="28 more lines")).to_be_visible()
        folded = page.locator(".body.cut")
        seen = folded.evaluate("box => box.clientHeight / parseFloat(getComputedStyle(box).lineHeight)")
        assert round(seen) == 12


def test_lines_of_a_file_have_its_numbers(window: Window, tmp_path: Path) -> None:
    log = Claude().user("Read it").calls("t1", "Read", file_path="/home/ada/shop/a.py").result("t1", NUMBERED)
    with viewer(log.says("Done").save(tmp_path / "log.jsonl")) as address:
        page = window.open(address)
        page.locator(".head button", has_text="Read").click()
        line = page.locator(".output .line").first
        expect(line).to_have_text("40def f(): pass")
        page.get_by_role("button", name="18 more lines").click()
        expect(line).to_have_text("40def f(): pass")
        expect(line.locator(".hljs-keyword").first).to_have_text("def")
        expect(page.locator(".output .line").last.locator(".no")).to_have_text("69")


@pytest.mark.parametrize("width", [1300, 1700])
def test_an_edit_is_read_to_everybody_and_stands_side_by_side_where_there_is_room(
    window: Window, tmp_path: Path, width: int
) -> None:
    log = Claude().user("Go").calls("t1", "Edit", file_path="a.py", old_string="x = 1", new_string="x = 2")
    with viewer(log.result("t1", "done").save(tmp_path / "log.jsonl")) as address:
        page = window.open(address, {"width": width, "height": 800})
        change = page.get_by_role("group", name="change")
        expect(change).to_be_visible()
        told = change.aria_snapshot()
        assert "x = 1" in told
        assert "x = 2" in told
        expect(change.get_by_role("deletion")).to_have_count(1 if width > 1400 else 0)


def test_a_plot_can_be_read_on_a_fine_screen(window: Window, tmp_path: Path) -> None:
    with viewer(Agent().asks("Hello").says("Hi").save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address, device_scale_factor=2)
        ready(page)
        page.evaluate(
            "() => { const draw = CanvasRenderingContext2D.prototype.fillText; window.fonts = [];"
            " CanvasRenderingContext2D.prototype.fillText = function (...told)"
            " { window.fonts.push(this.font); return draw.apply(this, told); }; }"
        )
        page.keyboard.press("u")
        expect(page.locator(".plot .u-over")).to_be_visible()
        fonts = page.evaluate("() => [...new Set(window.fonts)]")
        assert fonts
        assert all(font.startswith("24px") for font in fonts)


def test_a_sum_says_that_some_has_no_price(window: Window, tmp_path: Path) -> None:
    Agent("claude-sonnet-4-5").asks("Hello").says("Hi").save(tmp_path / "a.jsonl")
    Agent("nobody-knows-1").asks("Hello").says("Hi").save(tmp_path / "b.jsonl")
    with viewer(tmp_path) as address, viewer(tmp_path / "a.jsonl", tmp_path / "b.jsonl") as apart:
        page = window.open(address)
        ready(page)
        expect(page.locator(".tabs p")).to_have_text(re.compile(r"≥ \$0\.\d+\s*$"))
        page = window.open(apart)
        expect(page.locator("h1")).to_have_text(re.compile(r"≥ \$0\.\d+\s*$"))


def test_a_narrow_list_says_what_each_conversation_is_about(window: Window, tmp_path: Path) -> None:
    for name in ("a", "b"):
        agent = Agent().asks(f"Which of the kettles of kitchen {name} is it?").says("The red one")
        agent.asks("Thanks").says("Gladly")
        agent.save(tmp_path / f"{name}.jsonl")
    with viewer(tmp_path) as address:
        page = window.open(address, NARROW)
        title = page.locator(".head .what").first
        expect(title).to_contain_text("Which of the kettles")
        assert title.evaluate("title => title.clientWidth") > 160


def test_the_key_that_leads_to_the_cache_shows_what_it_did(window: Window, address: str) -> None:
    page = window.open(address, {"width": 1000, "height": 300})
    ready(page)
    page.keyboard.press("End")
    ready(page)
    change = page.locator("#cache ins")
    expect(change).to_be_visible()
    page.locator("main").evaluate("pane => pane.scrollTo(0, 1e6)")
    expect(change).not_to_be_in_viewport()
    page.keyboard.press("c")
    expect(change).to_be_in_viewport()
    page.keyboard.press("c")
    expect(change).to_have_count(0)


def test_a_transcript_is_scrolled_by_key_and_its_index_goes_along(window: Window, tmp_path: Path) -> None:
    log = Claude()
    for number in range(80):
        log.user(f"Prompt {number}").says("Done\n\n" * 20)
        if number == 60:
            log.calls("t1", "Bash", command="make").result("t1", "broken", failed=True)
    with viewer(log.save(tmp_path / "log.jsonl")) as address:
        page = window.open(address)
        region = page.get_by_role("region", name="Transcript")
        first = region.get_by_text("Prompt 0", exact=True)
        first.wait_for()
        page.keyboard.press("PageDown")
        expect(first).not_to_be_in_viewport()
        page.keyboard.press("Home")
        expect(first).to_be_in_viewport()
        region.get_by_text("Done").first.click()
        page.keyboard.press("PageDown")
        expect(first).not_to_be_in_viewport()
        page.keyboard.press("]")
        prompts = page.get_by_label("Prompts")
        expect(prompts.locator("[aria-current]")).to_contain_text("Prompt 60")
        expect(prompts.locator("[aria-current]")).to_be_in_viewport()
        page.set_viewport_size(NARROW)
        page.keyboard.press("Escape")
        expect(prompts.locator("[aria-current]")).to_be_in_viewport()


def test_who_holds_a_key_goes_a_prompt_further_each_time(window: Window, tmp_path: Path) -> None:
    log = Claude()
    for number in range(60):
        log.user(f"Prompt {number}").says("Done\n\n" * 20)
    with viewer(log.save(tmp_path / "log.jsonl")) as address:
        page = window.open(address)
        page.get_by_role("region", name="Transcript").get_by_text("Prompt 0", exact=True).wait_for()
        for _ in range(40):
            page.keyboard.press("j")
        expect(page.locator(".marked")).to_contain_text("Prompt 40")
        expect(page.locator(".marked")).to_be_in_viewport()
