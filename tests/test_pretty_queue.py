"""What becomes of calls: any number open at once, by their ids; which are interrupted, and which orphaned."""

import json
from collections.abc import Iterator

import pytest

import unspool
from streams import Live
from unspool.jobs.pretty.run import Run
from unspool.views.pretty.moments import Ended, Moment, Started, ToolEnded, ToolStarted


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def ended(moments: Iterator[Moment] | list[Moment]) -> list[tuple[str, str]]:
    return [(moment.id, moment.status) for moment in moments if isinstance(moment, ToolEnded)]


def statuses(live: Live, **options: object) -> list[tuple[str, str]]:
    run = Run("-", **options)  # type: ignore[arg-type]
    return ended([*run.feed(live.data), *run.close()])


def queue(live: Live, **options: object) -> str:
    return "\n".join(unspool.pretty([live.data], queue=True, **options))  # type: ignore[arg-type]


def three_at_once() -> Live:
    live = Live().calls("a", "Read", file_path="/a").calls("b", "Bash", command="make").calls("c", "Glob", pattern="*")
    return live.result("c", "3").result("a", "1").result("b", "2", failed=True).ends()


def test_parallel_calls_are_no_interruptions() -> None:
    assert statuses(three_at_once()) == [("c", "COMPLETED"), ("a", "COMPLETED"), ("b", "FAILED")]


def test_calls_of_one_message_and_the_text_beside_them() -> None:
    blocks = [
        {"type": "text", "text": "Both."},
        {"type": "tool_use", "id": "a", "name": "Read", "input": {"file_path": "/a"}},
        {"type": "tool_use", "id": "b", "name": "Read", "input": {"file_path": "/b"}},
    ]
    results = [{"type": "tool_result", "tool_use_id": call, "content": f"of {call}"} for call in ("b", "a")]
    live = Live().add(type="assistant", message={"role": "assistant", "content": blocks})
    live.add(type="user", message={"role": "user", "content": results})
    text = queue(live)
    assert [text.index(word) for word in ("Both.", "of b", "of a")] == sorted(
        text.index(word) for word in ("Both.", "of b", "of a")
    )


INTERRUPTED = """\
╔═════════════════════ interrupted ══════════════════════╗
║                                                        ║
║  ⚠️ Tool: Read - INTERRUPTED                           ║
║  📁 File: /path/to/file.txt                            ║
║                                                        ║
║  🚫 Tool execution was interrupted by a new tool       ║
║  request                                               ║
║                                                        ║
╚════════════════════════════════════════════════════════╝

╔═════════════════════════ tool ═════════════════════════╗
║                                                        ║
║  ✅ Tool: Bash - COMPLETED (0.45s)                     ║
║  🔧 Command: ls -la                                    ║
║                                                        ║
║  📄 Result: total 16                                   ║
║  drwxr-xr-x  4 user  staff   128 Jan  1 12:00 .        ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""


def test_one_tool_at_a_time() -> None:
    live = Live().at(1).calls("r", "Read", file_path="/path/to/file.txt").at(2).calls("b", "Bash", command="ls -la")
    live.at(2.45).result("b", "total 16\ndrwxr-xr-x  4 user  staff   128 Jan  1 12:00 .")
    assert queue(live, one_tool_at_a_time=True) == INTERRUPTED
    assert statuses(live) == [("b", "COMPLETED"), ("r", "INTERRUPTED")]


def test_five_rapid_calls() -> None:
    live = Live()
    for number in range(5):
        live.calls(f"t{number}", "Bash", command=f"echo {number}")
    for number in range(5):
        live.result(f"t{number}", str(number))
    assert [status for _, status in statuses(live)] == ["COMPLETED"] * 5
    late = [("INTERRUPTED", number) for number in range(4)] + [("COMPLETED", number) for number in range(5)]
    assert statuses(live, one_tool_at_a_time=True) == [(f"t{number}", status) for status, number in late]


def test_a_sub_agents_calls_do_not_interrupt_their_master() -> None:
    live = Live().calls("k", "Task", description="Look", prompt="…").inside("k").calls("g", "Glob", pattern="*")
    live.result("g", "a").inside(None).result("k", "done")
    for alone in (False, True):
        assert statuses(live, one_tool_at_a_time=alone) == [("g", "COMPLETED"), ("k", "COMPLETED")]


def test_a_turn_that_ends_without_a_result_tells_why() -> None:
    live = Live().calls("t", "Bash", command="sleep 9").fails("error_max_turns", errors=["Reached the limit (1)"])
    run = Run("-")
    moments = [*run.feed(live.data), *run.close()]
    assert [type(moment) for moment in moments] == [ToolStarted, ToolEnded, Ended]
    assert isinstance(moments[1], ToolEnded)
    assert (moments[1].status, moments[1].reason) == ("INTERRUPTED", "the turn failed: Reached the limit (1)")


def test_a_person_interrupts() -> None:
    live = Live().calls("t", "Bash", command="sleep 9").user("[Request interrupted by user for tool use]")
    run = Run("-")
    found = [moment for moment in [*run.feed(live.data), *run.close()] if isinstance(moment, ToolEnded)]
    assert [(moment.status, moment.reason) for moment in found] == [
        ("INTERRUPTED", "the turn was interrupted: [Request interrupted by user for tool use]")
    ]


@pytest.mark.parametrize(
    "told",
    [
        {"tool_use_result": {"stdout": "half", "stderr": "", "interrupted": True}},
        {"output": "The user doesn't want to proceed with this tool use. The tool use was rejected"},
    ],
)
def test_a_result_that_says_so(told: dict[str, object]) -> None:
    block = {"type": "tool_result", "tool_use_id": "t", "content": told.pop("output", "half"), "is_error": True}
    live = Live().calls("t", "Bash", command="make")
    live.add(type="user", message={"role": "user", "content": [block]}, **told)
    assert statuses(live) == [("t", "INTERRUPTED")]
    assert "🚫 Interrupted: " in queue(live)


def test_the_end_of_the_stream_inside_a_call() -> None:
    live = Live().starts().calls("t", "Bash", command="make")
    assert statuses(live) == [("t", "INTERRUPTED")]
    assert "the stream ended without its result" in queue(live)


ORPHANED = """\
╔═══════════════════════ orphaned ═══════════════════════╗
║                                                        ║
║  ⌛ Tool: Write - ORPHANED (timeout after 30s)         ║
║  📁 File: /path/to/output.txt                          ║
║                                                        ║
║  🔍 No result received within timeout period           ║
║                                                        ║
╚════════════════════════════════════════════════════════╝"""


def test_an_orphan_by_the_time_of_the_records() -> None:
    live = Live().at(1).calls("w", "Write", file_path="/path/to/output.txt", content="")
    live.at(30.9).thinks("Still there?")
    assert statuses(live) == [("w", "INTERRUPTED")]
    live.at(31).thinks("No.").at(90).result("w", "written")
    assert statuses(live) == [("w", "ORPHANED"), ("w", "COMPLETED")]
    text = queue(live)
    assert ORPHANED in text
    assert "✅ Tool: Write - COMPLETED (89.00s)" in text  # late, and still shown
    assert statuses(live, orphan_after=120.0) == [("w", "COMPLETED")]
    assert statuses(live, orphan_after=0.0) == [("w", "COMPLETED")]


def test_an_orphan_in_silence() -> None:
    clock = Clock()
    run = Run("-", clock=clock)
    assert run.due is None
    list(run.feed(Live().calls("t", "Bash", command="make").data))
    assert run.due == 130.0
    clock.now = 129.9
    assert run.tick() == []
    clock.now = 130.0
    assert ended(run.tick()) == [("t", "ORPHANED")]
    assert run.due is None
    assert ended(run.feed(Live().result("t", "done").data)) == [("t", "COMPLETED")]


def test_silence_after_records_with_times() -> None:
    """Ten seconds of the run had passed when the last record came."""
    clock = Clock()
    run = Run("-", clock=clock)
    list(run.feed(Live().at(1).calls("t", "Bash", command="make").at(11).says("Working.").data))
    assert run.due == 120.0
    clock.now = 121.0
    assert ended(run.tick()) == [("t", "ORPHANED")]


def test_a_clock_that_went_back_makes_no_orphans() -> None:
    """Nor does an older run behind a newer one: no call has waited for long when it begins."""
    live = Live().at(3000).says("Later.").at(10).calls("a", "Bash", command="make").at(11).result("a", "done")
    assert statuses(live) == [("a", "COMPLETED")]
    clock = Clock()
    run = Run("-", clock=clock)
    list(run.feed(Live().at(3000).says("Later.").data))
    clock.now = 200.0
    list(run.feed(Live().at(10).calls("b", "Bash", command="make").data))
    assert run.due == 230.0
    clock.now = 231.0
    assert ended(run.tick()) == [("b", "ORPHANED")]


def test_a_search_of_the_providers_has_no_result() -> None:
    """Codex writes it down when it is over, mostly without what was found."""
    begins = {"type": "thread.started", "thread_id": "t"}
    search = {"id": "i", "type": "web_search", "query": "tides", "action": {"type": "search", "query": "tides"}}
    said = {"type": "item.completed", "item": {"id": "s", "type": "agent_message", "text": "High at noon."}}
    ends = {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 1}}
    for found, told in (({}, ""), ({"results": ["noon"]}, '["noon"]')):
        searched = {"type": "item.completed", "item": {**search, **found}}
        for rest in ([said, ends], [ends], []):
            run = Run("-", clock=Clock())
            moments: list[Moment] = []
            for record in (begins, searched, *rest):
                moments += run.feed(json.dumps(record).encode() + b"\n")
                assert run.due is None
            moments += run.close()
            answers = [(moment.status, moment.output) for moment in moments if isinstance(moment, ToolEnded)]
            assert answers == [("COMPLETED", told)]


def test_a_run_behind_another_has_tokens_of_its_own() -> None:
    used = {"input_tokens": 100, "output_tokens": 10}
    first = Live().starts().says("One.").ends(usage=used).says("Two.").ends(usage=used)
    second = Live().starts().says("Three.").ends(usage=used)
    for record in second.records:
        record["session_id"] = "another"
    run = Run("-")
    ends = [moment for moment in run.feed(first.data + second.data) if isinstance(moment, Ended)]
    assert [end.tokens.input for end in ends] == [100, 200, 100]


def test_whoever_works_is_no_orphan() -> None:
    live = Live().at(0).calls("k", "Task", description="Look", prompt="…").inside("k")
    for second in range(20, 120, 20):
        live.at(second).says("Working.")
    live.at(125).inside(None).result("k", "done")
    assert statuses(live) == [("k", "COMPLETED")]


def test_a_sub_agent_that_called_itself() -> None:
    live = Live().inside("k").says("Hm.").calls("k", "Task", description="Look", prompt="…").says("Round and round.")
    assert statuses(live.result("k", "done")) == [("k", "COMPLETED")]


def test_a_record_without_a_time_has_not_that_of_the_one_before() -> None:
    """Claude Code gives times to results only: the model may have thought for long before it called."""
    live = Live().at(1).user("Go.")
    live.records.append({**Live().calls("a", "Bash", command="a").records[0]})
    live.records.append({**Live().calls("b", "Bash", command="b").records[0]})
    live.at(45).result("b", "b")
    live.at(46).result("a", "a")
    assert statuses(live) == [("b", "COMPLETED"), ("a", "COMPLETED")]


def test_durations_by_arrival() -> None:
    clock = Clock()
    run = Run("-", clock=clock)
    list(run.feed(Live().calls("t", "Bash", command="make").data))
    clock.now += 2.5
    (end,) = run.feed(Live().result("t", "ok").data)
    assert isinstance(end, ToolEnded)
    assert end.seconds == 2.5


def test_a_result_without_its_call() -> None:
    text = queue(Live().result("nobody", "something"))
    assert "✅ Tool: nobody - COMPLETED" in text
    assert "📄 Result: something" in text


def test_calls_without_ids_find_their_results() -> None:
    blocks = [{"type": "tool_use", "name": "Bash", "input": {"command": word}} for word in ("one", "two")]
    live = Live().add(type="assistant", message={"role": "assistant", "content": blocks})
    for word in ("one", "two"):
        live.add(type="user", message={"role": "user", "content": [{"type": "tool_result", "content": f"did {word}"}]})
    text = queue(live)
    assert text.count("COMPLETED") == 2
    assert text.index("Command: one") < text.index("did one") < text.index("Command: two") < text.index("did two")


def test_a_second_run_in_the_same_stream() -> None:
    live = Live().starts().says("One.").ends()
    other = [{**record, "session_id": "another"} for record in live.records]
    live.records += other
    run = Run("-")
    moments = [*run.feed(live.data), *run.close()]
    assert [moment.session for moment in moments if isinstance(moment, Started)] == ["session_abc123", "another"]
    assert sum(isinstance(moment, Ended) for moment in moments) == 2


def test_memory_does_not_grow_with_calls_that_never_end() -> None:
    run = Run("-", one_tool_at_a_time=True)
    for number in range(3000):
        list(run.feed(Live().calls(f"t{number}", "Bash", command="x").data))
    assert ended(run.feed(Live().result("t10", "late").data)) == [("t10", "COMPLETED")]
    assert "t10" in "\n".join(unspool.pretty(Live().result("t10", "late").lines, queue=True))
    assert len(run._assembler._lost) <= 1000
