"""A word in many bytes."""

import ctypes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.transforms import scanning

FEW = st.binary(max_size=60).map(lambda data: bytes(b"ab\\u0\0"[byte % 6] for byte in data))
"""Of few letters, so that words are found; a NUL among them."""


@given(FEW, st.one_of(FEW.map(lambda data: data[:6]), FEW))
def test_as_python_finds_it(data: bytes, word: bytes) -> None:
    assert scanning.holds(data, word) is (word in data)


@pytest.mark.parametrize("place", [0, 1, 4095, 4096, 1 << 18])
def test_wherever_it_stands(place: int) -> None:
    data = b"x" * place + b"needle" + b"y" * 7
    assert scanning.holds(data, b"needle")
    assert not scanning.holds(data, b"noodle")
    assert scanning.holds(b"\0" + data, b"needle"), "behind a NUL, too"


def test_where_the_c_library_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "PyDLL", lambda _name: ctypes.CDLL("no such library"))
    scanning._strstr.cache_clear()
    try:
        assert scanning._strstr() is None
        assert scanning.holds(b"a needle", b"needle")
        assert not scanning.holds(b"a noodle", b"needle")
    finally:
        scanning._strstr.cache_clear()
