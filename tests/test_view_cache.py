"""Why the prompt cache missed."""

import json
from pathlib import Path

import pytest

from logs import Claude
from test_view_rows import opened
from unspool.jobs.view.messages import cache_report
from unspool.jobs.view.pages import CacheReport
from viewing import TOOLS, Agent


def last(agent: Agent | Claude, tmp_path: Path) -> CacheReport:
    reel, known = opened(agent.save(tmp_path / "trace.jsonl"))
    return cache_report(reel, known, known.cooked.requests[-1])


def begun() -> Agent:
    return Agent().asks("One").says("The first of all numbers, if nought is none.").asks("Two")


def test_a_hit(tmp_path: Path) -> None:
    told = last(begun().says("2"), tmp_path)
    assert (told.state, told.expected, told.read, told.missed) == ("hit", 4500, 4500, 0)


def test_the_first_request_has_nothing_to_hit(tmp_path: Path) -> None:
    assert last(Agent().asks("One").says("1"), tmp_path).state == "first"


def test_a_changed_tool(tmp_path: Path) -> None:
    agent = begun()
    agent.tools = [{**TOOLS[0], "description": "Read a file, or a part."}, *TOOLS[1:]]
    told = last(agent.misses("2"), tmp_path)
    assert (told.state, told.missed) == ("missed", 4500)
    assert told.words[1] == "Tool `Read` changed its description; tools stand before everything else."
    assert (told.before, told.after) == ("Read something.", "Read a file, or a part.")


def test_what_a_miss_costs(tmp_path: Path) -> None:
    """4,500 tokens were written again at $3.75 a million, not read at $0.30."""
    agent = begun()
    agent.tools = TOOLS[1:]
    told = last(agent.misses("2"), tmp_path)
    assert told.cost is not None
    assert round(told.cost * 1e6) == round(4500 * (3.75 - 0.3))
    assert "removed: `Read`" in told.words[1]


def test_a_changed_system_prompt(tmp_path: Path) -> None:
    agent = begun()
    agent.system += "\nToday is Tuesday."
    told = last(agent.misses("2"), tmp_path)
    assert told.words[1] == "The system prompt changed in line 3; what follows it could not be reused."
    assert told.after == "Today is Tuesday."


def test_a_changed_message(tmp_path: Path) -> None:
    agent = begun()
    agent.messages[0]["content"][0]["text"] = "One, or so"
    told = last(agent.misses("2"), tmp_path)
    assert told.words[1].startswith("Message 2 (user) changed in line 1")
    assert (told.before, told.after) == ("One", "One, or so")


def test_another_model(tmp_path: Path) -> None:
    agent = begun()
    agent.model = "claude-opus-4-1"
    assert last(agent.misses("2"), tmp_path).words[1].startswith("The model changed from claude-sonnet-4-5")


def test_too_late(tmp_path: Path) -> None:
    agent = begun()
    agent.time += 7 * 60
    told = last(agent.misses("2"), tmp_path)
    assert (
        told.words[1]
        == "7 minutes passed since the request before it; what is cached lives five minutes after its last use."
    )


def test_a_changed_setting(tmp_path: Path) -> None:
    agent = begun().misses("2")
    agent.records[-1]["request"]["tool_choice"] = {"type": "any"}
    assert last(agent, tmp_path).words[1] == "The setting `tool_choice` changed."


def test_marks_that_are_gone(tmp_path: Path) -> None:
    agent = begun().misses("2")
    for message in agent.records[-1]["request"]["messages"]:
        message["content"][-1].pop("cache_control", None)
    assert last(agent, tmp_path).words[1] == "The cache marks (`cache_control`) are gone."


def test_a_mark_that_moved_too_far(tmp_path: Path) -> None:
    agent = begun()
    for number in range(25):
        agent.asks(f"And {number}?")
    told = last(agent.misses("2"), tmp_path)
    assert told.words[1].startswith("The mark moved further than the provider looks back (20 blocks)")


def test_a_log_does_not_tell_everything(tmp_path: Path) -> None:
    log = Claude().user("One").says("1", usage=(10, 0, 9000, 5))
    log.user("Two").says("2", usage=(10, 0, 9500, 5))
    told = last(log, tmp_path).words[1]
    assert told.startswith("Nothing was found, not even the tools and the system prompt, which stand first: one of")
    assert told.endswith("Neither the tools nor, mostly, the system prompt are known here.")


def test_nothing_differs(tmp_path: Path) -> None:
    told = last(begun().misses("2"), tmp_path).words[1]
    assert told == (
        "Nothing was found, not even the tools and the system prompt, which stand first: the provider dropped it, or "
        "served the call from another machine."
    )


def test_only_the_beginning_is_found(tmp_path: Path) -> None:
    assert last(begun().misses("2", hit=1500), tmp_path).words[1] == (
        "Only the beginning was found, 33 % of what #1 sent: mostly tools and system prompt. What follows was dropped, "
        "or the call was served by another machine."
    )


def test_how_far_it_was_found(tmp_path: Path) -> None:
    """What an earlier request sent has a known size: 4,510, 5,010 and 5,510 tokens."""
    agent = Agent().asks("One").calls("t1", "Bash", command="a").result("t1", "1").calls("t2", "Bash", command="b")
    agent.result("t2", "2").calls("t3", "Bash", command="c").result("t3", "3").misses("6", hit=4400)
    assert last(agent, tmp_path).words[1] == (
        "It was found as far as #1 had sent it, message 2. Both prompts go on alike behind that, and in time: the "
        "provider had not kept it yet, dropped it, or served the call from another machine."
    )


def test_thinking_that_is_not_sent_again(tmp_path: Path) -> None:
    """A new prompt ends the turn: what was thought in it is left out from then on."""
    agent = Agent().asks("One").calls("t1", "Bash", command="a").result("t1", "1").says("Well.", thinking="Hm.")
    agent.size += 2000
    assert last(agent.asks("Two").misses("2", hit=4480), tmp_path).words[1] == (
        "It was found as far as #1 had sent it, message 2, where the turn before began: most likely, what the model "
        "thought in that turn is not sent any more with the new prompt."
    )


def test_a_prompt_that_became_shorter(tmp_path: Path) -> None:
    """As agents do that clear old results by themselves, and write nothing about it."""
    agent = Agent().asks("One").calls("t1", "Bash", command="a").result("t1", "1").calls("t2", "Bash", command="b")
    agent.size = 2500
    told = last(agent.result("t2", "2").misses("2", hit=1200), tmp_path)
    assert told.words[1] == "The prompt is 2,000 tokens shorter than the one before it: something was taken out."


def test_what_was_never_kept_is_not_missed(tmp_path: Path) -> None:
    """A provider that tells what it writes to the cache wrote nothing before."""
    log = Claude().user("One").says("1", usage=(9000, 0, 0, 5)).user("Two").says("2", usage=(10, 0, 9500, 5))
    assert last(log, tmp_path).state != "missed"


@pytest.mark.parametrize(
    ("model", "lives"),
    [("gpt-5", "five to ten minutes"), ("gemini-2.5-pro", "some minutes"), ("o4-mini", "five to ten")],
)
def test_each_provider_keeps_it_for_its_own_time(tmp_path: Path, model: str, lives: str) -> None:
    asked = [{"role": "user", "content": "One?"}]
    calls = []
    for number, (second, cached) in enumerate([(0, 0), (60, 4992), (480, 0)]):
        usage = {"prompt_tokens": 5000, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": cached}}
        answer = {"role": "assistant", "content": "The first of all numbers, if nought is none."}
        calls.append(
            {
                "timestamp": 1_772_460_000 + second,
                "request": {"model": model, "messages": asked},
                "response": {"choices": [{"message": answer}], "usage": usage},
            }
        )
        asked = [*asked, answer, {"role": "user", "content": f"And {number}?"}]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls))
    reel, known = opened(path)
    assert (
        f"7 minutes passed since the request before it; what is cached lives {lives}"
        in (cache_report(reel, known, known.cooked.requests[-1]).words[1])
    )


def test_no_usage_tells_nothing(tmp_path: Path) -> None:
    agent = begun().says("2")
    del agent.records[-1]["response"]["usage"]
    assert last(agent, tmp_path).state == "unknown"
