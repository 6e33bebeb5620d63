"""What stands in a user's message of Claude Code: most of it nobody typed.

<command-name>/review</command-name> <command-args>src</command-args>       a slash command
<local-command-stdout>…</local-command-stdout>                              what a command of the program said
<system-reminder>…</system-reminder>, <ide_opened_file>…                    context, around or in place of a prompt
<teammate-message teammate_id="lead">…, <task-notification>…                another agent
[Request interrupted by user]                                               the end of a turn
"""

import re
from collections.abc import Iterator

from unspool.model import Content
from unspool.model.event import AgentMessage, Compacted, Notification, SlashCommand, TurnEnd, User

CONTINUED = "This session is being continued from a previous conversation"
_INTERRUPTED = "[Request interrupted"
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_CONTEXT = re.compile(
    r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics|local-command-caveat|user-prompt-submit-hook"
    r"|user-memory-input|new-diagnostics|session-start-hook|post-tool-use-hook)>.*?</\1>",
    re.DOTALL,
)
_OUTPUT = re.compile(r"<(local-command|bash)-(stdout|stderr)>(.*?)</\1-\2>", re.DOTALL)
_TYPED_SHELL = re.compile(r"\s*<bash-input>(.*?)</bash-input>", re.DOTALL)
_AGENT = re.compile(
    r"<(teammate-message|task-notification|agent-message|cross-session-message)([^>]*)>(.*?)(?:</\1>|\Z)", re.DOTALL
)
_SENDER = re.compile(r"(?:teammate_id|from|agent_id|sender|session)=\"([^\"]*)\"")
_TASK = re.compile(r"<task-id>(.*?)</task-id>")


def said(text: str) -> Iterator[Content]:
    """What a text in a user's message is."""
    start = text.lstrip()[:1]
    if start not in ("<", "[", "C", "T") and "</system-reminder>" not in text:
        yield User(text)
    elif start == "[" and text.lstrip().startswith(_INTERRUPTED):
        yield TurnEnd("interrupted", text=text.strip())
    elif text.startswith(CONTINUED):
        yield Compacted(text)
    elif text.startswith("Caveat: The messages below"):
        yield Notification(text, "context")
    elif start == "<" or "</system-reminder>" in text:
        yield from _tagged(text)
    else:
        yield User(text)


def _tagged(text: str) -> Iterator[Content]:
    if command := _COMMAND.search(text):
        arguments = _ARGUMENTS.search(text)
        name = command[1].strip()
        written = arguments[1].strip() if arguments else ""
        yield SlashCommand(name if name.startswith("/") else f"/{name}", written or None)
    elif typed := _TYPED_SHELL.match(text):
        yield User(f"! {typed[1].strip()}")
    elif outputs := [match for match in _OUTPUT.finditer(text) if match[3].strip()]:
        for _, channel, output in (match.groups() for match in outputs):
            yield Notification(output.strip(), "info" if channel == "stdout" else "warning")
    elif _OUTPUT.match(text.lstrip()):
        return  # a command of the program that said nothing
    elif _AGENT.match(text.lstrip()):
        for _, attributes, body in (match.groups() for match in _AGENT.finditer(text)):
            sender = _SENDER.search(attributes) or _TASK.search(body)
            yield AgentMessage(body.strip(), sender[1] if sender else None)
    else:
        yield from _beside_context(text)


def _beside_context(text: str) -> Iterator[Content]:
    """What was typed, and before it the context that came with it."""
    typed = []
    at = 0
    for match in _CONTEXT.finditer(text):
        typed.append(text[at : match.start()])
        yield Notification(match[0], "context")
        at = match.end()
    typed.append(text[at:])
    if prompt := "".join(typed).strip():
        yield User(text if at == 0 else prompt)
