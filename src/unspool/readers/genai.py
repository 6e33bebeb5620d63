"""Google's content parts and token counts, as Gemini CLI and the programs made from it keep them.

    {"text"}  {"text", "thought": true}  {"inlineData"}  {"fileData"}  {"functionCall"}  {"functionResponse"}

A content is a string, a part, or a list of both.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from unspool.model.event import Compacted, Content, Notification, SlashCommand, TokenUsage, User
from unspool.readers.log import Log
from unspool.sources.values import count, mapping, placeholder, string, text_of

FAILED = ("error", "cancelled")
"""States of a tool call that ended badly."""
_COMMAND = re.compile(r"/[A-Za-z][\w:.-]*(?=\s|\Z)")
_FILES = "--- Content from referenced files ---"
_INJECTED = (
    "<session_context>",
    "<hook_context>",
    "<qwen:",
    "<system-reminder>",
    "This is the Gemini CLI. We are setting up the context",
    "This is the Qwen Code. We are setting up the context",
    "You are Qwen Code, ",
    "Here is the user's editor context as a JSON object",
    "Here is a summary of changes in the user's editor context",
    "System: Please continue.",
    "System: Potential loop detected.",
    "Background execution update:\n<background_output>",
)
"""How texts begin that the program sends in the person's name."""
_STEERED = re.compile(r"User (?:steering update|hints):\n<user_input>\n(.*?)\n</user_input>", re.DOTALL)
"""What was typed while the model worked; how to take it stands behind."""
_SNAPSHOT, _SCRATCHPAD = "<state_snapshot>", "<scratchpad>"
_RAN = "I ran the following shell command:"
_SHELL_MODE = re.compile(
    _RAN + r"\n```(?:sh)?\n(.*?)\n```\s*This produced the following result:\n```\n(.*?)\n?```\s*\Z", re.DOTALL
)
"""What the model is told of a command that the person ran with `!`."""
_SHELL = "run_shell_command"
_CUT_OFF = ("Command was automatically cancelled because ", "Command timed out after ")
_STOPPED = ("[Operation Cancelled]", "Command was cancelled by user before it could complete.")
_BEHIND = ("Exit Code", "Signal", "Background PIDs", "Process Group PGID")
"""What stands in lines of their own behind the output of a command, in this order."""
_CODE = re.compile(r"\nExit Code: (\d++)(?:\nSignal: [^\n]*+)?(?:\nProcess Group PGID: [^\n]*+)?\s*+\Z")
_TOLD_BOTH = re.compile(r"\nExit Code: (\d+|\(none\))\nSignal: (.*)")
"""Older versions always told both; notices may follow."""


def parts_of(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [] if content is None else [content]


def part_text(part: Any) -> str:
    """A part as text: data by a placeholder, what we do not know as JSON."""
    if not isinstance(part, dict):
        return text_of(part)
    text = part.get("text")
    if isinstance(text, str):
        return text
    for key in ("inlineData", "fileData"):
        if isinstance(data := part.get(key), dict):
            kind = string(data.get("mimeType"))
            medium = (kind or "").partition("/")[0]
            medium = medium if medium in ("image", "audio", "video") else "document"
            if isinstance(uri := data.get("fileUri"), str):
                return f"[{medium}: {uri}]"
            return placeholder(medium, kind, data.get("data"))
    if isinstance(code := part.get("executableCode"), dict):
        return text_of(code.get("code"))
    if isinstance(ran := part.get("codeExecutionResult"), dict):
        return text_of(ran.get("output"))
    return text_of(part)


def outcome(result: Any) -> tuple[str, bool]:
    """What a tool said, and whether it failed."""
    if type(result) is list and len(result) == 1 and type(part := result[0]) is dict:
        answer = part.get("functionResponse")
        if type(answer) is dict and "parts" not in answer and type(response := answer.get("response")) is dict:
            output = response.get("output")
            if type(output) is str and len(response) == 1:  # nearly all are like this
                return output, reports_failure(output, answer.get("name"))
    return output_text(result), is_failure(result)


def output_text(result: Any) -> str:
    """A tool's result as text: parts, of which the function responses hold what the tool said."""
    if isinstance(result, str):
        return result
    return "\n".join([_response_text(part) for part in parts_of(result)])


def _response_text(part: Any) -> str:
    answer = part.get("functionResponse") if isinstance(part, dict) else None
    if not isinstance(answer, dict):
        return part_text(part)
    response = answer.get("response")
    said = text_of(response)
    if isinstance(response, dict):
        for key in ("output", "error", "content", "result"):
            if key in response and (len(response) == 1 or isinstance(response[key], str)):
                said = output_text(response[key]) if key == "content" else text_of(response[key])
                break
    shown = [part_text(shown) for shown in parts_of(answer.get("parts"))]
    return "\n".join([said, *shown])


def own_parts(result: list[Any], call_id: str | None) -> list[Any]:
    """Of the results of several calls, those of this one: in a history that was changed, each call holds them all."""
    answers = [mapping(mapping(part).get("functionResponse")) for part in result]
    if sum(map(bool, answers)) < 2:
        return result
    own: list[Any] = []
    mine = False
    for part, answer in zip(result, answers, strict=True):
        mine = answer.get("id") == call_id if answer else mine
        if mine:
            own.append(part)
    return own or result


def identified(contents: list[Any]) -> list[Any]:
    """A history in which each call has the id of its result. Calls mostly lack theirs; results come in their order."""
    out: list[Any] = []
    waiting: list[tuple[dict[str, Any], str]] = []
    for number, content in enumerate(contents):
        parts = mapping(content).get("parts")
        if not isinstance(parts, list):
            out.append(content)
            continue
        if content.get("role") == "model":
            waiting = []
        told: list[Any] = []
        for at, part in enumerate(parts):
            match part:
                case {"functionCall": dict(call)} if not call.get("id"):
                    waiting.append((call := {**call}, f"{number}.{at}"))
                    told.append({**part, "functionCall": call})
                case {"functionResponse": dict(answer)}:
                    told.append({**part, "functionResponse": _joined(answer, waiting)})
                case _:
                    told.append(part)
        out.append({**content, "parts": told})
    return out


def _joined(answer: dict[str, Any], waiting: list[tuple[dict[str, Any], str]]) -> dict[str, Any]:
    """The result, and with it the first call of its name that waits for one, under the same id."""
    for one in waiting:
        call, key = one
        if call.get("name") == answer.get("name"):
            waiting.remove(one)
            call["id"] = answer.get("id") or key
            return {**answer, "id": call["id"]}
    return answer


def is_failure(result: Any) -> bool:
    """Whether a function response says that the tool failed."""
    for part in parts_of(result):
        if isinstance(part, dict) and isinstance(answer := part.get("functionResponse"), dict):
            response = mapping(answer.get("response"))
            if response.get("error") and "output" not in response:
                return True
            if reports_failure(text_of(response.get("output")), answer.get("name")):
                return True
    return False


def was_stopped(output: str) -> bool:
    """Whether the person stopped the call, or did not allow it."""
    return output.startswith(_STOPPED)


def reports_failure(output: str, tool: str | None) -> bool:
    """Return whether a tool's output says that it failed."""
    return tool == _SHELL and _went_wrong(output)


def _went_wrong(output: str) -> bool:
    """The shell tool succeeds whatever the command does; how that ended stands behind what it wrote."""
    if output.startswith("Command ") and output.startswith(_CUT_OFF + _STOPPED):
        return True
    at = output.rfind("\nExit Code: ")
    if at >= 0 and (plainly := _CODE.match(output, at)):  # nearly all are like this
        return plainly[1] != "0"
    if at < 0 and "\nSignal: " not in output:
        return False
    ended: dict[str, str] = {}
    for line in reversed(output.removesuffix("\n</untrusted_context>").rstrip().rsplit("\n", len(_BEHIND))[1:]):
        key, _, value = line.partition(": ")
        if key not in _BEHIND or key in ended:
            break
        ended[key] = value
    if not ended and (told := _TOLD_BOTH.search(output)):
        ended = {"Exit Code": told[1], "Signal": told[2]}
    code = ended.get("Exit Code", "(none)")
    return code != "0" if code.isdecimal() else ended.get("Signal", "(none)") not in ("(none)", "0")


def is_snapshot(text: str) -> bool:
    """Whether it is what a compression left of a history; the model may have thought aloud before it."""
    begin = text.lstrip()
    return begin.startswith(_SNAPSHOT) or (begin.startswith(_SCRATCHPAD) and _SNAPSHOT in begin)


def typed(text: str) -> Content:
    """What a text in the person's name is: a command, words, or something that nobody typed."""
    begin = text.lstrip() if text[:1].isspace() else text
    if begin.startswith("/") and (command := _COMMAND.match(begin)):
        return SlashCommand(command[0], begin[command.end() :].strip() or None)
    if begin.startswith(_INJECTED):
        return Notification(text, "context")
    if begin[:1] == "<" and is_snapshot(begin):
        return Compacted(text)
    if begin.startswith("User ") and (steered := _STEERED.match(begin)):
        return User(steered[1])
    return User(text)


def first_kept(log: Log, history: Iterable[list[Any]]) -> str | None:
    """The id of the first prompt that a compressed history still has, by the words in its parts."""
    words = [said.text for parts in history for said in prompt(parts) if isinstance(said, User)]
    return next(iter(log.prompts_of(words)), None)


def prompt(parts: list[Any]) -> Iterator[Content]:
    """What a message in the person's name holds. Files that were named by an @ stand behind the words."""
    words: list[str] = []
    context: list[str] = []
    behind_them: list[Content] = []
    alone: Content | None = None
    """What the words are, as long as there is one text of them."""
    into = words
    for part in parts:
        if isinstance(part, dict) and "functionResponse" in part:
            continue
        text = part_text(part)
        if into is words and _FILES in text:
            before, marker, behind = text.partition(_FILES)
            text, into, alone = marker + behind, context, None
            if before.strip():
                words.append(before.rstrip("\n"))
        elif into is words:
            content = typed(text)
            if isinstance(content, Notification):
                if words:
                    behind_them.append(content)
                else:
                    yield content
                continue
            alone = None if words else content
        if text:
            into.append(text)
    if words:
        text = "\n".join(words)
        if text.startswith(_RAN) and (ran := _SHELL_MODE.match(text)):
            yield User(f"! {ran[1]}")
            behind_them.append(Notification(ran[2], "info"))
        else:
            yield alone or typed(text)
    if context:
        yield Notification("\n".join(context).strip("\n"), "context")
    yield from behind_them


def usage_of(
    model: str | None, counts: tuple[Any, Any, Any, Any, Any, Any], response_id: str | None = None
) -> TokenUsage | None:
    """Tokens of one call from (prompt, cached, candidates, thoughts, tool, total); None if there are none.

    The prompt holds what was cached. Google counts thoughts beside the candidates and the prompts of tools beside the
    prompt; OpenAI, whose numbers stand here too, counts thoughts as candidates. The total tells which it was.
    """
    asked, cached, output, thoughts, tool, total = map(count, counts)
    return usage_from(model, asked, cached, output, thoughts, tool, total, response_id)


def usage_from(
    model: str | None,
    asked: int,
    cached: int,
    output: int,
    thoughts: int,
    tool: int,
    total: int,
    response_id: str | None = None,
) -> TokenUsage | None:
    """The same, of what are numbers already."""
    if not (asked or output or thoughts):
        return None
    if tool and total == asked + output + thoughts + tool:
        asked += tool
    elif thoughts and total == asked + output + tool:
        output, asked = output - thoughts, asked + tool
    elif thoughts and total == asked + output:
        output -= thoughts
    cached, output = min(cached, asked), output + thoughts if output > 0 else thoughts
    return TokenUsage(model, asked - cached, cached, 0, output, thoughts, response_id)


def more_of(usage: TokenUsage, told: TokenUsage | None) -> TokenUsage | None:
    """What is not yet told of the tokens of a call."""
    if told is None:
        return usage
    more = TokenUsage(
        usage.model,
        max(0, usage.input - told.input),
        max(0, usage.cache_read - told.cache_read),
        0,
        max(0, usage.output - told.output),
        max(0, usage.reasoning - told.reasoning),
        usage.response_id,
    )
    return more if sum_of(more) else None


def sum_of(usage: TokenUsage) -> int:
    return usage.input + usage.cache_read + usage.output
