"""Continue's tools: those of its editor extension, and those of its command line, which sound like Claude Code's."""

from typing import ClassVar

from unspool.actions.files import Blocks, EditFile, Edits, ReadLines, Sketch, WriteFile
from unspool.actions.shapes import (
    Apart,
    Delegate,
    Fetch,
    Find,
    FindByQuery,
    Glob,
    Look,
    Question,
    RunCommand,
    SearchWeb,
    Todos,
    UseSkill,
)
from unspool.actions.vocabulary import Call, Vocabulary, mcp_of


class GrepSearch(Find, frozen=True, gc=False):
    """Calls the pattern a query."""

    spelled = Find.spelled | {"query": "pattern"}


class RunTerminalCommand(RunCommand, frozen=True, gc=False):
    spelled: ClassVar = {"preferredWorkingDirectory": "workdir"}


TOOLS: dict[str, type[Call]] = {
    "read_file": ReadLines,
    "read_file_range": ReadLines,
    "create_new_file": WriteFile,
    "edit_existing_file": Sketch,
    "single_find_and_replace": EditFile,
    "multi_edit": Edits,
    "search_and_replace_in_file": Blocks,
    "run_terminal_command": RunTerminalCommand,
    "grep_search": GrepSearch,
    "exact_search": GrepSearch,
    "file_glob_search": Glob,
    "ls": Look,
    "view_subdirectory": Look,
    "view_repo_map": Look,
    "codebase": FindByQuery,
    "search_web": SearchWeb,
    "fetch_url_content": Fetch,
    "read_skill": UseSkill,
    "Read": ReadLines,
    "Write": WriteFile,
    "Edit": EditFile,
    "MultiEdit": Edits,
    "Bash": RunCommand,
    "List": Look,
    "Search": Find,
    "Fetch": Fetch,
    "Checklist": Todos,
    "AskQuestion": Question,
    "Subagent": Delegate,
    "Skills": UseSkill,
    **dict.fromkeys(
        (
            "create_rule_block",
            "read_currently_open_file",
            "request_rule",
            "view_diff",
            "Diff",
            "Event",
            "Exit",
            "ReportFailure",
            "Status",
            "UploadArtifact",
        ),
        Apart,
    ),
}

VOCABULARY = Vocabulary("continue", TOOLS, mcp_of)
