"""What was typed while the agent was busy, and what became of it.

enqueue, dequeue                    a record of the person's follows
enqueue, remove, an attachment      the model was told within the turn; the attachment may come first, or much later
enqueue, remove                     so too in versions that keep no attachments, and where the reason says so
enqueue, popAll                     taken back

Some versions put here what they tell a host program, too: that a task began. Nothing takes it out again.
"""

_ABSORBED = "absorbed_mid_turn"
_TAKEN_BACK = ("popAll", "clear")
_TASK = '{"task_id"'


class Queue:
    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._attached: list[str] = []
        """Prompts that an attachment told, and that have not left the queue yet."""
        self._absorbed: list[str] = []
        """Prompts that left the queue for the model, and whose attachment has not come yet."""
        self._late: list[str] = []
        """Prompts whose attachment had not come when their turn was over, and that were told without it."""
        self._attaches = False
        """The log keeps attachments."""

    def told(self, operation: str, text: str | None, reason: object) -> str | None:
        """What the model was told now, where nothing else in the log will say so."""
        if operation == "enqueue" and text:
            if not text.startswith(_TASK):
                self._waiting.append(text)
        elif operation in _TAKEN_BACK:
            self._waiting.clear()
        elif operation in ("dequeue", "remove"):
            text = self._taken(text)
            if operation == "remove" and text:
                return self._removed(text, reason)
        return None

    def _taken(self, text: str | None) -> str | None:
        """Older versions do not say what leaves: it is the first."""
        if text is None:
            return self._waiting.pop(0) if self._waiting else None
        if text in self._waiting:
            self._waiting.remove(text)
        return text

    def _removed(self, text: str, reason: object) -> str | None:
        if not self._attaches and reason in (None, _ABSORBED):
            self._late.append(text)
            return text
        if text in self._attached:
            self._attached.remove(text)
        elif reason == _ABSORBED:
            self._absorbed.append(text)
        return None

    def attached(self, text: str | None) -> bool:
        """There is an attachment, and if it is a prompt, this one. False if that was told before."""
        self._attaches = True
        if text in self._late:
            self._late.remove(text)
            return False
        if text in self._absorbed:
            self._absorbed.remove(text)
        elif text:
            self._attached.append(text)
        return True

    def left(self) -> list[str]:
        """What the model was told in a turn that is over, and no attachment said."""
        left, self._absorbed = self._absorbed, []
        self._late += left
        return left
