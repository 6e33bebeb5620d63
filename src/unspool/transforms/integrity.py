"""What is wrong with a finished record, rule by rule. A finding never stops anything.

Messages are those of OpenAI's chat API; tools are flat: `{"name": …, "description": …, "parameters": {…}}`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from unspool.transforms.findings import Finding, error, fact, warning
from unspool.transforms.results import check_results

Messages = Sequence[dict[str, Any]]
_DEFINED = {"name", "description", "parameters"}
_CUT = "context limit was reached"
CALL, CALL_END, RESULT, RESULT_END = "<tool_call>", "</tool_call>", "<tool_result", "</tool_result>"


def left_out(kept: int, entries: int, answered: bool, choices: int) -> Iterator[Finding]:
    """What a record does not hold that ends with the fullest entry of a session."""
    if kept < entries:
        text = f"cut off behind entry {kept}, which has the most messages: {entries - kept} of {entries}"
        yield warning("truncated", text)
    if not answered:
        yield warning("no-answer", "the last entry has no answer: the record ends with what was asked")
    if choices > 1:
        yield warning("choices", f"the last answer has {choices} choices; the first is kept")


def tools_changed(names: Iterable[str]) -> Iterator[Finding]:
    for name in sorted(names):
        yield warning("tool-changed", f"tool {name}: defined anew in the session; the first is kept")


def check(
    messages: Messages, tools: Sequence[Any], inlined: Messages | None = None, logged: bool = False
) -> Iterator[Finding]:
    """All findings. `inlined` are the messages as they are written, where calls were put into the text.

    `logged`: they came of an agent's log. Such logs keep what was called, hardly ever what could have been.
    """
    if not messages:
        yield error("no-messages", "the record has no messages")
        return
    if not tools:
        yield _no_tools(messages, logged)
    hosted = sum(map(_is_hosted, tools))
    if hosted:
        yield fact("hosted-tool", "a tool of the provider's own, which has no schema", hosted)
    described = [(number, tool) for number, tool in enumerate(tools, 1) if not _is_hosted(tool)]
    for number, tool in described:
        yield from _tool(tool, number)
    if odd := [_name(tool, number) for number, tool in described if isinstance(tool, dict) and _odd(tool)]:
        yield warning("tool-keys", f"tools with other keys than name, description and parameters: {', '.join(odd)}")
    yield from _native(messages) if inlined is None else _inline(inlined)
    for number, message in enumerate(messages, 1):
        called = message.get("function_call") if message.get("role") == "assistant" else None
        if isinstance(called, dict) and called.get("name"):
            yield error("function-call", f"message {number} calls by the old field function_call")
        if _CUT in text_of(message.get("content")):
            yield warning("context-limit", f"message {number} says that the context limit was reached")
    yield from check_results(messages)


def _no_tools(messages: Messages, logged: bool) -> Finding:
    if logged:
        return fact("no-tools", "the record has no tools: agents' logs keep no definitions of them")
    if any(message.get("role") == "assistant" and message.get("tool_calls") for message in messages):
        return error("no-tools", "the record has no tools, but calls some")
    return fact("no-tools", "the record has no tools, and calls none")


def _is_hosted(tool: Any) -> bool:
    """Whether the provider runs the tool: `{"type": "web_search"}`. It is described by its type alone."""
    if not isinstance(tool, dict) or "parameters" in tool:
        return False
    kind = tool.get("type")
    return isinstance(kind, str) and kind not in ("function", "custom", "object")


def text_of(content: Any) -> str:
    """The text of a message: a string, or the text parts of a list, joined."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part if isinstance(part, str) else part.get("text") for part in content if isinstance(part, str | dict))
    return "".join(part for part in parts if isinstance(part, str))


def _name(tool: dict[str, Any], number: int) -> str:
    name = tool.get("name")
    return name if isinstance(name, str) and name else f"number {number}"


def _odd(tool: dict[str, Any]) -> bool:
    return not _DEFINED.issuperset(tool)


def _tool(tool: Any, number: int) -> Iterator[Finding]:
    if not isinstance(tool, dict):
        yield error("tool-definition", f"tool number {number} is no object")
        return
    name = _name(tool, number)
    parameters = tool.get("parameters")
    if not isinstance(parameters, dict):
        yield error("tool-parameters", f"tool {name}: `parameters` is no object")
        return
    if parameters.get("type") != "object":
        yield error("tool-parameters", f"tool {name}: the type of `parameters` is not `object`")
    properties = parameters.get("properties")
    if not isinstance(properties, dict):
        yield error("tool-parameters", f"tool {name}: `parameters.properties` is no object")
    elif bare := [key for key, schema in properties.items() if _is_bare_array(schema)]:
        yield warning("tool-array", f"tool {name}: arrays without `items`: {', '.join(bare)}")
    if not isinstance(parameters.get("required", []), list):
        yield error("tool-parameters", f"tool {name}: `parameters.required` is no list")


def _is_bare_array(schema: Any) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "array" and "items" not in schema


def _native(messages: Messages) -> Iterator[Finding]:
    for number, message in enumerate(messages, 1):
        if message.get("role") != "assistant" or message.get("tool_calls") is None:
            continue
        calls = message["tool_calls"]
        if not isinstance(calls, list):
            yield error("tool-calls", f"message {number}: `tool_calls` is no list")
            continue
        for place, call in enumerate(calls, 1):
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict):
                yield error("tool-calls", f"message {number}: call {place} has no function")
            elif not isinstance(function.get("name"), str) or not function["name"]:
                yield error("tool-calls", f"message {number}: call {place} names no function")


def _inline(messages: Messages) -> Iterator[Finding]:
    for number, message in enumerate(messages, 1):
        text = text_of(message.get("content"))
        if message.get("role") == "assistant":
            if text.count(CALL) != text.count(CALL_END):
                yield error("tags", f"message {number}: as many {CALL} as {CALL_END} are needed")
            if message.get("tool_calls"):
                yield error("tags", f"message {number}: `tool_calls` is still there")
        elif message.get("role") == "tool" and not (text.startswith(RESULT) and text.endswith(RESULT_END)):
            yield error("tags", f"message {number}: a result that stands in no {RESULT}>")
