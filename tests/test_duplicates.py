"""Records that say the same, exactly and nearly."""

import os
import random
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unspool.model.record import TrainingRecord, TrainingTurn
from unspool.transforms.duplicates import PLACES, Mark, clusters, mark_of, normal_form, repeats, signature, similarity

WORDS = [f"{first}{second}" for first in "ka lo mi ne pu ra so ti".split() for second in "bar den fol gis hun".split()]


def prose(seed: int, length: int) -> list[str]:
    return random.Random(seed).choices(WORDS, k=length)


def record(text: str, name: str = "r", system: str = "You help.", train: bool = False) -> TrainingRecord:
    messages = [("system", system), ("user", "Tell me."), ("assistant", text)]
    turns = [TrainingTurn({"role": role, "content": content}) for role, content in messages]
    turns[-1].train = train
    return TrainingRecord(turns, [], "s", "f", id=name)


def runs(words: list[str]) -> set[tuple[str, ...]]:
    words = ["tell", "me", *words]
    return {tuple(words[place : place + 5]) for place in range(len(words) - 4)}


def call(key: str, arguments: Any) -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": "ls", "arguments": arguments}}


def test_what_the_transport_changes_leaves_the_normal_form() -> None:
    one: list[dict[str, Any]] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": "List"},
        {"role": "assistant", "content": "Yes.", "tool_calls": [call("c1", '{"a":1,"b":2}'), call("c2", "{}")]},
        {"role": "tool", "tool_call_id": "c2", "content": "x"},
        {"role": "tool", "tool_call_id": "c1", "content": "y"},
    ]
    other: list[dict[str, Any]] = [
        {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]},
        {"role": "user", "content": [{"type": "text", "text": "Li"}, {"type": "text", "text": "st"}], "name": None},
        {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."},
        {"role": "assistant", "content": None, "tool_calls": [call("A", {"b": 2, "a": 1}), call("B", "")]},
        {"role": "tool", "tool_call_id": "B", "content": "x\n"},
        {"role": "tool", "tool_call_id": "A", "content": "y"},
    ]
    assert normal_form(one) == normal_form(other)
    other[4]["tool_call_id"], other[5]["tool_call_id"] = "A", "B"
    assert normal_form(one) != normal_form(other)


@pytest.mark.parametrize(
    "changed",
    [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hi!"},
        {"role": "assistant", "content": "Hi", "tool_calls": [call("c", "{}")]},
        {"role": "assistant", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": "x"}]},
    ],
)
def test_what_means_something_else_has_another_form(changed: dict[str, Any]) -> None:
    assert normal_form([{"role": "assistant", "content": "Hi"}]) != normal_form([changed])


@pytest.mark.parametrize("length", [8, 40, 300, 3_000, 30_000])
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_the_estimate_is_near_the_truth(length: int, share: float) -> None:
    misses = []
    for seed in range(8):
        ours = prose(seed, length)
        theirs = list(ours)
        theirs[: max(1, int(length * share))] = prose(seed + 1000, max(1, int(length * share)))
        truth = len(runs(ours) & runs(theirs)) / len(runs(ours) | runs(theirs))
        found = similarity(signature(record(" ".join(ours))), signature(record(" ".join(theirs))))
        misses.append(found - truth)
    assert max(map(abs, misses)) < 0.12  # four times the standard deviation at 0.5
    assert abs(sum(misses) / len(misses)) < 0.04


def test_leaving_out_the_hashes_that_cannot_win_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    long = record(" ".join(prose(1, 60_000)))
    fast = signature(long)
    monkeypatch.setattr("unspool.transforms.duplicates._ENOUGH", 1 << 40)
    assert signature(long) == fast
    monkeypatch.setattr("unspool.transforms.duplicates._ENOUGH", 8)  # far too few: the places left are filled by all
    assert signature(long) == fast


@given(st.text(max_size=60))
def test_any_text_has_a_signature(text: str) -> None:
    value = signature(record(text))
    assert len(value) == PLACES
    assert similarity(value, value) == 1


def test_nothing_said_is_like_nothing() -> None:
    empty = TrainingRecord([TrainingTurn({"role": "system", "content": "You help."})], [], "s", "f", id="a")
    assert signature(empty) == b""
    assert clusters([b"", b"", b""], 0.9) == []


def test_spelling_and_a_shared_system_prompt_do_not_count() -> None:
    assert signature(record("Read the file, then write it.")) == signature(record("read THE file then  write it"))
    prompt = " ".join(prose(7, 5_000))
    one, other = record(" ".join(prose(1, 50)), system=prompt), record(" ".join(prose(2, 50)), system=prompt)
    assert similarity(signature(one), signature(other)) < 0.2


def test_chinese_needs_no_spaces() -> None:
    text = "我们今天讨论如何读取文件然后把结果写回磁盘并且检查每一个错误" * 3
    one, other = signature(record(text + "好")), signature(record(text + "坏"))
    assert 0.8 < similarity(one, other) < 1


def test_a_signature_is_the_same_in_every_process() -> None:
    """And in every release: a completion file may be older than the program that merges it."""
    code = (
        "from test_duplicates import record, prose, mark_of; import msgspec, sys, hashlib;"
        "print(hashlib.sha256(msgspec.json.encode([mark_of(record(' '.join(prose(5, n)))) for n in (3, 900, 20000)]))"
        ".hexdigest())"
    )
    path = os.pathsep.join(sys.path)
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for salt in ("1", "2")
    }
    assert told == {"bf54a95eeb0bdaf5fe8f97828cae88714b10f7f90fc01463a735e43fb3509f9e"}


def near_family(count: int) -> list[TrainingRecord]:
    """Records that differ in their last words."""
    start = " ".join(prose(3, 600))
    return [record(f"{start} {' '.join(prose(100 + n, 4 + n))}", f"n{n}") for n in range(count)]


def test_of_a_cluster_the_longest_stays_then_the_smallest_id() -> None:
    family = near_family(5)
    others = [record(" ".join(prose(50 + n, 600)), f"o{n}") for n in range(5)]
    marks = [mark_of(one) for one in family + others]
    assert repeats(marks, 0.9) == dict.fromkeys(["n0", "n1", "n2", "n3"], "n4")
    same = [mark_of(record("Just the same.", name)) for name in ("b", "a", "c")]
    assert repeats(same) == {"b": "a", "c": "a"}
    assert repeats(same, 0.9) == {"b": "a", "c": "a"}
    assert repeats(marks) == {}


def test_what_is_trained_on_stays_before_what_is_longer() -> None:
    start = " ".join(prose(3, 600))
    trained, longer = record(start, "b", train=True), record(f"{start} and so on", "a")
    assert repeats([mark_of(longer), mark_of(trained)], 0.9) == {"a": "b"}


def altered(value: bytes, places: range) -> bytes:
    return bytes(byte ^ 0x55 if place in places else byte for place, byte in enumerate(value))


def test_a_chain_does_not_drop_what_is_unlike_the_one_that_is_kept() -> None:
    first = random.Random(1).randbytes(PLACES)
    second = altered(first, range(20))
    third = altered(second, range(100, 120))
    assert similarity(first, second) > 0.9 > similarity(first, third) < similarity(second, third)
    assert clusters([first, second, third], 0.9) == [[0, 1]]
    assert clusters([second, first, third], 0.9) == [[0, 1, 2]]


@settings(max_examples=30)
@given(st.randoms(use_true_random=False), st.sampled_from([0.5, 0.7, 0.9, 0.95, 1.0]))
def test_clusters_hold_what_they_promise(chance: random.Random, threshold: float) -> None:
    signatures: list[bytes] = []
    for _ in range(60):
        if signatures and chance.random() < 0.7:
            start = chance.randrange(PLACES)
            signatures.append(altered(chance.choice(signatures), range(start, start + chance.randrange(80))))
        else:
            signatures.append(chance.randbytes(PLACES))
    found = clusters(signatures, threshold)
    dropped = [place for group in found for place in group[1:]]
    assert len(dropped) == len(set(dropped))
    for first, *rest in found:
        assert all(first < place and similarity(signatures[first], signatures[place]) >= threshold for place in rest)
    kept = [place for place in range(len(signatures)) if place not in dropped]
    alike = [
        (one, other)
        for number, one in enumerate(kept)
        for other in kept[number + 1 :]
        if similarity(signatures[one], signatures[other]) >= threshold
    ]
    assert len(alike) <= 1  # a band is missed once in a thousand pairs right at the threshold


def test_the_order_of_shards_does_not_matter() -> None:
    marks = [mark_of(one) for one in near_family(4)] + [mark_of(record("Short.", name)) for name in "xyz"]
    near, exact = repeats(marks, 0.9), repeats(marks)
    assert (len(near), len(exact)) == (5, 2)
    for seed in range(50):
        random.Random(seed).shuffle(marks)
        assert (repeats(marks, 0.9), repeats(marks)) == (near, exact)


def test_a_mark_goes_through_a_file() -> None:
    mark = mark_of(record(" ".join(prose(1, 900)), "r1"))
    written = msgspec.json.encode(mark)
    assert msgspec.json.decode(written, type=Mark) == mark
    assert len(written) < 430
    assert mark_of(record("x", "r1"), near=False).signature == b""
