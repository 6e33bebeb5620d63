"""`make against`: differences between two revisions are found, grouped and explained by rules."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from against.compare import Difference, align, differences
from against.outputs import comparable
from against.report import Unexplained, lines_of, shortened
from against.rules import InvalidRule, Rule, path_matches, read_rules

ROOT = Path(__file__).parent.parent


def the_difference(old: Any, new: Any) -> Difference:
    (difference,) = differences(old, new)
    return difference


# Where two values differ


@pytest.mark.parametrize(
    ("old", "new", "change", "path"),
    [
        ({"a": {"b": 1}}, {"a": {"b": 2}}, "changed", ("a", "b")),
        ({"a": 1}, {"a": 1, "b/c": 2}, "added", ("b~1c",)),
        ({"a": 1, "b": 2}, {"a": 1}, "removed", ("b",)),
        ([1, 2, 3], [1, 3], "removed", ("1",)),
        ([{"id": "x", "n": 1}], [{"id": "w"}, {"id": "x", "n": 1}], "added", ("0",)),
        ({"a": 1}, {"a": True}, "changed", ("a",)),
        ({"a": 1}, {"a": 1.0}, "changed", ("a",)),
        ([{"a": None}], [{"a": []}], "changed", ("0", "a")),
    ],
)
def test_the_deepest_place_that_differs_is_reported(old: Any, new: Any, change: str, path: tuple[str, ...]) -> None:
    difference = the_difference(old, new)
    assert (difference.change, difference.path) == (change, path)


def test_items_with_ids_are_paired_though_all_of_them_changed() -> None:
    old = [{"id": name, "n": 1} for name in "abc"]
    new = [{"id": name, "n": 2} for name in "xabc"]
    results = [(difference.path, difference.change) for difference in differences(old, new)]
    assert results == [(("0",), "added"), *(((str(place), "n"), "changed") for place in (1, 2, 3))]


def test_long_lists_are_paired_by_place() -> None:
    old, new = [f"a{n}" for n in range(5_000)], [f"b{n}" for n in range(5_001)]
    pairs = list(align(old, new))
    assert pairs[0] == (0, 0)
    assert pairs[-1] == (None, 5_000)


def test_one_message_more_does_not_change_the_numbers_of_those_after_it() -> None:
    def cooked(*texts: str) -> dict[str, Any]:
        names = [f"m{place}" for place in range(len(texts))]
        messages = [{"id": name, "content": text} for name, text in zip(names, texts, strict=True)]
        request = {"id": "r", "request_messages": names, "response_messages": [], "tools": []}
        stdout = json.dumps({"messages": messages, "tools": [], "requests": [request]})
        return {"exit_status": 0, "error": None, "stdout": stdout, "files": {}}

    results = [
        (difference.pattern, difference.new)
        for difference in differences(*comparable(cooked("one", "three"), cooked("one", "two", "three")))
    ]
    assert results == [
        ("stdout/messages/*", {"id": "new m1", "content": "two"}),
        ("stdout/requests/*/request_messages/*", "new m1"),
    ]


# Rules


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("**/usage", "stdout/requests/3/usage", True),
        ("**/usage", "usage", True),
        ("**/usage", "stdout/usage/total", False),
        ("stdout/requests/*/usage", "stdout/requests/3/usage", True),
        ("stdout/*/usage", "stdout/requests/3/usage", False),
        ("files/out/*.jsonl/**", "files/out/2026-05-04.jsonl/messages/0/content", True),
        ("files/out/*.jsonl/**", "files/out/summary.json/records", False),
        ("**", "exit_status", True),
    ],
)
def test_paths_of_rules(pattern: str, path: str, fits: bool) -> None:
    assert path_matches(pattern, tuple(path.split("/"))) is fits


@pytest.mark.parametrize(
    ("rule", "old", "new", "explained"),
    [
        (
            {"path": "**/cache_write_1h", "change": "added"},
            {"u": {"in": 1}},
            {"u": {"in": 1, "cache_write_1h": 0}},
            True,
        ),
        ({"path": "**/cache_write_1h", "change": "added"}, {"cache_write_1h": 0}, {"cache_write_1h": 1}, False),
        ({"change": "truncated_ms"}, {"timestamp": 1700}, {"timestamp": 1699}, True),
        ({"change": "truncated_ms"}, {"timestamp": 1699}, {"timestamp": 1700}, False),
        ({"change": "truncated_ms"}, {"timestamp": 1700}, {"timestamp": 1698}, False),
        ({"change": "truncated_ms"}, {"t": "2026-01-01T00:00:01.000Z"}, {"t": "2026-01-01T00:00:00.999Z"}, True),
        ({"change": "truncated_ms"}, {"t": "one"}, {"t": "two"}, False),
        ({"change": "truncated_ms"}, {"flag": True}, {"flag": False}, False),
        ({"change": "truncated_ms"}, {"warnings": 1}, {"warnings": 0}, False),
        ({"change": "within_ms"}, {"cost": 0.5001}, {"cost": 0.5}, False),
        ({"change": "within_ms"}, {"duration": 1.5}, {"duration": 1.501}, True),
        ({"change": "within_ms"}, {"duration": 1.5}, {"duration": 1.502}, False),
        ({"where": {"kind": "execute"}}, {"kind": "execute"}, {"kind": "execute", "actions": []}, True),
        ({"where": {"kind": "execute"}}, {"kind": "search"}, {"kind": "search", "actions": []}, False),
        ({"values": {"old": False, "new": True}}, {"is_error": False}, {"is_error": True}, True),
        ({"values": {"old": False, "new": True}}, {"is_error": None}, {"is_error": True}, False),
        ({"commands": ("show", "grep-*")}, 1, 2, True),
        ({"commands": ("show",)}, 1, 2, False),
        ({"files": ("corpus/*",)}, 1, 2, True),
        ({"files": ("samples/*",)}, 1, 2, False),
    ],
)
def test_a_rule_explains_what_meets_all_of_its_conditions(
    rule: dict[str, Any], old: Any, new: Any, explained: bool
) -> None:
    difference = the_difference(old, new)
    assert Rule("HEAD", "wanted", **rule).explains("corpus/a.jsonl", "grep-raw", difference) is explained


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[[allowed]]\nreason = "r"', "`from` is missing"),
        ('[[allowed]]\nfrom = "HEAD"\nreason = " "', "`reason` is missing"),
        ('[[allowed]]\nfrom = "HEAD"\nreason = "r"\nfiles = "*"', "unknown field files"),
        ('[[allowed]]\nfrom = "HEAD"\nreason = "r"\nkey = "a"\npath = "b"', "not both"),
        ('[[allowed]]\nfrom = "HEAD"\nreason = "r"\nchange = "gone"', "`change` is 'gone'"),
        ("[[allowed]", "allowed.toml: "),
    ],
)
def test_a_rule_that_cannot_be_read_is_an_error(text: str, fault: str, tmp_path: Path) -> None:
    path = tmp_path / "allowed.toml"
    path.write_text(text)
    with pytest.raises(InvalidRule, match=re.escape(fault)):
        read_rules(path)


def test_our_own_rules_can_be_read() -> None:
    assert all(len(rule.reason) > 10 for rule in read_rules(ROOT / "tests" / "allowed_differences.toml"))


# What is printed


def test_proposed_rules_are_one_for_each_key_that_came() -> None:
    unexplained = Unexplained()
    for command in ("show", "sessions"):
        for difference in differences({"stdout": [{"a": 1}]}, {"stdout": [{"a": 1, "b": 2}]}):
            unexplained.add("corpus/x.jsonl", command, difference)
    lines = list(lines_of(unexplained, [], "a1bda54", 10))
    assert lines.count("[[allowed]]  # 2") == 1
    assert 'command = ["sessions", "show"]' in lines
    assert 'key = "b"' in lines
    assert '  + "a": 1,' in [line.replace("+  ", "+ ") for line in lines]


def test_proposed_rules_for_items_of_a_list_name_their_kind() -> None:
    unexplained = Unexplained()
    new = [{"id": "a", "type": "user"}, {"id": "b", "type": "limits"}]
    for difference in differences({"stdout": new[:1]}, {"stdout": new}):
        unexplained.add("corpus/x.jsonl", "show", difference)
    assert 'where = { type = "limits" }' in list(lines_of(unexplained, [], "a1bda54", 10))


@pytest.mark.parametrize(("others", "narrow"), [((), True), ((("WARN", "INFO"),), False)])
def test_a_value_that_always_changes_in_one_way_is_in_the_proposed_rule(
    others: tuple[tuple[str, str], ...], narrow: bool
) -> None:
    unexplained = Unexplained()
    for old, new in (("OBJECT", "object"), ("OBJECT", "object"), *others):
        for difference in differences({"stdout": {"type": old}}, {"stdout": {"type": new}}):
            unexplained.add("corpus/x.jsonl", "show", difference)
    lines = list(lines_of(unexplained, [], "a1bda54", 10))
    assert ('old = "OBJECT"\nnew = "object"' in lines) is narrow


def test_long_texts_are_cut_to_where_they_differ() -> None:
    cut = shortened("x" * 1_000 + "new" + "y" * 1_000, "x" * 1_000 + "old" + "y" * 1_000)
    assert "new" in cut
    assert len(cut) < 200


# The whole, on two revisions of a repository


class Scratch:
    """A repository of its own with our sources, in which a later change can be made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("src/unspool", "bench/against"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("static", "__pycache__"))
        (folder / "tests").mkdir()
        self.allowed = folder / "tests" / "allowed_differences.toml"
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"]):
            self.git(*arguments)
        self.trace = folder / "trace.jsonl"
        request = {"model": "tin-1", "messages": [{"role": "user", "content": "Is it open?"}]}
        answer = {"choices": [{"message": {"role": "assistant", "content": "Yes."}}]}
        self.trace.write_text(json.dumps({"id": "call-1", "request": request, "response": answer}) + "\n")

    def git(self, *arguments: str) -> None:
        identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=self.folder, check=True, capture_output=True)

    def against(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "against", *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "bench")},
            capture_output=True,
            text=True,
            check=False,
        )

    def append(self, module: str, code: str) -> None:
        with (self.folder / "src" / "unspool" / module).open("a", encoding="utf-8") as file:
            file.write(code)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Scratch:
    return Scratch(tmp_path_factory.mktemp("against") / "repository")


LATER = """
_encode_before = encode


def encode(cooked: Cooked) -> Iterator[bytes]:
    for piece in _encode_before(cooked):
        yield piece.replace(b'"content":"Yes."', b'"content":"Yes.","warmth":3')
"""


def test_a_change_is_found_proposed_and_allowed(scratch: Scratch) -> None:
    same = scratch.against("HEAD", scratch.trace)
    assert (same.returncode, same.stdout.split(": ")[1]) == (0, "1 inputs (1 named), 11 outputs, 0 differ\n")

    scratch.append("exports/cooked.py", LATER)
    differs = scratch.against("HEAD", scratch.trace)
    assert differs.returncode == 1, differs.stderr
    assert "1  added  cook  stdout/messages/*/warmth  (1 inputs)" in differs.stdout
    assert '+ "warmth": 3' in differs.stdout

    proposed = "[[allowed]]" + differs.stdout.split("[[allowed]]")[1].replace('reason = ""', 'reason = "Wanted."')
    stale = '\n[[allowed]]\nfrom = "HEAD"\nkey = "chill"\nreason = "Gone."\n'
    scratch.allowed.write_text(proposed + stale)
    explained = scratch.against("HEAD", scratch.trace)
    assert explained.returncode == 0, explained.stdout
    assert "1  added **/warmth: Wanted." in explained.stdout
    assert "unused  **/chill: Gone." in explained.stdout


def test_a_rule_does_not_hold_against_revisions_after_its_own(scratch: Scratch) -> None:
    first = subprocess.run(["git", "rev-parse", "HEAD"], cwd=scratch.folder, capture_output=True, text=True, check=True)
    scratch.git("commit", "-q", "--allow-empty", "-m", "Second")
    scratch.append("exports/cooked.py", LATER.replace("warmth", "weight").replace("_before", "_earlier"))
    rule = f'[[allowed]]\nfrom = "{first.stdout.strip()}"\npath = "**"\nreason = "All of it."\n'
    scratch.allowed.write_text(rule)
    assert scratch.against("HEAD~1", scratch.trace).returncode == 0
    assert scratch.against("HEAD", scratch.trace).returncode == 1


def test_to_compare_nothing_is_an_error(scratch: Scratch) -> None:
    done = scratch.against("HEAD", "--only", "no/such/*", scratch.trace)
    assert done.returncode == 1
    assert "no input is called 'no/such/*'" in done.stderr


def test_an_unknown_revision_is_named(scratch: Scratch) -> None:
    done = scratch.against("no-such-revision", scratch.trace)
    assert done.returncode == 1
    assert "git knows no revision 'no-such-revision'" in done.stderr
