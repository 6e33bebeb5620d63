"""Content codings, unpacked piece by piece."""

import gzip
import zlib
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from unspool.sources.coding import Decoder
from unspool.sources.files import Damaged

TEXT = "Zażółć gęślą jaźń. ".encode() * 400


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


PACKED: dict[str, tuple[str, Callable[[bytes], Any]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
    "bare deflate": ("deflate", raw_deflate),
    "zstd": ("zstd", zstd),
    "br": ("br", brotli.compress),
    "two members": ("gzip", lambda data: gzip.compress(data[:500]) + gzip.compress(data[500:])),
    "two frames": ("zstd", lambda data: zstd(data[:500]) + zstd(data[500:])),
    "many members": ("gzip", lambda data: b"".join(gzip.compress(data[at : at + 2]) for at in range(0, len(data), 2))),
    "many frames": ("zstd", lambda data: b"".join(zstd(data[at : at + 2]) for at in range(0, len(data), 2))),
    "one over another": ("gzip, br", lambda data: brotli.compress(gzip.compress(data))),
    "none": ("identity", bytes),
}


@cache
def packed(name: str) -> bytes:
    """Once: to pack many small frames takes much longer than to unpack them."""
    data: bytes = PACKED[name][1](TEXT)
    return data


@pytest.mark.parametrize("name", PACKED)
@given(cuts=st.lists(st.integers(0, 3000), max_size=6))
def test_any_split_unpacks_to_the_same(name: str, cuts: list[int]) -> None:
    codings, data = PACKED[name][0], packed(name)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    decoder = Decoder(codings)
    assert b"".join(decoder.feed(data[a:b]) for a, b in pairwise(edges)) == TEXT


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd", "br"])
def test_what_breaks_off_gives_what_had_arrived(name: str) -> None:
    codings, pack = PACKED[name]
    decoder = Decoder(codings)
    got = decoder.feed(pack(TEXT)[:-9])
    assert TEXT.startswith(got)


@pytest.mark.parametrize("codings", ["gzip", "deflate", "zstd", "br"])
def test_what_is_no_such_thing_is_damaged(codings: str) -> None:
    with pytest.raises(Damaged):
        Decoder(codings).feed(b"\x78{this was never packed}" * 20)


def test_unknown_codings_are_damaged() -> None:
    with pytest.raises(Damaged, match="'secret' is not known"):
        Decoder("gzip, secret")


@pytest.mark.parametrize("name", ["gzip", "deflate", "zstd", "br"])
def test_a_few_bytes_that_stand_for_very_many_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_MAX_RECORD", "1MB")
    codings, pack = PACKED[name]
    with pytest.raises(Damaged, match="more than"):
        Decoder(codings).feed(pack(bytes(20 << 20)))
