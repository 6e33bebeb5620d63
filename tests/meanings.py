"""Tools and what they mean, short to write: names of tools that take the same, what they take, what it means."""

from typing import Any

import msgspec

from unspool.actions import vocabulary_for
from unspool.model import Action
from unspool.model.action import (
    Agent,
    Ask,
    Execute,
    FileEdit,
    FileWrite,
    Mcp,
    Plan,
    PlanItem,
    Search,
    Web,
)

Row = tuple[str, Any, Action]

PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
ADDED = FileWrite("a", PATCH)
EDITED = FileEdit("a", "x", "y", False)
SKETCHED = FileEdit("a", "", "y", False)
URL, QUERY, PATTERN = {"url": "https://a"}, {"query": "q"}, {"pattern": "x", "path": "p"}
PAGE, SEARCHED, FOUND, ASKED = Web("https://a"), Web(query="q"), Search("x", None, "p"), Search(query="q")
TASK = {"description": "d", "prompt": "p", "subagent_type": "t"}
GIVEN = Agent("d", "p", "t")
TODOS = {"todos": [{"id": "1", "content": "c", "status": "pending", "priority": "high"}]}
LISTED = Plan((PlanItem("c", "pending", "high"),))
BOXES = "- [x] a\n- [ ] b\n1. [in_progress] c\n"
BOXED = Plan((PlanItem("a", "completed"), PlanItem("b", "pending"), PlanItem("c", "in_progress")))
QUESTIONS = {"questions": [{"question": "Which?", "options": [{"label": "A"}, {"label": "B"}]}]}
WHICH = Ask("Which?", ("A", "B"))
RESOURCE = {"server": "s", "uri": "u"}
HELD, LIST = Mcp("s", "resources/read", {"uri": "u"}), Mcp("s", "resources/list")
RUN, RAN = {"command": "make", "timeout": 9}, Execute("make", timeout=9)
PATH, READ = {"path": "p"}, Search(path="p")
BLOCKS = "<<<<<<< SEARCH\n:start_line:3\n-------\nx\n=======\ny\n>>>>>>> REPLACE\n"
EDITS = {"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]}


def named(rows: list[Row]) -> set[str]:
    return {name for names, *_ in rows for name in names.split()}


def check(agent: str, row: Row) -> None:
    """First the arguments alone, then the call: what else it carried may only stand beside the action's own fields."""
    names, arguments, action = row
    vocabulary = vocabulary_for(agent)
    fields = msgspec.to_builtins(action)
    kind = fields.pop("kind")
    for name in names.split():
        assert vocabulary.tools[name].of(arguments).action() == action, name
        meaning = vocabulary.read(name, arguments)
        assert meaning.kind == kind, name
        if kind == "generic":
            assert meaning.arguments is arguments
        else:
            assert {key: meaning.arguments[key] for key in fields} == fields, name
