"""Items of the conversation: `response_item` lines, and the bare lines of logs before September 2025."""

from collections.abc import Callable
from typing import Any, ClassVar

from unspool.model.event import AgentMessage, Compacted, Notification, Said, ToolOutput, User
from unspool.readers.codex.envelopes import answered, opened, was_typed
from unspool.readers.codex.outbox import marked
from unspool.readers.codex.outputs import output_of
from unspool.readers.codex.texts import (
    DELEGATED,
    content_text,
    folder_in,
    letter_in,
    lines_of,
    part_text,
    told,
    typed_text,
    visible,
    words_of,
)
from unspool.readers.codex.thread import Thread
from unspool.sources.jsontext import Unreadable, dumps, strict
from unspool.sources.values import mapping, placeholder, string, text_of

_PASSED_OVER = frozenset(("ghost_snapshot", "additional_tools", "configuration_update", "compaction_trigger", "other"))
"""Snapshots of the work tree, and what the program and the model agree on between them."""
_COMPACTIONS = frozenset(("compaction", "compaction_summary", "context_compaction"))
_SHOWN_ANEW = ("user", "developer", "system")
"""Whose messages may stand between records of one compaction: the model is shown its surroundings again."""
_ANSWERS = frozenset(
    ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output")
)

_ITSELF = "agent"
"""The namespace of outputs that no call asked for: what the program tells the model of its own task."""


class Items:
    """Items → events."""

    def __init__(self, thread: Thread) -> None:
        self._thread = thread
        self._outbox = thread.outbox
        self._log = thread.log

    def read(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind.__class__ is not str:
            kind = string(kind)
        if self._outbox.queue and kind not in _ANSWERS:
            self._outbox.go_on()
        if self._thread.just_compacted and kind not in _COMPACTIONS:
            self._thread.just_compacted = item.get("role") in _SHOWN_ANEW
        if (handler := self._HANDLERS.get(kind)) is not None:
            handler(self, item)
        elif kind is None and "role" in item:
            self._message(item)
        elif kind not in _PASSED_OVER:
            self._log.note("unknown", f"item type {kind!r}")

    def _message(self, item: dict[str, Any]) -> None:
        content = item.get("content")
        if not content and "encrypted_content" in item:
            content = [{"type": "encrypted_content", "encrypted_content": item["encrypted_content"]}]
        if "timestamp" in item:
            self._log.at(item["timestamp"])
        match item.get("role"):
            case "assistant":
                self._said(content)
            case "user":
                self._asked(content, item)
            case "developer" | "system":
                self._outbox.say(Notification(content_text(content), "system"))
            case role:
                self._log.note("odd", f"a message of the role {role!r}")
                self._outbox.say(Notification(content_text(content), "context"))

    def _asked(self, content: Any, item: dict[str, Any]) -> None:
        kinds = mapping(item.get("internal_chat_message_metadata_passthrough")).get("content_item_kinds")
        contents = list(told(content, kinds))
        words = typed_text(content, kinds)
        if self._thread.just_compacted:
            self._thread.just_compacted = not any(isinstance(shown, User) for shown in contents)
        is_passed_on = self._thread.hears and words.startswith(DELEGATED)
        if is_passed_on or (self._thread.taken_over and not was_typed(words)):
            contents = [Notification(words, "context")]
        self._outbox.tell(contents, (("u", words),) if words else ())
        for part, shown in enumerate(contents):
            if isinstance(shown, Notification):
                self._thread.shown[hash(shown.text)] = self._outbox.key(str(part))
        facts = self._log.facts
        if facts.project is None:
            for shown in contents:
                if isinstance(shown, Notification) and "<environment_context>" in shown.text:
                    facts.project = folder_in(shown.text)

    def _said(self, content: Any) -> None:
        """What the model said; in some versions also what another agent told it, as JSON or as a letter."""
        self._thread.has_spoken = True
        if self._thread.taken_over:
            whole = content_text(content)
            self._outbox.tell(answered(whole), (("a", visible(whole)),))
            return
        if content.__class__ is list and len(content) == 1 and content[0].__class__ is dict:
            text = content[0].get("text")
            if text.__class__ is str and text and text[0] not in "{<M":  # nearly always
                self._outbox.tell((Said(text),), (("a", visible(text)),))
                return
        text = content_text(content)
        if text.startswith('{"author"'):
            try:
                letter = mapping(strict(text))
            except Unreadable:
                letter = {}
            if "recipient" in letter:
                self.agent_message(letter)
                return
        if (told_by_another := letter_in(text)) is not None:
            self._outbox.say(told_by_another)
            return
        self._outbox.tell([Said(text)], marked("a", [visible(words) for words in words_of(content)]))

    def _reasoning(self, item: dict[str, Any]) -> None:
        summary, content = item.get("summary"), item.get("content")
        texts = lines_of(summary) if summary else []
        self._outbox.think(texts if texts or not content else lines_of(content))

    def _function(self, item: dict[str, Any]) -> None:
        name, call = item.get("name"), item.get("call_id")
        if name.__class__ is not str or call.__class__ is not str or "namespace" in item or "." in name:
            name, call = named(item), _call(item)
        self._thread.called(name, item.get("arguments"), call)

    def _custom(self, item: dict[str, Any]) -> None:
        self._thread.called(named(item), item.get("input"), _call(item))

    def _shell(self, item: dict[str, Any]) -> None:
        action = said_in(mapping(item.get("action")))
        action.pop("type", None)
        self._thread.called("local_shell", action, _call(item))

    def _search(self, item: dict[str, Any]) -> None:
        """A search on the provider's side: no output follows."""
        call, action = _call(item), mapping(item.get("action"))
        if (call is None or call not in self._thread.calls) and self._outbox.is_first(mark := ("w", dumps(action)), 1):
            self._thread.called("web_search", said_in(action), call)
            self._thread.searches[mark] = call

    def _tool_search(self, item: dict[str, Any]) -> None:
        self._thread.called("tool_search", item.get("arguments"), _call(item))

    def _found_tools(self, item: dict[str, Any]) -> None:
        self._outbox.say(ToolOutput(_call(item), dumps(item.get("tools")), item.get("status") == "failed"))

    def _image(self, item: dict[str, Any]) -> None:
        self.pictured(item, 1)

    def pictured(self, item: dict[str, Any], side: int) -> None:
        call = _call(item)
        if self._outbox.is_first(("i", text_of(item.get("revised_prompt"))), side):
            self._thread.called("image_generation", {"prompt": item.get("revised_prompt")}, call)
            self._outbox.say(ToolOutput(call, picture_in(item), item.get("status") == "failed"), "1")

    def _output(self, item: dict[str, Any]) -> None:
        call = item.get("call_id")
        if call.__class__ is not str or not call:
            call = _call(item) or string(item.get("id"))
            if item.get("type") == "function_call_output" and isinstance(item.get("name"), str):
                self.came(item, call)
                return
        if not call:
            self._log.note("odd", "an output without a call")
        self._thread.returned(call, item.get("output"))

    def came(self, item: dict[str, Any], call: str | None) -> None:
        """An output that came by itself: later than its call ended, or of none, as an envelope. Two records tell it."""
        if call and call in self._thread.calls:
            return
        text, failed = output_of(item.get("output"))
        contents = [Notification(text, "context")] if item.get("namespace") == _ITSELF else opened(text)
        for part, content in enumerate(contents):
            self._outbox.say(content, str(part))
        if contents:
            self._thread.calls.add(call)
        else:
            self._thread.alone(named(item), {}, {}, ToolOutput(call, text, failed))

    def agent_message(self, letter: dict[str, Any]) -> None:
        sender, recipient = string(letter.get("author")), string(letter.get("recipient"))
        text = content_text(letter.get("content"))
        if not text and "encrypted_content" in letter:
            text = part_text({**letter, "type": "encrypted_content"})
        self._outbox.say(AgentMessage(text, sender, recipient))

    def _compaction(self, _item: dict[str, Any]) -> None:
        self._thread.compacted(Compacted(tokens_before=self._thread.tally.context), is_echo=True)

    _HANDLERS: ClassVar[dict[str | None, Callable[["Items", dict[str, Any]], None]]] = {
        "message": _message,
        "reasoning": _reasoning,
        "function_call": _function,
        "custom_tool_call": _custom,
        "local_shell_call": _shell,
        "web_search_call": _search,
        "tool_search_call": _tool_search,
        "image_generation_call": _image,
        "function_call_output": _output,
        "custom_tool_call_output": _output,
        "local_shell_call_output": _output,
        "tool_search_output": _found_tools,
        "agent_message": agent_message,
        **dict.fromkeys(_COMPACTIONS, _compaction),
    }


def said_in(action: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call that is told as an action: what in it is not empty."""
    return {key: value for key, value in action.items() if value is not None}


def picture_in(item: dict[str, Any]) -> str:
    """The picture that was made, as text; newer versions say where it was saved."""
    saved = item.get("saved_path") or item.get("savedPath")
    return f"[image: {saved}]" if saved else placeholder("image", "image/png", item.get("result"))


def _call(item: dict[str, Any]) -> str | None:
    call = item.get("call_id")
    return call if call.__class__ is str else string(call) or string(item.get("id"))


def named(item: dict[str, Any]) -> str:
    name, namespace = item.get("name"), item.get("namespace")
    if namespace is None and name.__class__ is str and "." not in str(name):
        return str(name)
    from unspool.actions.codex import qualified

    return qualified(text_of(name), _text(namespace))


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
