"""Tool calls and results as tagged text, and back: for trainers that know text only.

An assistant's calls are appended to its text, one a line, and a result is wrapped:

    <tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>
    <tool_result tool_call_id="c1">…</tool_result>

JSON has a space after `:` and `,` and keeps letters beyond ASCII; argument texts become values. What stands beside
content, calls and id stays as it is. Messages without calls, results without an id, and the older `function_call` and
role `function` are left alone.

Nothing that a model said may be lost or become unreadable. So, unlike albicilla's converter, from which the form comes:

- a call that has no function with a name is written whole, without its id, rather than left out;
- arguments that JSON cannot hold as a value (`NaN`, a number too large) or that would lose by it (a key twice) stay the
  text that they were, as those that are no JSON do;
- images and other parts beside text stay: the content is then a list, its text first;
- `<` of our tags in an assistant's or a tool's own text is written `&lt;`, in JSON `\\u003c`; in an id `&`, `"`, `<`
  and `>` are escaped as in HTML. A text that says `&lt;tool_call>` itself becomes `&amp;lt;tool_call>`, and so on.

What does not survive: ids of calls that have no result (results tell the others, in their order), in which order
results of one answer came (they stand as their calls do), fields of a call beside name and arguments, blanks around an
assistant's text, the places of images between texts. `normal` takes exactly these away, and
`parse(inline(messages)) == normal(messages)`.
"""

import html
import json
import math
import re
from collections.abc import Iterator
from typing import Any

from unspool.transforms.ordering import as_called

_TAG = r"(?:/?tool_call>|tool_result|/tool_result>)"
_TAGS = re.compile(rf"<(?={_TAG})")
_TO_ESCAPE = re.compile(rf"<(?={_TAG})|&(?=(?:amp;)*lt;{_TAG})")
_ESCAPED = re.compile(rf"&lt;(?={_TAG})|&amp;(?=(?:amp;)*lt;{_TAG})")
_LONE = re.compile("[\ud800-\udfff]")
_CALLS = re.compile(r"<tool_call>(.*?)</tool_call>(?:\n(?=<tool_call>)|\Z)", re.DOTALL)
_RESULT = re.compile(r'<tool_result tool_call_id="([^"<>]*)">(.*)</tool_result>', re.DOTALL)


def inline(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [_written(message) for message in _in_order(messages)]


def parse(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What `inline` made, undone. Text that it cannot have made is left as it is."""
    return _numbered([_read(message) for message in messages])


def normal(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Messages without what tagged text cannot tell: arguments as values, calls with the ids of their results."""
    return _numbered([_normal(message) for message in _in_order(messages)])


def _in_order(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return as_called(messages, _call_ids, _answers)


def _call_ids(message: dict[str, Any]) -> Iterator[str | None]:
    for call in _calls(message):
        name = call.get("id") if isinstance(call, dict) else None
        yield name if isinstance(name, str) else None


def _answers(message: dict[str, Any]) -> str | None:
    return (_result_id(message) or "") if message.get("role") == "tool" else None


def _written(message: dict[str, Any]) -> dict[str, Any]:
    if calls := _calls(message):
        text, others = _split(message.get("content"))
        lines = [_escape(text), *(f"<tool_call>{_json(_told(call))}</tool_call>" for call in calls)]
        told = {name: value for name, value in message.items() if name != "tool_calls"}
        return told | {"content": _content("\n".join(lines).strip(), others)}
    if result := _result_id(message):
        text, others = _split(message.get("content"))
        wrapped = f'<tool_result tool_call_id="{html.escape(result)}">{_escape(text)}</tool_result>'
        told = {name: value for name, value in message.items() if name != "tool_call_id"}
        return told | {"content": _content(wrapped, others)}
    return _with_texts(message, _escape)


def _read(message: dict[str, Any]) -> dict[str, Any]:
    text, others = _first_text(message.get("content"))
    if message.get("role") == "assistant" and (calls := _read_calls(text)) is not None:
        said = _unescape(text[: text.index("<tool_call>")]).strip()
        return {**message, "content": _content(said, others) or None, "tool_calls": calls}
    if message.get("role") == "tool" and (result := _RESULT.fullmatch(text)):
        content = _content(_unescape(result[2]), others)
        return {**message, "content": content, "tool_call_id": html.unescape(result[1])}
    return _with_texts(message, _unescape)


def _normal(message: dict[str, Any]) -> dict[str, Any]:
    if calls := _calls(message):
        text, others = _split(message.get("content"))
        told = [_call(_told(call)) for call in calls]
        return {**message, "content": _content(text.strip(), others) or None, "tool_calls": told}
    if _result_id(message):
        return {**message, "content": _content(*_split(message.get("content")))}
    return message


def _numbered(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each call with the id of the result that answers it: the first call's is the first that follows, and so on."""
    ids: list[str] = []
    numbered = []
    for message in reversed(messages):
        if message.get("role") == "tool":
            ids[:0] = [result] if (result := _result_id(message)) else []
        else:
            if calls := _calls(message):
                known = [*ids, *[None] * len(calls)]
                told = [_with_id(call, known[place]) for place, call in enumerate(calls)]
                message = {**message, "tool_calls": told}  # noqa: PLW2901
            ids = []
        numbered.append(message)
    numbered.reverse()
    return numbered


def _calls(message: dict[str, Any]) -> list[Any]:
    calls = message.get("tool_calls")
    return calls if message.get("role") == "assistant" and isinstance(calls, list) else []


def _result_id(message: dict[str, Any]) -> str | None:
    result = message.get("tool_call_id")
    return result if message.get("role") == "tool" and isinstance(result, str) else None


def _told(call: Any) -> Any:
    """What is written of a call: name and arguments; or all of it, if it is no call of a function."""
    match call:
        case {"function": {"name": str(name), **function}}:
            return {"name": name, "arguments": _value(function.get("arguments"))}
        case {"name": str(name), "arguments": arguments} if call.keys() <= {"id", "type", "name", "arguments"}:
            return {"name": name, "arguments": _value(arguments)}
        case dict():
            return _value({name: value for name, value in call.items() if name != "id"})
    return _value(call)


def _call(told: Any) -> Any:
    match told:
        case {"name": str(name), "arguments": arguments} if len(told) == 2:
            return {"id": None, "type": "function", "function": {"name": name, "arguments": arguments}}
    return told


def _with_id(call: Any, result: str | None) -> Any:
    return {**call, "id": result} if isinstance(call, dict) else call


def _read_calls(text: str) -> list[Any] | None:
    """The calls at the end of a text; None if there are none, or anything that is not ours."""
    place = text.find("<tool_call>")
    calls: list[Any] = []
    while 0 <= place < len(text):
        block = _CALLS.match(text, place)
        if block is None:
            return None
        try:
            calls.append(_call(json.loads(block[1])))
        except (ValueError, RecursionError):
            return None
        place = block.end()
    return calls or None


def _value(arguments: Any) -> Any:
    """What an argument text says, or the text itself where JSON could not say the same."""
    try:
        value = json.loads(arguments, object_pairs_hook=_object) if isinstance(arguments, str) else arguments
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return arguments if isinstance(arguments, str) else _finite(arguments)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(made := dict(pairs)) < len(pairs):
        raise ValueError("a key twice")
    return made


def _finite(value: Any) -> Any:
    """A value as it is, but for numbers that JSON does not have: they become text."""
    match value:
        case float() if not math.isfinite(value):
            return str(value)
        case dict():
            return {name: _finite(inner) for name, inner in value.items()}
        case list():
            return [_finite(inner) for inner in value]
    return value


def _json(value: Any) -> str:
    text = _TAGS.sub(r"\\u003c", json.dumps(value, ensure_ascii=False))
    return _LONE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)  # half a character cannot be written as UTF-8


def _escape(text: str) -> str:
    return _TO_ESCAPE.sub(lambda mark: "&lt;" if mark[0] == "<" else "&amp;", text) if "tool_" in text else text


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda mark: "<" if mark[0] == "&lt;" else "&", text) if "tool_" in text else text


def _split(content: Any) -> tuple[str, list[Any]]:
    """A content's text, joined, and its other parts."""
    match content:
        case None:
            return "", []
        case str():
            return content, []
        case list():
            texts = [_text(part) for part in content]
            others = [part for part, text in zip(content, texts, strict=True) if text is None]
            return "".join(text for text in texts if text is not None), others
    return json.dumps(content, ensure_ascii=False), []


def _content(text: str, others: list[Any]) -> Any:
    if not others:
        return text
    return [{"type": "text", "text": text}, *others] if text else others


def _first_text(content: Any) -> tuple[str, list[Any]]:
    match content:
        case str():
            return content, []
        case [{"type": "text", "text": str(text)}, *others]:
            return text, others
    return "", []


def _text(part: Any) -> str | None:
    match part:
        case str():
            return part
        case {"type": "text", "text": str(text)}:
            return text
    return None


def _with_texts(message: dict[str, Any], change: Any) -> dict[str, Any]:
    """The message with its own text changed, if it may hold calls or results; itself if there is nothing to change."""
    content = message.get("content")
    if message.get("role") not in ("assistant", "tool") or not content:
        return message
    if isinstance(content, str):
        changed: Any = change(content)
    elif isinstance(content, list):
        changed = [_with_text(part, change) for part in content]
    else:
        return message
    return message if changed == content else {**message, "content": changed}


def _with_text(part: Any, change: Any) -> Any:
    match part:
        case str():
            return change(part)
        case {"type": "text", "text": str(text)}:
            return {**part, "text": change(text)}
    return part
