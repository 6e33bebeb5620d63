"""`unspool.pretty` in boxes: what a person sees of each thing that happens."""

import json

import pytest

import unspool
from streams import SESSION, Live
from unspool.views.pretty.columns import cells


def shown(live: Live, **options: object) -> str:
    return "\n".join(unspool.pretty([live.data], **options))  # type: ignore[arg-type]


def body(text: str) -> list[str]:
    """What stands inside of the frames, without margins."""
    return [line[1:-1].strip() for line in text.split("\n") if line.startswith("║")]


SYSTEM = """\
╔════════════════════════ system ════════════════════════╗
║                                                        ║
║   🚀 Session Initialized                               ║
║   Session ID: session_abc123                           ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
NAMED = """\
╔════════════════════════ system ════════════════════════╗
║                                                        ║
║   🚀 Data Processing Pipeline                          ║
║   Analyzing Q4 2024 customer data                      ║
║   URL: https://dashboard.example.com/job/12345         ║
║   Session ID: session_abc123                           ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
FAILED = """\
╔═════════════════════════ tool ═════════════════════════╗
║                                                        ║
║  ❌ Tool: Bash - FAILED (0.25s)                        ║
║  🔧 Command: invalidcmd                                ║
║                                                        ║
║  🚨 Error: Command not found: invalidcmd               ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""
COMPLETED = """\
╔═════════════════════════ tool ═════════════════════════╗
║                                                        ║
║  ✅ Tool: Bash - COMPLETED (0.75s)                     ║
║  🔧 Command: ls -la                                    ║
║  📝 Description: List directory contents               ║
║                                                        ║
║  📄 Result: total 24                                   ║
║  drwxr-xr-x  6 user  staff   192 Jan  1 12:00 .        ║
║  drwxr-xr-x  5 user  staff   160 Jan  1 11:00 ..       ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""


def test_a_start() -> None:
    assert shown(Live().starts()) == SYSTEM


def test_a_start_with_the_users_own_words() -> None:
    words = ("Data Processing Pipeline", "Analyzing Q4 2024 customer data", "https://dashboard.example.com/job/12345")
    title, description, url = words
    assert shown(Live().starts(), title=title, description=description, url=url) == NAMED


def test_use_and_result_as_one_box() -> None:
    listing = (
        "total 24\ndrwxr-xr-x  6 user  staff   192 Jan  1 12:00 .\ndrwxr-xr-x  5 user  staff   160 Jan  1 11:00 .."
    )
    live = Live().at(1).calls("t", "Bash", command="ls -la", description="List directory contents")
    assert shown(live.at(1.75).result("t", listing), queue=True) == COMPLETED


def test_the_word_error_is_folded_into_its_label() -> None:
    live = Live().at(1).calls("t", "Bash", command="invalidcmd")
    live.at(1.25).result("t", "Error: Command not found: invalidcmd", failed=True)
    assert shown(live, queue=True) == FAILED


def test_a_list_of_tasks() -> None:
    todos = [
        {"id": "1", "content": "Implement feature X", "status": "completed", "priority": "high"},
        {"id": "2", "content": "Write tests", "status": "in_progress", "priority": "medium"},
        {"content": "Ship", "status": "pending", "activeForm": "Shipping"},
    ]
    live = Live().calls("t", "TodoWrite", todos=todos).result("t", "Todos have been modified successfully")
    told = ["", "📝 Todo List:", "", "✅ [HIGH] Implement feature X", "🔄 [MEDIUM] Write tests", "⬜ Ship", ""]
    assert body(shown(live)) == told
    assert body(shown(live, queue=True)) == ["", "✅ Tool: TodoWrite - COMPLETED", *told]


def test_a_result() -> None:
    told = ["✅ Task Success", "", "Task completed successfully", ""]
    figures = ["⏱  Duration: 15.00s", "🔄 API Time: 5.00s", "💬 Turns: 5", "💰 Cost: $0.0234"]
    assert body(shown(Live().ends())) == ["", *told, *figures, ""]


def test_a_result_that_was_said_before_is_not_said_again() -> None:
    assert shown(Live().says("Done, *all* of it.").ends(result="Done, *all* of it.")).count("Done") == 1


@pytest.mark.parametrize(
    ("costs", "told"),
    [
        ({"total_cost_usd": 0.5, "cost_usd": 0.1}, "$0.5000"),
        ({"total_cost_usd": None, "cost_usd": 0.1}, "$0.1000"),
        ({"total_cost_usd": 0}, "$0.0000"),
        ({"total_cost_usd": None}, "unknown"),
        ({"total_cost_usd": "free"}, "unknown"),
    ],
)
def test_the_cost(costs: dict[str, object], told: str) -> None:
    assert f"💰 Cost: {told}" in body(shown(Live().ends(**costs)))


@pytest.mark.parametrize(
    ("subtype", "more", "told"),
    [
        ("error", {"error": "Task failed: Permission denied"}, "🚨 Error: Task failed: Permission denied"),
        ("error_max_turns", {"errors": ["Reached the limit (10)"]}, "🚨 Error: Reached the limit (10)"),
        ("error_during_execution", {"errors": ["boom", "and bang"]}, "🚨 Error: boom"),
        ("error_max_budget_usd", {}, "🚨 Error: error_max_budget_usd"),
        ("error_max_structured_output_retries", {"errors": []}, "🚨 Error: error_max_structured_output_retries"),
        ("success", {"result": "Invalid API key"}, "🚨 Error: Invalid API key"),
    ],
)
def test_every_error_with_its_text(subtype: str, more: dict[str, object], told: str) -> None:
    text = body(shown(Live().fails(subtype, **more)))
    assert told in text
    assert text[1] == "❌ Task Failed" + (f" ({subtype})" if subtype != "success" else "")


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("Bash", {"command": "make", "timeout": 9000}, ["🔧 Command: make", "⏱  Timeout: 9000"]),
        ("Bash", {"command": "make", "description": "Build"}, ["🔧 Command: make", "📝 Description: Build"]),
        ("Read", {"file_path": "/a.py", "offset": 3, "limit": 9}, ["📁 File: /a.py", "📍 Offset: 3", "📊 Limit: 9"]),
        ("Write", {"file_path": "/a.py", "content": "a\nb"}, ["📁 File: /a.py", "+a", "+b"]),
        ("Write", {"file_path": "/a.py"}, ["📁 File: /a.py"]),
        ("Edit", {"file_path": "/a", "old_string": "a\nb", "new_string": "a\nc"}, ["📁 File: /a", "a", "-b", "+c"]),
        ("Glob", {"pattern": "*.py", "path": "src"}, ["🔍 Pattern: *.py", "📁 Path: src"]),
        ("Grep", {"pattern": "def", "path": "src", "glob": "*.c"}, ["🔍 Pattern: def", "📁 Path: src", "🔎 Glob: *.c"]),
        ("Task", {"description": "Go", "prompt": "…", "subagent_type": "Spy"}, ["🤖 Agent: Spy", "📝 Description: Go"]),
        ("Agent", {"description": "Look", "prompt": "…"}, ["📝 Description: Look"]),
        ("WebFetch", {"url": "https://a.b", "prompt": "What?"}, ["🌐 URL: https://a.b", "📝 Prompt: What?"]),
        ("WebSearch", {"query": "tea"}, ["🔍 Query: tea"]),
        (
            "NotebookEdit",
            {"notebook_path": "/a.ipynb", "cell_id": "c1", "new_source": "x", "edit_mode": "insert"},
            ["📁 File: /a.ipynb", "📓 Cell: c1", "📌 Mode: insert", "+x"],
        ),
        ("mcp__github__search", {"q": "tea", "n": 3}, ["🔹 q: tea", "🔹 n: 3"]),
        ("Unheard", {"of": ["a", 1]}, ['🔹 of: ["a",1]']),
    ],
)  # fmt: skip
def test_each_tool_shows_what_matters(name: str, given: dict[str, object], told: list[str]) -> None:
    text = body(shown(Live().calls("t", name, **given)))
    assert text[1] == f"⏳ Tool: {name}"
    assert [line for line in told if line not in text] == []


def test_paths_are_seen_from_the_folder_of_the_run() -> None:
    live = Live().starts(cwd="/home/ada/shop").calls("t", "Read", file_path="/home/ada/shop/src/a.py")
    assert "📁 File: src/a.py" in body(shown(live))


def test_diffs_are_coloured() -> None:
    text = shown(Live().calls("t", "Edit", file_path="/a", old_string="old", new_string="new"), color=True)
    assert "\x1b[31m-old\x1b[0m" in text
    assert "\x1b[32m+new\x1b[0m" in text


def test_long_output_is_cut_by_lines() -> None:
    output = "\n".join(f"line {number}" for number in range(100))
    live = Live().calls("t", "Bash", command="make").result("t", output)
    text = body(shown(live))
    assert "📄 Result: line 0" in text
    assert "line 9" in text
    assert "line 10" not in text
    assert "… 90 more lines" in text
    whole = body(shown(live, full=True))
    assert "line 99" in whole
    assert not any("more line" in line for line in whole)


def test_a_long_line_of_output_is_cut_too() -> None:
    live = Live().calls("t", "Bash", command="make").result("t", "x" * 100_000)
    assert len(shown(live)) < 3000
    assert "more characters" in " ".join(body(shown(live)))
    assert shown(live, full=True).count("x") == 100_000


def test_thinking_is_folded_to_a_line() -> None:
    live = Live().thinks("First I look.\nThen I mend.\nThen I rest.")
    assert shown(live) == "  💭 First I look. (… 2 more lines)"
    assert body(shown(live, thinking=True)) == ["", "First I look.", "Then I mend.", "Then I rest.", ""]


def test_markdown_is_rendered_up_to_a_size() -> None:
    text = "Some **bold** and `code`.\n\n- one\n- two\n"
    assert body(shown(Live().says(text))) == ["", "Some bold and code.", "", "• one", "• two", ""]
    assert "\x1b[1mbold\x1b[0m" in shown(Live().says(text), color=True)
    long = text + "word " * 14_000
    assert "Some **bold** and `code`." in body(shown(Live().says(long)))


def test_tables() -> None:
    text = body(shown(Live().says("| a | 名 |\n|---|---|\n| 1 | 二 |")))
    assert [line.split() for line in text if "名" in line or "二" in line] == [["a", "名"], ["1", "二"]]


@pytest.mark.parametrize("width", [24, 58, 120])
def test_no_word_is_lost_in_a_table(width: int) -> None:
    parts = ["src/dashboard/widgets/RevenueByRegionChartContainer.tsx", "漢字" * 20, *map(str, range(10, 20))]
    said = f"|{'c|' * 12}\n|{'-|' * 12}\n|{'|'.join(parts)}|"
    for text in (said, f"|a|b|\n|-|-|\n|{parts[0]}|{parts[1]}|"):
        letters = "".join(body(shown(Live().says(text), width=width)))
        assert sorted(filter(str.isalnum, letters)) == sorted(filter(str.isalnum, text))


def test_html_is_text_like_any_other() -> None:
    text = "`List` is a List<String>, see <App>.\n\n<details>\nAll of *it*\n</details>\n\n<!-- and why -->"
    said = [
        "",
        "List is a List<String>, see <App>.",
        "",
        "<details>",
        "All of it",
        "</details>",
        "",
        "<!-- and why -->",
        "",
    ]
    assert body(shown(Live().says(text))) == said


def test_images_stay_where_they_are() -> None:
    said = ["", "See 🌆 a map (map.png), and mind the step.", ""]
    assert body(shown(Live().says("See ![a map](map.png), and mind the step."))) == said


def test_line_breaks_of_the_model_stay() -> None:
    assert body(shown(Live().says("one\ntwo *three*\nfour"))) == ["", "one", "two three", "four", ""]


def test_a_sub_agents_run_stands_further_in_and_ends_in_the_same_column() -> None:
    live = Live().calls("k", "Task", description="Look", prompt="Look.", subagent_type="Explore")
    live.inside("k").calls("g", "Glob", pattern="*").result("g", "a").calls(
        "d", "Task", description="Deeper", prompt="…"
    )
    live.inside("d").says("Deep down.").inside("k").result("d", "done").inside(None).result("k", "One file.")
    lines = shown(live).split("\n")
    tops = [line for line in lines if "╔" in line]
    assert [len(line) - len(line.lstrip()) for line in tops] == [0, 2, 2, 2, 4, 2, 0]
    assert {cells(line) for line in lines if line} == {58}


def test_all_boxes_have_one_width() -> None:
    live = Live().starts().user("你好" * 40).says("👩‍💻 wide ⚠️ " * 20).calls("t", "Bash", command="é" * 200).ends()
    for width in (24, 58, 80, 120):
        assert {cells(line) for line in shown(live, width=width).split("\n") if line} == {width}


HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J a\tb \x00 \x7f \u202egnp.exe \x1b[2J\rover\r\nend\u2028x"


@pytest.mark.parametrize("style", ["box", "line", "markdown", "json"])
def test_control_characters_never_come_through(style: str) -> None:
    live = Live().starts(cwd=HOSTILE, model=HOSTILE).user(HOSTILE).thinks(HOSTILE).says(HOSTILE + "\n- *md*\n")
    live.calls(HOSTILE, HOSTILE, **{HOSTILE: HOSTILE}).result(HOSTILE, HOSTILE, failed=True)
    live.calls("t", "Bash", command=HOSTILE).result("t", HOSTILE)
    live.calls("e", "Edit", file_path=HOSTILE, old_string="", new_string=HOSTILE)
    live.calls("d", "TodoWrite", todos=[{"content": HOSTILE, "status": "pending", "priority": HOSTILE}])
    live.add(type="system", subtype="notification", text=HOSTILE).ends(result=HOSTILE).fails(HOSTILE, errors=[HOSTILE])
    for queue in (False, True):
        for full in (False, True):
            for line in unspool.pretty([*live.lines, HOSTILE], style=style, queue=queue, full=full, title=HOSTILE):  # type: ignore[arg-type]
                unsafe = {letter for letter in line if ord(letter) < 32 or 127 <= ord(letter) < 160} - {"\t"}
                assert unsafe == set(), line
                if style == "box" and line.startswith("║"):
                    assert cells(line) == 58


def test_lines_that_are_no_json_pass_unchanged() -> None:
    lines = ["npm warn deprecated", "  indented\ttext  ", "[1/2] {not json}", "", "}", "{"]
    assert list(unspool.pretty(lines)) == lines


def test_unknown_types_are_ignored() -> None:
    assert shown(Live().starts().add(type="prophecy").add(type="stream_event", event={})) == SYSTEM


def test_content_may_be_a_string() -> None:
    record = {"type": "user", "message": {"role": "user", "content": "Hello there"}, "session_id": SESSION}
    assert body("\n".join(unspool.pretty([json.dumps(record)]))) == ["", "Hello there", ""]
