"""Results of Qwen Code's tools as it sends them to APIs that have no place for a failure: the error is the text."""

import re

from unspool.readers import genai
from unspool.readers.genai import was_stopped

__all__ = ["reports_failure", "was_stopped"]

_READING = frozenset({"read_file", "read_many_files", "run_shell_command", "web_fetch"})
"""Tools whose output is text from elsewhere, which may mention errors without being one."""
_REFUSED = re.compile(
    r"File not found: |Path not found: |Failed to |Could not |Cannot |Error: |Error \w+ing |Tool \""
    r"|params(?:/\S+)? must |(?:File path|Path|Directory) (?:must|is not|does not)|\[Operation Cancelled\]"
)
"""How a message begins that says why a tool did nothing."""


def reports_failure(output: str, tool: str | None) -> bool:
    """Return whether a tool's output says that it failed."""
    if genai.reports_failure(output, tool):
        return True
    return _REFUSED.match(output) is not None and (tool not in _READING or "\n" not in output.rstrip())
