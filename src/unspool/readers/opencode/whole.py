"""Messages as newer versions of OpenCode keep them: whole, one row each, told apart by type.

user         text, files, skills    assistant    content: text | reasoning | tool, tokens, error
synthetic    text                   compaction   reason, summary, recent
shell        command, output        model-switched, agent-switched, location-switched, system
skill        name, text             idle         outcome: succeeded | failed | interrupted
"""

from typing import Any

from unspool.readers.blocks import block_text
from unspool.readers.opencode.attachments import attached
from unspool.readers.opencode.conversation import Conversation
from unspool.sources.values import listing, mapping, text_of

_PASSED_OVER = frozenset({"agent-switched", "location-switched"})
_STOPPED = ("aborted", "tool.interrupted")


class WholeMessages:
    """Takes such a message apart into the parts that it would have had."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    def read(self, data: dict[str, Any], kind: Any, key: Any, session: Any) -> None:
        parts = _parts(data, kind)
        if parts is None:
            if not isinstance(kind, str) or kind not in _PASSED_OVER:
                self._conversation.unknown(f"message type {kind!r}")
            return
        model = mapping(data.get("model"))
        info = {
            "role": "assistant" if kind in ("assistant", "compaction", "idle") else "user",
            "time": data.get("time"),
            "modelID": model.get("id") or model.get("modelID"),
            "path": {},
            "tokens": data.get("tokens"),
            "error": data.get("error"),
            "summary": kind == "compaction",
        }
        message = self._conversation.message(info, key, session)
        for at, part in enumerate(parts):
            self._conversation.part(message, part, f"{message.id}:{at}")
        self._conversation.end(message)


def _parts(data: dict[str, Any], kind: Any) -> list[Any] | None:
    match kind:
        case "user":
            files = [{**mapping(file), "type": "file"} for file in listing(data.get("files"))]
            skills = (mapping(skill).get("text") for skill in listing(data.get("skills")))
            taught = [{"type": "text", "text": text, "synthetic": True} for text in skills]
            return [{"type": "text", "text": data.get("text")}, *files, *taught]
        case "synthetic":
            return [{"type": "text", "text": data.get("text"), "synthetic": True}]
        case "system":
            return [{"type": "system", "text": data.get("text")}]
        case "model-switched":
            return [{"type": "model", "model": data.get("model")}]
        case "skill":
            return [{"type": "text", "text": data.get("text"), "synthetic": True}]
        case "shell":  # a command of the person's own, whose output the model is shown
            told = data.get("output")
            output = {"type": "text", "text": mapping(told).get("output", told), "synthetic": True}
            return [{"type": "text", "text": f"! {text_of(data.get('command'))}"}, output]
        case "compaction" if data.get("status") in ("running", "failed"):
            return []  # it broke off: nothing was replaced yet
        case "compaction":
            began = {"type": "compaction", "auto": data.get("reason") == "auto"}
            if data.get("status") == "completed" and not data.get("summary"):
                return [began, {"type": "compacted"}]  # the provider did it, and keeps what it made of it
            shown = map(text_of, (data.get("summary"), data.get("recent")))  # the end of what it replaces, as it was
            return [began, {"type": "text", "text": "\n\n".join(filter(None, shown))}]
        case "assistant":
            retry = mapping(data.get("retry"))
            tried = [{"type": "retry", **retry, "time": {"created": retry.get("at")}}] if retry else []
            return [*(part_of(item) for item in listing(data.get("content"))), *tried]
        case "idle":
            return [{"type": "idle", "outcome": data.get("outcome")}]
    return None


def part_of(item: Any) -> Any:
    """Only tools differ: their output is a list of content, and their times stand beside their state."""
    if not isinstance(item, dict) or item.get("type") != "tool":
        return item
    state, time = mapping(item.get("state")), mapping(item.get("time"))
    content, error = listing(state.get("content")), state.get("error")
    output = "\n".join(map(_content, content)) if content else text_of(state.get("result"))
    metadata = mapping(state.get("metadata", state.get("structured")))
    stopped = mapping(error).get("type") in _STOPPED
    told = {
        **state,
        "output": output,
        "error": "\n".join(filter(None, (text_of(mapping(error).get("message") or error), output))),
        "metadata": metadata | {"interrupted": True} if stopped else metadata,
        "time": {"start": time.get("ran") or time.get("created"), "end": time.get("completed")},
    }
    told.pop("attachments", None)  # they stand in the content
    return {"type": "tool", "tool": item.get("name"), "callID": item.get("id"), "state": told}


def _content(item: Any) -> str:
    return attached(item) if mapping(item).get("type") == "file" else block_text(item)
