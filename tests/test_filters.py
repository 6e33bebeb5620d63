"""Filters by their text, what each drops and why; and how many tokens a record has."""

import json
import pickle
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.errors import UnspoolError
from unspool.model.record import TrainingRecord, TrainingTurn
from unspool.model.session import Tokens
from unspool.transforms.counting import BYTES_A_TOKEN, Count, load_tokenizer, tokens_of
from unspool.transforms.filters import FILTERS, Chain, WrongFilter, failed, parse_filter, repeated

USER = {"role": "user", "content": "Fix it"}
ANSWER = {"role": "assistant", "content": "Done."}


def record(*messages: dict[str, Any], name: str = "r", **fields: Any) -> TrainingRecord:
    return TrainingRecord([TrainingTurn(message) for message in messages], [], "s", "f", id=name, **fields)


def calls(*keys: str | None, arguments: str = '{"path": "/a"}') -> dict[str, Any]:
    function = {"name": "read", "arguments": arguments}
    listed = [({"id": key} if key else {}) | {"type": "function", "function": function} for key in keys]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def result(key: str | None, content: Any = "text", **fields: Any) -> dict[str, Any]:
    return {"role": "tool", "content": content} | ({"tool_call_id": key} if key else {}) | fields


def why(text: str, *messages: dict[str, Any]) -> str | None:
    return parse_filter(text).reason(record(*messages))


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([USER, ANSWER], None),
        ([USER, {"role": "assistant", "content": [{"type": "text", "text": "Yes"}]}], None),
        ([USER, {"role": "assistant", "content": None, "refusal": "No."}], None),
        ([USER, {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}], None),
        ([USER, {"role": "assistant", "content": " \n"}], "the last answer is empty"),
        ([USER, {"role": "assistant", "reasoning_content": "Hm."}], "the last answer is empty"),
        ([USER, calls("c") | {"content": "I look."}], "it ends on a call"),
        ([USER, calls("c"), result("c")], "it ends on a result"),
        ([USER, ANSWER, USER], "it ends on a prompt"),
        ([{"role": "developer", "content": "Be brief."}], "it ends on a system prompt"),
        ([{"role": "moderator"}], "it ends on something else"),
        ([], "it is empty"),
    ],
)
def test_ends_on_answer(messages: list[dict[str, Any]], reason: str | None) -> None:
    assert why("ends-on-answer", *messages) == (reason and f"ends-on-answer: {reason}")


@pytest.mark.parametrize(
    ("messages", "answered"),
    [
        ([USER, ANSWER], True),
        ([calls("a", "b"), result("b"), result("a")], True),
        ([calls("a", "b"), result("b"), ANSWER], False),
        ([calls("a"), result("a"), calls("a"), ANSWER], False),
        ([calls("a"), result("a"), calls("a"), result("a")], True),
        ([calls(None, None), result(None), result(None)], True),
        ([calls(None, None), result(None)], False),
        ([calls("a"), result("b")], False),
        ([result("a"), calls("a")], False),
        ([{"role": "assistant", "function_call": {"name": "f"}}, {"role": "function", "name": "f"}], True),
        ([{"role": "assistant", "function_call": {"name": "f"}}, USER], False),
    ],
)
def test_calls_answered(messages: list[dict[str, Any]], answered: bool) -> None:
    assert why("calls-answered", *messages) == (None if answered else "calls-answered: a call has no result")


def test_no_length_stop_looks_at_every_answer() -> None:
    whole = record(USER, ANSWER, USER, ANSWER)
    whole.turns[1].stop = whole.turns[3].stop = "end_turn"
    assert parse_filter("no-length-stop").reason(whole) is None
    whole.turns[1].stop = "max_tokens"
    assert parse_filter("no-length-stop").reason(whole) == "no-length-stop: an answer was cut off"


@pytest.mark.parametrize(
    ("message", "bad"),
    [
        (result("a", "all good"), False),
        (result("a", "all good", is_error=True), True),
        (result("a", "Error: but it is said to be fine", is_error=False), False),
        (result("a", "Error: no such file"), True),
        (result("a", [{"type": "text", "text": "Error: no such file"}]), True),
        (result("a", "Errors are handled in errors.py"), False),
        (result("a", "12 passed, 0 errors\nerror: none"), False),
        (result("a", "Exit code 0\nfine"), False),
        (result("a", "Exit code 127\nsh: not found"), True),
        (result("a", "Exit code: -9"), True),
        (result("a", "Traceback (most recent call last):\n"), True),
        (result("a", "<tool_use_error>x</tool_use_error>"), True),
        (result("a", '{"error": "boom"}'), True),
        (result("a", '{"error": null, "exit_code": 0}'), False),
        (result("a", '{"output": "", "metadata": {"exit_code": 2}}'), True),
        (result("a", '{"success": false}'), True),
        (result("a", "{ broken"), False),
        (result("a", None), False),
    ],
)
def test_which_results_failed(message: dict[str, Any], bad: bool) -> None:
    assert failed(message) is bad


def test_errors_are_a_share_of_the_results() -> None:
    messages = [calls("a", "b", "c"), result("a"), result("b"), result("c", is_error=True)]
    assert why("errors<=0.3", *messages) == "errors<=0.3: too many errors"
    assert why("errors<=0.34", *messages) is None
    assert why("errors<=0", USER, ANSWER) is None


def test_turns_are_prompts_answered_and_steps_are_messages_of_the_model() -> None:
    messages = [USER, calls("a"), result("a"), calls("b"), result("b"), ANSWER]
    assert why("turns>=2", *messages) == "turns>=2: too few turns"
    assert why("turns>=2", *messages, USER, ANSWER) is None
    assert why("turns<=1", *messages, USER) is None
    assert why("steps>=3", *messages) is None
    assert why("steps>3", *messages) == "steps>3: too few steps"


def test_a_loop_is_the_same_call_with_the_same_result() -> None:
    def rounds(*results: str) -> list[dict[str, Any]]:
        spaced = ['{"path": "/a"}', '{ "path":"/a" }']
        pairs = [(calls(f"c{n}", arguments=spaced[n % 2]), result(f"c{n}", text)) for n, text in enumerate(results)]
        return [message for pair in pairs for message in pair]

    assert why("no-loops", *rounds("x", "x", "x")) == "no-loops: too many loops"
    assert why("loops<3", *rounds("x", "y", "x", "y", "x")) == "loops<3: too many loops"
    assert why("no-loops", *rounds("x", "y", "z", "x")) is None
    assert why("loops<2", USER, ANSWER) is None


def test_arguments_fit_is_asked_of_the_tools_of_the_record() -> None:
    pytest.importorskip("jsonschema")
    schema = {"type": "object", "required": ["path"], "properties": {"path": {"type": "integer"}}}
    asked = record(USER, calls("a"), result("a"))
    one = parse_filter("arguments-fit")
    assert one.reason(asked) is None
    asked.tools = [{"type": "function", "function": {"name": "read", "parameters": schema}}]
    assert one.reason(asked) == "arguments-fit: arguments do not fit the schema"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("good", "ends-on-answer"),
        ("", "near-duplicates<0.9"),
        ("turns", "'turns' needs a bound, such as 'turns>=2'"),
        ("near-duplicates", "needs a bound"),
        ("turns>=", "'' is no number"),
        ("turns>=two", "'two' is no number"),
        ("turns=2", "there is no filter 'turns=2'"),
        ("turns>=-1", "'-1' is no number"),
        ("turns>=1.5", "takes a whole number"),
        ("tokens<=inf", "'inf' is no number"),
        ("tokens<=1e3", "'1e3' is no number"),
        ("errors<=30", "takes a share from 0 to 1"),
        ("near-duplicates<0.2", "takes a share from 0.5 to 1"),
        ("near-duplicates>0.9", "takes only <"),
        ("ends-on-answer<3", "there is no filter"),
    ],
)
def test_a_wrong_filter_says_what_is_right(text: str, says: str) -> None:
    with pytest.raises(WrongFilter) as error:
        parse_filter(text)
    assert says in str(error.value)
    assert error.value.exit_status == 2


def test_an_unknown_name_is_told_all_that_exist() -> None:
    with pytest.raises(WrongFilter) as error:
        parse_filter("nonsense")
    assert [text for text in FILTERS if text not in str(error.value)] == []


@pytest.mark.parametrize("text", FILTERS)
def test_every_filter_that_is_named_exists_and_travels_to_another_process(text: str) -> None:
    if text == "arguments-fit":
        pytest.importorskip("jsonschema")
    one = pickle.loads(pickle.dumps(parse_filter(text)))
    assert one.text == text
    good = [USER, calls("a"), result("a"), ANSWER, USER, ANSWER]
    assert one.reason(record(*good)) is None


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
_CALLS = st.lists(st.fixed_dictionaries({}, optional={"id": _VALUES, "function": _VALUES | st.just({"name": "f"})}))
_MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool", "function", None]) | _VALUES},
    optional={"content": _VALUES, "tool_calls": _VALUES | _CALLS, "function_call": _VALUES, "tool_call_id": _VALUES},
)


@given(st.lists(_MESSAGES, max_size=6))
def test_no_message_makes_a_filter_raise(messages: list[dict[str, Any]]) -> None:
    texts = [text for text in FILTERS if text != "arguments-fit" or find_spec("jsonschema")]
    chain = Chain(map(parse_filter, texts))
    assert chain.reason(record(*messages)) is None or chain.dropped.total() == 1
    for text in texts:
        parse_filter(text).reason(record(*messages))
    marking = Chain([parse_filter("near-duplicates<0.9")])
    assert marking.reason(record(*messages)) is None


def test_a_chain_keeps_its_order_and_counts_by_reason() -> None:
    poor = record(USER, calls("a"), name="poor")
    fine = record(USER, ANSWER, name="fine")
    for texts in (["calls-answered", "ends-on-answer"], ["ends-on-answer", "calls-answered"]):
        chain = Chain(map(parse_filter, texts))
        assert [chain.reason(one) is None for one in (poor, fine, poor)] == [False, True, False]
        assert chain.kept == 1
        ((reason, count),) = chain.dropped.items()
        assert reason.startswith(f"{texts[0]}: ")
        assert count == 2
        assert chain.marks == []


def test_duplicates_come_last_and_are_counted_each_by_its_own_reason() -> None:
    """The longest record is dropped for another reason: its repeats must not go with it."""
    text = " ".join(f"word{n % 83} and{n % 17}" for n in range(400))
    filters = [parse_filter(text) for text in ("no-duplicates", "near-duplicates<0.9", "ends-on-answer")]
    said = {"role": "assistant", "content": text}
    records = [
        record(USER, said, USER, name="longest"),
        record(USER, said, name="a"),
        record(USER, said, name="b"),
        record(USER, {"role": "assistant", "content": text + " and this"}, name="c"),
        record(USER, ANSWER, name="d"),
    ]
    first, second = Chain(filters), Chain(filters)  # two shards
    for chain, part in ((first, records[:3]), (second, records[3:])):
        for one in part:
            chain.reason(one)
    assert repeated(filters, second.marks + first.marks) == {
        "b": "no-duplicates: another record says the same",
        "a": "near-duplicates<0.9: another record says nearly the same",
    }
    assert first.dropped == {"ends-on-answer: it ends on a prompt": 1}


def test_tokens_are_what_the_provider_counted_for_the_last_call() -> None:
    one = record(USER, ANSWER, USER, ANSWER)
    one.turns[1].generated = one.turns[3].generated = True
    one.turns[1].tokens = Tokens(input=100, output=10)
    one.turns[3].tokens = Tokens(input=5, cache_read=110, cache_write=7, output=20, reasoning=15)
    assert tokens_of(one) == Count(142, "usage")
    assert parse_filter("tokens<=141").reason(one) == "tokens<=141: too many tokens"
    assert parse_filter("tokens<=142").reason(one) is None


def test_messages_of_one_call_are_counted_once_and_what_follows_is_estimated() -> None:
    one = record(USER, ANSWER, calls("a"))
    for turn in one.turns[1:]:
        turn.generated = True
    one.turns[1].tokens = Tokens(input=100, output=10)
    assert tokens_of(one) == Count(110, "usage")
    one.turns.append(TrainingTurn(result("a", "x" * 3600)))
    assert tokens_of(one) == Count(110 + 1000 + 4, "estimate")


def test_usage_without_the_prompt_says_nothing() -> None:
    one = record(USER, ANSWER)
    one.turns[1].generated, one.turns[1].tokens = True, Tokens(output=10_000)
    assert tokens_of(one).source == "estimate"
    assert tokens_of(one).number < 20


def test_the_estimate_goes_by_bytes_and_holds_thinking_calls_and_tools() -> None:
    size = 36_000

    def estimate(**message: Any) -> int:
        return tokens_of(record({"role": "assistant"} | message)).number

    expected = pytest.approx(size / BYTES_A_TOKEN, rel=0.01)
    assert estimate(content="x" * size) == expected
    assert estimate(content="中" * (size // 3)) == expected
    assert estimate(reasoning_content="x" * size) == expected
    assert estimate(tool_calls=calls("a", arguments="x" * size)["tool_calls"]) == expected
    tooled = record(USER)
    tooled.tools = [{"type": "function", "function": {"name": "f", "description": "x" * size}}]
    assert tokens_of(tooled).number == expected
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 1_000_000}}
    assert estimate(content=[picture]) == 1004


@pytest.fixture
def tokenizer(tmp_path: Path) -> str:
    """A real one, of whole words."""
    tokenizers = pytest.importorskip("tokenizers")
    vocabulary = {"[UNK]": 0, "Fix": 1, "it": 2}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    made.save(str(path))
    return str(path)


def test_a_tokenizer_file_counts(tokenizer: str) -> None:
    one = record({"role": "user", "content": "Fix it, fix it \ud800"}, {"role": "assistant", "content": "Fix"})
    assert tokens_of(one, load_tokenizer(tokenizer)) == Count(6 + 4 + 1 + 4, "tokenizer")
    assert parse_filter("tokens<=14", tokenizer).reason(one) == "tokens<=14: too many tokens"
    assert pickle.loads(pickle.dumps(parse_filter("tokens<=15", tokenizer))).reason(one) is None


def test_a_tokenizer_file_that_is_none_or_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other.json"
    other.write_text(json.dumps({"a": 1}))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UnspoolError, match=r"pip install 'unspool\[tokenizer\]'"):
        parse_filter("tokens<=5", str(other))
    monkeypatch.undo()
    pytest.importorskip("tokenizers")
    with pytest.raises(UnspoolError, match=r"other\.json is no tokenizer file"):
        parse_filter("tokens<=5", str(other))
