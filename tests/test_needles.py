"""Needles: files are skipped by their raw bytes, and nothing is lost by it."""

import gzip
import random
import re
from pathlib import Path
from typing import Any

import pytest
import zstandard

from conftest import Run
from logs import SHOP, Claude, Codex
from test_readers import cases, laid_out, name_of
from unspool.exports.events import body
from unspool.ingest.logs import open_log
from unspool.ingest.needles import cannot_match, needles_for
from unspool.jobs.grep import Query, search_file
from unspool.model import Event


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


def test_words_that_a_program_puts_together_are_found_where_the_file_has_them(tmp_path: Path) -> None:
    program = 'const pot = "tea"; await tools.exec_command({cmd: `cat ${pot}pot.py`});'
    log = (
        Codex().user("teapot").line("response_item", type="custom_tool_call", call_id="c1", name="exec", input=program)
    )
    path = log.save(tmp_path / log.name())
    assert hits(path, "teapot") == straight(path, Query("teapot")) == 2


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
