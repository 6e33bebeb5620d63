"""Whose child is this request? Situations from real traffic, one a test."""

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from calls import call, said
from unspool.graph.distance import EXACT_UP_TO, distance


def test_a_linear_conversation(links: Any) -> None:
    assert links(
        call("s:S", "u1", answer="a1", id="1"),
        call("s:S", "u1", "a1", "u2", answer="a2", id="2"),
        call("s:S", "u1", "a1", "u2", "a2", "u3", answer="a3", id="3"),
    ) == {"1": (None, None, None), "2": ("1", "continues", None), "3": ("2", "continues", None)}


def test_a_fork_goes_to_the_longest_shared_beginning(links: Any) -> None:
    found = links(
        call("s:S", "u1", answer="a1", id="1"),
        call("s:S", "u1", "a1", "u2", answer="a2", id="2"),
        call("s:S", "u1", "a1", "u2", "a2", "u3", answer="a3", id="3"),
        call("s:S", "u1", "a1", "u2", "a2", "other", answer="a4", id="4"),
        call("s:S", "u1", "a1", "other", answer="a5", id="5"),
    )
    assert found["4"] == ("2", "continues", None)
    assert found["5"] == ("1", "continues", None)


def test_a_retry_is_a_sibling_of_the_attempt_that_failed(links: Any) -> None:
    found = links(
        call("s:S", "u1", error="boom", id="0"),
        call("s:S", "u1", answer="a1", id="1"),
        call("s:S", "u1", "a1", "u2", error="overloaded", id="2"),
        call("s:S", "u1", "a1", "u2", error="overloaded", id="3"),
        call("s:S", "u1", "a1", "u2", answer="a2", id="4"),
        call("s:S", "u1", "a1", "u2", "a2", "u3", answer="a3", id="5"),
    )
    assert found == {
        "0": (None, None, None),
        "1": (None, None, "0"),
        "2": ("1", "continues", None),
        "3": ("1", "retry", "2"),
        "4": ("1", "retry", "3"),
        "5": ("4", "continues", None),
    }


def test_going_on_after_a_failure_continues_the_failed_request(links: Any) -> None:
    found = links(
        call("s:S", "u1", answer="a1", id="1"),
        call("s:S", "u1", "a1", "u2", error="timeout", id="2"),
        call("s:S", "u1", "a1", "u2", "u3", answer="a3", id="3"),
    )
    assert found["3"] == ("2", "continues", None)


def test_a_model_switch_keeps_the_parent(links: Any) -> None:
    found = links(
        call("u1", answer="a1", id="1", model="big"),
        call("u1", "a1", "u2", answer="a2", id="2", model="small"),
        call("u1", "a1", "u2", "a2", "u3", answer="a3", id="3", model="big"),
    )
    assert found["2"] == ("1", "switch", None)
    assert found["3"] == ("2", "switch", None)


def test_added_tools_keep_the_parent(links: Any) -> None:
    tools = [{"type": "function", "function": {"name": f"tool{n}", "parameters": {}}} for n in range(9)]
    found = links(
        call("u1", answer="a1", id="1"),
        call("u1", "a1", "u2", answer="a2", id="2", request={"tools": tools}),
    )
    assert found["2"] == ("1", "continues", None)


def test_sharing_a_system_prompt_and_reminders_makes_no_family(links: Any) -> None:
    shared = ("s:one", "s:two", "s:three", "reminder", "another reminder")
    found = links(
        call(*shared, "first task", answer="a1", id="1"),
        call(*shared, "second task", answer="a2", id="2"),
        call(*shared, "first task", "a1", "go on", answer="a3", id="3"),
    )
    assert found["2"] == (None, None, None)
    assert found["3"] == ("1", "continues", None)


def test_parallel_tool_results_do_not_split(links: Any) -> None:
    calls = [{"id": f"k{n}", "type": "function", "function": {"name": "run", "arguments": "{}"}} for n in range(12)]
    asked = {"role": "assistant", "content": None, "tool_calls": calls}
    first, second = call("s:S", "u1", id="1"), call("s:S", "u1", id="2")
    first["response"] = {"choices": [{"message": asked}]}
    second["request"]["messages"] += [asked, *(said(f"t:k{n}") for n in range(12))]
    assert links(first, second)["2"] == ("1", "continues", None)


def test_one_changed_result_of_two_is_no_child_of_its_sibling(links: Any) -> None:
    found = links(
        call("u1", answer="c:x", id="1"),
        call("u1", "c:x", "t:x", "u2", answer="a2", id="2"),
        call("u1", "c:x", "t:x", "u2 changed", answer="a3", id="3"),
    )
    assert found["3"] == ("1", "continues", None)


def test_a_volatile_first_line_does_not_break_the_chain(links: Any) -> None:
    def prompt(n: int) -> str:
        return f"s:billing: {n:08x}\nYou are an agent.\nBe brief."

    found = links(
        call(prompt(1), "u1", answer="a1", id="1"),
        call(prompt(2), "u1", "a1", "u2", error="overloaded", id="2"),
        call(prompt(3), "u1", "a1", "u2", answer="a2", id="3"),
    )
    assert found["2"] == ("1", "continues", None)
    assert found["3"] == ("1", "retry", "2")


def test_a_billing_line_of_its_own_does_not_break_the_chain(links: Any) -> None:
    rules = "s:You are an agent.\nBe brief."
    found = links(
        call("s:billing: 1", rules, "u1", answer="a1", id="1"),
        call("s:billing: 2", rules, "u1", "a1", "u2", answer="a2", id="2"),
    )
    assert found["2"] == ("1", "continues", None)


def test_another_prompt_with_the_same_question_is_no_retry(links: Any) -> None:
    found = links(
        call("s:Find a title of three words.", "u1", answer="a title", id="1"),
        call("s:You are an agent.\nBe brief.", "u1", answer="a1", id="2"),
    )
    assert found["2"] == (None, None, None)


def test_stripped_thinking_continues(links: Any) -> None:
    thought = {"role": "assistant", "content": "a1", "reasoning_content": "hm"}
    first = call("u1", id="1")
    first["response"] = {"choices": [{"message": thought}]}
    assert links(first, call("u1", "a1", "u2", answer="a2", id="2"))["2"] == ("1", "continues", None)


def test_an_edit_in_the_middle_still_has_its_parent(links: Any) -> None:
    found = links(
        call("u1", answer="c:x", id="1"),
        call("u1", "c:x", "t:x", answer="a2", id="2"),
        call("u1", "c:x", "t:x", "a2", "u3", answer="a3", id="3"),
        call("u1", "c:x", "old result cleared", "a2", "u3", "a3", "u4", answer="a4", id="4"),
    )
    assert found["4"] == ("3", "edit", None)


def test_a_call_id_is_enough_to_know_the_answer_again(links: Any) -> None:
    first = call("u1 as sent", "a0", "u1", answer="c:toolu_9", id="1")
    again = said("c:toolu_9")
    again["tool_calls"][0]["function"]["arguments"] = '{"n": "rewritten"}'
    second = call("u1 as rewritten", "a0", "u1", id="2")
    second["request"]["messages"] += [again, said("t:toolu_9")]
    assert links(first, second)["2"] == ("1", "edit", None)


def test_an_answer_that_the_client_sends_back_in_its_own_way_is_continued(links: Any) -> None:
    """What came before it is as it was: thoughts become text, or the words beside a call are dropped."""
    asked = call("u1", "a0", "u2", answer="c:x1", id="1")
    asked["response"]["choices"][0]["message"]["content"] = [{"type": "text", "text": "I will look."}]
    dropped = call("u1", "a0", "u2", "c:x1", "t:x1", answer="a2", id="2")
    added = call("u1", "a0", "u2", "a <think>Hm.</think>", "c:x1", "t:x1", answer="a3", id="3")
    changed = call("other", "a0", "u2", "c:x1", "t:x1", answer="a4", id="4")
    found = links(asked, dropped, added, changed)
    assert [found[name][:2] for name in "234"] == [("1", "continues"), ("1", "continues"), ("1", "edit")]


def test_what_the_provider_holds_is_named_by_the_request(links: Any) -> None:
    def responses(number: str, text: str, previous: str | None = None, model: str = "m") -> dict[str, Any]:
        record = call(id=number)
        record["request"] = {"model": model, "input": text, "previous_response_id": previous}
        record["response"] = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": []}
        return record

    found = links(
        responses("1", "Hello"),
        responses("2", "Go on", "resp_1"),
        responses("3", "Go on", "resp_2"),
        responses("4", "Go on", "resp_2"),
        responses("5", "Go on", "resp_4", "other"),
    )
    assert found == {
        "1": (None, None, None),
        "2": ("1", "continues", None),
        "3": ("2", "continues", None),
        "4": ("2", "retry", "3"),
        "5": ("4", "switch", None),
    }


def test_a_thread_that_anthropic_holds_goes_on_from_the_message_that_is_named(links: Any) -> None:
    def sent(number: str, text: str, **thread: str) -> dict[str, Any]:
        record = call(id=number)
        record["request"] = {"model": "m", "messages": [{"role": "user", "content": text}], "thread": thread}
        answer = {"type": "message", "id": f"msg_{number}", "content": [{"type": "text", "text": "Yes."}]}
        return record | {"response": answer}

    found = links(
        sent("1", "Hello", type="create"),
        sent("2", "Hello", type="create"),
        sent("3", "Go on", type="continue", previous_message_id="msg_1"),
        sent("4", "Go on", type="continue", previous_message_id="msg_3"),
    )
    assert [found[number][0] for number in "1234"] == [None, None, "1", "3"]
    assert found["4"] == ("3", "continues", None)


def test_a_conversation_that_the_provider_holds_goes_on_from_its_newest_answer(links: Any) -> None:
    def responses(number: str, text: str, held: Any, failed: bool = False) -> dict[str, Any]:
        record = call(id=number)
        record["request"] = {"model": "m", "input": text, "conversation": held}
        record["response"] = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": []}
        return record | ({"response": None, "error": "503"} if failed else {})

    found = links(
        responses("1", "Hello", "conv_1"),
        responses("2", "Hello", {"id": "conv_2"}),
        responses("3", "Go on", "conv_1", failed=True),
        responses("4", "Go on", {"id": "conv_1"}),
        responses("5", "Go on", "conv_1"),
        responses("6", "And you", "conv_2"),
        responses("7", "And then", "conv_3"),
    )
    parents = [found[number][0] for number in "1234567"]
    assert parents == [None, None, "1", "1", "4", "2", None]
    assert found["4"] == ("1", "retry", "3")


def test_interleaved_conversations_stay_apart(links: Any) -> None:
    records = []
    for turn in range(6):
        for name in "xyz":
            before = [text for n in range(turn) for text in (f"{name} asks {n}", f"a{n} for {name}")]
            records.append(
                call("s:S", *before, f"{name} asks {turn}", answer=f"a{turn} for {name}", id=f"{name}{turn}")
            )
    found = links(*records)
    assert all(found[f"{name}{turn}"][0] == f"{name}{turn - 1}" for name in "xyz" for turn in range(1, 6))
    assert all(found[f"{name}0"] == (None, None, None) for name in "xyz")


def test_equal_answers_in_many_conversations_do_not_mislead(links: Any) -> None:
    records = []
    for n in range(30):
        records.append(call("s:S", f"task {n}", answer="a ok", id=f"{n}.0"))
        records.append(call("s:S", f"task {n}", "a ok", "thanks", answer="a ok", id=f"{n}.1"))
    found = links(*records)
    assert all(found[f"{n}.1"] == (f"{n}.0", "continues", None) for n in range(30))
    assert all(found[f"{n}.0"][0] is None for n in range(30))


def test_counting_tokens_is_no_attempt(links: Any) -> None:
    found = links(
        call("u1", answer="a1", id="1"),
        call("u1", "a1", "u2", id="count", path="/v1/messages/count_tokens?beta=true"),
        call("u1", "a1", "u2", answer="a2", id="2"),
        call("u1", "a1", "u2", id="later", path="/v1/messages/count_tokens"),
        call("u1", "a1", "u2", "a2", "u3", answer="a3", id="3"),
    )
    assert found["count"] == found["later"] == ("1", "continues", None)
    assert found["2"] == ("1", "continues", None)
    assert found["3"] == ("2", "continues", None)


def test_a_request_without_messages_is_a_root(links: Any) -> None:
    assert links(call(id="1", answer="a1"), call(id="2", answer="a1")) == {"1": (None,) * 3, "2": (None,) * 3}


@given(st.lists(st.integers(0, 3), max_size=30), st.lists(st.integers(0, 3), max_size=30), st.integers(0, 40))
def test_distance_is_the_edit_distance(left: list[int], right: list[int], limit: int) -> None:
    table = [list(range(len(right) + 1))]
    for i, one in enumerate(left, 1):
        table.append([i])
        for j, other in enumerate(right, 1):
            table[i].append(min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (one != other)))
    expected = table[-1][-1]
    assert distance(left, right, limit) == (expected if expected <= limit else None)


def test_far_apart_paths_get_a_lower_bound() -> None:
    mixed = list(range(300))
    random.Random(1).shuffle(mixed)
    found = distance(list(range(300)) + list(range(1000, 1100)), mixed, 400)
    assert found is not None
    assert EXACT_UP_TO < found <= 400


def test_other_order_is_not_nothing() -> None:
    mixed = list(range(300))
    random.Random(2).shuffle(mixed)
    assert distance(list(range(300)), mixed, 400) == EXACT_UP_TO + 1


def test_examples_before_the_question_are_no_family(links: Any) -> None:
    examples = ("example one", "a yes", "example two", "a no")
    records = [call("s:Judge.", *examples, f"review {n}", answer="a no", id=str(n)) for n in range(6)]
    assert all(link == (None, None, None) for link in links(*records).values())


def test_a_short_answer_alone_makes_no_family(links: Any) -> None:
    found = links(call("task one", answer="a ok", id="1"), call("task two", "a ok", "thanks", answer="a fine", id="2"))
    assert found["2"] == (None, None, None)


def test_prompts_are_compared_by_words_where_they_are_short(links: Any) -> None:
    found = links(
        call("s:You are an agent.", "u1", answer="a1", id="1"),
        call("s:You are an agent.\nDate: 3", "u1", "a1", "u2", answer="a2", id="2"),
        call(
            "s:You are an agent.\nFind a title of three words for what the user says.", "u1", answer="a title", id="3"
        ),
    )
    assert found["2"] == ("1", "continues", None)
    assert found["3"] == (None, None, None)


def test_a_message_that_went_before_a_short_answer_is_an_edit(links: Any) -> None:
    found = links(
        call("fix the bug", "<r>todo</r>", answer="a Done.", id="1"),
        call("fix the bug", "a Done.", "q2", "<r>todo</r>", answer="a fine", id="2"),
    )
    assert found["2"] == ("1", "edit", None)


def test_cleared_calls_and_results_keep_their_parent(links: Any) -> None:
    def turn(n: int, cleared: bool) -> list[dict[str, Any]]:
        asked, result = said(f"c:toolu_{n}"), said(f"t:toolu_{n}")
        if cleared:
            asked["tool_calls"][0]["function"]["arguments"] = "{}"
            result["content"] = "[cleared]"
        return [asked, result]

    records = []
    for n in range(13):
        record = call("u1", answer=f"c:toolu_{n}", id=str(n))
        for earlier in range(n):
            record["request"]["messages"] += turn(earlier, cleared=n == 12 and earlier < 10)
        records.append(record)
    assert links(*records)["12"] == ("11", "edit", None)


def test_any_of_several_answers_can_be_continued(links: Any) -> None:
    first = call("u1", id="1")
    first["response"] = {"choices": [{"index": n, "message": said(text)} for n, text in enumerate(("a one", "a two"))]}
    found = links(first, call("u1", answer="a three", id="2"), call("u1", "a two", "u2", answer="a4", id="3"))
    assert found["3"] == ("1", "continues", None)


def test_an_empty_part_changes_nothing(links: Any) -> None:
    second = call("u1", id="2")
    second["request"]["messages"] += [{"role": "assistant", "content": " "}, said("c:x1"), said("t:x1")]
    first = call("u1", answer="c:x1", id="1")
    first["timestamp"] -= 10
    assert links(first, second)["2"] == ("1", "continues", None)


def test_many_requests_with_one_ending_take_no_time_squared(links: Any) -> None:
    records = [call(f"document {n}", "Summarise this.", answer=f"a{n}", id=str(n)) for n in range(4000)]
    assert all(link == (None, None, None) for link in links(*records).values())


def test_the_same_words_to_two_programs_or_models_are_two_conversations(links: Any) -> None:
    pirate, florist = ("s:You are a pirate.\nBe rude.", "m"), ("s:You sell flowers.\nBe kind.", "m")
    for one, other in ((pirate, florist), (pirate, (pirate[0], "n"))):
        sides = {"a": one, "b": other}
        records = [call(s, "hi", answer="a hello", id=f"{side}1", model=m) for side, (s, m) in sides.items()]
        for side, (s, m) in sides.items():
            records.append(call(s, "hi", "a hello", f"{side}?", answer="a yes", id=f"{side}2", model=m))
        found = links(*records)
        assert (found["a2"], found["b2"]) == (("a1", "continues", None), ("b1", "continues", None))
