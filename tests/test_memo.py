"""What is remembered is bounded, and forgetting changes nothing that is read."""

import json

import msgspec

from calls import call
from unspool.dialect import Record
from unspool.ingest.known import KnownRuns
from unspool.ingest.memo import Memo
from unspool.ingest.traffic import Traffic
from unspool.model import Origin


def test_what_was_used_lately_survives() -> None:
    memo: Memo[int] = Memo(size=10)
    memo.put(b"aaaa", 1)
    memo.put(b"bbbb", 2)
    memo.put(b"cccc", 3)  # over the bound: a and b grow old
    assert memo.get(b"aaaa") == 1  # and a is young again
    memo.put(b"dddd", 4)
    memo.put(b"eeee", 5)
    assert memo.get(b"aaaa") == 1
    assert memo.get(b"bbbb") is None


def test_runs_are_forgotten_from_the_oldest_on() -> None:
    runs = KnownRuns(keys=["messages"], size=20_000)
    lines = [
        json.dumps(call(f"s:{n}", *[f"{n} {turn} " + "words " * 200 for turn in range(5)])).encode() for n in range(9)
    ]
    for line in lines:
        items = [msgspec.json.encode(item) for item in json.loads(line)["request"]["messages"]]
        spaced = line.replace(b", ", b",").replace(b": ", b":")
        runs.learn(spaced, None, items, [], "openai")
        assert runs._held <= 30_000
    assert 1 <= len(runs._runs) < 9
    assert set(runs._runs) == set(range(9 - len(runs._runs), 9))


def test_a_small_memory_reads_the_same() -> None:
    records = []
    for turn in range(1, 8):
        for name in "xyz":
            said = [f"{name} {n} " + "words " * 300 for n in range(turn)]
            records.append(json.dumps(call(f"s:{name}", *said, answer="a", id=f"{name}{turn}")).encode())
    forgetful = Traffic()
    forgetful._runs = KnownRuns(keys=["messages"], size=1)
    for reader in (forgetful, Traffic()):
        found = [list(reader.read(Record(data, Origin("x", 1, 0, 0)))) for data in records]
        assert msgspec.json.encode(found) == msgspec.json.encode(
            [list(Traffic().read(Record(data, Origin("x", 1, 0, 0)))) for data in records]
        )
