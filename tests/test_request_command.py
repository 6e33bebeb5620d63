"""`unspool request` and `unspool response`, as a user runs them."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from contexts import PROVIDERS, called, paper, says
from model_server import MODEL, Words, _events

pytestmark = pytest.mark.usefixtures("home")
CONTEXT = {"messages": [says("system", "Be kind."), says("user", "Hi")], "options": {"provider_ptr": "gemini/tin-2"}}
PATHS = {
    "anthropic": "/v1/messages",
    "openai": "/chat/completions",
    "openai-responses": "/responses",
    "gemini": ":streamGenerateContent",
    "cohere": "/v2/chat",
}


def sse(provider: str, said: Words) -> tuple[list[Any], bytes]:
    events = list(_events(PATHS[provider], said))
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return events, "".join(f"data: {line}\n\n" for line in lines).encode()


def test_a_body_needs_no_store(unspool: Run, home: Path) -> None:
    done = unspool("request", "-", "-p", "anthropic/claude-x", stdin=json.dumps(CONTEXT).encode())
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert body["model"] == "claude-x"
    assert body["system"] == [{"type": "text", "text": "Be kind."}]
    assert not home.exists()


def test_who_it_is_for_stands_in_the_context(unspool: Run) -> None:
    body = json.loads(unspool("request", "-", "--json", stdin=json.dumps(CONTEXT).encode()).stdout)
    assert body["contents"] == [{"role": "user", "parts": [{"text": "Hi"}]}]


def test_tools_and_curl(unspool: Run, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps({"tools": [{"name": "dig", "inputSchema": {"type": "object"}}]}))
    done = unspool("request", "-", "-p", "gemini/g", "--tools", tools, "--curl", stdin=json.dumps(CONTEXT).encode())
    text = done.stdout.decode()
    assert "models/g:streamGenerateContent?alt=sse" in text
    assert '-H "x-goog-api-key: ${GEMINI_API_KEY}"' in text
    assert '"functionDeclarations":[{"name":"dig"}]' in text


def test_an_apostrophe_in_a_curl_line_is_quoted(unspool: Run) -> None:
    import shlex

    given = {"messages": [says("user", "it's $HOME `x`")]}
    done = unspool("request", "-", "-p", "openai/g", "--curl", stdin=json.dumps(given).encode())
    words = shlex.split(done.stdout.decode().replace("\\\n", ""))
    assert json.loads(words[-1])["messages"][0]["content"] == "it's $HOME `x`"


def test_from_a_thread(unspool: Run) -> None:
    unspool("thread", "add", "Good morning", "-b", "dawn")
    done = unspool("request", "dawn", "-p", "openai-responses/gpt-9", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["input"][0]["content"][0]["text"] == "Good morning"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (b"no json", "standard input: no JSON"),
        (b"[]", "a context is an object"),
        (b'{"messages": [3]}', "message 1 is no object"),
        (b'{"messages": [{"role": "pope", "content": []}]}', "message 1: no role 'pope'"),
        (b'{"messages": [{"role": {"is": "user"}, "content": []}]}', "message 1: no role {'is': 'user'}"),
        (b'{"messages": [{"role": "user"}]}', "message 1: `content` is neither"),
        (
            b'{"messages": [{"content": [{"type": "document", "source": {"type": ["url"], "url": "x"}}]}]}',
            "message 1: OpenAI takes no",
        ),
        (b'{"messages": []}', "there is no message to answer"),
    ],
)
def test_what_is_no_context(unspool: Run, given: bytes, told: str) -> None:
    done = unspool("request", "-", "-p", "openai/x", stdin=given)
    assert done.returncode == 2
    assert told in done.stderr.decode()


def test_a_tool_mode_that_is_no_name(unspool: Run) -> None:
    given = json.dumps({"messages": [says("user", "x")], "options": {"tool_mode": {}, "search": True}}).encode()
    done = unspool("request", "-", "-p", "anthropic/x", stdin=given)
    assert (done.returncode, "tool_mode {} is neither auto" in done.stderr.decode()) == (2, True)


def test_what_is_not_taken(unspool: Run) -> None:
    given = json.dumps({"messages": [says("user", "x"), says("user", paper("video/mp4"))]}).encode()
    done = unspool("request", "-", "-p", "cohere/x", stdin=given)
    assert (done.returncode, done.stdout) == (2, b"")
    assert (
        done.stderr.decode() == "unspool: message 2: Cohere takes no video/mp4 (--lenient says in words what it is)\n"
    )
    lenient = unspool("request", "-", "-p", "cohere/x", "--lenient", stdin=given)
    assert lenient.returncode == 0
    assert "sent as text" in lenient.stderr.decode()


@pytest.mark.parametrize(
    ("name", "told"),
    [("pope/x", "no provider 'pope'"), ("pope", "is no pointer and no provider"), (None, "no provider is named")],
)
def test_unknown_providers(unspool: Run, name: str | None, told: str) -> None:
    given = json.dumps({"messages": [says("user", "x")]}).encode()
    done = unspool("request", "-", *(("-p", name) if name else ()), stdin=given)
    assert done.returncode == 2
    assert told in done.stderr.decode()


def test_compat(unspool: Run) -> None:
    given = json.dumps(CONTEXT).encode()
    body = json.loads(unspool("request", "-", "-p", "openai", "--compat", "gpt2099", stdin=given).stdout)
    assert body.keys() == {"stream", "messages", "tools"}
    document = json.dumps({"messages": [says("user", paper("text/plain"))]}).encode()
    done = unspool("request", "-", "-p", "cerebras", "--compat", "gpt2099", stdin=document)
    assert done.returncode == 2
    assert "Cerebras does not support document type: text/plain" in done.stderr.decode()


CALLS = [("t1", "look", {"place": "yard"}), ("t2", "look", {"place": "shed"})]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_answers_have_the_same_keys_whoever_gave_them(unspool: Run, provider: str) -> None:
    events, raw = sse(provider, Words("A cat.", thinking="Hm.", calls=CALLS))
    lines = "\n".join(json.dumps(event) for event in events if event != "[DONE]").encode()
    from_raw, from_lines = unspool("response", provider, stdin=raw), unspool("response", provider, stdin=lines)
    assert from_raw.returncode == 0, from_raw.stderr
    assert from_raw.stdout == from_lines.stdout
    message = json.loads(from_raw.stdout)["message"]
    assert message["role"] == "assistant"
    assert message["stop_reason"] == "tool_use"
    assert message["model"] == (MODEL if provider != "cohere" else None)
    kinds = [block["type"] for block in message["content"]]
    assert kinds == ["thinking", "text", "tool_use", "tool_use"]
    assert [block["input"] for block in message["content"][2:]] == [given for _, _, given in CALLS]
    assert [block["id"] for block in message["content"][2:]] == ["t1", "t2"]
    usage = message["usage"]
    counted = (usage["input_tokens"], usage["cache_read_input_tokens"], usage["output_tokens"])
    expected = {"anthropic": (10, 4, 7), "cohere": (16, 4, 7)}  # Cohere's own wrapping was cached, and is in no bill
    assert counted == expected.get(provider, (12, 4, 7))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_answer_goes_back_as_it_came(unspool: Run, provider: str) -> None:
    """Out of `response`, into `request`: ids, thinking and signatures are still there."""
    _, raw = sse(provider, Words("A cat.", thinking="Hm.", calls=CALLS))
    message = json.loads(unspool("response", provider, "--json", stdin=raw).stdout)["message"]
    given = {"messages": [says("user", "Hi"), message]}
    body = unspool("request", "-", "-p", f"{provider}/{MODEL}", "--json", stdin=json.dumps(given).encode())
    sent = body.stdout.decode()
    assert '"t1"' in sent
    assert '"t2"' in sent
    signed = {"anthropic": "c2lnbmVk", "gemini": "c2lnbmVk", "openai-responses": "Y2lwaGVy"}.get(provider)
    assert signed is None or signed in sent


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_shown(unspool: Run, provider: str) -> None:
    _, raw = sse(provider, Words("A cat.", thinking="Hm."))
    done = unspool("response", provider, "--stream", stdin=raw)
    pieces = [json.loads(line) for line in done.stdout.splitlines()]
    told: dict[str, str] = {}
    kind = ""
    for piece in pieces:
        kind = piece.get("type", kind)
        told[kind] = told.get(kind, "") + piece.get("content", "")
    assert told == {"thinking": "Hm.", "text": "A cat."}


def test_a_stream_that_broke_off(unspool: Run) -> None:
    events, _ = sse("anthropic", Words("A cat sits there."))
    cut = "\n".join(json.dumps(event) for event in events[:5]).encode()
    done = unspool("response", "anthropic", stdin=cut)
    message = json.loads(done.stdout)["message"]
    assert (done.returncode, message["interrupted"], message["stop_reason"]) == (3, True, None)
    assert message["content"][0]["text"].startswith("A cat")
    assert unspool("response", "anthropic", "--stream", stdin=cut).returncode == 3
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    done = unspool("response", "anthropic", stdin=cut + b"\n" + json.dumps(failed).encode())
    assert done.returncode == 3
    assert json.loads(done.stdout)["error"] == "Overloaded (overloaded_error)"


def test_bad_lines_cost_nothing_else(unspool: Run) -> None:
    events, _ = sse("openai", Words("A cat."))
    lines = [json.dumps(event).encode() for event in events if event != "[DONE]"]
    done = unspool("response", "openai", stdin=b"\n".join([lines[0], b"{half", *lines[1:]]))
    assert json.loads(done.stdout)["message"]["content"] == [{"type": "text", "text": "A cat."}]
    assert "standard input:2: no JSON: {half" in done.stderr.decode()


@pytest.mark.parametrize(("provider", "given"), [("openai", b""), ("openai", b"plain words"), ("pope", b"{}")])
def test_what_is_no_stream(unspool: Run, provider: str, given: bytes) -> None:
    done = unspool("response", provider, stdin=given)
    assert (done.returncode, done.stdout) == (2, b"")


def test_openai_is_told_by_its_events(unspool: Run) -> None:
    _, raw = sse("openai-responses", Words("A cat."))
    message = json.loads(unspool("response", "openai", stdin=raw).stdout)["message"]
    assert message["api"] == "responses"


def test_compat_of_answers(unspool: Run) -> None:
    _, raw = sse("openai", Words("A cat.", calls=CALLS))
    message = json.loads(unspool("response", "openai", "--compat", "gpt2099", stdin=raw).stdout)["message"]
    assert message.keys() == {"type", "role", "model", "content", "stop_reason", "usage"}
    assert called("t1")["id"] not in [block.get("id") for block in message["content"]]


def test_hosts_and_pointers_of_ones_own_are_known(unspool: Run, home: Path) -> None:
    home.mkdir()
    hosts = '[providers.shed]\nbase_url = "http://127.0.0.1:9/v1"\n'
    hosts += '[providers.barn]\napi = "gemini"\nbase_url = "http://127.0.0.1:9"\n'
    (home / "config.toml").write_text(f'{hosts}[pointers.kilo]\nprovider = "anthropic"\nmodel = "claude-x"\n')
    for name, provider in (("shed", "openai"), ("shed/tin-1", "openai"), ("barn", "gemini"), ("kilo", "anthropic")):
        _, raw = sse(provider, Words("A cat.", calls=CALLS))
        told = unspool("response", name, stdin=raw)
        assert (told.returncode, told.stdout) == (0, unspool("response", provider, stdin=raw).stdout)
    done = unspool("response", "attic", stdin=b"{}")
    assert (done.returncode, b"'attic' is no pointer and no provider" in done.stderr) == (2, True)
    body = unspool("response", "kilo", "--compat", "gpt2099", stdin=b'{"type": "ping"}')
    assert body.returncode == 0, body.stderr
    assert unspool("response", "shed", "--compat", "gpt2099", "--stream", stdin=b"{}").returncode == 2
