"""What stands in Codex's messages as text, and whether a person wrote it."""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from unspool.model import Content
from unspool.model.event import AgentMessage, Notification, User
from unspool.readers.blocks import image_text
from unspool.readers.codex.envelopes import opened
from unspool.sources.jsontext import Unreadable, strict
from unspool.sources.values import listing, mapping, placeholder, string, text_of

_SHOWN = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<skill>",
    "<skills_instructions>",
    "<user_shell_command>",
    "<user_action>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<goal_context>",
    "<codex_internal_context",
    "<extension_context>",
    "<external_",
    "<hook_prompt",
    "<recommended_plugins>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<apps_instructions>",
    "<plugins_instructions>",
    "<app-context>",
    "<model_switch>",
    "<personality_spec>",
    "<realtime_conversation>",
    "<token_budget",
    "Another language model started to solve this problem and produced a summary",
    "Warning: The maximum number of unified exec processes",
    "Warning: apply_patch was requested via",
    "Warning: Your account was flagged for potentially",
)
"""How texts begin that stand in the place of a person's words, but that the program put there."""
_HEADINGS = ("## My request for Codex:", "## My request:")
"""What an editor writes between its own context and the words of the person."""
_COMMENT = "\nComment:\n"
"""Before what a person wrote on a page or beside a change: then the words stand above the heading, too."""
_BROWSER = "<in-app-browser-context"
_PAGE = re.compile(
    r"\A\s*<in-app-browser-context.*?</in-app-browser-context>|"
    r"<in-app-browser-context(?:(?!<in-app-browser-context).)*</in-app-browser-context>\s*\Z",
    re.DOTALL,
)
_SEALED = ("<", "A")
"""With which envelopes begin: few prompts do."""
DELEGATED = "<realtime_delegation>"
"""What the model that speaks with a person passes on to the one that works: a request, and what was said."""
_HIDDEN = re.compile(
    r"<oai-mem-citation>.*?(?:</oai-mem-citation>|\Z)|<proposed_plan>.*?(?:</proposed_plan>\n?|\Z)", re.DOTALL
)
"""What the model writes for the program: what it remembered from where, and a plan, which is told as one."""
_ATTACHED = "# Files mentioned by the user:"
_BEAT = "user.heartbeat"
"""The kind of what a schedule said, whichever envelope it is in."""
_TAG = 300
"""Characters of a tag that names an image or a sound, at most."""
_NOTIFIED = "<subagent_notification>"
_CIPHER = re.compile(r"gAAAA.*|[\w+/=-]{40,}")
"""What is encrypted. Where the provider keeps no keys, the same field holds plain words."""


def content_text(content: Any) -> str:
    """The parts of a content, one below another."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return text_of(content) if not isinstance(content, dict) else part_text(content)
    if len(content) == 1:
        return part_text(content[0])
    return "\n".join([part_text(part) for part in content if not _wraps_medium(part)])


def part_text(part: Any) -> str:
    """One part: its text, or a placeholder for what is none."""
    if not isinstance(part, dict):
        return text_of(part)
    if isinstance(text := part.get("text"), str):
        return text
    match part.get("type"):
        case "input_image" | "image" | "inputImage":
            return _image(part.get("image_url") or part.get("imageUrl") or part.get("url"), part)
        case "local_image" | "localImage":
            return f"[image: {text_of(part.get('path'))}]"
        case "local_audio" | "localAudio":
            return f"[audio: {text_of(part.get('path'))}]"
        case "input_audio" | "inputAudio" | "audio":
            if isinstance(url := part.get("audio_url") or part.get("audioUrl") or part.get("url"), str):
                return image_text(url, "audio")
            audio = mapping(part.get("input_audio")) or part
            return placeholder("audio", string(audio.get("format") or audio.get("mimeType")), audio.get("data"))
        case "encrypted_content":
            text = text_of(part.get("encrypted_content"))
            return f"[encrypted: {len(text):,} characters]" if not text or _CIPHER.fullmatch(text) else text
        case "skill" | "mention" as kind:
            return f"[{kind}: {text_of(part.get('name'))}]"
        case "refusal":
            return text_of(part.get("refusal"))
        case "input_file":
            return f"[document: {text_of(part.get('filename') or part.get('file_url') or part.get('file_id'))}]"
        case "resource_link":
            return f"[document: {text_of(part.get('uri'))}]"
    return text_of(part)


def words_of(content: Any) -> list[str]:
    """The words of a message, without its images: the program repeats them in this form."""
    if not isinstance(content, list):
        return [content] if isinstance(content, str) and content else []
    return [
        text
        for part in content
        if isinstance(part, dict) and isinstance(text := part.get("text"), str) and text and not _wraps_medium(part)
    ]


def visible(text: str) -> str:
    """What the model said, as the program repeats it on its screen."""
    return (_HIDDEN.sub("", text) if "<" in text else text).strip()


def typed_text(content: Any, kinds: Any = None) -> str:
    """The words of a person, which are repeated as one; where the log knows it, without what stands beside them."""
    if isinstance(kinds, list) and isinstance(content, list) and len(kinds) == len(content) > 1:
        content = [part for part, kind in zip(content, kinds, strict=True) if _is_typed("", kind)]
    return "".join(words_of(content)).strip()


def told(content: Any, kinds: Any = None) -> Iterator[Content]:
    """A message in the user's place as events: what a person typed, and what the program put beside it."""
    parts = content if isinstance(content, list) else [content]
    if len(parts) == 1:
        text = part_text(parts[0])
        kind = kinds[0] if isinstance(kinds, list) and kinds else None
        yield from _shown(text, _is_typed(text, kind))
        return
    known = kinds if isinstance(kinds, list) and len(kinds) == len(parts) else [None] * len(parts)
    texts: list[tuple[bool, str]] = []
    for part, kind in zip(parts, known, strict=True):
        if not _wraps_medium(part):
            text = part_text(part)
            texts.append((_is_typed(text, kind) and not _is_list_of_files(text), text))
    for typed, group in groupby(texts, key=lambda pair: pair[0]):
        yield from _shown("\n".join([text for _, text in group]), typed)


def _shown(text: str, is_typed: bool) -> Iterator[Content]:
    if is_typed:
        yield from _asked(text)
    elif letter := letter_in(text):
        yield letter
    elif text.startswith(_NOTIFIED):
        yield _notified(text)
    else:
        yield from opened(text) or [Notification(text, "context")]


def asked_in(content: Any) -> list[str]:
    """The prompts in a message that stands in the person's place."""
    texts = [part_text(part) for part in content] if isinstance(content, list) else []
    if len(texts) == 1 and texts[0].lstrip()[:1].isalnum():
        return texts  # nearly always; what a program writes around a prompt begins with a sign
    if texts and all(text.startswith(_SHOWN) for text in texts):
        return []
    return [said.text for said in told(content) if isinstance(said, User)]


def folder_in(context: str) -> str | None:
    """The working folder, where only the environment context says it: logs of 2025 before September."""
    for begin, end in (("<cwd>", "</cwd>"), ("Current working directory: ", "\n")):
        _, found, rest = context.partition(begin)
        if found:
            return rest.partition(end)[0].strip() or None
    return None


def _is_typed(text: str, kind: Any) -> bool:
    if isinstance(kind, str) and kind != "unknown":
        return kind.startswith("user.") and kind != _BEAT
    return not text.lstrip().startswith(_SHOWN) and letter_in(text) is None


def _is_list_of_files(text: str) -> bool:
    """What the program wrote in a part of its own; in other versions it stands above the words, in the same part."""
    return text.lstrip().startswith(_ATTACHED) and not any(heading in text for heading in _HEADINGS)


def _asked(text: str) -> Iterator[Content]:
    """A prompt. Editors write the files that are open above the words of the person, a browser its page around them."""
    above, words = "", text
    if text.startswith(DELEGATED):
        from html import unescape

        before, _, inside = text.partition("<input>")
        inside, closed, behind = inside.partition("</input>")
        above, words = (before + behind.lstrip(), unescape(inside).strip()) if closed else (text, "")
    elif text.lstrip().startswith(("# ", "## ", "<")):
        at, heading = max((text.rfind(f"{heading}\n"), heading) for heading in _HEADINGS)
        if at >= 0 and _COMMENT not in text[:at]:
            above, words = text[:at].strip(), text[at + len(heading) :].strip()
    if above:
        yield Notification(above, "context")
    if _BROWSER in words:
        for page in _PAGE.findall(words):
            yield Notification(page.strip(), "context")
        words = _PAGE.sub("", words).strip()
    if words:
        yield from (opened(words) if words.lstrip()[:1] in _SEALED else []) or [User(words)]


def letter_in(text: str) -> AgentMessage | None:
    """What another agent wrote, where it stands in the place of the person's words, or of the model's."""
    if not text.startswith("Message Type: "):
        return None
    header, found, _ = text.partition("\nPayload:")
    fields = dict(line.partition(": ")[::2] for line in header.splitlines())
    return AgentMessage(text, fields.get("Sender"), fields.get("Task name")) if found else None


def _notified(text: str) -> Content:
    """That a sub-agent is done, in the user's place: `{"agent_path", "status": {"completed": "what it said"}}`."""
    body = text.removeprefix(_NOTIFIED).partition("</subagent_notification>")[0].strip()
    try:
        value = mapping(strict(body))
    except Unreadable:
        return Notification(text, "context")
    status = value.get("status")
    said = next(iter(status.values()), status) if isinstance(status, dict) else status
    return AgentMessage(text_of(said), string(value.get("agent_path") or value.get("agent_id")))


def _wraps_medium(part: Any) -> bool:
    """The tags that stand before and behind an image or a sound, as texts of their own."""
    text = part.get("text") if isinstance(part, dict) else None
    if not isinstance(text, str) or not text.startswith(("<image", "</image>", "<audio", "</audio>")):
        return False
    return text in ("</image>", "</audio>") or (text.endswith(">") and len(text) < _TAG and "\n" not in text)


def _image(url: Any, part: dict[str, Any]) -> str:
    if isinstance(url, dict):
        url = url.get("url")
    if not isinstance(url, str):
        return placeholder("image", string(part.get("mimeType")), part.get("data"))
    return image_text(url)


def lines_of(parts: Any) -> list[str]:
    """The texts of a summary or of a reasoning's content, without the empty ones."""
    return [text for part in listing(parts) if (text := part if isinstance(part, str) else part_text(part))]
