"""`unspool export`: pages and Markdown to be shared."""

import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

from conftest import Run
from logs import Claude
from viewing import Agent, a_day

KEY = "sk-" + "ant-api03-" + "Ab1Cd2Ef3" * 5
"""Looks like a key, and is none."""


def inside(page: str) -> dict[str, Any]:
    """The data of a page, by the names of its blocks."""
    found = re.findall(r'<script type="text/plain" id="unspool-([\w-]+)">([^<]*)</script>', page)
    return {name: json.loads(gzip.decompress(b64decode(data))) for name, data in found}


def test_a_page_holds_everything_and_loads_nothing(unspool: Run, tmp_path: Path) -> None:
    a_day().save(tmp_path / "trace.jsonl")
    done = unspool("export", "html", tmp_path / "trace.jsonl", "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page.html").read_text()
    assert not re.search(r'(?:src|href)="', page.partition("<style>")[0])
    data = inside(page)
    (reel,) = [value for name, value in data.items() if name.startswith("reel-")]
    assert [row["id"] for row in reel["graph"]["rows"]] == ["c0", "c1", "c2", "c3", "c4"]
    assert data["home"]["live"] is False
    assert data["home"]["reels"][0]["name"] == "trace.jsonl"


def test_a_page_is_the_same_where_the_locale_is_not_utf_8(unspool: Run, tmp_path: Path) -> None:
    a_day().save(tmp_path / "trace.jsonl")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for name, locale in (("page.html", {}), ("plain.html", plain)):
        done = unspool("export", "html", tmp_path / "trace.jsonl", "-o", tmp_path / name, **locale)
        assert done.returncode == 0, done.stderr
    page, other = ((tmp_path / name).read_text("utf-8") for name in ("page.html", "plain.html"))
    data = r'(<script type="text/plain"[^>]*>)[^<]*'
    assert re.sub(data, r"\1", page) == re.sub(data, r"\1", other)


def test_no_secret_leaves_the_machine(unspool: Run, tmp_path: Path) -> None:
    """Neither whole nor in part: titles are cut after redaction."""
    agent = Agent().asks("y" * 220 + f" use {KEY}").calls("t1", "Bash", command=f"curl -H 'x-api-key: {KEY}' x")
    agent.result("t1", f"ANTHROPIC_API_KEY={KEY}").says(f"The key is {KEY}.")
    agent.save(tmp_path / "trace.jsonl")
    done = unspool("export", "html", tmp_path / "trace.jsonl", "-o", tmp_path / "page.html")
    assert done.returncode == 0
    text = json.dumps(inside((tmp_path / "page.html").read_text()))
    assert KEY[:16] not in text
    assert "[REDACTED:anthropic-key:" in text
    assert inside((tmp_path / "page.html").read_text())["home"]["redacted"] == {"anthropic-key": 1}
    assert b"redacted: 1 \xc3\x97 anthropic-key" in done.stderr


def test_no_secret_of_a_session_leaves_the_machine(unspool: Run, tmp_path: Path) -> None:
    log = Claude().user(f"Use {KEY}").calls("t1", "Bash", command=f"export K={KEY}").result("t1", KEY).says(f"{KEY}")
    log.save(tmp_path / "log.jsonl")
    for form, name in (("html", "page.html"), ("markdown", "page.md")):
        done = unspool("export", form, tmp_path / "log.jsonl", "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
    text = json.dumps(inside((tmp_path / "page.html").read_text()))
    assert KEY[:16] not in text
    written = (tmp_path / "page.md").read_text()
    assert KEY[:16] not in written
    assert "[REDACTED:anthropic-key:" in written


def test_secrets_stay_if_that_is_wanted(unspool: Run, tmp_path: Path) -> None:
    Agent().asks(f"Use {KEY}").says("Yes").save(tmp_path / "trace.jsonl")
    done = unspool("export", "html", tmp_path / "trace.jsonl", "-o", tmp_path / "page.html", "--no-redact")
    data = inside((tmp_path / "page.html").read_text())
    assert KEY in json.dumps(data)
    assert data["home"]["redacted"] is None
    assert b"nothing was redacted" in done.stderr


def test_folders_of_this_machine_are_not_told(unspool: Run, tmp_path: Path) -> None:
    a_day().save(tmp_path / "trace.jsonl")
    unspool("export", "html", tmp_path / "trace.jsonl", "-o", tmp_path / "page.html")
    assert str(tmp_path) not in json.dumps(inside((tmp_path / "page.html").read_text()))


def test_a_site(unspool: Run, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    a_day().save(logs / "trace.jsonl")
    Claude().user("Mend it").says("Done").save(logs / "log.jsonl")
    done = unspool("export", "html", logs, "--site", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "site").rglob("*") if path.is_file())
    home = inside((tmp_path / "site" / "index.html").read_text())["home"]
    data = [f"{reel['id']}.js" for reel in home["reels"]]
    assert names == sorted(["index.html", "unspool.css", "unspool.js", "search.js", *data])
    assert len(home["reels"]) == 2


def test_a_session_without_a_time_is_last_in_a_page_too(unspool: Run, tmp_path: Path) -> None:
    timeless = Claude("s1").user("Without a time").says("Done")
    for record in timeless.records:
        del record["timestamp"]
    timeless.save(tmp_path / "logs" / "a.jsonl")
    Claude("s2").user("With a time").says("Done").save(tmp_path / "logs" / "b.jsonl")
    assert unspool("export", "html", tmp_path / "logs", "-o", tmp_path / "page.html").returncode == 0
    home = inside((tmp_path / "page.html").read_text())["home"]
    assert [reel["name"] for reel in home["reels"]] == ["With a time", "Without a time"]


def test_a_page_holds_what_was_sent(unspool: Run, tmp_path: Path) -> None:
    """Settings, the record and a curl; each piece of them once, however often it was sent."""
    agent = Agent().asks("Begin. " + "A long story. " * 400)
    for number in range(12):
        agent.calls(f"t{number}", "Bash", command=f"step {number}").result(f"t{number}", f"done {number}")
    trace = agent.says("Over").save(tmp_path / "trace.jsonl")
    assert unspool("export", "html", trace, "-o", tmp_path / "page.html").returncode == 0
    (reel,) = [data for name, data in inside((tmp_path / "page.html").read_text()).items() if name.startswith("reel-")]
    assert json.dumps(reel["originals"]).count("Begin. A long story.") == 2  # in a record, and in a curl
    for record in agent.records:
        kept = reel["originals"][record["id"]]
        assert json.loads(kept["settings"]) == {"max_tokens": 1000}
        assert json.loads(whole(reel["originals"], record["id"], "raw")) == record
        assert whole(reel["originals"], record["id"], "curl").startswith("curl https://api.anthropic.com/v1/messages")


def whole(originals: dict[str, Any], name: str, part: str) -> str:
    """A text put together as the page does it."""
    chain = [originals[name]]
    while chain[-1].get("base") is not None:
        chain.append(originals[chain[-1]["base"]])
    pieces: list[str] = []
    for kept in reversed(chain):
        new, keep = kept[part]["new"], kept[part]["keep"]
        pieces = [piece for begin, end in keep for piece in (pieces[begin:end] if end else [new[begin]])]
    return "".join(pieces)


def test_no_secret_is_in_what_was_sent(unspool: Run, tmp_path: Path) -> None:
    agent = Agent().asks("Go").says("Gone")
    agent.records[0]["request"]["metadata"] = {"note": f"with {KEY}"}
    agent.records[0]["headers"] = {"x-api-key": KEY}
    agent.save(tmp_path / "trace.jsonl")
    unspool("export", "html", tmp_path / "trace.jsonl", "-o", tmp_path / "page.html")
    data = inside((tmp_path / "page.html").read_text())
    assert KEY[:16] not in json.dumps(data)
    assert data["home"]["redacted"]["anthropic-key"] == 1


def test_a_picture_is_in_a_page_once(unspool: Run, tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 20_000}}
    Agent().asks("Look").calls("t1", "Read", file_path="a").result("t1", [image]).says("I see").save(
        tmp_path / "t.jsonl"
    )
    unspool("export", "html", tmp_path / "t.jsonl", "-o", tmp_path / "page.html")
    text = json.dumps(inside((tmp_path / "page.html").read_text()))
    assert text.count("QUJD" * 20_000) == 1
    assert "[80,000 characters of base64 left out]" in text


def test_the_words_of_a_site(unspool: Run, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    Agent().asks("Mend the Straßenbahn").says("x" * 40 + "END").save(logs / "trace.jsonl")
    Claude().user("Mend it").says(f"Done with {KEY}").save(logs / "log.jsonl")
    unspool("export", "html", logs, "--site", tmp_path / "site")
    (packed,) = re.findall(
        r'unspoolReel\("search", "([^"]+)"\)', (tmp_path / "site" / "data" / "search.js").read_text()
    )
    index = json.loads(gzip.decompress(b64decode(packed)))
    assert len(index["reels"]) == 2
    found = {word: places for places, words in index["words"].items() for word in words.split()}
    assert found["mend"] == "0,1"
    assert found["straßenbahn"] in ("0", "1")
    assert found["x" * 24 + "end"] == found["straßenbahn"]  # the last piece of a long word
    assert KEY[:16].lower().replace("-", " ").split()[-1] not in found


def test_standard_input_has_a_name(unspool: Run, tmp_path: Path) -> None:
    agent = Agent().asks("Go").says("Gone")
    data = agent.save(tmp_path / "trace.jsonl").read_bytes() + b"no call\n"
    done = unspool("export", "html", "-", "-o", tmp_path / "page.html", stdin=data)
    assert done.returncode == 0, done.stderr
    page = inside((tmp_path / "page.html").read_text())
    assert page["home"]["reels"][0]["name"] == "standard input"
    (reel,) = [value for name, value in page.items() if name.startswith("reel-")]
    assert reel["graph"]["notes"][0]["origin"]["file"] == "standard input"
    assert b"standard input" in unspool("view", "-", "--list", stdin=data).stdout
    assert unspool("export", "markdown", "-", stdin=data).stdout.startswith(b"# Go\n")


def test_markdown_of_recorded_calls(unspool: Run, tmp_path: Path) -> None:
    a_day().save(tmp_path / "trace.jsonl")
    done = unspool("export", "markdown", tmp_path / "trace.jsonl")
    text = done.stdout.decode()
    assert text.startswith("# Make the tests pass\n")
    assert "**Bash** failed\n" in text
    assert "```diff\n-pass\n+return 1\n```" in text


def test_what_was_left_out_of_standard_output_is_told(unspool: Run, tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text("No call at all\n")
    done = unspool("export", "markdown", tmp_path / "prose.txt")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"1 record not understood, the first:" in done.stderr
    call = b'{"request": {"messages": [{"role": "user", "content": "a\xffb"}]}, "response": null}\n'
    (tmp_path / "mended.jsonl").write_bytes(call)
    done = unspool("export", "markdown", tmp_path / "mended.jsonl")
    assert "a\ufffdb" in done.stdout.decode()
    assert b"not understood" not in done.stderr
    Claude().user(f"The key is {KEY}").says("Thank you").save(tmp_path / "log.jsonl")
    done = unspool("export", "markdown", tmp_path / "log.jsonl")
    assert done.stderr == b"redacted: 1 \xc3\x97 anthropic-key\n"
    assert unspool("export", "markdown", tmp_path / "log.jsonl", "-q").stderr == b""


def test_a_page_needs_a_place(unspool: Run, tmp_path: Path) -> None:
    a_day().save(tmp_path / "trace.jsonl")
    done = unspool("export", "html", tmp_path / "trace.jsonl")
    assert done.returncode == 2
    assert b"either -o FILE or --site DIR" in done.stderr


def test_hostile_text_cannot_end_the_data(unspool: Run, tmp_path: Path) -> None:
    Agent().asks("</script><script>alert(1)</script>").says("no").save(tmp_path / "trace.jsonl")
    unspool("export", "html", tmp_path / "trace.jsonl", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "alert(1)" not in page.replace(page[page.index('<script type="module">') :], "")
