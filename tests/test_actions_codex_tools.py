"""Codex's newer tools, as far as they mean something that others mean too."""

from typing import Any

import pytest

from unspool.actions import meanings_for
from unspool.actions.codex import qualified
from unspool.model.action import Ask, FileRead, Search


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


@pytest.mark.parametrize(
    ("tool", "given", "kind", "told"),
    [
        ("memories__read", {"path": "a.md", "line_offset": 3}, "file_read", {"file_path": "a.md", "offset": 3}),
        ("memories__search", {"queries": ["oak"], "path": "t"}, "search", {"query": "oak", "path": "t"}),
        ("memories__list", {}, "search", {}),
        ("memories__add_ad_hoc_note", {"filename": "n.md", "note": "x"}, "file_write", {"file_path": "n.md"}),
        ("skills__read", {"package": "p", "resource": "SKILL.md"}, "file_read", {"file_path": "SKILL.md"}),
        ("skills__read", {}, "generic", {}),
        ("skills__list", {"authority": {"kind": "executor"}}, "search", {}),
        ("codex_app__create_thread", {"prompt": "go", "hostId": "h"}, "agent", {"prompt": "go", "hostId": "h"}),
        ("codex_app__wait_threads", {"threadIds": ["t"]}, "agent", {"threadIds": ["t"]}),
        ("collaboration__post", {"text": "found it", "channel_name": "c"}, "agent", {"prompt": "found it"}),
        ("collaboration__read_thread", {"thread_id": "t"}, "agent", {"thread_id": "t"}),
        ("notes__read_file", {"path": "plan.md"}, "generic", {"path": "plan.md"}),
        ("history__read_item", {"item_id": "i"}, "generic", {"item_id": "i"}),
        ("codex_app__load_workspace_dependencies", {}, "generic", {}),
    ],
)
def test_tools_beside_its_own(tool: str, given: dict[str, Any], kind: str, told: dict[str, Any]) -> None:
    meaning = meanings_for("codex")(tool, given)
    assert meaning.kind == kind
    assert told.items() <= meaning.arguments.items()
    namespace, _, name = tool.partition("__")
    assert qualified(name, namespace) == tool


def test_several_searches_of_its_memories() -> None:
    meaning = meanings_for("codex")("memories__search", {"queries": ["oak", "elm"]})
    assert meaning.actions == (Search(query="oak"), Search(query="elm"))
    assert meanings_for("codex")("memories__search", {"queries": []}).kind == "generic"


def test_a_program_that_asks_its_memories() -> None:
    program = "text(await tools.memories__read({path: 'a.md'})); text(await tools.skills__read({package: 'p'}))"
    assert meanings_for("codex")("exec", program).actions == (FileRead("a.md"), FileRead("p"))
