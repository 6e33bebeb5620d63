"""Gemini contents, parts, tools, usage → the model."""

from collections.abc import Iterator
from typing import Any

from unspool.model import (
    Block,
    Document,
    Message,
    Other,
    Response,
    Role,
    Stop,
    StopReason,
    Text,
    Thinking,
    Tool,
    ToolResult,
    ToolUse,
    Usage,
)
from unspool.sources.jsontext import dumps
from unspool.sources.values import count, listing, mapping, string, text_of
from unspool.wires.values import arguments_of, content_of, leftover, medium_of, misfits, other, stop_of

ANSWERS = frozenset(
    ("candidates", "modelVersion", "usageMetadata", "promptFeedback", "model_version", "usage_metadata")
)
"""Keys of answers and of their pieces that no other API has."""
_STOPS: dict[str, StopReason] = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MALFORMED_RESPONSE": "error",
    "MISSING_THOUGHTSIGNATURE": "error",
    "CONTINUATION": "pause",
    **dict.fromkeys(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "refusal"),
    "MODEL_ARMOR": "refusal",
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"), "refusal"),
}


def decode(slot: str, value: Any) -> Message:
    if slot != "contents":
        parts = mapping(value).get("parts", value)
        return _message("system", parts, {} if parts is value else leftover(value, "parts") or {})
    match mapping(value):
        case {"parts": parts, **rest}:
            role = rest.pop("role", None)
            extra = rest if role in ("user", "model") else {**rest, "role": role}
            return _message(_role(role), parts, extra)
        case {"role": role, "content": content, **rest}:  # another API's habit
            return _message(_role(role), content, {**rest, "content": True})
        case {"role": role, **rest}:
            return _message(_role(role), rest or None, {})
    return _message("user", value, {})


def _role(role: Any) -> Role:
    """There are `user` and `model`; the words of other APIs are refused, but recorded."""
    match role:
        case "model" | "assistant":
            return "assistant"
        case "system":
            return "system"
    return "user"


def _message(role: Role, parts: Any, extra: dict[str, Any]) -> Message:
    if isinstance(parts, dict):
        return Message(role, (part_of(parts),), "blocks", {**extra, "bare": True})
    blocks, form = content_of(parts, part_of)
    return Message(role, blocks, form, extra or None)


# Spellings of each key of a part: (camelCase, snake_case).
CALL, _RESULT = ("functionCall", "function_call"), ("functionResponse", "function_response")
_INLINE, _FILE = ("inlineData", "inline_data"), ("fileData", "file_data")
_CODE, _RAN = ("executableCode", "executable_code"), ("codeExecutionResult", "code_execution_result")
_TOOL_CALL, _TOOL_RESPONSE = ("toolCall", "tool_call"), ("toolResponse", "tool_response")
SIGNATURE = ("thoughtSignature", "thought_signature")
_MIME, _NAME = ("mimeType", "mime_type"), ("displayName", "display_name")
_URI = ("fileUri", "file_uri")
_COUNT = ("tokenCount", "token_count")


def either(value: dict[str, Any], names: tuple[str, str]) -> Any:
    return value[names[0]] if names[0] in value else value.get(names[1])


def part_of(value: Any) -> Block:
    if isinstance(value, str):
        return Text(value)
    if not isinstance(value, dict):
        return other(value)
    signature = string(either(value, SIGNATURE))
    if isinstance(text := value.get("text"), str):
        extra = {**(leftover(value, "text", "thought", *SIGNATURE) or {}), **misfits(value, thought=bool)} or None
        if value.get("thought") or (signature and not text):  # a signature alone stands for thoughts not shown
            return Thinking(text, signature, extra=extra)
        return Text(text, signature=signature, extra=extra)
    for names, read in _PARTS.items():
        if isinstance(inner := either(value, names), dict):
            block: Block = read(inner, signature, leftover(value, *names, *SIGNATURE))
            return block
    if signature and set(value) <= {*SIGNATURE, "thought", "text"}:
        return Thinking("", signature)
    return Other("+".join(sorted(value)) or "part", value)


def _call(value: dict[str, Any], signature: str | None, extra: Any) -> ToolUse:
    arguments, text = arguments_of(value.get("args"))
    extra = {**(extra or {}), **(leftover(value, "id", "name", "args") or {})}
    return ToolUse(
        string(value.get("id")), text_of(value.get("name")), arguments, text, False, signature, extra or None
    )


def _result(value: dict[str, Any], signature: str | None, extra: Any) -> ToolResult:
    """The response is an object by rule; what a tool printed is one text in it under a name of the client's choice."""
    given = value.get("response")
    blocks: list[Block]
    match given:
        case {"output": str(text)} | {"result": str(text)} | {"content": str(text)} | {"error": str(text)} if (
            len(mapping(given)) == 1
        ):
            blocks = [Text(text)]
        case str():
            blocks = [Text(given)]
        case _:
            blocks = [Text(dumps(given))]
    blocks.extend(map(part_of, listing(value.get("parts"))))
    failed = True if isinstance(given, dict) and given.get("error") and not {"output", "result"} & set(given) else None
    kept = {**(extra or {}), **(leftover(value, "id", "name", "parts") or {}), **misfits(value, parts=list)}
    return ToolResult(
        string(value.get("id")), tuple(blocks), failed, string(value.get("name")), False, signature, kept or None
    )


def _inline(value: dict[str, Any], signature: str | None, extra: Any) -> Document:
    kind, name = string(either(value, _MIME)), string(either(value, _NAME))
    kept = {**(extra or {}), **(leftover(value, "data", *_MIME, *_NAME) or {})} or None
    return Document(medium_of(kind), "base64", text_of(value.get("data")), kind, name, signature, kept)


def _file(value: dict[str, Any], signature: str | None, extra: Any) -> Document:
    kind, name = string(either(value, _MIME)), string(either(value, _NAME))
    kept = {**(extra or {}), **(leftover(value, *_URI, *_MIME, *_NAME) or {})} or None
    return Document(medium_of(kind), "url", text_of(either(value, _URI)), kind, name, signature, kept)


def _code(value: dict[str, Any], signature: str | None, extra: Any) -> ToolUse:
    asked = leftover(value, "id") or {}
    return ToolUse(string(value.get("id")), "code_execution", asked, None, True, signature, extra)


def _ran(value: dict[str, Any], signature: str | None, extra: Any) -> ToolResult:
    failed = None if value.get("outcome") in (None, "OUTCOME_OK") else True
    shown = (Text(text_of(value.get("output"))),)
    kept = {**(extra or {}), **(leftover(value, "id", "output") or {})}
    return ToolResult(string(value.get("id")), shown, failed, "code_execution", True, signature, kept or None)


def _tool_call(value: dict[str, Any], signature: str | None, extra: Any) -> ToolUse:
    name = text_of(either(value, ("toolType", "tool_type"))).lower() or "tool"
    return ToolUse(string(value.get("id")), name, mapping(value.get("args")), None, True, signature, extra)


def _tool_response(value: dict[str, Any], signature: str | None, extra: Any) -> ToolResult:
    name = text_of(either(value, ("toolType", "tool_type"))).lower() or "tool"
    given = value.get("response")
    shown: tuple[Block, ...] = () if given is None else (Other("tool_response", given, known=True),)
    return ToolResult(string(value.get("id")), shown, None, name, True, signature, extra)


_PARTS: dict[tuple[str, str], Any] = {
    CALL: _call,
    _RESULT: _result,
    _INLINE: _inline,
    _FILE: _file,
    _CODE: _code,
    _RAN: _ran,
    _TOOL_CALL: _tool_call,
    _TOOL_RESPONSE: _tool_response,
}


def tools(value: Any) -> Iterator[Tool]:
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if key in ("functionDeclarations", "function_declarations") and isinstance(inner, list):
            for function in inner:
                yield _function(function) if isinstance(function, dict) else Tool("", extra={"definition": function})
        elif key in ("mcpServers", "mcp_servers"):
            for server in map(mapping, listing(inner)):
                yield Tool(text_of(server.get("name")) or key, "", {}, True, server)
        else:
            # A computer is used through function calls that the client runs.
            extra = inner if isinstance(inner, dict) else {"definition": inner}
            yield Tool(key, "", {}, key not in ("computerUse", "computer_use"), extra or None)


def _function(value: dict[str, Any]) -> Tool:
    schemas = ("parameters", "parametersJsonSchema", "parameters_json_schema")
    schema = next((mapping(value[key]) for key in schemas if value.get(key)), {})
    extra = {
        **(leftover(value, "name", "description", *schemas) or {}),
        **misfits(value, **dict.fromkeys(schemas, dict)),
    } or None
    return Tool(text_of(value.get("name")), text_of(value.get("description")), schema, False, extra)


def unwrapped(body: dict[str, Any]) -> dict[str, Any]:
    """With a Google login an answer comes as {"response": {…}, "traceId": …}."""
    match body:
        case {"response": dict(inner), **rest} if not ANSWERS.isdisjoint(inner):
            return {**rest, **inner}
    return body


def answer(body: dict[str, Any]) -> Response:
    body = unwrapped(body)
    candidates = [each for each in listing(body.get("candidates")) if isinstance(each, dict)]
    candidates.sort(key=lambda each: count(each.get("index")))
    answers = [_candidate(each) for each in candidates]
    return Response(
        answers[0] if answers else (),
        tuple(answers[1:]),
        id=string(either(body, ("responseId", "response_id"))),
        model=string(either(body, ("modelVersion", "model_version"))),
        stop=_stop(candidates[0] if candidates else {}, body),
        usage=usage_of(either(body, ("usageMetadata", "usage_metadata"))),
        extra=_about(body, candidates),
    )


def _about(body: dict[str, Any], candidates: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What the response and its candidates say beside the content: grounding, citations, ratings, …"""
    read = ("responseId", "modelVersion", "usageMetadata", "response_id", "model_version", "usage_metadata")
    extra = leftover(body, "candidates", *read) or {}
    extra |= misfits(body, candidates=list, usageMetadata=dict, usage_metadata=dict)
    if any(not isinstance(each, dict) for each in listing(body.get("candidates"))):
        extra["candidates"] = body["candidates"]
    beside = [
        {**(leftover(each, "index", "content", "finishReason", "finish_reason") or {}), **misfits(each, index=int)}
        for each in candidates
    ]
    if any(beside):
        extra["candidates"] = beside
    return extra or None


def _candidate(candidate: dict[str, Any]) -> tuple[Message, ...]:
    match candidate.get("content"):
        case None | {"role": "model", "parts": None}:
            return ()
        case {"role": "model"} as content if len(content) == 1:  # stopped before it said anything
            return ()
        case dict(content):
            return (decode("contents", content | {"role": "model"}),)
        case content:
            return (Message("assistant", (other(content),)),)


def _stop(candidate: dict[str, Any], body: dict[str, Any]) -> Stop | None:
    blocked = mapping(either(body, ("promptFeedback", "prompt_feedback")))
    if reason := string(either(blocked, ("blockReason", "block_reason"))):
        return Stop("refusal", reason, blocked)
    stop = stop_of(
        either(candidate, ("finishReason", "finish_reason")),
        _STOPS,
        either(candidate, ("finishMessage", "finish_message")),
    )
    if stop and stop.reason == "end_turn":
        parts = listing(mapping(candidate.get("content")).get("parts"))
        if any(isinstance(part, dict) and either(part, CALL) for part in parts):
            return Stop("tool_use", stop.raw, stop.details)
    return stop


def usage_of(raw: Any) -> Usage | None:
    """The prompt includes what was cached; candidates exclude thoughts; a server tool's input is counted apart."""
    if not isinstance(raw, dict):
        return None

    def tokens(camel: str, snake: str) -> int:
        return count(either(raw, (camel, snake)))

    def sound(camel: str, snake: str) -> int:
        told = map(mapping, listing(either(raw, (camel, snake))))
        return sum(count(either(each, _COUNT)) for each in told if each.get("modality") == "AUDIO")

    read = tokens("cachedContentTokenCount", "cached_content_token_count")
    thoughts = tokens("thoughtsTokenCount", "thoughts_token_count")
    prompt = tokens("promptTokenCount", "prompt_token_count")
    given = max(prompt - read, 0) + tokens("toolUsePromptTokenCount", "tool_use_prompt_token_count")
    output = tokens("candidatesTokenCount", "candidates_token_count") + thoughts
    heard = sound("promptTokensDetails", "prompt_tokens_details")
    heard += sound("toolUsePromptTokensDetails", "tool_use_prompt_tokens_details")
    heard -= sound("cacheTokensDetails", "cache_tokens_details")
    return Usage(
        input=given,
        cache_read=read,
        output=output,
        reasoning=thoughts,
        input_audio=min(max(heard, 0), given),
        output_audio=min(sound("candidatesTokensDetails", "candidates_tokens_details"), output),
        raw=raw,
    )
