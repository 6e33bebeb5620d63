"""Vocabularies: what each agent's tools mean. One module an agent; the shapes that agents share stand beside them."""

from functools import cache
from importlib import import_module

from unspool.actions.vocabulary import Vocabulary, mcp_of

_MODULES = {
    "amp": "amp",
    "claude_code": "claude_code",
    "cline": "cline",
    "codex": "codex",
    "continue": "continue_dev",
    "copilot_cli": "copilot_cli",
    "crush": "crush",
    "cursor": "cursor",
    "droid": "droid",
    "gemini_cli": "gemini_cli",
    "goose": "goose",
    "iflow": "iflow",
    "openclaw": "openclaw",
    "opencode": "opencode",
    "pi": "pi",
    "qwen_code": "qwen_code",
    "roo": "roo",
    "zed": "zed",
}


@cache
def vocabulary_for(agent: str) -> Vocabulary:
    """Imported when it is asked for: a run meets few agents.

    One that we do not know has no tools; those on servers are known by their names.
    """
    if agent not in _MODULES:
        return Vocabulary(agent, {}, mcp_of)
    found: Vocabulary = import_module(f"unspool.actions.{_MODULES[agent]}").VOCABULARY
    return found
