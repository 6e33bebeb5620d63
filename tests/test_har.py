"""HAR files, as browsers and proxies save them, are recorded traffic too."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Run

KEY = "sk-" + "k" * 40
ASKED = {"model": "gpt-5-mini", "messages": [{"role": "user", "content": "Bake?"}]}
ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}]}
STREAM = (
    'data: {"choices":[{"index":0,"delta":{"content":"Ye"}}]}\n\n'
    'data: {"choices":[{"index":0,"delta":{"content":"s."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


def entry(asked: Any, text: str, *, encoding: str | None = None, method: str = "POST") -> dict[str, Any]:
    headers = [{"name": "Authorization", "value": f"Bearer {KEY}"}, {"name": "User-Agent", "value": "mine/1"}]
    url = f"https://api.example.com/v1/chat/completions?key={KEY}"
    request: dict[str, Any] = {"method": method, "url": url, "httpVersion": "HTTP/2", "headers": headers}
    if asked is not None:
        request["postData"] = {"mimeType": "application/json", "text": json.dumps(asked)}
    content = {"size": len(text), "text": text} | ({"encoding": encoding} if encoding else {})
    response = {"status": 200, "headers": [{"name": "set-cookie", "value": KEY}], "content": content}
    return {"startedDateTime": "2026-03-02T10:00:00.000Z", "time": 1500.0, "request": request, "response": response}


ENTRIES = [
    entry(None, "<html></html>", method="GET"),
    entry(ASKED, json.dumps(ANSWER)),
    entry(ASKED, base64.b64encode(STREAM.encode()).decode(), encoding="base64"),
]


@pytest.mark.parametrize("indent", [None, 2])
def test_the_calls_in_it_are_cooked_without_keys(unspool: Run, tmp_path: Path, indent: int | None) -> None:
    har = {"log": {"version": "1.2", "creator": {"name": "browser"}, "entries": ENTRIES}}
    (tmp_path / "saved.har").write_text(json.dumps(har, indent=indent))
    done = unspool("cook", tmp_path, "-q", "--strict")
    assert (done.returncode, done.stderr) == (0, b"")
    assert KEY.encode() not in done.stdout
    cooked = json.loads(done.stdout)
    assert [message["content"] for message in cooked["messages"]] == ["Bake?", "Yes."]
    assert [(call["timestamp"], call["duration_ms"]) for call in cooked["requests"]] == [(1772445600000, 1500)] * 2


def test_what_was_no_call_is_noted(unspool: Run, tmp_path: Path) -> None:
    file = tmp_path / "saved.har"
    file.write_text(json.dumps({"log": {"entries": [entry({"event": "click"}, ""), *ENTRIES]}}))
    done = unspool("cook", file, "-o", tmp_path / "out.json", "--notes", tmp_path / "notes")
    assert done.returncode == 0
    assert len(json.loads((tmp_path / "out.json").read_text())["requests"]) == 2
    (note,) = map(json.loads, (tmp_path / "notes").read_text().splitlines())
    assert (note["kind"], note["origin"]["line"]) == ("skipped", 1)


def test_a_log_of_another_kind_is_none(unspool: Run, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"log": {"lines": 5}}')
    done = unspool("cook", tmp_path / "a.json", "-q", "--strict", "-o", tmp_path / "out.json")
    assert done.returncode == 1


def test_squash_and_view_take_it_too(unspool: Run, tmp_path: Path) -> None:
    file = tmp_path / "saved.har"
    file.write_text(json.dumps({"log": {"entries": ENTRIES}}))
    assert unspool("squash", file, "-o", tmp_path / "out", "-s").returncode == 0
    (line,) = (tmp_path / "out" / "conversations.jsonl").read_text().splitlines()
    assert [message["content"] for message in json.loads(line)["messages"]] == ["Bake?", "Yes."]
    listed = unspool("view", file, "--list")
    assert b"2 requests" in listed.stdout


def test_a_call_that_was_broken_off_has_no_answer(unspool: Run, tmp_path: Path) -> None:
    """Browsers write an empty content, and 0 or what had come for the status."""
    entries = [entry(ASKED, "") for _ in range(3)]
    for each, status in zip(entries, (0, 200, 502), strict=True):
        each["response"] |= {"status": status, "content": {"size": 0, "mimeType": "x-unknown"}}
    (tmp_path / "saved.har").write_text(json.dumps({"log": {"version": "1.2", "entries": entries}}))
    cooked = json.loads(unspool("cook", tmp_path, "-q").stdout)
    assert cooked["notes"] == []
    assert [message["content"] for message in cooked["messages"]] == ["Bake?", "Error: status 502, and nothing more"]
    assert [call["error"] for call in cooked["requests"]] == [None, None, {"status": 502}]
    assert [call["response_messages"] for call in cooked["requests"]] == [[], [], ["m1"]]
