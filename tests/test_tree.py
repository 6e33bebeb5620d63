"""The tree of a session: each leaf one record, named, nothing generated lost, nothing trained on twice."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entries import LONG, SYSTEM, Log, Said, calls, result, says, system, tool, trained, user
from unspool.jobs.tree import pairs
from unspool.model.record import TrainingRecord


def told(record: TrainingRecord) -> list[str]:
    return [
        str(message.get("content") or message.get("tool_calls", [{}])[0]["function"]) for message in record.messages
    ]


def named(found: list[TrainingRecord], relation: str) -> TrainingRecord:
    (record,) = [record for record in found if record.relation == relation]
    return record


def without_nulls(message: Said) -> Said:
    return {key: value for key, value in message.items() if value is not None}


def test_a_linear_session_is_one_record_equal_to_its_last_snapshot(tmp_path: Path) -> None:
    log = Log()
    history = log.ask([system(), user("Mend the login")], calls(command="make"), tools=("bash",))
    history = log.ask([*history, result("2 failed")], calls(ids=("c2", "c3"), text="Again", command="make"))
    history = log.ask([*history, result("1 failed", "c2"), result("ok", "c3")], says("Done"), tools=("bash", "read"))
    history = log.ask([*history, user("Thanks")], says("You are welcome"))
    (record,) = log.records(tmp_path)
    assert record.messages == [without_nulls(message) for message in history]
    assert record.tools == [tool("bash"), tool("read")]
    assert (record.relation, record.parent, record.session, record.date) == ("main", None, "s1", "2026-03-02")
    assert trained(record) == [2, 4, 7, 9]
    last = record.turns[-1]
    assert (last.generated, last.model, last.stop, last.tokens and last.tokens.output) == (
        True,
        "gpt-5",
        "end_turn",
        10,
    )
    assert last.time == 1772445603000


def test_developer_is_system(tmp_path: Path) -> None:
    log = Log()
    history = log.ask([{"role": "developer", "content": "Be brief"}, user("Hi")], says("Hello"))
    log.ask([system("Be brief"), *history[1:], user("Bye")], says("Farewell"))
    (record,) = log.records(tmp_path)
    assert [message["role"] for message in record.messages] == ["system", "user", "assistant", "user", "assistant"]


def test_a_question_that_was_asked_on_one_path_is_not_taken_for_that_of_another_which_got_the_same_answer(
    tmp_path: Path,
) -> None:
    log = Log()
    start = log.ask([system(), user("Mend it")], says("Where?"))
    first = log.ask([*start, user("In the cellar")], says("Done."))
    log.ask([*start, user("In the attic")], says("Done."))
    log.ask([*first, user("And swept?")], says("Swept."))
    log.ask([*first, user("And dusted?")], says("Dusted."))
    found = {told(record)[-1]: told(record)[3] for record in log.records(tmp_path)}
    assert found == {"Swept.": "In the cellar", "Dusted.": "In the cellar", "Done.": "In the attic"}


def test_a_retry_is_a_record_and_a_pair(tmp_path: Path) -> None:
    log = Log()
    log.ask([system(), user("Mend it")], says("I cannot"))
    history = log.ask([system(), user("Mend it")], says("I can"))
    log.ask([*history, user("Go on")], says("Done"))
    found = log.records(tmp_path)
    main, retry = found
    assert [record.relation for record in found] == ["main", "retry"]
    assert (told(retry)[-1], retry.parent) == ("I cannot", main.id)
    assert (trained(main), trained(retry)) == ([2, 4], [2])
    (pair,) = pairs(found)
    assert pair.prompt == [system(), user("Mend it")]
    assert (pair.chosen, pair.rejected) == ([says("I can")], [says("I cannot")])


def test_further_choices_are_retries_and_no_pair_if_none_was_continued(tmp_path: Path) -> None:
    log = Log()
    log.ask([user("A name?")], says("Ada"), says("Bob"), says("Cleo"))
    found = log.records(tmp_path)
    assert sorted((record.relation, told(record)[-1]) for record in found) == [
        ("main", "Ada"),
        ("retry", "Bob"),
        ("retry", "Cleo"),
    ]
    assert list(pairs(found)) == []
    log.ask([user("A name?"), says("Bob"), user("Thanks")], says("Welcome"))
    found = log.records(tmp_path)
    assert {pair.chosen[0]["content"] for pair in pairs(found)} == {"Bob"}
    assert {pair.rejected[0]["content"] for pair in pairs(found)} == {"Ada", "Cleo"}


def test_an_edit_shares_the_beginning_and_trains_on_it_once(tmp_path: Path) -> None:
    log = Log()
    history = log.ask([system(), user("Mend it")], says("Which file?"), tokens=50)
    log.ask([*history, user("a.py")], says("Mended a.py"), tokens=90)
    log.ask([*history, user("b.py")], says("Mended b.py"), tokens=20)
    main, edit = log.records(tmp_path)
    assert (edit.relation, edit.parent, told(edit)[-2:]) == ("edit", main.id, ["b.py", "Mended b.py"])
    assert (trained(main), trained(edit)) == ([2, 4], [4])
    assert [turn.generated for turn in edit.turns] == [False, False, True, False, True]


def test_an_edit_of_the_first_prompt(tmp_path: Path) -> None:
    log = Log()
    log.ask([system(), user("Mend the login")], says(LONG), tools=("bash",))
    log.ask([system(), user("Mend the logout")], says(LONG), tools=("bash",), tokens=5)
    main, edit = log.records(tmp_path)
    assert (edit.relation, edit.parent) == ("edit", main.id)


def test_a_compaction_goes_on_in_a_record_of_its_own(tmp_path: Path) -> None:
    log = Log()
    history = [system(), user("Mend the login")]
    for number in range(4):
        history = log.ask(history, calls(ids=(f"c{number}",), command=f"make {number}"), tools=("bash",))
        history = [*history, result(f"{number} failed", f"c{number}")]
    log.ask(history, says("Half of it is mended"), tools=("bash",))
    summary = "This session is being continued from a previous conversation. Summary: half of the login is mended."
    after = log.ask([system(), user(summary)], calls(ids=("d1",), command="make rest"), tools=("bash",), tokens=500)
    log.ask([*after, result("ok", "d1")], says("All mended"), tools=("bash",), tokens=500)
    found = log.records(tmp_path)
    assert [record.relation for record in found] == ["main", "compaction"]
    main, compaction = found
    assert compaction.parent == main.id
    assert told(compaction)[-1] == "All mended"
    assert (len(trained(main)), len(trained(compaction))) == (5, 2)


def test_a_compaction_continues_the_newest_path_and_not_an_answer_that_was_discarded(tmp_path: Path) -> None:
    log = Log()
    kept = log.ask([system(), user("Mend the login"), says("Which?"), user("Mine")], says("It is half mended"))
    log.ask([system(), user("Mend the login"), says("Which?"), user("Mine")], says("I cannot mend it"))
    log.ask([*kept, user("Go on")], says("All of it is mended"))
    summary = "This session is being continued from a previous conversation. Summary: the login is mended."
    log.ask([system(), user(summary)], says("What else is there?"))
    found = log.records(tmp_path)
    assert named(found, "compaction").parent == named(found, "main").id
    assert named(found, "retry").parent == named(found, "main").id


def test_a_history_that_lost_its_beginning_is_a_compaction(tmp_path: Path) -> None:
    log = Log()
    history = [system(), user("Mend the login")]
    for number in range(6):
        history = log.ask(history, calls(ids=(f"c{number}",), command=f"make {number}"))
        history = [*history, result(f"{number} failed", f"c{number}")]
    log.ask([system(), *history[-2:]], says("Mended"))
    found = log.records(tmp_path)
    assert [record.relation for record in found] == ["main", "compaction"]
    assert trained(found[1]) == [3]  # what was only sent again is not trained on again


def test_a_sub_agent_names_the_call_that_asked_for_it(tmp_path: Path) -> None:
    log = Log()
    tools = ("Task", "Bash")
    history = log.ask([system(), user("Mend it")], calls("Bash", ("c0",), command="ls"), tools=tools)
    history = [*history, result("a.py", "c0")]
    asked = log.ask(history, calls("Task", ("c1",), prompt="Find the callers of login()"), tools=tools)
    inner = [system("You search code."), user("Find the callers of login()")]
    inner = log.ask(inner, calls("Grep", ("g1",), pattern="login"), tools=("Grep",), tokens=900)
    log.ask([*inner, result("a.py:3", "g1")], says("One caller, in a.py"), tools=("Grep",), tokens=900)
    log.ask([*asked, result("One caller, in a.py")], says("Mended"), tools=tools)
    found = log.records(tmp_path)
    main, agent = found
    assert [record.relation for record in found] == ["main", "subagent"]
    assert (agent.parent, agent.call, told(agent)[-1]) == (main.id, "c1", "One caller, in a.py")
    assert [each["function"]["name"] for each in agent.tools] == ["Grep"]
    assert told(main)[-1] == "Mended"


def test_a_side_call_is_a_record_with_its_name(tmp_path: Path) -> None:
    log = Log()
    log.ask([system("Reply with a title of four words"), user("Mend the login")], says("Login mending"))
    history = log.ask([system(), user("Mend the login")], says(LONG))
    log.ask([*history, user("Thanks")], says("Welcome"))
    main, side = log.records(tmp_path)
    assert (side.relation, side.parent, told(side)[-1]) == ("side", main.id, "Login mending")
    assert trained(side) == [2]


def test_side_calls_while_a_call_is_open(tmp_path: Path) -> None:
    log, history = Log(), [system(), user("Mend the login")]
    for number in range(3):
        history = log.ask(history, calls(ids=(f"c{number}",), command=f"make {number}"), tools=("bash",))
        log.ask([system("Reply with a title of four words"), user(f"make {number}")], says(f"Making {number}"))
        history = [*history, result("ok", f"c{number}")]
    found = log.records(tmp_path)
    assert [record.relation for record in found] == ["main", "side", "side", "side"]
    assert {record.parent for record in found[1:]} == {found[0].id}


@pytest.mark.parametrize(
    "prompt",
    [
        lambda number: f"Now: 2026-03-02 10:{number:02}\n{SYSTEM}",
        lambda number: f"billing {'abcdefgh'[number]}{number}x\n{SYSTEM}",
        lambda number: f"You are brief. It is {number} o'clock.",
    ],
)
def test_a_system_prompt_that_changes_does_not_split(tmp_path: Path, prompt: Any) -> None:
    log = Log()
    history = [user("Mend it")]
    for number in range(5):
        _, *history = log.ask([system(prompt(number)), *history], says(f"Step {number}"))
        history = [*history, user(f"Go on {number}")]
    (record,) = log.records(tmp_path)
    assert record.messages == [system(prompt(0)), *history[:-1]]
    assert len(trained(record)) == 5


def test_an_old_result_cut_short_does_not_split(tmp_path: Path) -> None:
    log = Log()
    history = log.ask([system(), user("Mend it")], calls(command="make"))
    history = log.ask([*history, result("x" * 900)], calls(ids=("c2",), command="make test"))
    history = [*history, result("ok", "c2")]
    cut = [result("[cut]") if message.get("tool_call_id") == "c1" else message for message in history]
    log.ask(cut, says("Done"))
    (record,) = log.records(tmp_path)
    assert [message["role"] for message in record.messages] == [
        "system",
        *("user", "assistant", "tool", "assistant", "tool", "assistant"),
    ]
    assert record.messages[3] == result("x" * 900)


def test_the_answer_is_richer_than_its_echo(tmp_path: Path) -> None:
    log = Log()
    log.ask([user("Mend it")], says("Mended ", reasoning_content="Tests first"))
    log.ask([user("Mend it"), says("Mended"), user("Thanks")], says("Welcome"))
    (record,) = log.records(tmp_path)
    assert record.messages[1] == says("Mended ", reasoning_content="Tests first")


def test_ids_that_a_client_rewrote_are_those_of_the_answer_again(tmp_path: Path) -> None:
    log = Log()
    log.ask([user("Mend it")], calls(ids=("real-1", "real-2"), command="make"))
    echoed = calls(ids=("mine-1", "mine-2"), command="make")
    log.ask([user("Mend it"), echoed, result("a", "mine-1"), result("b", "mine-2")], says("Done"))
    (record,) = log.records(tmp_path)
    assert [message.get("tool_call_id") for message in record.messages] == [None, None, "real-1", "real-2", None]
    assert [call["id"] for call in record.messages[1]["tool_calls"]] == ["real-1", "real-2"]


def test_results_of_other_calls_are_another_path(tmp_path: Path) -> None:
    log = Log()
    history = log.ask([user("Both")], calls(ids=("c1", "c2"), command="make"))
    log.ask([*history, result("a", "c1"), result("b", "c2")], says("One"))
    log.ask([*history, result("a", "c2"), result("b", "c1")], says("Two"))
    assert sorted(record.relation for record in log.records(tmp_path)) == ["edit", "main"]


def test_a_split_answer_is_the_same_answer(tmp_path: Path) -> None:
    log = Log()
    log.ask([user("Mend it")], calls(text="Let me look", command="ls"))
    split = [says("Let me look"), calls(command="ls")]
    log.ask([user("Mend it"), *split, result("a.py")], says("Mended"))
    log.ask([user("Mend it"), *split, result("a.py"), says("Mended"), says("Truly"), user("Ok")], says("Bye"))
    (record,) = log.records(tmp_path)
    assert told(record)[1] == "Let me look"
    assert [message["role"] for message in record.messages] == [
        *("user", "assistant", "tool", "assistant", "assistant", "user", "assistant")
    ]


def test_a_failed_request_makes_no_record_of_its_own(tmp_path: Path) -> None:
    log = Log()
    history = log.ask([user("Mend it")], says("Which file?"))
    log.ask([*history, user("a.py")])
    log.ask([*history, user("a.py, please")], says("Mended"))
    (record,) = log.records(tmp_path)
    assert told(record) == ["Mend it", "Which file?", "a.py, please", "Mended"]
    log.ask([*record.messages, user("Thanks")])
    (record,) = log.records(tmp_path)
    assert told(record)[-1] == "Thanks"  # as the last snapshot has it


def test_records_keep_their_ids(tmp_path: Path) -> None:
    log = Log()
    history = log.ask([user("Mend it")], says("One"))
    log.ask([user("Mend it")], says("Two"))
    before = {told(record)[-1]: record.id for record in log.records(tmp_path)}
    assert len(set(before.values())) == 2
    log.ask([*history, user("Go on")], says("Three"))
    after = {told(record)[-1]: record.id for record in log.records(tmp_path)}
    assert after["Two"] == before["Two"]


# Any session: each step goes on from any earlier point, with the same prompt or another.

_STEP = st.tuples(
    st.sampled_from(["continue", "retry", "rewind", "new", "fail"]),
    st.integers(0, 50),
    st.sampled_from(["a", "b", "c", LONG]),
    st.booleans(),
)


def played(steps: list[tuple[str, int, str, bool]]) -> tuple[Log, list[str]]:
    """A session, and all that was generated in it: each answer is unlike any other."""
    log, states = Log(), [[system(), user("Begin")]]
    asked: list[list[Said]] = []
    generated: list[str] = []
    for number, (kind, where, text, called) in enumerate(steps):
        state = states[where % len(states)]
        if kind == "new":
            state = [system(f"Another prompt, {text}"), user(f"Other work {text}")]
        elif kind == "retry" and asked:
            state = asked[where % len(asked)]
        elif kind == "rewind":
            state = [*state, user(f"rewound {text}")]
        if kind == "fail":
            log.ask(state)
            continue
        mark = f"answer {number} {text}"
        answer = calls(ids=(f"c{number}",), text=mark, command=text) if called else says(mark)
        asked.append(state)
        generated.append(mark)
        after = log.ask(state, answer)
        states.append([*after, result("ok", f"c{number}") if called else user(f"more {text}")])
    return log, generated


@settings(max_examples=150)
@given(st.lists(_STEP, min_size=1, max_size=14))
def test_everything_generated_is_kept_and_trained_on_exactly_once(steps: list[tuple[str, int, str, bool]]) -> None:
    log, generated = played(steps)
    with tempfile.TemporaryDirectory() as folder:
        found = log.records(Path(folder))
    once = [turn.message["content"] for record in found for turn in record.turns if turn.train]
    assert sorted(once) == sorted(generated)
    assert all(turn.generated for record in found for turn in record.turns if turn.train)
    seen: set[str] = set()
    for record in found:  # trained on in the first record that holds it
        for turn in record.turns:
            if turn.generated:
                assert turn.train == (turn.message["content"] not in seen)
                seen.add(turn.message["content"])
    assert len({record.id for record in found}) == len(found)
    ids = {record.id for record in found}
    assert all(record.parent is None or record.parent in ids - {record.id} for record in found)


@settings(max_examples=150)
@given(st.lists(_STEP, min_size=1, max_size=14))
def test_every_record_is_a_path_that_was_sent(steps: list[tuple[str, int, str, bool]]) -> None:
    log, _ = played(steps)
    with tempfile.TemporaryDirectory() as folder:
        found = log.records(Path(folder))
    sent = []
    for entry in log.entries:
        answers = [choice["message"] for choice in entry["response"]["choices"]]
        sent.append([without_nulls(message) for message in [*entry["request"]["messages"], *answers]])
    for record in found:
        assert record.messages in sent
    assert len({json.dumps(record.messages) for record in found}) == len(found)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.text(max_size=5), st.booleans()), min_size=1, max_size=12))
def test_any_linear_session_is_its_snapshot(turns: list[tuple[str, bool]]) -> None:
    log, history = Log(), [system(), user("Begin")]
    for number, (text, called) in enumerate(turns):
        answer = calls(ids=(f"c{number}",), note=text) if called else says(text or "…")
        history = log.ask(history, answer)
        history = [*history, result(text, f"c{number}") if called else user(f"next {text}")]
    with tempfile.TemporaryDirectory() as folder:
        (record,) = log.records(Path(folder))
    assert record.messages == [without_nulls(message) for message in history[:-1]]
