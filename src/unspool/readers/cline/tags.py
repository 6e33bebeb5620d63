"""Tags in texts: how Cline's models call tools where they have no other way, and how a prompt is put together.

<read_file>                             a call
<path>src/main.py</path>
</read_file>

<task>…</task>  <feedback>…</feedback>  what a person typed
<environment_details>…                  what the model was shown beside it
[read_file for 'src/main.py'] Result:   what came of a call
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.values import mapping, string

TOOLS = frozenset(
    "read_file write_to_file replace_in_file apply_diff apply_patch insert_content search_and_replace search_replace "
    "edit_file edit search_files list_files list_code_definition_names execute_command read_command_output "
    "browser_action use_mcp_tool access_mcp_resource load_mcp_documentation ask_followup_question attempt_completion "
    "plan_mode_respond plan_mode_response act_mode_respond switch_mode new_task condense summarize_task new_rule "
    "report_bug web_fetch web_search fetch_instructions codebase_search update_todo_list focus_chain "
    "run_slash_command generate_image generate_explanation use_skill skill use_subagents search_subagent "
    "delete_file inspect_site".split()
)
_OPENING = re.compile(r"<(thinking|" + "|".join(sorted(TOOLS, key=len, reverse=True)) + ")>")
_PARAMETER, _TAG = re.compile(r"<([a-z_][\w-]*+)>"), re.compile(r"<(/?)([a-z_][\w-]*+)>")
_FREE = frozenset(("content", "diff", "result", "arguments", "patch", "response", "context", "input"))
"""Parameters whose text may hold anything, even what closes them: they end where it comes last."""
_TYPED = re.compile(r"^<(task|feedback|user_message|answer|user_input)(?: [^>\n]*)?>", re.MULTILINE)
_CLOSINGS = ("</task>", "</feedback>", "</user_message>", "</answer>", "</user_input>")
_ATTACHED = ("Files attached by the user", "<file_content", "<final_file_content", "<url_content", "<folder_content")
"""What the user pointed at: it may hold any tag."""
_NOTICE = re.compile(r"<mode_notice[^<>]*>(?:(?!<mode_notice).)*?</mode_notice>\s*", re.DOTALL)
_COMMAND = '<user_command slash="'
_DETAILS = re.compile(r"(?<!\s)\s*<environment_details>.*?(?:</environment_details>|\Z)\s*", re.DOTALL)
RESULT = re.compile(r"\[(\w+)(?:[ :][^\n]*| for '(?:(?!'\] Result:)[\s\S])*')?\] Result:[ \t]*\n?")
"""`[tool for 'what it was given'] Result:`. A question to the person is quoted whole, and may have many lines."""
_FOLDER = re.compile(r"# Current Work(?:ing|space) Directory \(([^)\n]{0,1024})\)")
_MODEL = re.compile(r"<model>([^<\n]*)</model>")


class Call(Struct, frozen=True):
    name: str
    arguments: dict[str, Any]


class Thought(Struct, frozen=True):
    text: str


class Prompt(Struct, frozen=True):
    typed: tuple[str, ...]
    shown: tuple[str, ...]


def answer_parts(text: str) -> Iterator[str | Call | Thought]:
    """What a model said, thought and called, in its order."""
    at = 0
    if "<" in text:
        tags = _Tags(text)
        while opening := _OPENING.search(text, at):
            name = opening[1]
            end, behind = tags.closed(name, opening.end(), free=False)
            if before := text[at : opening.start()].strip():
                yield before
            inside = text[opening.end() : end]
            yield Thought(inside.strip()) if name == "thinking" else Call(name, _parameters(inside))
            at = behind
    if rest := text[at:].strip():
        yield rest


def is_put_together(text: str) -> bool:
    """Whether a program wrote the message around what was typed: then all that a person said in it is in tags."""
    return "<environment_details>" in text or text.startswith("[TASK RESUMPTION]") or bool(typed_in(text))


def prompt_parts(text: str, bare: bool) -> Prompt:
    """What was typed and what was shown. `bare`: what is in no tag was typed, unless it looks like a program's."""
    shown: list[str] = []
    if "<environment_details>" in text:
        shown = [details.strip() for details in _DETAILS.findall(text)]
        text = _DETAILS.sub("\n", text).strip()
    typed = typed_in(text)
    if typed:
        rest = "" if text.startswith("{") else _without_typed(text)
        return Prompt(typed, (rest, *shown) if rest else tuple(shown))
    if not text.strip():
        return Prompt((), tuple(shown))
    if _COMMAND in text:
        return Prompt((_NOTICE.sub("", text).strip(),), tuple(shown))
    if not bare or text.lstrip().startswith(("<", "[", "# ", '{"status":')):
        return Prompt((), (text.strip(), *shown))
    return Prompt((text,), tuple(shown))


def command_in(text: str) -> tuple[str, str, str] | None:
    """Of a prompt with a command in it: the command, what the program made of it, and what was typed around it."""
    before, opening, text = text.partition(_COMMAND)
    name, _, text = text.partition('">')
    inside, closing, behind = text.partition("</user_command>")
    around = " ".join(filter(None, (before.strip(), behind.strip())))
    return (name, inside, around) if opening and closing else None


def typed_in(text: str) -> tuple[str, ...]:
    """What a person said in a block of a prompt."""
    if text.startswith(_ATTACHED):
        return ()
    return _feedback(text) or tuple(filter(None, (inside for _, _, inside in _tagged(text))))


def replied_in(output: str) -> tuple[str, ...]:
    """What a person said with a result. Files may hold such tags too: one of ours begins it, or the user is named."""
    return _feedback(output) or tuple(
        inside
        for start, _, inside in _tagged(output)
        if inside and (not start or "he user" in _line_before(output, start))
    )


def _line_before(text: str, at: int) -> str:
    while at and text[at - 1] == "\n":
        at -= 1
    return text[text.rfind("\n", 0, at) + 1 : at]


def _feedback(text: str) -> tuple[str, ...]:
    """As Roo writes it now: `{"status": "denied", "feedback": …}`, and behind it what the tool gave."""
    if not text.startswith('{"status":"'):
        return ()
    return tuple(filter(None, (string(object_in(text.partition("\n\n")[0]).get("feedback")),)))


def _tagged(text: str) -> Iterator[tuple[int, int, str]]:
    """Where such tags begin and end, and what is in them."""
    at = 0 if any(mark in text for mark in _CLOSINGS) else len(text)
    tags = _Tags(text)
    while opening := _TYPED.search(text, at):
        end, at = tags.closed(opening[1], opening.end(), free=False)
        yield opening.start(), at, _NOTICE.sub("", text[opening.end() : end]).strip()


def _without_typed(text: str) -> str:
    kept, at = [], 0
    for start, end, _ in _tagged(text):
        kept.append(text[at:start])
        at = end
    return "".join((*kept, text[at:])).strip()


def object_in(text: Any) -> dict[str, Any]:
    """The object that a text is, if it is one."""
    if not isinstance(text, str) or not text.startswith("{"):
        return {}
    try:
        return mapping(loads(text))
    except Unreadable:
        return {}


def folder_in(details: str) -> str | None:
    found = _FOLDER.search(details)
    return found[1] if found else None


def model_in(details: str) -> str | None:
    found = _MODEL.search(details)
    return found[1] if found else None


class _Tags:
    """Where the tags of a text stand, by name: looked for once, however many there are."""

    def __init__(self, text: str) -> None:
        self._end = len(text)
        self._openings: dict[str, list[int]] = {}
        self._closings: dict[str, list[int]] = {}
        for tag in _TAG.finditer(text):
            (self._closings if tag[1] else self._openings).setdefault(tag[2], []).append(tag.start())

    def closed(self, name: str, start: int, free: bool) -> tuple[int, int]:
        """Where the inside of a tag ends and where the tag does; one that nobody closed goes on to the end.

        It is the last closing that counts, unless such a tag is opened again.
        """
        openings, closings = self._openings.get(name, []), self._closings.get(name, [])
        at = bisect_left(closings, start)
        if at == len(closings):
            return self._end, self._end
        again = bisect_left(openings, start) < len(openings)
        end = closings[-1 if free or not again else at]
        return end, end + len(name) + 3


def _parameters(text: str) -> dict[str, Any]:
    """The parameters of a call. One that comes several times is a list; tags inside of one are its own affair."""
    found: dict[str, Any] = {}
    tags, at = _Tags(text), 0
    while opening := _PARAMETER.search(text, at):
        name = opening[1]
        end, at = tags.closed(name, opening.end(), free=name in _FREE)
        inside = text[opening.end() : end]
        value = inside.removeprefix("\n").removesuffix("\n") if name in _FREE else inside.strip()
        if name in found:
            before = found[name]
            found[name] = [*before, value] if isinstance(before, list) else [before, value]
        else:
            found[name] = value
    return found
