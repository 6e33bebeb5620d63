"""Document 002: turns, bookmarks, documents, and what a context resolves to."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Run

pytestmark = pytest.mark.usefixtures("home")

OPTIONS = {"provider_ptr": "kilo", "servers": ["yard", "barn"], "search": True, "tool_mode": "auto"}
SEARCH = {"search": True}


@pytest.fixture
def run(unspool: Run) -> Any:
    """Run a command that must succeed; return what it printed."""

    def run(*arguments: str | Path, stdin: Any = "") -> str:
        text = stdin if isinstance(stdin, str) else json.dumps(stdin)
        done = unspool(*arguments, stdin=text.encode())
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    return run


@pytest.fixture
def add(run: Any) -> Any:
    """Store a turn; return its id."""

    def add(text: str, *arguments: str) -> str:
        return str(run("thread", "add", text, *arguments).split("\n")[-1])

    return add


@pytest.fixture
def turns(run: Any) -> Any:
    return lambda name: [json.loads(line) for line in run("thread", "show", name, "--json").splitlines()]


def texts_of(turns: list[dict[str, Any]]) -> list[str]:
    return [turn["content"][0]["text"] for turn in turns]


def texts(context: str) -> list[str]:
    return [block["text"] for message in json.loads(context)["messages"] for block in message["content"]]


# Turns


@pytest.mark.parametrize("field", ["inherited", "options"])
def test_fields_of_a_turn(field: str, run: Any, turns: Any) -> None:
    block = {"type": "text", "text": "Which mill?"}
    run(
        *("thread", "add", "--turns", "-", "-b", "mills"),
        stdin={"role": "user", "content": [block], field: OPTIONS, "cache": True},
    )
    (turn,) = turns("mills")
    fields = {"role": "user", "content": [block], "continues": [], "inherited": OPTIONS, "cache": True, "head": "mills"}
    assert {key: turn[key] for key in fields} == fields


@pytest.mark.parametrize("role", ["user", "assistant", "system"])
def test_roles(role: str, add: Any, turns: Any) -> None:
    assert turns(add("Hm.", "--role", role))[0]["role"] == role


def test_defaults_of_a_turn(add: Any, turns: Any) -> None:
    (turn,) = turns(add("Hm."))
    assert [turn[key] for key in ("role", "continues", "inherited", "cache")] == ["user", [], {}, False]


def test_ids_are_scru128_unique_and_sort_by_time(add: Any) -> None:
    ids = [add(f"Turn {number}") for number in range(3)]
    assert all(re.fullmatch("[0-9a-z]{25}", each) for each in ids)
    assert ids == sorted(set(ids))


def test_document_fields(run: Any, turns: Any, tmp_path: Path) -> None:
    path = tmp_path / "flour.csv"
    path.write_text("day,sacks\nMonday,9\n")
    run("document", path, "--cache", "-b", "paper")
    run("document", path, "-n", "Flour of May", "-b", "named")
    (turn,) = turns("paper")
    fields = {
        "type": "document",
        "content_type": "text/csv",
        "document_name": "flour.csv",
        "original_path": str(path),
        "file_size": 19,
        "cache": True,
        "role": "user",
    }
    assert {key: turn[key] for key in fields} == fields
    assert turns("named")[0]["document_name"] == "Flour of May"
    (block,) = turn["content"]
    data = base64.b64encode(path.read_bytes()).decode()
    assert (block["type"], block["source"]) == ("document", {"type": "base64", "media_type": "text/csv", "data": data})


def test_a_cached_turn_marks_its_last_block_ephemeral(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    path.write_text("# Rye")
    run("document", path, "--cache", "-b", "note")
    (message,) = json.loads(run("context", "resolve", "note"))["messages"]
    assert message["content"][-1]["cache_control"] == {"type": "ephemeral"}


# References to turns


def test_what_names_a_turn(add: Any, run: Any) -> None:
    first = add("One.", "-b", "mills")
    add("Other.")
    for name in (first, first.upper(), "mills", first[:20]):
        assert texts(run("context", "resolve", name)) == ["One."]


def test_a_bookmark_follows_its_thread(add: Any, turns: Any) -> None:
    add("One.", "-b", "mills")
    second = add("Two.", "-c", "mills")
    add("Three.", "-c", "mills", "--role", "assistant")
    assert [turn["head"] for turn in turns("mills")] == ["mills"] * 3
    fork = add("Fork.", "-c", second)
    assert turns(fork)[-1]["bookmarks"] == []
    assert texts_of(turns("mills")) == ["One.", "Two.", "Three."]


def test_bookmarks_are_unique(add: Any, unspool: Run) -> None:
    add("One.", "-b", "mills")
    refused = unspool("thread", "add", "Two.", "-b", "mills")
    assert refused.returncode == 2
    assert b"--move" in refused.stderr
    add("Two.", "-b", "mills", "--move")


def test_an_unknown_name_is_an_error(unspool: Run) -> None:
    done = unspool("context", "resolve", "nobody")
    assert done.returncode == 2
    assert b"nobody" in done.stderr


# Parents


def test_continues_is_a_turn_or_a_list_of_turns_and_names(add: Any, run: Any, turns: Any) -> None:
    first, second = add("One.", "-b", "one"), add("Two.", "-b", "two")
    for continues, ids in (("one", [first]), (first, [first]), ([first, "two"], [first, second])):
        output = run("thread", "add", "--turns", "-", stdin={"role": "user", "content": "So?", "continues": continues})
        assert turns(output.split("\n")[-1])[-1]["continues"] == ids


def test_parents_come_first_and_each_turn_once(add: Any, run: Any) -> None:
    root = add("root")
    left = add("a2", "-c", add("a1", "-c", root))
    right = add("b2", "-c", add("b1", "-c", root))
    last = add("c", "-c", left, "-c", right)
    assert texts(run("context", "resolve", last)) == ["root", "a1", "a2", "b1", "b2", "c"]


# Contexts


def test_a_resolved_context_has_messages_and_options(add: Any, run: Any) -> None:
    add("Be brief.", "--role", "system", "--options", json.dumps(OPTIONS), "-b", "mills")
    add("Which mill?", "-c", "mills")
    assert json.loads(run("context", "resolve", "mills")) == {
        "messages": [
            {"role": "system", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": [{"type": "text", "text": "Which mill?"}]},
        ],
        "options": OPTIONS,
    }


def test_thread_records(add: Any, run: Any) -> None:
    first = add("One.", "--options", json.dumps(SEARCH), "--cache", "-b", "mills")
    second = add("Two.", "-c", "mills")
    records = [json.loads(line) for line in run("context", "list", "mills", "--json").splitlines()]
    block = {"type": "text"}
    assert records == [
        {
            "id": first,
            "role": "user",
            "content": [{**block, "text": "One."}],
            "options": {"search": True},
            "cache": True,
        },
        {"id": second, "role": "user", "content": [{**block, "text": "Two."}], "options": {}, "cache": False},
    ]


@pytest.mark.parametrize(
    ("steps", "merged"),
    [
        pytest.param([{"search": True}, {}], {"search": True}, id="inherited"),
        pytest.param([{"provider_ptr": "nano"}, {"provider_ptr": "mega"}], {"provider_ptr": "mega"}, id="nearer wins"),
        pytest.param([{"servers": ["yard"]}, {"servers": ["barn"]}], {"servers": ["barn"]}, id="lists are replaced"),
        pytest.param(
            [{"x": {"a": 1, "b": {"c": 1}}}, {"x": {"b": {"d": 2}}}, {"x": {"a": 9}}],
            {"x": {"a": 9, "b": {"c": 1, "d": 2}}},
            id="records are merged deeply",
        ),
        pytest.param([{"search": True, "servers": []}, {"search": None}], {"servers": []}, id="null takes away"),
    ],
)
def test_options_are_merged_down_the_thread(
    steps: list[dict[str, Any]], merged: dict[str, Any], add: Any, run: Any
) -> None:
    for number, step in enumerate(steps):
        add(f"Turn {number}", "--options", json.dumps(step), *(["-c", "t"] if number else ["-b", "t"]))
    assert json.loads(run("context", "resolve", "t"))["options"] == merged


# Blocks


def test_every_kind_of_block_is_kept(run: Any) -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "QUJD"}
    use = {"type": "tool_use", "id": "tu_1", "name": "yard___look", "input": {"place": "mill"}}
    text = {"type": "text", "text": "open"}
    result = {"type": "tool_result", "name": "yard___look", "content": [text], "tool_use_id": "tu_1", "is_error": True}
    messages = [
        {
            "role": "user",
            "content": [
                {"type": "document", "source": source},
                {"type": "text", "text": "Look.", "cache_control": {"type": "ephemeral"}},
            ],
        },
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    run("thread", "add", "--turns", "-", "-b", "t", stdin={"messages": messages, "options": OPTIONS})
    assert json.loads(run("context", "resolve", "t")) == {"messages": messages, "options": OPTIONS}


def test_missing_ids_of_calls_and_names_of_results_are_filled_in(run: Any) -> None:
    use = {"type": "tool_use", "name": "yard___look", "input": {}}
    result = {"type": "tool_result", "content": [{"type": "text", "text": "open"}]}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "Look."}]},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    run("thread", "add", "--turns", "-", "-b", "t", stdin={"messages": messages})
    _, called, answered = json.loads(run("context", "resolve", "t"))["messages"]
    assert called["content"][0]["id"] == answered["content"][0]["tool_use_id"] != ""
    assert answered["content"][0]["name"] == "yard___look"
