"""Records that say the same: to the letter, or nearly.

    record ─► Mark (kept in a completion file) ─► repeats(all marks of all shards) ─► which records to drop

Exactly the same are records whose messages have the same normal form: call ids by their position, arguments as values,
thinking and marks of the transport left out. How near two others are is the share of their runs of five words that they
have in common, estimated from signatures of 256 bytes: MinHash, 256 places of one byte each, at 0.9 within 0.02 in two
of three cases. System prompts are left out: an agent's is longer than many a session, and would make all of them alike.

A run of words is hashed once (CRC-32: the same on every machine, no seed, no salt). Its low byte says which place it
competes for, the least hash wins. Where nothing competes for a place, further rounds mix the hashes anew until
something does: so a place is won by the least of one random order of all runs, whatever the length of the record, and
two records agree there as often as their runs do. (Mai and others, On densification for minwise hashing, UAI 2019.)

Measured on 300,000 marks: each takes 600 bytes, in a file 400 and its id; `repeats` takes 500 more a record and 15
microseconds, so a million records take 1.1 GB. The bands of the signatures are gone through one after another: there is
one table at a time. Signatures are made of 15 MB of text a second. (datasketch makes 4, and brings numpy and scipy;
rensa makes 23, and what it hashes to is its own affair: a completion file must outlive a release.)
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from operator import and_
from typing import Any
from zlib import crc32

from msgspec import Struct

from unspool.model.identity import fingerprint
from unspool.model.record import TrainingRecord
from unspool.transforms.counting import other_parts, said, text_of
from unspool.transforms.schemas import answered, arguments_or_text, calls_of

PLACES = 256
LEAST_SIMILAR = 0.5
"""Below, bands must be so short that everything is compared with everything."""
_MISSED = 1e-3
"""How likely a pair right at the threshold may never be compared."""
_ENOUGH = 4096
"""The least of so many hashes win all 256 places, as good as always: 256 ln 256 are expected to."""
_MASK = 0xFFFFFFFF
_STEP, _SPREAD = 0x9E3779B9, 0x85EBCA6B
"""Of the golden ratio, and of MurmurHash's last step: odd, with bits all over."""

_WORDS = bytes(
    byte if byte >= 128 or chr(byte).isalnum() or byte == ord("_") else ord(" ") for byte in bytes(range(256)).lower()
)
_SPACELESS = range(0xE3, 0xEA)
"""First bytes of Chinese and Japanese characters in UTF-8: each is a word, because there are no spaces."""


class Mark(Struct, frozen=True, array_like=True, gc=False):
    """What is kept of a record to compare it by, small enough to lie in a completion file."""

    id: str
    trained: int
    """Characters to train on."""
    length: int
    """All characters."""
    exact: bytes
    """16 bytes of SHA-256."""
    signature: bytes = b""
    """Empty: it was not asked for, or there is nothing to compare."""


def mark_of(record: TrainingRecord, near: bool = True) -> Mark:
    lengths = [len(said(turn.message)) for turn in record.turns]
    trained = sum(length for length, turn in zip(lengths, record.turns, strict=True) if turn.train)
    exact = bytes.fromhex(fingerprint(normal_form(record.messages)))[:16]
    return Mark(record.id, trained, sum(lengths), exact, signature(record) if near else b"")


def repeats(marks: Iterable[Mark], near: float | None = None) -> dict[str, str]:
    """The ids to drop, each with the id that is kept in its place: exact repeats, or those as `near` as this.

    Of several the one with most to train on is kept, then the longest, then the one with the smallest id: whatever
    order the marks come in. What is dropped is always like the one that is kept, not merely like one that is like it.
    """
    best = sorted(marks, key=lambda mark: (-mark.trained, -mark.length, mark.id))
    if near is not None:
        groups: Iterable[list[int]] = clusters([mark.signature for mark in best], near)
    else:
        same: dict[bytes, list[int]] = {}
        for place, mark in enumerate(best):
            same.setdefault(mark.exact, []).append(place)
        groups = same.values()
    return {best[place].id: best[group[0]].id for group in groups for place in group[1:]}


def normal_form(messages: Iterable[dict[str, Any]]) -> list[Any]:
    """Equal for conversations that mean the same. Assistant messages in a row are one."""
    form: list[Any] = []
    places: dict[str | None, int] = {}
    calls = 0
    speaker = None
    for message in messages:
        role = _role(message)
        if role != "assistant" or speaker != "assistant":
            form.append([role])
        speaker = role
        if role == "tool":
            form.append(["answers", places.get(answered(message))])
        if text := text_of(message).strip():
            form.append(["text", text])
        form += [["part", _bare(part)] for part in other_parts(message)]
        for call in calls_of(message):
            places[call.id] = calls = calls + 1
            form.append(["call", call.name, arguments_or_text(call)])
    return form


def _role(message: dict[str, Any]) -> Any:
    match message.get("role"):
        case "developer":
            return "system"
        case "function":
            return "tool"
        case role:
            return role


def _bare(part: Any) -> Any:
    if not isinstance(part, dict):
        return part
    return {key: value for key, value in part.items() if value is not None and key != "cache_control"}


def signature(record: TrainingRecord) -> bytes:
    """256 bytes, or none where there is not a word."""
    text = "\n".join(said(message) for message in record.messages if message.get("role") not in ("system", "developer"))
    words = _words(text)
    if not words:
        return b""
    return _signature(list(map(crc32, _runs(words))))


def _words(text: str) -> list[bytes]:
    data = text.encode(errors="replace").translate(_WORDS)
    if not text.isascii():
        for first in _SPACELESS:
            data = data.replace(bytes((first,)), bytes((ord(" "), first)))
    return data.split()


def _runs(words: list[bytes]) -> Iterable[bytes]:
    """Each five words in a row; fewer only if there are no more."""
    if len(words) < 5:
        return (b" ".join(words),)
    return map(b" ".join, zip(words, words[1:], words[2:], words[3:], words[4:], strict=False))


def _signature(hashes: list[int]) -> bytes:
    least: dict[int, int] = {}
    if len(hashes) > 2 * _ENOUGH:  # most cannot win: leave them out before sorting
        limit = (_ENOUGH << 32) // len(hashes)
        least = _winners([value for value in hashes if value < limit])
    if len(least) < PLACES:
        least = _winners(hashes)
    if len(least) < PLACES:
        hashes = list(set(hashes))
    number = 0
    while len(least) < PLACES:  # ends: in 2³² rounds each hash takes each value once
        number += 1
        step = number * _STEP & _MASK
        least = _winners([_turned((value ^ step) * _SPREAD & _MASK) for value in hashes]) | least
    return bytes([least[place] >> 8 & 0xFF for place in range(PLACES)])


def _winners(hashes: list[int]) -> dict[int, int]:
    """The least hash for each place that any hash has; in descending order, so the last one stays."""
    ordered = sorted(hashes, reverse=True)
    return dict(zip(map(and_, ordered, repeat(0xFF)), ordered, strict=True))


def _turned(value: int) -> int:
    """A product's low bits know only the low bits of its factors: its high bits must say the place."""
    return (value >> 16 | value << 16) & _MASK


def similarity(one: bytes, other: bytes) -> float:
    """The estimated share of runs in common. One place in 256 agrees by chance."""
    differing = int.from_bytes(one, "big") ^ int.from_bytes(other, "big")
    agreeing = differing.to_bytes(PLACES, "big").count(0)
    return max(0.0, (agreeing / PLACES - 1 / 256) / (1 - 1 / 256))


def clusters(signatures: Sequence[bytes], threshold: float) -> list[list[int]]:
    """Places of signatures that are alike, two at least in each cluster; none of them at a second place.

    Give them in order of preference: the first of a cluster is like all others of it, and no cluster's first like
    another's.
    """
    same: dict[bytes, list[int]] = {}
    for place, value in enumerate(signatures):
        if value:
            same.setdefault(value, []).append(place)
    distinct = list(same)
    found: list[list[int]] = []
    for linked in _linked(distinct, threshold):
        leaders: dict[int, list[int]] = {}
        for number in linked:
            leader = next((one for one in leaders if similarity(distinct[one], distinct[number]) >= threshold), number)
            leaders.setdefault(leader, []).extend(same[distinct[number]])
        found += map(sorted, leaders.values())
    return sorted(group for group in found if len(group) > 1)


def _linked(signatures: list[bytes], threshold: float) -> Iterable[list[int]]:
    """Groups that hold all pairs alike, as far as a band of theirs is equal; pairs of one group may be unlike."""
    parents = list(range(len(signatures)))
    find = _finder(parents)
    rows = _rows(threshold)
    for start in range(0, PLACES - rows + 1, rows):
        first: dict[bytes, int] = {}
        others: dict[bytes, list[int]] = {}
        """With the same band, but unlike the first: rare, so they have a table of their own."""
        for number, value in enumerate(signatures):
            band = value[start : start + rows]
            if (leader := first.setdefault(band, number)) == number:
                continue
            for one in (leader, *others.get(band, ())):
                here, there = find(one), find(number)
                if here == there:
                    break
                if similarity(signatures[one], value) >= threshold:
                    parents[max(here, there)] = min(here, there)
                    break
            else:
                others.setdefault(band, []).append(number)
    groups: dict[int, list[int]] = {}
    for number in range(len(signatures)):
        groups.setdefault(find(number), []).append(number)
    return groups.values()


def _finder(parents: list[int]) -> Callable[[int], int]:
    def find(number: int) -> int:
        while (parent := parents[number]) != number:
            parents[number] = number = parents[parent]
        return number

    return find


def _rows(threshold: float) -> int:
    """The longest band that misses next to no pair at the threshold: long bands compare little in vain."""
    fit = [rows for rows in range(1, PLACES + 1) if (1 - threshold**rows) ** (PLACES // rows) <= _MISSED]
    return max(fit, default=1)
