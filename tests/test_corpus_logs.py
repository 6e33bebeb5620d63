"""Real logs, where they are at hand: UNSPOOL_CORPUS and UNSPOOL_CLIENTS, or ../shared/{corpus,clients/logs}.

The corpus has a folder for each family, and `index.jsonl`, which says of each file whether a program `recorded` it. The
clients are programs of today that were walked through a plan that we know, so that we know what their logs must tell.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from told import read_log
from unspool.actions import vocabulary_for
from unspool.actions.shapes import Apart
from unspool.ingest.digests import digest_file
from unspool.ingest.heads import head_of
from unspool.ingest.sessions import Found, gather
from unspool.jobs.tools import tools
from unspool.model.action import FileRead
from unspool.model.event import Said, ToolCall, ToolOutput
from unspool.model.session import Tokens
from unspool.readers import READERS

SHARED = Path(__file__).parent.parent.parent / "shared"
CORPUS = Path(os.environ.get("UNSPOOL_CORPUS", SHARED / "corpus"))
CLIENTS = Path(os.environ.get("UNSPOOL_CLIENTS", SHARED / "clients" / "logs"))
FAMILIES = {
    "claude_code": "claude_code",
    "claude_stream_json": "claude_stream",
    "codex_exec_json": "codex_exec",
    "codex_rollout": "codex",
    "codex_rollout_old": "codex",
    "copilot_cli": "copilot_cli",
    "cursor": "cursor",
    "droid": "droid droid_stream",
    "gemini_cli": "gemini_cli gemini_cli_json",
    "goose": "goose goose_export goose_jsonl",
    "opencode": "opencode_export",
    "opencode_events": "opencode_stream",
    "pi": "pi",
    "qwen_code": "qwen_code",
}
UNCLAIMED = (
    # Other agents, other programs' views of a session, and recorded calls.
    "api_anthropic api_capture_other api_gemini api_openai_chat api_openai_compat api_openai_responses api_other "
    "api_response_only atif codex_tui_log copilot_chat_vscode goose_provider_recording inspect_eval_log kimi "
    "openhands otel specstory swe_agent".split()
)
OTHERS = {
    "pi/deepseek-Entire__hook-codex-posttool-context.jsonl": None,  # another program, filed under Pi
    "pi/deepseek-Entire__subagent-list-agents.jsonl": None,
    "qwen_code/agentsview__session-5de701fc-7454-4858-a249-95cac4fd3b51.jsonl": "iflow",
}
TRIMMED = {  # every text in them, also ids and totals, was replaced by the same words or zero
    "codex_rollout/agent-sessions__small.jsonl",
    "copilot_cli/agent-sessions__small.jsonl",
}


def short(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


FILES = sorted(path for family in FAMILIES for path in (CORPUS / family).rglob("*") if path.is_file())
LOGS = [path for path in FILES if OTHERS.get(short(path), "") is not None]
CLEAR = [path for path in LOGS if short(path) not in TRIMMED]
INDEX = CORPUS / "index.jsonl"
ROWS = [json.loads(line) for line in INDEX.read_text().splitlines()] if INDEX.is_file() else []
HANDMADE = {f"{row['family']}/{row['file']}" for row in ROWS if row["origin"] == "handmade"}
"""Other projects' fixtures: some hold records that no program ever wrote."""

needs_corpus = pytest.mark.skipif(not FILES, reason=f"needs logs of agents in {CORPUS} (UNSPOOL_CORPUS)")
needs_clients = pytest.mark.skipif(not CLIENTS.is_dir(), reason=f"needs logs in {CLIENTS} (UNSPOOL_CLIENTS)")


read = cache(read_log)


def of(*families: str) -> list[Path]:
    return [path for path in LOGS if path.parent.name in families]


def objects(path: Path) -> Iterator[dict[str, Any]]:
    """What stands in the file, in the plainest way: its lines, or the messages of a document."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        values = [json.loads(text)]
    except ValueError:
        values = []
        for line in text.split("\n"):
            try:
                values.append(json.loads(line))
            except ValueError:
                continue
    for value in values:
        if isinstance(value, dict):
            yield value
            yield from (message for message in value.get("messages") or () if isinstance(message, dict))


def inner(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


# Whose files, and what is understood of them


@needs_corpus
@pytest.mark.parametrize("path", FILES, ids=short)
def test_one_reader_claims_it(path: Path) -> None:
    head = head_of(str(path))
    claims = [reader.name for reader in READERS.values() if reader.claims(head)]
    if short(path) in OTHERS:
        assert claims == [name for name in [OTHERS[short(path)]] if name]
    else:
        assert len(claims) == 1
        assert claims[0] in FAMILIES[path.parent.name].split()


@needs_corpus
def test_families_without_a_reader_are_unclaimed() -> None:
    claimed = []
    for path in (path for family in UNCLAIMED for path in (CORPUS / family).rglob("*") if path.is_file()):
        head = head_of(str(path))
        claimed += [(short(path), reader.name) for reader in READERS.values() if reader.claims(head)]
    assert claimed == []


@needs_corpus
def test_every_family_is_named_here() -> None:
    assert {path.name for path in CORPUS.iterdir() if path.is_dir()} <= {*FAMILIES, *UNCLAIMED}


@needs_corpus
@pytest.mark.parametrize("path", LOGS, ids=short)
def test_every_record_that_a_program_wrote_is_known(path: Path) -> None:
    unknown = [f"{note.origin.line}: {note.reason}" for note in read(path)[1] if note.kind == "unknown"]
    assert unknown == [] or short(path) in HANDMADE


@needs_corpus
def test_unknown_records_are_below_one_in_a_hundred() -> None:
    unknown = sum(note.kind == "unknown" for path in LOGS for note in read(path)[1])
    lines = sum(path.read_bytes().count(b"\n") for path in LOGS)
    assert lines > 5_000
    assert unknown / lines < 0.01


# Calls and prompts


@needs_corpus
@pytest.mark.parametrize("path", CLEAR, ids=short)
def test_every_result_belongs_to_one_call(path: Path) -> None:
    events, _ = read(path)
    calls = {
        (event.session_id, event.content.provider_call_id) for event in events if isinstance(event.content, ToolCall)
    }
    results = Counter(
        (event.session_id, event.content.provider_call_id) for event in events if isinstance(event.content, ToolOutput)
    )
    text = path.read_text(encoding="utf-8", errors="replace")
    lost = [id_ for session, id_ in results if (session, id_) not in calls]
    assert [id_ for id_ in lost if id_ is None or text.count(id_) > 1] == [], "its call is there"
    assert [id_ for id_, number in results.items() if number > 1] == []


@needs_corpus
@pytest.mark.parametrize("path", [path for path in CLEAR if short(path) not in HANDMADE], ids=short)
def test_every_result_that_the_file_has_comes_out(path: Path) -> None:
    """Ids of results, found by their key alone, wherever they stand."""
    found = set(result_ids(list(objects(path))))
    told = {event.content.provider_call_id for event in read(path)[0] if isinstance(event.content, ToolOutput)}
    assert found - told == set()


def result_ids(value: Any) -> Iterator[str]:
    """Of Claude's blocks, of Codex's outputs, of Gemini's responses."""
    match value:
        case {"type": "tool_result", "tool_use_id": str(id_)}:
            yield id_
        case {"type": "function_call_output" | "custom_tool_call_output", "call_id": str(id_)}:
            yield id_
        case {"functionResponse": {"id": str(id_)}}:
            yield id_
        case dict():
            for part in value.values():
                yield from result_ids(part)
        case list():
            for part in value:
                yield from result_ids(part)


@needs_corpus
@pytest.mark.parametrize("path", CLEAR, ids=short)
def test_a_session_with_a_prompt_shows_it(path: Path) -> None:
    typed = [text.strip() for text in prompts(path) if is_typed(text)]
    if typed:
        shown = [stream.prompt for digest in digest_file(str(path)).sessions for stream in digest.streams.values()]
        assert any(prompt and prompt.strip()[:40] in text for prompt in shown for text in typed)


def prompts(path: Path) -> Iterator[str]:
    """All that is said to be a user's, as the file has it."""
    for value in objects(path):
        parts = [part for part in (value, *map(value.get, ("payload", "message", "data"))) if isinstance(part, dict)]
        for part in parts if not value.get("isMeta") else ():
            if value.get("type") in ("user", "user.message") or "user" in (
                part.get("role"),
                inner(part, "info", "role"),
            ):
                yield from texts(part.get("content") or part.get("parts"))


def texts(content: Any) -> Iterator[str]:
    for part in content if isinstance(content, list) else [content]:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str):
            yield text


def is_typed(text: str) -> bool:
    """Not what programs put in a user's mouth: tags, instructions, what the model is told of its surroundings."""
    put = (
        "<",
        "#",
        "[Request interrupted",
        "Caveat:",
        "This is the",
        "This session is being",
        "Warmup",
        "Base directory",
    )
    return bool(text.strip()) and not text.lstrip().startswith((*put, "Stop hook feedback"))


@needs_corpus
def test_the_prompts_looked_for_are_many() -> None:
    with_prompt = [path for path in LOGS if any(map(is_typed, prompts(path)))]
    assert len(with_prompt) > 100
    assert {path.parent.name for path in with_prompt} >= set("claude_code codex_rollout gemini_cli pi opencode".split())


# Tools


@needs_corpus
def test_no_known_tool_of_a_first_agent_falls_to_generic() -> None:
    families = "claude_code claude_stream_json codex_exec_json codex_rollout codex_rollout_old gemini_cli".split()
    mistaken = {
        ("codex", "shell_command"): 1,  # no arguments at all, in a log that was made by hand
        ("codex", "apply_patch"): 1,
        ("codex", "tool_search"): 1,  # the same, in one that was trimmed
        ("codex", "update_plan"): 1,  # the model mistook the tool, which refused the call
    }
    seen, _ = tools([str(path) for path in of(*families)])
    assert len(seen) > 50
    fallen = {
        (tool.agent, tool.name): tool.kinds["generic"]
        for tool in seen
        if tool.agent in ("claude_code", "codex", "gemini_cli") and tool.known and tool.kinds.get("generic")
        if not is_apart(tool.agent, tool.name)
    }
    assert fallen == mistaken


def is_apart(agent: str, name: str) -> bool:
    """A tool that none of our kinds fits, and that is generic on purpose."""
    return issubclass(vocabulary_for(agent).tools[name], Apart)


# Tokens: the log's own totals, added up in another way


def used(path: Path) -> Tokens:
    streams = [stream.tokens for digest in digest_file(str(path)).sessions for stream in digest.streams.values()]
    return sum(streams, Tokens())


@needs_corpus
@pytest.mark.parametrize("path", of("claude_code"), ids=short)
def test_claude_s_messages_are_counted_once_each(path: Path) -> None:
    if short(path) == "claude_code/claude-code-log__edge_cases.jsonl":
        pytest.skip("made by hand: its last lines are of other sessions, which count themselves")
    counts: dict[Any, list[int]] = {}
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    for line in objects(path):
        answer = inner(line, "data", "message") if line.get("type") == "progress" else line
        message, usage = inner(answer, "message"), inner(answer, "message", "usage")
        if inner(answer, "type") == "assistant" and isinstance(usage, dict) and message.get("model") != "<synthetic>":
            key = message.get("id") or line.get("uuid"), answer.get("requestId")
            numbers = [int(usage.get(name) or 0) for name in names]
            counts[key] = list(map(max, numbers, counts.get(key, numbers)))
    found = used(path)
    assert [found.input, found.cache_read, found.cache_write, found.output] == [
        sum(numbers) for numbers in (zip(*counts.values(), strict=True) if counts else [()] * 4)
    ]


@needs_corpus
@pytest.mark.parametrize("path", of("codex_rollout", "codex_rollout_old"), ids=short)
def test_codex_s_last_total_is_what_was_used(path: Path) -> None:
    if short(path) in TRIMMED:
        pytest.skip("trimmed: its last total is zero")
    totals = [inner(line, "payload", "info", "total_token_usage") for line in objects(path)]
    last: dict[str, int] = next((total for total in reversed(totals) if total), {})
    cached = last.get("cached_input_tokens", 0)
    assert used(path) == Tokens(
        input=last.get("input_tokens", 0) - cached,
        cache_read=cached,
        output=last.get("output_tokens", 0),
        reasoning=last.get("reasoning_output_tokens", 0),
    )


@needs_corpus
@pytest.mark.parametrize("path", of("gemini_cli"), ids=short)
def test_gemini_s_totals_add_up(path: Path) -> None:
    totals = {line["id"]: inner(line, "tokens", "total") or 0 for line in objects(path) if "id" in line}
    assert used(path).total == sum(totals.values())


# Programs of today, walked through a plan that we know

CHAT = Tokens(510, 0, 0, 125, 0)
PLAN = {
    "claude": Tokens(510, 5000, 50, 125, 0),
    "codex": Tokens(510, 5000, 0, 125, 25),
    "gemini": Tokens(260, 250, 0, 150, 25),
    "opencode": CHAT,
    "pi": CHAT,
    "qwen": CHAT,
}
PROMPT = "Make greeting.txt say hello twice."
ANSWER = "All done: **greeting.txt** now says hello twice. ✅ 你好"


def client_logs(client: str) -> list[Path]:
    """Its own log, and what it wrote to standard output."""
    kept = [path for path in (CLIENTS / client / "home").rglob("*") if path.is_file() and path.name != "projects.json"]
    return [*kept, CLIENTS / client / "stdout.jsonl"]


def session_of(path: Path) -> Found:
    (session,) = gather([(str(path), digest_file(str(path)))])
    return session


@needs_clients
@pytest.mark.parametrize("client", PLAN)
def test_the_tokens_of_five_calls(client: str) -> None:
    for path in client_logs(client):
        assert session_of(path).tokens == PLAN[client], path.name


def deed(call: ToolCall) -> str:
    """Codex reads by a shell command, and in this run looked for a file too many."""
    return "file_read" if any(isinstance(action, FileRead) for action in call.actions) else call.kind


@needs_clients
@pytest.mark.parametrize("client", PLAN)
def test_four_tools_each_with_a_result(client: str) -> None:
    for path in client_logs(client):
        events, notes = read(path)
        calls = [event.content for event in events if isinstance(event.content, ToolCall)]
        results = [event.content for event in events if isinstance(event.content, ToolOutput)]
        assert len(calls) == 4, path.name
        assert {call.provider_call_id for call in calls} == {result.provider_call_id for result in results}
        assert [result.is_error for result in results] == [False, False, client == "codex", False]
        assert [deed(call) for call in calls] == ["execute", "file_write", "file_read", "file_edit"]
        assert [note for note in notes if note.kind == "unknown"] == []


@needs_clients
@pytest.mark.parametrize("client", PLAN)
def test_the_prompt_and_the_last_answer(client: str) -> None:
    log, stdout = client_logs(client)
    assert (session_of(log).prompt or "").strip('"') == PROMPT
    for path in (log, stdout):
        said = [event.content.text for event in read(path)[0] if isinstance(event.content, Said)]
        assert said[-1] == ANSWER, path.name
