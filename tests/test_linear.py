"""Texts that anybody may have written cost no more than their length: nothing is looked for again and again.

Each text is built so that a search that starts anew at each place, and runs to the end, takes minutes for it.
"""

import time
from collections.abc import Callable
from typing import Any

import pytest

from calls import call
from unspool.actions.javascript import calls
from unspool.actions.patch import carried
from unspool.model import Exchange, Message, Origin, Response, Text, ToolUse
from unspool.readers.aider.thoughts import parted as thoughts
from unspool.readers.claude_code.tags import said
from unspool.readers.cline.tags import answer_parts, folder_in, model_in, prompt_parts
from unspool.readers.codex.texts import DELEGATED, _asked
from unspool.readers.cursor.prompts import parted
from unspool.readers.pi.messages import _preface
from unspool.sources.jsontext import Unreadable, mend, spans
from unspool.sources.sse import events
from unspool.transforms.relations import relate
from unspool.transforms.tree import grow

LENGTH, SECONDS = 400_000, 5.0
PATCH = "*** Begin Patch\n*** Delete File: a\n*** End Patch"

CASES: list[tuple[str, Callable[[str], Any], str, str, str]] = [
    # name, what reads it, how the text begins, what it repeats, how it ends
    ("aider: thoughts that nobody closed", thoughts, "", "<think>", ""),
    ("aider: each of another name", thoughts, "", "<thinking-content-7b>\n<thinking>", ""),
    ("aider: dashes", thoughts, "think", "-", ""),
    ("aider: blanks", thoughts, "<think>", " \n", ""),
    ("javascript: quotes", calls, "", '\\"[', ""),
    ("javascript: templates", calls, "", "\\`", ""),
    ("javascript: comments", calls, "", "/*=", ""),
    ("javascript: regular expressions", calls, "", "=/[", ""),
    ("objects: brackets", lambda text: list(spans(text)), "", "[\n", ""),
    ("objects: blanks", lambda text: list(spans(text)), "", " ", "{"),
    ("JSON: quotes that nobody closed", lambda text: _quietly(mend, text), "[" * 2000 + '"', '\\"', ""),
    ("patch: heredocs in one line", carried, "", "<<n ", PATCH),
    ("patch: blank lines behind a folder", carried, f"{PATCH}\ncd x", "\n", "apply_patch;"),
    ("patch: blanks behind the tool", carried, f"{PATCH}\napply_patch", " ", "x"),
    ("claude: reminders", lambda text: list(said(text)), "x", "<system-reminder>", ""),
    ("claude: a tag without an end", lambda text: list(said(text)), "<", "-", ""),
    ("claude: blanks behind an announcement", lambda text: list(said(text)), "[SYSTEM NOTIFICATION", " ", ""),
    ("codex: what was passed on, unclosed", lambda text: list(_asked(text)), DELEGATED, "<input>", ""),
    ("cline: parameters of many names", lambda text: list(answer_parts(text)), "<read_file>", "NAMES", "</read_file>"),
    ("cline: feedback", lambda text: prompt_parts(text, bare=True), "</task>", "\n<task>", ""),
    ("cline: folders", folder_in, "", "# Current Working Directory (", ""),
    ("cline: models", model_in, "", "<model>", ""),
    ("cursor: times", parted, "", "<timestamp>", ""),
    ("stream: JSON that never ends", lambda text: list(events(text)), "", 'data: {"a":\n', ""),
    ("stream: lines that are no JSON", lambda text: list(events(text)), "", "data: x\n", ""),
    ("openclaw: senders", _preface, "", "A(untrusted", ""),
    ("openclaw: senders that nobody closed", _preface, "", "A (untrusted):\n```json\n", ""),
    ("openclaw: many things that happened", _preface, "", "System: [a]\n", ""),
    ("openclaw: what others said, unclosed", _preface, "", "[Chat messages since your last reply - for context]\n", ""),
]


def _quietly(work: Callable[[str], Any], text: str) -> None:
    with pytest.raises(Unreadable):
        work(text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_twice_the_text_costs_twice_the_time(case: tuple[str, Callable[[str], Any], str, str, str]) -> None:
    _, work, begin, piece, end = case
    middle = (
        "".join(f"<a{n}></a{n}>" for n in range(LENGTH // 14)) if piece == "NAMES" else piece * (LENGTH // len(piece))
    )
    text = begin + middle + end
    before = time.process_time()
    work(text)
    assert time.process_time() - before < SECONDS


def test_twice_the_paths_of_a_session_cost_twice_the_time() -> None:
    """A conversation that was taken back to its beginning again and again, and one with as many sub-agents."""
    edits = [_call(at, f"Try {at}", "Opened the gate") for at in range(8000)]
    helpers: list[Exchange] = []
    asked: tuple[Message, ...] = ()
    for at in range(2000):
        use = ToolUse(f"c{at}", "Task", {"prompt": f"Search shed {at}"})
        asked = (*asked, Message("user", (Text(f"And shed {at}?"),)))
        helpers.append(_exchange(asked, Message("assistant", (use,)), stream_id="main"))
        asked = (*asked, helpers[-1].response.messages[0])
        helpers.append(_call(at, f"Search shed {at}", "Empty", stream_id=f"agent:{at}", spawned_by=use.id))
    before = time.process_time()
    found, others = relate(grow(edits)), relate(grow(helpers))
    assert time.process_time() - before < SECONDS
    assert [leaf.relation for leaf in found] == ["main"] + ["edit"] * (len(edits) - 1)
    assert {leaf.call for leaf in others} == {None, *(f"c{at}" for at in range(2000))}


def test_a_question_under_thousands_of_prompts_takes_no_time_squared(links: Any) -> None:
    def prompt(number: int) -> str:
        return "s:" + "\n".join(f"Chapter {number}, page {page} of {number * 31}" for page in range(9))

    records = [call(prompt(n), "Summarise this.", answer=f"a{n}", id=str(n)) for n in range(4000)]
    again = call(prompt(7), "Summarise this.", answer="a once more", id="again")
    further = call(prompt(9), "Summarise this.", "a9", "Shorter.", answer="a short", id="further")
    before = time.process_time()
    found = links(*records, again, further)
    assert time.process_time() - before < SECONDS
    assert all(found[str(n)] == (None, None, None) for n in range(4000))
    assert (found["again"], found["further"]) == ((None, None, "7"), ("9", "continues", None))


def test_one_word_said_to_thousands_of_held_answers_takes_no_time_squared(links: Any) -> None:
    records = []
    for n in range(16_000):
        held = {} if n == 0 else {"previous_response_id": f"resp_{n - 1}"}
        records.append(
            {
                "id": str(n),
                "timestamp": 1_700_000_000 + n,
                "request": {"model": "m", "input": "Go on.", **held},
                "response": {"object": "response", "id": f"resp_{n}", "status": "completed", "output": []},
            }
        )
    records.append({**records[3], "id": "again", "timestamp": 1_800_000_000})
    before = time.process_time()
    found = links(*records)
    assert time.process_time() - before < SECONDS
    assert found["15999"] == ("15998", "continues", None)
    assert found["again"] == ("2", "retry", "3")


def _call(at: int, prompt: str, answer: str, **extra: Any) -> Exchange:
    opening = Message("user", (Text("Look after the garden"),)), Message("assistant", (Text("Gladly"),))
    asked = Message("user", (Text(prompt),))
    messages = (asked,) if extra else (*opening, asked)
    return _exchange(messages, Message("assistant", (Text(f"{answer} {at}"),)), **extra)


def _exchange(messages: tuple[Message, ...], answer: Message, **extra: Any) -> Exchange:
    return Exchange(Origin("a.jsonl", 1, 0, 1), "openai", messages, response=Response((answer,)), extra=extra)
