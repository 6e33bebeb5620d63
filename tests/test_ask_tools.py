"""The tool loop: a real MCP server process, a real model server, a person at a terminal."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from contexts import environment
from model_server import Fault, ModelServer, Words
from recorders import PATIENCE, eventually
from unspool.store.store import Store
from unspool.threads.context import resolve
from unspool.wires.normalised import write_context

TOOLS = Path(__file__).parent / "tool_server.py"
pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def trusted(unspool: Run, home: Path) -> None:
    assert not home.exists()
    add(unspool, "--trust")


def add(unspool: Run, *options: str, name: str = "tin") -> None:
    done = unspool("servers", "add", name, *options, "--", sys.executable, TOOLS)
    assert done.returncode == 0, done.stderr


def wants(*calls: tuple[str, dict[str, Any]], text: str = "I look.") -> Words:
    return Words(text, calls=[(f"c{number}", f"tin___{name}", given) for number, (name, given) in enumerate(calls)])


def talk(name: str = "t") -> list[dict[str, Any]]:
    with Store.open() as store:
        messages: list[dict[str, Any]] = write_context(resolve(store, [name]))["messages"]
    return messages


def results(name: str = "t") -> list[dict[str, Any]]:
    return [block for message in talk(name) for block in message["content"] if block["type"] == "tool_result"]


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("provider", ["anthropic", "openai", "openai-responses", "gemini", "cohere"])
def test_all_calls_of_a_turn_are_carried_out(unspool: Run, provider: str) -> None:
    asked = wants(("add", {"a": 1, "b": 2}), ("fail", {}), ("weather", {"city": "Oslo"}), ("nothing", {}))
    with ModelServer(asked, Words("Three.")) as at:
        given = environment(at.url)
        done = unspool("ask", "Hi", "-p", f"{provider}/tin-1", "--servers", "tin", "-b", "t", **given)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == "I look.\nThree.\n"
    told = results()
    assert [each["tool_use_id"] for each in told] == ["c0", "c1", "c2", "c3"]
    assert [each["is_error"] for each in told] == [False, True, False, True]
    assert told[0]["content"] == [{"type": "text", "text": "3"}]
    assert told[2]["extra"]["structured"] == {"city": "Oslo", "sky": "clear"}
    assert told[3]["content"][0]["text"] == "There is no tool tin___nothing."
    assert "tin___hang" in json.dumps(at.bodies[0])  # all tools are offered
    sent = json.dumps(at.bodies[1])
    assert all(f'"c{number}"' in sent for number in range(4))
    assert [message["role"] for message in talk()] == ["user", "assistant", "user", "assistant"]


@pytest.mark.usefixtures("trusted")
def test_what_hangs_or_dies_gets_an_answer(unspool: Run) -> None:
    add(unspool, "--trust", "--timeout", "1", name="quick")
    asked = Words("I look.", calls=[("c0", "quick___hang", {}), ("c1", "tin___picture", {})])
    with ModelServer(asked, wants(("die", {})), Words("Oh.")) as at:
        done = unspool("ask", "Hi", "-p", "openai/x", "--servers", "tin,quick", "-b", "t", **environment(at.url))
    assert done.returncode == 0, done.stderr
    hung, drawn, died = results()
    assert hung["content"][0]["text"] == "The tool gave no result within 1 s."
    assert hung["extra"] == {"outcome": "timeout"}
    assert drawn["content"][0]["source"]["media_type"] == "image/png"
    assert died["is_error"] is True
    seen = at.bodies[1]["messages"][-1]  # behind the results, because this API takes no pictures in them
    assert seen["content"][-1]["image_url"]["url"].startswith("data:image/png;base64,")


@pytest.mark.usefixtures("trusted")
def test_arguments_that_are_no_json_are_not_used(unspool: Run) -> None:
    with ModelServer(Words("Hm.", calls=[("c0", "tin___add", {})], stop="max_tokens"), Words("Sorry.")) as at:
        unspool("ask", "Hi", "-p", "anthropic/x", "--servers", "tin", "-b", "t", **environment(at.url))
    assert results()[0]["is_error"] is True


@pytest.mark.parametrize(("options", "together"), [((), True), (("--one-at-a-time",), False)])
def test_calls_run_together_where_they_may(
    unspool: Run, tmp_path: Path, options: tuple[str, ...], together: bool
) -> None:
    """Each waits for the other to have begun: that works only if both run at once."""
    add(unspool, "--trust", "--timeout", "30" if together else "2", *options)
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    asked = wants(("slow", {"begun": one, "until": two}), ("slow", {"begun": two, "until": one}))
    with ModelServer(asked) as at:
        unspool("ask", "Hi", "-p", "openai/x", "--servers", "tin", "-b", "t", **environment(at.url))
    assert [each["is_error"] for each in results()] == ([False, False] if together else [True, False])


def _is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_server_over_http(unspool: Run) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = subprocess.Popen([sys.executable, TOOLS, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: _is_open(port))
        url = f"http://127.0.0.1:{port}/mcp"
        assert unspool("servers", "add", "far", "--url", url, "-H", "x-note: 1").returncode == 0
        done = unspool("servers", "call", "far___add", '{"a": 2, "b": 3}')
        assert (done.returncode, done.stdout) == (0, b"5\n"), done.stderr
    finally:
        running.kill()
        running.wait()


def at_terminal(arguments: list[str], typed: str, given: dict[str, str]) -> tuple[int, str, str]:
    """Run it with a terminal, at which somebody has typed this. Status, output, and what the terminal showed."""
    master, slave = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-m", "unspool", *arguments],
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        env={**os.environ, **given, "EDITOR": "", "VISUAL": "", "NO_COLOR": "1"},
    )
    os.close(slave)
    os.write(master, typed.encode())
    shown: list[bytes] = []

    def read() -> None:
        for _ in range(100_000):
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other end is closed
                return
            if not piece:
                return
            shown.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    output, _ = running.communicate(timeout=60)
    reader.join(10)
    os.close(master)
    return running.returncode, output.decode(), b"".join(shown).decode().replace("\r\n", "\n")


def test_a_person_is_asked(unspool: Run) -> None:
    add(unspool)
    script = [
        wants(("add", {"a": 1, "b": 2})),
        wants(("add", {"a": 3, "b": 4}), ("fail", {"why": "x" * 300})),
        wants(("add", {"a": 5, "b": 6})),
        wants(("add", {"a": 7, "b": 8})),
        Words("Done."),
    ]
    typed = "y\nmaybe\nn\ntoo risky\nn\n\n" + 'e\nnot json\ne\n{"a": 50, "b": 60}\n' + "a\n"
    with ModelServer(*script) as at:
        given = environment(at.url)
        status, output, shown = at_terminal(
            ["ask", "Hi", "-p", "anthropic/x", "--servers", "tin", "-b", "t"], typed, given
        )
    assert (status, output.splitlines()[-1]) == (0, "Done."), shown
    told = [(each["is_error"], each["content"][0]["text"]) for each in results()]
    assert told == [
        (False, "3"),
        (True, "The user did not allow this call: too risky"),
        (True, "The user did not allow this call."),
        (False, "110"),
        (False, "15"),
    ]
    changed = results()[3]
    assert changed["content"][1]["text"] == '(The user changed the arguments to {"a":50,"b":60})'
    assert changed["extra"]["arguments"] == {"a": 50, "b": 60}
    assert not any("arguments" in each.get("extra", {}) for each in results()[:3])
    assert "x" * 300 in shown  # all of the arguments
    assert '"a": 1' in shown


def test_nobody_is_there_to_ask(unspool: Run) -> None:
    add(unspool)
    with ModelServer(wants(("add", {"a": 1, "b": 2})), Words("Three.")) as at:
        given = environment(at.url)
        done = unspool("ask", "Hi", "-p", "anthropic/x", "--servers", "tin", "-b", "t", **given)
        assert done.returncode == 3
        assert "calls wait to be allowed" in done.stderr.decode()
        assert results() == []
        resumed = unspool("ask", "--resume", "-c", "t", "--yes", **given)
    assert (resumed.returncode, resumed.stdout) == (0, b"Three.\n"), resumed.stderr
    assert results()[0]["content"][0]["text"] == "3"
    assert len(at.bodies) == 2


@pytest.fixture
def interrupted(unspool: Run, tmp_path: Path) -> Iterator[tuple[ModelServer, subprocess.Popen[bytes]]]:
    """A run in whose tool call somebody waits."""
    add(unspool, "--trust")
    begun = tmp_path / "begun"
    asked = wants(("nothing", {}), ("slow", {"begun": str(begun), "until": str(tmp_path / "never")}))
    with ModelServer(asked) as at:
        command = [sys.executable, "-m", "unspool", "ask", "Hi", "-p", "anthropic/x", "--servers", "tin", "-b", "t"]
        pipe = subprocess.PIPE
        running = subprocess.Popen(
            command, env={**os.environ, **environment(at.url)}, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )
        eventually(begun.exists)
        yield at, running


def test_every_call_gets_an_answer_also_after_ctrl_c(
    unspool: Run, interrupted: tuple[ModelServer, subprocess.Popen[bytes]]
) -> None:
    at, running = interrupted
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130, told
    first, second = results()
    assert first["content"][0]["text"] == "There is no tool tin___nothing."
    assert second["content"][0]["text"] == "The call was cancelled by the user."
    resumed = unspool("ask", "--resume", "-c", "t", **environment(at.url))
    assert resumed.stdout == b"Hello.\n"


def test_a_killed_loop_is_resumed(
    unspool: Run, tmp_path: Path, interrupted: tuple[ModelServer, subprocess.Popen[bytes]]
) -> None:
    at, running = interrupted
    running.kill()
    running.communicate(timeout=60)
    assert results() == []
    assert [message["role"] for message in talk()] == ["user", "assistant"]
    (tmp_path / "never").write_text("now")
    resumed = unspool("ask", "--resume", "-c", "t", **environment(at.url))
    assert resumed.stdout == b"Hello.\n", resumed.stderr
    assert [each["is_error"] for each in results()] == [True, False]


def test_rounds_are_limited(unspool: Run) -> None:
    add(unspool, "--trust")
    with ModelServer(*[wants(("add", {"a": 1, "b": 1})) for _ in range(5)]) as at:
        done = unspool("ask", "Hi", "-p", "openai/x", "--servers", "tin", "--rounds", "2", **environment(at.url))
    assert (done.returncode, len(at.bodies)) == (3, 2)


def test_servers_are_kept_for_their_owner_alone(unspool: Run, home: Path) -> None:
    add(unspool, "--env", "TOKEN=quiet")
    assert (home / "servers.json").stat().st_mode & 0o777 == 0o600
    assert b"quiet" not in unspool("servers", "list", "--json").stdout
    assert unspool("servers", "add", "tin", "--url", "http://x").returncode == 2
    assert unspool("servers", "add", "a___b", "--url", "http://x").returncode == 2
    assert unspool("servers", "add", "both", "--url", "http://x", "--", "true").returncode == 2
    assert unspool("servers", "rm", "tin").returncode == 0
    assert unspool("servers", "rm", "tin").returncode == 2
    assert unspool("servers", "list").stdout == b""


def test_tools_of_a_server_that_fails_cost_no_others(unspool: Run) -> None:
    unspool("servers", "add", "broken", "--", sys.executable, "-c", "import sys; sys.exit('out of oil')")
    add(unspool)
    done = unspool("servers", "tools", "--json")
    assert done.returncode == 2
    assert "MCP server broken" in done.stderr.decode()
    assert "out of oil" in done.stderr.decode()
    listed = [json.loads(line) for line in done.stdout.splitlines()]
    assert listed[0]["name"] == "tin___add"
    assert listed[0]["inputSchema"]["required"] == ["a", "b"]


@pytest.mark.parametrize(
    ("schema", "told"), [({"type": "object"}, "twin___a\n"), ([], "tools.0.inputSchema Input should be")]
)
def test_a_list_of_tools_may_go_round_or_be_wrong(unspool: Run, schema: Any, told: str) -> None:
    about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
    listed = {"tools": [{"name": "a", "inputSchema": schema}], "nextCursor": "once more"}
    given = {**about, "serverInfo": {"name": "x", "version": "1"}, **listed}
    answer = "print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': given}), flush=True)"
    line = f"import json, sys\ngiven = {given}\nfor line in sys.stdin:\n    asked = json.loads(line)\n    "
    unspool("servers", "add", "twin", "--", sys.executable, "-c", f"{line}if asked.get('id') is not None: {answer}")
    done = unspool("servers", "tools", "twin")
    assert told in (done.stdout + done.stderr).decode()
    assert done.stdout in (b"", told.encode())


def test_a_server_that_never_answers_is_given_up(unspool: Run) -> None:
    said = "print('x' * 9_000_000 + 'still warming up', file=sys.stderr, flush=True)"
    line = f"import sys, time\n{said}\ntime.sleep(600)"
    unspool("servers", "add", "mute", "--start-timeout", "2", "--", sys.executable, "-c", line)
    began = time.monotonic()
    done = unspool("servers", "tools", "mute")
    assert time.monotonic() - began < 40
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"no answer within 2 s (`servers add --start-timeout S` gives it longer)" in done.stderr
    assert done.stderr.endswith(b"xstill warming up\n")
    assert len(done.stderr) < 20_000


def test_ctrl_c_does_not_wait_for_a_server_that_never_answers(unspool: Run, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    line = f"import pathlib, time\npathlib.Path({str(begun)!r}).touch()\ntime.sleep(600)"
    unspool("servers", "add", "mute", "--start-timeout", "300", "--", sys.executable, "-c", line)
    process = subprocess.Popen([sys.executable, "-m", "unspool", "servers", "tools", "mute"], stderr=subprocess.PIPE)
    eventually(begun.exists)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, b"interrupted" in errors) == (130, True)


def test_a_request_offers_what_ask_would(unspool: Run, tmp_path: Path) -> None:
    add(unspool)
    unspool("thread", "add", "Hi", "-b", "t", "--options", '{"servers": ["tin", "gone"]}')
    done = unspool("request", "t", "-p", "openai/x", "--json")
    offered = [tool["function"]["name"] for tool in json.loads(done.stdout)["tools"]]
    assert offered[:2] == ["tin___add", "tin___weather"]
    assert "without their tools: gone" in done.stderr.decode()
    lines = tmp_path / "tools.jsonl"
    lines.write_bytes(unspool("servers", "tools", "--json").stdout)
    same = unspool("request", "t", "-p", "openai/x", "--tools", lines, "--json")
    assert same.stdout == done.stdout


def test_calling_a_tool_oneself(unspool: Run) -> None:
    add(unspool)
    assert unspool("servers", "call", "tin___add", "-", stdin=b'{"a": 1, "b": 1}').stdout == b"2\n"
    failed = unspool("servers", "call", "tin___fail", "--json")
    assert (failed.returncode, json.loads(failed.stdout)["is_error"]) == (1, True)
    for wrong in (("tin___gone",), ("tin",), ("far___add",), ("tin___add", "3"), ("tin___add", "no")):
        assert unspool("servers", "call", *wrong).returncode == 2


def test_what_was_recorded_elsewhere_is_offered_and_not_carried_out(unspool: Run) -> None:
    trace = Path(__file__).parents[1] / "samples" / "traces" / "trip-planner.jsonl"
    unspool("thread", "from", f"{trace}#3", "-b", "t")
    call = Words("I look.", calls=[("c9", "get_weather", {"city": "Lima"})])
    with ModelServer(Words("Lima."), call, Words("Warm."), Words("Bye.")) as at:
        given = environment(at.url)
        assert unspool("ask", "Where else?", "-c", "t", "-p", "anthropic/x", **given).stdout == b"Lima.\n"
        done = unspool("ask", "And there?", "-c", "t", "--tool-mode", "auto", **given)
        assert (done.returncode, done.stdout) == (3, b"I look.\n")
        told = done.stderr.decode()
        assert "get_weather was called, and nobody here carries it out" in told
        assert unspool("ask", "--resume", "-c", "t", **given).returncode == 3
        result = {"content": [{"type": "tool_result", "tool_use_id": "c9", "content": "21 °C"}]}
        added = unspool("thread", "add", "--turns", "-", "-c", "t", stdin=json.dumps(result).encode())
        assert added.returncode == 0, added.stderr
        assert unspool("ask", "--resume", "-c", "t", **given).stdout == b"Warm.\n"
        assert unspool("ask", "Thanks", "-c", "t", "--no-tools", **given).returncode == 0
    assert [body.get("tool_choice") for body in at.bodies] == [{"type": "none"}, *[{"type": "auto"}] * 2, None]
    assert [len(body.get("tools", [])) for body in at.bodies] == [1, 1, 1, 0]
    assert results()[-1]["name"] == "get_weather"


def test_an_address_that_is_no_mcp_server_is_told_in_one_line(unspool: Run) -> None:
    with ModelServer(*[Fault(200, {"no": "rpc"})] * 9) as at:
        unspool("servers", "add", "odd", "--url", f"{at.url}/mcp")
        done = unspool("servers", "tools", "odd")
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith(f"unspool: MCP server odd ({at.url}/mcp): ")


def test_of_an_answer_without_a_question_nothing_is_asked_again(unspool: Run) -> None:
    broken = {"role": "assistant", "content": "So far", "answer": {"status": "interrupted"}}
    unspool("thread", "add", "--turns", "-", stdin=json.dumps(broken).encode())
    done = unspool("ask", "--resume", "-p", "openai/x", **environment("http://127.0.0.1:1"))
    assert done.returncode == 2
    assert "nothing is before it that could be asked again" in done.stderr.decode()


def test_a_server_whose_name_ends_like_what_joins_it_to_its_tools(unspool: Run) -> None:
    add(unspool, "--trust", name="tin_")
    with ModelServer(Words("I look.", calls=[("c0", "tin____add", {"a": 1, "b": 2})]), Words("Three.")) as at:
        done = unspool("ask", "1 + 2?", "-b", "t", "-p", "openai/x", "--servers", "tin_", **environment(at.url))
    assert done.returncode == 0, done.stderr
    assert results()[0]["content"] == [{"type": "text", "text": "3"}]
    assert unspool("servers", "call", "tin____add", '{"a": 2, "b": 2}').stdout.strip() == b"4"


@pytest.mark.usefixtures("trusted")
def test_the_text_of_a_file_that_a_tool_gave_is_shown(unspool: Run) -> None:
    assert unspool("servers", "call", "tin___note").stdout == b"file:///yard.txt:\nMow it.\n"
    with ModelServer(wants(("note", {}))) as at:
        unspool("ask", "And?", "-b", "t", "-p", "openai/x", "--servers", "tin", **environment(at.url))
    assert b"Mow it." in unspool("thread", "show", "t").stdout
