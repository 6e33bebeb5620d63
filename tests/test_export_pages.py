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
    assert names == sorted(["index.html", "unspool.css", "unspool.js", *(f"{reel['id']}.js" for reel in home["reels"])])
    assert len(home["reels"]) == 2


def test_markdown_of_recorded_calls(unspool: Run, tmp_path: Path) -> None:
    a_day().save(tmp_path / "trace.jsonl")
    done = unspool("export", "markdown", tmp_path / "trace.jsonl")
    text = done.stdout.decode()
    assert text.startswith("# Make the tests pass\n")
    assert "**Bash** failed\n" in text
    assert "```diff\n-pass\n+return 1\n```" in text


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
