"""Results of OpenCode's tools as it sends them to APIs that have no place for a failure: the error is the text.

How a command ended is only in OpenCode's database, unless it was stopped.
"""

import re

_COMMANDS = frozenset({"bash", "shell"})
_STOPPED = re.compile(
    r"metadata>\n(?:.*\n)*?(?:\w+ tool terminated command after exceeding timeout|User aborted the command)"
)
_REFUSED = re.compile(
    r"File not found: |Could not find oldString |Found multiple matches for oldString|No changes to apply: "
    r"|oldString (?:not found|cannot be empty)|Cannot read binary file: |Failed to read file|Tool execution aborted\Z"
    r"|The user rejected permission to use this |The user has specified a rule which prevents you from using this "
    r"|The \S+ tool was called with invalid arguments: |apply_patch verification failed: |patch rejected: "
)
"""How a message begins that says why a tool did nothing."""


def reports_failure(output: str, tool: str | None) -> bool:
    """Return whether a tool's output says that it failed."""
    if tool == "invalid":  # OpenCode renames a call whose arguments are invalid
        return True
    if tool in _COMMANDS:
        return _STOPPED.search(output[-600:]) is not None
    return _REFUSED.match(output) is not None and not (tool == "read" and "\n" in output.rstrip())
