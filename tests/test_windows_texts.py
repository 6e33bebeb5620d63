"""What people write on Windows: a mark before the text, UTF-16 from its shell, lines that end in CRLF."""

import json
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from contexts import says
from model_server import Words
from test_request_command import sse

pytestmark = pytest.mark.usefixtures("home")
CODINGS = {"marked": lambda text: BOM_UTF8 + text.encode(), "utf-16": lambda text: text.encode("utf-16")}
coded = pytest.mark.parametrize("code", CODINGS.values(), ids=CODINGS)


def lines(*values: str) -> str:
    return "".join(f"{value}\r\n" for value in values)


@coded
def test_a_context_and_tools(unspool: Run, tmp_path: Path, code: Any) -> None:
    context = lines(json.dumps({"messages": [says("user", "Ähre")]}, ensure_ascii=False))
    (tools := tmp_path / "tools.json").write_bytes(code(lines(json.dumps([{"name": "mow", "inputSchema": {}}]))))
    done = unspool("request", "-", "-p", "openai/tin-1", "--json", "--tools", tools, stdin=code(context))
    body = json.loads(done.stdout)
    assert body["messages"] == [{"role": "user", "content": "Ähre"}]
    assert body["tools"][0]["function"]["name"] == "mow"


@coded
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_stream(unspool: Run, provider: str, code: Any) -> None:
    plain = sse(provider, Words("Grüße"))[1]
    marked = code(plain.decode().replace("\n", "\r\n"))
    assert unspool("response", provider, stdin=marked).stdout == unspool("response", provider, stdin=plain).stdout


@coded
def test_a_turn(unspool: Run, code: Any) -> None:
    assert unspool("thread", "add", "-b", "a", stdin=code(lines("one", "two"))).returncode == 0
    (message,) = json.loads(unspool("context", "resolve", "a").stdout)["messages"]
    assert message["content"] == [{"type": "text", "text": "one\r\ntwo"}]


def test_settings(unspool: Run, home: Path) -> None:
    home.mkdir(mode=0o700)
    pointer = lines('default = "near"', "[pointers.near]", 'provider = "ollama"', 'model = "tin-1"')
    (home / "config.toml").write_bytes(BOM_UTF8 + pointer.encode())
    (home / "servers.json").write_bytes(BOM_UTF8 + b'{"mcpServers": {"yard": {"command": "mow"}}}')
    (home / "keys.toml").write_bytes(BOM_UTF8 + b'groq = "kept"\r\n')
    (home / "keys.toml").chmod(0o600)
    assert b"near" in unspool("provider", "list").stdout
    assert b"yard" in unspool("servers", "list").stdout
    groq = next(line for line in unspool("provider", "list").stdout.decode().splitlines() if line.startswith("groq"))
    assert "keys.toml" in groq


def test_variables(unspool: Run, tmp_path: Path) -> None:
    (file := tmp_path / "run.env").write_bytes(BOM_UTF8 + b"CCPRETTY_TITLE=Harvest\r\n")
    start = b'{"type":"system","subtype":"init","session_id":"s","tools":[]}\r\n'
    assert b"Harvest" in unspool("pretty", "--env-file", file, stdin=start).stdout
