"""What a model is given: the order of turns, options that they inherit, marks, and missing names."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Run
from turns import said, texts
from unspool.errors import CycleFound, TurnNotFound, UnspoolError
from unspool.graph.ancestry import parents_first
from unspool.model import Answer, Context, Document, Draft, Message, Said, Text, Thinking, ToolResult, ToolUse
from unspool.store.store import Store
from unspool.threads.adding import add_turns
from unspool.threads.context import completed, resolve
from unspool.threads.options import inherited
from unspool.wires.normalised import read_context, write_context

# The order


@st.composite
def graphs(draw: st.DrawFn) -> dict[str, list[str]]:
    """Turns that continue earlier ones, several or none, in any order."""
    size = draw(st.integers(1, 12))
    names = [str(number) for number in range(size)]
    return {
        name: draw(st.lists(st.sampled_from(names[:number]), unique=True, max_size=4)) if number else []
        for number, name in enumerate(names)
    }


def told(start: str, continues: dict[str, list[str]], seen: list[str]) -> None:
    """The definition: first what a turn continues, in the order given, then the turn."""
    for parent in continues[start]:
        if parent not in seen:
            told(parent, continues, seen)
    seen.append(start)


@given(graphs(), st.data())
def test_any_tree_is_told_parents_first_and_each_turn_once(
    continues: dict[str, list[str]], data: st.DataObject
) -> None:
    starts = data.draw(st.lists(st.sampled_from(sorted(continues)), min_size=1, unique=True))
    order = parents_first(starts, continues)
    assert len(set(order)) == len(order)
    assert all(order.index(parent) < order.index(turn) for turn in order for parent in continues[turn])
    expected: list[str] = []
    for start in starts:
        if start not in expected:
            told(start, continues, expected)
    assert order == expected


@settings(max_examples=50)
@given(graphs())
def test_a_stored_tree_resolves_as_it_was_given(tmp_path_factory: pytest.TempPathFactory, continues: Any) -> None:
    with Store.open(tmp_path_factory.mktemp("home")) as store:
        ids: dict[str, str] = {}
        for name, parents in continues.items():
            ids[name] = store.append(said(name, *(ids[parent] for parent in parents))).id
        last = next(reversed(continues))
        assert texts(store, ids[last]) == parents_first([last], continues)


@given(graphs(), st.data())
def test_a_cycle_is_an_error(continues: dict[str, list[str]], data: st.DataObject) -> None:
    top = next(reversed(continues))
    bottom = data.draw(st.sampled_from(parents_first([top], continues)))
    with pytest.raises(CycleFound, match="continues itself"):
        parents_first([top], {**continues, bottom: [*continues[bottom], top]})


def test_a_cycle_in_a_broken_store_is_an_error(home: Path) -> None:
    with Store.open(home) as store:
        first = store.append(said("1"))
        second = store.append(said("2", first.id))
        store.database.execute("INSERT INTO parents VALUES (?, 0, ?)", (first.id, second.id))
        broken = json.loads(store.facts(first.id)) | {"continues": [second.id]}
        store.database.execute("UPDATE turns SET facts = ? WHERE id = ?", (json.dumps(broken).encode(), first.id))
        with pytest.raises(CycleFound):
            resolve(store, [second.id])


def test_threads_are_told_one_after_another_and_what_they_share_once(home: Path) -> None:
    with Store.open(home) as store:
        root = store.append(said("root"))
        a = store.append(said("a2", store.append(said("a1", root.id)).id, head="a"))
        b = store.append(said("b2", store.append(said("b1", root.id)).id, head="b"))
        store.append(said("joined", "a", "b", head="joined"))
        assert texts(store, "joined") == ["root", "a1", "a2", "b1", "b2", "joined"]
        assert texts(store, b.id, a.id) == ["root", "b1", "b2", "a1", "a2"]


def test_a_very_long_thread_is_no_trouble(home: Path) -> None:
    with Store.open(home) as store:
        add_turns(store, [("x", {"messages": [{"role": "user", "content": str(n)} for n in range(3000)]})], head="x")
        assert texts(store, "x") == [str(number) for number in range(3000)]


# Options

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
deltas = st.dictionaries(st.sampled_from("abcd"), json_values, max_size=4)


def test_options_are_merged_nearer_ones_win_lists_are_replaced_null_takes_away() -> None:
    steps: list[dict[str, Any]] = [
        {"provider_ptr": "milli", "servers": ["a", "b"], "search": True, "deep": {"x": 1, "y": {"z": 1}}},
        {"servers": ["c"], "deep": {"y": {"w": 2}, "x": None}},
        {"search": None, "tool_mode": "required"},
    ]
    assert inherited(steps) == {
        "provider_ptr": "milli",
        "servers": ["c"],
        "tool_mode": "required",
        "deep": {"y": {"z": 1, "w": 2}},
    }


@given(st.lists(deltas, max_size=4), deltas)
def test_the_last_word_counts_and_no_null_is_left(steps: list[dict[str, Any]], last: dict[str, Any]) -> None:
    merged = inherited([*steps, last])
    for key, value in last.items():
        if value is None:
            assert key not in merged
        elif not isinstance(value, dict):
            assert merged[key] == value
    for key in merged.keys() - last.keys():
        assert merged[key] == inherited(steps)[key]

    def nulls(value: Any) -> bool:
        return isinstance(value, dict) and any(inner is None or nulls(inner) for inner in value.values())

    assert not nulls(merged)


def test_the_order_of_options_is_that_of_turns(home: Path) -> None:
    with Store.open(home) as store:
        store.append(said("a", head="a", inherited={"search": True, "provider_ptr": "a"}))
        store.append(said("b", head="b", inherited={"provider_ptr": "b"}))
        assert resolve(store, ["a", "b"]).options == {"search": True, "provider_ptr": "b"}
        assert resolve(store, ["b", "a"]).options == {"search": True, "provider_ptr": "a"}


# Marks, ids and names


def test_a_cached_turn_has_its_mark_on_the_last_block(home: Path) -> None:
    blocks = Text("one"), Document("document", "base64", "aGk=", "text/plain", "hi.txt")
    with Store.open(home) as store:
        store.append(Draft(Message("user", blocks), cache=True))
        (message,) = write_context(resolve(store, []))["messages"]
    assert message["content"] == [
        {"type": "text", "text": "one"},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "text/plain", "data": "aGk="},
            "title": "hi.txt",
            "cache_control": {"type": "ephemeral"},
        },
    ]


def test_calls_get_ids_and_results_the_names_of_their_calls() -> None:
    calls = ToolUse(None, "read", {"a": 1}), ToolUse("mine", "list", {})
    results = ToolResult(None, (Text("1"),)), ToolResult("mine", (Text("2"),)), ToolResult("unknown", ())
    context = Context((Said(Message("assistant", calls), cache=True), Said(Message("user", results))))
    asked, answered = (each.message.blocks for each in completed(context).messages)
    assert [(each.id, each.name) for each in asked if isinstance(each, ToolUse)] == [
        ("call_0", "read"),
        ("mine", "list"),
    ]
    found = [(each.call_id, each.name) for each in answered if isinstance(each, ToolResult)]
    assert found == [("call_0", "read"), ("mine", "list"), ("unknown", None)]
    assert completed(context).messages[0].cache


def test_who_wrote_an_answer_is_kept_with_its_thinking(home: Path) -> None:
    answer = Answer(api="claude", provider="anthropic", model="claude-haiku-4-5", response_id="msg_1")
    thought = Thinking("Hm.", signature="c2ln")
    with Store.open(home) as store:
        store.append(Draft(Message("assistant", (thought, Text("Yes."))), answer=answer))
        context = resolve(store, [])
    (message,) = context.messages
    assert (message.api, message.provider, message.model) == ("claude", "anthropic", "claude-haiku-4-5")
    assert message.message.blocks[0] == thought
    assert read_context(write_context(context)).messages[0].message.blocks == message.message.blocks


def test_nothing_is_resolved_from_an_empty_store(home: Path) -> None:
    with Store.open(home) as store, pytest.raises(TurnNotFound, match="no turn is stored yet"):
        resolve(store, [])


# Turns from JSON


def test_lines_are_a_conversation_unless_they_say_otherwise(home: Path) -> None:
    lines: list[dict[str, Any]] = [
        {"role": "developer", "content": "Be brief.", "options": {"search": True}, "id": "FIRST"},
        {"content": [{"type": "text", "text": "Hi", "cache_control": {"type": "ephemeral"}}], "cache": True},
        {"content": "Other", "continues": "FIRST", "head": "other"},
        {"content": "New", "continues": None},
        {"role": "tool", "content": "Both", "continues": ["other", "FIRST"]},
    ]
    with Store.open(home) as store:
        turns = add_turns(store, [(str(number), line) for number, line in enumerate(lines)])
        assert [turn.role for turn in turns] == ["system", "user", "user", "user", "user"]
        assert turns[0].inherited == {"search": True}
        assert turns[1].continues == (turns[0].id,)
        assert turns[1].cache
        assert turns[2].continues == (turns[0].id,)
        assert turns[3].continues == ()
        assert turns[4].continues == (turns[2].id, turns[0].id)
        assert store.bookmarks() == {"other": turns[4].id}


@pytest.mark.parametrize(
    ("turn", "fault"),
    [
        ([], "no object"),
        ({"content": "x", "role": "narrator"}, "no role 'narrator'"),
        ({"role": "user"}, "`content`"),
        ({"content": "x", "inherited": 3}, "`inherited`"),
        ({"content": "x", "cache": "yes"}, "`cache`"),
        ({"content": "x", "head": 1}, "`head`"),
        ({"content": "x", "continues": 1}, "`continues`"),
        ({"content": "x", "type": "poem"}, "no type 'poem'"),
        ({"content": "x", "file_size": "big"}, "`file_size`"),
        ({"content": "x", "document_name": 1}, "`document_name`"),
        ({"content": "x", "answer": {"cost": "much"}}, "`answer`"),
        ({"content": "x", "continues": "nobody"}, "no turn and no bookmark"),
        ({"messages": "x"}, "a context is an object"),
        ({"messages": [], "options": {"search": True}}, "a context without messages"),
    ],
)
def test_a_wrong_turn_is_told_and_nothing_is_stored(home: Path, turn: Any, fault: str) -> None:
    with Store.open(home) as store:
        with pytest.raises(UnspoolError, match=fault):
            add_turns(store, [("1", {"content": "good"}), ("2", turn)])
        assert store.newest() is None


# The commands


@pytest.mark.usefixtures("home")
def test_each_step_can_be_used_alone(unspool: Run) -> None:
    context = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "Hi"}], "cache": True},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "now", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "noon"}]}
                ],
            },
        ],
        "options": {"provider_ptr": "milli", "servers": ["clock"]},
    }
    added = unspool("thread", "add", "--turns", "-", "-b", "talk", stdin=json.dumps(context).encode())
    assert added.returncode == 0, added.stderr
    resolved = json.loads(unspool("context", "resolve", "talk").stdout)
    assert resolved["options"] == context["options"]
    assert [message["role"] for message in resolved["messages"]] == ["system", "user", "assistant", "user"]
    assert resolved["messages"][1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert resolved["messages"][3]["content"][0]["name"] == "now"
    records = [json.loads(line) for line in unspool("context", "list", "talk", "--json").stdout.splitlines()]
    assert [set(record) for record in records] == [{"id", "role", "content", "options", "cache"}] * 4
    assert [record["id"] for record in records] == added.stdout.decode().split()
    assert [record["cache"] for record in records] == [False, True, False, False]
    assert records[1]["content"] == [{"type": "text", "text": "Hi"}]
    assert records[0]["options"] == context["options"]
    again = unspool("thread", "add", "--turns", "-", "-b", "copy", stdin=json.dumps(resolved).encode())
    assert again.returncode == 0
    assert json.loads(unspool("context", "resolve", "copy").stdout) == resolved


@pytest.mark.usefixtures("home")
def test_who_wrote_a_turn_is_told_in_either_form(unspool: Run) -> None:
    """Thinking goes back to nobody else: what does not say whose it is would go to the wrong one."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    said = {"role": "assistant", "content": [thought, {"type": "text", "text": "Yes."}], "api": "gemini", "model": "x"}
    context = {"messages": [{"content": "Hi"}, said, {"content": "And?"}]}
    unspool("thread", "add", "--turns", "-", "-b", "talk", stdin=json.dumps(context).encode())
    told = unspool("context", "list", "talk", "--json").stdout
    unspool("thread", "add", "--turns", "-", "-b", "copy", stdin=told)
    resolved = [json.loads(unspool("context", "resolve", name).stdout) for name in ("talk", "copy")]
    assert resolved[0] == resolved[1]
    assert b"c2ln" in unspool("request", "copy", "-p", "gemini/gemini-3-pro").stdout
    assert b"c2ln" not in unspool("request", "copy", "-p", "anthropic/tin-1").stdout


@pytest.mark.usefixtures("home")
def test_a_name_that_nothing_has_is_status_2(unspool: Run) -> None:
    done = unspool("context", "resolve", "nobody")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"unspool: no turn and no bookmark is called 'nobody'\n"
