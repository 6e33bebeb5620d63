"""Results of Pi's tools as it sends them to APIs that have no place for a failure: the error is the text."""

import re

_COMMANDS = frozenset({"bash"})
_ENDED_BADLY = re.compile(
    r"(?:\A|\n\n)Command (?:exited with code (?!0\s*\Z)-?\d+|timed out after \S+ seconds|aborted)\s*\Z"
)
"""How the output of a failed command ends."""
_REFUSED = re.compile(
    r"E[A-Z]{3,}: |Could not (?:find|edit) |Found \d+ occurrences of |No changes made to |Path not found: "
    r"|Not a directory: |Cannot read directory: |Offset \d+ is beyond end of file|Operation aborted\Z|oldText must "
    r"|edits\[\d+\]|Edit tool input is |Failed to run |Working directory does not exist: |Tool \S+ not found\Z"
    r"|Validation failed for tool "
)
"""How a message begins that says why a tool did nothing."""


def reports_failure(output: str, tool: str | None) -> bool:
    """Return whether a tool's output says that it failed."""
    if tool in _COMMANDS and _ENDED_BADLY.search(output[-120:]):
        return True
    # The output of a command and the text of a file may mention errors without being one.
    is_foreign = tool in _COMMANDS or tool == "read"
    return _REFUSED.match(output) is not None and not (is_foreign and "\n" in output.rstrip())
