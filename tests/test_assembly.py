"""Events → sessions of turns and steps; and a log that grows tells the same as one that is whole."""

from collections import Counter
from pathlib import Path

import pytest

from logs import SHOP, Claude, Codex, Gemini
from test_readers import cases, laid_out, name_of
from unspool.dialect import Record
from unspool.exports.events import body
from unspool.ingest.assembly import assemble
from unspool.ingest.logs import open_log
from unspool.model import Event, Facts, Note
from unspool.model.event import TokenUsage
from unspool.model.session import Call, Session, Step, Stream
from unspool.sources.records import read_lines


def assembled(*logs: Claude | Codex | Gemini, folder: Path) -> Session:
    events: list[Event] = []
    facts = Facts("", "")
    for number, log in enumerate(logs):
        opened = open_log(str(log.save(folder / f"{number}.jsonl")))
        assert opened is not None
        events += [item for item in opened if isinstance(item, Event)]
        facts = next(iter(opened.sessions.values()))
    return assemble(facts, events)


def main(*logs: Claude | Codex | Gemini, folder: Path) -> Stream:
    return assembled(*logs, folder=folder).streams["main"]


def told(step: Step) -> list[str]:
    """What a step holds, in short."""
    return [item.call.name if isinstance(item, Call) else item.type for item in step.items]


def test_a_turn_goes_from_one_prompt_to_the_next(tmp_path: Path) -> None:
    stream = main(Claude().user("one").says("a").user("two").says("b").says("c"), folder=tmp_path)
    assert [[body(event) for event in turn.opening] for turn in stream.turns] == [
        [b'{"type":"user","content":{"text":"one"}}'],
        [b'{"type":"user","content":{"text":"two"}}'],
    ]
    assert [len(turn.steps) for turn in stream.turns] == [1, 2]


def test_a_step_is_what_came_of_one_call_to_the_model(tmp_path: Path) -> None:
    log = Claude().user("x").thinks("hm").says("I look", new=False).calls("t1", "Bash", new=False, command="ls")
    (turn,) = main(log.result("t1", "a").says("Done"), folder=tmp_path).turns
    assert [told(step) for step in turn.steps] == [["thinking", "message", "Bash"], ["message"]]
    assert [(step.tokens.input, step.tokens.output, step.model) for step in turn.steps] == [
        (10, 5, "claude-test-1")
    ] * 2


def test_in_a_log_that_counts_no_tokens_a_step_ends_where_the_model_speaks_again(tmp_path: Path) -> None:
    log = Codex().user("x").says("I look").calls("c1", "exec_command", cmd="ls").result("c1", "a").says("Done")
    (turn,) = main(log, folder=tmp_path).turns
    assert [told(step) for step in turn.steps] == [["message", "exec_command"], ["message"]]


def test_in_a_log_that_counts_them_a_result_may_stand_before_the_last_words_of_its_step(tmp_path: Path) -> None:
    log = Gemini().user("x")
    for number in (1, 2):
        log.says("I look", log.called(f"c{number}", "list_directory", "a", path="."))
    (turn,) = main(log.says("Done"), folder=tmp_path).turns
    assert [sorted(told(step)) for step in turn.steps] == [*[["list_directory", "message"]] * 2, ["message"]]


def test_parallel_calls_are_of_one_step_and_each_has_its_result(tmp_path: Path) -> None:
    log = Claude().user("x").calls("t1", "Read", file_path="/a").calls("t2", "Read", new=False, file_path="/b")
    log.calls("t3", "Read", new=False, file_path="/c").result("t2", "B", failed=True).result("t1", "A").says("Done")
    (turn,) = main(log, folder=tmp_path).turns
    calls = [item for item in turn.steps[0].items if isinstance(item, Call)]
    assert [(call.call.provider_call_id, call.result and call.result.output) for call in calls] == [
        ("t1", "A"),
        ("t2", "B"),
        ("t3", None),
    ]
    assert calls[1].ended == "2026-03-01T10:00:05.000Z"


@pytest.mark.parametrize(
    ("results", "status"), [(("t1",), "in_progress"), (("t1", "t2"), "done"), (("t1", "bad"), "failed")]
)
def test_the_status_of_a_step(tmp_path: Path, results: tuple[str, ...], status: str) -> None:
    log = Claude().user("x").calls("t1", "Read", file_path="/a").calls("t2", "Read", new=False, file_path="/b")
    for result in results:
        log.result("t2" if result == "bad" else result, "ok", failed=result == "bad")
    assert main(log, folder=tmp_path).turns[0].steps[0].status == status


def test_a_result_without_a_call_stands_where_it_came(tmp_path: Path) -> None:
    (turn,) = main(Claude().user("x").says("a").result("lost", "?"), folder=tmp_path).turns
    assert told(turn.steps[0]) == ["message", "tool_result"]


def test_an_interrupted_turn_keeps_what_it_has(tmp_path: Path) -> None:
    log = Codex().user("x").calls("c1", "exec_command", cmd="sleep 9")
    log.line("event_msg", type="turn_aborted", reason="interrupted").user("y").says("Done")
    first, second = main(log, folder=tmp_path).turns
    assert told(first.steps[0]) == ["exec_command", "turn_end"]
    assert first.steps[0].status == "in_progress"
    assert told(second.steps[0]) == ["message"]


def test_a_slash_command_and_what_it_stands_for_open_one_turn(tmp_path: Path) -> None:
    tags = "<command-message>review</command-message>\n<command-name>/review</command-name>"
    log = Claude().user(f"{tags}\n<command-args>a.py</command-args>").user("Review a.py with care").says("Fine")
    (turn,) = main(log, folder=tmp_path).turns
    assert [event.type for event in turn.opening] == ["slash_command", "user"]


def test_a_turn_may_begin_with_a_summary_of_what_came_before(tmp_path: Path) -> None:
    log = Claude().user("x").says("a").compacted("All about x").says("b")
    first, second = main(log, folder=tmp_path).turns
    assert (first.compacted, second.compacted) == (False, True)
    assert b"All about x" in body(second.opening[0])


def test_what_comes_before_the_first_prompt_is_kept(tmp_path: Path) -> None:
    (turn,) = main(Claude().says("Hello, may I help?"), folder=tmp_path).turns
    assert (turn.opening, told(turn.steps[0])) == ([], ["message"])


def test_a_sub_agent_is_linked_to_the_call_that_asked_for_it(tmp_path: Path) -> None:
    log = Claude().user("x").calls("t1", "Task", description="Find", prompt="Find it")
    log.result("t1", "found", agentId="abc", agentType="Explore", description="Find").says("Done")
    agent = Claude(agent="abc").user("Find it").says("found")
    session = assembled(agent, log, folder=tmp_path)
    assert list(session.streams) == ["main", "agent:abc"]
    stream = session.streams["agent:abc"]
    assert (stream.agent_type, stream.description) == ("Explore", "Find")
    call = session.streams["main"].turns[0].steps[0].items[0]
    assert isinstance(call, Call)
    assert call.agents == ("agent:abc",)


def test_a_sub_agent_s_turn_begins_with_what_it_was_told(tmp_path: Path) -> None:
    session = assembled(Claude(agent="abc").user("Find it").says("found"), folder=tmp_path)
    (turn,) = session.streams["agent:abc"].turns
    assert [event.type for event in turn.opening] == ["agent_message"]


def test_sub_agents_come_in_the_order_of_their_start(tmp_path: Path) -> None:
    late, early = Claude(agent="late", day=3).user("x").says("y"), Claude(agent="early").user("x").says("y")
    session = assembled(late, early, Claude(day=4).user("x").says("y"), folder=tmp_path)
    assert list(session.streams) == ["main", "agent:early", "agent:late"]


# A log that grows


def fed(path: Path, *cuts: int, halt: bool = False) -> list[Event]:
    """The events of a log that grew: `cuts` are the lines at which it stood still. `halt`: long enough to be closed."""
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == 10]
    log = open_log(str(path))
    assert log is not None
    decoder = log.reader.decoder(str(path))
    items: list[Event | Note] = []
    seen = 0
    for cut in (*cuts, len(ends)):
        path.write_bytes(whole[: ends[cut - 1]])
        for record in read_lines(str(path)):
            if isinstance(record, Record) and record.origin.offset >= seen:
                items += decoder.feed(record)
        seen = ends[cut - 1]
        if halt or cut == len(ends):
            items += decoder.close()
    path.write_bytes(whole)
    return [item for item in items if isinstance(item, Event)]


@pytest.mark.parametrize("case", cases(), ids=name_of)
def test_a_log_that_grows_tells_the_same(case: Path, tmp_path: Path) -> None:
    for path in laid_out(case, tmp_path):
        log = open_log(str(path))
        if log is None or log.reader.rows or log.reader.document or not path.read_bytes().endswith(b"\n"):
            continue
        lines = path.read_bytes().count(b"\n")
        at_once = [(item.id, item.parent_id, body(item)) for item in log if isinstance(item, Event)]
        for cut in {1, lines // 3, lines // 2, lines - 1} - {0, lines}:
            assert [(event.id, event.parent_id, body(event)) for event in fed(path, cut)] == at_once


def busy() -> list[Claude | Codex | Gemini]:
    claude = (
        Claude().user("x").thinks("hm", usage=(10, 1000, 100, 1)).says("I look", new=False, usage=(10, 1000, 100, 8))
    )
    claude.calls("t1", "Bash", new=False, command="ls").result("t1", "a").says("Done").user("y").says("Well")
    codex = Codex().user("x").calls("c1", "exec_command", cmd="ls").counts(100, 50, 20, 5).result("c1", "a")
    codex.counts(100, 50, 20, 5).says("Done").counts(7, 0, 2, 1).user("y").says("Well").counts(9, 0, 2, 1)
    gemini = Gemini().user("x")
    gemini.says("I look", gemini.called("g1", "list_directory", "a", path=".")).says("Done").user("y").says("Well")
    return [claude, codex, gemini]


@pytest.mark.parametrize("log", busy(), ids=["claude", "codex", "gemini"])
def test_a_log_that_pauses_counts_nothing_twice(log: Claude | Codex | Gemini, tmp_path: Path) -> None:
    path = log.save(tmp_path / f"{SHOP}.jsonl")
    whole = tally(fed(path))
    assert whole["output"] > 0
    for cut in range(1, len(log.records)):
        events = fed(path, cut, halt=True)
        assert tally(events) == whole, cut
        assert len({event.id for event in events}) == len(events), cut


def tally(events: list[Event]) -> Counter[str]:
    """Events by type, and the tokens of all."""
    found: Counter[str] = Counter()
    for event in events:
        if isinstance(event.content, TokenUsage):
            for name in ("input", "cache_read", "cache_write", "output", "reasoning"):
                found[name] += getattr(event.content, name)
        else:
            found[event.type] += 1
    return found
