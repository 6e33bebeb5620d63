"""Whether the words of actions are in their command as they are: a search must find them where they came from."""

import re

from unspool.model import Action
from unspool.model.action import FileDelete, FileEdit, FileMove, FileRead, FileWrite, Search

_GLUED = re.compile(r"['\"\\](?<=[\w$].)['\"\\\n]*+\w")
"""Words that only the shell puts together, as in `'tea'pot`."""
_PIECE = re.compile(r"\w+")
_MANY_WORDS = 500
"""Words of a text that are not looked for one by one."""


def standing_in(command: str, actions: list[Action]) -> tuple[Action, ...]:
    """Return the actions whose words all appear in the command."""
    if actions and _GLUED.search(command):
        return tuple([action for action in actions if _is_told(action, command)])
    return tuple(actions)


def _is_told(action: Action, command: str) -> bool:
    """Whether its words stand in the command as they are: who looks for a word must find it where it came from."""
    match action:
        case FileRead(file_path=path):
            texts: tuple[str | None, ...] = (path,)
        case Search(pattern=pattern, path=path):
            texts = pattern, path
        case FileWrite(file_path=path, content=content):
            texts = path, content
        case FileEdit(file_path=path, hunks=hunks):
            texts = (path, *(line for hunk in hunks for line in hunk.lines))
        case FileMove(file_path=path, to=to):
            texts = path, to
        case FileDelete(file_path=path):
            texts = (path,)
        case _:
            return True
    return all(_stands(text, command) for text in texts if text)


def _stands(text: str, command: str) -> bool:
    """Return whether all words of a text stand in the command."""
    if text in command:
        return True
    pieces = set(_PIECE.findall(text))
    return len(pieces) < _MANY_WORDS and all(piece in command for piece in pieces)
