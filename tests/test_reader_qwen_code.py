"""Qwen Code: what is counted, whose a document is, and where logs are looked for."""

from pathlib import Path

from unspool.ingest.logs import open_log
from unspool.model import Event
from unspool.model.event import TokenUsage
from unspool.readers import qwen_code

FOLDER = Path(__file__).parent / "readers"


def usages_of(path: Path) -> list[TokenUsage]:
    log = open_log(str(path))
    assert log is not None
    return [item.content for item in log if isinstance(item, Event) and isinstance(item.content, TokenUsage)]


def total_of(usages: list[TokenUsage]) -> int:
    return sum(usage.input + usage.cache_read + usage.output for usage in usages)


def test_calls_that_the_telemetry_repeats_count_once() -> None:
    usages = usages_of(FOLDER / "qwen_code" / "session.jsonl")
    assert total_of(usages) == 350 + 415 + 509
    assert [usage.response_id for usage in usages] == ["chatcmpl-1", None, "chatcmpl-3", None]


def test_what_a_fork_copied_was_paid_for_elsewhere() -> None:
    assert total_of(usages_of(FOLDER / "qwen_code" / "fork.jsonl")) == 21


def test_the_sum_of_a_stream_is_what_its_last_record_says() -> None:
    assert total_of(usages_of(FOLDER / "qwen_stream" / "run.jsonl")) == 254
    assert total_of(usages_of(FOLDER / "qwen_stream" / "agents.jsonl")) == 55


def test_places_follow_the_environment() -> None:
    reader = qwen_code.reader
    assert next(place.folder for place in reader.places({}, Path("/home/me"))) == Path("/home/me/.qwen/projects")
    moved = reader.places({"QWEN_RUNTIME_DIR": "/data"}, Path("/home/me"))
    assert [place.folder for place in moved] == [Path("/data/projects"), Path("/data/tmp")]


def test_a_sub_agents_transcript_is_read_with_what_stands_beside_it() -> None:
    [agent] = (FOLDER / "qwen_code" / "subagent").rglob("agent-*.jsonl")
    assert [Path(path).name for path in qwen_code.reader.beside(str(agent))] == ["agent-explore-1.meta.json"]
    assert list(qwen_code.reader.beside(str(agent.with_name("other.jsonl")))) == []


def test_sub_agents_are_kin() -> None:
    [agent] = (FOLDER / "qwen_code" / "subagent").rglob("agent-*.jsonl")
    [session] = (FOLDER / "qwen_code" / "subagent").rglob("chats/*.jsonl")
    assert list(qwen_code.reader.kin(str(session))) == [str(agent)]
