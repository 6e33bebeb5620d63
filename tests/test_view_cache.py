"""Why the prompt cache missed."""

import json
from pathlib import Path

import pytest

from logs import Claude
from test_view_rows import opened
from unspool.jobs.view.lifetimes import seconds_of
from unspool.jobs.view.messages import cache_report, graph
from unspool.jobs.view.pages import CacheReport
from unspool.model import CacheMiss
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


def split(agent: Agent, number: int, hour_long: int) -> Agent:
    """Say how much of what a call wrote to the cache lives an hour."""
    usage = agent.records[number]["response"]["usage"]
    written = usage["cache_creation_input_tokens"]
    counts = {"ephemeral_5m_input_tokens": written - hour_long, "ephemeral_1h_input_tokens": hour_long}
    usage["cache_creation"] = counts
    return agent


def late(minutes: int, *hour_long: int) -> Agent:
    """A call that comes so late and misses, behind calls that wrote so much of their cache for an hour."""
    agent = Agent()
    for number, tokens in enumerate(hour_long):
        agent = split(agent.asks(f"Question {number}").says(f"A longer answer, number {number}"), number, tokens)
    agent.time += 60 * minutes
    return agent.asks("Two").misses("2")


@pytest.mark.parametrize(
    ("agent", "words", "seconds"),
    [
        (late(13, 0), "13 minutes passed since the request before it; what is cached lives five minutes", [300]),
        (late(61, 4500), "61 minutes passed since the request before it; what is cached lives an hour", [3600]),
        (
            late(13, 1500),
            "13 minutes passed since the request before it; a part of what is cached lives five minutes after its last "
            "use, the other part an hour.",
            [300, 3600],
        ),
        (late(180, 1500), "3.0 hours passed since the request before it; what is cached lives", [300, 3600]),
    ],
)
def test_the_lifetime_is_that_of_what_the_parent_wrote(
    tmp_path: Path, agent: Agent, words: str, seconds: list[int]
) -> None:
    told = last(agent, tmp_path)
    assert told.words[1].startswith(words)
    assert told.lifetimes == seconds


@pytest.mark.parametrize(("hour_long", "rate"), [(5000, 6.0), (2500, (3.75 + 6.0) / 2), (0, 3.75)])
def test_what_is_written_again_for_an_hour_costs_more(tmp_path: Path, hour_long: int, rate: float) -> None:
    agent = split(begun().misses("2"), 1, hour_long)
    told = last(agent, tmp_path)
    assert agent.records[1]["response"]["usage"]["cache_creation_input_tokens"] == 5000
    assert told.missed == 4500
    assert told.cost == pytest.approx(4500 * (rate - 0.3) / 1e6)


def test_what_lives_an_hour_is_not_gone_after_thirteen_minutes(tmp_path: Path) -> None:
    told = last(late(13, 4500), tmp_path)
    assert (told.state, told.lifetimes) == ("missed", [3600])
    assert "passed" not in told.words[1]


def test_a_parent_that_wrote_nothing_has_the_lifetime_of_what_it_read(tmp_path: Path) -> None:
    agent = late(13, 4500, 0)
    counts = {"cache_read_input_tokens": 4500, "cache_creation_input_tokens": 0, "cache_creation": None}
    agent.records[1]["response"]["usage"] |= counts
    told = last(agent, tmp_path)
    assert (told.state, told.lifetimes) == ("missed", [3600])


def test_a_log_knows_the_lifetime_too(tmp_path: Path) -> None:
    log = Claude().user("One").says("An answer", usage=(10, 0, 9000, 5))
    log.records[-1]["message"]["usage"]["cache_creation"] = {"ephemeral_1h_input_tokens": 9000}
    told = last(log.later(780).user("Two").says("2", usage=(10, 0, 9500, 5)), tmp_path)
    assert (told.state, told.lifetimes) == ("missed", [3600])
    assert "passed" not in told.words[1]


def test_where_the_counts_do_not_tell_the_marks_do(tmp_path: Path) -> None:
    agent = begun().says("2")
    for record in agent.records:
        record["request"]["messages"][-1]["content"][-1]["cache_control"]["ttl"] = "1h"
    agent.time += 13 * 60
    agent.asks("Three").misses("3")
    agent.records[-1]["request"]["messages"][-1]["content"][-1]["cache_control"]["ttl"] = "1h"
    told = last(agent, tmp_path)
    assert (told.state, told.lifetimes) == ("missed", [3600])


@pytest.mark.parametrize(
    ("value", "seconds"), [("5m", 300), ("30m", 1800), ("24h", 86400), ("in_memory", None), ("", None), (5, None)]
)
def test_lifetimes_as_requests_write_them(value: object, seconds: int | None) -> None:
    assert seconds_of(value) == seconds


def diagnosed(agent: Agent, kind: str, tokens: int | None = None) -> Agent:
    reason = {"type": kind} | ({"cache_missed_input_tokens": tokens} if tokens else {})
    agent.records[-1]["response"]["diagnostics"] = {"cache_miss_reason": reason}
    return agent


def test_the_provider_s_own_reason_goes_before_our_guess(tmp_path: Path) -> None:
    agent = begun()
    agent.time += 7 * 60
    told = last(diagnosed(agent.misses("2"), "messages_changed", 4321), tmp_path)
    assert told.words[1:] == ["Anthropic: messages_changed (4,321 tokens)."]  # and not that seven minutes passed
    assert told.provider == CacheMiss("messages_changed", 4321)


def test_the_place_of_what_the_provider_names_is_shown_with_it(tmp_path: Path) -> None:
    agent = begun()
    agent.tools = [{**TOOLS[0], "description": "Read a file, or a part."}, *TOOLS[1:]]
    told = last(diagnosed(agent.misses("2"), "tools_changed"), tmp_path)
    assert told.words[1:] == [
        "Anthropic: tools_changed.",
        "Tool `Read` changed its description; tools stand before everything else.",
    ]
    assert told.after == "Read a file, or a part."


@pytest.mark.parametrize("kind", ["unavailable", "previous_message_not_found"])
def test_a_provider_that_does_not_know_leaves_our_guess(tmp_path: Path, kind: str) -> None:
    agent = begun()
    agent.time += 7 * 60
    told = last(diagnosed(agent.misses("2"), kind), tmp_path)
    assert told.words[1] == f"Anthropic: {kind}."
    assert told.words[2].startswith("7 minutes passed")


def test_a_reason_without_a_miss_is_told_as_such(tmp_path: Path) -> None:
    told = last(diagnosed(begun().says("2"), "messages_changed"), tmp_path)
    assert (told.state, told.missed) == ("hit", 0)
    assert told.words[1] == "Anthropic: messages_changed. The counts of tokens show no such miss."


def test_the_first_request_may_have_a_reason_too(tmp_path: Path) -> None:
    """The one that it was compared with was not recorded."""
    told = last(diagnosed(Agent().asks("One").says("1"), "model_changed"), tmp_path)
    assert (told.state, told.words[1]) == ("first", "Anthropic: model_changed.")


def test_the_reason_in_a_log_of_claude_code(tmp_path: Path) -> None:
    log = Claude().user("One").says("An answer", usage=(10, 0, 9000, 5)).user("Two").says("2", usage=(10, 0, 9500, 5))
    log.records[-1]["message"]["diagnostics"] = {"cache_miss_reason": {"type": "system_changed"}}
    assert last(log, tmp_path).words[1] == "Anthropic: system_changed."


def chat(tmp_path: Path, *cached: int) -> Path:
    """A conversation over OpenAI's API, of whose prompts so much came from the cache."""
    asked, calls = [{"role": "user", "content": "One?"}], []
    for number, read in enumerate(cached):
        answer = {"role": "assistant", "content": "The first of all numbers, if nought is none."}
        usage = {"prompt_tokens": 5000, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": read}}
        request = {"model": "gpt-5", "messages": asked}
        response = {"choices": [{"message": answer}], "usage": usage}
        calls.append({"timestamp": 1_772_460_000 + number, "request": request, "response": response})
        asked = [*asked, answer, {"role": "user", "content": f"And {number}?"}]
    path = tmp_path / "trace.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls))
    return path


def test_a_model_that_never_used_a_cache_is_told_once(tmp_path: Path) -> None:
    reel, known = opened(chat(tmp_path, 0, 0, 0))
    assert graph(reel, known, 0).uncached == ["gpt-5"]
    assert [row.missed for row in known.rows] == [0, 0, 0]
    told = cache_report(reel, known, known.cooked.requests[-1])
    assert (told.state, told.words) == (
        "off",
        ["No call of gpt-5 in this recording read from a cache or wrote to one."],
    )


def test_one_call_from_the_cache_makes_the_others_misses(tmp_path: Path) -> None:
    reel, known = opened(chat(tmp_path, 0, 4992, 0))
    assert graph(reel, known, 0).uncached == []
    assert [row.missed for row in known.rows] == [0, 0, 5000]


def test_a_single_call_could_not_have_used_a_cache(tmp_path: Path) -> None:
    reel, known = opened(chat(tmp_path, 0))
    assert graph(reel, known, 0).uncached == []


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
