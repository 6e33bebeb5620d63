"""Answers that live streams tell twice: in pieces while they are made, and then whole.

What came in pieces is told only if it never comes whole, because the run was cut off meanwhile.
"""

from typing import Any

from unspool.sources.values import mapping

_WORDS = {"text_delta": "text", "thinking_delta": "thinking"}


class _Growing:
    """The answer of one stream."""

    __slots__ = ("key", "message", "words")

    def __init__(self, message: dict[str, Any]) -> None:
        self.message = message
        self.words: dict[tuple[str, str], list[str]] = {}
        """By the block that they are of."""
        self.key = ""
        """Of the record that brought the first of them."""


class Pieces:
    def __init__(self) -> None:
        self._growing: dict[str, _Growing] = {}

    def feed(self, event: dict[str, Any], key: str, stream: str) -> None:
        """An event as Anthropic's API has it, and the key of its record."""
        match event.get("type"):
            case "message_start":
                self._growing[stream] = _Growing(mapping(event.get("message")))
            case "content_block_delta" if (growing := self._growing.get(stream)) is not None:
                delta = mapping(event.get("delta"))
                kind = _WORDS.get(str(delta.get("type")))
                if kind is not None and isinstance(piece := delta.get(kind), str):
                    growing.key = growing.key if growing.words else key
                    growing.words.setdefault((str(event.get("index")), kind), []).append(piece)

    def id_of(self, stream: str) -> Any:
        """That of the answer that is being made, or was made last."""
        growing = self._growing.get(stream)
        return None if growing is None else growing.message.get("id")

    def came(self, stream: str) -> None:
        """All that came so far came whole now, or something else in its place."""
        if (growing := self._growing.get(stream)) is not None:
            growing.words.clear()

    def left(self, of: str | None = None) -> list[tuple[dict[str, Any], str, str]]:
        """What never came whole, of this stream or of all: messages, their keys and their streams."""
        found = []
        for stream, growing in self._growing.items():
            if growing.words and of in (None, stream):
                said = [{"type": kind, kind: "".join(words)} for (_, kind), words in growing.words.items()]
                found.append(({**growing.message, "content": said}, growing.key, stream))
                growing.words.clear()
        return found
