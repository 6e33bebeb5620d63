"""Compactions link to what they compact; what merely looks like one does not."""

from typing import Any

import pytest

from calls import call

SUMMARY = (
    "a We wanted tea. Then the kettle was put on the stove for a while. The milk had gone off by then, sadly. " * 2
)


def test_a_summary_links_to_what_it_compacts(links: Any) -> None:
    summary = "a summary: first the tests were run, and then the login was mended.\n" * 3 + "All is well now."
    found = links(
        call("s:S\nT", "u1", answer="a1", id="1"),
        call("s:S\nT", "u1", "a1", "Summarise, please.", answer=summary, id="2"),
        call("s:S\nT", f"Here is what came before:\n{summary}\nGo on.", answer="a3", id="3"),
    )
    assert found["2"] == ("1", "continues", None)
    assert found["3"] == ("2", "compaction", None)


def test_words_that_agents_begin_a_summary_with_are_known(links: Any) -> None:
    words = "This session is being continued from a previous conversation that ran out of context. The user wanted tea."
    found = links(
        call("s:S\nT", "u1", answer="a1", id="1"),
        call("s:S\nT", "u1", "a1", "u2", answer="a2", id="2"),
        call("s:other", "unrelated", answer="a9", id="x"),
        call("s:S\nT", words, answer="a3", id="3"),
    )
    assert found["3"] == ("2", "compaction", None)


def test_dropped_history_is_a_compaction(links: Any) -> None:
    long = [text for n in range(12) for text in (f"u{n}", f"a{n} with enough words to be known again anywhere")]
    last = "a last word with enough letters to be known again"
    found = links(
        call("s:S", *long, "u12", answer=last, id="1"),
        call("s:S", "u12", last, "u13", answer="a13", id="2"),
    )
    assert found["2"] == ("1", "compaction", None)


def test_a_draft_sent_on_for_review_is_no_compaction(links: Any) -> None:
    draft = "a draft, whose first line is long enough to count.\nAnd its second line is no shorter than that.\n" * 2
    found = links(
        call("s:Help.", "Write something", answer=draft, id="1"),
        call("s:Help.", f"Please proofread this:\n{draft}", answer="a fine", id="2"),
    )
    assert found["2"] == (None, None, None)


@pytest.mark.parametrize("wrap", ["Context: {}", "<summary>{}</summary>", "Before:\n{}\nGo on."])
def test_a_summary_in_other_clothes_is_known_again(links: Any, wrap: str) -> None:
    kettle, milk = "Then the kettle was put on the stove for a while. ", "The milk had gone off by then, sadly."
    summary = f"a We wanted tea. {kettle}{kettle}{milk}"
    found = links(
        call("s:S\nT", "u1", answer="a1", id="1"),
        call("s:S\nT", "u1", "a1", "Summarise, please.", answer=summary, id="2"),
        call("s:S\nT", wrap.format(summary), answer="a3", id="3"),
        call("s:S\nT\n" + summary, "go on", answer="a4", id="4"),
    )
    assert found["3"] == ("2", "compaction", None)
    assert found["4"] == ("2", "compaction", None)


@pytest.mark.parametrize(
    "after",
    [
        ("u1", "u2", f"Another language model started to solve this problem and produced a summary.\n{SUMMARY}"),
        ("context", "a Got it.", f"<state_snapshot>{SUMMARY}</state_snapshot>", "a Got it. Thanks!", "go on"),
        ("reminder one", "reminder two", f"This session is being continued from a previous conversation.\n{SUMMARY}"),
    ],
    ids=["codex", "gemini", "claude"],
)
def test_agents_compact_in_their_own_ways(links: Any, after: tuple[str, ...]) -> None:
    found = links(
        call("s:S\nT", "u1", answer="a1", id="1"),
        call("s:S\nT", "u1", "a1", "u2", "a2", "Summarise the conversation.", answer=SUMMARY, id="2"),
        call("s:S\nT", *after, answer="a3", id="3"),
    )
    assert found["3"] == ("2", "compaction", None)


def test_a_report_in_a_new_task_is_no_compaction(links: Any) -> None:
    found = links(
        call("s:Search.", "find it", answer="c:x1", id="1"),
        call("s:Search.", "find it", "c:x1", "t:x1", answer=SUMMARY, id="2"),
        call("s:Search.", "reminder", f"Verify these findings:\n{SUMMARY}", answer="a3", id="3"),
    )
    assert found["3"] == (None, None, None)


def responses(number: str, items: list[Any], output: list[Any]) -> dict[str, Any]:
    record = call(id=number)
    record["request"] = {"model": "m", "input": items}
    record["response"] = {"id": f"resp_{number}", "object": "response", "status": "completed", "output": output}
    return record


def test_a_sealed_summary_behind_what_the_person_said_is_a_compaction(links: Any) -> None:
    """OpenAI's `/responses/compact` gives the person's messages back with it: they are the first request's too."""
    asked = [{"role": "user", "content": f"question {n}"} for n in range(3)]
    said = [{"role": "assistant", "content": f"answer {n}"} for n in range(3)]
    whole = [item for pair in zip(asked, said, strict=True) for item in pair]
    compacted = [*asked, {"type": "compaction", "encrypted_content": "sealed"}]
    found = links(
        responses("1", whole[:1], said[:1]),
        responses("2", whole[:3], said[1:2]),
        responses("3", whole, compacted),
        responses("4", [*compacted, {"role": "user", "content": "go on"}], said[2:]),
    )
    assert found["4"] == ("3", "compaction", None)


def test_a_sealed_summary_is_a_compaction(links: Any) -> None:
    history = [{"role": "user", "content": f"question {n}"} for n in range(8)]
    sealed = {s: {"type": "compaction", "encrypted_content": f"sealed for {s}"} for s in "ab"}
    found = links(
        responses("a1", history, [sealed["a"]]),
        responses("b1", [*history, {"role": "user", "content": "b"}], [sealed["b"]]),
        responses("a2", [sealed["a"], {"role": "user", "content": "go on"}], []),
    )
    assert found["a2"] == ("a1", "compaction", None)


def test_who_goes_on_behind_a_summary_where_nothing_was_answered_compacts_nothing(links: Any) -> None:
    words = "This session is being continued from a previous conversation that ran out of context. The user wanted tea."
    found = links(
        call("s:S\nT", "u0", "a0", "u1", answer="a1", id="1"),
        call("s:S\nT", words, answer="a2", id="2"),
        call("s:S\nT", words, "a2", "u3", id="3"),
        call("s:S\nT", words, "a2", "u3", "u4", answer="a4", id="4"),
    )
    assert found["2"] == ("1", "compaction", None)
    assert found["4"] == ("3", "continues", None)


def test_a_summary_that_the_answer_began_with_is_known_behind_a_short_word_too(links: Any) -> None:
    def sent(number: str, messages: list[Any], *content: dict[str, Any]) -> dict[str, Any]:
        record = call(id=number)
        record["request"] = {"model": "m", "system": "S", "messages": messages}
        return record | {"response": {"type": "message", "id": f"msg_{number}", "content": list(content)}}

    asked = [{"role": "user", "content": "Tell of owls"}, {"role": "assistant", "content": "An owl"}]
    asked.append({"role": "user", "content": "Go on"})
    told = [{"type": "compaction", "encrypted_content": "sealed"}, {"type": "text", "text": "It flew."}]
    kept = [{"role": "assistant", "content": told}, {"role": "user", "content": "More"}]
    found = links(sent("1", asked, *told), sent("2", kept, {"type": "text", "text": "Far."}))
    assert found["2"] == ("1", "compaction", None)
