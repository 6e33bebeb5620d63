"""A context → the body of a request to Gemini generateContent; its stream's events → what to show."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from unspool.dialect import Asking, Piece, Speaker
from unspool.model import Block, Context, Document, Text, Thinking, Tool, ToolResult, ToolUse
from unspool.sources.jsontext import dumps
from unspool.sources.values import listing, mapping, string
from unspool.wires.calls import Entry, fit_name, in_words
from unspool.wires.gemini.decode import CALL, either
from unspool.wires.history import as_text, choice_of, searches, settle
from unspool.wires.schemas import for_gemini, whole

_MODES = {"auto": {"mode": "AUTO"}, "none": {"mode": "NONE"}, "required": {"mode": "ANY"}}
_UNSIGNED = "skip_thought_signature_validator"
"""What Google gives for calls that another model made: newer models refuse a call without a signature."""
_LAX = re.compile(r"gemini-[12]|gemma")
"""Models that take a call without a signature; `gemini-flash-latest` is a newer one."""


def prepare(context: Context, tools: Sequence[Tool], asking: Asking) -> dict[str, Any]:
    """The model stands in the address, not in the body."""
    entries = settle(context, asking)
    system = [part for entry in entries if entry.role == "system" for part in _parts(entry, asking)]
    body: dict[str, Any] = {"systemInstruction": {"parts": system}} if system else {}
    contents: list[dict[str, Any]] = []
    for entry in entries:
        if entry.role != "system":
            role, parts = "model" if entry.role == "assistant" else "user", _parts(entry, asking)
            if contents and contents[-1]["role"] == role:
                contents[-1]["parts"] += parts
            else:
                contents.append({"role": role, "parts": parts})
    body["contents"] = contents
    offered: list[dict[str, Any]] = []
    if tools:
        offered.append({"functionDeclarations": [_tool(tool, asking) for tool in tools]})
    if searches(context, tools, asking):
        offered.append({"googleSearch": {}})
    if offered:
        body["tools"] = offered
        choice = choice_of(context, tools, asking)
        if tools and (settings := _tool_config(choice, len(offered) > 1)):  # it refuses a choice among no functions
            body["toolConfig"] = settings
    settings = asking.settings
    if asking.max_tokens:  # beside what else is set of the same
        limit = {"maxOutputTokens": asking.max_tokens, **mapping(settings.get("generationConfig"))}
        settings = {**settings, "generationConfig": limit}
    return body | settings


def _tool_config(choice: str | None, both: bool) -> dict[str, Any]:
    config: dict[str, Any] = {}
    if choice:
        named = {"mode": "ANY", "allowedFunctionNames": [choice]}
        config["functionCallingConfig"] = _MODES.get(choice, named)
    if both:  # search beside functions
        config["includeServerSideToolInvocations"] = True
    return config


def _parts(entry: Entry, asking: Asking) -> list[dict[str, Any]]:
    parts = [part for block in entry.blocks for part in _part(block)]
    calls = [part for part in parts if "functionCall" in part]
    if calls and "thoughtSignature" not in calls[0] and not _LAX.search(asking.model or ""):
        calls[0]["thoughtSignature"] = _UNSIGNED
    return parts


def _part(block: Block) -> Iterator[dict[str, Any]]:
    signature = getattr(block, "signature", None)
    signed = {"thoughtSignature": signature} if signature else {}
    match block:
        case Text():
            yield {"text": block.text, **signed}
        case Thinking():
            yield {"text": block.text, **({"thought": True} if block.text else {}), **signed}
        case Document():
            yield from _document(block, signed)
        case ToolUse(server_side=False):
            named = {"id": block.id} if block.id else {}
            arguments = {"input": block.text} if block.arguments is None else block.arguments
            yield {"functionCall": {**named, "name": block.name, "args": arguments}, **signed}
        case ToolResult(server_side=False):
            yield {"functionResponse": _response(block)}
        case ToolUse(name="code_execution"):
            yield {"executableCode": {**_id(block.id), **(block.arguments or {})}, **signed}
        case ToolResult(name="code_execution"):
            text = "".join(inner.text for inner in block.content if isinstance(inner, Text))
            about = {"outcome": mapping(block.extra).get("outcome") or "OUTCOME_OK", "output": text}
            yield {"codeExecutionResult": {**_id(block.call_id), **about}, **signed}
        case ToolUse():
            call = {"toolType": block.name.upper(), "args": block.arguments or {}}
            yield {"toolCall": {**_id(block.id), **call}, **signed}
        case ToolResult():
            given = next((inner.value for inner in block.content if hasattr(inner, "value")), None)
            answer = {"response": given} if given is not None else {}
            yield {"toolResponse": {**_id(block.call_id), "toolType": (block.name or "").upper(), **answer}, **signed}
        case _:
            yield {"text": in_words(block)}


def _id(given: str | None) -> dict[str, Any]:
    return {"id": given} if given else {}


def _document(block: Document, signed: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block.source == "text":
        yield {"text": as_text(block), **signed}
        return
    if block.name:
        yield {"text": f"{block.name}:"}  # the Gemini API has no field for it
    if block.source == "base64":
        yield {"inlineData": {"mimeType": block.media_type, "data": block.data}, **signed}
    else:
        kind = {"mimeType": block.media_type} if block.media_type else {}
        yield {"fileData": {**kind, "fileUri": block.data}, **signed}


def _response(block: ToolResult) -> dict[str, Any]:
    texts = [inner for inner in block.content if not isinstance(inner, Document) or inner.source == "text"]
    media = [part for inner in block.content if inner not in texts for part in _part(inner)]
    told = "\n".join(map(as_text, texts))
    response = {"error" if block.is_error else "output": told}
    answer = {**_id(block.call_id), "name": block.name or "tool", "response": response}
    return {**answer, "parts": [part for part in media if "inlineData" in part]} if media else answer


def _tool(tool: Tool, asking: Asking) -> dict[str, Any]:
    about = {"description": tool.description} if tool.description else {}
    function = {"name": fit_name(tool.name, asking), **about}
    schema = for_gemini(whole(tool.parameters))
    return {**function, "parameters": schema} if schema.get("properties") else function  # an empty object is refused


def show(event: Any) -> Iterator[Piece]:
    for candidate in listing(mapping(event).get("candidates"))[:1]:
        for part in map(mapping, listing(mapping(mapping(candidate).get("content")).get("parts"))):
            if isinstance(call := either(part, CALL), dict):
                yield Piece("tool_use", string(call.get("name")), string(call.get("id")), dumps(call.get("args") or {}))
            elif text := string(part.get("text")):
                yield Piece("thinking" if part.get("thought") else "text", content=text)


speaker = Speaker(prepare, show)
