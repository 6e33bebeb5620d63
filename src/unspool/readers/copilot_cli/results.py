"""Results of Copilot CLI's tools: what the model was told, and whether it went well.

{"success": true, "shellExecution": {"exitCode": 2}, "result": {"content": "…", "contents": [{"type": "shell_exit"}]}}
{"success": false, "error": {"code": "denied", "message": "…"}}

A command that ended badly was a call that went well. How it ended stands at the end of its output, in newer versions
beside it.
"""

import re
from typing import Any

from unspool.model.event import ToolOutput
from unspool.readers.blocks import content_text
from unspool.readers.copilot_cli.attachments import picture
from unspool.sources.values import listing, mapping, string, text_of

_EXIT = re.compile(r"exit(?:ed with)?(?: exit)? code (?!0\b)-?\d+>?\s*\Z")
_REFUSED = ("denied", "rejected")


def result_of(data: dict[str, Any]) -> ToolOutput:
    result, error = data.get("result"), data.get("error")
    blocks = [mapping(block) for block in listing(mapping(result).get("contents"))]
    if isinstance(result, dict):
        output = content_text(result.get("content") or result.get("detailedContent"))
        output = (
            output or "\n".join(text_of(block.get("text") or block.get("outputPreview")) for block in blocks).strip()
        )
        pictures = map(picture, listing(result.get("binaryResultsForLlm")))
        output = "\n".join(part for part in (output, *pictures) if part)
    else:
        output = content_text(result)
    if not output and error:
        output = text_of(mapping(error).get("message")) or text_of(error)
    failed = data.get("success") is False or bool(error) or reports_failure(output)
    ended = [mapping(data.get("shellExecution")), *blocks]
    failed = failed or any(about.get("exitCode") not in (0, None) for about in ended)
    refused = mapping(error).get("code") in _REFUSED
    return ToolOutput(string(data.get("toolCallId")), output, failed, interrupted=refused)


def reports_failure(output: str, _tool: str | None = None) -> bool:
    """Return whether a tool's output says that it failed."""
    return _EXIT.search(output[-80:]) is not None
