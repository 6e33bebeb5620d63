"""Tokens of Copilot CLI: the sum is what the log says of itself, in whatever order it says it."""

from typing import Any

from unspool.model.event import TokenUsage
from unspool.readers.copilot_cli.counting import Counting


def total(*usages: TokenUsage | None) -> tuple[int, ...]:
    told = [usage for usage in usages if usage is not None]
    return tuple(
        sum(getattr(usage, name) for usage in told)
        for name in ("input", "cache_read", "cache_write", "output", "reasoning")
    )


def usage(given: int, answered: int, read: int = 0, written: int = 0) -> dict[str, Any]:
    return {
        "inputTokens": given,
        "outputTokens": answered,
        "cacheReadTokens": read,
        "cacheWriteTokens": written,
        "reasoningTokens": 1,
    }


def shutdown(**models: dict[str, Any]) -> dict[str, Any]:
    return {"modelMetrics": {model: {"requests": {"count": 1}, "usage": told} for model, told in models.items()}}


def test_totals_add_only_what_messages_did_not_tell() -> None:
    counting = Counting()
    said = [counting.said("a", "1", 10), counting.said("a", "2", 20)]
    assert total(*said, *counting.ended(shutdown(a=usage(1000, 35, 700, 100)))) == (200, 700, 100, 35, 1)


def test_an_answer_in_chunks_counts_once() -> None:
    counting = Counting()
    assert total(counting.said("a", "1", 10), counting.said("a", "1", 10), counting.said("a", "1", 12)) == (
        0,
        0,
        0,
        12,
        0,
    )


def test_a_report_and_its_message_count_once_in_either_order() -> None:
    first, second = Counting(), Counting()
    assert total(first.said("a", "1", 10), first.reported("a", usage(100, 10))) == (100, 0, 0, 10, 1)
    assert total(second.reported("a", usage(100, 10)), second.said("a", "1", 10)) == (100, 0, 0, 10, 1)


def test_a_resumed_session_counts_both_runs() -> None:
    counting = Counting()
    one = [counting.said("a", "1", 10), *counting.ended(shutdown(a=usage(100, 10)))]
    two = [counting.said("a", "2", 5), *counting.ended(shutdown(a=usage(50, 5)))]
    assert total(*one, *two) == (150, 0, 0, 15, 2)


def test_totals_since_the_beginning_count_the_first_run_once() -> None:
    counting = Counting()
    one = [counting.said("a", "1", 10), *counting.ended(shutdown(a=usage(100, 10)))]
    two = [counting.said("a", "2", 5), *counting.ended(shutdown(a=usage(150, 15)))]
    assert total(*one, *two)[:4] == (150, 0, 0, 15)


def test_messages_without_a_model_are_found_in_the_totals() -> None:
    counting = Counting()
    said = counting.said(None, "1", 10)
    assert total(said, *counting.ended(shutdown(a=usage(100, 6), b=usage(10, 6))))[:4] == (110, 0, 0, 12)


def test_after_hidden_calls_new_messages_still_count() -> None:
    counting = Counting()
    one = [counting.said("a", "1", 10), *counting.ended(shutdown(a=usage(100, 90)))]
    assert total(*one, counting.said("a", "2", 5))[3] == 95
