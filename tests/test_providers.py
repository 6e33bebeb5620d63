"""Configuration, pointers, keys; `unspool provider` and `unspool replay`."""

import json
import stat
import sys
from pathlib import Path

import pytest

from conftest import Run
from contexts import context, environment, key, says
from model_server import Fault, ModelServer, Words
from unspool.errors import NotConfigured
from unspool.model import Usage
from unspool.providers.addresses import ask_url
from unspool.providers.catalogue import PROVIDERS
from unspool.providers.config import read_config, target_of
from unspool.providers.prices import cost_of
from unspool.wires import speaker_for

TRACE = Path(__file__).parent.parent / "samples" / "traces" / "trip-planner.jsonl"
CONFIG = """
default = "kilo"

[pointers.kilo]
provider = "anthropic"
model = "claude-sonnet-4-5"
max_tokens = 500
body = { temperature = 0.2 }

[pointers.nano]
provider = "shed"
model = "tin/one"

[providers.shed]
base_url = "http://127.0.0.1:1/v1/"
media = ["application/pdf"]
search = true

[providers.openai]
base_url = "http://127.0.0.1:2/v1"
headers = { x-team = "garden" }
"""


@pytest.fixture
def config(home: Path) -> Path:
    home.mkdir()
    (home / "config.toml").write_text(CONFIG)
    return home / "config.toml"


@pytest.mark.usefixtures("config")
def test_pointers() -> None:
    config = read_config()
    kilo, nano, openai = (target_of(name, config) for name in (None, "nano", "openai/gpt/5"))
    assert (kilo.provider.name, kilo.model, kilo.max_tokens) == ("anthropic", "claude-sonnet-4-5", 500)
    assert (nano.provider.api, nano.model, nano.provider.keyless) == ("openai", "tin/one", True)
    assert ask_url(nano.provider, nano.model) == "http://127.0.0.1:1/v1/chat/completions"
    assert nano.provider.abilities.media == ("application/pdf",)
    assert (openai.model, openai.provider.headers) == ("gpt/5", {"x-team": "garden"})
    asking = kilo.asking()
    assert (asking.max_tokens, asking.settings) == (500, {"temperature": 0.2})


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("default = 3", r"Expected `str | null`, got `int` - at `\$.default`"),
        ("[pointers.a]\nprovider = 'x'", r"pointers\.a: .*missing required field `model`"),
        (
            "[pointers.a]\nprovider = 'x'\nmodel = 'y'\nmodle = 'z'",
            "unknown field `modle`.*; there are provider, model, base_url",
        ),
        ("[providers.a]\nbase_urls = 'x'", "unknown field `base_urls`.*; there are api, base_url"),
        ("[providers.a]\napi = 'soap'", r"providers\.a: Invalid enum value 'soap'"),
        ("pointers = 3", "Expected `object`"),
        ("= 3", "Invalid statement"),
    ],
)
def test_a_wrong_configuration_says_where(config: Path, written: str, told: str) -> None:
    config.write_text(written)
    with pytest.raises(NotConfigured, match=told) as caught:
        read_config()
    assert str(config) in str(caught.value)


def test_addresses_may_hold_the_version_already() -> None:
    from msgspec.structs import replace

    claude = replace(PROVIDERS["anthropic"], base_url="http://h/v1/")
    assert ask_url(claude, "m") == "http://h/v1/messages"
    gemini = replace(PROVIDERS["gemini"], base_url="http://h/v1beta")
    assert ask_url(gemini, "models/g") == "http://h/v1beta/models/g:streamGenerateContent?alt=sse"


def test_keys_are_kept_for_their_owner_alone(unspool: Run, home: Path) -> None:
    quiet = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "OPENAI_API_KEY": ""}
    done = unspool("provider", "key", "openai", stdin=f"{key('openai')}\n".encode(), **quiet)
    assert done.returncode == 0, done.stderr
    assert key("openai") not in done.stderr.decode()
    kept = home / "keys.toml"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    rows = {
        row["provider"]: row
        for row in map(json.loads, unspool("provider", "list", "--json", **quiet).stdout.splitlines())
    }
    assert rows["openai"]["key"] == rows["openai-responses"]["key"] == str(kept)
    assert rows["ollama"]["ready"] is True
    with ModelServer() as at:
        unspool("ask", "Hi", "-p", "openai/x", **quiet, OPENAI_BASE_URL=f"{at.url}/v1")
    assert at.asked[0].headers["authorization"] == f"Bearer {key('openai')}"
    kept.chmod(0o644)
    refused = unspool("provider", "list", **quiet)
    assert refused.returncode == 2
    assert "can be read by others" in refused.stderr.decode()
    kept.chmod(0o600)
    kept.write_text(f'openai = "{key("openai")}')  # no TOML
    assert key("openai") not in unspool("provider", "list", **quiet).stderr.decode()


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("wrong", ["two words", "schlüssel", "line\nbreak"])
def test_a_key_that_no_header_takes_is_not_shown(unspool: Run, wrong: str) -> None:
    with ModelServer() as at:
        done = unspool("ask", "Hi", "-p", "openai/x", **{**environment(at.url), "OPENAI_API_KEY": wrong})
    assert done.returncode == 2
    assert wrong not in done.stderr.decode()
    assert "$OPENAI_API_KEY holds blanks" in done.stderr.decode()


@pytest.mark.usefixtures("home")
def test_keys_in_the_keyring(unspool: Run, tmp_path: Path) -> None:
    (tmp_path / "ring.py").write_text(
        "import json, pathlib\nfrom keyring.backend import KeyringBackend\n"
        "class Ring(KeyringBackend):\n    priority = 9\n    file = pathlib.Path(__file__).with_name('ring.json')\n"
        "    def get_password(self, service, name):\n"
        "        return json.loads(self.file.read_text()).get(service + name) if self.file.exists() else None\n"
        "    def set_password(self, service, name, key):\n"
        "        self.file.write_text(json.dumps({service + name: key}))\n"
    )
    ring = {"PYTHON_KEYRING_BACKEND": "ring.Ring", "PYTHONPATH": str(tmp_path), "CO_API_KEY": "", "COHERE_API_KEY": ""}
    done = unspool("provider", "key", "cohere", stdin=key("cohere").encode(), **ring)
    assert "keyring" in done.stderr.decode(), done.stderr
    listed = unspool("provider", "list", "--json", **ring).stdout.decode()
    assert '"key":"keyring"' in listed
    assert key("cohere") not in listed


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("provider", ["anthropic", "openai", "openai-responses", "gemini", "cohere"])
def test_models_and_check(unspool: Run, provider: str) -> None:
    with ModelServer() as at:
        given = environment(at.url)
        assert unspool("provider", "models", provider, **given).stdout == b"tin-1\n"
        assert unspool("provider", "check", f"{provider}/tin-1", **given).returncode == 0
        missing = unspool("provider", "check", f"{provider}/tin-9", provider, "--json", **given)
    assert missing.returncode == 1
    assert [json.loads(line)["ok"] for line in missing.stdout.splitlines()] == [False, True]


def test_a_pointer_that_leads_nowhere_costs_the_others_nothing(unspool: Run, config: Path) -> None:
    quiet = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    config.write_text(config.read_text() + "[pointers.lost]\nprovider = 'nobody'\nmodel = 'x'\n")
    listed = unspool("provider", "list", **quiet)
    assert (listed.returncode, b"nano" in listed.stdout) == (0, True)
    assert "pointer lost: no provider 'nobody'; there are" in listed.stderr.decode()
    checked = unspool("provider", "check", "lost", "nano", "--json", **quiet)
    rows = [json.loads(line) for line in checked.stdout.splitlines()]
    assert checked.returncode == 1
    assert [(row["name"], row["ok"]) for row in rows] == [("lost", False), ("nano", False)]
    assert "no provider 'nobody'" in rows[0]["told"]
    assert unspool("provider", "check", "nowhere", **quiet).returncode == 2


def test_prices() -> None:
    usage = Usage(input=1_000, cache_read=1_000, output=1_000)
    known = cost_of(usage, PROVIDERS["anthropic"], "claude-sonnet-4-5")
    assert known == pytest.approx(0.003 + 0.0003 + 0.015)
    assert cost_of(usage, PROVIDERS["anthropic"], "tin-1", "claude-sonnet-4-5") == known
    assert cost_of(usage, PROVIDERS["anthropic"], "tin-1") is None
    assert cost_of(usage, PROVIDERS["ollama"], "claude-sonnet-4-5") is None
    assert cost_of(None, PROVIDERS["anthropic"], "claude-sonnet-4-5") is None


@pytest.mark.usefixtures("config")
def test_what_a_pointer_sets_is_sent(unspool: Run) -> None:
    given = json.dumps({"messages": [says("user", "Hi")]}).encode()
    body = json.loads(unspool("request", "-", stdin=given).stdout)
    assert (body["model"], body["max_tokens"], body["temperature"]) == ("claude-sonnet-4-5", 500, 0.2)


def test_a_limit_of_tokens_stands_beside_what_else_is_set(config: Path) -> None:
    config.write_text(
        "[pointers.g]\nprovider = 'gemini'\nmodel = 'tin'\nmax_tokens = 55\n"
        "body = { generationConfig = { temperature = 0.2 } }\n"
    )
    target = target_of("g", read_config())
    body = speaker_for("gemini").prepare(context(says("user", "Hi")), [], target.asking())
    assert body["generationConfig"] == {"maxOutputTokens": 55, "temperature": 0.2}


@pytest.mark.usefixtures("home")
def test_replay_sends_what_was_recorded(unspool: Run) -> None:
    recorded = json.loads(TRACE.read_text().splitlines()[1])["request"]
    with ModelServer(Words("Rome: 17 °C and sun. Oslo has snow at -3 °C."), Words("Oslo.")) as at:
        given = environment(at.url)
        same = unspool("replay", f"{TRACE}#2", "--json", **given)
        other = unspool("replay", f"{TRACE}#2", "--model", "gpt-9", **given)
    assert same.returncode == 0, same.stderr
    told = json.loads(same.stdout)
    assert told["replies"][0]["diff"] == []
    assert told["recorded"]["duration_ms"] == 700
    assert told["recorded"]["cost"] > 0
    sent = at.bodies[0]
    assert {name: sent[name] for name in recorded} == recorded
    assert sent["stream"] is True
    assert at.bodies[1]["model"] == "gpt-9"
    assert "+Oslo." in other.stdout.decode()


@pytest.mark.usefixtures("home")
def test_replay_to_others_beside_each_other(unspool: Run) -> None:
    to = [part for name in ("anthropic", "gemini", "cohere") for part in ("-p", f"{name}/tin-1")]
    no = Fault(400, {"error": {"message": "no"}})
    with ModelServer(Words("Rome.")) as at, ModelServer(no) as beta, ModelServer(Words("Oslo.")) as other:
        own = {"GOOGLE_GEMINI_BASE_URL": beta.url, "CO_API_URL": other.url}
        done = unspool("replay", f"{TRACE}#2", *to, **{**environment(at.url), **own})
    assert done.returncode == 3
    shown = done.stdout.decode()
    assert "recorded: gpt-5-mini" in " ".join(shown.split())
    assert "Gemini: 400 no" in " ".join(shown.replace("│", " ").split())
    assert "+Rome." in shown
    assert "+Oslo." in shown
    claude = at.bodies[0]
    assert claude["system"][0]["text"].startswith("You plan trips.")
    assert claude["tools"][0]["input_schema"]["type"] == "object"
    assert [block["type"] for block in claude["messages"][2]["content"]] == ["tool_result", "tool_result"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", [f"{TRACE}#99", f"{TRACE}", "gone.jsonl#1"])
def test_replay_of_what_is_not_there(unspool: Run, name: str) -> None:
    assert unspool("replay", name).returncode == 2


def test_a_key_that_cannot_be_kept_names_the_file(unspool: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    given = {"UNSPOOL_HOME": str(tmp_path / "file" / "home"), "UNSPOOL_CONFIG": str(tmp_path / "none.toml")}
    done = unspool("provider", "key", "openai", stdin=b"not-a-key", **given)
    assert (done.returncode, b"keys.toml: Not a directory" in done.stderr) == (2, True)


def test_setting_up_tells_programs_what_was_done(unspool: Run, home: Path) -> None:
    kept = unspool("provider", "key", "openai", "--json", stdin=b"not-a-key")
    assert json.loads(kept.stdout) == {"provider": "openai", "key": str(home / "keys.toml")}
    header = ("-H", "Authorization: Bearer not-a-key")
    added = unspool("servers", "add", "wiki", "--url", "http://127.0.0.1:9/mcp", *header, "--trust", "--json")
    told = {"name": "wiki", "kind": "http", "server": "http://127.0.0.1:9/mcp"}
    limits = {"timeout": 120.0, "start_timeout": 30.0}
    assert json.loads(added.stdout) == {**told, **limits, "parallel": True, "trusted": True}
    assert unspool("servers", "rm", "wiki", "--json").stdout == added.stdout
    assert b"not-a-key" not in kept.stdout + kept.stderr + added.stdout + added.stderr


def test_what_other_programs_keep_with_the_servers_stays(unspool: Run, home: Path) -> None:
    home.mkdir()
    hers = {"type": "stdio", "command": "mow", "disabled": True, "autoApprove": ["lawn"]}
    (home / "servers.json").write_text(json.dumps({"inputs": [{"id": "key"}], "mcpServers": {"yard": hers}}))
    assert unspool("servers", "add", "shed", "--", "dig").returncode == 0
    kept = json.loads((home / "servers.json").read_text())
    assert (kept["inputs"], kept["mcpServers"]["yard"]) == ([{"id": "key"}], hers)
    assert kept["mcpServers"]["shed"]["command"] == "dig"
    assert unspool("servers", "rm", "shed").returncode == 0
    assert json.loads((home / "servers.json").read_text()) == {"inputs": [{"id": "key"}], "mcpServers": {"yard": hers}}


def test_keys_of_servers_are_not_listed(unspool: Run) -> None:
    where = "http://ada:open-sesame@127.0.0.1:9/mcp?apiKey=open-sesame&team=yard"
    unspool("servers", "add", "wiki", "--url", where)
    command = ("docker", "run", "-e", "YARD_TOKEN=open-sesame", "yard/mow", "--api-key", "open-sesame", "--verbose")
    unspool("servers", "add", "yard", "--", *command, "pg://ada:open-sesame@db/yard", "--key=open-sesame", "lawn")
    told = unspool("servers", "list", "--json")
    assert [json.loads(line)["server"] for line in told.stdout.splitlines()] == [
        "http://ada:…@127.0.0.1:9/mcp?apiKey=…&team=…",
        "docker run -e YARD_TOKEN=… yard/mow --api-key … --verbose pg://ada:…@db/yard --key=… lawn",
    ]
    failed = unspool("servers", "tools", "wiki")
    assert failed.returncode == 2
    assert b"open-sesame" not in told.stdout + unspool("servers", "list").stdout + failed.stderr


def test_keys_of_ones_own_hosts_are_in_no_message(unspool: Run, home: Path) -> None:
    """They may stand in an address or in a header, which only the configuration has."""
    secrets, team = ("open-sesame", "close-sesame"), "the-team-of-the-yard"
    home.mkdir()
    with ModelServer(Fault(401, {"error": {"message": f"wrong {secrets[1]}, {team}"}})) as at:
        headers = f'headers = {{ "api-key" = "Bearer {secrets[1]}", "x-team" = "{team}" }}'
        hosts = f"""
            [providers.yard]
            base_url = "{at.url}/v1"
            {headers}
            [providers.shed]
            base_url = "http://ada:{secrets[0]}@127.0.0.1:1/v1"
            [providers.attic]
            base_url = "none://ada:{secrets[0]}@attic/v1"
        """
        (home / "config.toml").write_text(hosts)
        refused = unspool("ask", "Hi", "-p", "yard/x")
        told = [refused, *(unspool("provider", "models", name) for name in ("shed", "attic"))]
    assert refused.stderr.startswith(f"unspool: yard: 401 wrong [key], {team};".encode())
    told += [unspool("provider", "list"), unspool("provider", "list", "--json")]
    assert b"http://ada:\xe2\x80\xa6@127.0.0.1:1/v1" in told[1].stderr
    assert not any(secret.encode() in each.stdout + each.stderr for each in told for secret in secrets)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("streamed", [True, False])
def test_a_prompt_that_is_blocked_is_told_as_such(unspool: Run, streamed: bool) -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 7}}
    with ModelServer(Fault(200, f"data: {json.dumps(blocked)}\n\n" if streamed else blocked), Words("Rome.")) as at:
        done = unspool("ask", "Hi", "-p", "gemini/tin-1", "-b", "t", **environment(at.url))
        shown = unspool("thread", "show", "t").stdout.decode()
        again = unspool("ask", "Where?", "-c", "t", **environment(at.url))
    assert "stopped: refusal" in shown
    assert done.returncode == 0
    assert "7 in, 0 out" in done.stderr.decode()
    assert "stopped: refusal" in done.stderr.decode()
    assert again.stdout == b"Rome.\n"
    told = unspool("response", "gemini", "--json", stdin=json.dumps(blocked).encode())
    assert (told.returncode, json.loads(told.stdout)["message"]["stop_reason"]) == (0, "refusal")


@pytest.mark.usefixtures("home")
def test_a_result_that_the_provider_does_not_take_says_how_to_go_on(unspool: Run) -> None:
    server = Path(__file__).parent / "tool_server.py"
    unspool("servers", "add", "tin", "--trust", "--", sys.executable, server)
    with ModelServer(Words("I look.", calls=[("c0", "tin___chest", {})]), Words("A chest.")) as at:
        given = environment(at.url)
        done = unspool("ask", "What is there?", "-p", "anthropic/x", "--servers", "tin", **given)
        again = unspool("ask", "--resume", "--lenient", **given)
    told = done.stderr.decode()
    assert (done.returncode, done.stdout, again.stdout) == (3, b"I look.\n", b"A chest.\n")
    assert "Anthropic takes no application/zip (--lenient" in told
    assert "unspool ask --resume -c" in told
