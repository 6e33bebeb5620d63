"""Threads of our own in the viewer and in what it exports: every answer is a request, forks are branches."""

import json
from pathlib import Path
from time import sleep

import pytest

from conftest import Run
from test_export_pages import inside
from unspool.errors import TurnNotFound
from unspool.jobs.view.catalog import Catalog
from unspool.jobs.view.originals import original, pictures
from unspool.jobs.view.pages import Grown
from unspool.jobs.view.threads import ThreadReel
from unspool.model import Answer, Document, Draft, Message, Text, ToolResult, ToolUse, Turn, Usage
from unspool.store.store import Store
from viewing import a_session

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Talk:
    """Turns, one after another, in the store of this test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def asks(self, text: str, *continues: str, head: str | None = None, **more: object) -> str:
        return self.put(Draft(Message("user", (Text(text),)), continues=continues, head=head, **more)).id  # type: ignore[arg-type]

    def says(self, text: str, continues: str, model: str = "claude-sonnet-4-5", **more: object) -> str:
        answer = Answer(
            provider="anthropic", api="claude", model=model, usage=Usage(100, output=10), started=1_772_460_000_000,
            first=1_772_460_000_400, ended=1_772_460_001_500, **more,  # type: ignore[arg-type]
        )  # fmt: skip
        return self.put(Draft(Message("assistant", (Text(text),)), continues=(continues,), answer=answer)).id

    def put(self, draft: Draft) -> Turn:
        with Store(self.folder) as store:
            return store.append(draft)


@pytest.fixture
def talk(home: Path) -> Talk:
    return Talk(home)


def opened(*names: str) -> ThreadReel:
    (reel,) = Catalog(names)
    assert isinstance(reel, ThreadReel)
    return reel


def test_answers_are_requests_and_forks_are_branches(talk: Talk) -> None:
    first = talk.asks("Why is the sky blue?", head="sky")
    blue = talk.says("Rayleigh.", first)
    sea = talk.says("It mirrors the sky.", talk.asks("And the sea?", blue))
    red = talk.says("A long way.", talk.asks("And why red at night?", blue))
    reel = opened("sky")
    rows = reel.load().rows
    assert [(row.id, row.title, row.parent) for row in rows] == [
        (blue, "Why is the sky blue?", None),
        (sea, "And the sea?", 0),
        (red, "And why red at night?", 0),
    ]
    assert rows[0].model == "claude-sonnet-4-5"
    assert rows[0].duration == 1500
    assert rows[0].cost is not None
    assert reel.load().first_bytes[blue] == 400
    assert (reel.kind, reel.row().name) == ("thread", "sky · Why is the sky blue?")


@pytest.mark.parametrize("how", ["id", "capitals", "beginning", "bookmark"])
def test_a_thread_has_many_names(talk: Talk, how: str) -> None:
    answer = talk.says("Yes", talk.asks("Is it?", head="it/self"))
    name = {"id": answer, "capitals": answer.upper(), "beginning": answer[:20], "bookmark": "it/self"}[how]
    assert opened(name).load().rows[0].id == answer


def test_it_opens_at_the_turn_that_was_named(talk: Talk) -> None:
    first = talk.asks("One?")
    one = talk.says("1", first)
    two = talk.says("2", second := talk.asks("Two?", one))
    for name, request in ((first, one), (one, one), (second, two)):
        reel = opened(name)
        reel.load()
        assert reel.row().at == request


def test_what_nobody_answered_yet(talk: Talk) -> None:
    asked = talk.asks("Anybody?", head="lost")
    (row,) = opened("lost").load().rows
    assert (row.id, row.title, row.kind) == (asked, "Anybody?", "prompt")


def test_a_second_try_and_another_model(talk: Talk) -> None:
    asked = talk.asks("Try", head="try")
    failed = talk.says("", asked, status="error", error="529 overloaded")
    again = talk.says("Done", asked)
    other = talk.says("Mine", talk.asks("And you?", again), model="gpt-5")
    rows = opened("try").load().rows
    assert [row.id for row in rows] == [failed, again, other]
    assert rows[0].error == "529 overloaded"
    assert (rows[1].retry_of, rows[1].reason) == (0, "retry")
    assert (rows[2].parent, rows[2].reason) == (1, "switch")


def test_threads_that_were_joined(talk: Talk) -> None:
    one, two = talk.asks("A document"), talk.asks("Another")
    both = talk.says("Both read.", talk.asks("Compare", one, two, head="both"))
    reel = opened("both")
    known = reel.load()
    (request,) = [request for request in known.cooked.requests if request.id == both]
    assert [known.messages[name].content for name in request.request_messages] == ["A document", "Another", "Compare"]


def test_calls_have_their_results(talk: Talk) -> None:
    asked = talk.asks("Which files?", head="files")
    call = talk.put(Draft(Message("assistant", (ToolUse(None, "ls", {"path": "."}),)), continues=(asked,))).id
    result = talk.put(Draft(Message("user", (ToolResult(None, (Text("a.py"),), name="ls"),)), continues=(call,))).id
    talk.says("One.", result)
    known = opened("files").load()
    ids = [call.id for message in known.cooked.messages for call in message.tool_calls or ()]
    assert [message.tool_use_id for message in known.cooked.messages if message.role == "tool_result"] == ids
    assert ids != [None]


def test_options_documents_and_the_turn_itself(talk: Talk) -> None:
    message = Message("user", (Text("Look"), Document("image", "base64", PIXEL, "image/png")))
    asked = talk.put(Draft(message, head="look", inherited={"search": True})).id
    talk.says("I see", asked)
    reel = opened("look")
    (request,) = reel.load().cooked.requests
    told = original(reel, request)
    assert told is not None
    assert json.loads(told.settings) == {"search": True}
    assert json.loads(told.raw)["answer"]["model"] == "claude-sonnet-4-5"
    assert [picture.media_type for picture in pictures(reel, request, 1, False)] == ["image/png"]


def test_a_turn_that_is_added_appears(talk: Talk) -> None:
    answer = talk.says("1", talk.asks("One?", head="count"))
    reel = opened("count")
    reel.load()
    assert reel.refresh() is None
    talk.says("elsewhere", talk.asks("Another thread"))
    talk.says("2", talk.asks("Two?", answer))
    grown = _refreshed(reel)
    assert (grown.kept, grown.total) == (1, 2)
    assert reel.load().rows[1].title == "Two?"


def _refreshed(reel: ThreadReel) -> Grown:
    """What takes long to read is read less often: so it is asked for again and again."""
    for _ in range(2000):
        if (grown := reel.refresh()) is not None:
            return grown
        sleep(0.01)
    raise AssertionError("nothing was told")


def test_a_thread_that_is_removed_stays_as_it_was(unspool: Run, talk: Talk) -> None:
    talk.says("1", talk.asks("One?", head="count"))
    reel = opened("count")
    reel.load()
    assert unspool("thread", "rm", "count", "--yes").returncode == 0
    assert reel.refresh() is None
    assert len(reel.load().rows) == 1


def test_a_broken_store_keeps_no_session_away(unspool: Run, home: Path, tmp_path: Path) -> None:
    home.mkdir()
    (home / "turns.db").write_bytes(b"no database at all" * 100)
    projects = tmp_path / "user" / ".claude" / "projects" / "shop"
    projects.mkdir(parents=True)
    a_session().save(projects / "5d0c7a1e-3b42-4c55-8d0f-1f6f3b0c9a11.jsonl")
    for names in ((), ("latest",)):
        done = unspool("view", *names, "--list", HOME=str(tmp_path / "user"))
        assert done.returncode == 0, done.stderr
        assert b"Mend the bridge" in done.stdout
    assert b"turns.db: file is not a database" in unspool("view", "--list", HOME=str(tmp_path / "user")).stderr
    assert unspool("view", "nothing-of-that-name", "--list").returncode == 2


def test_without_a_name_all_threads_are_listed(talk: Talk, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    talk.says("1", talk.asks("One?", head="one"))
    talk.says("2", talk.asks("Two?"))
    assert sorted(reel.row().name for reel in Catalog()) == ["Two?", "one · One?"]


def test_looking_makes_no_store(unspool: Run, home: Path) -> None:
    done = unspool("view", "nobody", "--list")
    assert done.returncode == 2
    assert b"nor is there a thread of that name" in done.stderr
    assert not home.exists()


def test_a_beginning_of_several_turns(talk: Talk) -> None:
    first = talk.asks("One?")
    talk.says("1", first)
    with pytest.raises(TurnNotFound, match="several turns begin with"):
        Catalog([first[:4]])


def test_a_thread_as_a_page_and_as_markdown(unspool: Run, talk: Talk, tmp_path: Path) -> None:
    first = talk.says("Rayleigh.", talk.asks("Why is the sky blue?", head="sky"))
    talk.says("It mirrors.", talk.asks("And the sea?", first))
    talk.says("Far.", talk.asks("And red?", first, head="red"))
    done = unspool("export", "html", "sky", "-o", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    (reel,) = [value for name, value in inside((tmp_path / "page.html").read_text()).items() if name.startswith("reel")]
    assert len(reel["graph"]["rows"]) == 3
    text = unspool("export", "markdown", "red").stdout.decode()
    assert "Far." in text
    assert "It mirrors." not in text  # that is the other branch
    assert "Far." not in unspool("export", "markdown", "sky").stdout.decode()
