"""Reels, transcripts, search, originals: what the viewer is sent."""

import gzip
import json
import os
from pathlib import Path

import msgspec
import pytest

from logs import Claude
from test_view_rows import opened
from unspool.errors import InputNotFound
from unspool.exports.cooked import documents, encode, flatten
from unspool.jobs.cook import cook
from unspool.jobs.view.catalog import Catalog
from unspool.jobs.view.messages import cache_report, cards, expand_ids, request_page
from unspool.jobs.view.originals import card_pictures, exchange_of, original, pictures
from unspool.jobs.view.reels import SessionReel
from unspool.jobs.view.searching import search
from unspool.jobs.view.sharing import shared
from unspool.jobs.view.transcripts import transcript
from unspool.model import Document, Message, Text, Thinking, ToolResult, ToolUse
from unspool.sources.callfile import MAGIC, Asked, frame, read_call
from unspool.sources.composing import parts_of, record_of
from viewing import Agent, a_day

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_a_folder_gives_one_reel_for_its_calls_and_one_a_session(tmp_path: Path) -> None:
    a_day().save(tmp_path / "a.jsonl")
    Claude().user("Mend it").says("Done").save(tmp_path / "log.jsonl")
    (tmp_path / "cooked.json").write_bytes(b"".join(encode(cook(tmp_path / "a.jsonl"))))
    (tmp_path / "other.json").write_text('{"some": "thing"}')
    catalog = Catalog([str(tmp_path)])
    assert sorted((reel.kind, type(reel).__name__) for reel in catalog) == [
        ("session", "SessionReel"),
        ("trace", "CookedReel"),
        ("trace", "TrafficReel"),
    ]
    assert [Path(path).name for path in catalog.unknown] == ["other.json"]


def test_a_folder_with_nothing_in_it_is_told_as_such(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(InputNotFound, match="neither recorded calls nor an agent's log"):
        Catalog([str(tmp_path)])


def test_a_session_that_goes_on_in_another_file_is_one_reel(tmp_path: Path) -> None:
    for day, text in ((1, "Mend it"), (2, "And that")):
        Claude(day=day).user(text).says("Done").save(tmp_path / f"{day}.jsonl")
    reel, known = opened(tmp_path / "2.jsonl", tmp_path / "1.jsonl")
    assert [Path(path).name for path in reel.files()] == ["1.jsonl", "2.jsonl"]
    words = json.dumps(msgspec.to_builtins(transcript(reel, known)))
    assert 0 < words.index("Mend it") < words.index("And that")


def test_a_cooked_file_shows_what_its_trace_shows(tmp_path: Path) -> None:
    trace = a_day().save(tmp_path / "a.jsonl")
    (tmp_path / "cooked.json").write_bytes(b"".join(encode(cook(trace))))
    assert opened(trace)[1].rows == opened(tmp_path / "cooked.json")[1].rows


def test_a_cooked_file_opens_no_other_file(tmp_path: Path) -> None:
    """Its origins may name anything on this machine."""
    trace = a_day().save(tmp_path / "a.jsonl")
    (tmp_path / "cooked.json").write_bytes(b"".join(encode(cook(trace))))
    reel, known = opened(tmp_path / "cooked.json")
    assert original(reel, known.cooked.requests[0]) is None
    assert exchange_of(reel, known.cooked.requests[0]) is None


def test_what_llm_path_cooked_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "old.json"
    message = {"id": "m0", "role": "user", "content": "Hi", "tool_calls": None, "tool_use_id": None, "is_error": None}
    request = {"id": "r", "parent_id": None, "timestamp": 5, "request_messages": ["m0"], "response_messages": []}
    path.write_text(
        json.dumps({"messages": [message], "tools": [], "requests": [{**request, "model": "m", "tools": []}]})
    )
    assert [row.title for row in opened(path)[1].rows] == ["Hi"]


def test_a_cooked_file_that_makes_no_sense(tmp_path: Path) -> None:
    """Parents that are their children's children, messages and tools that are not there."""
    path = tmp_path / "odd.json"
    requests = [
        {
            "id": "a",
            "parent_id": "b",
            "retry_of": "a",
            "request_messages": ["m9"],
            "response_messages": ["m8"],
            "tools": ["t"],
        },
        {"id": "b", "parent_id": "a", "request_messages": [], "response_messages": []},
    ]
    path.write_text(json.dumps({"messages": [], "requests": requests}))
    reel, known = opened(path)
    assert [row.parent for row in known.rows] == [None, 0]
    assert transcript(reel, known).cards == []
    assert cache_report(reel, known, known.cooked.requests[1]).state == "unknown"


def test_a_file_that_grows(tmp_path: Path) -> None:
    agent = a_day()
    path = agent.save(tmp_path / "a.jsonl")
    reel, before = opened(path)
    assert reel.refresh() is None
    agent.asks("And now?").says("Done")
    with path.open("a") as file:
        file.write(json.dumps(agent.records[-1])[:50])
    reel._due = 0
    grown = reel.refresh()
    assert grown is not None  # half a line: nothing but a note
    assert (grown.kept, grown.total) == (5, 5)
    assert reel.load().cooked.notes[-1].reason == "the last line is not whole (yet)"
    with path.open("a") as file:
        file.write(json.dumps(agent.records[-1])[50:] + "\n")
    reel._due = 0
    grown = reel.refresh()
    assert grown is not None
    assert (grown.kept, grown.total, grown.version) == (5, 6, 3)
    after = reel.load()
    assert after.rows[:5] == before.rows
    assert after.rows == opened(path)[1].rows
    assert after.cooked.notes == []


def test_a_file_that_was_replaced_is_read_anew(tmp_path: Path) -> None:
    path = a_day().save(tmp_path / "a.jsonl")
    reel, _ = opened(path)
    Agent().asks("Other").says("Yes").save(path)
    reel._due = 0
    assert reel.refresh() is not None
    assert [row.title for row in reel.load().rows] == ["Other"]


def test_a_file_that_is_none_any_more_costs_nothing_of_what_was_read(tmp_path: Path) -> None:
    path = a_day().save(tmp_path / "trace.jsonl")
    other = tmp_path / "other.jsonl"
    other.write_bytes(path.read_bytes())
    (reel,) = Catalog([str(tmp_path)])
    before = len(reel.load().rows)
    for each in (path, other):
        each.unlink()
        each.mkdir()
    reel._due = 0
    assert reel.refresh() is None
    assert len(reel.load().rows) == before


def test_a_packed_file_is_read_once_while_its_neighbour_grows(tmp_path: Path) -> None:
    agent = a_day()
    path = agent.save(tmp_path / "trace.jsonl")
    packed = tmp_path / "before.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    (reel,) = Catalog([str(tmp_path)])
    before = len(reel.load().rows)
    agent.asks("More?").says("More").save(path)
    known = packed.stat()
    packed.write_bytes(bytes(known.st_size))
    os.utime(packed, ns=(known.st_atime_ns, known.st_mtime_ns))  # as if nobody had touched it: who reads it will know
    reel._due = 0
    assert reel.refresh() is not None
    assert len(reel.load().rows) == before + 1


def test_a_file_that_comes_to_a_folder(tmp_path: Path) -> None:
    a_day().save(tmp_path / "a.jsonl")
    catalog = Catalog([str(tmp_path)])
    (reel,) = catalog
    assert len(reel.load().rows) == 5
    Agent(start=1_772_470_000).asks("Another").says("Yes").save(tmp_path / "b.jsonl")
    catalog._due = reel._due = 0
    assert catalog.refresh() == ([], False)
    reel._due = 0
    ((grown,), _) = catalog.refresh()
    assert (grown.kept, grown.total) == (5, 6)


def test_new_sessions_appear(tmp_path: Path) -> None:
    Claude().user("One").says("1").save(tmp_path / "one.jsonl")
    catalog = Catalog([str(tmp_path)])
    other = Claude("99999999-2222-4333-8444-555555555555").user("Two").says("2")
    other.save(tmp_path / "two.jsonl")
    catalog._due = 0
    assert catalog.refresh() == ([], True)
    assert len(catalog) == 2


def test_a_transcript_of_calls_joins_calls_and_results(tmp_path: Path) -> None:
    reel, known = opened(a_day().save(tmp_path / "a.jsonl"))
    told = transcript(reel, known)
    seen = [(card.kind, card.call.does if card.call else card.text, card.result, card.failed) for card in told.cards]
    assert seen == [
        ("notice", "You are Claude Code.\nWork in the user's repository.", None, False),
        ("prompt", "Make the tests pass", None, False),
        ("call", "src/a.py", "def f():\n    pass", False),
        ("call", "pytest -q", "\x1b[31m1 failed\x1b[0m", True),
        ("call", "src/a.py", "done", False),
        ("thinking", "It should return something.", None, False),
        ("said", "Two **changes**: `f` returns 1.", None, False),
    ]
    (turn,) = told.turns
    assert (turn.prompt, turn.outcome, turn.tools, turn.failed) == (
        "Make the tests pass",
        "Two changes: f returns 1.",
        {"Read": 1, "Bash": 1, "Edit": 1},
        1,
    )
    assert told.cards[4].call is not None
    assert told.cards[4].call.diff == "-pass\n+return 1"


def test_cards_of_a_session_name_the_request_that_made_them(tmp_path: Path) -> None:
    log = Claude().user("Mend it").calls("t1", "Bash", command="make").result("t1", "ok").says("Done")
    reel, known = opened(log.save(tmp_path / "log.jsonl"))
    told = transcript(reel, known)
    assert [(card.kind, card.request in known.numbers) for card in told.cards] == [
        ("prompt", False),
        ("call", True),
        ("said", True),
    ]
    found = transcript(reel, known, name=told.cards[1].key)
    assert found.found == 1


def test_a_line_that_ends_is_one_line(tmp_path: Path) -> None:
    log = Claude().user("Mend it").calls("t1", "Bash", command="make").result("t1", "cc -o it\nok\n").says("Done")
    trace = Agent().asks("Mend it").calls("t1", "Bash", command="make").result("t1", "cc -o it\nok\n").says("Done")
    for path in (log.save(tmp_path / "log.jsonl"), trace.save(tmp_path / "trace.jsonl")):
        reel, known = opened(path)
        assert [card.result_lines for card in transcript(reel, known).cards if card.call] == [2]
        assert [card.lines for card in cards(known, known.messages) if card.role == "tool_result"] == [2]


def test_pages_of_a_transcript(tmp_path: Path) -> None:
    reel, known = opened(a_day().save(tmp_path / "a.jsonl"))
    page = transcript(reel, known, start=3, most=2)
    assert (page.total, page.start, [card.kind for card in page.cards]) == (7, 3, ["call", "call"])


def test_long_texts_are_cut_and_can_be_had_whole(tmp_path: Path) -> None:
    reel, known = opened(Agent().asks("x" * 50_000).says("y").save(tmp_path / "a.jsonl"))
    name = known.cooked.requests[0].request_messages[-1]
    (card,) = cards(known, [name])
    assert (len(card.text), card.cut) == (24_000, 26_000)
    (whole,) = cards(known, [name], uncut=True)
    assert (len(whole.text), whole.cut) == (50_000, 0)
    told = transcript(reel, known).cards[1]
    assert (len(told.text), told.cut) == (24_000, 26_000)


def test_search_in_a_trace_and_in_closed_sessions(tmp_path: Path) -> None:
    a_day().save(tmp_path / "a.jsonl")
    Claude().user("Mend the Zeppelin").says("Done").save(tmp_path / "log.jsonl")
    catalog = Catalog([str(tmp_path)])
    found = search(catalog, "ZEPPELIN")
    assert {(hit.where, hit.match) for hit in found.hits} == {("title", "Zeppelin"), ("user", "Zeppelin")}
    assert not next(reel for reel in catalog if isinstance(reel, SessionReel)).is_open
    (hit,) = search(catalog, "1 failed").hits
    assert (hit.where, hit.request) == ("result", "c2")


def test_a_tool_that_is_found_by_its_name_says_what_it_was_called_for(tmp_path: Path) -> None:
    a_day().save(tmp_path / "a.jsonl")
    Claude().user("Mend it").calls("t1", "Bash", command="pytest -q").save(tmp_path / "log.jsonl")
    catalog = Catalog([str(tmp_path)])
    for is_open in (False, True):
        for reel in catalog if is_open else ():
            reel.load()
        hits = search(catalog, "bash").hits
        assert [(hit.where, hit.match, "pytest -q" in hit.after) for hit in hits] == [("tool", "Bash", True)] * 2


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
def test_a_hit_in_a_session_leads_to_its_card(tmp_path: Path, is_open: bool) -> None:
    log = Claude().user("Mend it").calls("t1", "Bash", command="ls").result("t1", 'a\n"C:\\Temp" b')
    log.calls("t2", "Bash", command="make").result("t2", "built").says("Done").user("And paint it").says("Red")
    catalog = Catalog([str(log.save(tmp_path / "log.jsonl"))])
    (reel,) = catalog
    known = reel.load() if is_open else None
    for words, where, card in (('"c:\\temp"', "result", 1), ("MAKE", "tool", 2), ("paint it", "user", 4)):
        (hit,) = (hit for hit in search(catalog, words).hits if hit.where != "title")
        assert (hit.where, hit.match.lower()) == (where, words.lower())
        assert "is_error" not in hit.after
        assert transcript(reel, known or reel.load(), name=hit.request).found == card
        if not is_open:
            reel._loaded = None


def test_an_original_has_settings_and_a_curl_without_a_key(tmp_path: Path) -> None:
    reel, known = opened(a_day().save(tmp_path / "a.jsonl"))
    found = original(reel, known.cooked.requests[0])
    assert found is not None
    assert json.loads(found.settings) == {"max_tokens": 1000}
    assert json.loads(found.raw)["id"] == "c0"
    assert found.curl.startswith("curl https://api.anthropic.com/v1/messages \\\n")
    assert "$ANTHROPIC_API_KEY" in found.curl


def test_pictures_by_their_place(tmp_path: Path) -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    drawing = {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": PIXEL}}
    agent = Agent().asks("Look").calls("t1", "Read", file_path="a.png")
    agent.result("t1", [{"type": "text", "text": "here"}, image, drawing]).says("I see")
    reel, known = opened(agent.save(tmp_path / "a.jsonl"))
    request = known.cooked.requests[1]
    shown = pictures(reel, request, len(request.request_messages) - 1, False)
    assert [picture.data for picture in shown] == [f"data:image/png;base64,{PIXEL}", None]
    assert pictures(reel, request, 99, False) == []


def test_pictures_of_a_session(tmp_path: Path) -> None:
    log = Claude().user("Look")
    log.records[-1]["message"]["content"] = [
        {"type": "text", "text": "Look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}},
    ]
    reel, known = opened(log.says("I see").save(tmp_path / "log.jsonl"))
    assert isinstance(reel, SessionReel)
    card = transcript(reel, known).cards[0]
    assert card.pictures
    assert [picture.data for picture in card_pictures(reel, known, card.key)] == [f"data:image/png;base64,{PIXEL}"]


@pytest.mark.parametrize(
    "message",
    [
        Message("user", (Text("a"), Document("image", "base64", "x"))),
        Message("assistant", (Thinking(""), Text("a"), ToolUse("1", "f", {}), Text("b"))),
        Message("assistant", (Text("a"), ToolUse("1", "f", {})), "string"),
        Message("assistant", (Thinking("", redacted=True), ToolUse("1", "f", {}, server_side=True))),
        Message("user", (ToolResult("1", (Text("a"), Document("image", "base64", "x"))),)),
        Message("user", ()),
    ],
)
def test_documents_stand_beside_the_rows_of_a_message(message: Message) -> None:
    assert len(documents(message)) == len(list(flatten(message)))


def test_ids_in_short() -> None:
    assert expand_ids("m1-m3,m9,x") == ["m1", "m2", "m3", "m9", "x"]
    assert len(expand_ids("m0-m999999999")) == 400


def test_lists_are_put_together_again() -> None:
    before, after = ["a", "b", "c", "d"], ["x", "b", "c", "y", "d", "z"]
    new, pieces = shared(before, after)
    assert new == ["x", "y", "z"]
    made = [name for begin, end in pieces for name in (before[begin:end] if end else [new[begin]])]
    assert made == after


@pytest.mark.parametrize("given", ["trace.jsonl", ""])
def test_a_call_that_a_killed_recorder_left_is_there_until_the_next_one_takes_it_in(tmp_path: Path, given: str) -> None:
    trace, journal = tmp_path / "trace.jsonl", tmp_path / "trace.jsonl.journal"
    head = {"id": "h", "request": None, "response": None, "method": "HEAD", "path": "/", "timestamp": 1_700_000_000}
    trace.write_text(json.dumps(head) + "\n")
    journal.mkdir()
    asked = Asked("1", "2026-03-02T10:00:00Z", "POST", "/v1/chat/completions", None, "", {})
    request = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
    pieces = [*frame(b"i", 0, msgspec.json.encode(asked)), *frame(b"q", 1, request)]
    (journal / "1.call").write_bytes(MAGIC + b"".join(pieces))
    (reel,) = Catalog([str(tmp_path / given)])
    assert [request.id for request in reel.load().cooked.requests] == ["1"]
    with (journal / "1.call").open("rb") as file:
        line = b"".join(parts_of(record_of(read_call(file))))  # type: ignore[arg-type]
    trace.write_bytes(trace.read_bytes() + line)
    (journal / "1.call").unlink()
    reel._due = 0.0
    reel.refresh()
    assert [request.id for request in reel.load().cooked.requests] == ["1"]


def test_when_the_answer_began(tmp_path: Path) -> None:
    agent = a_day()
    agent.records[0]["ttfb_ms"] = 310.5
    agent.records[1]["ttfb_ms"] = "soon"
    reel, known = opened(agent.save(tmp_path / "t.jsonl"))
    told = [request_page(reel, known, request).first_byte for request in known.cooked.requests[:3]]
    assert told == [310.5, None, None]


def test_a_session_without_a_time_is_told_last(tmp_path: Path) -> None:
    Claude("s1").user("First").save(tmp_path / "1.jsonl")
    lines = Claude("s2").user("Whenever")
    for record in lines.records:
        del record["timestamp"]
    lines.save(tmp_path / "2.jsonl")
    Claude("s3", day=3).user("Newest").save(tmp_path / "3.jsonl")
    assert [row.session for row in Catalog([str(tmp_path)]).rows()] == ["s3", "s1", "s2"]
