"""`unspool grep`: what is found, how it is written, and that skipping files by their raw bytes loses nothing."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Run
from logs import SHOP, THREAD, Claude, Codex, Gemini, Machine
from unspool.errors import WrongPattern
from unspool.jobs import grep
from unspool.jobs.grep import Query

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Three agents; the word «kettle» stands once in the log of each."""
    machine = Machine(tmp_path)
    machine.claude(
        Claude()
        .user("Buy a kettle, ÄÖÜ")
        .calls("t1", "Edit", file_path="a.py", old_string="one", new_string="two")
        .result("t1", "done")
        .says("Bought: https://a/b?c")
    )
    machine.codex(
        Codex()
        .user("Mend the kettle")
        .calls("c1", "exec_command", cmd="rg -n teapot src")
        .result("c1", "src/a.py:1:teapot")
        .patches("c2", PATCH)
        .result("c2", "Success", "custom_tool_call_output")
        .says("Mended")
    )
    machine.gemini(Gemini().user("Sell the Kettle").says("Sold"))
    return machine


def found(run: Run, machine: Machine, *arguments: str | Path) -> list[dict[str, Any]]:
    done = run("grep", *arguments, **machine.environment)
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_raw_has_the_patch_and_what_it_came_from_side_by_side(unspool: Run, machine: Machine) -> None:
    (event,) = found(unspool, machine, '"name":"apply_patch"', "--raw", "--limit", "5")
    arguments = {"file_path": "a.py", "old_string": "", "new_string": PATCH, "replace_all": False}
    assert event["content"]["arguments"] == arguments
    payload = {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": PATCH}
    assert event["metadata"]["payload"] == payload


def test_json_is_the_event_without_what_it_came_from(unspool: Run, machine: Machine) -> None:
    (event,) = found(unspool, machine, '"name":"apply_patch"', "--json")
    assert list(event) == [
        "id",
        "session_id",
        "parent_id",
        "timestamp",
        "stream_id",
        "type",
        "content",
        "metadata",
    ]
    assert event["metadata"].keys() == {"agent", "origin"}
    assert (event["session_id"], event["stream_id"], event["type"]) == (THREAD, "main", "tool_call")


def test_a_line_for_people(unspool: Run, machine: Machine) -> None:
    (line,) = unspool("grep", "Buy a kettle", **machine.environment).stdout.decode().splitlines()
    assert line.startswith(f"{SHOP} 2026-03-01 10:00 user ")
    assert "Buy a kettle, ÄÖÜ" in line


def test_the_hit_is_marked_on_a_terminal(machine: Machine) -> None:
    assert "\x1b[31m\x1b[1ma kettle\x1b[0m, ÄÖÜ" in machine.on_a_terminal("grep", "a kettle")


def test_a_literal_is_matched_against_compact_json_of_type_and_content(unspool: Run, machine: Machine) -> None:
    (event,) = found(unspool, machine, '"type":"user","content":{"text":"Mend', "--json")
    assert event["content"] == {"text": "Mend the kettle"}


def test_metadata_is_not_searched(unspool: Run, machine: Machine) -> None:
    assert unspool("grep", "custom_tool_call", **machine.environment).returncode == 1
    assert unspool("grep", SHOP, **machine.environment).returncode == 1


def test_nothing_found_is_exit_1_without_a_word(unspool: Run, machine: Machine) -> None:
    done = unspool("grep", "teakettlewhistle", **machine.environment)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_where_there_is_no_log_it_says_so(unspool: Run, tmp_path: Path) -> None:
    done = unspool("grep", "tea", **Machine(tmp_path).environment)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no log: see `unspool sources`" in done.stderr


def test_no_limit_unless_given(unspool: Run, machine: Machine) -> None:
    path = Claude(day=4)
    for number in range(500):
        path.user(f"whistle {number}")
    assert len(found(unspool, machine, "whistle", path.save(machine.home / "many.jsonl"), "--json")) == 500


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_limit_counts_over_all_files(unspool: Run, machine: Machine, jobs: str) -> None:
    assert len(found(unspool, machine, "-i", "kettle", "--json", "--jobs", jobs)) == 3
    assert len(found(unspool, machine, "-i", "kettle", "--json", "--limit", "2", "--jobs", jobs)) == 2


def test_two_processes_find_what_one_finds(unspool: Run, machine: Machine) -> None:
    one = unspool("grep", "-E", "e", "--raw", "--jobs", "1", **machine.environment)
    two = unspool("grep", "-E", "e", "--raw", "--jobs", "2", **machine.environment)
    assert one.stdout == two.stdout
    assert len(one.stdout.splitlines()) > 10


def test_case_counts_unless_told_otherwise(unspool: Run, machine: Machine) -> None:
    assert len(found(unspool, machine, "KETTLE", "--json", "-i")) == 3
    assert unspool("grep", "KETTLE", **machine.environment).returncode == 1


@pytest.mark.parametrize("expression", [(), ("-E",)])
def test_only_ascii_letters_are_folded(unspool: Run, machine: Machine, expression: tuple[str, ...]) -> None:
    assert unspool("grep", "-i", "kettle, äöü", *expression, **machine.environment).returncode == 1
    assert unspool("grep", "-i", "KETTLE, ÄÖÜ", *expression, **machine.environment).returncode == 0


def test_a_regular_expression(unspool: Run, machine: Machine) -> None:
    assert [
        event["content"]["text"] for event in found(unspool, machine, "-E", r"(Buy|Mend)[a-z ]+kettle", "--json")
    ] == [
        "Buy a kettle, ÄÖÜ",
        "Mend the kettle",
    ]


def test_a_literal_is_no_regular_expression(unspool: Run, machine: Machine) -> None:
    (event,) = found(unspool, machine, "b?c", "--json")
    assert event["content"]["text"] == "Bought: https://a/b?c"


def test_a_wrong_expression_is_named(unspool: Run, machine: Machine) -> None:
    done = unspool("grep", "-E", "(kettle", **machine.environment)
    assert done.returncode == 2
    assert b"'(kettle' is no regular expression: missing )" in done.stderr


def test_kind_is_a_type_of_event(unspool: Run, machine: Machine) -> None:
    assert [event["type"] for event in found(unspool, machine, "teapot", "--json", "--kind", "tool_result")] == [
        "tool_result"
    ]


def test_kind_is_a_kind_of_action(unspool: Run, machine: Machine) -> None:
    names = [event["content"]["name"] for event in found(unspool, machine, "name", "--json", "--kind", "file_edit")]
    assert names == ["Edit", "apply_patch"]


def test_a_call_is_of_the_kinds_of_its_actions(unspool: Run, tmp_path: Path) -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b.py\n+z\n*** End Patch\n"
    log = Codex().calls("c1", "exec_command", cmd="rg -n teapot src; cat a.py; make").patches("c2", patch)
    path = log.save(tmp_path / "rollout-2026-03-01T10-00-00-kinds.jsonl")
    kinds = ("file_read", "search", "execute", "file_write", "file_edit", "file_move", "web")
    calls = {
        kind: [json.loads(line)["content"]["provider_call_id"] for line in done.stdout.splitlines()]
        for kind in kinds
        for done in [unspool("grep", "e", path, "--json", "--kind", kind)]
    }
    assert [kind for kind, found in calls.items() if found == ["c1"]] == ["file_read", "search", "execute"]
    assert [kind for kind, found in calls.items() if found == ["c2"]] == ["file_write", "file_edit"]
    assert calls["file_move"] == calls["web"] == []


def test_the_sample_in_which_a_patch_creates_a_file(unspool: Run) -> None:
    samples = Path(__file__).parent.parent / "samples" / "logs"
    done = unspool("grep", "test_money.py", "--kind", "file_write", samples, "--json")
    assert [json.loads(line)["content"]["name"] for line in done.stdout.splitlines()] == ["apply_patch"]


def test_several_kinds(unspool: Run, machine: Machine) -> None:
    options = ("--json", "--kind", "file_edit", "--kind", "tool_result")
    events = found(unspool, machine, "type", *options)
    assert {event["type"] for event in events} == {"tool_call", "tool_result"}
    assert {event["content"].get("kind", "file_edit") for event in events} == {"file_edit"}


def test_a_kind_that_nothing_is_of_is_a_mistake(unspool: Run, machine: Machine) -> None:
    done = unspool("grep", "teapot", "--kind", "file_edits", **machine.environment)
    assert done.returncode == 2
    assert b"'file_edits' is none of user, thinking, message, tool_call" in done.stderr


def test_only_one_agent(unspool: Run, machine: Machine) -> None:
    agents = {
        event["metadata"]["agent"]
        for event in found(unspool, machine, "-i", "kettle", "--json", "--agent", "gemini-cli")
    }
    assert agents == {"gemini_cli"}


def test_the_agent_s_log_may_be_given_and_be_another_s(unspool: Run, machine: Machine) -> None:
    log = next(machine.home.rglob(f"{SHOP}.jsonl"))
    assert unspool("grep", "kettle", log, "--agent", "codex", **machine.environment).returncode == 1


@pytest.mark.parametrize(
    ("path", "words"), [("nope.jsonl", "nope.jsonl: No such file"), ("plain.jsonl", "plain.jsonl: no agent's log")]
)
def test_a_path_that_cannot_be_searched_is_named(unspool: Run, machine: Machine, path: str, words: str) -> None:
    (machine.home / "plain.jsonl").write_text('{"a": 1}\n')
    done = unspool("grep", "kettle", machine.home / path, **machine.environment)
    assert done.returncode == 2
    assert words in done.stderr.decode()


def test_files_of_a_folder_that_are_no_logs_are_passed_over(unspool: Run, machine: Machine) -> None:
    (machine.home / "plain.jsonl").write_text('{"a": "kettle"}\n')
    assert len(found(unspool, machine, "kettle", machine.home, "--json")) == 2


def test_one_file_that_cannot_be_read_costs_nothing_else(unspool: Run, machine: Machine) -> None:
    log = next(machine.home.rglob("rollout-*.jsonl"))
    log.with_name("rollout-2026-03-01T10-00-00-broken.jsonl").symlink_to("/proc/self/mem")  # reading it fails
    done = unspool("grep", "Mend", "--json", **machine.environment)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2), done.stderr


def test_records_that_could_not_be_read_are_counted(unspool: Run, machine: Machine) -> None:
    log = Claude().user("kettle").save(machine.home / "broken.jsonl")
    log.write_bytes(log.read_bytes() + b'{"torn\n')
    done = unspool("grep", "kettle", log, **machine.environment)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert b"1 record in these logs could not be read or understood" in done.stderr


def test_what_was_mended_was_read(unspool: Run, machine: Machine) -> None:
    log = Claude().user("water").user("kettle", took=0.5).save(machine.home / "mended.jsonl")
    log.write_bytes(log.read_bytes().replace(b"0.5", b"NaN"))
    done = unspool("grep", "kettle", log, **machine.environment)
    assert (done.returncode, len(done.stdout.splitlines()), done.stderr) == (0, 1, b"")


def test_a_closed_pipe_is_quiet(machine: Machine) -> None:
    log = Claude()
    for _ in range(2000):
        log.user("kettle " * 50)
    path = log.save(machine.home / "long.jsonl")
    script = f"set -o pipefail; {sys.executable} -m unspool grep kettle {path} --json | head -n 1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_what_would_steer_a_terminal_is_made_harmless(unspool: Run, machine: Machine) -> None:
    log = Claude("evil\x1b]0;title\x07", agent="\x1b]0;t\x07").user("kettle \x1b]0;title\x07 \x9b31m")
    shown = unspool("grep", "kettle", log.save(machine.home / "evil.jsonl"), **machine.environment).stdout.decode()
    assert "kettle" in shown
    assert not {"\x1b", "\x07", "\x9b"} & set(shown)


def test_standard_input_can_be_searched(unspool: Run) -> None:
    log = Claude().user("one kettle").says("two kettles").user("three kettles")
    done = unspool("grep", "kettle", "-", "--raw", stdin=log.lines())
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["metadata"]["payload"]["uuid"] for event in events] == [record["uuid"] for record in log.records]


EXPRESSIONS = st.lists(
    st.sampled_from(
        [
            *(
                "a",
                "b",
                "}",
                "{",
                '"',
                "é",
                ".",
                ".*",
                ".+?",
                "a?",
                "b{2}",
                "[ab]",
                "[a-z]+",
                "[ -~]",
                "(?:a|b)",
                "(a)",
            ),
            *(
                "|",
                r"\d",
                r"\w+",
                r"\S*",
                r"\.",
                r"\\",
                "^",
                "$",
                r"\A",
                r"\Z",
                r"\b",
                r"\B",
                "(?=b)",
                "(?<!a)",
                "(?!})",
            ),
            *(
                "[^a]",
                '[^"]*',
                r"\s",
                r"\W",
                r"\D+",
                r"\n",
                "\n",
                r"[\t-z]",
                "a++",
                "(?>a|ab)",
                "b*+",
                r"\1",
                "(?i:A)",
                "(?m)^",
            ),
        ]
    ),
    max_size=6,
).map("".join)


@given(EXPRESSIONS, st.booleans(), st.booleans(), st.lists(st.text('ab}"\n é\\'), min_size=1, max_size=5))
def test_events_that_are_searched_together_have_the_hits_that_each_has(
    pattern: str, regex: bool, fold: bool, texts: list[str]
) -> None:
    query = Query(pattern, regex=regex, fold=fold)
    try:
        matches = query.matcher()
    except WrongPattern:
        return
    lines = [json.dumps({"text": text}, ensure_ascii=False).encode() for text in texts]
    if query.joins:
        assert (matches(b"\n".join([*lines, b""])) is not None) == any(matches(line) for line in lines)


@pytest.mark.parametrize("pattern", ["q.i.o.r", "[a-z]+ (?:x|y)", r"\d{2}\.", "kettle|tea"])
def test_plain_expressions_are_searched_for_together(pattern: str) -> None:
    assert Query(pattern, regex=True).joins


@pytest.mark.parametrize("pattern", ["kettle", "t.*e", r"\btea", "^.{9}m", "}}$", "[^a]}", "", "e"])
def test_one_by_one_and_together_the_same_is_found(
    pattern: str, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [str(path) for path in sorted(machine.home.rglob("*.json*"))]
    together = [grep.search_file(Query(pattern, regex=True), path) for path in files]
    monkeypatch.setattr(grep, "_AT_ONCE", 1)
    assert files
    assert together == [grep.search_file(Query(pattern, regex=True), path) for path in files]
