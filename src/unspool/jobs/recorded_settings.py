"""What a recorded request set beside its messages and tools, as far as it means the same to every provider."""

from collections.abc import Mapping
from typing import Any

from unspool.sources.values import listing, mapping, string

_LONGEST = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
_CHOICES = ("tool_choice", "toolConfig", "tool_config")
_GENERATION = ("generationConfig", "generation_config")
_MODES = {"any": "required", "required": "required", "auto": "auto", "none": "none", "validated": "auto"}
_OURS = frozenset({"stream", "stream_options", "store", "include", "metadata", "user", "prompt_cache_key"})
"""What we say ourselves, or what is the caller's own affair."""


def longest(settings: Mapping[str, Any]) -> int | None:
    """How many tokens the answer may have."""
    given = (each.get(key) for each in (settings, _generation(settings)) for key in _LONGEST)
    return next((value for value in given if isinstance(value, int) and not isinstance(value, bool)), None)


def tool_mode(settings: Mapping[str, Any]) -> str | None:
    """`auto`, `none`, `required`, or the name of a tool; in whichever words it was said."""
    choice = next((settings[key] for key in _CHOICES if settings.get(key)), None)
    match choice:
        case str():
            return _MODES.get(choice.lower())
        case {"function": {"name": str(name)}} | {"type": "tool" | "function", "name": str(name)}:
            return name
        case {"type": str(kind)}:
            return _MODES.get(kind.lower())
        case {"functionCallingConfig": dict(config)} | {"function_calling_config": dict(config)}:
            names = listing(config.get("allowedFunctionNames") or config.get("allowed_function_names"))
            mode = _MODES.get((string(config.get("mode")) or "").lower())
            return str(names[0]) if mode == "required" and len(names) == 1 else mode
    return None


def untold(settings: Mapping[str, Any]) -> list[str]:
    """The names of what is left out for another provider."""
    told = {*_LONGEST, *_CHOICES, *_GENERATION, *_OURS}
    return [name for name in (*_generation(settings), *settings) if name not in told]


def _generation(settings: Mapping[str, Any]) -> dict[str, Any]:
    return mapping(next((settings[key] for key in _GENERATION if settings.get(key)), None))
