"""Blocks: the typed pieces of a message. Nouns only.

Every block has room for what only one provider knows: `extra` holds the source's remaining keys as they stood
(cache marks, annotations' ids, statuses). It is kept and written back, and is no part of a message's identity.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

Extra: TypeAlias = dict[str, Any] | None
Medium: TypeAlias = Literal["image", "audio", "video", "document"]
Source: TypeAlias = Literal["base64", "url", "file", "text", "none"]


class Text(Struct, frozen=True, gc=False, omit_defaults=True, tag="text", tag_field="type"):
    text: str
    refusal: bool = False
    """The model declined, and this is what it said."""
    citations: tuple[Any, ...] = ()
    """As the provider wrote them; not hashed, because many clients drop them when they send the text back."""
    signature: str | None = None
    """Gemini signs any part; not hashed."""
    extra: Extra = None


class Thinking(Struct, frozen=True, gc=False, omit_defaults=True, tag="thinking", tag_field="type"):
    text: str
    signature: str | None = None
    encrypted: str | None = None
    """What stands in place of the text (Anthropic's redacted thinking) or beside it (OpenAI's encrypted content)."""
    redacted: bool = False
    """The provider withheld the text on purpose; an empty text alone is not redaction."""
    extra: Extra = None


class Document(Struct, frozen=True, gc=False, omit_defaults=True, tag="document", tag_field="type"):
    """An image, a sound, a film or a paper."""

    medium: Medium
    source: Source
    data: str
    """Base64, an address, a provider's file id or plain text, as `source` says."""
    media_type: str | None = None
    name: str | None = None
    signature: str | None = None
    extra: Extra = None


class ToolUse(Struct, frozen=True, gc=False, omit_defaults=True, tag="tool_use", tag_field="type"):
    id: str | None
    """None when the source gave none: such calls are paired with their results by position."""
    name: str
    arguments: dict[str, Any] | None
    """None when what the model wrote is no JSON object: then `text` has it."""
    text: str | None = None
    """The arguments as written, where writing `arguments` again would not give the same text."""
    server_side: bool = False
    """The provider runs the tool itself; nobody sends a result back."""
    signature: str | None = None
    extra: Extra = None


class ToolResult(Struct, frozen=True, gc=False, omit_defaults=True, tag="tool_result", tag_field="type"):
    call_id: str | None
    content: tuple["Block", ...]
    is_error: bool | None = None
    """None when the source does not say."""
    name: str | None = None
    server_side: bool = False
    signature: str | None = None
    extra: Extra = None


class Compaction(Struct, frozen=True, gc=False, omit_defaults=True, tag="compaction", tag_field="type"):
    """The provider's own summary of what came before."""

    text: str
    encrypted: str | None = None
    extra: Extra = None


class Other(Struct, frozen=True, gc=False, omit_defaults=True, tag="other", tag_field="type"):
    """Anything else, whole. `known` says that we know the kind and keep it raw on purpose."""

    kind: str
    value: Any
    known: bool = False
    extra: Extra = None


Block: TypeAlias = Text | Thinking | Document | ToolUse | ToolResult | Compaction | Other
