"""`unspool run`: a command with a recorder of its own."""

import json
import os
import pty
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Run
from recorders import PATIENCE, answering, body, chat, eventually, records, said, upstream
from unspool.recorder.pointing import Pointing, agent_of, placed, point

ASK = """
import json, os, sys, urllib.request
url = os.environ[sys.argv[1]] + sys.argv[2]
request = urllib.request.Request(url, sys.argv[3].encode(), {"Content-Type": "application/json"})
print(urllib.request.urlopen(request).read().decode())
"""


def asking(variable: str, path: str) -> list[str]:
    """A program that calls its API once, at the address in the variable."""
    return [sys.executable, "-c", ASK, variable, path, chat("hello").decode()]


def test_the_command_is_recorded_and_told_how_to_look_at_it(tmp_path: Path, unspool: Run) -> None:
    trace = tmp_path / "trace.jsonl"
    with upstream(answering(body(said("hi")))) as server:
        command = asking("OPENAI_BASE_URL", "/chat/completions")
        done = unspool("run", "-o", trace, "--upstream", f"openai={server.url}", "--", *command)
    assert json.loads(done.stdout) == json.loads(said("hi"))
    (record,) = records(trace)
    assert (record["path"], record["upstream"]) == ("/v1/chat/completions", server.url)
    assert b"1 call recorded" in done.stderr
    assert f"unspool cook {trace} -o cooked.json".encode() in done.stderr
    assert not list(tmp_path.glob("*.journal"))


def test_an_address_that_was_set_before_is_where_calls_go(tmp_path: Path, unspool: Run) -> None:
    trace = tmp_path / "trace.jsonl"
    seen: list[tuple[bytes, bytes]] = []
    with upstream(answering(body(said("hi")), seen=seen)) as server:
        command = asking("ANTHROPIC_BASE_URL", "/v1/messages")
        unspool("run", "-q", "-o", trace, *command, ANTHROPIC_BASE_URL=f"{server.url}/gateway/a")
    assert seen[0][0].startswith(b"POST /gateway/a/v1/messages ")
    assert records(trace)[0]["path"] == "/gateway/a/v1/messages"


def test_target_takes_everything(tmp_path: Path, unspool: Run) -> None:
    trace = tmp_path / "trace.jsonl"
    with upstream(answering(body(said("hi")))) as server:
        command = asking("GOOGLE_GEMINI_BASE_URL", "/anything")
        unspool("run", "-q", "-o", trace, "--target", server.url, *command, GOOGLE_GEMINI_BASE_URL="http://127.0.0.1:9")
    assert records(trace)[0]["path"] == "/anything"


@pytest.mark.parametrize("status", [0, 1, 3, 130])
def test_the_exit_status_is_the_commands(tmp_path: Path, unspool: Run, status: int) -> None:
    done = unspool("run", "-o", tmp_path / "t.jsonl", "sh", "-c", f"exit {status}")
    assert done.returncode == status
    assert b"no call was recorded" in done.stderr
    assert not (tmp_path / "t.jsonl").exists()


def test_a_command_that_a_signal_ended_has_a_shells_status(tmp_path: Path, unspool: Run) -> None:
    done = unspool("run", "-q", "-o", tmp_path / "t.jsonl", "sh", "-c", "kill -KILL $$")
    assert done.returncode == 128 + signal.SIGKILL


def test_commands_that_are_none(tmp_path: Path, unspool: Run) -> None:
    done = unspool("run", "-o", tmp_path / "t.jsonl", "no-such-command-here")
    assert (done.returncode, b"command not found" in done.stderr) == (127, True)
    (tmp_path / "plain").write_text("x")
    assert unspool("run", "-o", tmp_path / "t.jsonl", tmp_path / "plain").returncode == 126
    assert unspool("run").returncode == 2


def test_input_and_options_are_the_commands_own(tmp_path: Path, unspool: Run) -> None:
    done = unspool(
        "run", "-q", "-o", tmp_path / "t.jsonl", "sh", "-c", 'cat; echo "$@"', "x", "-o", "--help", stdin=b"in\n"
    )
    assert done.stdout == b"in\n-o --help\n"


def test_sigterm_is_passed_on_to_the_command(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"trap 'exit 42' TERM; touch {ready}; while :; do sleep 0.05; done"
    command = [sys.executable, "-m", "unspool", "run", "-q", "-o", str(tmp_path / "t.jsonl"), "sh", "-c", script]
    process = subprocess.Popen(command)
    eventually(ready.exists)
    process.send_signal(signal.SIGTERM)
    assert process.wait(PATIENCE) == 42


def test_the_command_has_the_terminal_and_ctrl_c_is_its_own(tmp_path: Path) -> None:
    """A program that asks before it leaves: the recorder must not go first."""
    script = "import sys, signal, os\nassert os.isatty(0) and os.isatty(1)\ntry:\n    print('ready', flush=True)\n"
    script += "    signal.pause()\nexcept KeyboardInterrupt:\n    sys.exit(7)\n"
    pid, terminal = pty.fork()
    if not pid:
        command = [sys.executable, "-m", "unspool", "run", "-q", "-o", str(tmp_path / "t.jsonl"), "--"]
        os.execv(sys.executable, [*command, sys.executable, "-c", script])
    shown = b""
    while b"ready" not in shown:
        shown += os.read(terminal, 1024)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 7


def test_without_a_name_each_run_has_a_trace_in_the_data_folder(tmp_path: Path, unspool: Run) -> None:
    with upstream(answering(body(said("hi")))) as server:
        command = asking("OPENAI_BASE_URL", "/chat/completions")
        unspool("run", "--upstream", f"openai={server.url}", *command, UNSPOOL_HOME=str(tmp_path))
    (trace,) = tmp_path.rglob("*.jsonl")
    assert trace.parent.parent == tmp_path / "recordings"
    assert stat.S_IMODE(trace.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("command", "agent"),
    [
        (["claude", "-p", "x"], "claude"),
        (["/usr/bin/codex", "exec"], "codex"),
        (["npx", "-y", "@google/gemini-cli@0.61.0", "-p"], "gemini"),
        (["uvx", "aider"], "aider"),
        (["node", "/x/qwen-code/pi.js"], "pi"),
        ([], ""),
    ],
)
def test_agents_are_known_by_the_names_of_their_programs(command: list[str], agent: str) -> None:
    assert agent_of(command) == agent


def pointed(agent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **environment: str) -> Pointing:
    for name in list(os.environ):
        if name.endswith(("_URL", "_BASE", "_HOST", "_HOME", "_DIR", "_CONTENT")):
            monkeypatch.delenv(name)
    for name, value in {"HOME": str(tmp_path), **environment}.items():
        monkeypatch.setenv(name, value)
    return point(agent, "http://127.0.0.1:1", tmp_path)


def test_codex_is_given_a_provider_that_speaks_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = pointed("codex", tmp_path, monkeypatch)
    assert 'model_providers.unspool.base_url="http://127.0.0.1:1/v1"' in found.arguments
    assert placed(["npx", "codex", "exec"], ["-c", "a=1"], "codex") == ["npx", "codex", "-c", "a=1", "exec"]
    (tmp_path / ".codex").mkdir()
    config = 'model_provider = "mine"\n[model_providers.mine]\nbase_url = "https://gateway.example/v1"\n'
    (tmp_path / ".codex" / "config.toml").write_text(config)
    found = pointed("codex", tmp_path, monkeypatch)
    assert found.arguments == ["-c", 'model_providers.mine.base_url="http://127.0.0.1:1/codex-mine"']
    assert found.upstreams == {"codex-mine": "https://gateway.example/v1"}
    (tmp_path / ".codex" / "config.toml").write_text("no toml [")
    assert pointed("codex", tmp_path, monkeypatch).arguments[:2] == ["-c", 'model_provider="unspool"']


def test_opencode_is_configured_by_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    own = {"provider": {"mine": {"options": {"baseURL": "http://gateway.example", "apiKey": "{env:K}"}}}}
    (folder / "opencode.json").write_text(json.dumps(own))
    found = pointed("opencode", tmp_path, monkeypatch, OPENCODE_CONFIG_CONTENT='{"model":"a/b"}')
    content = json.loads(found.environment["OPENCODE_CONFIG_CONTENT"])
    assert content["model"] == "a/b"
    assert content["provider"]["mine"]["options"] == {"baseURL": "http://127.0.0.1:1/opencode-mine"}
    assert content["provider"]["google"]["options"]["baseURL"] == "http://127.0.0.1:1/gemini/v1beta"
    assert found.upstreams == {"opencode-mine": "http://gateway.example"}


def test_a_configuration_that_nobody_could_read_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_bytes(b'{"provider": {"caf\xe9": {}}}')
    assert pointed("opencode", tmp_path, monkeypatch).upstreams == {}


def test_pi_is_given_an_extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ".pi" / "agent"
    folder.mkdir(parents=True)
    (folder / "models.json").write_text('{"providers":{"mine":{"baseUrl":"http://gateway.example/v1"}}}')
    found = pointed("pi", tmp_path, monkeypatch)
    assert found.arguments[0] == "-e"
    text = Path(found.arguments[1]).read_text()
    assert '"mine": "http://127.0.0.1:1/pi-mine"' in text
    assert "registerProvider" in text


@pytest.mark.parametrize(
    ("agent", "variable", "address"),
    [
        ("claude", "ANTHROPIC_BASE_URL", "/anthropic"),
        ("qwen", "OPENAI_BASE_URL", "/openai/v1"),
        ("gemini", "GOOGLE_GEMINI_BASE_URL", "/gemini"),
        ("gemini", "CODE_ASSIST_ENDPOINT", "/code-assist"),
        ("aider", "OPENAI_API_BASE", "/openai/v1"),
        ("aider", "ANTHROPIC_API_BASE", "/anthropic"),
        ("goose", "ANTHROPIC_HOST", "/anthropic"),
        ("anything", "OPENAI_BASE_URL", "/openai/v1"),
    ],
)
def test_the_others_are_pointed_by_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, variable: str, address: str
) -> None:
    found = pointed(agent, tmp_path, monkeypatch, NO_PROXY="x.example")
    assert found.environment[variable] == f"http://127.0.0.1:1{address}"
    assert found.environment["NO_PROXY"] == "x.example,127.0.0.1,localhost"
    assert found.arguments == []


@pytest.mark.parametrize(
    ("agent", "given", "set_", "unset"),
    [
        ("aider", {"OPENAI_API_BASE": "http://g/v1"}, {"OPENAI_API_BASE": "/openai-api-base"}, ["OPENAI_BASE_URL"]),
        ("aider", {"ANTHROPIC_BASE_URL": "http://g"}, {"GEMINI_API_BASE": "/gemini/v1beta"}, ["ANTHROPIC_API_BASE"]),
        ("goose", {"OPENAI_BASE_URL": "http://g/v1"}, {"GOOGLE_HOST": "/gemini"}, ["OPENAI_HOST"]),
        ("goose", {"OPENAI_HOST": "http://g"}, {"OPENAI_HOST": "/openai-host"}, ["OPENAI_BASE_URL", "OPENAI_API_BASE"]),
        ("claude", {"OPENAI_HOST": "http://g"}, {"OPENAI_BASE_URL": "/openai/v1"}, ["OPENAI_HOST"]),
    ],
)
def test_a_gateway_stays_in_use_whichever_name_it_was_given_by(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
    given: dict[str, str],
    set_: dict[str, str],
    unset: list[str],
) -> None:
    found = pointed(agent, tmp_path, monkeypatch, **given)
    assert {name: found.environment[name] for name in set_} == {
        name: f"http://127.0.0.1:1{address}" for name, address in set_.items()
    }
    assert found.environment.keys().isdisjoint(unset)


def test_a_gateway_in_a_configuration_stays_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".config" / "goose").mkdir(parents=True)
    config = (
        "GOOSE_PROVIDER: openai\nOPENAI_HOST: 'https://gateway.example/x'  # ours\nextensions:\n  OPENAI_HOST: no\n"
    )
    (tmp_path / ".config" / "goose" / "config.yaml").write_text(config)
    found = pointed("goose", tmp_path, monkeypatch)
    assert found.upstreams == {"openai-host": "https://gateway.example/x"}
    assert found.environment["OPENAI_HOST"] == "http://127.0.0.1:1/openai-host"
    (tmp_path / ".aider.conf.yml").write_text("model: x\nopenai-api-base: https://gateway.example/v1\n")
    found = pointed("aider", tmp_path, monkeypatch)
    assert found.upstreams == {"aider-openai-api-base": "https://gateway.example/v1"}
    assert found.environment["AIDER_OPENAI_API_BASE"] == "http://127.0.0.1:1/aider-openai-api-base"
    (tmp_path / ".aider.conf.yml").write_bytes(b"\xff\xfe: \x00")
    assert pointed("aider", tmp_path, monkeypatch).upstreams == {}


@pytest.mark.parametrize("agent", ["aider", "goose"])
def test_a_program_of_that_name_gets_its_variables(tmp_path: Path, unspool: Run, agent: str) -> None:
    """A stand-in that tells what it was started with."""
    program = tmp_path / agent
    program.write_text(f'#!/bin/sh\necho "$@"\nenv\n{sys.executable} -c \'{ASK}\' "$VARIABLE" /v1/messages "{{}}"\n')
    program.chmod(0o755)
    variable = {"aider": "ANTHROPIC_API_BASE", "goose": "ANTHROPIC_HOST"}[agent]
    trace = tmp_path / "trace.jsonl"
    with upstream(answering(body(said("hi")))) as server:
        where = ["-o", trace, "--upstream", f"anthropic={server.url}"]
        done = unspool("run", *where, "--", program, "--message", "a b", HOME=str(tmp_path), VARIABLE=variable)
    told = done.stdout.decode().splitlines()
    assert told[0] == "--message a b"
    assert any(line.startswith(f"{variable}=http://127.0.0.1:") and line.endswith("/anthropic") for line in told)
    assert [(record["path"], record["status"]) for record in records(trace)] == [("/v1/messages", 200)]


@pytest.mark.parametrize("option", ["--pretty", "--compact"])
def test_the_exit_status_is_the_commands_also_where_nobody_can_be_told(tmp_path: Path, option: str) -> None:
    with upstream(answering(body(said("hi")))) as server, open("/dev/full", "wb") as full:
        command = asking("OPENAI_BASE_URL", "/chat/completions")
        where = ["-o", str(tmp_path / "trace"), "--upstream", f"openai={server.url}", option, "--"]
        run = [sys.executable, "-m", "unspool", "run", *where, *command]
        done = subprocess.run(run, check=False, stdout=subprocess.DEVNULL, stderr=full, timeout=60)
    assert done.returncode == 0
    assert (tmp_path / "trace").stat().st_size


def test_a_misspelt_agent_is_no_other_program(unspool: Run) -> None:
    done = unspool("run", "--agent", "codx", "--", "true")
    assert done.returncode == 2
    assert "'codx' is not one of 'aider', 'claude', 'codex'" in done.stderr.decode()


def test_a_misspelt_option_is_no_command(unspool: Run) -> None:
    done = unspool("run", "--prety", "true")
    assert done.returncode == 2
    assert b"--pretty" in done.stderr
