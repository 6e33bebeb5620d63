"""`unspool grep`: what is found, how it is written, and that skipping files by their raw bytes loses nothing."""

import gzip
import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from conftest import Run
from logs import SHOP, THREAD, Claude, Codex, Gemini, Machine
from test_readers import cases, laid_out, name_of
from unspool.exports.events import body
from unspool.ingest.logs import open_log
from unspool.ingest.needles import cannot_match, needles_for
from unspool.jobs.grep import Query, search_file
from unspool.model import Event

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
    assert line.startswith(f"{SHOP[:13]} 2026-03-01 10:00 user ")
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


# Needles: files are skipped by their raw bytes, and nothing is lost by it


def straight(path: Path, query: Query) -> int:
    """How many events match, without any skipping."""
    log = open_log(str(path))
    assert log is not None
    matches = query.matcher()
    return sum(matches(body(item)) is not None for item in log if isinstance(item, Event))


def hits(path: Path, pattern: str, fold: bool = False, regex: bool = False) -> int:
    return len(search_file(Query(pattern, fold=fold, regex=regex), str(path)).hits)


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_skipping_files_loses_no_hit(case: Path, tmp_path: Path) -> None:
    chance = random.Random(name_of(case))
    for path in laid_out(case, tmp_path):
        log = open_log(str(path))
        bodies = [body(item) for item in log if isinstance(item, Event)] if log is not None else []
        words = sorted({word for data in bodies for word in re.findall(rb"\w{4,}", data)})
        cuts = [chance.randrange(len(data)) for data in bodies]
        pieces = [data[cut : cut + chance.randrange(4, 24)] for data, cut in zip(bodies, cuts, strict=True)]
        for piece in [*chance.sample(words, min(len(words), 40)), *chance.sample(pieces, min(len(pieces), 40))]:
            pattern = piece.decode("utf-8", "ignore")
            if pattern:
                assert hits(path, pattern) == sum(pattern.encode() in data for data in bodies), pattern
            if pattern.isascii():
                folded = sum(piece.lower() in data.lower() for data in bodies)
                assert hits(path, pattern.swapcase(), fold=True) == folded, pattern


def expression(piece: str, other: str, chance: random.Random) -> str:
    """One that finds the piece, and perhaps more."""
    forms = ("{0}", "{0}", "{0}", ".", "{0}?", "{0}*", "{0}+", "{0}{{1,2}}", "(?:{0})", "({0}|x)", "[{0}]", "(?={0}).")
    parts = [chance.choice(forms).format(re.escape(letter)) for letter in piece]
    whole = "".join(parts)
    cut = chance.randrange(len(parts) + 1)
    wrapped = f"({''.join(parts[:cut])})(?:{''.join(parts[cut:])})"
    shapes = (whole, whole, wrapped, f"{whole}|{re.escape(other)}", f"(?i){whole}", f"(?:{re.escape(other)})?{whole}")
    return chance.choice(shapes)


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_skipping_files_loses_no_hit_of_an_expression(case: Path, tmp_path: Path) -> None:
    chance = random.Random(name_of(case))
    for path in laid_out(case, tmp_path):
        log = open_log(str(path))
        bodies = [body(item) for item in log if isinstance(item, Event)] if log is not None else []
        for data in chance.sample(bodies, min(len(bodies), 30)):
            cuts = [chance.randrange(len(data)) for _ in range(2)]
            piece, other = (data[cut : cut + chance.randrange(4, 24)].decode("ascii", "ignore") for cut in cuts)
            pattern = expression(piece, other, chance)
            query = Query(pattern, regex=True, fold=chance.random() < 0.3)
            assert len(search_file(query, str(path)).hits) == straight(path, query), pattern
            assert straight(path, query) > 0 or not piece.isprintable(), pattern


@pytest.mark.parametrize(
    ("pattern", "needles"),
    [
        ("kettle.*saucer", (b"kettle",)),
        ("kettle|saucer", (b"kettle", b"saucer")),
        ("kettle|s.u.er", ()),
        (r"\bkettle\b", (b"kettle",)),
        ("kettles?", (b"kettle",)),
        ("kettle+", (b"kettl",)),
        ("(kettle|saucer)simmering", (b"simmering",)),
        ("(?:kettle)?saucer", (b"saucer",)),
        ("(?!kettle)saucer", (b"saucer",)),
        ("[kettle]saucer", (b"saucer",)),
        ("(?i)kettle", ()),
        ("(?P<a>kettle)(?P=a)", ()),
        ("kettle{2}", (b"kettl",)),
        (r"\x6bkettle", (b"kettle",)),
        ("nkettle", (b"kettle",)),
    ],
)
def test_words_that_stand_in_whatever_an_expression_matches(pattern: str, needles: tuple[bytes, ...]) -> None:
    assert needles_for(pattern, regex=True) == needles


def test_files_without_the_words_of_an_expression_are_not_read(tmp_path: Path) -> None:
    path = Claude().user("kettle").save(tmp_path / "log.jsonl")
    assert cannot_match("teapots? .* blue", str(path), regex=True)
    assert not cannot_match("kettles? .* blue", str(path), regex=True)


@pytest.mark.parametrize(
    "pattern",
    [
        '"is_error":false',
        '"replace_all":false',
        '"kind":"file_edit"',
        "tool_result",
        "provider_call_id",
        "[image: image/png, 3 bytes]",
        '"status":"completed"',
    ],
)
def test_words_that_we_write_ourselves_are_found(tmp_path: Path, pattern: str) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    log = Claude().user("x").calls("t1", "Edit", file_path="a", old_string="b", new_string="c").result("t1", [image])
    log.add(type="system", subtype="turn_duration", durationMs=5, sessionId=SHOP, uuid="end", timestamp=log.now())
    path = log.save(tmp_path / "log.jsonl")
    assert hits(path, pattern) == straight(path, Query(pattern)) > 0


@pytest.mark.parametrize("pattern", ["nkettle", "bkettle", "u001bkettle", "01bkettle", "\\nkettle", "\\u001bkettle"])
def test_the_tail_of_an_escape_is_no_part_of_a_word(tmp_path: Path, pattern: str) -> None:
    path = Claude().user("pot\nkettle \x1bkettle").save(tmp_path / "log.jsonl")
    path.write_bytes(path.read_bytes().replace(b"\\n", b"\\u000a").replace(b"\\u001b", b"\\u001B"))
    assert hits(path, pattern) == straight(path, Query(pattern)) == 1


def test_letters_that_the_file_escapes_are_found(tmp_path: Path) -> None:
    path = Claude().user("kettle").save(tmp_path / "log.jsonl")
    path.write_bytes(path.read_bytes().replace(b"kettle", b"k\\u0065ttle"))
    assert hits(path, "kettle") == 1


@pytest.mark.parametrize(
    ("command", "pattern"),
    [("grep 'tea'kettle src", "teakettle"), ('cat "tea"pot.py', "teapot"), (r"cat tea\_cup", "tea_cup")],
)
def test_words_that_only_the_shell_puts_together_are_found(tmp_path: Path, command: str, pattern: str) -> None:
    path = Claude().user("x").calls("t1", "Bash", command=command).save(tmp_path / "log.jsonl")
    assert hits(path, pattern) == straight(path, Query(pattern))


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gz", "zst"])
def test_packed_logs_are_searched(tmp_path: Path, pack: Any) -> None:
    packed = tmp_path / f"{Codex().name()}.zst"
    packed.write_bytes(pack(Codex().user("Mend the kettle").lines()))
    assert hits(packed, "kettle") == 1
    assert hits(packed, "samovar") == 0


def test_a_packed_log_that_breaks_off_is_searched_as_far_as_it_goes(unspool: Run, tmp_path: Path) -> None:
    log = Codex().user("Mend the kettle")
    chance = random.Random(1)
    for _ in range(3000):
        log.says(str(chance.random()))
    packed = gzip.compress(log.lines())
    path = tmp_path / f"{log.name()}.gz"
    path.write_bytes(packed[: len(packed) // 2])
    done = unspool("grep", "samovar", path)
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)
    assert unspool("grep", "kettle", path).returncode == 0


def test_outputs_that_stand_in_a_file_beside_the_log_are_found(tmp_path: Path) -> None:
    told = "<persisted-output>\nOutput too large. Full output saved to: /x/tool-results/t1.txt\n\nPreview:\nline"
    log = Claude().user("x").calls("t1", "Bash", command="make").result("t1", told)
    path = log.save(tmp_path / f"{SHOP}.jsonl")
    beside = tmp_path / SHOP / "tool-results" / "t1.txt"
    beside.parent.mkdir(parents=True)
    beside.write_text("the whistle of the kettle")
    assert hits(path, "whistle") == 1


def test_a_database_is_searched(tmp_path: Path) -> None:
    case = next(case for case in cases() if name_of(case) == "crush/session.sql")
    (path,) = laid_out(case, tmp_path)
    log = open_log(str(path))
    assert log is not None
    data = next(body(item) for item in log if isinstance(item, Event) and item.type == "user").decode()
    assert hits(path, data) == 1
