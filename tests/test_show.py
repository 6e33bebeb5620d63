"""`unspool show`: which session is meant, and how it reads."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from conftest import Run
from logs import CHAT, SHOP, THREAD, Claude, Codex, Gemini, Machine
from test_readers import FOLDERS, laid_out

KEYS = ["id", "session_id", "parent_id", "timestamp", "stream_id", "type", "content", "metadata"]
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@ def f\n-x = 1\n+x = 2\n*** End Patch\n"
LONG = "\n".join(f"line {number}" for number in range(1, 31))


def agent() -> Claude:
    return Claude(agent="abc").user("Find prices").calls("a1", "Grep", pattern="price").result("a1", "price.py")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.claude(
        Claude()
        .user("Mend the login")
        .thinks("First thought\nsecond thought\nthird thought")
        .calls("t1", "Bash", new=False, command="make test")
        .later(61)
        .result("t1", LONG, failed=True)
        .calls("t2", "Task", description="Find prices", prompt="Find prices")
        .result("t2", "price.py", agentId="abc", agentType="Explore")
        .calls("t3", "Edit", file_path="/a.py", old_string="a\nb\n", new_string="a\nc\n")
        .result("t3", "The file was edited")
        .calls("t4", "Write", file_path="/b.py", content="new\n")
        .says("**Done.**")
    )
    machine.claude(agent())
    machine.codex(Codex().user("Make tea").patches("c1", PATCH).result("c1", "Success", "custom_tool_call_output"))
    machine.gemini(Gemini().user("Plant roses").says("Planted"))
    return machine


def shown(run: Run, machine: Machine, *arguments: str | Path) -> str:
    done = run("show", *arguments, **machine.environment)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def events(run: Run, machine: Machine, *arguments: str | Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in shown(run, machine, *arguments).split("\n")[:-1]]
    assert found
    return found


# Which session


@pytest.mark.parametrize(
    ("name", "session"), [(SHOP, SHOP), (SHOP[:4], SHOP), (THREAD, THREAD), ("latest", CHAT), (CHAT[:8], CHAT)]
)
def test_a_session_by_its_id_or_its_beginning_or_the_latest(
    unspool: Run, machine: Machine, name: str, session: str
) -> None:
    assert {event["session_id"] for event in events(unspool, machine, name, "--json")} == {session}


def test_an_ambiguous_beginning_names_the_sessions(unspool: Run, machine: Machine) -> None:
    other = f"{SHOP[:-1]}6"
    machine.claude(Claude(other).user("x").says("y"))
    done = unspool("show", SHOP[:8], **machine.environment)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"is the beginning of 2 sessions' ids" in done.stderr
    assert SHOP.encode() in done.stderr
    assert other.encode() in done.stderr


def test_an_id_that_is_the_beginning_of_another_is_meant_itself(unspool: Run, machine: Machine) -> None:
    Claude("tea").user("green").says("y").save(machine.home / ".claude" / "projects" / "x" / "1.jsonl")
    Claude("teapot").user("black").says("y").save(machine.home / ".claude" / "projects" / "x" / "2.jsonl")
    assert "❯ green" in shown(unspool, machine, "tea")


def test_a_session_that_is_not_there(unspool: Run, machine: Machine) -> None:
    done = unspool("show", "nope", **machine.environment)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"'nope' is no file, and no session's id begins so" in done.stderr


def test_latest_on_an_empty_machine(unspool: Run, tmp_path: Path) -> None:
    done = unspool("show", "latest", **Machine(tmp_path).environment)
    assert (done.returncode, b"Traceback" in done.stderr) == (2, False)


def test_a_path_shows_its_session_with_the_sub_agents_beside_it(unspool: Run, machine: Machine) -> None:
    path = next(machine.home.rglob(f"{SHOP}.jsonl"))
    assert {event["stream_id"] for event in events(unspool, machine, path, "--json")} == {"main", "agent:abc"}


def test_a_sub_agent_s_file_alone(unspool: Run, machine: Machine) -> None:
    path = next(machine.home.rglob("agent-abc.jsonl"))
    text = shown(unspool, machine, path)
    assert text.splitlines()[3:] == ["❯ Find prices", "  ● Grep  price  1.0 s", "    price.py"]
    assert {event["stream_id"] for event in events(unspool, machine, path, "--json")} == {"agent:abc"}


def test_of_several_sessions_in_a_database_the_newest_and_the_others_by_name(unspool: Run, tmp_path: Path) -> None:
    (path,) = laid_out(FOLDERS / "zed" / "older_threads.sql", tmp_path)
    done = unspool("show", path, "--json", **Machine(tmp_path).environment)
    assert {json.loads(line)["session_id"] for line in done.stdout.splitlines()} == {"o2"}
    first, *others = done.stderr.decode().splitlines()
    assert first == "the newest of 3 sessions; the others:"
    assert [line.split()[0] for line in others] == ["o3", "o0"]


def test_a_folder_shows_the_newest_of_it(unspool: Run, machine: Machine) -> None:
    done = unspool("show", machine.home, **machine.environment)
    assert b"Planted" in done.stdout
    assert THREAD.encode() in done.stderr


def test_names_of_other_sessions_are_made_harmless(unspool: Run, machine: Machine) -> None:
    machine.codex(Codex().user("\x1b]0;title\x07 tea").says("y"))
    done = unspool("show", machine.home, **machine.environment)
    assert b"title" in done.stderr
    assert b"\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"a": 1}', b"no agent's log that we know"),
        ('{"timestamp": "", "type": "session_meta", "payload": {"id": "x"}}', b"a log of Codex without a session"),
    ],
)
def test_a_file_that_is_no_log_or_tells_nothing(line: str, told: bytes, unspool: Run, machine: Machine) -> None:
    (machine.home / "plain.jsonl").write_text(f"{line}\n")
    done = unspool("show", machine.home / "plain.jsonl", **machine.environment)
    assert (done.returncode, b"plain.jsonl: " + told in done.stderr) == (2, True)


def test_standard_input(unspool: Run, machine: Machine) -> None:
    log = Claude().user("Mend it").says("Mended")
    done = unspool("show", "-", stdin=log.lines(), **machine.environment)
    assert done.returncode == 0, done.stderr
    assert "❯ Mend it\n\n  Mended\n" in done.stdout.decode()
    told = unspool("show", "-", "--json", stdin=log.lines(), **machine.environment).stdout.splitlines()
    assert {json.loads(line)["metadata"]["origin"]["file"] for line in told} == {"-"}
    for command in (["show", "-"], ["thread", "from", "-"], ["tools", "-"]):
        done = unspool(*command, stdin=b"no log\n", **machine.environment)
        assert (done.returncode, done.stderr.startswith(b"unspool: -: no agent's log")) == (2, True)


def test_standard_input_that_is_closed() -> None:
    script = f"{sys.executable} -m unspool show - <&-"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"unspool: standard input is closed\n")


# Events


@pytest.mark.parametrize("form", ["--json", "--raw"])
def test_every_event_has_exactly_its_eight_keys(unspool: Run, machine: Machine, form: str) -> None:
    written = events(unspool, machine, SHOP, form)
    assert {tuple(event) for event in written} == {tuple(KEYS)}
    expected = {"agent", "origin"} | ({"payload"} if form == "--raw" else set())
    assert {tuple(sorted(event["metadata"])) for event in written} == {tuple(sorted(expected))}


def test_each_event_names_the_one_before_it_in_its_stream(unspool: Run, machine: Machine) -> None:
    last: dict[str, str] = {}
    for event in events(unspool, machine, SHOP, "--json"):
        assert event["parent_id"] == last.get(event["stream_id"])
        last[event["stream_id"]] = event["id"]
    assert last.keys() == {"main", "agent:abc"}


def test_ids_are_the_same_each_time_and_none_twice(unspool: Run, machine: Machine) -> None:
    ids = [event["id"] for event in events(unspool, machine, SHOP, "--json")]
    assert ids == [event["id"] for event in events(unspool, machine, SHOP, "--raw")]
    assert len(set(ids)) == len(ids)


def test_the_payload_of_codex_is_the_inner_object(unspool: Run, machine: Machine) -> None:
    for event in events(unspool, machine, THREAD, "--raw"):
        line = (
            Path(event["metadata"]["origin"]["file"]).read_text().splitlines()[event["metadata"]["origin"]["line"] - 1]
        )
        assert event["metadata"]["payload"] == json.loads(line)["payload"]


def test_the_payload_of_claude_code_is_the_record(unspool: Run, machine: Machine) -> None:
    for event in events(unspool, machine, SHOP, "--raw"):
        line = (
            Path(event["metadata"]["origin"]["file"]).read_text().splitlines()[event["metadata"]["origin"]["line"] - 1]
        )
        assert event["metadata"]["payload"] == json.loads(line)


def test_the_payload_of_a_packed_log(unspool: Run, machine: Machine) -> None:
    plain = events(unspool, machine, THREAD, "--raw")
    log = next(machine.home.rglob("rollout-*.jsonl"))
    packed = log.with_name(f"{log.name}.zst")
    packed.write_bytes(zstandard.compress(log.read_bytes()))
    log.unlink()
    read = events(unspool, machine, packed, "--raw")
    assert [event["metadata"]["payload"] for event in read] == [event["metadata"]["payload"] for event in plain]
    assert [event["id"] for event in read] == [event["id"] for event in plain]


def test_the_payload_of_a_document_is_a_part_of_it(unspool: Run, machine: Machine) -> None:
    case = FOLDERS / "gemini_cli_json" / "session.json"
    messages = json.loads(case.read_text())["messages"]
    payloads = [event["metadata"]["payload"] for event in events(unspool, machine, case, "--raw")]
    assert payloads
    assert all(payload in messages for payload in payloads)


def test_the_payload_of_a_database_is_its_row(unspool: Run, tmp_path: Path) -> None:
    (path,) = laid_out(FOLDERS / "crush" / "session.sql", tmp_path)
    done = unspool("show", path, "--raw", **Machine(tmp_path).environment)
    payloads = [json.loads(line)["metadata"]["payload"] for line in done.stdout.splitlines()]
    assert payloads
    assert all("table" in payload for payload in payloads)


def test_one_stream_alone(unspool: Run, machine: Machine) -> None:
    assert {event["stream_id"] for event in events(unspool, machine, SHOP, "--json", "--stream", "agent:abc")} == {
        "agent:abc"
    }
    assert "Mend the login" not in shown(unspool, machine, SHOP, "--stream", "agent:abc")


def test_a_stream_that_is_not_there(unspool: Run, machine: Machine) -> None:
    done = unspool("show", SHOP, "--stream", "agent:nope", **machine.environment)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"has no stream 'agent:nope', only main, agent:abc" in done.stderr


@pytest.mark.parametrize("nested", [False, True], ids=["flat", "nested"])
def test_of_an_agent_that_is_told_twice_the_fuller_telling(unspool: Run, machine: Machine, nested: bool) -> None:
    whole = agent().says("All prices are in price.py")
    part = agent()
    machine.claude(Claude().user("Ask").calls("t1", "Task", prompt="Find").inline(part, "t1").result("t1", "ok"))
    next(machine.home.rglob("agent-abc.jsonl")).unlink()
    machine.claude(whole, nested=nested)
    said = [event["content"].get("text") for event in events(unspool, machine, SHOP, "--json", "--stream", "agent:abc")]
    assert said.count("Find prices") == 1
    assert said.count("All prices are in price.py") == 1


# The transcript


def test_the_header(unspool: Run, machine: Machine) -> None:
    first, second, *_ = shown(unspool, machine, SHOP).splitlines()
    assert first == f"{SHOP}  claude_code · claude-test-1 · /home/ada/shop (main) · 2026-03-01 10:00, 1 min"
    assert second == "1 turn · 5 tool calls · 60 in, 6.0k cached, 600 written, 30 out"


def test_a_call_with_its_result_and_duration(unspool: Run, machine: Machine) -> None:
    lines = shown(unspool, machine, SHOP).splitlines()
    at = lines.index("  ✗ Bash  make test  1 min 02 s")
    assert lines[at + 1] == "    line 1"


def test_long_outputs_are_cut_unless_all_is_wanted(unspool: Run, machine: Machine) -> None:
    text = shown(unspool, machine, SHOP)
    assert "line 8\n    … 22 more lines" in text
    assert "line 30" not in text
    assert "line 30" in shown(unspool, machine, SHOP, "--full")


def test_thinking_is_folded_unless_it_is_wanted(unspool: Run, machine: Machine) -> None:
    assert "  ✻ First thought … 2 more lines\n" in shown(unspool, machine, SHOP)
    assert "  ✻ First thought\n    second thought\n    third thought\n" in shown(unspool, machine, SHOP, "--thinking")


def test_edits_are_diffs(unspool: Run, machine: Machine) -> None:
    text = shown(unspool, machine, SHOP)
    assert "● Edit  /a.py  1.0 s\n     a\n    -b\n    +c\n    The file was edited\n" in text
    assert "… Write  /b.py\n    +new\n" in text
    assert "● apply_patch  a.py +1 −1  1.0 s\n    @@ def f\n    -x = 1\n    +x = 2\n" in shown(unspool, machine, THREAD)


def test_diffs_are_coloured_on_a_terminal(machine: Machine) -> None:
    text = machine.on_a_terminal("show", SHOP)
    assert "\x1b[31m-b\x1b[0m" in text
    assert "\x1b[32m+c\x1b[0m" in text
    assert "\x1b" not in machine.on_a_terminal("show", SHOP, NO_COLOR="1")


def test_sub_agents_are_indented_where_they_were_called(unspool: Run, machine: Machine) -> None:
    lines = [line for line in shown(unspool, machine, SHOP).splitlines() if line]
    at = lines.index("  ● Task  Find prices  1.0 s")
    assert lines[at + 1 : at + 6] == [
        "╭ agent:abc: Explore · Find prices",
        "│ ❯ Find prices",
        "│   ● Grep  price  1.0 s",
        "│     price.py",
        "    price.py",
    ]


def test_sequences_for_terminals_are_made_harmless(machine: Machine) -> None:
    evil = "\x1b]0;title\x07\x1b[2J\x9b31m\r"
    log = Claude(f"id{evil}", cwd=evil).user(evil).thinks(evil).calls("t1", "Bash" + evil, command=evil)
    log.result("t1", evil).calls("t2", "Edit", file_path=evil, old_string="", new_string=evil).says(evil)
    path = log.save(machine.home / "evil.jsonl")
    path.write_bytes(path.read_bytes() + b'{"type": "\\u001b]0;title\\u0007", "sessionId": "x"}\n')
    text = machine.on_a_terminal("show", path, NO_COLOR="1")
    assert "Bash" in text
    assert not {"\x1b", "\x07", "\x9b"} & set(text)


def test_markdown_cuts_nothing(unspool: Run, machine: Machine) -> None:
    text = shown(unspool, machine, SHOP, "--markdown")
    assert text.startswith(f"# {SHOP}\n\n- agent: claude_code\n")
    assert "\n## Prompt\n\nMend the login\n" in text
    assert (
        "\n<details><summary>Thinking</summary>\n\nFirst thought\nsecond thought\nthird thought\n\n</details>\n" in text
    )
    assert "\n**Bash** failed (62.0 s)\n\n```\nmake test\n```\n" in text
    assert "line 30\n```\n" in text
    assert "\n```diff\n a\n-b\n+c\n```\n" in text
    assert "\n> ### agent:abc: Explore · Find prices\n" in text
    assert text.endswith("\n**Done.**\n")


def test_a_fence_in_markdown_is_longer_than_any_inside(unspool: Run, machine: Machine) -> None:
    fenced = "````\ncode\n````"
    path = Claude().user("x").calls("t1", "Bash", command="x").result("t1", fenced).save(machine.home / "fences.jsonl")
    assert f"\n`````\n{fenced}\n`````\n" in shown(unspool, machine, path, "--markdown")


def test_a_skill_is_named_and_so_is_a_task_that_has_no_words(unspool: Run, machine: Machine) -> None:
    log = Claude().user("x").calls("t1", "Skill", skill="tidy").calls("t2", "Skill", skill="pdf", args="a.pdf")
    log.calls("t3", "TaskOutput", task_id="b27").calls("t4", "ListAgents")
    text = shown(unspool, machine, log.save(machine.home / "skills.jsonl"))
    assert [line.strip() for line in text.splitlines() if line.startswith("  …")] == [
        "… Skill  tidy",
        "… Skill  pdf a.pdf",
        '… TaskOutput  {"task_id":"b27"}',
        "… ListAgents",
    ]


def test_colours_of_an_output_are_left_out_and_all_else_that_steers_a_terminal_is_shown(
    unspool: Run, machine: Machine
) -> None:
    log = Claude().user("x").calls("t1", "Bash", command="x").result("t1", "\x1b[1;31mred\x1b[0m \x1b[2Jgone")
    text = shown(unspool, machine, log.save(machine.home / "colours.jsonl"))
    assert "    red \N{REPLACEMENT CHARACTER}[2Jgone\n" in text


def test_a_call_without_a_result_is_marked(unspool: Run, machine: Machine) -> None:
    path = Claude().user("x").calls("t1", "Bash", command="sleep 9").save(machine.home / "open.jsonl")
    assert "  … Bash  sleep 9\n" in shown(unspool, machine, path)


def test_what_was_not_understood_is_counted(unspool: Run, machine: Machine) -> None:
    path = Claude().user("x").says("y").save(machine.home / "odd.jsonl")
    path.write_bytes(path.read_bytes() + b'{"type": "brand-new", "sessionId": "x", "uuid": "z"}\n')
    done = unspool("show", path, **machine.environment)
    assert done.returncode == 0
    assert b"1 record not understood, the first at" in done.stderr
    assert b"odd.jsonl:3: record type 'brand-new'" in done.stderr
    path = Claude().user("x").says("y").says("a+b").save(machine.home / "mended.jsonl")
    path.write_bytes(path.read_bytes().replace(b"a+b", b"a\xffb"))
    done = unspool("show", path, **machine.environment)
    assert "a\ufffdb" in done.stdout.decode()
    assert done.stderr == b""  # it was mended, and understood


def test_a_closed_pipe_is_quiet(machine: Machine) -> None:
    log = Claude()
    for _ in range(2000):
        log.user("kettle " * 50)
    path = log.save(machine.home / "long.jsonl")
    script = f"set -o pipefail; {sys.executable} -m unspool show {path} | head -n 1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_servers_tool_is_named_where_the_call_does_not_name_it(unspool: Run, machine: Machine) -> None:
    log = Codex().user("Brew").calls("m1", "mcp__tea__brew", leaf="green")
    log.line(
        "response_item", type="custom_tool_call", name="exec", call_id="m2", input="tools.mcp__tea__brew({cups: 2})"
    )
    lines = shown(unspool, machine, machine.codex(log)).split("\n")
    assert [line.strip("… ") for line in lines if "tea" in line and "/" not in line] == [
        'mcp__tea__brew  {"leaf":"green"}',
        'exec  tea brew {"cups":2}',
    ]
