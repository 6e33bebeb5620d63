"""`unspool thread` and `unspool document`, as users call them."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, Write
from unspool.store.checking import Checked, check
from unspool.store.store import Store

SAMPLES = Path(__file__).parent.parent / "samples"
ROLES = ("user", "assistant", "user")
pytestmark = pytest.mark.usefixtures("home")


def out(unspool: Run, *arguments: str | Path, stdin: bytes = b"") -> str:
    done = unspool(*arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def records(unspool: Run, *arguments: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out(unspool, *arguments, "--json").splitlines()]


def say(unspool: Run, text: str, *arguments: str) -> str:
    return out(unspool, "thread", "add", text, *arguments).strip()


def texts(turns: list[dict[str, Any]]) -> list[str]:
    return [block.get("text", block["type"]) for turn in turns for block in turn["content"]]


@pytest.fixture
def talk(unspool: Run) -> list[str]:
    """A thread with a bookmark, and another that left it in the middle."""
    ids = [say(unspool, "Be brief.", "--role", "system", "-b", "talk", "--options", '{"search": true}')]
    ids.append(say(unspool, "Why is the sky blue?", "-c", "talk", "--cache"))
    ids.append(say(unspool, "Rayleigh.", "-c", "talk", "--role", "assistant"))
    ids.append(say(unspool, "And the sea?", "-c", ids[0], "-b", "sea"))
    return ids


def test_threads_are_listed_newest_first(unspool: Run, talk: list[str]) -> None:
    sea, sky = records(unspool, "thread", "list")
    assert (sea["id"], sea["bookmarks"], sea["turns"], sea["prompt"]) == (talk[3], ["sea"], 2, "And the sea?")
    assert (sky["id"], sky["bookmarks"], sky["last"]) == (talk[2], ["talk"], "assistant")
    lines = out(unspool, "thread", "list", "--limit", "1").splitlines()
    assert lines[0].split() == ["thread", "bookmark", "last", "turns", "model", "asked"]
    assert lines[1].endswith("And the sea?")


def test_an_empty_store_has_no_threads(unspool: Run) -> None:
    done = unspool("thread", "list")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"no thread yet")


def test_a_thread_is_shown(unspool: Run, talk: list[str]) -> None:
    shown = out(unspool, "thread", "show", "talk")
    assert "❯ Why is the sky blue?" in shown
    assert "search true" in shown
    assert "  Rayleigh." in shown
    turns = records(unspool, "thread", "show", talk[2].upper())
    assert [turn["id"] for turn in turns] == talk[:3]
    assert turns[1]["cache"] is True
    assert turns[2]["continues"] == [talk[1]]
    assert turns[2]["bookmarks"] == ["talk"]
    assert texts(records(unspool, "thread", "show")) == ["Be brief.", "And the sea?"]


def test_a_tree_shows_where_threads_part(unspool: Run, talk: list[str]) -> None:
    lines = out(unspool, "thread", "tree", "sea").splitlines()
    assert [line[:3] for line in lines] == [talk[0][:3], "├─ ", "│  ", "╰─ "]
    assert "Rayleigh." in lines[2]
    assert lines[3].endswith("user sea  And the sea?")
    nodes = {node["id"]: node["children"] for node in records(unspool, "thread", "tree", "sea")}
    assert nodes == {talk[0]: [talk[1], talk[3]], talk[1]: [talk[2]], talk[2]: [], talk[3]: []}


def test_long_runs_of_a_tree_are_cut(unspool: Run) -> None:
    context = {"messages": [{"role": "user", "content": f"number {number}"} for number in range(20)]}
    out(unspool, "thread", "add", "--turns", "-", stdin=json.dumps(context).encode())
    lines = out(unspool, "thread", "tree").splitlines()
    assert (len(lines), lines[3].strip()) == (7, "… 14 turns")
    assert len(out(unspool, "thread", "tree", "--full").splitlines()) == 20


def test_a_tree_of_several_parents_names_the_others(unspool: Run, talk: list[str]) -> None:
    say(unspool, "Both", "-c", "talk", "-c", "sea", "-b", "both")
    assert f"both +{talk[2]}  Both" in out(unspool, "thread", "tree", "both")


def test_a_fork_goes_its_own_way(unspool: Run, talk: list[str]) -> None:
    assert out(unspool, "thread", "fork", "talk") == f"talk-2  {talk[2]}\n"
    assert out(unspool, "thread", "fork", talk[1][:25], "-b", "early") == f"early  {talk[1]}\n"
    say(unspool, "On the fork", "-c", "talk-2")
    assert texts(records(unspool, "thread", "show", "talk"))[-1] == "Rayleigh."
    assert texts(records(unspool, "thread", "show", "talk-2"))[-1] == "On the fork"
    taken = unspool("thread", "fork", "sea", "-b", "early")
    assert taken.returncode == 2
    assert b"bookmark early is there already" in taken.stderr
    assert out(unspool, "thread", "fork", "sea", "-b", "early", "--move") == f"early  {talk[3]}\n"


def test_a_removed_thread_is_gone_and_what_others_need_is_not(unspool: Run, talk: list[str], home: Path) -> None:
    assert out(unspool, "thread", "rm", "talk", "-n") == "would remove 2 turns, bookmark talk\n"
    assert out(unspool, "thread", "rm", "talk") == "removed 2 turns, bookmark talk\n"
    assert [turn["id"] for turn in records(unspool, "thread", "show", "sea")] == [talk[0], talk[3]]
    assert unspool("thread", "show", "talk").returncode == 2
    with Store.open(home) as store:
        assert list(check(store, Checked())) == []
        assert store.database.execute("SELECT count(*) FROM messages").fetchone() == (2,)
    assert out(unspool, "thread", "rm", "sea") == "removed 2 turns, bookmark sea\n"
    assert out(unspool, "store", "check").startswith("0 turns, 0 messages, 0 blobs, 0 bookmarks")
    assert not any(b"Rayleigh" in path.read_bytes() for path in home.iterdir())


def test_what_something_goes_on_from_is_not_removed_by_accident(unspool: Run, talk: list[str]) -> None:
    done = unspool("thread", "rm", talk[0])
    assert done.returncode == 2
    assert b"3 later turns go on from" in done.stderr
    out(unspool, "thread", "fork", talk[1], "-b", "middle")
    assert out(unspool, "thread", "rm", "middle") == "removed 0 turns, bookmark middle\n"
    removed = json.loads(out(unspool, "thread", "rm", talk[0], "--branches", "--json"))
    assert removed == {"turns": sorted(talk, reverse=True), "bookmarks": ["sea", "talk"]}


def test_of_two_bookmarks_at_one_turn_only_the_named_one_goes(unspool: Run, talk: list[str]) -> None:
    out(unspool, "thread", "fork", "talk", "-b", "same")
    assert out(unspool, "thread", "rm", "same") == "removed 0 turns, bookmark same\n"
    assert records(unspool, "thread", "show", "talk")[-1]["id"] == talk[2]


def test_a_turn_can_come_from_standard_input(unspool: Run) -> None:
    out(unspool, "thread", "add", "-b", "x", stdin="Grüße\n".encode())
    assert texts(records(unspool, "thread", "show", "x")) == ["Grüße"]
    for nothing in (b"", b" \n"):
        done = unspool("thread", "add", stdin=nothing)
        assert (done.returncode, done.stderr) == (2, b"unspool: an empty text is no turn\n")


def test_faults_in_given_turns_are_told_by_file_and_line(unspool: Run, write: Write) -> None:
    path = write({"content": "good"}, {"content": 3}, name="turns.jsonl")
    done = unspool("thread", "add", "--turns", path)
    assert done.returncode == 2
    assert done.stderr.decode().startswith(f"unspool: {path}:2: ")
    assert unspool("thread", "list").stdout == b""
    done = unspool("thread", "add", "--turns", write("{torn", name="torn.jsonl"))
    assert b"torn.jsonl:1: no JSON" in done.stderr
    done = unspool("thread", "add", "text", "--options", "{")
    assert (done.returncode, b"--options is no JSON" in done.stderr) == (2, True)
    done = unspool("thread", "add", "text", "--turns", path)
    assert (done.returncode, b"--turns comes alone" in done.stderr) == (2, True)


# Documents


def test_a_file_is_a_turn(unspool: Run, tmp_path: Path, home: Path) -> None:
    page = tmp_path / "Notes.md"
    page.write_text("# Notes\n")
    (turn,) = records(unspool, "document", page, "-b", "notes", "--cache")
    assert (turn["type"], turn["content_type"], turn["cache"]) == ("document", "text/markdown", True)
    assert (turn["document_name"], turn["original_path"], turn["file_size"]) == ("Notes.md", str(page), 8)
    say(unspool, "What do they say?", "-c", "notes")
    (first, second) = json.loads(out(unspool, "context", "resolve", "notes"))["messages"]
    assert first["content"] == [
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "text/markdown", "data": "IyBOb3Rlcwo="},
            "title": "Notes.md",
            "cache_control": {"type": "ephemeral"},
        }
    ]
    assert second["role"] == "user"
    assert "[document: text/markdown, 8 bytes] Notes.md" in out(unspool, "thread", "show", "notes")
    with Store.open(home) as store:
        assert store.database.execute("SELECT data FROM blobs").fetchall() == [(b"# Notes\n",)]


@pytest.mark.parametrize(
    ("name", "data", "media_type"),
    [
        ("a.txt", b"x", "text/plain"),
        ("a.csv", b"x", "text/csv"),
        ("a.JSON", b"{}", "application/json"),
        ("a.pdf", b"%PDF", "application/pdf"),
        ("a.jpeg", b"\xff\xd8", "image/jpeg"),
        ("a.png", b"\x89PNG", "image/png"),
        ("a.webp", b"RIFF", "image/webp"),
        ("Makefile", b"all:\n", "text/plain"),
        ("a.ts", b"let x = 1\n", "text/plain"),
        ("a.sh", b"true\n", "text/plain"),
        ("a.zip", b"PK\x03\xff", "application/zip"),
        ("blob", b"\0\1\2", "application/octet-stream"),
        ("blob.unknown-ending", b"\xff\xfe", "application/octet-stream"),
    ],
)
def test_a_documents_type_is_known_by_its_name_or_its_bytes(
    unspool: Run, tmp_path: Path, name: str, data: bytes, media_type: str
) -> None:
    (tmp_path / name).write_bytes(data)
    (turn,) = records(unspool, "document", tmp_path / name)
    assert turn["content_type"] == media_type


def test_standard_input_is_a_document_too(unspool: Run) -> None:
    done = unspool("document", "-", "-n", "notes.md", "--json", stdin=b"# Notes\n")
    turn = json.loads(done.stdout)
    assert (turn["content_type"], turn["document_name"], turn["file_size"]) == ("text/markdown", "notes.md", 8)
    assert "original_path" not in turn
    assert json.loads(unspool("document", "-", "--json", stdin=b"x").stdout)["content_type"] == "text/plain"
    empty = unspool("document", "-", stdin=b"")
    assert (empty.returncode, empty.stderr) == (2, b"unspool: standard input is empty\n")


def test_several_files_follow_each_other(unspool: Run, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(name)
    first, second = out(unspool, "document", tmp_path / "a.txt", tmp_path / "b.txt", "-b", "both").split()
    assert [turn["id"] for turn in records(unspool, "thread", "show", "both")] == [first, second]
    done = unspool("document", tmp_path / "a.txt", tmp_path / "gone.txt")
    assert (done.returncode, b"gone.txt: No such file" in done.stderr) == (2, True)
    assert len(records(unspool, "thread", "list")) == 1, "all of them are stored, or none"


def test_a_file_that_is_too_large_or_empty_is_refused(unspool: Run, tmp_path: Path) -> None:
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(100_000_001)
    done = unspool("document", tmp_path / "huge.txt")
    assert (done.returncode, b"100,000,001 bytes; a document may have 100,000,000" in done.stderr) == (2, True)
    done = unspool("document", "/dev/zero")
    assert (done.returncode, b"/dev/zero: no end after 100,000,000 bytes" in done.stderr) == (2, True)
    (tmp_path / "empty.txt").touch()
    done = unspool("document", tmp_path / "empty.txt")
    assert (done.returncode, b"is empty" in done.stderr) == (2, True)


def test_a_document_that_a_script_gives_is_sent_by_its_name(unspool: Run) -> None:
    source = {"type": "base64", "media_type": "application/pdf", "data": "aGk="}
    turn = {"type": "document", "document_name": "a.pdf", "content": [{"type": "document", "source": source}]}
    out(unspool, "thread", "add", "--turns", "-", "-b", "a", stdin=json.dumps(turn).encode())
    body = json.loads(out(unspool, "request", "a", "-p", "anthropic/x"))
    assert body["messages"][0]["content"] == [{"type": "document", "source": source, "title": "a.pdf"}]


# From what others recorded


def test_a_recorded_call_becomes_a_thread_and_shares_what_is_here(unspool: Run) -> None:
    trace = SAMPLES / "traces" / "trip-planner.jsonl"
    (whole,) = records(unspool, "thread", "from", f"{trace}#3", "-b", "trip")
    assert (len(whole["turns"]), whole["new"], whole["left"]) == (7, 7, 0)
    turns = records(unspool, "thread", "show", "trip")
    assert [turn["role"] for turn in turns] == ["system", *["user", "assistant"] * 3]
    assert turns[-1]["answer"]["api"] == "openai"
    assert turns[-1]["answer"]["usage"]["output"] > 0
    (earlier,) = records(unspool, "thread", "from", f"{trace}#2")
    assert earlier["new"] == 0
    assert earlier["turns"] == whole["turns"][: len(earlier["turns"])]
    (cut,) = records(unspool, "thread", "from", f"{trace}#r2", "--at", "2")
    assert cut["turns"] == whole["turns"][:2]
    assert cut["left"] == 5
    answer = turns[-1]["answer"]["response_id"]
    assert records(unspool, "thread", "from", f"{trace}#{answer}")[0]["id"] == whole["id"]


def test_calls_of_any_api_become_threads(unspool: Run, write: Write) -> None:
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "now", "arguments": "{}"},
        {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "here", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "noon"},
        {"type": "function_call_output", "call_id": "c2", "output": "home"},
    ]
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Noon, at home."}]}
    response = {"id": "resp_1", "object": "response", "model": "m", "status": "completed", "output": [said]}
    path = write({"request": {"model": "m", "input": items}, "response": response})
    out(unspool, "thread", "from", f"{path}#1", "-b", "x")
    turns = records(unspool, "thread", "show", "x")
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user", "assistant"]
    assert [block["type"] for block in turns[1]["content"]] == ["thinking", "tool_use", "tool_use"]
    assert [block["tool_use_id"] for block in turns[2]["content"]] == ["c1", "c2"]


def test_moving_cache_marks_are_no_news(unspool: Run, write: Write) -> None:
    mark = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}

    def call(*texts: str) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = [{"type": "text", "text": text} for text in ("system", *texts)]
        blocks[0] |= mark
        blocks[-1] |= mark
        said = [{"role": role, "content": [block]} for role, block in zip(ROLES, blocks[1:], strict=False)]
        body = {"model": "claude-x", "max_tokens": 9, "system": [blocks[0]], "messages": said}
        return {"request": body, "response": {"type": "message", "role": "assistant", "content": []}}

    path = write(call("a"), call("a", "b", "c"))
    assert records(unspool, "thread", "from", f"{path}#1")[0]["new"] == 2
    assert records(unspool, "thread", "from", f"{path}#2")[0]["new"] == 2


def test_an_agents_session_becomes_a_thread_cut_anywhere(unspool: Run) -> None:
    log = SAMPLES / "logs" / "claude-code.jsonl"
    (whole,) = records(unspool, "thread", "from", log, "-b", "bakery")
    turns = records(unspool, "thread", "show", "bakery")
    assert (len(turns), whole["new"]) == (16, 16)
    assert turns[0]["role"] == "user"
    assert turns[1]["answer"]["model"].startswith("claude-")
    assert turns[0]["origin"] == {"source": "session", "agent": "claude_code", "session": turns[0]["origin"]["session"]}
    assert records(unspool, "thread", "from", log, "--at", "4")[0]["turns"] == whole["turns"][:4]
    event = next(
        json.loads(line) for line in out(unspool, "show", log, "--json").splitlines() if '"tool_result"' in line
    )
    (cut,) = records(unspool, "thread", "from", log, "--at", event["id"])
    assert cut["turns"] == whole["turns"][: len(cut["turns"])]
    assert len(cut["turns"]) < 16
    assert records(unspool, "thread", "from", log, "--at", event["id"][:12])[0]["turns"] == cut["turns"]


def test_a_call_of_which_the_log_has_only_the_tokens(unspool: Run, write: Write) -> None:
    """A model that answered with nothing: Copilot CLI keeps what that used."""

    def line(kind: str, **data: object) -> dict[str, object]:
        return {"type": kind, "data": data, "id": kind, "timestamp": "2026-07-05T04:00:44.163Z", "parentId": None}

    used = {"inputTokens": 9, "outputTokens": 30, "cacheReadTokens": 0, "cacheWriteTokens": 0}
    path = write(
        line("session.start", sessionId="s", version=1, producer="copilot-agent", copilotVersion="1.0"),
        line("user.message", content="Hi"),
        line("assistant.message", messageId="m", content="", toolRequests=[], outputTokens=30),
        line("session.shutdown", modelMetrics={"tin-1": {"requests": {"count": 1}, "usage": used}}),
        name="events.jsonl",
    )
    (made,) = records(unspool, "thread", "from", path)
    assert [turn["role"] for turn in records(unspool, "thread", "show", made["turns"][-1])] == ["user"]


def test_sessions_that_begin_alike_are_threads_of_their_own(unspool: Run, write: Write) -> None:
    def log(session: str) -> Path:
        entry = {"sessionId": session, "cwd": "/tmp/a", "version": "2.0.0", "timestamp": "2026-03-02T10:00:00.000Z"}
        asked = {
            "type": "user",
            "uuid": f"{session}-1",
            "parentUuid": None,
            "message": {"role": "user", "content": "Hi"},
        }
        return write(entry | asked, name=f"{session}.jsonl")

    first, second = (records(unspool, "thread", "from", log(name))[0] for name in ("one", "two"))
    assert (first["new"], second["new"]) == (1, 1)
    assert first["turns"] != second["turns"]
    say(unspool, "Hi")
    assert records(unspool, "thread", "from", log("one"))[0]["turns"] == first["turns"]


def test_a_session_that_has_gone_on_shares_what_it_said_before(unspool: Run, tmp_path: Path) -> None:
    lines = (SAMPLES / "logs" / "codex.jsonl").read_bytes().splitlines(keepends=True)
    log = tmp_path / "codex.jsonl"
    log.write_bytes(b"".join(lines[: len(lines) // 2]))
    (before,) = records(unspool, "thread", "from", log, "-b", "codex")
    log.write_bytes(b"".join(lines))
    (after,) = records(unspool, "thread", "from", log, "-b", "codex")
    assert 0 < before["new"] < len(after["turns"])
    assert after["new"] == len(after["turns"]) - len(before["turns"])
    assert after["turns"][: len(before["turns"])] == before["turns"]
    assert records(unspool, "thread", "list")[0]["bookmarks"] == ["codex"]


@pytest.mark.parametrize(
    ("name", "more", "reason"),
    [
        ("trip-planner.jsonl#9", [], "no recorded call is '9'; it has 3"),
        ("trip-planner.jsonl#0", [], "no recorded call is '0'"),
        ("trip-planner.jsonl#nobody", [], "no recorded call is 'nobody'"),
        ("trip-planner.jsonl#1", ["--at", "99"], "there is no turn 99 to cut it at"),
        ("trip-planner.jsonl#1", ["--at", "x"], "'x' is no number of turns"),
        ("trip-planner.jsonl#1", ["--at", "²"], "'²' is no number of turns"),
        ("trip-planner.jsonl", [], "name one call"),
        ("gone.jsonl#1", [], "No such file"),
        ("../logs/codex.jsonl", ["--at", "nobody"], "no event of this session has the id 'nobody'"),
        ("../logs/codex.jsonl", ["--at", "²"], "no event of this session has the id '²'"),
        ("../logs/codex.jsonl", ["--at", ""], "several events of this session have ids that begin with ''"),
        ("../logs/codex.jsonl", ["--stream", "agent:x"], "has no stream 'agent:x', only main"),
    ],
)
def test_what_cannot_be_found_is_told(unspool: Run, name: str, more: list[str], reason: str) -> None:
    done = unspool("thread", "from", str(SAMPLES / "traces" / name), *more)
    assert done.returncode == 2
    assert reason in done.stderr.decode()
