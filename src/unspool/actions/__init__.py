"""Vocabularies: what each agent's tools mean. One module an agent; the shapes that agents share stand beside them."""

from collections.abc import Iterator, Mapping
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


class _Vocabularies(Mapping[str, Vocabulary]):
    """Of each agent, imported when it is asked for: a run meets few of them."""

    def __getitem__(self, agent: str) -> Vocabulary:
        return _load(_MODULES[agent])

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


@cache
def _load(module: str) -> Vocabulary:
    found: Vocabulary = import_module(f"unspool.actions.{module}").VOCABULARY
    return found


VOCABULARIES: Mapping[str, Vocabulary] = _Vocabularies()


def vocabulary_for(agent: str) -> Vocabulary:
    """An agent that we do not know has no tools; those on servers are known by their names."""
    return VOCABULARIES[agent] if agent in _MODULES else Vocabulary(agent, {}, mcp_of)
