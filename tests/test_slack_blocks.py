"""Texts and blocks for Slack: whatever they are made of, Slack takes them and nobody is called."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slack_server import ENTITY, faults, length
from unspool.views.slack.blocks import context, fields, header, message, section, sections
from unspool.views.slack.mrkdwn import mrkdwn
from unspool.views.slack.pieces import Text, bold, clean, code, first_line, italic, link, plain, shorten, write

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1e9\U0001f1ea"


def text_of(markdown: str, limit: int = 3000) -> str:
    return write(mrkdwn(markdown), limit)[0]


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**bold** and *italic* and ~~gone~~", "*bold* and _italic_ and ~gone~"),
        ("**all *of* it**", "*all _of_ it*"),
        ("# A **bold** head\n\ntext", "*A bold head*\n\ntext"),
        ("in**si**de", "in\u200b*si*\u200bde"),
        ("`a < b & c`", "`a &lt; b &amp; c`"),
        ("[the docs](https://e.org/a?b=1&c=2)", "<https://e.org/a?b=1&amp;c=2|the docs>"),
        ("[a|b](https://e.org/x|y)", "<https://e.org/x%7Cy|a b>"),
        ("[near](src/a.py)", "near (src/a.py)"),
        ("[run](javascript:alert)", "[run](javascript:alert)"),
        ("![a graph](https://e.org/g.png)", "<https://e.org/g.png|a graph>"),
        ("- one\n- two\n  - inner\n\n3. three\n4. four", "• one\n• two\n    ◦ inner\n\n3. three\n4. four"),
        ("> said\n> so", "&gt; said\n&gt; so"),
        ("```python\nif a < b:\n    pass\n```\nafter", "```\nif a &lt; b:\n    pass\n```\n\nafter"),
        ("| a | b |\n|--|--|\n| 日本 | 1 |", "```\na     b\n────  ─\n日本  1\n```"),
        ("a\n\n---\n\nb", "a\n\n———\n\nb"),
        ("<b>html</b>", "&lt;b&gt;html&lt;/b&gt;"),
        ("", "…"),
    ],
)
def test_markdown_becomes_mrkdwn(markdown: str, expected: str) -> None:
    assert text_of(markdown) == expected


@pytest.mark.parametrize(
    "call", ["<!channel>", "<!here|here>", "<@U012AB3CD>", "<!subteam^S1>", "@channel", "@Everyone"]
)
def test_nobody_is_called(call: str) -> None:
    for written in (text_of(f"well, {call}!"), text_of(f"`{call}`"), plain(call, 150), text_of(f"[x]({call})")):
        assert "<" not in written
        assert call not in written


def test_a_link_holds_no_call() -> None:
    assert faults_of(section(link("https://e.org/<!channel>", [Text("<!channel>|x")]))) == []


def faults_of(*blocks: dict[str, object]) -> list[str]:
    return list(faults(list(blocks)))


def test_code_that_would_end_itself_is_a_block() -> None:
    assert write(code("echo `date`"), 100) == ["```\necho `date`\n```"]
    assert write(code("a\nb"), 100) == ["```\na\nb\n```"]
    assert write(code("```"), 100)[0].count("```") == 2
    assert write(italic("a_b passed"), 100) == ["`a_b passed`"]
    assert write(italic("passed"), 100) == ["_passed_"]


def test_what_steers_a_terminal_goes() -> None:
    assert clean("\x1b[31mred\x1b[0m\x07\x1b]0;title\x07 \u202ertl\r\nnext\tcolumn") == "red rtl\nnext\tcolumn"
    assert clean("half \ud83d of it") == "half \ufffd of it"


def test_first_line_says_something() -> None:
    assert first_line("\n \x1b[2m \n\t 15  tests \nmore") == "15 tests"
    assert first_line(" \n") == ""


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("short", 10, "short"),
        ("a" * 12, 10, "a" * 9 + "…"),
        ("abcde" + "e\u0301" * 9, 8, "abcdee\u0301…"),
        (f"a{FAMILY}b", 5, "a…"),
        (f"a{FLAG}{FLAG}b", 5, f"a{FLAG}…"),
        ("a\U0001f44d\U0001f3fdbc", 3, "a…"),
    ],
)
def test_cuts_keep_characters_whole(text: str, most: int, expected: str) -> None:
    assert shorten(text, most) == expected


def test_cuts_by_lines() -> None:
    assert shorten("a\nb\nc\nd", 100, 2) == "a\nb…"
    assert shorten("a\nb", 100, 2) == "a\nb"


def test_an_entity_is_never_cut() -> None:
    for limit in range(20, 60):
        written = write([Text("&" * 50)], limit)[0]
        assert not ENTITY.search(written)
        assert length(written) <= limit


def test_what_is_cut_is_closed_and_goes_on_closed() -> None:
    pages = write(mrkdwn("**" + "bold words " * 20 + "end**"), 100, 9)
    assert all(page.startswith("*") and page.endswith("*") for page in pages)
    assert all(length(page) <= 100 for page in pages)
    assert " ".join(page.strip("*") for page in pages) == ("bold words " * 20 + "end")
    code_pages = write(mrkdwn("```\n" + "some code\n" * 40 + "```"), 200, 9)
    assert all(page.startswith("```\n") and page.endswith("\n```") for page in code_pages)
    assert sum(page.count("some code") for page in code_pages) == 40


def test_an_ellipsis_tells_of_the_rest() -> None:
    (only,) = write(mrkdwn("```\n" + "x" * 500 + "\n```"), 100)
    assert only.endswith("x…\n```")


def test_limits_hold_at_the_limit() -> None:
    emoji = "\U0001f680"
    for text in ("a" * 5000, "&" * 5000, emoji * 5000, "<!channel>" * 900, f"{FAMILY}" * 900):
        many = message([header(text), section([Text(text)]), fields([(text, code(text))] * 12)], text)
        assert faults_of(*many.blocks) == []
        assert length(many.text) <= 300
        assert faults_of(context([[*bold("Model:"), Text(text)]] * 12)) == []
    full = write([Text("a" * 5000)], 3000)[0]
    assert 2990 <= length(full) <= 3000


def test_a_message_holds_no_more_than_slack_takes() -> None:
    long = [block for _ in range(40) for block in sections([Text("word " * 3000)])]
    kept = message(long, "x").blocks
    assert sum(length(block["text"]["text"]) for block in kept) <= 10_000
    assert len(message([section([Text("a")])] * 70, "x").blocks) == 50


ANYTHING = st.text(
    st.sampled_from("ab \n\t`*_~<>&|#-[]()!@\\\u0301\u200d\U0001f468\U0001f1e9\ufe0f日\x1b\ud83d"), max_size=200
)


@settings(max_examples=300)
@given(ANYTHING, st.integers(40, 400), st.integers(1, 4))
def test_any_text_gives_texts_that_slack_takes(text: str, limit: int, most: int) -> None:
    for pieces in (mrkdwn(text), code(text), italic(text), link("https://e.org/" + text, [Text(text or "x")])):
        written = write(pieces, limit, most)
        assert 1 <= len(written) <= most
        for page in written:
            assert list(faults([{"type": "section", "text": {"type": "mrkdwn", "text": page}}])) == []
            assert length(page) <= limit
            assert not any(unicodedata.category(letter) == "Cs" for letter in page)


@settings(max_examples=200)
@given(st.text(max_size=400), st.integers(1, 60))
def test_shortened_texts_are_short(text: str, most: int) -> None:
    assert len(shorten(text, most)) <= most
