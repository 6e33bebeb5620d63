"""What the generic tests of readers cannot ask of Zed's: packed threads, and messages out of them."""

import gzip
from pathlib import Path

import pytest
import zstandard

from test_readers import FOLDERS, laid_out
from unspool.ingest.logs import open_log
from unspool.ingest.originals import Originals
from unspool.model import Event
from unspool.sources.files import Damaged, unpacked


def test_bytes_are_unpacked_by_what_they_are() -> None:
    text = b"the same " * 1000
    assert unpacked(text) == unpacked(gzip.compress(text)) == unpacked(zstandard.compress(text)) == text
    assert unpacked(zstandard.compress(b"a") + zstandard.compress(b"b")) == b"ab"
    for packed in (gzip.compress(text)[:-5], zstandard.compress(text)[:-5]):
        with pytest.raises(Damaged):
            unpacked(packed)


@pytest.mark.parametrize("case", ["thread.sql", "packed.sql", "sub_agents.sql", "older_threads.sql"])
def test_an_event_comes_from_its_message(case: str, tmp_path: Path) -> None:
    (file,) = laid_out(FOLDERS / "zed" / case, tmp_path)
    log = open_log(str(file))
    assert log is not None
    originals = Originals(log)
    for event in (item for item in log if isinstance(item, Event)):
        came_from = originals.payload(event)
        number = event.key.split(":")[1]
        assert ("messages" in came_from) is not number.isdecimal()
