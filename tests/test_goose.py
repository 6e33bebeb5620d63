from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.transforms.goose import PROMPT, clean

GOOSE = "You are a General-Purpose AI\n agent called  Goose, created by Block."
INFO = "<info-msg>It is 10:00</info-msg>"
IMAGE = {"type": "image_url", "image_url": {"url": "data:,"}}


def entry(*messages: Any, reply: Any = None) -> dict[str, Any]:
    choices = [{"message": reply}] if reply else []
    return {"session_id": "s", "request": {"model": "m", "messages": list(messages)}, "response": {"choices": choices}}


def said(role: str, content: Any, **rest: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **rest}


def cleaned(*messages: Any) -> list[Any]:
    made = clean(entry(*messages))
    assert made is not None
    return list(made["request"]["messages"])


USER = said("user", "Hello")
ANSWER = said("assistant", "Hi")


@pytest.mark.parametrize(
    "content",
    [INFO, f" \n{INFO}\n", [{"type": "text", "text": INFO}], f"{INFO}\n{INFO}", "<info-msg>a\nb</info-msg>"],
)
def test_a_message_that_only_informs_goes(content: Any) -> None:
    assert cleaned(USER, said("user", content), ANSWER) == [USER, ANSWER]


@pytest.mark.parametrize(
    "message",
    [
        said("user", f"{INFO} real question {INFO}"),
        said("user", f"{INFO} real question"),
        said("user", [{"type": "text", "text": INFO}, IMAGE]),
        said("user", "<info-msg>open"),
        said("user", ""),
        said("assistant", INFO),
    ],
)
def test_a_message_that_says_more_stays_whole(message: Any) -> None:
    given = entry(USER, message, said("user", "and"))
    assert clean(given) is given


@pytest.mark.parametrize("role", ["system", "developer"])
@pytest.mark.parametrize("content", [GOOSE, [{"type": "text", "text": GOOSE}]])
def test_a_prompt_that_introduces_goose_becomes_neutral(role: str, content: Any) -> None:
    assert cleaned(said(role, content, name="x"), USER) == [said(role, PROMPT, name="x"), USER]
    assert cleaned(said("user", GOOSE)) == [said("user", GOOSE)]


TITLE = (
    said("system", "Reply with only a description in four words or less of it"),
    said("user", "Here are the first few user messages:\nHello"),
)


def test_an_entry_that_asks_for_a_title_goes() -> None:
    counts: Counter[str] = Counter()
    assert clean(entry(*TITLE, reply=said("assistant", "Greeting the agent")), counts) is None
    assert clean(entry(said("user", INFO), *TITLE, reply=said("assistant", "Greeting")), counts) is None
    assert clean(entry(said("developer", TITLE[0]["content"]), TITLE[1], reply=said("assistant", "Hi")), counts) is None
    assert counts == {"title": 3}


@pytest.mark.parametrize(
    "given",
    [
        entry(*TITLE),
        entry(*TITLE, reply=said("assistant", "")),
        entry(*TITLE, reply=said("assistant", "one two three four five six seven")),
        entry(*TITLE, reply=said("assistant", "Well", tool_calls=[{"id": "c"}])),
        entry(*TITLE, ANSWER, said("user", "And now?"), reply=said("assistant", "Now")),
        entry(TITLE[1], TITLE[0], reply=said("assistant", "Title")),
    ],
)
def test_an_entry_that_asks_for_more_stays(given: dict[str, Any]) -> None:
    assert clean(given) is given


@pytest.mark.parametrize(
    "silent",
    [
        said("assistant", ""),
        said("assistant", " \n"),
        said("assistant", None),
        said("assistant", []),
        said("assistant", [{"type": "text", "text": " "}]),
        said("assistant", "", tool_calls=[], reasoning_content=" "),
        {"role": "assistant"},
    ],
)
def test_silence_before_an_answer_goes(silent: Any) -> None:
    assert cleaned(USER, silent, silent, ANSWER) == [USER, ANSWER]
    assert cleaned(USER, silent, said("user", INFO), ANSWER) == [USER, ANSWER]
    assert cleaned(USER, silent, silent) == [USER, silent]
    assert cleaned(silent, USER) == [silent, USER]


@pytest.mark.parametrize(
    "message",
    [
        said("assistant", "", tool_calls=[{"id": "c"}]),
        said("assistant", "", tool_call_id="c"),
        said("assistant", "", reasoning_content="Hm."),
        said("assistant", None, function_call={"name": "f"}),
        said("assistant", [IMAGE]),
    ],
)
def test_what_says_something_without_text_stays(message: Any) -> None:
    given = entry(USER, message, ANSWER)
    assert clean(given) is given


def test_it_is_counted_and_nothing_is_changed_in_place() -> None:
    given = entry(said("system", GOOSE), said("user", INFO), USER, said("assistant", ""), ANSWER)
    before = repr(given)
    counts: Counter[str] = Counter()
    made = clean(given, counts)
    assert made == entry(said("system", PROMPT), USER, ANSWER)
    assert +counts == {"info": 1, "prompt": 1, "silence": 1}
    assert repr(given) == before
    assert clean(made, counts) is made


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", INFO, GOOSE, "user", "assistant", "system"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "tool_calls", "messages"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(ANYTHING, ANYTHING)
def test_it_never_raises(messages: Any, response: Any) -> None:
    for request in (messages, {"messages": messages}, {"messages": [messages, messages]}):
        made = clean({"request": request, "response": response})
        assert made is None or isinstance(made, dict)
