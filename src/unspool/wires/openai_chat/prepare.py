"""A context → the body of a request to Chat Completions; its stream's events → what to show.

Unlike `encode`, which writes messages as trainers know them, this writes only what the API documents: compatible hosts
refuse keys that they do not know.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from unspool.dialect import Asking, Piece, Speaker
from unspool.model import Block, Context, Document, Text, Thinking, Tool, ToolUse
from unspool.sources.values import listing, mapping, string, text_of
from unspool.wires.chat_form import shown_call, written_call, written_messages, written_tool
from unspool.wires.history import as_text, choice_of, data_url, searches, settle
from unspool.wires.openai_chat.decode import DETAILS


def prepare(context: Context, tools: Sequence[Tool], asking: Asking) -> dict[str, Any]:
    body: dict[str, Any] = {"model": asking.model} if asking.model else {}
    body |= {"stream": True, "stream_options": {"include_usage": True}}
    if asking.max_tokens:
        body[asking.abilities.max_tokens_key] = asking.max_tokens
    body["messages"] = written_messages(settle(context, asking), _parts, _assistant)
    if tools:
        body["tools"] = [written_tool(tool, asking) for tool in tools]
        if choice := choice_of(context, tools, asking):
            named = {"type": "function", "function": {"name": choice}}
            body["tool_choice"] = choice if choice in ("auto", "none", "required") else named
    if searches(context, tools, asking):
        body["web_search_options"] = {}
    return body | asking.settings


def _assistant(blocks: Sequence[Block]) -> dict[str, Any]:
    said = "".join(
        as_text(block) for block in blocks if not isinstance(block, ToolUse | Thinking) and not _refuses(block)
    )
    message: dict[str, Any] = {"role": "assistant", "content": said or None}
    if refusal := "".join(block.text for block in blocks if isinstance(block, Text) and block.refusal):
        message["refusal"] = refusal
    for block in blocks:
        if isinstance(block, Thinking):
            key = text_of(mapping(block.extra).get("key")) or "reasoning_content"
            key = "reasoning_content" if key in DETAILS else key
            message[key] = message.get(key, "") + block.text
    if calls := [written_call(block) for block in blocks if isinstance(block, ToolUse)]:
        message["tool_calls"] = calls
    elif not said and not refusal:
        message["content"] = ""
    return message


def _refuses(block: Block) -> bool:
    return isinstance(block, Text) and block.refusal


def _parts(block: Block) -> Iterator[dict[str, Any]]:
    match block:
        case Document(source="text"):
            yield {"type": "text", "text": as_text(block)}
        case Document(medium="image"):
            if block.name:
                yield {"type": "text", "text": f"{block.name}:"}  # images have no name
            detail = mapping(block.extra).get("detail")
            about = {"detail": detail} if detail else {}
            yield {"type": "image_url", "image_url": {"url": data_url(block), **about}}
        case Document(medium="audio", source="base64"):
            kind = (block.media_type or "audio/wav").removeprefix("audio/").removeprefix("x-").replace("mpeg", "mp3")
            yield {"type": "input_audio", "input_audio": {"data": block.data, "format": kind}}
        case Document(source="file"):
            yield {"type": "file", "file": {"file_id": block.data}}
        case Document():
            yield {"type": "file", "file": {"filename": block.name or "document.pdf", "file_data": data_url(block)}}
        case _:
            yield {"type": "text", "text": as_text(block)}


def show(event: Any) -> Iterator[Piece]:
    for choice in listing(mapping(event).get("choices"))[:1]:
        delta = mapping(mapping(choice).get("delta"))
        for key in ("reasoning_content", "reasoning"):
            if text := string(delta.get(key)):
                yield Piece("thinking", content=text)
                break
        if text := string(delta.get("content")) or string(delta.get("refusal")):
            yield Piece("text", content=text)
        for call in listing(delta.get("tool_calls")):
            yield from shown_call(call)


speaker = Speaker(prepare, show)
