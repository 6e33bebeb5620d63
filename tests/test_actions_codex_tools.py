"""Codex's newer tools, as far as they mean something that others mean too."""

import pytest

from unspool.actions import meanings_for
from unspool.actions.codex import qualified
from unspool.model.action import Ask


@pytest.mark.parametrize("tool", ["request_user_input_async", "send_user_message_async"])
def test_questions_that_nobody_waits_for(tool: str) -> None:
    questions = [{"title": "Which port?", "options": ["80", "8080"]}, {"title": "Which name?"}]
    meaning = meanings_for("codex")(tool, {"questions": questions})
    assert meaning.kind == "ask"
    assert meaning.actions == (Ask("Which port?", ("80", "8080")), Ask("Which name?", ()))
    assert meanings_for("codex")(tool, {"message": "done"}).kind == "generic"


def test_work_that_is_given_to_an_agent() -> None:
    assert meanings_for("codex")("assign_task", {"target": "/root/a", "message": "go on"}).kind == "agent"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("functions.exec_command", "exec_command"),
        ("collaboration.spawn_agent", "spawn_agent"),
        ("container.exec", "container.exec"),
        ("multi_tool_use.parallel", "multi_tool_use.parallel"),
        ("functions.unheard_of", "functions.unheard_of"),
        ("desk.exec_command", "desk.exec_command"),
    ],
)
def test_a_namespace_before_the_name(written: str, name: str) -> None:
    assert qualified(written, None) == name
