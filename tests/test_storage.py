"""Files by URL behave as files by path do: what lists, reads, writes and copies them, each by itself."""

import gzip
from pathlib import Path

import pytest

from buckets import Storage, storage
from unspool.errors import InputNotFound, OutputNotWritable
from unspool.exports.writing import write
from unspool.sources import remote
from unspool.sources import storage as by_path
from unspool.sources.copies import copied, copies
from unspool.sources.files import blocks, expand, is_database, is_packed
from unspool.sources.listing import files_below
from unspool.sources.outputs import Output

__all__ = ["storage"]


@pytest.fixture(params=["s3", "memory", "file"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "s3":
            return str(request.getfixturevalue("storage").place())
        case "memory":
            pytest.importorskip("fsspec")
            return f"memory://{tmp_path.name}"
    pytest.importorskip("fsspec")
    return f"file://{tmp_path}/far"


def test_files_by_url_are_as_files_by_path(place: str, tmp_path: Path) -> None:
    for folder in (place, str(tmp_path / "near")):
        path = by_path.joined(folder, "a.jsonl")
        assert not by_path.exists(path)
        assert by_path.names(folder) == []
        assert (by_path.size(path), by_path.stamp(path)) == (0, "")
        by_path.remove(path)
        by_path.write_bytes(path, b"one\n")
        first = by_path.stamp(path)
        by_path.write_bytes(path, b"another\n")
        assert first != by_path.stamp(path)
        assert by_path.read_bytes(path) == b"another\n"
        by_path.write_bytes(by_path.joined(folder, "inner/b.jsonl.gz"), gzip.compress(b"two\n"))
        by_path.write_bytes(by_path.joined(folder, "inner.jsonl"), b"three\n")
        by_path.write_bytes(by_path.joined(folder, "auth.json"), b"{}")
        assert by_path.names(folder) == ["a.jsonl", "auth.json", "inner.jsonl"]
        assert (by_path.is_folder(folder), by_path.is_folder(path)) == (True, False)
        below = [f"{folder}/{name}" for name in ("a.jsonl", "inner.jsonl", "inner/b.jsonl.gz")]
        assert list(expand([folder])) == below
        assert [found for found, _ in files_below(folder)] == below
        assert [found for found, _ in files_below(folder, below[1], below[2])] == below[1:2]
        assert [b"".join(blocks(found)) for found in below] == [b"another\n", b"three\n", b"two\n"]
        assert list(map(is_packed, below)) == [False, False, True]
        assert not any(map(is_database, below))
        assert list(by_path.looked_into(below)) == below
        by_path.remove(path)
        assert by_path.names(folder) == ["auth.json", "inner.jsonl"]
        with pytest.raises(FileNotFoundError):
            by_path.read_bytes(path)
        with pytest.raises(InputNotFound, match="No such file or directory"):
            list(blocks(path))


def test_a_write_that_fails_leaves_what_was_there(place: str) -> None:
    path = by_path.joined(place, "a.jsonl")
    by_path.write_bytes(path, b"old")

    def pieces() -> object:
        yield b"new"
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputNotWritable, match="No space left"):
        write(Output(path), pieces())  # type: ignore[arg-type]
    assert by_path.read_bytes(path) == b"old"
    assert by_path.names(place) == ["a.jsonl"]


def test_an_object_of_many_pieces_is_read_whole(storage: Storage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_FIRST", 16)
    monkeypatch.setattr(remote, "_LARGEST", 64)
    data = b"".join(b"line %d of many\n" % number for number in range(500))
    url = f"{storage.place()}/a.jsonl"
    storage.write(url, data)
    assert by_path.read_bytes(url) == data
    for looked in by_path.looked_into([url]):
        assert by_path.read_bytes(looked) == data, "from its beginning, which was fetched ahead"


def test_whoever_wants_no_more_leaves_no_object_open(storage: Storage) -> None:
    urls = [f"{storage.place()}/{number}.jsonl" for number in range(5)]
    for url in urls:
        storage.write(url, b"{}\n")
    looked = by_path.looked_into(urls)
    begun = [remote._begun[next(looked)][0] for _ in range(2)]
    looked.close()  # type: ignore[attr-defined]
    assert [file.closed for file in begun] == [True, True]
    assert not remote._begun


def test_copies_never_leave_their_folder(storage: Storage, tmp_path: Path) -> None:
    url = storage.place()
    for name in ("a", "a/../../../up.jsonl", "a/b.jsonl", "node_modules/c.jsonl"):
        storage.write(f"{url}/{name}", b"{}")
    with copies():
        copy = copied(url)
        assert [path.name for path in Path(copy.folder).rglob("*") if path.is_file()] in (["a"], ["b.jsonl"])
        assert copied(url) is copy
        assert copy.named(copy.local(f"{url}/a/b.jsonl")) == f"{url}/a/b.jsonl"
    assert not Path(copy.folder).exists()
    assert not list(tmp_path.iterdir())
