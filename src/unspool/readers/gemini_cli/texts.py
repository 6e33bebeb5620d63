"""Texts in the messages of a recording: what was typed and what was sent with it, thoughts, where the session ran."""

from collections.abc import Sequence
from typing import Any

from unspool.model import Content
from unspool.model.event import Compacted, Level, Notification, SlashCommand, User
from unspool.readers.gemini_cli.shapes import Thought, thought_of
from unspool.readers.genai import part_text, parts_of, prompt
from unspool.sources.values import text_of

_WORKSPACE = ("- **Workspace Directories:**\n  - ", "currently working in the directory: ")
"""What stands before the project's folder in the text that opens a session."""
_UNSIGNED = "skip_thought_signature_validator"
_GO_ON = User("Please continue.")
"""What the program says if it thinks that the model is not done."""


class Prompts:
    """What a person typed, and what else the model was sent with it.

    What the program sends on the way (to go on, out of a loop, as a hook wants it) bears the prompt that it is all
    about: nobody typed that again.
    """

    def __init__(self) -> None:
        self._last: tuple[list[Content], list[Content]] = [], []
        """What was typed last, and what was sent for it."""

    def shown(self, display: Any, parts: list[Any]) -> list[Content]:
        """`display` is what was typed, where the program says it apart."""
        contents = list(prompt(parts))
        typed = list(prompt(parts_of(display))) if display else contents
        if display and self._is_on_the_way(typed, contents):
            return _beside(contents)
        if any(isinstance(content, User | SlashCommand) for content in typed):
            self._last = typed, contents
        return typed + _beside([content for content in contents if content not in typed]) if display else contents

    def _is_on_the_way(self, typed: list[Content], contents: list[Content]) -> bool:
        """A command may be given twice, and be told otherwise each time: there, only what we know tells."""
        last, sent = self._last
        if typed != last or any(content in typed or content in sent for content in contents):
            return False
        commanded = any(isinstance(content, SlashCommand) for content in typed)
        return not commanded or all(isinstance(one, Notification) or one == _GO_ON for one in contents)


def _beside(contents: list[Content]) -> list[Content]:
    return [
        Notification(content.text, "context") if isinstance(content, User | Compacted) else content
        for content in contents
        if not isinstance(content, SlashCommand)
    ]


def notice(kind: Level, parts: list[Any]) -> Notification:
    """What the program says. What a tool read that is no text is told like that too, and the model is shown it."""
    shown = any(isinstance(part, dict) and "inlineData" in part for part in parts)
    return Notification("\n".join(map(part_text, parts)), "context" if shown else kind)


def thoughts_in(parts: Sequence[Any]) -> list[Thought]:
    """The model's own: those that the program puts between two messages of the user bear a signature that is none."""
    return [
        thought_of(part)
        for part in parts
        if type(part) is dict and part.get("thought") and part.get("thoughtSignature") != _UNSIGNED
    ]


def thought_text(thought: Thought) -> str:
    """As the model wrote it: its subject in bold, then what it thought."""
    subject, description = thought.subject, thought.description
    if type(subject) is str and type(description) is str and subject and description:
        return f"**{subject}** {description}"
    if isinstance(thought.text, str):
        return thought.text
    return f"**{text_of(subject)}** {text_of(description)}".rstrip() if subject else text_of(description)


def workspace(text: str) -> str | None:
    for before in _WORKSPACE:
        _, found, behind = text.partition(before)
        if found:
            return behind.partition("\n")[0].strip() or None
    return None
