"""Where HTTP messages end, however their bytes arrive."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.recorder.framing import (
    Body,
    Chunked,
    Refused,
    Sized,
    request_body,
    request_head,
    response_body,
    response_head,
)

PIECES = st.lists(st.binary(min_size=1, max_size=40), max_size=6)
CUTS = st.lists(st.integers(0, 400), max_size=8)


def fed(body: Body, data: bytes, cuts: list[int]) -> tuple[bytes, bytes]:
    """The content, and the bytes behind the body."""
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    content, behind = b"", b""
    for start, end in pairwise(edges):
        piece = data[start:end]
        if body.done:
            behind += piece
            continue
        at, found = body.feed(piece, 0)
        content += b"".join(found)
        behind += piece[at:]
    return content, behind


@given(PIECES, CUTS, st.sampled_from([b"", b"; ext=1", b';a="b"']), st.binary(max_size=30))
def test_chunks_are_found_however_they_are_split(
    pieces: list[bytes], cuts: list[int], ext: bytes, next_: bytes
) -> None:
    wire = b"".join(b"%X%b\r\n%b\r\n" % (len(piece), ext, piece) for piece in pieces)
    body = Chunked()
    content, behind = fed(body, wire + b"0\r\nX-A: b\r\n\r\n" + next_, cuts)
    assert (content, behind, body.done) == (b"".join(pieces), next_, True)
    assert body.trailers == [("x-a", "b")]


@given(st.binary(max_size=60), CUTS, st.binary(max_size=30))
def test_a_length_is_kept_however_bytes_arrive(data: bytes, cuts: list[int], next_: bytes) -> None:
    body = Sized(len(data))
    assert fed(body, data + next_, cuts) == (data, next_)
    assert body.done


@given(st.binary(max_size=200), CUTS)
def test_any_bytes_are_chunks_or_refused(data: bytes, cuts: list[int]) -> None:
    body = Chunked()
    try:
        content, behind = fed(body, data, cuts)
    except Refused:
        return
    assert len(content) + len(behind) <= len(data)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_head_or_refused(data: bytes) -> None:
    for read in (request_head, response_head):
        try:
            head = read(data + b"\r\n\r\n")
        except Refused:
            continue
        assert len(head.lines) == len(head.fields)


@pytest.mark.parametrize("blank", [b"\x0b", b"\x0c", b"\xa0", b"\x85", b"\x1c"])
def test_blanks_that_only_python_knows_hide_nothing(blank: bytes) -> None:
    raw = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + blank + b"chunked\r\n\r\n"
    with pytest.raises(Refused):
        request_body(request_head(raw))


@pytest.mark.parametrize(
    ("status", "method", "empty"),
    [("200 OK", "HEAD", True), ("204 No", "GET", True), ("304 No", "GET", True), ("200 OK", "GET", False)],
)
def test_answers_that_have_no_body(status: str, method: str, empty: bool) -> None:
    head = response_head(f"HTTP/1.1 {status}\r\nContent-Length: 5\r\n\r\n".encode())
    assert response_body(head, method).done is empty
