"""The other styles, and every stream that we know in all of them."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import unspool
from conftest import Run
from streams import Live, everything
from unspool.cli.pretty import FORMATS, STYLES
from unspool.errors import UnknownFormat
from unspool.jobs.pretty.run import STREAMS
from unspool.views.pretty.columns import cells

READERS = Path(__file__).parent / "readers"
FIXTURES = sorted(
    path for name in STREAMS.values() for path in (READERS / name).glob("*.json*") if "golden" not in path.name
)
SHARED = Path(__file__).parent.parent.parent / "shared"
CORPUS = Path(os.environ.get("UNSPOOL_CORPUS", SHARED / "corpus"))
CLIENTS = Path(os.environ.get("UNSPOOL_CLIENTS", SHARED / "clients" / "logs"))
FAMILIES = ("claude_stream_json", "codex_exec_json", "opencode_events", "droid")
REAL = sorted(path for family in FAMILIES for path in (CORPUS / family).glob("*.jsonl"))


def shown(live: Live, **options: Any) -> list[str]:
    return list(unspool.pretty([live.data], **options))


def test_the_names_on_the_command_line_are_those_that_there_are() -> None:
    assert set(FORMATS) == set(STREAMS)


def test_one_line_for_each_thing_that_happens() -> None:
    assert shown(everything(), style="line") == [
        "[start] Claude Code session=session_abc123 model=claude-test folder=/home/ada/shop",
        "[user] Mend the tests, 请. Café crème, e\u0301té",
        "[thinking] First I look. … 1 more line",
        "[text] # Plan … 11 more lines",
        "[tool] TodoWrite: ✅ [HIGH] Implement feature X · 🔄 [MEDIUM] 写测试 · ⬜ Ship",
        "[result] TodoWrite COMPLETED: ok",
        "[tool] Read: /home/ada/shop/src/価格.py · Offset: 10 · Limit: 40",
        "[tool] Bash: ls -la · Description: List directory contents · Timeout: 9000",
        "[result] Bash COMPLETED: total 24 … 31 more lines",
        "[result] Read COMPLETED: 10 def total(): … 1 more line",
        "[tool] Edit: /home/ada/shop/a.py",
        "[result] Edit COMPLETED: Updated.",
        "[tool] Bash: invalidcmd",
        "[error] Bash FAILED: Command not found: invalidcmd",
        "[tool] Task: Explore · Description: Look around",
        "  [user] Look.",
        "  [tool] Glob: **/*.py",
        "  [result] Glob COMPLETED: a.py",
        "  [text] 找到了 one.",
        "[result] Task COMPLETED: One file.",
        '[tool] mcp__github__create_issue: A bug · labels: ["p1"]',
        "[result] mcp__github__create_issue COMPLETED: #12",
        "[warning] API error: overloaded; attempt 1 of 10",
        "[tool] Bash: sleep 100; printf '␛]0;evil␇'",
        "[error] failed (error_max_turns), 15.00s, API 5.00s, 10 turns, cost $0.0234: "
        "Reached maximum number of turns (10)",
    ]


def test_the_last_line_names_what_was_not_allowed() -> None:
    denied: list[dict[str, Any]] = [
        {"tool_name": name, "tool_use_id": name, "tool_input": {}} for name in ("Bash", "Write")
    ]
    end = {"type": "result", "subtype": "success", "result": "Done.", "num_turns": 2, "permission_denials": denied}
    lines = unspool.pretty([json.dumps(end)], style="line", format="claude")
    assert list(lines)[-1] == "[done] success, 2 turns, cost unknown, denied Bash and Write: Done."


def test_lines_of_the_queue() -> None:
    live = (
        Live().at(1).calls("t", "Bash", command="make").at(3).result("t", "built\nall").calls("u", "Bash", command="x")
    )
    assert shown(live, style="line", queue=True) == [
        "[result] Bash COMPLETED (2.00s): make → built … 1 more line",
        "[warning] Bash INTERRUPTED: x → the stream ended without its result",
    ]
    assert shown(Live().says("a\nb\r\nc\td"), style="line", full=True) == ["[text] a ⏎ b ⏎ c d"]


def test_markdown_ends_in_a_table_of_costs() -> None:
    text = "\n".join(shown(everything(), style="markdown", queue=True, title="The *run*"))
    assert text.startswith("\n## 🚀 The \\*run\\*\n\n- Session: `session_abc123`\n")
    assert "```diff\n a = 1\n-b = 2\n+b = '二'\n```" in text
    assert "> **✅ Glob COMPLETED**" in text
    assert text.endswith(
        "### ❌ Task Failed (error\\_max\\_turns)\n\n```\nReached maximum number of turns (10)\n```\n\n"
        "| | 🤖 Model | ⏱  Duration | 🔄 API Time | 💬 Turns | 💰 Cost |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| **Run** | claude-test | 15.00s | 5.00s | 10 | $0.0234 |"
    )


def test_markdown_cannot_be_broken_out_of() -> None:
    output = "```\n# Not a heading\n</details>"
    live = Live().calls("t", "Bash", command="a `b` c").result("t", output).says("Done.")
    lines = shown(live, style="markdown", queue=True)
    assert "- 🔧 Command: `a ˋbˋ c`" in lines
    fences = [line for line in lines if re.fullmatch(r"`{3,}", line)]
    assert fences == ["````", "```", "````"]


def test_long_calls_and_long_lines_are_cut_in_markdown() -> None:
    """A summary that is too long is refused by CI, all of it."""
    script = "\n".join(f"echo {n}" for n in range(1000))
    live = Live().calls("t", "Bash", command=script).result("t", "x" * 500_000)
    live.calls("u", "Bash", command="y" * 500_000).result("u", "z" * 500_000, failed=True)
    text = "\n".join(shown(live, style="markdown", queue=True))
    assert len(text) < 10_000
    assert "  … 952 more lines\n" in text
    assert text.count("… 498,400 more characters") == 3
    assert len("\n".join(shown(live, style="markdown", queue=True, full=True))) > 1_500_000


def test_lines_that_passed_are_code_in_markdown() -> None:
    assert list(unspool.pretty(["npm warn", "*stars*", *Live().says("Hi.").lines, "end"], style="markdown")) == [
        *("", "```text", "npm warn", "*stars*", "```", "", "Hi.", "", "```text", "end", "```")
    ]


def test_json_for_programs() -> None:
    live = Live().starts(model="m").at(1).calls("t", "Bash", command="ls").at(2).result("t", "a\nb").ends()
    found = [json.loads(line) for line in shown(live, style="json")]
    assert found[0] == {
        "type": "start",
        "agent": "Claude Code",
        "session": "session_abc123",
        "model": "m",
        "tools": ["Bash", "Read"],
    }
    call = {"name": "Bash", "kind": "execute", "arguments": {"command": "ls"}, "depth": 0}
    assert found[1] == {"type": "tool_start", "id": "t", **call}
    assert found[2] == {"type": "tool_end", "id": "t", "status": "COMPLETED", "output": "a\nb", "seconds": 1.0, **call}
    assert [(row["type"], row.get("cost")) for row in found[3:]] == [("result", 0.0234)]


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_stream_in_every_style(path: Path) -> None:
    data = path.read_bytes().splitlines()
    for style in STYLES:
        for queue in (False, True):
            found = list(unspool.pretty(data, style=style, queue=queue))  # type: ignore[arg-type]
            assert len(found) > 1
            if style == "box":
                assert {cells(line) for line in found if line.lstrip().startswith(("╔", "║", "╚"))} == {58}
            if style == "json":
                assert {json.loads(line)["type"] for line in found} - {"line"}


@pytest.mark.skipif(not REAL, reason=f"needs streams of agents in {CORPUS} (UNSPOOL_CORPUS)")
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.name[:60])
def test_real_streams(path: Path, unspool: Run) -> None:
    live = unspool("pretty", "--queue", stdin=path.read_bytes(), COLUMNS="")
    replayed = unspool("pretty", "--queue", path, COLUMNS="")
    assert (live.returncode, replayed.returncode) == (0, 0)
    frames = [line for line in replayed.stdout.decode().split("\n") if line.lstrip().startswith(("╔", "║", "╚"))]
    assert {cells(line) for line in frames} == {58}
    assert _untimed(live.stdout) == _untimed(replayed.stdout)


def _untimed(text: bytes) -> str:
    """Without what arrival alone can tell."""
    return re.sub(r" \(\d+\.\d\ds\) *║", "║", re.sub(r" +║", "║", text.decode()))


@pytest.mark.skipif(not CLIENTS.is_dir(), reason=f"needs logs in {CLIENTS} (UNSPOOL_CLIENTS)")
@pytest.mark.parametrize("client", ["claude", "codex", "gemini", "opencode", "pi", "qwen"])
def test_programs_of_today(client: str, unspool: Run) -> None:
    """Each was walked through the same plan: four calls, one of which fails with Codex, and a last word."""
    data = (CLIENTS / client / "stdout.jsonl").read_bytes()
    done = unspool("pretty", "--style", "json", "--exit-code", stdin=data)
    assert (done.returncode, done.stderr) == (0, b"")
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found[0]["type"] == "start"
    assert len({row["id"] for row in found if row["type"] == "tool_start"}) == 4
    ended = [row["status"] for row in found if row["type"] == "tool_end"]
    assert ended.count("COMPLETED") >= 3
    assert len(ended) == 4
    assert [row["text"] for row in found if row["type"] == "assistant"][-1].startswith("All done")
    assert found[-1]["type"] == "result"
    assert found[-1]["succeeded"] is True


@pytest.mark.parametrize("wrong", [{"style": "boxes"}, {"format": "claud"}])
def test_what_nobody_knows_is_told_by_its_name(wrong: dict[str, str]) -> None:
    with pytest.raises(UnknownFormat, match=f"no .* {next(iter(wrong.values()))!r}; there are"):
        list(unspool.pretty([Live().says("Hi.").data], **wrong))  # type: ignore[arg-type]


def test_boxes_have_room_for_a_word() -> None:
    lines = list(unspool.pretty([Live().says("Hi.").data], width=1))
    assert {len(line) for line in lines} == {24}
