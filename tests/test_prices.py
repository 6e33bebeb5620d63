"""What a call cost: list prices of its day."""

import sys
from typing import Any

import pytest
from msgspec.structs import replace

from unspool.errors import UnspoolError
from unspool.ingest.sessions import Found
from unspool.jobs.sessions import cost_of
from unspool.model import Facts, Usage
from unspool.model.session import Share, StreamDigest, Tokens
from unspool.transforms.prices import price, rates_of
from unspool.wires import WIRES

pytest.importorskip("genai_prices")

DAY = 1_772_460_000_000
USAGE = Usage(input=1000, cache_read=10_000, cache_write=2000, output=500, cache_write_1h=500)


def test_each_kind_of_token_has_its_price() -> None:
    cost = price("claude-sonnet-4-5", USAGE, DAY, "claude")
    assert cost is not None
    micro = [round(part * 1e6) for part in (cost.input, cost.cache_read, cost.cache_write, cost.output)]
    assert micro == [3000, 3000, round(1500 * 3.75 + 500 * 6), 7500]
    assert cost.total == pytest.approx(sum(micro) / 1e6)


CHAT = {"prompt_tokens": 100, "completion_tokens": 50, "prompt_tokens_details": {"audio_tokens": 60}}
CHAT |= {"completion_tokens_details": {"audio_tokens": 40}}
GEMINI = {
    "promptTokenCount": 100,
    "cachedContentTokenCount": 30,
    "toolUsePromptTokenCount": 10,
    "candidatesTokenCount": 50,
    "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 20}, {"modality": "AUDIO", "tokenCount": 80}],
    "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 25}],
    "toolUsePromptTokensDetails": [{"modality": "AUDIO", "tokenCount": 5}],
    "candidatesTokensDetails": [{"modality": "AUDIO", "tokenCount": 40}],
}
STEPS = {
    "total_input_tokens": 100,
    "total_output_tokens": 50,
    "total_tokens": 150,
    "input_tokens_by_modality": [{"modality": "text", "tokens": 40}, {"modality": "audio", "tokens": 60}],
    "output_tokens_by_modality": [{"modality": "audio", "tokens": 40}],
}


@pytest.mark.parametrize(
    ("wire", "body", "plain"),
    [
        ("openai", {"usage": CHAT}, 40),
        ("gemini", {"usageMetadata": GEMINI}, 20),
        ("interactions", {"usage": STEPS}, 40),
    ],
)
def test_sound_has_a_price_of_its_own(wire: str, body: dict[str, Any], plain: int) -> None:
    usage = WIRES[wire].answer(body).usage
    assert usage is not None
    assert (usage.input, usage.input_audio, usage.output, usage.output_audio) == (plain + 60, 60, 50, 40)
    cost = price("gpt-audio", usage, DAY)
    assert cost is not None
    assert round(cost.input * 1e6) == round(plain * 2.5 + 60 * 32)
    assert round(cost.output * 1e6) == 10 * 10 + 40 * 64
    words = replace(usage, input_audio=0, output_audio=0)
    assert price("claude-sonnet-4-5", usage, DAY) == price(
        "claude-sonnet-4-5", words, DAY
    )  # in whose table it has none


def test_what_later_steps_of_a_stream_wrote_for_an_hour_is_known() -> None:
    def wrote(tokens: int) -> dict[str, Any]:
        parts = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": tokens}
        return {"cache_creation_input_tokens": tokens, "cache_creation": parts}

    steps = [
        {"type": "message", **wrote(100)},
        {"type": "message", **wrote(200)},
        {"type": "advisor_message", **wrote(9)},
    ]
    events = [
        {"type": "message_start", "message": {"content": [], "usage": {"input_tokens": 5, **wrote(100)}}},
        {"type": "message_delta", "delta": {}, "usage": {"cache_creation_input_tokens": 300, "iterations": steps}},
    ]
    usage = WIRES["claude"].answer(WIRES["claude"].fold(events).body).usage
    assert usage is not None
    assert (usage.cache_write, usage.cache_write_1h) == (300, 300)


def test_sound_is_never_more_than_all_that_was_counted() -> None:
    usage = (
        WIRES["openai"]
        .answer({"usage": {**CHAT, "prompt_tokens_details": {"audio_tokens": 90, "cached_tokens": 70}}})
        .usage
    )
    assert usage is not None
    assert (usage.input, usage.input_audio) == (30, 30)


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5-20250929",
        "anthropic/claude-sonnet-4-5",
        "claude-sonnet-4-5[1m]",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    ],
)
def test_routers_and_clouds_spell_models_their_own_way(name: str) -> None:
    assert price(name, USAGE, DAY) == price("claude-sonnet-4-5", USAGE, DAY)


def test_an_unknown_model_has_no_price() -> None:
    assert price("somebody-s-own-model", USAGE, DAY) is None
    assert price(None, USAGE, DAY) is None
    assert price("claude-sonnet-4-5", None, DAY) is None
    assert price("claude-sonnet-4-5", Usage(raw={"input_tokens": 0}), DAY) is None  # whose server does not count


def test_long_prompts_cost_more_where_the_list_says_so() -> None:
    short, long = (rates_of("claude-sonnet-4-5", size, DAY, "claude") for size in (1000, 300_000))
    assert short is not None
    assert long is not None
    assert long.input > short.input


def told(session: Found) -> tuple[float, bool]:
    cost = cost_of(session)
    assert cost.usd is not None
    return round(cost.usd, 6), cost.complete


def test_a_session_costs_what_its_streams_used_and_no_other_session_did() -> None:
    million = Tokens(input=1_000_000)
    main = StreamDigest(tokens=million + million, models={"claude-sonnet-4-5": Share(2, million + million)})
    session = Found(Facts("claude_code", "one", started="2026-03-02T14:00:00Z"), {"main": main}, [])
    assert told(session) == (6.0, True)
    session.copied = million
    assert told(session) == (3.0, True)
    session.streams["agent:a"] = StreamDigest(tokens=million, models={"somebody-s-own-model": Share(1, million)})
    assert told(session) == (3.0, False)


def test_each_model_has_its_price_and_what_has_none_is_the_session_s() -> None:
    million = Tokens(input=1_000_000)
    models = {"claude-sonnet-4-5": Share(2, million), "claude-haiku-4-5": Share(1, million)}
    main = StreamDigest(tokens=million + million + million, models=models)
    session = Found(Facts("claude_code", "one", started="2026-03-02T14:00:00Z"), {"main": main}, [])
    assert told(session) == (3.0 + 1.0 + 3.0, True)


def test_a_time_that_is_none() -> None:
    assert price("claude-sonnet-4-5", USAGE) is not None


def test_without_the_table_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    with pytest.raises(UnspoolError, match=r"pip install 'unspool\[view\]'"):
        price("a-model-that-was-not-asked-for-before", USAGE, DAY)
