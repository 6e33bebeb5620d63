"""A session as rows to show, one after another, whatever shows them."""

import re
from collections.abc import Iterator

from msgspec import Struct

from unspool.model import MAIN, Event
from unspool.model.action import (
    Action,
    FileDelete,
    FileEdit,
    FileMove,
    FileRead,
    FileWrite,
    Search,
)
from unspool.model.event import (
    AgentMessage,
    AgentSpawn,
    Compacted,
    ModelChange,
    Notification,
    Planned,
    QueueOperation,
    Said,
    SlashCommand,
    Summary,
    Thinking,
    ToolCall,
    ToolOutput,
    TurnEnd,
    User,
)
from unspool.model.session import Call, Session, Step, Stream
from unspool.sources.values import mapping, text_of, time_of
from unspool.views.diffs import changed_files, written_by


class Row(Struct, frozen=True):
    """One thing to show."""

    kind: str
    """prompt, thinking, said, call, result, notice, agent or end."""
    head: str
    """One line, or a whole text."""
    depth: int = 0
    """0 for the agent itself, 1 for its sub-agents, and so on."""
    body: str = ""
    """What may be cut: an output, a diff."""
    form: str = "text"
    """Of the body: text or diff."""
    level: str = "info"
    seconds: float | None = None
    event: Event | None = None
    """What it tells of."""


_HEADER = re.compile(
    r"\A(?:Chunk ID: \w+\n)?(?:Exit code: 0\n)?Wall time: [\d.]+ seconds?\n(?:Process exited with code 0\n)?"
    r"(?:Original token count: \d+\n)?(?:Total output lines: \d+\n+)?Output:\n"
)
"""What Codex writes above the output of a command; where all went well it tells nothing."""

HOOK = "hook "
"""How notices of hooks begin."""
_WENT_BACK = "went back to before an earlier prompt; the model forgot what came of it"
_TOOK_UP = "took up again what was left earlier; the model forgot what came in between"


def outline(session: Session) -> Iterator[Row]:
    """The main stream, each sub-agent's where it was called; those that nobody called at the end."""
    shown: set[str] = set()
    for stream in session.streams.values():
        if stream.is_main:
            yield from _stream(session, stream, 0, shown)
    for stream in session.streams.values():
        if stream.name not in shown:
            alone = len(session.streams) == 1
            if not alone:
                yield Row("agent", _agent_head(stream), 1)
            yield from _stream(session, stream, 0 if alone else 1, shown)


def _stream(session: Session, stream: Stream, depth: int, shown: set[str]) -> Iterator[Row]:
    shown.add(stream.name)
    for turn in stream.turns:
        for event in turn.opening:
            yield from _event(event, depth)
        for step in turn.steps:
            yield from _step(session, step, depth, shown)


def _step(session: Session, step: Step, depth: int, shown: set[str]) -> Iterator[Row]:
    for item in step.items:
        if isinstance(item, Event):
            yield from _event(item, depth)
            continue
        yield _call(item, depth)
        for name in item.agents:
            if name in session.streams and name not in shown:
                yield Row("agent", _agent_head(session.streams[name], item), depth + 1)
                yield from _stream(session, session.streams[name], depth + 1, shown)
        if item.result is not None:
            yield _result(item.result, depth)


def _agent_head(stream: Stream, call: Call | None = None) -> str:
    """Its name and task, as the log says it of the agent, or else of the call that asked for it."""
    asked = mapping(call.call.arguments) if call is not None else {}
    told = (
        stream.agent_type or text_of(asked.get("agent_type")),
        stream.description or text_of(asked.get("description")),
    )
    about = " · ".join(filter(None, told))
    return f"{stream.name}: {about}" if about else stream.name


def _turned(said: User | Summary, depth: int) -> Iterator[Row]:
    """That somebody goes on from elsewhere than where they were."""
    if said.replaces is not None or said.follows is not None:
        yield Row("notice", _TOOK_UP if said.replaces is None else _WENT_BACK, depth, level="warning")


def _event(event: Event, depth: int) -> Iterator[Row]:
    match event.content:
        case User(text=text) as asked:
            yield from _turned(asked, depth)
            yield Row("prompt", text, depth, event=event)
        case AgentMessage(text=text, sender=None) if event.stream_id != MAIN:
            yield Row("prompt", text, depth, event=event)
        case SlashCommand(name=name, args=args):
            yield Row("prompt", f"{name} {args}" if args else name, depth, event=event)
        case Thinking(text=text):
            if text.strip():
                yield Row("thinking", text, depth, event=event)
        case Said(text=text):
            if text.strip():
                yield Row("said", text, depth, event=event)
        case ToolOutput() as result:
            yield _result(result, depth)
        case AgentSpawn():
            return  # shown where the agent's own rows begin
        case _:
            yield from _aside(event, depth)


def _aside(event: Event, depth: int) -> Iterator[Row]:
    """What is neither said by anyone nor a tool's."""
    match event.content:
        case Compacted(text=text, trigger=trigger, tokens_before=before):
            told = [trigger or "", f"{before:,} tokens before" if before else ""]
            head = "compacted" + "".join(f", {part}" for part in told if part)
            yield Row("notice", head, depth, text, level="warning", event=event)
        case Notification(text=text, level=level):
            yield Row("notice", text, depth, level=level, event=event)
        case Summary(text=text) as told:
            yield from _turned(told, depth)
            yield Row("notice", f"summary: {text}", depth, event=event)
        case QueueOperation(operation=operation, text=text):
            yield Row("notice", f"queue: {operation} {text or ''}".rstrip(), depth, level="context", event=event)
        case Planned(items=items, text=text):
            yield Row("notice", "plan", depth, _items(items) or text or "", event=event)
        case AgentMessage(text=text, sender=sender, recipient=recipient):
            names = " → ".join(filter(None, (sender, recipient)))
            yield Row("notice", f"{names or 'another agent'}: {text}", depth, event=event)
        case ModelChange(model=model, previous=previous):
            yield Row("notice", f"model: {previous + ' → ' if previous else ''}{model}", depth, event=event)
        case TurnEnd(status=status, duration_ms=duration, text=text):
            if status != "completed" or duration is not None:
                level = "info" if status == "completed" else "warning"
                head = f"turn {status}" + (f": {text}" if text else "")
                yield Row("end", head, depth, level=level, seconds=_seconds(duration), event=event)


def _call(call: Call, depth: int) -> Row:
    begin, end = time_of(call.event.timestamp), time_of(call.ended)
    seconds = (end - begin) / 1000 if begin is not None and end is not None and end > begin else None
    failed = call.result is not None and call.result.is_error
    level = "error" if failed else "warning" if call.result is None else "info"
    body = change_of(call.call)
    form = "diff" if body and call.call.kind in ("file_edit", "file_write") else "text"
    return Row("call", f"{call.call.name}  {does(call.call)}".rstrip(), depth, body, form, level, seconds, call.event)


def _result(result: ToolOutput, depth: int) -> Row:
    output = result.full_output or result.output
    if not result.is_error:
        output = bare_output(output)
    return Row("result", "", depth, output, level="error" if result.is_error else "info")


def bare_output(output: str) -> str:
    """That of a command that went well, without what is said above it."""
    return _HEADER.sub("", output, count=1)


def does(told: ToolCall) -> str:
    """What the call does, in one line."""
    if files := changed_files(told.meaning):
        return ", ".join(map(_file, files))
    arguments = mapping(told.arguments)
    match told.kind:
        case "execute":
            return text_of(arguments.get("command"))
        case "file_read":
            offset, limit = arguments.get("offset"), arguments.get("limit")
            place = f":{offset}" + (f"+{limit}" if limit else "") if offset else ""
            return f"{text_of(arguments.get('file_path'))}{place}"
        case "file_edit" | "file_write" | "file_delete":
            return text_of(arguments.get("file_path"))
        case "file_move":
            return f"{text_of(arguments.get('file_path'))} → {text_of(arguments.get('to'))}"
        case "search":
            found = [arguments.get("pattern") or arguments.get("query"), arguments.get("path")]
            return " in ".join(text_of(part) for part in found if part)
        case "web":
            return text_of(arguments.get("url") or arguments.get("query"))
        case "plan":
            return ""
        case "agent":
            named = " ".join(text_of(arguments[key]) for key in ("agent_type", "prompt") if arguments.get(key))
            return text_of(arguments.get("description")) or named or (text_of(arguments) if arguments else "")
        case "ask":
            return text_of(arguments.get("question"))
        case "mcp":
            tool = text_of(arguments.get("tool"))
            whose = () if tool in told.name else (arguments.get("server"), tool)  # a script or another tool calls it
            return " ".join(filter(None, map(text_of, (*whose, arguments.get("arguments")))))
    return text_of(told.arguments)


def _file(action: Action) -> str:
    match action:
        case FileEdit(file_path=path, added=added, removed=removed):
            return f"{path} +{added} −{removed}" if added is not None else path
        case FileWrite(file_path=path) | FileRead(file_path=path):
            return path
        case FileDelete(file_path=path):
            return f"{path} deleted"
        case FileMove(file_path=path, to=to):
            return f"{path} → {to}"
        case Search(pattern=pattern):
            return pattern or ""
    return ""


def change_of(told: ToolCall) -> str:
    """What the call changes: a diff, a plan."""
    if told.kind == "plan":
        return _items(mapping(told.arguments).get("items")) or text_of(mapping(told.arguments).get("text"))
    return written_by(told.meaning)


_MARKS = {"completed": "☑", "done": "☑", "in_progress": "◐", "cancelled": "☒"}


def _items(items: object) -> str:
    rows = []
    for item in items if isinstance(items, list | tuple) else ():
        told = (
            item
            if isinstance(item, dict)
            else {"text": getattr(item, "text", ""), "status": getattr(item, "status", "")}
        )
        rows.append(f"{_MARKS.get(text_of(told.get('status')), '☐')} {text_of(told.get('text'))}")
    return "\n".join(rows)


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000
