"""Texts in the messages of a recording: what was typed and what was sent with it, thoughts, where the session ran."""

from typing import Any

from unspool.model import Content
from unspool.model.event import Compacted, Notification, SlashCommand, User
from unspool.readers.genai import part_text, parts_of, prompt
from unspool.sources.values import text_of

_WORKSPACE = ("- **Workspace Directories:**\n  - ", "currently working in the directory: ")
"""What stands before the project's folder in the text that opens a session."""


def shown(value: dict[str, Any], parts: list[Any]) -> list[Content]:
    """What a person typed, and what else the model was sent with it."""
    contents = list(prompt(parts))
    display = value.get("displayContent")
    if not display:
        return contents
    typed = list(prompt(parts_of(display)))
    rest = [content for content in contents if content not in typed]
    return typed + [
        Notification(content.text, "context") if isinstance(content, User | Compacted) else content
        for content in rest
        if not isinstance(content, SlashCommand)
    ]


def words(parts: list[Any]) -> str:
    return "\n".join(map(part_text, parts))


def thought_text(thought: dict[str, Any]) -> str:
    """As the model wrote it: its subject in bold, then what it thought."""
    subject, description = thought.get("subject"), thought.get("description")
    if type(subject) is str and type(description) is str and subject and description:
        return f"**{subject}** {description}"
    if isinstance(text := thought.get("text"), str):
        return text
    return f"**{text_of(subject)}** {text_of(description)}".rstrip() if subject else text_of(description)


def workspace(text: str) -> str | None:
    for before in _WORKSPACE:
        _, found, behind = text.partition(before)
        if found:
            return behind.partition("\n")[0].strip() or None
    return None
