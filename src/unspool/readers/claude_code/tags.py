"""What stands in a user's message of Claude Code: most of it nobody typed.

<command-name>/review</command-name> <command-args>src</command-args>       a slash command
<local-command-stdout>…</local-command-stdout>                              what a command of the program said
<system-reminder>…</system-reminder>, <ide_opened_file>…                    context, around or in place of a prompt
<teammate-message teammate_id="lead">…, <task-notification>…                another agent
<channel source="chat">…</channel>, <github-webhook-activity>…              somebody outside, through a server
<ci-monitor-event>…, <scheduled-task name="tidy" file="…">…                 the desktop app: a pull request, a schedule
[Request interrupted by user]                                               the end of a turn
"""

import re
from collections.abc import Iterator
from typing import Any

from unspool.model import Content
from unspool.model.event import AgentMessage, Compacted, Notification, SlashCommand, TurnEnd, User
from unspool.readers.genai import is_snapshot
from unspool.sources.values import string

CONTINUED = "This session is being continued from a previous conversation"
INTERRUPTED = "[Request interrupted"
_OWN = re.compile(
    r"Caveat: The messages below|Stop hook feedback:|Tools? loaded\.\s*\Z|Unknown (?:skill|slash command): \S+\s*\Z|"
    r"<<autonomous-loop[\w-]*>>\s*\Z|A session-scoped Stop hook is now active|Goal check-in: [^\n]* is still active|"
    r"(?:The app was quit|My computer went to sleep|I hit my usage limit) while you were working[.,][^\n]*"
    r"Please continue from where you left off\.\s*\Z|The dev server failed to start with the following error:\n\n```"
)
"""What the program itself says in the person's place, in versions that do not mark it; the desktop app never does."""
_ANNOUNCED = (
    "[SYSTEM NOTIFICATION",
    "[MESSAGE FROM NON-USER SOURCE",
    "[SCHEDULED TASK - ",
    "Another Claude session sent a message",
    "A peer session sent a message while",
    "The coordinator sent a message while",
)
"""How the program begins what it says before another agent's words, or before those of a schedule."""
_HANDED_BACK = "[Subagent hand-back]"
_STEERED = re.compile(
    r"\s*+The user sent a new message while you were working:\n(.*?)"
    r"(?:\n\n(?:This is how Claude Code|IMPORTANT: ).*)?\Z",
    re.DOTALL,
)
"""What the program says around words that a person typed while the model worked."""
_REMINDER = "</system-reminder>"
_OPENING = re.compile(r"<([a-z_-]++)([^<>]*+)>")
_OUTPUTS = ("local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr")
_AGENTS = (
    "teammate-message", "task-notification", "agent-message", "cross-session-message", "channel(?= source=)",
    "github-webhook-activity", "ci-monitor-event", "scheduled-task(?= name=)",
)  # fmt: skip
_AGENT = re.compile(rf"(?<!\s)\s*+<({'|'.join(_AGENTS)})([^<>]*)>")
_WHERE = re.compile(r"(?:Read the output file|Full transcript available) [^\n]*(?:\n|\Z)")
"""What the program says behind the word of a task: where all of it stands."""
_CONTEXT = frozenset(
    "system-reminder ide_opened_file ide_selection ide_diagnostics local-command-caveat user-prompt-submit-hook "
    "user-memory-input new-diagnostics session-start-hook post-tool-use-hook mcp-resource-update mcp-polling-update "
    "fork-boilerplate".split()
)
_SENDER = re.compile(r"(?:teammate_id|from|agent_id|sender|session|source)=\"([^\"]*)\"")
_NAMED = re.compile(r"(?<![\w-])name=\"([^\"]*)\"")
_COMMAND = ("command-name", "command-message", "command-args")
_PERSON = ("human", "unclassified", None)
_SENDERS = frozenset("peer coordinator observer task-notification channel".split())
"""Origins of a message that somebody else sent; what is left of them is the program's own."""


def is_typed(origin: Any, source: Any = None) -> bool:
    """Whether a message may be a person's, as newer versions say; older ones say nothing."""
    return source != "system" and (not isinstance(origin, dict) or origin.get("kind") in _PERSON)


def sent(text: str, origin: dict[str, Any]) -> Iterator[Content]:
    """What a message in the person's name is that was not typed: `{"kind": "peer", "from", "name", "body"}`."""
    body = string(origin.get("body"))
    told = [] if body else list(said(text))
    if _STEERED.match(text):
        yield from told
    elif any(isinstance(content, AgentMessage) for content in told):
        for content in told:
            yield Notification(content.text, "context") if isinstance(content, User) else content
    elif (kind := string(origin.get("kind"))) in _SENDERS:
        names = (string(origin.get(key)) for key in ("name", "from", "server"))
        yield AgentMessage(body or text, next(filter(None, names), kind))
    else:
        yield Notification(text, "context")


def said(text: str) -> Iterator[Content]:
    """What a text in a user's message is; what other agents say comes first, one after another."""
    while letter := _letter(text):
        message, text = letter
        yield message
        if not text:
            return
    body = text.lstrip()
    start = body[:1]
    if start == "<" and not body.startswith("<<"):
        yield from _tagged(text, body)
    elif _REMINDER in text:
        yield from _beside_context(text)
    elif start == "[" and body.startswith(INTERRUPTED):
        yield TurnEnd("interrupted", text=text.strip())
    elif start == "[" and body.startswith(_HANDED_BACK):
        yield AgentMessage(body.rstrip())
    elif body.startswith(_ANNOUNCED):
        opening = _AGENT.search(body)
        for content in said(body[opening.start() :]) if opening else [User(text)]:  # nobody typed what is around it
            yield Notification(content.text, "context") if isinstance(content, User) else content
    elif start == "T" and body.startswith(CONTINUED):
        yield Compacted(text)
    elif start == "T" and (steered := _STEERED.match(text)):
        yield User(steered[1])
    elif start in ("A", "C", "G", "I", "M", "S", "T", "U", "<") and _OWN.match(body):
        yield Notification(text, "warning" if start == "U" else "context")
    else:
        yield User(text)


def _tagged(text: str, body: str) -> Iterator[Content]:
    opening = _OPENING.match(body)
    tag = opening[1] if opening else ""
    if tag in _COMMAND and (name := _command(text)):
        yield SlashCommand(name if name.startswith("/") else f"/{name}", within(text, "command-args") or None)
    elif tag == "bash-input":
        yield User(f"! {within(text, tag) or ''}")
    elif tag in _OUTPUTS:
        for channel in _OUTPUTS:
            if output := within(text, channel):
                yield Notification(output, "info" if channel.endswith("stdout") else "warning")
    elif is_snapshot(text):  # iFlow compresses as Gemini CLI does
        yield Compacted(text)
    else:
        yield from _beside_context(text)


def _command(text: str) -> str | None:
    """The name of a command; some tell only what is shown while it runs, which begins with it."""
    name = within(text, "command-name")
    return (within(text, "command-message") or "").partition(" ")[0] if name is None else name


def _letter(text: str) -> tuple[AgentMessage, str] | None:
    """What another agent said, if the text begins with it, and the rest."""
    opening = _AGENT.match(text)
    if opening is None:
        return None
    inside, _, rest = text[opening.end() :].partition(f"</{opening[1]}>")
    words, rest = inside.strip(), rest.strip()
    if where := _WHERE.match(rest):
        words, rest = f"{words}\n{where[0].strip()}", rest[where.end() :].strip()
    sender = _SENDER.search(opening[2]) or _NAMED.search(opening[2])
    return AgentMessage(words, sender[1] if sender else within(words, "task-id")), rest


def _beside_context(text: str) -> Iterator[Content]:
    """What was typed, and before it the context that came with it."""
    typed: list[str] = []
    unclosed: set[str] = set()
    at = 0
    while opening := _OPENING.search(text, at):
        tag = opening[1]
        end = text.find(f"</{tag}>", opening.end()) if tag in _CONTEXT and tag not in unclosed else -1
        if end < 0:
            unclosed.add(tag)
            typed.append(text[at : opening.end()])
            at = opening.end()
            continue
        typed.append(text[at : opening.start()])
        at = end + len(tag) + 3
        yield Notification(text[opening.start() : at], "context")
    typed.append(text[at:])
    if prompt := "".join(typed).strip():
        yield from said(prompt) if _AGENT.match(prompt) else [User(prompt)]


def within(text: str, tag: str) -> str | None:
    """What stands between the first such tags; None where they are not."""
    begin = text.find(f"<{tag}")
    begin = text.find(">", begin) if begin >= 0 else -1
    end = text.find(f"</{tag}>", begin) if begin >= 0 else -1
    return text[begin + 1 : end].strip() if end >= 0 else None
