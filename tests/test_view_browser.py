"""The viewer in a real browser."""

import json
import re
from pathlib import Path

import pytest

from browsing import Window, missing, ready, rows, scroll_down_to, viewer
from test_view_data import PIXEL
from viewing import Agent

if reason := missing():
    pytest.skip(f"the viewer was not tested: {reason}", allow_module_level=True)

from playwright.sync_api import expect

LONG = [f"line {number} of it" for number in range(2500)]


def test_the_graph_and_what_is_new_in_a_request(window: Window, address: str) -> None:
    page = window.open(address)
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


def test_why_the_cache_missed_and_what_it_cost(window: Window, address: str) -> None:
    page = window.open(address)
    rows(page).nth(5).click()
    cache = page.locator("#cache")
    expect(cache).to_contain_text("Tool Read changed its description")
    expect(cache).to_contain_text("+$0.0")
    expect(cache.locator("ins")).to_contain_text("a file")


def test_keys(window: Window, address: str) -> None:
    page = window.open(address)
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


def test_filters_and_order(window: Window, address: str) -> None:
    page = window.open(address)
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


def test_search(window: Window, address: str) -> None:
    page = window.open(address)
    ready(page)
    page.keyboard.press("/")
    page.keyboard.type("1 FAILED")
    hits = page.get_by_role("option", name=re.compile("1 failed"))
    expect(hits).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("graph/c2$"))


def test_who_closes_a_dialog_is_where_they_were(window: Window, address: str) -> None:
    page = window.open(address)
    ready(page)
    for name, dialog in (("Keys", "Keys"), ("search everything", "Search")):
        button = page.get_by_role("button", name=name)
        button.focus()
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog", name=dialog)).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(button).to_be_focused()


def test_a_deep_link_and_a_reload(window: Window, address: str) -> None:
    page = window.open(address)
    rows(page).nth(3).click()
    ready(page)
    link = page.url
    page.reload()
    ready(page)
    expect(page.get_by_role("heading", name="#4")).to_be_visible()
    assert page.url == link
    page.goto(link.replace("/c3", "/nothing"))
    expect(page.get_by_role("alert")).to_contain_text("No request")


def test_raw_settings_and_curl(window: Window, address: str) -> None:
    page = window.open(address)
    ready(page)
    for name, words in (("Settings", '"max_tokens": 1000'), ("Raw", '"timestamp"'), ("curl", "api.anthropic.com")):
        page.get_by_role("button", name=name).click()
        expect(page.locator(".code", has_text=words)).to_be_visible()


def test_copying(window: Window, address: str) -> None:
    page = window.open(address, permissions=["clipboard-read", "clipboard-write"])
    ready(page)
    page.keyboard.press("y")
    expect(page.get_by_role("status").filter(has_text="link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_a_diff_word_by_word(window: Window, address: str) -> None:
    page = window.open(address)
    rows(page).nth(5).click()
    ready(page)
    page.keyboard.press("d")
    told = page.locator(".told")
    expect(told).to_contain_text("tool Read changed")
    expect(page.locator(".diff ins", has_text="file")).to_be_visible()


def test_a_diff_far_behind_in_a_long_prompt(window: Window, tmp_path: Path) -> None:
    agent = Agent()
    agent.system = "\n".join([*LONG, "The time is one."])
    agent.asks("One").says("1")
    agent.system = "\n".join([*LONG, "The time is two."])
    with viewer(agent.asks("Two").says("2").save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        ready(page)
        page.keyboard.press("j")
        page.keyboard.press("d")
        expect(page.locator(".diff .changed del")).to_have_text("one")
        expect(page.locator(".diff .changed ins")).to_have_text("two")


def test_the_head_of_a_conversation_says_what_it_cost_and_if_that_is_not_all(window: Window, tmp_path: Path) -> None:
    agent = Agent().asks("Bake bread").says("Done.").asks("And rolls").says("Done too.")
    del agent.records[1]["response"]["usage"]
    other = Agent(start=1_772_470_000).asks("Sweep the floor").says("It is clean.")
    other.asks("All of it").says("All.").asks("Sure?").says("Sure.")
    agent.records += [record | {"id": f"other-{record['id']}"} for record in other.records]
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        expect(page.get_by_text(re.compile(r"\d · ≥ \$0\.0\d+ · 2 requests$"))).to_be_visible()
        expect(page.get_by_text(re.compile(r"\d · \$0\.0\d+ · 3 requests$"))).to_be_visible()
        expect(page.get_by_text(re.compile(r"^5 requests · .* · ≥ \$0\.\d+$"))).to_be_visible()


def test_a_model_that_never_used_a_cache_is_named_once(window: Window, tmp_path: Path) -> None:
    asked, calls = [{"role": "user", "content": "One?"}], []
    for number in range(2):
        answer = {"role": "assistant", "content": "The first of all numbers, if nought is none."}
        usage = {"prompt_tokens": 5000, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 0}}
        request, response = {"model": "gpt-5", "messages": asked}, {"choices": [{"message": answer}], "usage": usage}
        calls.append({"timestamp": 1_772_460_000 + number, "request": request, "response": response})
        asked = [*asked, answer, {"role": "user", "content": "Two?"}]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls), encoding="utf-8")
    with viewer(path) as address:
        page = window.open(address)
        expect(page.get_by_text("No call of gpt-5 read from a cache or wrote to one.")).to_be_visible()
        expect(page.get_by_text("miss", exact=True)).to_have_count(0)


def test_a_session(window: Window, session: Path) -> None:
    with viewer(session) as address:
        page = window.open(address)
        index = page.get_by_role("complementary", name="Prompts")
        expect(index.get_by_role("button")).to_have_count(2)
        expect(index.get_by_role("button").first).to_contain_text("It holds now.")
        transcript = page.get_by_role("region", name="Transcript")
        expect(transcript.locator("strong", has_text="now")).to_be_visible()
        expect(transcript.locator(".one .removed")).to_contain_text("x = 1")
        transcript.get_by_role("button", name=re.compile("Bash")).click()
        expect(transcript.get_by_text("all good")).to_be_visible()
        transcript.locator("article.said").first.hover()
        transcript.locator("article.said").first.get_by_role("link", name="request").click()
        ready(page)
        expect(page.locator(".request")).to_contain_text("It holds")


def test_pictures_are_shown(window: Window, tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    agent = Agent().asks("Look").calls("t1", "Read", file_path="a.png").result("t1", [image]).says("I see")
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        rows(page).nth(1).click()
        expect(page.locator("img")).to_be_visible()
        expect(page.locator("img")).to_have_js_property("naturalWidth", 1)
        page.keyboard.press("t")
        expect(page.get_by_role("region", name="Transcript").locator("img")).to_be_visible()


def test_a_link_to_nothing_leads_back_to_the_list(window: Window, session: Path, tmp_path: Path) -> None:
    trace = Agent().asks("Hello").says("Hi").save(tmp_path / "trace.jsonl")
    with viewer(session, trace) as address:
        page = window.open(address)
        page.locator(".reel").first.wait_for()
        page.goto(page.url.partition("#")[0] + "#/0123456789ab/graph")
        page.get_by_role("alert").get_by_role("link", name="Back to the list").click()
        expect(page.locator(".reel")).to_have_count(2)
    window.faults.clear()  # that nothing was there


def test_lines_of_windows(window: Window, tmp_path: Path) -> None:
    agent = (
        Agent()
        .asks("Go")
        .calls("t1", "Bash", command="dir")
        .result("t1", "one file\r\ntwo files\r\n100%\r")
        .says("Done")
    )
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        page.get_by_role("button", name="Bash").click()
        expect(page.get_by_label("output").locator(".text")).to_have_text(["one file", "two files", "100%"])


def test_what_is_expanded_or_copied_is_whole(window: Window, tmp_path: Path) -> None:
    """Long texts are sent cut, until somebody wants to see them."""
    text = "\n".join([*LONG, "The end"])
    agent = Agent().asks("Go").calls("t1", "Bash", command="make").result("t1", text, is_error=True)
    agent.calls("t2", "Write", file_path="a.txt", content=text).result("t2", "ok").says(text, thinking=text)
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address, permissions=["clipboard-read", "clipboard-write"])
        ready(page)
        page.get_by_label("Copy output").click()
        expect(page.get_by_role("status").filter(has_text="output copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == text
        page.keyboard.press("e")
        for row, where in ((0, ".output"), (1, ".one"), (2, ".said"), (2, ".thinking")):
            rows(page).nth(row).click()
            expect(page.locator(f".request {where}").last).to_contain_text("The end")
        page.keyboard.press("t")
        transcript = page.get_by_role("region", name="Transcript")
        scroll_down_to(transcript, transcript.locator(".said").filter(has_text="The end"))


def test_one_long_line_is_folded(window: Window, tmp_path: Path) -> None:
    agent = Agent().asks("Go").calls("t1", "Bash", command="make").result("t1", "x" * 50_000, is_error=True).says("Oh")
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        expect(page.get_by_role("button", name=re.compile("more lines"))).to_be_visible()
