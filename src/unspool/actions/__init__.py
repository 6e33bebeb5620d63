"""Vocabularies: what each agent's tools mean. One module an agent; the shapes that agents share stand beside them,
and the tools that the APIs define."""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from unspool.actions.vocabulary import Vocabulary
from unspool.model import Meaning

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
    "pi": "oh_my_pi",
    "qwen_code": "qwen_code",
    "roo": "roo",
    "zed": "zed",
}


@cache
def vocabulary_for(agent: str) -> Vocabulary:
    """Imported when it is asked for: a run meets few agents.

    One that we do not know has the tools that the APIs define; those on servers are known by their names.
    """
    found: Vocabulary = import_module(f"unspool.actions.{_MODULES.get(agent, 'hosted')}").VOCABULARY
    return found


@cache
def meanings_for(agent: str) -> Callable[[str, Any], Meaning]:
    """Tells what calls mean. The vocabulary is imported at the first of them: who lists sessions never asks."""

    def meaning(name: str, arguments: Any) -> Meaning:
        return vocabulary_for(agent).read(name, arguments)

    return meaning
