"""`unspool ask` against a real server on loopback that speaks each provider's API, well and badly."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from contexts import PROVIDERS, environment, key
from model_server import Fault, ModelServer, Words
from unspool.store.store import Store
from unspool.threads.context import resolve
from unspool.wires.normalised import write_context

pytestmark = pytest.mark.usefixtures("home")
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def context(name: str) -> dict[str, Any]:
    with Store.open() as store:
        return write_context(resolve(store, [name]))


def texts(name: str) -> list[str]:
    return [block["text"] for message in context(name)["messages"] for block in message["content"] if "text" in block]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_streams_and_is_stored(unspool: Run, provider: str) -> None:
    with ModelServer(Words("A cat sits there.", thinking="Let me see.")) as at:
        given = environment(at.url)
        done = unspool("ask", "What is there?", "-p", f"{provider}/tin-1", "-b", "yard", **given)
        assert (done.returncode, done.stdout.decode()) == (0, "A cat sits there.\n"), done.stderr
        again = unspool("ask", "And now?", "-c", "yard", "--json", **given)
        answer = json.loads(again.stdout)
    assert answer["content"] == [{"type": "text", "text": "Hello."}]
    assert (answer["provider"], answer["head"], answer["status"]) == (provider, "yard", "complete")
    assert answer["usage"]["output_tokens"] == 7
    assert texts("yard") == ["What is there?", "A cat sits there.", "And now?", "Hello."]
    assert context("yard")["options"] == {"provider_ptr": f"{provider}/tin-1"}
    told = done.stderr.decode()
    assert "(yard) · tin-1 · " in told
    assert "7 out · cost unknown · " in told
    sent = json.dumps(at.bodies[1])
    assert "A cat sits there." in sent
    secret = key("openai" if provider.startswith("openai") else provider)
    assert secret in str(at.asked[0].headers)
    assert secret not in at.asked[0].path


def test_a_key_is_in_no_file_and_no_message(unspool: Run, home: Path) -> None:
    with ModelServer(Fault(401, {"error": {"message": f"wrong key {key('openai')}"}}), Words("Hi")) as at:
        done = unspool("ask", "Hi", "-p", "openai/x", **environment(at.url))
        unspool("ask", "Hi", "-p", "openai/x", **environment(at.url))
    assert done.returncode == 3
    again = r"`unspool ask --resume -c [0-9a-z]{25}` asks again"
    assert re.fullmatch(rf"unspool: OpenAI: 401 wrong key \[key\]; {again}\n", done.stderr.decode())
    said = {"error": {"message": f"{'x' * 490} {key('openai')}", "type": "server_error"}}
    with ModelServer(Words("A cat sits.", cut=3, error=said)) as at:
        done = unspool("ask", "Hi", "-p", "openai/x", "--json", **environment(at.url))
    assert json.loads(done.stdout)["error"].endswith("x [key] (se")
    assert key("openai")[:6] not in done.stderr.decode()
    for file in filter(Path.is_file, home.rglob("*")):
        assert key("openai").encode() not in file.read_bytes()


def test_any_provider_goes_on_with_a_thread(unspool: Run) -> None:
    """A thought of one goes to no other, and comes back to the one that had it."""
    with ModelServer() as at:
        for provider in ("anthropic", "gemini", "openai-responses", "anthropic"):
            at.script = [Words(f"I am {provider}.", thinking=f"Thought of {provider}")]
            more = ("-c", "talk") if at.bodies else ("-b", "talk")
            done = unspool("ask", "Who are you?", "-p", f"{provider}/tin-1", *more, **environment(at.url))
            assert done.returncode == 0, done.stderr
        sent = [json.dumps(body) for body in at.bodies]
    assert "Thought of" not in sent[1]
    assert "Thought of" not in sent[2]
    assert "c2lnbmVk" in sent[3]
    assert "Thought of gemini" not in sent[3]
    assert all("I am anthropic." in body for body in sent[1:])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_who_is_busy_is_asked_again(unspool: Run, provider: str) -> None:
    busy = [
        Fault(429, {"error": {"message": "slow down"}}, {"retry-after": "0"}),
        Fault(500, "<html>oops</html>", {"retry-after-ms": "1"}),
        Fault(529, OVERLOADED, {"retry-after": "0", "retry-after-ms": "nan"}),
    ]
    with ModelServer(*busy, Words("At last.")) as at:
        done = unspool("ask", "Hi", "-p", f"{provider}/x", **environment(at.url))
    assert (done.returncode, done.stdout) == (0, b"At last.\n")
    told = done.stderr.decode()
    assert "429 slow down" in told
    assert "500 <html>oops</html>" in told
    assert len(at.bodies) == 4
    assert all(body == at.bodies[0] for body in at.bodies)


def test_a_page_is_no_answer(unspool: Run) -> None:
    with ModelServer(Fault(200, "<html>Log in</html>")) as at:
        done = unspool("ask", "Hi", "-p", "openai/x", **environment(at.url))
    assert f"{at.url}/v1/chat/completions: what came is text/plain, and no answer" in done.stderr.decode()


def test_an_overload_that_is_told_in_the_stream(unspool: Run) -> None:
    with ModelServer(Words(cut=1, error=OVERLOADED), Words("At last.")) as at:
        done = unspool("ask", "Hi", "-p", "anthropic/x", **environment(at.url))
    assert (done.returncode, done.stdout) == (0, b"At last.\n")


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(400, {"error": {"message": "no such model", "type": "invalid_request_error"}}), "400 no such model"),
        (Fault(429, {"error": {"message": "later"}}, {"retry-after": "7200"}), "429 later; it asks to wait 7200 s"),
        (Fault(429, {"error": {"message": "no money", "code": "insufficient_quota"}}), "429 no money"),
        (Fault(403, "Forbidden"), "403 Forbidden"),
    ],
)
def test_what_waiting_does_not_help(unspool: Run, fault: Fault, told: str) -> None:
    with ModelServer(fault) as at:
        done = unspool("ask", "Hi", "-p", "openai/x", "-b", "talk", **environment(at.url))
        assert (done.returncode, done.stdout, len(at.bodies)) == (3, b"", 1)
        assert told in done.stderr.decode()
        resumed = unspool("ask", "--resume", "-c", "talk", **environment(at.url))
    assert resumed.stdout == b"Hello.\n"
    assert texts("talk") == ["Hi", "Hello."]


def test_somebody_else_can_resume(unspool: Run) -> None:
    with ModelServer(Fault(400)) as at:
        unspool("ask", "Hi", "-p", "openai/x", "-b", "talk", **environment(at.url))
        unspool("ask", "--resume", "-p", "gemini/g", **environment(at.url))
    assert at.bodies[1] == {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}]}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_that_is_cut_off_is_kept_as_such(unspool: Run, provider: str) -> None:
    with ModelServer(Words("A cat sits there.", cut=5 if provider == "anthropic" else 3)) as at:
        done = unspool("ask", "Hi", "-p", f"{provider}/x", "-b", "talk", "--json", **environment(at.url))
        assert done.returncode == 3, done.stderr
        answer = json.loads(done.stdout)
        assert answer["status"] == "interrupted"
        assert answer["content"][0]["text"].startswith("A cat")
        assert "the answer broke off: the connection was closed; `unspool ask --resume" in done.stderr.decode()
        again = unspool("ask", "--resume", "-c", answer["id"], **environment(at.url))
    assert again.stdout == b"Hello.\n"
    assert texts("talk") == ["Hi", "Hello."]  # what was cut off is on a branch of its own
    assert at.bodies[0] == at.bodies[1]


def test_an_error_in_the_middle(unspool: Run) -> None:
    with ModelServer(Words("A cat sits there.", cut=5, error=OVERLOADED)) as at:
        done = unspool("ask", "Hi", "-p", "anthropic/x", "--json", **environment(at.url))
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["status"], answer["error"]) == (3, "error", "Overloaded (overloaded_error)")


def test_a_host_that_does_not_stream(unspool: Run, home: Path) -> None:
    home.mkdir()
    with ModelServer(Words("All at once.", streamed=False)) as at:
        config = f'default = "tin"\n[providers.shed]\nbase_url = "{at.url}/v1"\n'
        (home / "config.toml").write_text(f'{config}[pointers.tin]\nprovider = "shed"\nmodel = "tin-1"\n')
        done = unspool("ask", "Hi")
    assert (done.returncode, done.stdout) == (0, b"All at once.\n"), done.stderr
    assert "authorization" not in at.asked[0].headers
    assert at.bodies[0]["model"] == "tin-1"


def test_a_whole_answer_that_is_cut_off_is_asked_for_again(unspool: Run) -> None:
    with ModelServer(Words("All at once.", streamed=False, cut=20), Words("Again.")) as at:
        done = unspool("ask", "Hi", "-p", "openai/x", **environment(at.url))
    assert (done.returncode, done.stdout) == (0, b"Again.\n"), done.stderr
    assert "the connection was closed" in done.stderr.decode()


def test_nobody_is_there(unspool: Run) -> None:
    with ModelServer() as at:
        gone = at.url
    done = unspool("provider", "models", "openai", **environment(gone))
    assert done.returncode == 3
    assert "OpenAI: http://127.0.0.1" in done.stderr.decode()


def test_nothing_is_stored_that_cannot_be_sent(unspool: Run, tmp_path: Path) -> None:
    film = tmp_path / "a.mp4"
    film.write_bytes(b"\0\0\0")
    with ModelServer() as at:
        given = environment(at.url)
        refused = unspool("ask", "Hi", "-p", "anthropic/x", "-a", film, **given)
        assert (refused.returncode, b"Anthropic takes no video/mp4" in refused.stderr) == (2, True)
        for wrong in (
            ("-p", "pope/x"),
            ("-p", "anthropic"),
            ("-p", "groq/x"),
            (),
            ("-p", "openai/x", "--servers", "a"),
        ):
            assert unspool("ask", "Hi", *wrong, **given).returncode == 2
        assert unspool("ask", "Hi", "-c", "nowhere", "-p", "openai/x", **given).returncode == 2
        assert unspool("ask", "", "-p", "openai/x", **given).returncode == 2
        assert at.asked == []
    with Store.open() as store:
        assert store.newest() is None


def test_a_prompt_from_standard_input_with_files(unspool: Run, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("# Oats")
    with ModelServer() as at:
        given = environment(at.url)
        done = unspool("ask", "-p", "openai/x", "-a", notes, "-s", "Be kind.", stdin=b"What is it?\n", **given)
    assert done.returncode == 0, done.stderr
    system, asked = at.bodies[0]["messages"]
    assert system == {"role": "system", "content": "Be kind."}
    assert "# Oats" in asked["content"][0]["text"]
    assert 'name="notes.md"' in asked["content"][0]["text"]
    assert asked["content"][1]["text"] == "What is it?"


def test_options_hold_from_there_on_and_can_be_taken_away(unspool: Run) -> None:
    with ModelServer() as at:
        given = environment(at.url)
        unspool("ask", "Hi", "-p", "anthropic/claude-opus-4-6", "--search", "--cache", "-b", "t", **given)
        unspool("ask", "More", "-c", "t", **given)
        unspool("ask", "Less", "-c", "t", "--no-search", "--max-tokens", "9", **given)
    searching, still, not_now = at.bodies
    assert searching["tools"][0]["name"] == still["tools"][0]["name"] == "web_search"
    assert "tools" not in not_now
    assert not_now["max_tokens"] == 9
    assert searching["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}
    assert still["messages"][0]["content"][0]["cache_control"] == {"type": "ephemeral"}


def test_pause_turn_is_gone_on_with(unspool: Run) -> None:
    with ModelServer(Words("Searching", stop="pause_turn"), Words("Found.")) as at:
        done = unspool("ask", "Hi", "-p", "anthropic/x", **environment(at.url))
    assert done.stdout == b"Searching\nFound.\n"
    assert [message["role"] for message in at.bodies[1]["messages"]] == ["user", "assistant"]


def test_several_parents(unspool: Run) -> None:
    with ModelServer() as at:
        given = environment(at.url)
        for name in ("a", "b"):
            unspool("ask", f"I am {name}", "-p", "openai/x", "-b", name, **given)
        unspool("ask", "Both", "-c", "a", "-c", "b", **given)
    told = [message["content"] for message in at.bodies[2]["messages"]]
    assert told == ["I am a", "Hello.", "I am b", "Hello.", "Both"]


@pytest.mark.parametrize("how", ["kill", "interrupt"])
def test_what_is_cut_off_in_the_middle_loses_nothing_that_came(unspool: Run, home: Path, how: str) -> None:
    go_on = threading.Event()
    with ModelServer(Words("First."), Words("Second, and long.", pause=go_on)) as at:
        given = environment(at.url)
        unspool("ask", "One", "-p", "anthropic/x", "-b", "t", **given)
        command = [sys.executable, "-m", "unspool", "ask", "Two", "-c", "t"]
        running = subprocess.Popen(
            command,
            env={**os.environ, **given},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert running.stdout is not None
        assert running.stdout.read(3) == b"Sec"  # the answer has begun
        running.send_signal(signal.SIGKILL if how == "kill" else signal.SIGINT)
        running.communicate(timeout=60)
        go_on.set()
        assert running.returncode == (-signal.SIGKILL if how == "kill" else 130)
        assert texts("t")[:3] == ["One", "First.", "Two"]
        checked = unspool("store", "check")
        assert checked.returncode == 0
        assert (b"when unspool was killed is kept: turn" in checked.stderr) is (how == "kill")
        (last,) = map(json.loads, unspool("thread", "show", "t", "--json").stdout.splitlines()[-1:])
        assert (last["content"], last["answer"]["status"]) == ([{"type": "text", "text": "Second"}], "interrupted")
        assert list((home / "answers").iterdir()) == []
        resumed = unspool("ask", "--resume", "-c", "t", **given)
    assert resumed.stdout == b"Hello.\n"
    assert texts("t") == ["One", "First.", "Two", "Hello."]


def test_an_answer_that_is_still_coming_is_left_alone(unspool: Run, home: Path) -> None:
    go_on = threading.Event()
    with ModelServer(Words("Slow, and sure.", pause=go_on)) as at:
        command = [sys.executable, "-m", "unspool", "ask", "Hi", "-p", "anthropic/x", "-b", "t"]
        given, quiet = {**os.environ, **environment(at.url)}, subprocess.DEVNULL
        with subprocess.Popen(command, env=given, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet) as running:
            assert running.stdout is not None
            assert running.stdout.read(3) == b"Slo"
            assert len(list((home / "answers").iterdir())) == 1
            listed = unspool("thread", "list", "--json")
            assert (json.loads(listed.stdout)["turns"], listed.stderr) == (1, b"")
            go_on.set()
            assert running.wait(60) == 0
    assert texts("t") == ["Hi", "Slow, and sure."]
    assert list((home / "answers").iterdir()) == []


def test_what_was_stored_already_is_not_taken_in_again(unspool: Run, home: Path) -> None:
    """Killed behind the last step: the answer is there, and only its file was left."""
    with ModelServer() as at:
        unspool("ask", "Hi", "-p", "openai/x", "-b", "t", **environment(at.url))
    with Store.open() as store:
        asked = store.lineage([store.find("t")])[0].id
    about = {"turn": asked, "head": "t", "provider": "openai", "api": "openai", "model": "x", "started": 1}
    said = {"id": "other", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hello."}}]}
    gone = {**about, "turn": asked[:-1] + ("0" if asked[-1] != "0" else "1")}
    for name, first in (("a", about), ("b", gone), ("c", None), ("d", {**about, "api": "soap"})):
        head = b"" if first is None else json.dumps(first).encode() + b"\n"
        (home / "answers" / f"{name}.jsonl").write_bytes(head + b"data: " + json.dumps(said).encode() + b"\n\n")
    listed = unspool("thread", "list", "--json")
    assert (json.loads(listed.stdout)["turns"], listed.stderr) == (2, b"")
    assert list((home / "answers").iterdir()) == []


@pytest.mark.parametrize(("end", "status"), [("stop", "complete"), (None, "interrupted")])
def test_what_was_heard_to_its_end_is_whole(unspool: Run, home: Path, end: str | None, status: str) -> None:
    asked = unspool("thread", "add", "Hi", "-b", "t").stdout.decode().strip()
    about = {"turn": asked, "head": "t", "provider": "openai", "api": "openai", "model": "x", "started": 1}
    said = {"id": "c1", "choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": end}]}
    (home / "answers").mkdir()
    torn = b'data: {"id": "c1", "choi'
    lines = json.dumps(about).encode() + b"\ndata: " + json.dumps(said).encode() + b"\n\n" + torn
    (home / "answers" / "a.jsonl").write_bytes(lines)
    (last,) = map(json.loads, unspool("thread", "show", "t", "--json").stdout.splitlines()[-1:])
    assert (last["content"], last["answer"].get("status", "complete")) == ([{"type": "text", "text": "Hello."}], status)


def test_a_bookmark_of_another_thread_is_not_taken_by_accident(unspool: Run) -> None:
    with ModelServer() as at:
        given = environment(at.url)
        unspool("ask", "One", "-p", "openai/x", "-b", "t", **given)
        done = unspool("ask", "Two", "-p", "openai/x", "-b", "t", "-s", "Be kind.", **given)
        assert done.returncode == 2
        assert "-c t goes on from there, --move takes the name away" in done.stderr.decode()
        assert len(at.bodies) == 1
        assert len(unspool("thread", "list", "--json").stdout.splitlines()) == 1  # nothing was stored
        assert unspool("ask", "Two", "-c", "t", "-b", "t", **given).returncode == 0
        done = unspool("ask", "Three", "-p", "openai/x", "-b", "t", "-s", "Be kind.", "--move", **given)
    assert done.returncode == 0, done.stderr
    assert texts("t") == ["Be kind.", "Three", "Hello."]


@pytest.mark.parametrize("more", [("-b", "t"), ("-s", "Be kind."), ("--cache",), ("-a", "x")])
def test_what_goes_with_a_prompt_is_not_resumed(unspool: Run, more: tuple[str, ...]) -> None:
    done = unspool("ask", "--resume", *more)
    assert (done.returncode, b"--resume takes no prompt, and nothing that goes with one" in done.stderr) == (2, True)


def test_who_has_seen_enough_does_not_keep_the_answer_from_being_stored() -> None:
    go_on = threading.Event()
    with ModelServer(Words("First, and then much more.", pause=go_on)) as at:
        command = [sys.executable, "-m", "unspool", "ask", "Hi", "-p", "anthropic/x", "-b", "t"]
        given, quiet = {**os.environ, **environment(at.url)}, subprocess.DEVNULL
        with subprocess.Popen(command, env=given, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet) as running:
            assert running.stdout is not None
            assert running.stdout.read(3) == b"Fir"
            running.stdout.close()
            go_on.set()
            assert running.wait(60) == 0
    assert texts("t") == ["Hi", "First, and then much more."]


def test_a_full_disk_does_not_keep_the_answer_from_being_stored() -> None:
    with ModelServer(Words("A cat sits there.")) as at, Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "unspool", "ask", "Hi", "-p", "anthropic/x", "-b", "t"]
        given = {**os.environ, **environment(at.url)}
        done = subprocess.run(
            command, env=given, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert done.returncode == 2
    assert "standard output: No space left on device; what was said is in" in done.stderr.decode()
    assert texts("t") == ["Hi", "A cat sits there."]


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_a_time_to_wait_is_one(unspool: Run, seconds: str) -> None:
    assert unspool("ask", "Hi", "-p", "ollama/x", "--timeout", seconds).returncode == 2
    assert unspool("servers", "add", "a", "--timeout", seconds, "--", "true").returncode == 2


def test_there_is_nothing_to_resume(unspool: Run) -> None:
    with ModelServer() as at:
        given = environment(at.url)
        assert unspool("ask", "--resume", **given).returncode == 2
        unspool("ask", "Hi", "-p", "openai/x", **given)
        done = unspool("ask", "--resume", **given)
    assert done.returncode == 2
    assert "there is nothing to resume" in done.stderr.decode()
    assert unspool("ask", "--resume", "Hi").returncode == 2
