"""What the app around Codex sends in the person's place, in envelopes of its own.

<codex_delegation><source_thread_id>…</source_thread_id><input>…</input></…>    another thread, that is: its model
<heartbeat><automation_id>…</automation_id><instructions>…</instructions></…>    a schedule, into a thread
Automation: …\\nAutomation ID: …\\n\\n…                                            a schedule, in a thread of its own
<send_user_message_question_reply>[{"question", "answer"}, …]</…>                what the person answered, later

They come as messages of the user; newer versions write all but the last as outputs of calls that nobody made.

A session of another agent's that was taken over is written as turns `external-import-turn-1`, … of messages alone, in
which calls and results are notes: [external_agent_tool_call: Bash]…[/external_agent_tool_call]
"""

import re
from collections.abc import Iterator

from unspool.model import Content
from unspool.model.event import AgentMessage, Notification, Said, User
from unspool.sources.jsontext import Unreadable, strict
from unspool.sources.values import listing, mapping, string

_ENVELOPE = re.compile(
    r"\s*<(codex_delegation|heartbeat|send_user_message_question_reply)\b[^<>]*>(.*)</\1>\s*\Z", re.DOTALL
)
_SCHEDULED = re.compile(r"\s*Automation: [^\n]*\nAutomation ID: ")
_NOTE = re.compile(r"\[external_agent_tool_(call|result)(?::[^\]\n]*)?\]")
_TAKEN_OVER = "<EXTERNAL SESSION IMPORTED>"
_FOREIGN = (
    "<command-", "<local-command-", "<bash-std", "<task-notification>", "<system-reminder>", "[Request interrupted",
)  # fmt: skip
"""What another agent's program said in the person's place."""


def is_taken_over(turn: object) -> bool:
    return isinstance(turn, str) and turn.startswith("external-import-turn-")


def answered(text: str) -> Iterator[Content]:
    """What another agent said before its session was taken over; its calls, and what they gave, are notes."""
    at = 0
    while note := _NOTE.search(text, at):
        end = text.find(closing := f"[/external_agent_tool_{note[1]}]", note.end())
        if end < 0:
            break
        if words := text[at : note.start()].strip():
            yield Said(words)
        at = end + len(closing)
        yield Notification(text[note.start() : at], "context")
    if words := text[at:].strip():
        yield Notification(words, "info") if words == _TAKEN_OVER else Said(words)


def was_typed(text: str) -> bool:
    """Of a message in the person's place in such a session."""
    return not text.lstrip().startswith(_FOREIGN)


def opened(text: str) -> list[Content]:
    """What is in an envelope; nothing if the text is none."""
    if _SCHEDULED.match(text):
        return [Notification(text, "context")]
    envelope = _ENVELOPE.match(text)
    if envelope is None:
        return []
    match envelope[1]:
        case "codex_delegation":
            said = _inside(envelope[2], "input") or envelope[2].strip()
            return [AgentMessage(said, _inside(envelope[2], "source_thread_id"))]
        case "heartbeat":
            return [Notification(text, "context")]
        case _:
            return _answers(envelope[2]) or [User(text)]


def _inside(body: str, tag: str) -> str | None:
    _, found, rest = body.partition(f"<{tag}>")
    words, closed, _ = rest.rpartition(f"</{tag}>")
    if not (found and closed):
        return None
    from html import unescape  # 3 ms that a list of sessions need not pay

    return unescape(words).strip() or None


def _answers(body: str) -> list[Content]:
    """Of each question, the words that the model was shown again, and those of the person."""
    try:
        replies = strict(body.strip())
    except Unreadable:
        return []
    told: list[Content] = []
    for reply in map(mapping, listing(replies) or [replies]):
        if question := string(reply.get("question")):
            told.append(Notification(question, "context"))
        if answer := string(reply.get("answer")):
            told.append(User(answer))
    return told
