"""Edits as lines that begin with a blank, `-` or `+`."""

from difflib import SequenceMatcher

from unspool.actions.shell import intents
from unspool.model.action import Execute, FileDelete, FileEdit, FileMove, FileWrite, Meaning
from unspool.sources.values import mapping, text_of

_LONGEST = 1500
"""Lines from which on two texts are not compared, but shown one after the other."""
_CONTEXT = 3


def written_by(meaning: Meaning) -> str:
    """The diff of a call that writes files, each under its name if there are several; nothing for other calls."""
    files = [action for action in changed_files(meaning) if isinstance(action, FileEdit | FileWrite)]
    if files:
        heads = [f"@@ {file.file_path}\n" if len(files) > 1 else "" for file in files]
        return "\n".join(head + diff_of(file) for head, file in zip(heads, files, strict=True)).rstrip()
    arguments = mapping(meaning.arguments)
    path = text_of(arguments.get("file_path"))
    if meaning.kind == "file_edit":
        old, new = text_of(arguments.get("old_string")), text_of(arguments.get("new_string"))
        return diff_of(FileEdit(path, old, new, False))
    if meaning.kind == "file_write":
        return diff_of(FileWrite(path, text_of(arguments.get("content"))))
    return ""


def changed_files(meaning: Meaning) -> list[FileEdit | FileWrite | FileDelete | FileMove]:
    """Return the changes of files by which a call is shown.

    What a shell command changes is in the command, so a call that only runs commands is shown by them.
    """
    files = [action for action in meaning.actions if isinstance(action, FileEdit | FileWrite | FileDelete | FileMove)]
    if not files or meaning.kind != "execute":
        return files
    commands = [text_of(mapping(meaning.arguments).get("command"))]
    commands += [action.command for action in meaning.actions if isinstance(action, Execute)]
    by_shell = {action for command in commands for action in intents(command)}
    return [action for action in files if action not in by_shell]


def diff_of(edit: FileEdit | FileWrite) -> str:
    if isinstance(edit, FileWrite):
        return "\n".join(f"+{line}" for line in (edit.content or "").splitlines())
    if edit.hunks:
        pieces = []
        for hunk in edit.hunks:
            pieces.append("@@ " + " ".join(hunk.context) if hunk.context else "@@")
            pieces += hunk.lines
        return "\n".join(pieces)
    return "\n".join(compared(edit.old_string.splitlines(), edit.new_string.splitlines()))


def compared(old: list[str], new: list[str]) -> list[str]:
    """Two texts, line by line; what both have is left out but for what stands near."""
    if len(old) + len(new) > _LONGEST:
        return [*(f"-{line}" for line in old), *(f"+{line}" for line in new)]
    lines: list[str] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT):
        if lines:
            lines.append("@@")
        for tag, begin, end, first, last in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[begin:end]]
            else:
                lines += [f"-{line}" for line in old[begin:end]]
                lines += [f"+{line}" for line in new[first:last]]
    return lines
