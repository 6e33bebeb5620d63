import json
from string import ascii_lowercase, digits

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.transforms.anonymize import Anonymizer

KEY = b"a key"


@pytest.mark.parametrize(
    ("before", "local", "domain", "after"),
    [
        ("Write to ", "jane.doe", "example.com", " today"),
        ("<", "a", "b.org", ">."),
        ("mailto:", "jane+news_1", "Mail.Example.co.uk", "?subject=x"),
        ("From: Jane <", "x%y", "163.com", ">"),
        ("\n", "nick", "example.com", ".\n"),
        ("é", "anna", "mueller.de", "é"),
        ("...", "jane", "example.com", ""),
        ("(see https://example.com/a) ", "jane", "example.com", ")"),
        ("https://example.com/login?x=1&mail=", "jane", "example.com", "&y=2"),
        ("https://example.com/#/people/", "jane", "example.com", "/edit"),
    ],
)
def test_an_address_keeps_its_domain_and_loses_its_name(before: str, local: str, domain: str, after: str) -> None:
    text = Anonymizer(KEY).text(f"{before}{local}@{domain}{after}")
    assert text.startswith(before)
    assert text.endswith(f"@{domain.lower()}{after}")
    name = text[len(before) : -len(f"@{domain}{after}")]
    assert len(name) == 16
    assert set(name) <= set(ascii_lowercase + digits)


@pytest.mark.parametrize(
    "text",
    [
        "git clone git@github.com:me/it.git",
        "https://user:pass@host.example.com/x",
        "https://jane@host.example.com",
        "ssh://git@host.example.com/x",
        "postgres://jane.doe:s3cret@db.example.com:5432/x",
        "https://example.com/npm/parrot@next.min.js?x=1#y",
        "npm i lodash@4.17.21 @types/node@20.1.x react@18.2.rc",
        "icon@2x.png",
        "@dataclass.field and root@localhost",
        "user@",
        "@",
        "a@b",
    ],
)
def test_what_names_nobody_is_left_alone(text: str) -> None:
    anonymizer = Anonymizer(KEY)
    assert anonymizer.text(text) is text
    assert anonymizer.raw(json.dumps(text).encode()) == json.dumps(text).encode()
    assert not anonymizer.counts


def test_an_address_in_a_query_is_the_same_address() -> None:
    anonymizer = Anonymizer(KEY)
    name = anonymizer.text("jane@example.com").removesuffix("@example.com")
    for before in ("https://example.com/?a=1&mail=", "https://example.com/?to=%2Fin%3Fmail%3D", "", "x="):
        assert anonymizer.text(f"{before}jane%40Example.com&b=2") == f"{before}{name}%40example.com&b=2"
    for kept in ("https://example.com/%40types%2Fnode", "https://jane%40example.com@host.example.com/x", "%40s.txt"):
        assert anonymizer.text(kept) == kept


def test_the_same_address_has_the_same_replacement_on_each_run_and_another_key_another() -> None:
    first = Anonymizer(KEY)
    assert first.text("Jane@Example.com") == Anonymizer(KEY).text("jane@example.COM")
    assert first.text("jane@example.com") != Anonymizer(b"another key").text("jane@example.com")
    assert first.text("jane@example.com") != first.text("john@example.com")
    assert first.counts == {"email": 4}


def test_values_are_copied_only_where_they_change() -> None:
    value = {"jane@example.com": 1, "a": [{"b": "x"}, {"c": "to jane@example.com"}], "d": None}
    new = Anonymizer(KEY).values(value)
    assert "jane@example.com" in new  # keys stay
    assert new["a"][0] is value["a"][0]  # type: ignore[index]
    assert new["a"][1]["c"].endswith("@example.com")
    assert value["a"][1]["c"] == "to jane@example.com"  # type: ignore[index]
    assert Anonymizer(KEY).values(new["a"][0]) is new["a"][0]


PIECES = [
    "jane",
    "@",
    "example.com",
    ".",
    "\n",
    "\t",
    '"',
    "\\",
    " ",
    "é",
    "://",
    "https",
    "git",
    ":",
    "/",
    "n",
    "u0041",
    "+",
    "%40",
    "%3D",
    "?",
]
TEXTS = st.lists(st.sampled_from(PIECES) | st.characters(codec="utf-8"), max_size=14).map("".join)


@given(TEXTS)
def test_raw_json_and_values_agree_at_any_depth(text: str) -> None:
    anonymizer = Anonymizer(KEY)
    expected = anonymizer.text(text)
    for ascii_only in (True, False):
        once = json.dumps([text], ensure_ascii=ascii_only)
        twice = json.dumps([once], ensure_ascii=ascii_only)
        assert json.loads(anonymizer.raw(once.encode())) == [expected]
        assert json.loads(json.loads(anonymizer.raw(twice.encode()))[0]) == [expected]
