"""Readers: what we know of the logs and live streams of agents. One module or folder an agent."""

from collections.abc import Iterator, Mapping
from importlib import import_module

from unspool.dialect import Reader

_PLACES = {
    "claude_code": "claude_code.reader",
    "claude_stream": "claude_code.stream",
    "claude_stream_json": "claude_code.execution",
    "codex": "codex.reader",
    "codex_exec": "codex.stream",
    "codex_json": "codex.saved",
    "gemini_cli": "gemini_cli.reader",
    "gemini_cli_json": "gemini_cli.document",
    "gemini_stream": "gemini_cli.stream",
    "aider": "aider.reader",
    "amp": "amp.reader",
    "amp_stream": "claude_code.amp",
    "cline": "cline.reader",
    "roo": "cline.roo",
    "continue": "continue_dev.reader",
    "copilot_cli": "copilot_cli.reader",
    "copilot_cli_history": "copilot_cli.history",
    "crush": "crush.reader",
    "cursor": "cursor.reader",
    "cursor_stream": "cursor.stream",
    "cursor_text": "cursor.text",
    "droid": "droid.reader",
    "droid_stream": "droid.stream",
    "goose": "goose.reader",
    "goose_export": "goose.export",
    "goose_jsonl": "goose.lines",
    "goose_stream": "goose.stream",
    "iflow": "claude_code.iflow",
    "opencode": "opencode.reader",
    "opencode_export": "opencode.export",
    "opencode_stream": "opencode.stream",
    "opencode_tree": "opencode.tree",
    "openclaw": "pi.openclaw",
    "openclaw_cold": "pi.cold",
    "openclaw_db": "pi.database",
    "pi": "pi.reader",
    "pi_stream": "pi.stream",
    "qwen_code": "qwen_code.reader",
    "qwen_code_json": "qwen_code.document",
    "qwen_stream": "qwen_code.stream",
    "zed": "zed.reader",
}
"""Where each reader stands, those of the most logs first: a file is offered to one after another."""


class _Readers(Mapping[str, Reader]):
    """Readers by their names, imported when they are first asked for: few people have the logs of all agents."""

    def __init__(self) -> None:
        self._loaded: dict[str, Reader] = {}

    def __getitem__(self, name: str) -> Reader:
        found = self._loaded.get(name)
        if found is None:
            module, _, variable = _PLACES[name].partition(".")
            found = self._loaded[name] = getattr(import_module(f"{__name__}.{module}"), variable)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


READERS = _Readers()
