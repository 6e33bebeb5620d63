"""`unspool squash` with the snapshot strategy: what is kept, what is written, what is reported."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Run
from logs import Claude
from unspool.errors import StrictFault, UnspoolError
from unspool.jobs.squash import Settings, squash, squash_tasks, tasks
from unspool.jobs.squash.settings import Task

PLAIN = Settings(redact=False, single_file=True)


def entry(number: int, messages: list[Any], answer: Any = "ok", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer} if isinstance(answer, str) else answer
    request = {"model": "m", "messages": messages, **more.pop("request", {})}
    response = more.pop("response", {"id": "r", "choices": [{"index": 0, "message": message}]})
    return {"timestamp": f"2026-03-02T10:00:{number:02}Z", "session_id": "s", "request": request, "response": response}


def says(role: str, text: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


def tool(name: str, **more: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}, "required": []}
    return {"type": "function", "function": {"name": name, "description": "d", "parameters": parameters, **more}}


def grown(count: int) -> list[dict[str, Any]]:
    return [says("user" if place % 2 == 0 else "assistant", f"m{place}") for place in range(count)]


def log(folder: Path, *entries: Any, name: str = "logs/s.jsonl") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [line if isinstance(line, bytes) else json.dumps(line, ensure_ascii=False).encode() for line in entries]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def records(out: Path, name: str = "conversations.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / name).read_bytes().split(b"\n") if line]


def made(folder: Path, *entries: Any, options: Settings = PLAIN) -> dict[str, Any]:
    """The only record of a session with these entries."""
    squash(log(folder, *entries), out=folder / "out", settings=options)
    (record,) = records(folder / "out")
    return record


def rules(out: Path) -> list[tuple[str, str]]:
    found = json.loads((out / "integrity-report.json").read_bytes())["findings"]
    return [(finding["severity"], finding["rule"]) for finding in found]


@pytest.mark.parametrize(
    ("counts", "kept"),
    [([1, 3, 5], 3), ([1, 3, 2, 3, 1], 4), ([3, 3], 2), ([9, 3, 5], 1), ([1, 3, 2], 2), ([0], 1)],
)
def test_the_last_of_the_fullest_entries_is_the_record(tmp_path: Path, counts: list[int], kept: int) -> None:
    entries = [entry(number, grown(count), f"answer {number}") for number, count in enumerate(counts, 1)]
    record = made(tmp_path, *entries)
    assert record["messages"] == [*grown(counts[kept - 1]), says("assistant", f"answer {kept}")]
    assert (("WARNING", "truncated") in rules(tmp_path / "out")) == (kept < len(counts))
    assert json.loads((tmp_path / "out" / "summary.json").read_bytes())["counts"]["entries kept"] == kept


def test_a_record_has_messages_and_tools_and_nothing_else(tmp_path: Path) -> None:
    arguments = '{"b":1,  "a": "\\u00e9 \\u2028"}'
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": arguments, "strict": None}}
    messages = [
        says("developer", "rules", name=None, cache={"x": None}),
        says("user", [{"type": "text", "text": "ü"}], odd=1),
        {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "hm", "refusal": None},
        says("tool", "out", tool_call_id="c"),
    ]
    record = made(tmp_path, entry(1, messages, {"role": "assistant", "content": "done", "audio": None}))
    assert list(record) == ["messages", "tools"]
    assert record["messages"] == [
        says("system", "rules", cache={"x": None}),
        says("user", [{"type": "text", "text": "ü"}], odd=1),
        {"role": "assistant", "tool_calls": [call], "reasoning_content": "hm"},
        says("tool", "out", tool_call_id="c"),
        says("assistant", "done"),
    ]
    written = (tmp_path / "out" / "conversations.jsonl").read_bytes()
    assert json.dumps(arguments).encode() in written


def test_tools_are_those_of_all_kept_entries_and_the_first_definition_wins(tmp_path: Path) -> None:
    search = {"type": "web_search"}
    entries = [
        entry(1, grown(1), request={"tools": [tool("a"), search]}),
        entry(2, grown(3), request={"tools": [tool("b"), tool("a", description="new"), search]}),
        entry(3, grown(1), request={"tools": [tool("cut off")]}),
    ]
    assert made(tmp_path, *entries)["tools"] == [tool("a")["function"], search, tool("b")["function"]]
    assert ("WARNING", "tool-changed") in rules(tmp_path / "out")
    last = Settings(redact=False, single_file=True, tools_from="last")
    assert made(tmp_path, *entries, options=last)["tools"] == [
        tool("b")["function"],
        tool("a", description="new")["function"],
        search,
    ]


def test_functions_are_tools_by_their_first_name(tmp_path: Path) -> None:
    functions = [tool("a")["function"], {"name": "b", "parameters": {"type": "object", "properties": {}}}]
    entries = [entry(number, grown(2 * number - 1), request={"functions": functions}) for number in (1, 2, 3)]
    assert made(tmp_path, *entries)["tools"] == functions


@pytest.mark.parametrize("response", [None, {}, {"choices": []}, {"choices": [{"message": None}]}])
def test_an_entry_without_an_answer_or_a_model_gives_a_record(tmp_path: Path, response: Any) -> None:
    record = made(tmp_path, entry(1, grown(1), response=response, request={"model": None}))
    assert record["messages"] == grown(1)
    assert ("WARNING", "no-answer") in rules(tmp_path / "out")


def test_an_answer_without_a_role_is_the_assistants(tmp_path: Path) -> None:
    assert made(tmp_path, entry(1, [], {"content": "hi", "refusal": None}))["messages"] == [says("assistant", "hi")]


def streamed(*deltas: dict[str, Any]) -> dict[str, Any]:
    chunks = [{"id": "r", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    return {"stream": True, "sse_lines": [*(f"data: {json.dumps(chunk)}" for chunk in chunks), "data: [DONE]"]}


YO = streamed({"role": "assistant", "content": ""}, {"content": "Y"}, {"content": "o"})


@pytest.mark.parametrize(
    "first", [YO, None, {"error": {"message": "busy"}}, {"choices": [{"message": says("user", "x")}]}]
)
@pytest.mark.parametrize("to", ["messages", "axolotl"])
def test_the_answer_of_a_stream_is_an_answer(tmp_path: Path, first: Any, to: str) -> None:
    """A recorder keeps what was streamed as it came: in the first entry, or in a later one."""
    entries = [entry(1, grown(1), response=first), entry(2, grown(3), response=YO)]
    record = made(tmp_path, *entries, options=Settings(redact=False, single_file=True, to=to))
    last = says("assistant", "Yo", **({"train": True} if to == "axolotl" else {}))
    assert record["messages"][-1] == last
    assert len(record["messages"]) == 4


def test_a_title_that_was_streamed_is_gooses_noise_too(tmp_path: Path) -> None:
    title = [
        says("system", "Reply with only a description in four words or less"),
        says("user", "Here are the first few user messages:\nx"),
    ]
    entries = [entry(1, grown(1), response=YO), entry(2, title, response=YO)]
    record = made(tmp_path, *entries, options=Settings(redact=False, single_file=True, clean_up="goose"))
    assert record["messages"] == [*grown(1), says("assistant", "Yo")]


def test_a_session_of_an_api_that_has_messages_too_keeps_its_answer(tmp_path: Path) -> None:
    """Cohere's, which is told by its answer alone."""
    answer = {"id": "x", "message": {"role": "assistant", "content": [{"type": "text", "text": "Yo"}]}}
    record = made(tmp_path, entry(1, grown(1), response={**answer, "finish_reason": "COMPLETE"}))
    assert record["messages"] == [*grown(1), says("assistant", "Yo")]


@pytest.mark.parametrize("failed", [None, {"error": {"message": "busy"}}, {"raw": "<html>"}])
def test_a_session_of_another_api_is_told_though_its_first_call_failed(tmp_path: Path, failed: Any) -> None:
    answer = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "Yo"}]}
    events = [
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Yo"}},
        {"type": "message_stop"},
    ]
    stream = {"stream": True, "sse_lines": [f"data: {json.dumps(event)}" for event in events]}
    for number, response in enumerate((answer, stream)):
        asked = {"request": {"system": "Be brief."}}
        record = made(
            tmp_path / str(number),
            entry(1, grown(1), response=failed, **asked),
            entry(2, grown(1), response=response, **asked),
        )
        assert record["messages"] == [says("system", "Be brief."), *grown(1), says("assistant", "Yo")]


BAD = [b"{not json", b"[1, 2]", b'{"request": {"messages": 5}}', b'{"request": {"messages": ["x"]}}', b"\xff\xfe"]


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_bad_line_costs_nothing_else(tmp_path: Path, bad: bytes, place: int) -> None:
    lines: list[Any] = [entry(1, grown(1)), entry(2, grown(3), "end")]
    lines.insert(place, bad)
    path, rejects = log(tmp_path, *lines), tmp_path / "rejects.jsonl"
    squash(path, out=tmp_path / "out", settings=PLAIN, rejects=str(rejects))
    assert records(tmp_path / "out")[0]["messages"] == [*grown(3), says("assistant", "end")]
    (reject,) = [json.loads(line) for line in rejects.read_bytes().splitlines()]
    assert (reject["kind"], reject["line"]) == ("line", place + 1)
    assert reject["text"].strip() == bad.decode("utf-8", "replace")
    with pytest.raises(StrictFault, match=f"s.jsonl:{place + 1}"):
        squash(path, out=tmp_path / "strict", settings=Settings(redact=False, strict=True))
    assert not (tmp_path / "strict").exists()


def test_what_can_be_mended_is_mended(tmp_path: Path) -> None:
    line = json.dumps(entry(1, [says("user", "a\ud800b"), says("user", 1)])).encode().replace(b": 1}", b": NaN}")
    assert made(tmp_path, line)["messages"][0] == says("user", "a\ufffdb")
    assert json.loads((tmp_path / "out" / "summary.json").read_bytes())["counts"]["lines repaired"] == 1


def at(number: int, time: Any, session: Any = "s") -> dict[str, Any]:
    return {**entry(number, grown(number)), "timestamp": time, "session_id": session}


INVALID: dict[str, list[Any]] = {
    "time": [at(1, "2026-03-02T10:00:01Z"), at(3, "2026-03-02T10:00:00.999Z")],
    "session-id": [at(1, "2026-03-02T10:00:01Z"), at(3, "2026-03-02T10:00:02Z", "other")],
    "empty": [b"nothing"],
}


@pytest.mark.parametrize("kind", INVALID)
def test_an_invalid_session_costs_no_other(tmp_path: Path, unspool: Run, kind: str) -> None:
    log(tmp_path, *INVALID[kind], name="logs/a.jsonl")
    log(tmp_path, entry(1, grown(1)), name="logs/b.jsonl")
    done = unspool("squash", tmp_path / "logs", "-o", tmp_path / "out", "--no-redact", "-s")
    assert done.returncode == 0, done.stderr
    assert len(records(tmp_path / "out")) == 1
    counts = json.loads((tmp_path / "out" / "summary.json").read_bytes())["counts"]
    assert (counts["sessions kept"], counts[f"sessions invalid: {kind}"]) == (1, 1)
    assert ("ERROR", kind) in rules(tmp_path / "out")
    strict = unspool("squash", tmp_path / "logs", "-o", tmp_path / "strict", "--no-redact", "--strict")
    assert (strict.returncode, (tmp_path / "strict").exists()) == (1, False)


def test_equal_times_are_fine_unless_strict(tmp_path: Path) -> None:
    same = [at(1, "2026-03-02T10:00:00+00:00"), at(3, "2026-03-02T11:00:00+01:00"), at(5, None, None)]
    assert len(made(tmp_path, *same)["messages"]) == 6
    with pytest.raises(StrictFault, match="equal"):
        squash(log(tmp_path, *same), out=tmp_path / "out", settings=Settings(redact=False, strict=True))
    assert len(records(tmp_path / "out")) == 1, "what was there before stays"


def test_files_are_named_by_date(tmp_path: Path) -> None:
    log(tmp_path, entry(1, grown(1)), name="logs/2026-01-05/x/a.jsonl")
    log(tmp_path, entry(1, grown(1)), name="logs/other/2026-01-06/b.jsonl")
    log(tmp_path, {**entry(1, grown(1)), "timestamp": None}, name="logs/c.jsonl")
    done = squash(tmp_path / "logs", out=tmp_path / "out", settings=Settings(redact=False))
    assert done.files == {"2026-01-05.jsonl": 1, "2026-03-02.jsonl": 1, "undated.jsonl": 1}


def test_scenarios_that_look_alike_keep_apart(tmp_path: Path) -> None:
    for name in ("a b-0190-1769212345678901234", "a_b-0190-1769212345678901234", "A_B-0190", "book-x-17"):
        log(tmp_path, entry(1, grown(1), name), name=f"logs/{name}.jsonl")
    done = squash(tmp_path / "logs", out=tmp_path / "out", settings=Settings(redact=False, group_by="scenario"))
    assert sorted(done.files.values()) == [1, 1, 1, 1]
    assert {"book-x.jsonl"} < set(done.files)
    assert len({name.casefold() for name in done.files}) == 4
    with (tmp_path / "out" / "tool-usage.csv").open() as file:
        assert [row["scenario"] for row in csv.DictReader(file)] == ["A_B-0190", "a b-0190", "a_b-0190", "book-x"]


def test_only_records_are_jsonl_and_the_folder_is_what_the_last_run_wrote(tmp_path: Path) -> None:
    out, path = tmp_path / "logs" / "out", log(tmp_path, entry(1, grown(1)))
    squash(path, out=out, settings=PLAIN)
    (out / "mine.jsonl").write_text("{}\n")
    squash(path.parent, out=out, settings=Settings(redact=False))
    reports = {"tool-usage.csv", "integrity-report.json", "integrity-report.txt", "summary.json"}
    assert {file.name for file in out.iterdir()} == {"2026-03-02.jsonl", "mine.jsonl"} | reports
    with pytest.raises(UnspoolError, match="input and the output"):
        squash(path.parent, out=path.parent)


def test_an_output_folder_above_the_inputs_hides_none_of_them(tmp_path: Path) -> None:
    log(tmp_path, entry(1, grown(1)))
    Claude().user("Hi").says("Hello").save(tmp_path / "logs" / "claude.jsonl")
    done = squash(tmp_path / "logs", out=tmp_path, settings=PLAIN)
    assert (done.inputs, done.records) == (2, 2)


def test_the_same_bytes_from_one_process_and_two(tmp_path: Path) -> None:
    for number in range(9):
        log(tmp_path, *(entry(at, grown(at), f"{number}") for at in (1, 3, 5)), name=f"logs/{number}.jsonl")
    for jobs in (1, 2):
        squash(tmp_path / "logs", out=tmp_path / f"out{jobs}", settings=Settings(key=b"k"), jobs=jobs)
    one, two = ({file.name: file.read_bytes() for file in (tmp_path / f"out{jobs}").iterdir()} for jobs in (1, 2))
    assert one == two


def test_a_file_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    log(tmp_path, entry(1, grown(1)), name="logs/a.jsonl")
    todo = tasks([str(tmp_path / "logs")], str(tmp_path / "out"))
    gone = Task(str(tmp_path / "logs" / "gone.jsonl"), str(tmp_path / "logs"))
    done = squash_tasks([gone, *todo], str(tmp_path / "out"), PLAIN)
    assert done.counts["sessions invalid: unreadable"] == done.records == 1


def test_one_document_over_many_lines_is_one_line_a_record(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps([entry(1, grown(1)), entry(2, grown(3), request={"tools": [tool("a")]})], indent=1))
    squash(path, out=tmp_path / "out", settings=PLAIN)
    (record,) = records(tmp_path / "out")
    assert (len(record["messages"]), record["tools"]) == (4, [tool("a")["function"]])


TEXT = st.text(st.sampled_from('ab"\\\n{}[],é\u2028'), max_size=5)
MESSAGE = st.builds(
    lambda role, text, null, copy: {"role": role, "content": text} | null | copy,
    st.sampled_from(["system", "developer", "user", "assistant"]),
    TEXT,
    st.sampled_from([{}, {"name": None}]),
    st.sampled_from([{}, {"messages": [{"role": "user", "content": "a"}]}]),
)
STEP = st.tuples(st.sampled_from(["grow", "cut", "rewrite", "new"]), st.lists(MESSAGE, max_size=3), st.integers(0, 2))


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=1, max_size=7), spaced=st.booleans(), tools_first=st.booleans())
def test_comparing_bytes_finds_what_parsing_finds(
    tmp_path: Path, steps: list[Any], spaced: bool, tools_first: bool
) -> None:
    """Against the algorithm in its plainest form."""
    history: list[Any] = []
    lines = []
    for number, (kind, more, offered) in enumerate(steps):
        kept = {"grow": len(history), "cut": len(history) // 2, "rewrite": max(len(history) - 1, 0), "new": 0}[kind]
        history = [*history[:kept], *more]
        tools = {"tools": [tool(f"t{each}", description="x" * 60 * offered) for each in range(offered)]}
        asked = {"messages": history}
        request = tools | asked if tools_first else asked | tools
        lines.append({**entry(number, []), "request": request})
    separators = (", ", ": ") if spaced else (",", ":")
    written = [json.dumps(line, ensure_ascii=False, separators=separators).encode() for line in lines]
    assert made(tmp_path, *written) == _plainly(lines)


def _plainly(entries: list[dict[str, Any]]) -> dict[str, Any]:
    counts = [len(one["request"]["messages"]) for one in entries]
    last = max(place for place, count in enumerate(counts) if count == max(counts))
    tools: dict[str, Any] = {}
    for one in entries[: last + 1]:
        for each in one["request"]["tools"]:
            tools.setdefault(each["function"]["name"], each["function"])
    said = [*entries[last]["request"]["messages"], entries[last]["response"]["choices"][0]["message"]]
    messages = [{key: value for key, value in message.items() if value is not None} for message in said]
    for message in messages:
        message["role"] = {"developer": "system"}.get(message["role"], message["role"])
    return {"messages": messages, "tools": list(tools.values())}
