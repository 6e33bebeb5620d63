"""Golden folders of the wires: tests/wires/<wire>/<idea>.json, a list of records, and beside it what comes of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from unspool.dialect import Record, Signs
from unspool.exports.cooked import Cooker, encode
from unspool.ingest.envelope import open_envelope
from unspool.ingest.open import read_exchanges
from unspool.ingest.traffic import Traffic
from unspool.jobs.cook import cook
from unspool.model import Document, Exchange, Note, Origin, Other, Response, Thinking, Tool, ToolResult, ToolUse, Usage
from unspool.wires import WIRES

FOLDER = Path(__file__).parent / "wires"
CASES = sorted(path for path in FOLDER.glob("*/*.json") if not path.name.endswith(".golden.json"))


def name(case: Path) -> str:
    return f"{case.parent.name}/{case.stem}"


def test_every_wire_has_a_folder_and_every_folder_a_wire() -> None:
    assert {case.parent.name for case in CASES} == set(WIRES)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_golden(case: Path, accept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(case.parent)  # so that origins name the file alone
    exchanges = [item for item in read_exchanges(case.name) if isinstance(item, Exchange)]
    found = {
        "cooked": json.loads(b"".join(encode(cook(case.name)))),
        "exchanges": json.loads(msgspec.json.encode(exchanges)),
    }
    golden = case.with_suffix(".golden.json")
    if accept:
        golden.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n")
    assert found == json.loads(golden.read_text()), "if this is right: pytest --accept, and look at the diff"


@pytest.mark.parametrize("case", CASES, ids=name)
def test_recognised_without_being_told(case: Path) -> None:
    exchanges = [item for item in read_exchanges(case) if isinstance(item, Exchange)]
    assert {exchange.wire for exchange in exchanges} == {case.parent.name}


@pytest.mark.parametrize("case", CASES, ids=name)
def test_told_gives_the_same_as_recognised(case: Path) -> None:
    told = msgspec.json.encode(list(read_exchanges(case, wire=case.parent.name)))
    assert told == msgspec.json.encode(list(read_exchanges(case)))


@pytest.mark.parametrize("case", CASES, ids=name)
def test_no_value_can_make_it_raise(case: Path) -> None:
    """Each value of each record is replaced in turn; there is one exchange, unless the request itself is gone."""
    for record in json.loads(case.read_text()):
        for mutant in mutants(record):
            data = json.dumps(mutant).encode()
            items = list(Traffic().read(Record(data, Origin("mutant", 1, 0, len(data)))))
            exchanges = [item for item in items if isinstance(item, Exchange)]
            assert len(exchanges) == isinstance(mutant.get("request"), dict), mutant
            assert all(isinstance(item, Exchange | Note) for item in items)
            cooker = Cooker()
            assert msgspec.json.encode([cooker.add(exchange) for exchange in exchanges])
            assert msgspec.json.encode([exchanges, cooker.messages, cooker.tools])


def mutants(value: Any) -> Iterator[Any]:
    """The value with one value somewhere in it replaced, for each place and each replacement."""
    for new in (None, 7, "x", "9" * 5000, [], {}, [None], {"type": "x"}):
        yield from replaced(value, new)


def _with(value: Any, key: Any, new: Any) -> Any:
    copy = value.copy()
    copy[key] = new
    return copy


@pytest.mark.parametrize("case", CASES, ids=name)
def test_whatever_stands_in_a_request_is_kept_or_noted(case: Path) -> None:
    """A word in place of any value of the request, alone, in a list or in an object, is found again."""
    word = "plantedword"
    for record in json.loads(case.read_text()):
        for planted in (word, [word], {"key": word}):
            for request in replaced(record["request"], planted):
                data = json.dumps({**record, "request": request}).encode()
                items = list(Traffic().read(Record(data, Origin("planted", 1, 0, len(data)))))
                assert word.encode() in msgspec.json.encode(items), request


def replaced(value: Any, new: Any) -> Iterator[Any]:
    """The value with `new` in the place of each value in it, in turn."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, old in list(inner):
        yield _with(value, key, new)
        for deeper in replaced(old, new):
            yield _with(value, key, deeper)


@pytest.mark.parametrize("wire", WIRES.values(), ids=lambda wire: wire.name)
def test_no_json_value_makes_a_decoder_raise(wire: Any) -> None:
    values: tuple[Any, ...] = (
        None,
        True,
        7,
        1.5,
        "x",
        [],
        {},
        [None],
        [[]],
        [{}],
        {"type": None},
        {"role": 3},
        {"parts": 1},
    )
    for value in values:
        for slot in (*wire.heads, wire.items):
            assert len(wire.decode(slot, value).id) == 64
        assert all(isinstance(tool, Tool) for tool in wire.tools(value))
        assert isinstance(wire.fold([value]).body, dict)
        keys = ("content", "choices", "output", "candidates", "usage", "usageMetadata", "id", "model", "stop_reason")
        body = value if isinstance(value, dict) else dict.fromkeys(keys, value)
        assert isinstance(wire.answer(body), Response)


REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("claude", {"request": {"system": "Be brief.", "messages": []}}),
    ("claude", {"request": {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}}),
    ("claude", {"request": {"messages": [], "tools": [{"type": "web_search_20250305"}, {"input_schema": {}}]}}),
    ("claude", {"request": {"messages": []}, "response": {"type": "message", "content": []}}),
    ("claude", {"request": {}, "response": {"stream": True, "sse_lines": ["event: ping", 'data: {"type":"error"}']}}),
    ("claude", {"request": {"messages": []}, "path": "/v1/messages?beta=true"}),
    ("claude", {"request": {"messages": [], "model": "claude-opus-4-1"}}),
    ("claude", {"request": {"messages": []}, "response": {"content": [{"type": "text", "text": "Hello!"}]}}),
    ("claude", {"request": {"messages": [], "thinking": {"type": "enabled"}}}),
    (
        "claude",
        {"request": {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url"}}]}]}},
    ),
    ("gemini", {"request": {}, "response": {"model_version": "gemini-3"}}),
    ("gemini", {"request": {"tools": [{"google_search": {}}]}}),
    ("responses", {"request": {}, "response": {"output": []}}),
    ("responses", {"request": {"input": "hi"}, "response": {"type": "error", "error": {"message": "slow"}}}),
    ("openai", {"request": {"messages": [{"role": "tool", "content": "x"}]}, "response": {"type": "error"}}),
    ("gemini", {"request": {"contents": []}}),
    ("gemini", {"request": {"systemInstruction": "x"}}),
    ("gemini", {"request": {}, "response": {"modelVersion": "gemini-3"}}),
    ("gemini", {"request": {}, "path": "/v1/models/gemini-3:streamGenerateContent"}),
    ("gemini", {"request": {"tools": [{"functionDeclarations": []}]}}),
    ("responses", {"request": {"input": "Hi"}}),
    ("responses", {"request": {"previous_response_id": "resp_1"}}),
    ("responses", {"request": {}, "response": {"object": "response", "output": []}}),
    ("responses", {"request": {}, "response": {"stream": True, "sse_lines": ['data: {"type":"response.created"}']}}),
    ("openai", {"request": {"messages": [{"role": "user", "content": "Hi"}]}}),
    ("openai", {"request": {"messages": [], "model": "claude-3"}, "response": {"choices": []}}),
    ("openai", {"request": {"messages": [], "system": "x"}, "path": "/v1/chat/completions"}),
    ("openai", {"request": {}}),
]


def test_parts_that_few_clients_send() -> None:
    """A file by its address, as Perplexity and Z.ai take it; what a client of Bedrock found, to be cited."""
    by_address = {"type": "file_url", "file_url": {"url": "https://example.org/a.pdf"}}
    (document,) = WIRES["openai"].decode("messages", {"role": "user", "content": [by_address]}).blocks
    assert document == Document("document", "url", "https://example.org/a.pdf")
    found = {"searchResult": {"source": "yard", "title": "Cats", "content": [{"text": "Two."}]}}
    (other,) = WIRES["claude"].decode("messages", {"role": "user", "content": [found]}).blocks
    assert other == Other("searchResult", found, known=True)


@pytest.mark.parametrize(("wire", "record"), REQUESTS)
def test_one_sign_is_enough(wire: str, record: dict[str, Any]) -> None:
    data = json.dumps(record).encode()
    (exchange,) = (item for item in Traffic().read(Record(data, Origin("x", 1, 0, 0))) if isinstance(item, Exchange))
    assert exchange.wire == wire


def test_claims_need_no_response() -> None:
    envelope = open_envelope(b'{"request": {"messages": []}}')
    request = envelope["request"]
    assert isinstance(request, dict)
    assert {name: wire.claims(Signs("", request, b"", None)) for name, wire in WIRES.items()} == dict.fromkeys(WIRES, 0)


def test_sources_that_a_stream_adds_leave_an_interaction_its_text() -> None:
    """Whatever else a delta adds: what the step is was told when it began."""
    cited = [{"type": "url_citation", "url": "https://example.org"}]
    deltas: list[dict[str, Any]] = [
        {"type": "text", "text": "Two."},
        {"type": "text_annotation_delta", "annotations": cited},
        {"type": "a_new_delta", "found": 1},
    ]
    begun: dict[str, Any] = {"event_type": "step.start", "index": 0, "step": {"type": "model_output"}}
    grown = ({"event_type": "step.delta", "index": 0, "delta": delta} for delta in deltas)
    folded = WIRES["interactions"].fold([begun, *grown])
    said = [{"type": "text", "text": "Two.", "annotations": cited}]
    assert folded.body["steps"] == [{"type": "model_output", "content": said, "found": 1}]


def test_what_perplexity_searched_by_itself_is_its_call_with_what_it_found() -> None:
    results = [{"id": 1, "title": "Cats", "url": "https://example.org"}]
    pages = [{"url": "https://example.org", "snippet": "Two."}]
    output: list[dict[str, Any]] = [
        {"type": "search_results", "queries": ["cats"], "results": results},
        {"type": "fetch_url_results", "contents": pages},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Two."}]},
    ]
    details = {"cache_creation_input_tokens": 1224, "cache_read_input_tokens": 1780, "cached_tokens": 1780}
    usage = {"input_tokens": 3007, "input_tokens_details": details, "output_tokens": 36, "total_tokens": 3043}
    found = WIRES["responses"].answer({"status": "completed", "output": output, "usage": usage})
    searched, fetched, _ = found.messages
    call, result = searched.blocks
    assert isinstance(call, ToolUse)
    assert isinstance(result, ToolResult)
    assert (call.name, call.arguments, call.server_side) == ("search", {"queries": ["cats"]}, True)
    assert result.content == (Other("search_results_result", results, known=True),)
    assert [type(block) for block in fetched.blocks] == [ToolUse, ToolResult]
    assert found.usage == Usage(3, 1780, 1224, 36, raw=usage)
    assert found.stop is not None
    assert found.stop.reason == "end_turn"


def test_calls_that_go_on_together_without_an_index_stay_apart() -> None:
    """A host that writes no index: pieces without a name belong to the calls in the order in which they stand."""
    begun = [{"id": name, "function": {"name": name, "arguments": "{"}} for name in ("cats", "dogs")]
    more = [{"function": {"arguments": rest}} for rest in ('"a": 1}', '"b": 2}')]
    deltas = ({"choices": [{"delta": {"tool_calls": calls}}]} for calls in (begun, more))
    (choice,) = WIRES["openai"].fold(deltas).body["choices"]
    written = [call["function"]["arguments"] for call in choice["message"]["tool_calls"]]
    assert written == ['{"a": 1}', '{"b": 2}']
    alone = ({"choices": [{"delta": {"tool_calls": [{"function": call["function"]}]}}]} for call in begun)
    (choice,) = WIRES["openai"].fold(alone).body["choices"]
    assert [call["function"]["name"] for call in choice["message"]["tool_calls"]] == ["cats", "dogs"]


def test_what_llama_cpp_had_cached_is_told_among_its_times() -> None:
    usage, times = {"prompt_tokens": 139, "completion_tokens": 34}, {"cache_n": 138, "prompt_n": 1, "predicted_n": 34}
    body: dict[str, Any] = {"choices": [], "usage": usage, "timings": times}
    assert WIRES["openai"].answer(body).usage == Usage(1, 138, 0, 34, raw=usage)
    elsewhere = {**times, "prompt_n": 2}  # of another prompt than was counted
    assert WIRES["openai"].answer({**body, "timings": elsewhere}).usage == Usage(139, 0, 0, 34, raw=usage)


def test_what_databricks_adds_to_thoughts_is_kept() -> None:
    summaries = [
        [{"type": "summary_text", "text": "Hm.", "signature": "c2ln"}],
        [{"type": "summary_encrypted_text", "data": "Y2lwaGVy"}],
        ["Hm."],
    ]
    parts = [{"type": "reasoning", "summary": summary} for summary in summaries]
    signed, hidden, odd = WIRES["openai"].decode("messages", {"role": "assistant", "content": parts}).blocks
    assert signed == Thinking("Hm.", "c2ln")
    assert hidden == Thinking("", encrypted="Y2lwaGVy", redacted=True)
    assert odd == Thinking("", extra={"summary": ["Hm."]})


def test_calls_that_share_an_id_stay_apart_by_their_index() -> None:
    begun = [{"index": at, "id": "look", "function": {"name": "look", "arguments": '{"at": '}} for at in (0, 1)]
    rest = [{"index": at, "id": "look", "function": {"arguments": f"{at}}}"}} for at in (1, 0)]
    events = [{"choices": [{"index": 0, "delta": {"tool_calls": [each]}}]} for each in (*begun, *rest)]
    (choice,) = WIRES["openai"].fold(events).body["choices"]
    assert [call["function"]["arguments"] for call in choice["message"]["tool_calls"]] == ['{"at": 0}', '{"at": 1}']
