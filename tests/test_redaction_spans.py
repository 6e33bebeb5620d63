"""What redaction changes in real traces is reviewed, span by span."""

import json
from pathlib import Path

import pytest

from redaction_spans import REVIEWED, changed_spans

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"
FOLDERS = [SHARED / "corpus", SHARED / "clients"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real traces are not part of this repository")
def test_every_span_that_redaction_changes_in_real_traces_is_reviewed() -> None:
    size, spans = changed_spans(FOLDERS)
    reviews = json.loads(REVIEWED.read_text(encoding="utf-8"))
    assert not [span.name for span in spans if span.name not in reviews]
    wrong = [span.name for span in spans if reviews[span.name]["verdict"] == "wrong"]
    assert len(wrong) <= max(1, size / 100_000_000), wrong


def test_reviews_hold_a_verdict_and_a_reason_and_no_text() -> None:
    for name, review in json.loads(REVIEWED.read_text(encoding="utf-8")).items():
        kind, length, digest = name.split(" ")
        assert kind
        assert int(length) > 0
        assert len(digest) == 16
        assert review["verdict"] in ("right", "wrong")
        assert len(review["reason"]) > 20


def test_the_script_finds_spans(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"x": "token=x9Kd02mQ7vLp4RtZ81Wn"}\n{"y": "nothing"}\n', encoding="utf-8")
    size, spans = changed_spans([tmp_path])
    assert size > 40
    assert [(span.kind, span.length) for span in spans] == [("token", 20)]
