"""A command line whose words are no text in this locale, or in any; and words beside it that nobody reads."""

import json
import os
from pathlib import Path

import pytest

from conftest import Run
from contexts import environment
from model_server import ModelServer
from test_thread_command import out, records

pytestmark = pytest.mark.usefixtures("home")


def test_words_that_are_no_text_are_no_crash(unspool: Run, tmp_path: Path) -> None:
    """Latin-1 on the command line, and in the name of a file."""
    latin = os.fsdecode(b"caf\xe9")
    (file := tmp_path / f"{latin}.md").write_text("hi")
    assert unspool("thread", "add", latin, "-b", latin).returncode == 0
    assert unspool("document", file, "-c", latin, "-b", f"{latin}2").returncode == 0
    said, given = records(unspool, "thread", "show", f"{latin}2")
    assert said["content"][0]["text"] == said["head"] == "caf\N{REPLACEMENT CHARACTER}"
    assert given["document_name"] == "caf\N{REPLACEMENT CHARACTER}.md"
    done = unspool("thread", "show", os.fsdecode(b"th\xe9"))
    assert (done.returncode, b"no turn and no bookmark" in done.stderr) == (2, True)


@pytest.mark.parametrize("command", [("thread", "add"), ("ask", "-p", "nobody/x")])
def test_the_command_line_is_utf_8_where_the_locale_is_not(unspool: Run, command: tuple[str, ...]) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = unspool(*command, "Grüße ☕", "-b", "hütte", **plain)
    assert b"Traceback" not in done.stderr
    if command[0] == "thread":
        (message,) = json.loads(out(unspool, "context", "resolve", "hütte"))["messages"]
        assert message["content"][0]["text"] == "Grüße ☕"


def test_what_is_piped_in_beside_a_prompt_is_not_lost_in_silence(unspool: Run) -> None:
    with ModelServer() as at:
        given = environment(at.url)
        ignored = unspool("ask", "-p", "openai/x", "What is it?", stdin=b"a fish", **given)
        joined = unspool("ask", "-p", "openai/x", "-a", "-", "What is it?", stdin=b"a fish", **given)
        nothing = unspool("ask", "-p", "openai/x", "What is it?", **given)
    assert (ignored.returncode, b"`-a -` sends it" in ignored.stderr) == (0, True)
    assert b"-a -" not in joined.stderr + nothing.stderr
    assert ["fish" in str(body["messages"]) for body in at.bodies] == [False, True, False]
