"""The viewer in a real browser: what is read off the page is right, whole and where it belongs."""

import re
from base64 import b64encode
from pathlib import Path

import pytest

from browsing import Window, missing, ready, rows, viewer
from logs import Claude
from viewing import Agent, a_day

if reason := missing():
    pytest.skip(f"the viewer was not tested: {reason}", allow_module_level=True)

from playwright.sync_api import expect

TABLE = """
| A column | Sums |
|:--|--:|
| b | 22,000 |

- واحد
- اثنان
"""


def test_tables_keep_their_sides_and_words(window: Window, tmp_path: Path) -> None:
    trace = Agent().asks("A table").says(TABLE + "| " + "x" * 300).save(tmp_path / "trace.jsonl")
    with viewer(trace) as address:
        page = window.open(address, {"width": 420, "height": 800})
        rows(page).first.click()
        ready(page)
        cell = page.locator("td", has_text="22,000")
        assert cell.evaluate("cell => getComputedStyle(cell).textAlign") in ("right", "-webkit-right")
        assert cell.evaluate("cell => cell.getClientRects().length && cell.offsetHeight") < 40  # in one line
        assert page.locator("li").first.evaluate("item => getComputedStyle(item).direction") == "rtl"
    assert not window.faults  # the policy refused nothing


def test_links_open_elsewhere_and_lists_go_on(window: Window, tmp_path: Path) -> None:
    """Cleaning takes nothing away that markdown means."""
    said = "[a page](https://example.com/x)\n\n4. four\n5. five\n\n---\n\nThe end."
    with viewer(Agent().asks("A list").says(said).save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        ready(page)
        link = page.get_by_role("link", name="a page")
        expect(link).to_have_attribute("target", "_blank")
        expect(link).to_have_attribute("rel", re.compile("noopener"))
        expect(page.locator(".md ol")).to_have_attribute("start", "4")
        expect(page.locator(".md hr")).to_have_css("border-top", "1px solid rgb(223, 227, 232)")  # thin


def test_a_long_error_is_read_whole(window: Window, tmp_path: Path) -> None:
    trace = Agent().asks("Hello").fails("Overloaded " + "and over again " * 12).save(tmp_path / "trace.jsonl")
    with viewer(trace) as address:
        page = window.open(address)
        ready(page)
        chip = page.locator(".request h2 .chip")
        box, pane = chip.bounding_box(), page.locator("main").bounding_box()
        assert box is not None
        assert pane is not None
        assert box["x"] + box["width"] <= pane["x"] + pane["width"]
        expect(page.locator("article.error")).to_contain_text("Overloaded")


def test_pictures_that_cannot_be_shown_say_so(window: Window, tmp_path: Path) -> None:
    data = b64encode(b"no picture").decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    agent = Agent().asks("Look")
    agent.messages[0]["content"].append(image)
    trace = agent.says("I see").save(tmp_path / "trace.jsonl")
    with viewer(trace) as address:
        page = window.open(address)
        ready(page)
        expect(page.get_by_text("which the browser cannot read")).to_be_visible()
        trace.unlink()
        page.keyboard.press("t")
        expect(page.get_by_text("cannot be shown: the file that they stand in")).to_be_visible()
    window.faults.clear()  # that it was gone


def test_the_last_bar_is_drawn_and_a_bar_tells_its_own_numbers(window: Window, tmp_path: Path) -> None:
    agent = Agent()
    for number in range(4):
        agent.time = 1_772_460_000 + 1800 * number
        agent.asks(f"{number}").says("Yes")
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        ready(page)
        page.keyboard.press("u")
        over = page.locator(".plot .u-over")
        expect(over).to_be_visible()
        box = over.bounding_box()
        assert box is not None
        times = set()
        for share in (0.01, 0.99):
            page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
            legend = page.locator(".u-legend .u-series").first.locator(".u-value")
            expect(legend).to_contain_text(re.compile(r"\d\d:\d\d"))
            times.add(legend.inner_text())
        assert times == {"2 Mar 14:00", "2 Mar 15:30"}
        expect(page.locator(".four svg")).to_have_count(3)  # cost, tokens, what the cache gave; there is no error
        # where the last one stands there is its colour
        page.mouse.move(0, 0)
        drawn = page.locator(".plot canvas").evaluate(
            "canvas => { const at = canvas.getContext('2d'); const w = canvas.width, h = canvas.height;"
            " const data = at.getImageData(Math.round(w * 0.8), 0, Math.round(w * 0.2), h).data; let n = 0;"
            " for (let i = 0; i < data.length; i += 4) if (data[i] == 0x4f && data[i + 1] == 0x7f) n++; return n; }"
        )
        assert drawn > 500


def test_a_single_bar_stands_in_its_own_time(window: Window, tmp_path: Path) -> None:
    """And not at the beginning of three years."""
    with viewer(Agent().asks("A").says("Yes").save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        ready(page)
        page.evaluate(
            "() => { const pen = CanvasRenderingContext2D.prototype, write = pen.fillText; window.written = [];"
            " pen.fillText = function (text, ...more) { written.push(text); return write.call(this, text, ...more); } }"
        )
        page.keyboard.press("u")
        expect(page.locator(".plot .u-over")).to_be_visible()
        times = [text for text in page.evaluate("written") if not text.startswith("$")]
        assert times
        assert all(text.startswith("14:0") for text in times if text), times


def test_who_hides_a_model_sees_the_others_fall(window: Window, tmp_path: Path) -> None:
    """A bar of a cheap model upon one of a dear model, and beside them the same cheap one alone."""
    start = 1_772_460_000
    dear = Agent("claude-opus-4-5", start).asks("A").says("Yes")
    for number in range(2):
        cheap = Agent("claude-haiku-4-5", start + 1800 * number).asks("B").says("No")
        dear.records.append({**cheap.records[0], "id": f"cheap{number}"})
    with viewer(dear.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        ready(page)
        page.keyboard.press("u")
        heights = (
            "canvas => { const at = canvas.getContext('2d'), w = canvas.width / 2, h = canvas.height;"
            " return [0, w].map(x => { const data = at.getImageData(x, 0, w, h).data, rows = new Set();"
            " for (let i = 0; i < data.length; i += 4)"
            " if (data[i] == 0x2d && data[i + 1] == 0x8a) rows.add(i / 4 / w | 0);"
            " return rows.size; }); }"
        )
        page.locator(".u-legend .u-series", has_text="opus").locator("th").click()
        page.wait_for_timeout(200)
        one, other = page.locator(".plot canvas").evaluate(heights)
        assert one == other > 50


def test_keys_in_the_list_and_in_a_transcript(window: Window, tmp_path: Path) -> None:
    for number in range(60):
        log = Claude(f"s{number:02}").user(f"Prompt {number}").calls("t1", "Bash", command="make")
        log.result("t1", "broken", failed=number % 2 == 0).says("Done").save(tmp_path / f"{number:02}.jsonl")
    with viewer(tmp_path) as address:
        page = window.open(address)
        page.locator(".reel").first.wait_for()
        names = []
        for key in ("j", "ArrowDown", "k", "End", "Home"):
            page.keyboard.press(key)
            page.wait_for_timeout(300)
            names.append(page.locator(".reel:focus .name").inner_text())
        assert names[0] == names[2] == names[4]
        assert len(set(names)) == 3
        page.keyboard.press("Enter")
        expect(page.get_by_role("region", name="Transcript")).to_be_visible()


def test_errors_of_a_transcript_by_key(window: Window, tmp_path: Path) -> None:
    log = Claude().user("Mend it")
    for number in range(300):
        log.calls(f"t{number}", "Bash", command=f"make {number}").result(f"t{number}", "x", failed=number in (3, 250))
    with viewer(log.says("Done").save(tmp_path / "log.jsonl")) as address:
        page = window.open(address)
        page.get_by_role("region", name="Transcript").get_by_text("make 0").wait_for()
        page.keyboard.press("]")
        expect(page.locator(".marked")).to_contain_text("make 3")
        page.keyboard.press("]")
        expect(page.locator(".marked")).to_contain_text("make 250")
        page.keyboard.press("[")
        expect(page.locator(".marked")).to_contain_text("make 3")


def test_a_file_that_was_replaced_shows_its_own_messages(window: Window, tmp_path: Path) -> None:
    path = a_day().save(tmp_path / "trace.jsonl")
    with viewer(path) as address:
        page = window.open(address)
        ready(page)
        expect(page.locator(".request")).to_contain_text("Make the tests pass")
        Agent().asks("Something else").says("Of course").save(path)
        expect(rows(page)).to_have_count(1, timeout=20_000)
        rows(page).first.click()
        expect(page.locator(".request")).to_contain_text("Of course")
        expect(page.locator(".request")).not_to_contain_text("Make the tests pass")


def test_numbers_are_those_of_the_file(window: Window, tmp_path: Path) -> None:
    agent = a_day()
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        ready(page)
        usages = [record["response"]["usage"] for record in agent.records if record["response"]]
        told = sum(value for usage in usages for value in usage.values())
        expect(page.locator(".tabs p")).to_contain_text(f"{len(agent.records)} requests · {told / 1000:.1f}k tok")
        page.keyboard.press("u")
        expect(page.locator(".big").nth(1)).to_have_attribute("title", f"{told:,}")


def test_a_transcript_and_the_list_are_printed_whole(window: Window, tmp_path: Path) -> None:
    """They are long, and drawn only as far as a window shows them: paper has none."""
    for number in range(80):
        Claude(f"s{number:02}").user(f"Prompt {number}").says("Done").save(tmp_path / f"{number:02}.jsonl")
    log = Claude("long", day=2).user("Count")
    for number in range(120):
        log.says(f"Number {number}")
    log.save(tmp_path / "long.jsonl")
    with viewer(tmp_path) as address:
        page = window.open(address)
        page.locator(".reel", has_text="Count").wait_for()
        page.emulate_media(media="print")
        expect(page.locator(".reel")).to_have_count(81)
        assert page.evaluate("document.body.offsetHeight") > 80 * 40
        page.emulate_media(media="screen")
        page.locator(".reel", has_text="Count").click()
        page.get_by_text("Number 0", exact=True).wait_for()
        page.emulate_media(media="print")
        expect(page.get_by_text("Number 119", exact=True)).to_be_visible()
        page.emulate_media(media="screen")
        expect(page.get_by_text("Number 0", exact=True)).to_be_visible()


def test_what_no_log_tells_is_unknown_and_not_nothing(window: Window, tmp_path: Path) -> None:
    agent = Agent().asks("Go")
    for number in range(60):  # enough for runs to be folded
        agent.calls(f"t{number}", "Bash", command=f"make {number}").result(f"t{number}", "ok")
    agent.says("Done")
    for record in agent.records:
        del record["response"]["usage"]
    with viewer(agent.save(tmp_path / "trace.jsonl")) as address:
        page = window.open(address)
        ready(page)
        run = rows(page).filter(has_text="calls").first
        expect(run).not_to_contain_text("$0")
        expect(run).not_to_contain_text("+0")
        expect(page.locator(".tabs p")).to_have_text("61 requests")
        page.keyboard.press("u")
        expect(page.locator(".big").nth(0)).to_have_text("unknown")
        expect(page.locator(".big").nth(1)).to_have_text("unknown")
        expect(page.locator(".plot")).to_have_count(0)
