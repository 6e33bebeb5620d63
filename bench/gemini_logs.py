"""Sessions of Gemini CLI that nobody had, in both forms: one document, and a log that is appended to.

The log has each answer twice, before and after its tools ran, the results once more as what the model is sent next, and
behind most lines one that says only when it was written.
"""

from collections.abc import Iterator

import msgspec

import commands
from prose import Clock, Prose
from traffic import Json

_encode = msgspec.json.encode
_TOOLS = {"run_shell_command": 10, "read_file": 8, "write_file": 6, "replace": 3, "list_directory": 3}
_TITLES = dict(zip(_TOOLS, ("Shell", "ReadFile", "WriteFile", "Edit", "ReadFolder"), strict=True))


def document(prose: Prose, messages: int, opening: str = "") -> tuple[str, bytes]:
    """The name of its file and what is in it: the whole session, indented."""
    talk = _Talk(prose)
    said = [message for message, _ in talk.messages(messages, opening)]
    whole = _encode({**talk.header, "messages": said})
    return f"session-2026-01-20T09-00-{talk.id[:8]}.json", msgspec.json.format(whole, indent=2)


def recording(prose: Prose, messages: int, opening: str = "") -> tuple[str, bytes]:
    """The name of its file and what is in it: a line each."""
    talk = _Talk(prose)
    lines: list[Json] = [{**talk.header, "kind": "main"}]
    for message, time in talk.messages(messages, opening):
        beat = {"$set": {"lastUpdated": time}}
        if calls := message.get("toolCalls"):
            before = {key: value for key, value in message.items() if key != "toolCalls"}
            sent = {"id": prose.uuid(), "timestamp": time, "type": "user"}
            lines += [before, beat, message, {**sent, "content": [part for call in calls for part in call["result"]]}]
        else:
            lines.append(message)
        lines.append(beat)
    return f"session-2026-01-20T09-00-{talk.id[:8]}.jsonl", b"".join(_encode(line) + b"\n" for line in lines)


class _Talk:
    def __init__(self, prose: Prose) -> None:
        self.id = prose.uuid()
        self._prose = prose
        self._clock = Clock(prose)
        time = self._clock.tick()
        self.header: Json = {"sessionId": self.id, "projectHash": prose.token("") * 2, "startTime": time}
        self.header["lastUpdated"] = time

    def messages(self, count: int, opening: str) -> Iterator[tuple[Json, str]]:
        """With the time when each was written. One in four is the person's."""
        yield self._asked(f"{opening}{self._prose.sentence(9)}")
        for _ in range(count - 1):
            yield self._asked(self._prose.sentence(9)) if self._prose.chance(0.2) else self._answered()

    def _asked(self, text: str) -> tuple[Json, str]:
        time = self._clock.tick()
        return {"id": self._prose.uuid(), "timestamp": time, "type": "user", "content": [{"text": text}]}, time

    def _answered(self) -> tuple[Json, str]:
        prose, clock = self._prose, self._clock
        thoughts = [
            {"subject": prose.sentence(4), "description": prose.sentence(36), "timestamp": clock.tick()}
            for _ in range(prose.pick({0: 2, 1: 5, 2: 5}))
        ]
        numbers = [prose.number(9000, 90_000), prose.number(30, 900), prose.number(0, 9000), prose.number(0, 300), 0]
        tokens = dict(zip(("input", "output", "cached", "thoughts", "tool"), numbers, strict=True))
        message: Json = {"id": prose.uuid(), "timestamp": clock.tick(), "type": "gemini"}
        message |= {"content": prose.text(prose.spread(90, 130)), "thoughts": thoughts, "model": "gemini-2.5-pro"}
        message["tokens"] = {**tokens, "total": numbers[0] + numbers[1] + numbers[3]}
        if calls := [self._call(prose.pick(_TOOLS)) for _ in range(prose.pick({0: 25, 1: 60, 2: 10, 3: 5}))]:
            message["toolCalls"] = calls
        return message, clock.tick()

    def _call(self, name: str) -> Json:
        prose = self._prose
        id_ = f"{name}-{prose.number(10**12, 10**13)}-{prose.token('')[:14]}"
        given, output, shown = _deed(prose, name)
        result = [{"functionResponse": {"id": id_, "name": name, "response": {"output": output}}}]
        call: Json = {"id": id_, "name": name, "args": given, "result": result, "status": "success"}
        call |= {"timestamp": self._clock.tick(), "resultDisplay": shown, "description": prose.text(500)}
        return {**call, "displayName": _TITLES[name], "renderOutputAsMarkdown": name != "run_shell_command"}


def _deed(prose: Prose, name: str) -> tuple[Json, str, str | Json]:
    """What a tool was given, what the model was told, and what the person saw."""
    path = prose.path()
    match name:
        case "run_shell_command":
            line, output = commands.command(prose), prose.text(prose.spread(250, 700))
            told = f"Command: {line}\nDirectory: (root)\nOutput: {output}\nError: (none)\nExit Code: 0\nSignal: 0"
            return {"command": line, "description": prose.sentence(9)}, told, output
        case "read_file":
            return {"file_path": path}, prose.text(prose.spread(900, 2500)), ""
        case "write_file":
            content = prose.text(prose.spread(700, 1700))
            return {"file_path": path, "content": content}, f"Wrote to new file: {path}.", _diff(path, content, "")
        case "replace":
            old, new, file = (prose.text(prose.spread(150, 250)) for _ in range(3))
            given = {"file_path": path, "instruction": prose.sentence(12), "old_string": old, "new_string": new}
            return given, f"Edited {path}: {new[:200]}", _diff(path, new, prose.text(prose.spread(2500, 3500)) + file)
    entries = [f"[DIR] {prose.word()}" for _ in range(prose.spread(12, 20))]
    return {"dir_path": prose.word()}, "\n".join(entries), {"summary": f"Listed {len(entries)} items", "files": entries}


def _diff(path: str, new: str, original: str) -> Json:
    lines = "\n".join(f"+{line}" for line in new.split("\n"))
    about = {"fileDiff": f"Index: {path}\n@@ -1,9 +1,9 @@\n{lines}", "fileName": path, "filePath": f"/home/me/{path}"}
    stat = {"model_added_lines": 9, "model_removed_lines": 0, "user_added_lines": 0}
    return {**about, "originalContent": original, "newContent": new, "diffStat": stat, "isNewFile": not original}
