"""Logs and records in object storage, held against the same in folders."""

import gzip
import os
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from msgspec.structs import replace

from buckets import BUCKET, FORBIDDEN, Storage, storage
from conftest import Run
from logs import Claude
from many import files, many
from unspool.errors import InputNotFound, UnspoolError
from unspool.jobs.cook import cook
from unspool.jobs.squash import Settings, squash
from unspool.sources.copies import copies
from unspool.sources.files import blocks, expand
from unspool.sources.listing import files_below

__all__ = ["storage"]
SETTINGS = Settings(key=b"k")
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return many(tmp_path_factory.mktemp("many") / "logs")


def renamed(found: dict[str, bytes], url: str, folder: Path) -> dict[str, bytes]:
    """As if it had been squashed from the folder."""
    return {name: data.replace(url.encode(), str(folder).encode()) for name, data in found.items()}


# Squashing


def test_from_a_bucket_and_to_a_bucket_as_between_folders(storage: Storage, logs: Path, tmp_path: Path) -> None:
    url = storage.put(logs)
    squash(logs, out=tmp_path / "here", settings=SETTINGS, rejects=str(tmp_path / "rejects"), jobs=1)
    squash(url, out=tmp_path / "down", settings=SETTINGS, rejects=str(tmp_path / "fetched"), jobs=1)
    up, across = storage.place(), storage.place()
    squash(logs, out=up, settings=SETTINGS, jobs=1)
    squash(f"{url}/", out=f"{across}/", settings=SETTINGS, rejects=f"{across}/no/rejects.jsonl", jobs=1)
    wanted = files(tmp_path / "here")
    assert len(wanted) > 5
    assert renamed(files(tmp_path / "down"), url, logs) == wanted
    assert storage.files(up) == wanted
    sent = storage.files(across)
    assert sent.pop("no/rejects.jsonl") == (tmp_path / "fetched").read_bytes()
    assert b"s3://" in (tmp_path / "fetched").read_bytes()
    assert renamed(sent, url, logs) == wanted


def test_two_processes_read_a_bucket_as_one_does(storage: Storage, logs: Path, tmp_path: Path, unspool: Run) -> None:
    url = storage.put(logs)
    for jobs in ("1", "2"):
        done = unspool("squash", url, "-o", tmp_path / jobs, "--jobs", jobs, UNSPOOL_KEY="k", TMPDIR=str(tmp_path))
        assert done.returncode == 0, done.stderr.decode()
    assert files(tmp_path / "1") == files(tmp_path / "2")
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("unspool-", "."))], "no copy is left"


def test_a_second_run_removes_what_the_first_wrote_and_nothing_else(
    storage: Storage, logs: Path, tmp_path: Path
) -> None:
    out = storage.place()
    storage.write(f"{out}/README", b"mine")
    squash(logs, out=out, settings=Settings(key=b"k", group_by="scenario"), jobs=1)
    first = set(storage.files(out))
    squash(logs, out=out, settings=Settings(key=b"k", single_file=True), jobs=1)
    second = storage.files(out)
    assert "conversations.jsonl" in second
    assert second["README"] == b"mine"
    assert first - set(second)
    squash(logs, out=tmp_path / "out", settings=Settings(key=b"k", single_file=True), jobs=1)
    assert {**files(tmp_path / "out"), "README": b"mine"} == second


def test_what_an_interrupted_upload_left_is_removed_by_the_next_run(storage: Storage, logs: Path) -> None:
    out = storage.place()
    storage.write(f"{out}/unfinished.json", b'{"files": ["2020-01-01.jsonl", "../other", "summary.json"]}')
    storage.write(f"{out}/2020-01-01.jsonl", b"{}\n")
    squash(logs, out=out, settings=SETTINGS, jobs=1)
    left = storage.files(out)
    assert "summary.json" in left
    assert not {"unfinished.json", "2020-01-01.jsonl"} & set(left)


def test_output_among_the_input_is_not_read_again(storage: Storage, logs: Path) -> None:
    url = storage.put(logs)
    first = squash(url, out=f"{url}/records", settings=SETTINGS, jobs=1)
    written = storage.files(f"{url}/records")
    assert squash(url, out=f"{url}/records", settings=SETTINGS, jobs=1) == first
    assert storage.files(f"{url}/records") == written
    with pytest.raises(UnspoolError, match="is the input and the output"):
        squash(url, out=f"{url}/", settings=SETTINGS)


def test_one_object_and_packed_ones(storage: Storage, logs: Path, tmp_path: Path) -> None:
    (one,) = [path for path in sorted(logs.rglob("*.jsonl")) if path.stat().st_size][:1]
    squash(one, out=tmp_path / "plain", settings=SETTINGS, jobs=1)
    place = storage.place()
    for ending, pack in ((".gz", gzip.compress), (".zst", zstandard.ZstdCompressor().compress)):
        url = f"{place}/{one.name}{ending}"
        storage.write(url, pack(one.read_bytes()))
        squash(url, out=tmp_path / ending, settings=SETTINGS, jobs=1)
        assert renamed(files(tmp_path / ending), url, one) == files(tmp_path / "plain")


# Agents' logs


@pytest.fixture
def agents(tmp_path: Path) -> Path:
    """A session with a sub-agent, and a database."""
    projects = tmp_path / "home" / ".claude" / "projects" / "-home-ada-shop"
    master = Claude().user("Ask somebody").calls("t1", "Agent", prompt="count", description="count")
    helper = Claude(agent="a1").user("count").says("There are three")
    master.result("t1", "three", agentId="a1", status="completed").says("Three")
    master.save(projects / f"{master.session}.jsonl")
    helper.save(projects / master.session / "subagents" / "agent-a1.jsonl")
    (projects / ".credentials.json").write_text("{}")
    database = tmp_path / "home" / "goose" / "sessions.db"
    database.parent.mkdir()
    script = min((ROOT / "tests/readers/goose").rglob("*.sql"))
    made = sqlite3.connect(database)
    made.executescript(script.read_text())
    made.close()
    return tmp_path / "home"


@pytest.mark.parametrize("strategy", ["snapshot", "tree"])
def test_agents_logs_in_a_bucket(storage: Storage, agents: Path, tmp_path: Path, strategy: str) -> None:
    url = storage.put(agents)
    settings = Settings(key=b"k", strategy="tree" if strategy == "tree" else "snapshot")
    squash(agents, out=tmp_path / "here", settings=settings, jobs=1)
    squash(url, out=tmp_path / "down", settings=settings, jobs=1)
    here = files(tmp_path / "here")
    assert b"There are three" in b"".join(here.values()) or strategy == "snapshot"
    assert renamed(files(tmp_path / "down"), url, agents) == here


def test_logs_beside_traffic_are_copied_and_traffic_is_not(
    storage: Storage, agents: Path, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "copies"))
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    both = tmp_path / "both"
    both.mkdir()
    agents.rename(both / "home")
    (both / "traffic").symlink_to(logs)
    url = storage.put(both)
    for path in sorted(logs.rglob("*")):
        if path.is_file():
            storage.write(f"{url}/traffic/{path.relative_to(logs).as_posix()}", path.read_bytes())
    from unspool.jobs.squash.tasks import tasks

    with copies():
        todo = tasks([url], str(tmp_path / "out"))
        fetched = {path.name for path in (tmp_path / "copies").rglob("*") if path.is_file()}
        assert "agent-a1.jsonl" in fetched
        assert ".credentials.json" not in fetched
        assert not [name for name in fetched if name.startswith("weigh")]
        assert {task.path for task in todo if task.unit and task.unit.found} <= set(dict(files_below(url)))
    assert not list((tmp_path / "copies").iterdir())


def test_a_log_that_is_named_is_read_with_what_lies_beside_it(storage: Storage, agents: Path, tmp_path: Path) -> None:
    (log,) = agents.rglob("????????-*.jsonl")
    url = storage.put(agents)
    named = f"{url}/{log.relative_to(agents).as_posix()}"
    squash(log, out=tmp_path / "here", settings=SETTINGS, jobs=1)
    squash(named, out=tmp_path / "down", settings=SETTINGS, jobs=1)
    assert renamed(files(tmp_path / "down"), url, agents) == files(tmp_path / "here")
    told = [replace(request, origin=replace(request.origin, file=str(log))) for request in cook(named).requests]
    assert told == cook(log).requests


def test_commands_on_logs_in_a_bucket(storage: Storage, agents: Path, tmp_path: Path, unspool: Run) -> None:
    url = storage.put(agents)
    (log,) = agents.rglob("????????-*.jsonl")
    named = f"{url}/{log.relative_to(agents).as_posix()}"
    for arguments, place in [
        (("sessions", "--json"), ""),
        (("show", "--json"), log.relative_to(agents).as_posix()),
        (("show", "--markdown"), log.relative_to(agents).as_posix()),
        (("grep", "three", "--json"), ""),
        (("tools", "--json"), ""),
        (("cook", "-q"), ""),
    ]:
        here = unspool(*arguments, agents / place, TMPDIR=str(tmp_path), UNSPOOL_CACHE=str(tmp_path / "cache"))
        there = unspool(
            *arguments, f"{url}/{place}".rstrip("/"), TMPDIR=str(tmp_path), UNSPOOL_CACHE=str(tmp_path / "cache")
        )
        assert there.returncode == here.returncode == 0, (arguments, there.stderr.decode())
        assert here.stdout
        assert there.stdout.replace(url.encode(), str(agents).encode()) == here.stdout, arguments
    assert not list(tmp_path.glob("unspool-*"))
    wrong = unspool("show", f"{named}/none")
    assert (wrong.returncode, wrong.stderr.decode()) == (2, f"unspool: {named}/none: No such file or directory\n")


def test_recorded_calls_are_cooked_from_a_bucket_to_a_bucket(storage: Storage, unspool: Run) -> None:
    url = storage.put(ROOT / "samples" / "traces")
    out = storage.place()
    done = unspool("cook", url, "-o", f"{out}/cooked.json")
    assert done.returncode == 0, done.stderr.decode()
    here = unspool("cook", ROOT / "samples" / "traces")
    traces = str(ROOT / "samples" / "traces")
    assert storage.files(out)["cooked.json"].replace(url.encode(), traces.encode()) == here.stdout
    assert unspool("cook", f"{url}/trip-planner.jsonl", "-o", f"{url}/trip-planner.jsonl").returncode == 2


# What can go wrong


@pytest.mark.usefixtures("storage")
def test_missing_buckets_and_objects_are_told_in_one_line(tmp_path: Path, unspool: Run) -> None:
    for arguments, told in [
        (("squash", "s3://no-such-bucket/logs", "-o", tmp_path / "out"), "The specified bucket does not exist"),
        (("cook", "s3://no-such-bucket/logs"), "The specified bucket does not exist"),
        (("cook", f"s3://{BUCKET}/nothing/here"), "No such file or directory"),
        (("squash", f"s3://{BUCKET}/nothing/here", "-o", tmp_path / "out"), "No such file or directory"),
        (("sessions", f"s3://{BUCKET}/nothing/here"), "No such file or directory"),
        (("squash", ROOT / "samples/traces", "-o", "s3://no-such-bucket/out"), "The specified bucket does not exist"),
    ]:
        done = unspool(*arguments)
        url = next(str(given) for given in arguments if str(given).startswith("s3://"))
        assert (done.returncode, done.stderr.decode()) == (2, f"unspool: {url}: {told}\n")
    assert not (tmp_path / "out").exists()


def test_what_may_not_be_read_costs_nothing_else(
    storage: Storage, logs: Path, agents: Path, tmp_path: Path, unspool: Run
) -> None:
    agents.rename(tmp_path / "logs")
    for folder in (logs, tmp_path / "logs"):
        url = storage.put(folder)
        squash(url, out=tmp_path / "all", settings=SETTINGS, jobs=1)
        storage.write(f"{url}/2026-03-01/{FORBIDDEN}.jsonl", b"{}\n")
        squash(url, out=tmp_path / "most", settings=SETTINGS, rejects=str(tmp_path / "rejects"), jobs=1)
        assert f"{url}/2026-03-01/{FORBIDDEN}.jsonl" in (tmp_path / "rejects").read_text()
        assert "not permitted" in (tmp_path / "rejects").read_text()
        kept = files(tmp_path / "most")
        assert {name: kept[name] for name in kept if name.endswith(".jsonl")} == {
            name: data for name, data in files(tmp_path / "all").items() if name.endswith(".jsonl")
        }
    named = f"{url}/2026-03-01/{FORBIDDEN}.jsonl"
    for command in ("cook", "squash"):
        done = unspool(command, named, "-o", tmp_path / "none")
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"unspool: {named}: not permitted: ")


@pytest.mark.usefixtures("storage")
def test_a_server_that_is_not_there(unspool: Run) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{free.getsockname()[1]}"
    done = unspool("cook", f"s3://{BUCKET}/logs", AWS_ENDPOINT_URL=endpoint, AWS_MAX_ATTEMPTS="1")
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f'unspool: s3://{BUCKET}/logs: Could not connect to the endpoint URL: "{endpoint}')


@pytest.mark.usefixtures("storage")
def test_keys_are_needed_and_never_told(unspool: Run) -> None:
    done = unspool("cook", f"s3://{BUCKET}/logs", AWS_ACCESS_KEY_ID="", AWS_SECRET_ACCESS_KEY="")
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
    hidden = "ada:" + "hunter2" + "@"
    for url in (f"ftp://{hidden}host/logs", "https://host/a.jsonl?X-Amz-Signature=" + "hunter2"):
        done = unspool("cook", url)
        assert done.returncode == 2
        assert b"hunter2" not in done.stderr
        assert b"would be written into reports" in done.stderr


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("gs://bucket/logs", "gcsfs"),
        ("abfs://box/logs", "adlfs"),
        ("floppy://a/logs", "Protocol not known: floppy"),
    ],
)
def test_other_protocols_say_what_they_need(unspool: Run, url: str, told: str) -> None:
    pytest.importorskip("fsspec")
    done = unspool("cook", url)
    assert done.returncode == 2
    assert told in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


@pytest.mark.parametrize("absent", ["fsspec", "s3fs"])
def test_without_its_packages_the_extra_is_named(absent: str) -> None:
    pytest.importorskip("fsspec")
    script = f"import sys; sys.modules[{absent!r}] = None; sys.argv = ['unspool', 'cook', 's3://bucket/logs']; " + (
        "from unspool.__main__ import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.decode().splitlines()
    assert line.endswith("pip install 'unspool[cloud]'")


def test_what_was_written_after_it_was_listed_is_read(storage: Storage) -> None:
    url = f"{storage.place()}/a.jsonl"
    storage.write(url, b"listed\n")
    assert list(expand([url.rpartition("/")[0]])) == [url]
    storage.write(url, b"and written anew\n")
    assert b"".join(blocks(url)) == b"and written anew\n"


def test_an_object_that_changes_while_it_is_read_is_no_mixture(storage: Storage) -> None:
    url = f"{storage.place()}/a.jsonl"
    storage.write(url, b"1" * (1 << 20))
    read = blocks(url, 1 << 14)
    assert next(read) == b"1" * (1 << 14)
    storage.write(url, b"2" * (1 << 20))
    with pytest.raises(InputNotFound, match="it changed while it was read"):
        b"".join(read)


def test_a_path_costs_nothing_of_what_a_url_needs(logs: Path, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from unspool import cook\n"
        "from unspool.jobs.squash import squash\n"
        "squash(sys.argv[1], out=sys.argv[2], rejects=sys.argv[2] + '/rejects')\n"
        "cook(sys.argv[1])\n"
        "print({name.partition('.')[0] for name in sys.modules} & {'fsspec', 's3fs', 'botocore'})\n"
        "print('unspool.sources.remote' in sys.modules)\n"
    )
    arguments = [sys.executable, "-c", script, str(logs), str(tmp_path / "out")]
    done = subprocess.run(arguments, capture_output=True, check=True, env={**os.environ, "UNSPOOL_KEY": "k"})
    assert done.stdout == b"set()\nFalse\n"
