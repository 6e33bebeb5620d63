"""Squash in shards: the same bytes as without, whatever was cut, killed, changed or run at once."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from conftest import Run
from many import WORDS, entry, files, long_sessions, many, says, session, write
from recorders import eventually
from unspool.engine.local import each
from unspool.errors import EngineFailed, PartsMissing, StrictFault, UnspoolError
from unspool.jobs.squash import Settings, squash, tasks
from unspool.jobs.squash.merge import merge
from unspool.jobs.squash.plan import Plan, cut
from unspool.jobs.squash.shard import planned, squash_shard
from unspool.jobs.squash.sharded import Sharding, job_for, squash_in_shards, squash_one_shard
from unspool.jobs.squash.tasks import listed

KEY = b"k"
WAYS = {
    "plain": Settings(key=KEY),
    "one file": Settings(key=KEY, single_file=True, inline=True, anonymize=True),
    "scenarios": Settings(key=KEY, group_by="scenario", clean_up="goose"),
    "tree": Settings(key=KEY, strategy="tree", filters=("no-duplicates",)),
    "pairs": Settings(key=KEY, strategy="tree", pairs=True),
    "atif": Settings(key=KEY, to="atif", strategy="tree"),
    "sts": Settings(key=KEY, to="sts"),
    "sharegpt": Settings(key=KEY, to="sharegpt", filters=("turns>=1", "no-duplicates", "near-duplicates<0.8")),
    "parquet": Settings(key=KEY, to="parquet", single_file=True, filters=("near-duplicates<0.8",)),
}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many(tmp_path_factory.mktemp("many") / "logs")


@pytest.mark.parametrize("way", WAYS)
def test_shards_give_the_same_bytes(logs: Path, tmp_path: Path, way: str) -> None:
    """On one process, on two, in shards that are squashed in any order, and in shards on two processes."""
    if way == "parquet":
        pytest.importorskip("pyarrow")
    settings = WAYS[way]
    squash(logs, out=tmp_path / "one", settings=settings, rejects=str(tmp_path / "one/rejects"), jobs=1)
    squash(logs, out=tmp_path / "two", settings=settings, rejects=str(tmp_path / "two/rejects"), jobs=2)
    for shard in (3, 1, 4, 2):
        squash_one_shard(job_for([str(logs)], str(tmp_path / "parts"), settings), shard, 4)
    merge(str(tmp_path / "parts"), rejects=str(tmp_path / "parts/rejects"))
    job = job_for([str(logs)], str(tmp_path / "all"), settings)
    squash_in_shards(job, Sharding(jobs=2, shards=5), rejects=str(tmp_path / "all/rejects"))
    wanted = files(tmp_path / "one")
    assert len(wanted) > 5
    assert all(files(tmp_path / other) == wanted for other in ("two", "parts", "all"))


def test_the_logs_hold_what_makes_this_hard(logs: Path, tmp_path: Path) -> None:
    squash(logs, out=tmp_path / "out", settings=WAYS["sharegpt"], rejects=str(tmp_path / "rejects"))
    counts = json.loads((tmp_path / "out/summary.json").read_bytes())["counts"]
    assert counts["records filtered, no-duplicates: another record says the same"] >= 1
    assert counts["records filtered, near-duplicates<0.8: another record says nearly the same"] >= 1
    assert counts["redacted: anthropic-key"] >= 12
    assert counts["sessions invalid: time"] == 1
    assert len((tmp_path / "rejects").read_bytes().splitlines()) >= 4


@given(st.lists(st.integers(0, 10**9), max_size=40), st.none() | st.integers(1, 30), st.integers(1, 8))
def test_each_file_is_in_one_shard(sizes: list[int], shards: int | None, workers: int) -> None:
    found = [((0, f"{number:03}"), size) for number, size in enumerate(sizes)]
    plan = Plan(["logs"], None, cut(found, shards, workers))
    assert plan.shards == (shards or plan.shards)
    held = []
    for shard in range(1, plan.shards + 1):
        start, end = plan.stretch(shard)
        held += [key for key, _ in found if start <= key and (end is None or key < end)]
    assert held == [key for key, _ in found]
    assert sum(one.files for one in plan.cuts) == len(sizes)


def test_shards_are_about_equal() -> None:
    plan = Plan([], None, cut((((0, f"{number:06}"), 10**6) for number in range(50_000)), 100))
    assert max(one.bytes for one in plan.cuts) < 1.1 * min(one.bytes for one in plan.cuts)


def test_a_stretch_lists_what_a_part_of_the_whole_would(logs: Path, tmp_path: Path) -> None:
    """Files, folders that lie in one another, agents' logs whose sessions are spread over files."""
    given_ = [str(logs / "2026-03-02"), str(logs), str(logs / "others/logs"), str(logs / "2026-03-01/parcel-0.jsonl")]
    out = str(tmp_path / "out")
    for strategy in ("snapshot", "tree"):
        whole = tasks(given_, out, strategy)
        assert len({task.path for task in whole}) > 20
        plan = Plan(given_, None, cut(listed(given_, out, None), 9))
        cut_up = [task for shard in range(1, 10) for task in tasks(given_, out, strategy, None, plan.stretch(shard))]
        assert cut_up == whole


def test_what_is_missing_is_named_and_nothing_is_written(logs: Path, tmp_path: Path, unspool: Run) -> None:
    out = tmp_path / "out"
    assert unspool("squash", "--merge", out).returncode == 2
    for shard in ("2/6", "6/6"):
        assert unspool("squash", logs, "-o", out, "--shard", shard, "--no-redact").returncode == 0
    done = unspool("squash", "--merge", out)
    assert done.returncode == 1
    assert b"shards 1, 3\xe2\x80\x935 of 6 are missing" in done.stderr
    assert [path.name for path in out.iterdir()] == ["parts"]
    assert not list(out.rglob("*.jsonl"))
    done = unspool("squash", logs, "-o", out, "--resume", "--no-redact")
    assert b"2 shards of an earlier run were good still" in done.stderr
    assert unspool("squash", logs, "-o", tmp_path / "plain", "--no-redact").returncode == 0
    assert files(out) == files(tmp_path / "plain")


def test_two_that_run_at_once_do_not_disturb_each_other(logs: Path, tmp_path: Path, unspool: Run) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "unspool", "squash", str(logs), "-o", str(out), "-q", "--no-redact"]
    running = [subprocess.Popen([*command, "--shard", f"{shard}/3"]) for shard in (1, 2, 3, 1)]
    assert [process.wait(120) for process in running] == [0, 0, 0, 0]
    assert unspool("squash", "--merge", "-o", out).returncode == 0
    assert unspool("squash", logs, "-o", tmp_path / "plain", "--no-redact").returncode == 0
    assert files(out) == files(tmp_path / "plain")


def kept(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "parts").glob("*.done.json")}


def test_only_what_changed_is_squashed_again(tmp_path: Path) -> None:
    logs, out = many(tmp_path / "logs"), tmp_path / "out"
    settings, how = WAYS["sharegpt"], Sharding(shards=6, jobs=1, keep_parts=True)
    job = job_for([str(logs)], str(out), settings, resume=True)
    squash_in_shards(job, how)
    before = kept(out)
    (logs / "2026-03-01/parcel-0.jsonl").touch()
    squash_in_shards(job, how)
    assert kept(out) == before, "a newer time alone is no change"
    session(logs, "2026-03-01/parcel-0.jsonl", "quite another text, and longer than it was before")
    squash_in_shards(job, how)
    assert len(dict(before.items() - kept(out).items())) == 1
    before = kept(out)
    session(logs, "zzz/new.jsonl", "it was not there before")
    (logs / "2026-03-01/twin-a.jsonl").unlink()
    squash_in_shards(job, how)
    assert len(dict(before.items() - kept(out).items())) == 2
    squash(logs, out=tmp_path / "plain", settings=settings)
    assert {name: data for name, data in files(out).items() if "parts/" not in name} == files(tmp_path / "plain")
    before = kept(out)
    squash_in_shards(replace(job, settings=replace(job.settings, key=b"other")), how)
    assert not before.items() & kept(out).items(), "another key makes other placeholders"


def test_shards_of_other_options_are_not_joined(logs: Path, tmp_path: Path) -> None:
    for shard, way in ((1, "plain"), (2, "scenarios"), (3, "plain")):
        squash_one_shard(job_for([str(logs)], str(tmp_path), WAYS[way]), shard, 3)
    with pytest.raises(PartsMissing, match=r"other options.* than shard 1: shard 2 of 3"):
        merge(str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


def test_a_damaged_part_is_named(logs: Path, tmp_path: Path) -> None:
    for shard in (1, 2):
        squash_one_shard(job_for([str(logs)], str(tmp_path), WAYS["plain"]), shard, 2)
    part = tmp_path / "parts/00002-of-00002.part"
    whole = part.read_bytes()
    for damaged in (whole[:-5], whole[:4000], b"", whole.replace(b"part 2", b"part 9"), whole[:15] + b"\xc1" * 9):
        part.write_bytes(damaged)
        with pytest.raises(UnspoolError, match=r"00002-of-00002\.part is damaged or gone: squash shard 2 again"):
            merge(str(tmp_path))
        assert [path.name for path in tmp_path.iterdir()] == ["parts"]
    part.with_name("00001-of-00002.done.json").write_text("{}")
    with pytest.raises(UnspoolError, match="is none of this version"):
        merge(str(tmp_path))


def test_a_machine_that_does_not_see_the_input_says_so(tmp_path: Path) -> None:
    logs, out = many(tmp_path / "logs"), str(tmp_path / "out")
    job = job_for([str(logs)], out, WAYS["plain"])
    with pytest.raises(UnspoolError, match="no plan of the run is there"):
        squash_shard(job, 1)
    planned(job, 2)
    logs.rename(tmp_path / "elsewhere")
    with pytest.raises(UnspoolError, match="logs"):
        squash_shard(job, 1)
    logs.mkdir()
    with pytest.raises(UnspoolError, match=r"none of the \d+ files of a shard is here"):
        squash_shard(job, 1)
    assert [path.name for path in (tmp_path / "out/parts").iterdir()] == ["plan.json"]


def test_the_key_is_in_no_part(logs: Path, tmp_path: Path) -> None:
    key = b"a key that nobody may read"
    squash_one_shard(job_for([str(logs)], str(tmp_path), Settings(key=key)), 1, 1)
    assert all(key not in data and b"YSBrZXkg" not in data for data in files(tmp_path).values())


def test_strict_ends_a_shard_and_leaves_no_completion(logs: Path, tmp_path: Path) -> None:
    job = job_for([str(logs)], str(tmp_path / "out"), Settings(key=KEY, strict=True))
    with pytest.raises(StrictFault) as in_shards:
        squash_in_shards(job, Sharding(shards=4, jobs=2))
    with pytest.raises(StrictFault) as whole:
        squash(logs, out=tmp_path / "plain", settings=job.settings)
    assert str(in_shards.value) == str(whole.value)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"parts"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_no_text(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    session(logs, "a.jsonl", WORDS)
    odd = os.fsdecode(b"odd-\xff\xfe.jsonl")
    write(logs, odd, entry("s", 1, [says("user", "a")], "b"), "[]", "nothing")
    settings = Settings(key=KEY, group_by="scenario")
    squash(logs, out=tmp_path / "plain", settings=settings, rejects=str(tmp_path / "plain/rejects"))
    for shard in (1, 2, 3):
        squash_one_shard(job_for([str(logs)], str(tmp_path / "out"), settings), shard, 3)
    merge(str(tmp_path / "out"), rejects=str(tmp_path / "out/rejects"))
    assert files(tmp_path / "out") == files(tmp_path / "plain")


def test_a_run_that_was_killed_goes_on(tmp_path: Path, unspool: Run) -> None:
    logs, out = long_sessions(tmp_path / "logs", 16), tmp_path / "out"
    options = ["--filter", "near-duplicates<0.9", "--no-redact"]
    command = [sys.executable, "-m", "unspool", "squash", str(logs), "-o", str(out), *options]
    process = subprocess.Popen([*command, "--resume", "--shards", "8", "--jobs", "1", "-q"])
    eventually(lambda: len(kept(out)) >= 2)
    process.send_signal(signal.SIGKILL)
    process.wait(60)
    before = kept(out)
    assert 2 <= len(before) < 8
    done = unspool("squash", logs, "-o", out, *options, "--resume")
    assert f"{len(before)} shards of an earlier run were good still".encode() in done.stderr
    assert unspool("squash", logs, "-o", tmp_path / "plain", *options).returncode == 0
    assert files(out) == files(tmp_path / "plain")


def test_a_run_that_is_told_to_end_leaves_nothing_behind(tmp_path: Path) -> None:
    logs, out = long_sessions(tmp_path / "logs", 64), tmp_path / "out"
    command = [sys.executable, "-m", "unspool", "squash", str(logs), "-o", str(out), "--jobs", "1"]
    process = subprocess.Popen([*command, "--filter", "near-duplicates<0.9"])
    eventually(lambda: any(out.rglob("*.part")))  # it is at work
    process.send_signal(signal.SIGTERM)
    assert (process.wait(60), out.exists()) == (143, False)


def test_a_process_that_is_killed_is_told_in_words() -> None:
    with pytest.raises(EngineFailed, match="one of 2 processes was killed"):
        list(each(os._exit, [1, 1, 1], 2))


def test_a_plan_made_beforehand(logs: Path, tmp_path: Path, unspool: Run) -> None:
    out = tmp_path / "out"
    done = unspool("squash", logs, "-o", out, "--plan", "--shards", "3")
    assert done.returncode == 0
    assert b"in 3 shards of up to" in done.stderr
    plan = (out / "parts/plan.json").read_bytes()
    for shard in ("1/3", "2/3", "3/3"):
        assert unspool("squash", logs, "-o", out, "--shard", shard, "--no-redact", "-q").returncode == 0
    assert (out / "parts/plan.json").read_bytes() == plan
    assert unspool("squash", "--merge", out, "--keep-parts").returncode == 0
    assert (out / "parts/plan.json").read_bytes() == plan


@pytest.mark.parametrize(
    "arguments",
    [
        ["logs", "-o", "out", "--shard", "4/3"],
        ["logs", "-o", "out", "--shard", "0/3"],
        ["logs", "-o", "out", "--shard", "three"],
        ["logs", "-o", "out", "--shard", "1/3", "--shards", "3"],
        ["logs", "-o", "out", "--shard", "1/3", "--rejects", "r"],
        ["logs", "-o", "out", "--plan"],
        ["logs", "-o", "out", "--resume", "--filter", "nice"],
        ["logs", "-o", "out", "--address", "auto"],
        ["logs", "-o", "out", "--completions"],
        ["logs", "-o", "out", "--json-columns", "string"],
        ["--merge", "out", "--to", "hf"],
        ["--merge", "out", "-o", "other"],
        ["--merge"],
        ["logs"],
    ],
)
def test_what_does_not_go_together(arguments: list[str], tmp_path: Path, unspool: Run) -> None:
    session(tmp_path / "logs", "a.jsonl", WORDS)
    paths = [str(tmp_path / each) if each in ("logs", "out", "other", "r") else each for each in arguments]
    assert unspool("squash", *paths).returncode == 2
    assert not (tmp_path / "out").exists()
