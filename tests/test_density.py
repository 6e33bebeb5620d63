"""Values of very many tiny lists and objects, which take many times their size in memory, are left out and reported."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from calls import call
from logs import Claude
from test_max_record import peak
from unspool.dialect import Record
from unspool.jobs.cook import cook
from unspool.jobs.show import events, find
from unspool.model import Note
from unspool.sources.density import is_suspicious, most_containers, thinned
from unspool.sources.jsontext import strict_lines
from unspool.sources.live import Framing
from unspool.sources.records import decoded_lines, read_records

MB = 1 << 20
TINY = {
    "lists": b"[" + b",".join([b"[]"] * 5000) + b"]",
    "objects": b"[" + b",".join([b'{"a":{}}'] * 5000) + b"]",
    "keys": b"{" + b",".join(b'"a%05d":{}' % number for number in range(5000)) + b"}",
    "nested": b"[" + b",".join([b"[[[]],[]]"] * 2000) + b"]",
}


@pytest.fixture(autouse=True)
def _one_megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNSPOOL_MAX_RECORD", "1MB")


def with_extra(record: dict[str, Any], extra: bytes) -> bytes:
    return json.dumps(record).encode()[:-1] + b', "extra": ' + extra + b"}"


@pytest.mark.parametrize("kind", TINY)
def test_only_the_value_is_left_out(kind: str) -> None:
    record = {"text": 'a "quoted" \\ [[[[{', "points": [[1, 2], [3, 4]], "none": []}
    data = with_extra({"before": record}, b'{"kept": [1], "tiny": ' + TINY[kind] + b"}")
    assert is_suspicious(data)
    thin, count = thinned(data)
    assert count == max(TINY[kind].count(b"[") + TINY[kind].count(b"{"), 5001)
    assert json.loads(thin) == {
        "before": record,
        "extra": {"kept": [1], "tiny": f"[{count:,} lists and objects left out]"},
    }


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": ' + json.dumps(TINY["lists"].decode()).encode() + b"}",  # as text it takes no more than text
        b'{"a": [' + b",".join([b'{"role":"user","content":"a"}'] * 5000) + b"]}",
        b'{"a": ' + TINY["lists"][:-10],
        b'{"a": ' + b"[[],[]]" * 100 + b"}",
    ],
    ids=["text", "messages", "torn", "few"],
)
def test_other_values_stay(data: bytes) -> None:
    assert thinned(data) == (data, 0)


def test_most_containers_follows_the_record_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert most_containers() == 1024
    monkeypatch.setenv("UNSPOOL_MAX_RECORD", "1GB")
    assert most_containers() == 1 << 20


def test_every_way_to_read_reports_it(tmp_path: Path) -> None:
    line = with_extra({"a": 1}, TINY["lists"])
    path = tmp_path / "trace.jsonl"
    path.write_bytes(b'{"b": 1}\n' + line + b"\n" + line)
    for items in (
        list(read_records(str(path))),
        list(decoded_lines(str(path), [path.read_bytes()], strict_lines)),
        [*(framing := Framing("-")).feed(path.read_bytes()), *framing.close()],
    ):
        assert [type(item) for item in items] == [Record, Note, Record, Note, Record]
        reasons = [item.reason for item in items if isinstance(item, Note)]
        assert "5,001 tiny lists and objects of this record were left out" in reasons[0]


@pytest.mark.parametrize("parts", [1, 1000], ids=["in a line", "over lines"])
def test_a_document_is_read_without_the_value(parts: int, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    extra = TINY["lists"].replace(b",", b",\n", parts - 1)
    path.write_bytes(b"[\n" + b",\n".join([b'{"b": 1}', with_extra({"a": 1}, extra)]) + b"\n]")
    items = list(read_records(str(path)))
    assert [json.loads(item.data) for item in items if isinstance(item, Record)] == [
        {"b": 1},
        {"a": 1, "extra": "[5,001 lists and objects left out]"},
    ]
    assert [item.kind for item in items if isinstance(item, Note)] == ["unreadable"]


@pytest.mark.parametrize("extra", [b"", b' "y":[],'], ids=["record", "request"])
def test_a_call_is_read_without_the_value(extra: bytes, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    line = json.dumps(call("u1", answer="a1")).encode()
    path.write_bytes(line.replace(b'"messages"', b'"x":' + TINY["keys"] + b"," + extra + b'"messages"'))
    cooked = cook(path)
    assert [message.content for message in cooked.messages] == ["u1", "a1"]
    assert [(note.kind, note.origin.line) for note in cooked.notes] == [("unreadable", 1)]


def test_a_log_is_read_without_the_value(tmp_path: Path) -> None:
    log = Claude().user("Mend it").says("Done")
    lines = log.lines().splitlines()
    lines[0] = lines[0][:-1] + b', "extra": ' + TINY["objects"] + b"}"
    for name, data in (("log.jsonl", b"\n".join(lines)), ("packed.jsonl", gzip.compress(b"\n".join(lines)))):
        path = tmp_path / name
        path.write_bytes(data)
        payloads = [payload for _, _, payload in events(find(str(path)).session, payload=True)]
        assert [payload["message"]["content"] for payload in payloads][:1] == ["Mend it"]
        assert payloads[0]["extra"] == "[10,001 lists and objects left out]"


@pytest.mark.parametrize("name", ["cook", "show", "squash", "pretty", "export"])
def test_memory_is_bounded(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """8 MB that would take some 200 MB decoded, and twice that where a command keeps two records."""
    monkeypatch.delenv("UNSPOOL_MAX_RECORD")
    tiny = b"[" + b",".join([b"[]"] * (8 * MB // 3)) + b"]"
    path = tmp_path / "log.jsonl"
    if name == "show":
        lines = Claude().user("Mend it").says("Done").lines().splitlines()
        path.write_bytes(b"\n".join([lines[0][:-1] + b', "extra": ' + tiny + b"}", *lines[1:]]))
    else:
        path.write_bytes(with_extra(call("u1"), tiny))
    ends = {"cook": ["-o", "cooked"], "squash": ["-o", "out"], "export": ["-o", "page.html"]}
    words = ["export", "html"] if name == "export" else [name]
    arguments = [*words, str(path), *(str(tmp_path / end) if end[0] != "-" else end for end in ends.get(name, []))]
    assert peak(*arguments) < 150 + 4 * 8
