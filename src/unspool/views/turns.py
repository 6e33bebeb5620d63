"""Turns as rows to show, and as lines of a tree."""

from collections.abc import Iterator, Mapping, Sequence

from unspool.model import Compaction, Document, Message, Other, Text, Thinking, ToolResult, ToolUse, Turn
from unspool.sources.jsontext import dumps
from unspool.sources.values import placeholder
from unspool.views.outline import Row

_WIDE = 160
"""Characters of a call's arguments that are shown."""
_SHORT = ("max_tokens", "refusal", "context_exceeded", "pause")
"""Why an answer may end before all is said."""


def rows(turn: Turn, message: Message, full: bool = False) -> Iterator[Row]:
    """What was said in one turn."""
    for block in message.blocks:
        match block:
            case Text(text=text):
                if message.role == "system":
                    yield Row("notice", text)
                else:
                    yield Row("prompt" if message.role == "user" else "said", text)
            case Thinking(text=text):
                if text.strip():
                    yield Row("thinking", text)
            case ToolUse():
                yield Row("call", f"{block.name}  {_arguments(block, full)}")
            case ToolResult():
                yield Row("result", "", body=text_of(block.content), level="error" if block.is_error else "info")
            case Document():
                yield Row("prompt" if message.role == "user" else "said", _document(block))
            case Compaction(text=text):
                yield Row("notice", "compacted", body=text, level="warning")
            case Other(kind=kind):
                yield Row("notice", f"[{kind}]")
    if turn.answer is not None and turn.answer.status != "complete":
        yield Row("notice", turn.answer.error or turn.answer.status, level="error")
    elif turn.answer is not None and turn.answer.stop is not None and turn.answer.stop.reason in _SHORT:
        yield Row("notice", f"stopped: {turn.answer.stop.reason}", level="warning")


def text_of(blocks: Sequence[object]) -> str:
    """The blocks as one text; what is none as a placeholder."""
    return "\n".join(filter(None, map(_text, blocks)))


def _text(block: object) -> str:
    match block:
        case Text(text=text) | Compaction(text=text):
            return text
        case Document(source="text", data=data, name=name):  # a file that a tool gave
            return f"{name}:\n{data}" if name else data
        case Document():
            return _document(block)
        case ToolUse(name=name):
            return f"● {name}  {_arguments(block, False)}"
        case ToolResult(content=content):
            return text_of(content)
        case Other(kind=kind):
            return f"[{kind}]"
    return ""


def _document(block: Document) -> str:
    if block.source == "base64":
        shown = placeholder(block.medium, block.media_type, block.data)
    else:
        told = block.data if block.source in ("url", "file") else block.media_type
        shown = f"[{block.medium}: {told}]" if told else f"[{block.medium}]"
    return f"{shown} {block.name}" if block.name else shown


def _arguments(call: ToolUse, full: bool) -> str:
    text = call.text or "" if call.arguments is None else dumps(call.arguments)
    return text if full or len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"


def tree(roots: Sequence[str], children: Mapping[str, Sequence[str]], most: int) -> Iterator[tuple[str, str | int]]:
    """Each line's margin, and its turn, or how many turns are left out there.

    A branch is drawn to the right of what it leaves. Of a run of turns without branches only the ends are shown, `most`
    of them.
    """
    todo = [("", root) for root in reversed(roots)]
    while todo:
        margin, start = todo.pop()
        run = [start]
        while len(below := children[run[-1]]) == 1:
            run.append(below[0])
        inner = margin.replace("├─ ", "│  ").replace("╰─ ", "   ")
        first = run[: (most + 1) // 2] if len(run) > most + 1 else run
        last = run[-(most // 2) :] if len(run) > most + 1 else []
        for number, turn in enumerate(first):
            yield margin if number == 0 else inner, turn
        if last:
            yield inner, len(run) - len(first) - len(last)
            yield from ((inner, turn) for turn in last)
        for number, branch in enumerate(reversed(below)):
            todo.append((f"{inner}{'╰─ ' if number == 0 else '├─ '}", branch))
