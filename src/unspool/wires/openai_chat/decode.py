"""Chat messages, parts, tools, usage → the model."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from unspool.model import (
    Block,
    Document,
    Form,
    Medium,
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
from unspool.sources.values import count, listing, mapping, string, text_of
from unspool.wires.openai_chat import ollama
from unspool.wires.values import arguments_of, content_of, from_url, leftover, misfits, other, stop_of

_ROLES: dict[str, Role] = {"developer": "system", "model": "assistant"}
_STOPS: dict[str, StopReason] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
    "error": "error",
    "insufficient_system_resource": "error",
    "model_length": "max_tokens",
    "eos": "end_turn",
    "eos_token": "end_turn",
    "sensitive": "refusal",
    "network_error": "error",
    "model_context_window_exceeded": "context_exceeded",
    # What gateways pass on in the words of others.
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "SAFETY": "refusal",
    "refusal": "refusal",
}
_PLAIN = frozenset({"role", "content", "tool_calls"})  # the keys of most messages
_RESULT = frozenset({"role", "content", "tool_call_id"})
_CALL, _FUNCTION = frozenset({"id", "type", "function"}), frozenset({"name", "arguments"})
_THOUGHTS = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
DETAILS = ("reasoning_details", "thinking_blocks")
"""Where thoughts may stand in parts; they stay there too."""
EXECUTED = "executed_tools"
_GAVE = ("output", "search_results", "code_results", "browser_results")
SPOKEN = {"key": "audio"}
"""Of a text: what the sound beside it says, in words. It stands there too."""
_READ = ("cached_tokens", "num_cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens")
_WRITTEN = ("cache_write_tokens", "cache_creation_tokens", "cache_creation_input_tokens")
_MEDIA: dict[str, Medium] = {
    "image_url": "image",
    "video_url": "video",
    "document_url": "document",
    "file_url": "document",
    "audio_url": "audio",
}


def decode(slot: str, value: Any) -> Message:
    speaker: Role = "system" if slot == "system" else "user"
    if isinstance(value, str):  # a legacy prompt
        return Message(speaker, (Text(value),), "string")
    if isinstance(value, list) and (slot == "system" or all(isinstance(text, str) for text in value)):
        return Message(speaker, tuple(map(part_of, value)))  # blocks, as Anthropic has them, or several prompts
    if not isinstance(value, dict):
        return Message("user", (other(value),))
    match value.get("role"):
        case "system" | "user" | "assistant" as role:
            text = value.get("content")
            if len(value) == 2 and type(text) is str and text:
                return Message(role, (Text(text),), "string")
            return _message(role, value, {})
        case "tool" | "function" as role:
            return _tool_message(role, value)
        case str(role):
            return _message(_ROLES.get(role, "user"), value, {"role": role})
    if "content" in value:
        return _message("user", value, {"role": value["role"]} if value.get("role") is not None else {})
    return Message("user", (other(value),))


def _message(role: Role, value: dict[str, Any], extra: dict[str, Any]) -> Message:
    content = value.get("content")
    form: Form = "blocks"
    plain = value.keys() <= _PLAIN
    blocks: list[Block] = [] if plain else [*_thinking(value), *_executed(value)]
    match content:
        case str():
            form = "string"
            if content:
                blocks.append(Text(content, citations=() if plain else tuple(listing(value.get("annotations")))))
        case list():
            blocks.extend(map(part_of, content))
        case None:
            form = "none"
        case _:
            blocks.append(other(content))
    if not plain:
        blocks.extend(_beside(value))
        known = ("role", "content", "refusal", "images", "audio", "tool_calls", "function_call", EXECUTED, *_THOUGHTS)
        extra |= misfits(value, function_call=dict, audio=dict, images=list, executed_tools=list)
        extra.update(leftover(value, *known, *(["annotations"] if form == "string" and content else [])) or {})
    if calls := value.get("tool_calls"):
        blocks += map(_call, calls if isinstance(calls, list) else [calls])
    return Message(role, tuple(blocks), form, extra or None)


def _beside(value: dict[str, Any]) -> Iterator[Block]:
    """What an answer says in fields of its own."""
    if refusal := string(value.get("refusal")):
        yield Text(refusal, refusal=True)
    for image in listing(value.get("images")):  # Ollama's are base64 alone
        yield from_url("image", image, bare_is_data=True) if isinstance(image, str) else part_of(image)
    if isinstance(audio := value.get("audio"), dict):
        yield _audio(audio)
        if isinstance(said := audio.get("transcript"), str) and said:
            yield Text(said, extra=SPOKEN)
    if isinstance(legacy := value.get("function_call"), dict):
        yield _call({"function": legacy, "legacy": True})


def _thinking(value: dict[str, Any]) -> Iterator[Thinking]:
    """Compatible hosts have four names for it; some send the same text under two of them."""
    said = set()
    for key in _THOUGHTS:
        if (text := text_of(value.get(key))) and text not in said:
            said.add(text)
            yield Thinking(text, extra=None if key == "reasoning_content" else {"key": key})
    if not said and (text := _detailed(value)):
        yield Thinking(text, extra={"key": next(key for key in DETAILS if value.get(key))})


def _executed(value: dict[str, Any]) -> Iterator[Block]:
    """Calls that the host ran itself before it spoke, with what they gave (Groq); they have no ids."""
    for ran in listing(value.get(EXECUTED)):
        if not isinstance(ran, dict):
            yield other(ran)
            continue
        name, (arguments, text) = text_of(ran.get("name") or ran.get("type")), arguments_of(ran.get("arguments"))
        known = ("name", "type", "index", "arguments", *_GAVE)
        yield ToolUse(None, name, arguments, text, True, extra=leftover(ran, *known))
        gave = {key: ran[key] for key in _GAVE if ran.get(key)}
        if isinstance(output := gave.pop("output", None), str):
            yield ToolResult(None, (Text(output),), None, name, True, extra=gave or None)
        elif gave:
            yield ToolResult(None, (Other(EXECUTED, gave, known=True),), None, name, True)


def _detailed(value: dict[str, Any]) -> str:
    """Thoughts that stand nowhere else: OpenRouter's details, whose pieces a stream numbers, and LiteLLM's blocks."""
    texts: dict[Any, str] = {}
    details = listing(next((value[key] for key in DETAILS if value.get(key)), None))
    for place, detail in enumerate(map(mapping, details)):
        text = next((text for key in ("text", "summary", "thinking") if (text := text_of(detail.get(key)))), "")
        of = detail["index"] if isinstance(detail.get("index"), int) else f"{place}"
        texts[of] = texts.get(of, "") + text
    return "\n\n".join(filter(None, texts.values()))


def _tool_message(role: str, value: dict[str, Any]) -> Message:
    blocks, form = content_of(value.get("content"), part_of)
    called = string(value.get("tool_call_id"))
    if value.keys() <= _RESULT:
        return Message("user", (ToolResult(called, blocks),), form, {"role": role})
    failed = value.get("is_error")
    result = ToolResult(
        called,
        blocks,
        failed if isinstance(failed, bool) else None,
        string(value.get("name") or value.get("tool_name")),
        extra=leftover(value, *_RESULT, "name", "is_error"),
    )
    return Message("user", (result,), form, {"role": role})


def part_of(value: Any) -> Block:
    """One part of a content list."""
    if isinstance(value, str):
        return Text(value)
    match mapping(value):
        case {"type": "text" | "input_text" | "output_text", "text": str(text), **rest}:
            return Text(text, extra=rest or None)
        case {"type": "refusal", "refusal": str(text), **rest}:
            return Text(text, refusal=True, extra=rest or None)
        case {"type": ("image_url" | "video_url" | "document_url" | "file_url" | "audio_url") as kind, **rest}:
            at = rest.pop(kind, None)
            url = at if isinstance(at, str) else mapping(at).get("url")
            extra = {**rest, **(leftover(at, "url") or {})} if isinstance(at, dict) else {**rest, "bare": True}
            if isinstance(url, str):
                return from_url(_MEDIA[kind], url, extra or None)
        case {"type": "input_audio", "input_audio": dict(sound), **rest}:
            kind = string(sound.get("format"))
            extra = {**rest, **(leftover(sound, "format", "data") or {})}
            return Document(
                "audio", "base64", text_of(sound.get("data")), kind and f"audio/{kind}", extra=extra or None
            )
        case {"type": "file", "file": dict(file), **rest}:
            return _file(file, rest)
        case {"type": "thinking", "thinking": thoughts, **rest}:  # Mistral
            return Thinking(
                "".join(text_of(mapping(each).get("text")) for each in listing(thoughts)) or text_of(thoughts),
                extra=rest or None,
            )
        case {"type": "reasoning", "summary": list(summary), **rest}:  # Databricks
            return _summarised(summary, rest)
        case {"text": str(text), **rest} if "type" not in value:
            return Text(text, extra=rest or None)
        case {"type": "reference"}:  # Mistral: which documents the text before it came from
            return Other("reference", value, known=True)
    return other(value)


def _summarised(summary: list[Any], rest: dict[str, Any]) -> Thinking:
    told = [mapping(each) for each in summary]
    text, signature, hidden = (
        "".join(text_of(each.get(key)) for each in told) for key in ("text", "signature", "data")
    )
    if any(not each or leftover(each, "type", "text", "signature", "data") for each in told):
        rest["summary"] = summary
    return Thinking(text, signature or None, hidden or None, redacted=bool(hidden) and not text, extra=rest or None)


def _file(file: dict[str, Any], rest: dict[str, Any]) -> Document:
    name = string(file.get("filename"))
    if isinstance(data := file.get("file_data"), str):
        extra = {**rest, **(leftover(file, "filename", "file_data") or {})}
        at = from_url("document", data, bare_is_data=True)
        return Document("document", at.source, at.data, at.media_type, name, extra=extra or None)
    extra = {**rest, **(leftover(file, "filename", "file_id") or {})}
    return Document("document", "file", text_of(file.get("file_id")), None, name, extra=extra or None)


def _audio(audio: dict[str, Any]) -> Document:
    """The model's spoken answer; sent back by its id alone."""
    if isinstance(data := audio.get("data"), str):
        return Document("audio", "base64", data, extra=leftover(audio, "data"))
    return Document("audio", "file", text_of(audio.get("id")), extra=leftover(audio, "id"))


def _call(value: Any) -> Block:
    if isinstance(value, dict) and isinstance(function := value.get("function"), dict):
        return _function_call(value, function)
    match mapping(value):
        case {"custom": dict(custom), **rest}:
            written = text_of(custom.get("input"))
            extra = {**(leftover(custom, "name", "input") or {}), **(leftover(rest, "id") or {})}
            extra.setdefault("type", "custom")
            return ToolUse(string(rest.get("id")), text_of(custom.get("name")), None, written, extra=extra)
    return Other("tool_call", value)


def _function_call(value: dict[str, Any], function: dict[str, Any]) -> ToolUse:
    arguments, text = arguments_of(function.get("arguments"))
    extra = None
    if not (value.keys() <= _CALL and function.keys() <= _FUNCTION and value.get("type", "function") == "function"):
        extra = {**(leftover(value, "id", "function") or {}), **(leftover(function, "name", "arguments") or {})}
        if extra.get("type") == "function":
            del extra["type"]
    return ToolUse(string(value.get("id")), text_of(function.get("name")), arguments, text, extra=extra or None)


def tools(value: Any) -> Iterator[Tool]:
    match mapping(value):
        case {"function": dict(function), **rest}:
            yield _function(function, rest)
        case {"custom": dict(custom), **rest}:
            extra = {**(leftover(custom, "name", "description") or {}), **rest, "type": "custom"}
            yield Tool(text_of(custom.get("name")), text_of(custom.get("description")), extra=extra)
        case {"name": str(), **rest}:  # the oldest form: `functions`; or another API's tool on a lenient host
            yield _function(rest | {"name": value["name"]}, {})
        case {"type": str(kind), **rest}:  # a host's own tool, such as openrouter:web_search
            extra = {**(leftover(rest, "parameters") or {}), **misfits(rest, parameters=dict)}
            yield Tool(kind, "", mapping(rest.get("parameters")), True, extra or None)


def _function(function: dict[str, Any], rest: dict[str, Any]) -> Tool:
    schema = mapping(function.get("parameters")) or mapping(function.get("input_schema"))
    extra = {**rest, **(leftover(function, "name", "description", "parameters", "input_schema") or {})}
    extra |= misfits(function, parameters=dict, input_schema=dict)
    if extra.get("type") == "function":
        del extra["type"]
    return Tool(text_of(function.get("name")), text_of(function.get("description")), schema, False, extra or None)


def answer(body: dict[str, Any]) -> Response:
    body = ollama.plain(body)
    choices = [choice for choice in listing(body.get("choices")) if isinstance(choice, dict)]
    choices.sort(key=lambda choice: count(choice.get("index")))
    answers = [_choice(choice) for choice in choices]
    first = choices[0] if choices else {}
    return Response(
        answers[0] if answers else (),
        tuple(answers[1:]),
        id=string(body.get("id")),
        model=string(body.get("model")),
        stop=_stop(first, answers[0] if answers else ()),
        usage=_with_times(usage_of(_counted(body, first)), mapping(body.get("timings"))),
        extra=_about(body, choices),
    )


def _counted(body: dict[str, Any], first: dict[str, Any]) -> Any:
    """The tokens, wherever a host puts them: Groq and Moonshot elsewhere in streams, llama.cpp among its times."""
    held = (body.get("usage"), mapping(body.get("x_groq")).get("usage"), first.get("usage"))
    if found := next((usage for usage in held if usage), None):
        return found
    times = mapping(body.get("timings"))
    return times if "predicted_n" in times else None


def _with_times(usage: Usage | None, times: dict[str, Any]) -> Usage | None:
    """What was cached, where llama.cpp says it among its times alone."""
    read = count(times.get("cache_n"))
    if usage is None or usage.cache_read or not read or usage.input != read + count(times.get("prompt_n")):
        return usage
    return replace(usage, input=usage.input - read, cache_read=read)


def _about(body: dict[str, Any], choices: list[dict[str, Any]]) -> dict[str, Any] | None:
    """What the completion and its choices say beside the messages: log probabilities, filters, …"""
    extra = leftover(body, "choices", "id", "model", "usage") or {}
    extra |= misfits(body, choices=list, usage=dict)
    if any(not isinstance(choice, dict) for choice in listing(body.get("choices"))):
        extra["choices"] = body["choices"]
    beside = [
        {**(leftover(choice, "index", "message", "text", "finish_reason") or {}), **misfits(choice, index=int)}
        for choice in choices
    ]
    if any(value for each in beside for value in each.values()):
        extra["choices"] = beside
    return extra or None


def _stop(choice: dict[str, Any], said: tuple[Message, ...]) -> Stop | None:
    stop = stop_of(choice.get("finish_reason"), _STOPS, choice.get("native_finish_reason"))
    blocks = [block for message in said for block in message.blocks]
    if stop and stop.reason == "end_turn":  # "stop" is also what hosts say of calls, and of a refusal
        if any(isinstance(block, ToolUse) and not block.server_side for block in blocks):
            return Stop("tool_use", stop.raw, stop.details)
        if any(isinstance(block, Text) and block.refusal for block in blocks):
            return Stop("refusal", stop.raw, stop.details)
    return stop


def _choice(choice: dict[str, Any]) -> tuple[Message, ...]:
    match choice:
        case {"message": dict(said)}:
            return (decode("messages", said | {"role": "assistant"}),)
        case {"message": said} if said is not None:
            return (Message("assistant", (other(said),)),)
        case {"text": text}:
            return (Message("assistant", (Text(text_of(text)),), "string"),)
    return ()


def usage_of(raw: Any) -> Usage | None:
    """OpenAI's prompt includes what was cached; compatible hosts have more names for each of the numbers."""
    if not isinstance(raw, dict):
        return None
    details, beside = (mapping(raw.get(f"{side}_tokens_details")) for side in ("prompt", "completion"))
    read = count(details.get("cached_tokens")) or max(count(raw.get(key)) for key in _READ)
    written = max(count(held.get(key)) for held in (details, raw) for key in _WRITTEN)
    prompt = count(raw.get("prompt_tokens")) or count(raw.get("input_tokens"))
    output = count(raw.get("completion_tokens")) or count(raw.get("output_tokens"))
    reasoning = count(beside.get("reasoning_tokens")) or count(raw.get("reasoning_tokens"))
    if not prompt and not output:
        prompt, output = ollama.counts(raw)
    if "predicted_n" in raw:  # llama.cpp
        read, output = count(raw.get("cache_n")), count(raw["predicted_n"])
        prompt = count(raw.get("prompt_n")) + read
    apart = count(raw.get("total_tokens")) - prompt - output
    if apart > 0 and apart == read + written:  # as Anthropic counts: what was cached is no part of the prompt
        prompt += apart
    elif apart > 0 and (reasoning == apart or (prompt and output and not reasoning)):
        reasoning, output = apart, output + apart  # xAI counts it apart, Google in the total alone
    if reasoning and "citation_tokens" in raw:  # Perplexity's research is a step of its own, and in no total
        output += reasoning
    if read + written > prompt:
        prompt += read + written
    given = prompt - read - written
    heard, spoken = (count(each.get("audio_tokens")) for each in (details, beside))
    heard, spoken = min(heard, given), min(spoken, output)
    return Usage(given, read, written, output, reasoning, input_audio=heard, output_audio=spoken, raw=raw)
