"""Shards whose input, parts and output are in object storage."""

from pathlib import Path

import pytest

from buckets import Storage, storage
from conftest import Run
from many import files, many
from unspool.errors import PartsMissing
from unspool.jobs.squash import Settings, squash
from unspool.jobs.squash.merge import merge
from unspool.jobs.squash.sharded import job_for, squash_one_shard

__all__ = ["storage"]
SETTINGS = Settings(key=b"k", filters=("near-duplicates<0.8",))


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many(tmp_path_factory.mktemp("many") / "logs")


def test_shards_in_a_bucket_give_the_same_bytes(storage: Storage, logs: Path, tmp_path: Path) -> None:
    url, out = storage.put(logs), storage.place()
    squash(url, out=tmp_path / "one", settings=SETTINGS, jobs=1)
    for shard in (2, 3):
        squash_one_shard(job_for([url], out, SETTINGS), shard, 3)
    with pytest.raises(PartsMissing):
        merge(out)
    squash_one_shard(job_for([url], out, SETTINGS), 1, 3)
    assert {"parts/plan.json", "parts/00001-of-00003.part"} <= set(storage.files(out))
    merge(out)
    assert storage.files(out) == files(tmp_path / "one")


def test_only_what_changed_in_the_bucket_is_squashed_again(storage: Storage, logs: Path) -> None:
    url, out = storage.put(logs), storage.place()
    job = job_for([url], out, SETTINGS, resume=True)
    shards = range(1, 5)
    assert not any(squash_one_shard(job, shard, 4).kept for shard in shards)
    assert all(squash_one_shard(job, shard, 4).kept for shard in shards)
    storage.write(f"{url}/2026-03-01/parcel-0.jsonl", (logs / "2026-03-02/parcel-1.jsonl").read_bytes())
    assert [squash_one_shard(job, shard, 4).kept for shard in shards].count(False) == 1


def test_the_command_cuts_a_bucket_into_shards(storage: Storage, logs: Path, tmp_path: Path, unspool: Run) -> None:
    url, out = storage.put(logs), storage.place()
    done = unspool("squash", url, "-o", out, "--shards", "3", "--jobs", "2", UNSPOOL_KEY="k")
    assert done.returncode == 0, done.stderr.decode()
    squash(url, out=tmp_path / "one", settings=Settings(key=b"k"), jobs=1)
    assert storage.files(out) == files(tmp_path / "one")
