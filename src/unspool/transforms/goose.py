"""Take out of Goose's requests what Goose put in for itself: four rules, on requests in the shape of OpenAI's chat API.

1. A user message that is nothing but `<info-msg>…</info-msg>` goes. One that says anything beside it, or holds an
   image, stays whole.
2. A system prompt that introduces Goose becomes one neutral sentence.
3. An entry that only asks for a title of the session goes.
4. An assistant message that says nothing goes, when another assistant message follows. Reasoning is something.
"""

import re
from collections import Counter
from typing import Any

PROMPT = "You are a general-purpose AI agent"

_INFO = re.compile(r"\s*(?:<info-msg>(?:(?!</?info-msg>).)*</info-msg>\s*)+", re.DOTALL)
_GOOSE = re.compile(r"general-purpose\s+AI\s+agent\s+called\s+goose", re.IGNORECASE)
_TITLE_SYSTEM = "Reply with only a description in four words or less"
_TITLE_USER = "Here are the first few user messages:"
_TITLE_WORDS = 6
_SYSTEM = ("system", "developer")
_SAYING = ("tool_calls", "tool_call_id", "function_call", "reasoning_content", "reasoning", "refusal", "audio")
"""Fields beside the content that make a message more than nothing."""


def clean(entry: dict[str, Any], counts: Counter[str] | None = None) -> dict[str, Any] | None:
    """The entry without them, itself if nothing had to go; None when it goes whole. `counts` is told what was done."""
    request = entry.get("request")
    messages = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(request, dict) or not isinstance(messages, list):
        return entry
    done: Counter[str] = Counter() if counts is None else counts
    kept = [message for message in messages if not _is_info(message)]
    if _asks_for_title(kept, entry.get("response")):
        done["title"] += 1
        return None
    done["info"] += len(messages) - len(kept)
    spoken = _without_silence(kept)
    done["silence"] += len(kept) - len(spoken)
    renamed = [_neutral(message) for message in spoken]
    changed = sum(new is not old for new, old in zip(renamed, spoken, strict=True))
    done["prompt"] += changed
    if not changed and len(renamed) == len(messages):
        return entry
    return {**entry, "request": {**request, "messages": renamed}}


def _is_info(message: Any) -> bool:
    if _role(message) != "user":
        return False
    text = _whole_text(message.get("content"))
    return text is not None and _INFO.fullmatch(text) is not None


def _asks_for_title(messages: list[Any], response: Any) -> bool:
    """Nothing but the question for a title, and a title in answer: a third message would be somebody's conversation."""
    if len(messages) != 2 or _role(messages[0]) not in _SYSTEM or _role(messages[1]) != "user":
        return False
    asked = [_whole_text(message.get("content")) or "" for message in messages]
    if not asked[0].lstrip().startswith(_TITLE_SYSTEM) or not asked[1].lstrip().startswith(_TITLE_USER):
        return False
    match response:
        case {"choices": [{"message": {"role": "assistant", "content": content, **rest}}, *_]}:
            words = len((_whole_text(content) or "").split())
            return 1 <= words <= _TITLE_WORDS and not rest.get("tool_calls") and not rest.get("function_call")
    return False


def _neutral(message: Any) -> Any:
    if _role(message) not in _SYSTEM:
        return message
    content = message.get("content")
    text = _joined(content)
    if content == PROMPT or not _GOOSE.search(text):
        return message
    return {**message, "content": PROMPT}


def _without_silence(messages: list[Any]) -> list[Any]:
    """From the end, so that a chain of silent messages goes but for its last."""
    kept: list[Any] = []
    for message in reversed(messages):
        if kept and _role(kept[-1]) == "assistant" and _says_nothing(message):
            continue
        kept.append(message)
    kept.reverse()
    return kept


def _says_nothing(message: Any) -> bool:
    if _role(message) != "assistant" or any(_is_something(message.get(field)) for field in _SAYING):
        return False
    text = _whole_text(message.get("content"))
    return text is not None and not text.strip()


def _is_something(value: Any) -> bool:
    return bool(value.strip()) if isinstance(value, str) else bool(value)


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, dict) else None


def _whole_text(content: Any) -> str | None:
    """All that a message's content says; None when it says more than text can hold."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not all(_is_text(part) for part in content):
        return None
    return _joined(content)


def _joined(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if _is_text(part)) if isinstance(content, list) else ""


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
