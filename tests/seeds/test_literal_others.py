"""The examples of documents 002, 003 and 004, as they are written there: schemas, patches and commands."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from logs import Codex
from seeds.documents import example, examples, needs_documents
from seeds.sessions import Squash, entry, turns
from seeds.test_answers import TEXTS

pytestmark = needs_documents

SCHEMAS = {
    "002-01": ("messages", "options", "role", "content", "provider_ptr", "servers", "search", "tool_mode"),
    "002-02": ("type", "text", "cache_control"),
    "002-03": ("type", "source", "type", "media_type", "data", "cache_control"),
    "002-04": ("type", "id", "name", "input"),
    "002-05": ("type", "name", "content", "tool_use_id", "is_error"),
    "002-06": ("id", "role", "content", "options", "cache"),
    "002-07": ("messages", "options"),
}
"""Schemas in a notation of their own: the fields that a context or a turn of ours must have, in this order."""
OPTIONS, ANSWER, RECORD = "002-08", "002-09", "003-01"
EVENTS = ("004-03", "004-10")
PATCHES = ("004-06", "004-07")
COMMANDS = ("004-02", "004-09", "004-11", "004-12", "004-13")
NOT_RUN = {
    "001-01": "a diagram of message types; each type has a box in test_pretty.py",
    "001-11": "a diagram of pairing; test_pretty.py pairs uses with results",
    "001-19": "a diagram of what is posted; test_slack.py has each significant message",
    "004-01": "a drawing of layers; test_events.py checks the raw call and its meaning side by side",
    "004-04": "Rust: the parser of the patch; tests/test_patch.py checks ours, and its tests are run below",
    "004-05": "Rust: the mapping to file edits and writes; test_events.py has each of its branches",
    "004-08": "runs the tests of the Rust program",
}
RUN = {*SCHEMAS, OPTIONS, ANSWER, RECORD, *EVENTS, *PATCHES, *COMMANDS}


@pytest.fixture
def run(unspool: Run, home: Path) -> Any:
    """Run a command that must succeed."""
    assert not home.exists()

    def run(*arguments: str | Path, stdin: Any = "") -> str:
        text = stdin if isinstance(stdin, str) else json.dumps(stdin)
        done = unspool(*arguments, stdin=text.encode())
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run


def fields(key: str) -> tuple[str, ...]:
    return tuple(re.findall(r"^\s*(\w+)\??:", example(key).text, re.MULTILINE))


@pytest.mark.parametrize(("key", "names"), SCHEMAS.items())
def test_literal_schemas_name_the_fields_that_we_read_and_write(key: str, names: tuple[str, ...], run: Any) -> None:
    assert fields(key) == names
    mark = {"type": "ephemeral"}
    source = {"type": "base64", "media_type": "text/csv", "data": "YSxi"}
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "Look.", "cache_control": mark},
        {"type": "document", "source": source, "cache_control": mark},
    ]
    use = {"type": "tool_use", "id": "tu_1", "name": "look", "input": {}}
    result = {"type": "tool_result", "name": "look", "content": blocks[:1], "tool_use_id": "tu_1", "is_error": False}
    context = {
        "messages": [
            {"role": "user", "content": blocks},
            {"role": "assistant", "content": [use]},
            {"role": "user", "content": [result]},
        ],
        "options": {"provider_ptr": "kilo", "servers": ["yard"], "search": True, "tool_mode": "auto"},
    }
    run("thread", "add", "--turns", "-", "-b", "t", stdin=context)
    assert json.loads(run("context", "resolve", "t")) == context
    (*_, record) = map(json.loads, run("context", "list", "t", "--json").splitlines())
    ours = {"002-06": record, "002-07": context}
    if key in ours:
        assert set(names) <= set(ours[key])
    else:
        assert all(f'"{name}"' in json.dumps(context) for name in names)


def test_literal_options_are_merged_down_a_thread(run: Any) -> None:
    text = re.sub(r"^(\s*)(\w+):", r'\1"\2":', example(OPTIONS).text, flags=re.MULTILINE)
    options = json.loads(re.sub(r"\n(?=\s*\")", ",\n", text).replace("{,", "{"))
    assert len(options) == 4
    for number, (name, value) in enumerate(options.items()):
        run("thread", "add", "Hm.", "--options", json.dumps({name: value}), *(["-c", "t"] if number else ["-b", "t"]))
    assert json.loads(run("context", "resolve", "t"))["options"] == options


@pytest.mark.parametrize("provider", TEXTS)
def test_the_literal_answer_has_the_fields_of_ours(provider: str, run: Any) -> None:
    message, *names = fields(ANSWER)
    stream = "".join(json.dumps(event) + "\n" for event in TEXTS[provider])
    answer = json.loads(run("response", provider, "--json", stdin=stream))[message]
    top = names[: names.index("usage") + 1]
    assert list(answer)[: len(top)] == top
    assert set(names[len(top) :]) <= set(answer["usage"])


def test_the_literal_record_has_the_keys_of_ours(squash: Squash) -> None:
    keys = list(json.loads(example(RECORD).text.replace("[...]", "[]")))
    assert list(squash.log(entry(1, turns(1))).record()) == keys


# Document 004


def without_comments(text: str) -> str:
    return re.sub(r"\s+//.*$", "", text, flags=re.MULTILINE)


def patch_for(shown: dict[str, Any]) -> str:
    """Return a whole patch that begins as the shortened one of an example does."""
    header = re.findall(r"\*\*\* Update File: (\S+)", shown["metadata"]["payload"]["input"])[0]
    return f"*** Begin Patch\n*** Update File: {header}\n@@\n-a\n+b\n*** End Patch"


@pytest.mark.parametrize("key", EVENTS)
def test_literal_events(key: str, run: Any, tmp_path: Path) -> None:
    shown = json.loads(without_comments(example(key).text))
    patch = patch_for(shown)
    log = Codex().patches("c1", patch).save(tmp_path / "log.jsonl")
    event = json.loads(run("grep", '"name":"apply_patch"', log, "--raw"))
    arguments = shown["content"]["arguments"]
    path = re.findall(r"Update File: (\S+)", patch)[0]
    assert arguments["file_path"] == path
    assert event["content"]["name"] == shown["content"]["name"]
    assert event["content"]["arguments"] == {**arguments, "new_string": patch}
    assert arguments["new_string"].rstrip(".") in patch
    payload = {name: event["metadata"]["payload"][name] for name in shown["metadata"]["payload"]}
    assert payload == {**shown["metadata"]["payload"], "input": patch}
    assert event["type"] == shown.get("type", "tool_call")


@pytest.mark.parametrize("key", PATCHES)
def test_literal_tests_of_patches(key: str, run: Any, tmp_path: Path) -> None:
    text = example(key).text
    (patch,) = re.findall(r'r#"(.*?)"#', text, re.DOTALL)
    (path,) = re.findall(r'file_path, "(.*?)"', text)
    log = Codex().calls("c1", "apply_patch", raw=patch).save(tmp_path / "log.jsonl")
    content = json.loads(run("grep", '"type":"tool_call"', log, "--json"))["content"]
    assert content["name"] == "apply_patch"
    assert content["kind"] == "file_write"
    assert content["arguments"] == {"file_path": path, "content": patch}


def commands(key: str) -> list[list[str]]:
    """Return what stands behind the program's name in each command that searches."""
    lines = [line for line in example(key).text.splitlines() if " lab grep " in line]
    return [shlex.split(line)[2:] for line in lines]


@pytest.mark.parametrize("key", COMMANDS)
def test_literal_commands(key: str, run: Any, tmp_path: Path) -> None:
    log = Codex()
    for number, operation in enumerate(("Update", "Add") * 3):
        body = "@@\n-a\n+b" if operation == "Update" else "+b"
        log.patches(f"c{number}", f"*** Begin Patch\n*** {operation} File: a{number}.rs\n{body}\n*** End Patch\n")
    path = log.save(tmp_path / "log.jsonl")
    assert commands(key)
    for grep, pattern, *options in commands(key):
        events = [json.loads(line) for line in run(grep, pattern, path, *options).splitlines()]
        assert len(events) == int(options[options.index("--limit") + 1])
        assert all(("payload" in event["metadata"]) is ("--raw" in options) for event in events)
        operations = {"Add File:": {"file_write"}, "Update File:": {"file_edit"}}
        assert {event["content"]["kind"] for event in events} <= operations.get(pattern, {"file_write", "file_edit"})


def test_there_are_commands_in_no_other_example() -> None:
    assert {each.key for each in examples("004") if commands(each.key)} == set(COMMANDS)
