"""What programs of the shell do to files, by their arguments.

A writer is a function from its words, and the text on its standard input if that is known, to actions. Words that only
the shell knows (`$f`, `$(…)`) are `UNKNOWN`: nothing is said of them. Paths are as written: patterns stay patterns.
"""

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

from unspool.actions.lexer import plain
from unspool.actions.options import Options
from unspool.actions.outputs import EXPANSION, HIDDEN, QUOTED
from unspool.actions.programs import placed
from unspool.actions.unified import changes_of
from unspool.model import Action
from unspool.model.action import FileDelete, FileEdit, FileMove, FileWrite, Hunk

Changes: TypeAlias = list[Action]
Writer: TypeAlias = Callable[[list[str], str | None], Changes]

UNKNOWN = "\0"
"""Stands for a word that only the shell can expand."""
_FOLDER = re.compile(r"\"?\$(?:(\w+)|\{(\w+)\})\"?(?=/)")
"""A variable that is the first folder of a path."""
_BRACES = re.compile(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")
_DEVICES = ("/dev/", "/proc/self/fd/")
_NOWHERE = frozenset({"", "-", ".", "./", "..", "../", "/", "&1", "&2", "nul", "$null"})


def value_of(word: str, varying: Iterable[str] = ()) -> str:
    """Return a word as a program receives it; UNKNOWN if it holds what only the shell knows.

    A path may begin with a variable (`$HOME/a`), if its value does not change as that of a loop does. For `{}`, xargs
    and find put in what they found.
    """
    if "{}" in word:
        return UNKNOWN
    if "$" in word or "`" in word or "{" in word:
        shown = HIDDEN.sub("", word)
        folder = _FOLDER.match(shown)
        if folder and (folder[1] or folder[2]) not in varying:
            shown = shown[folder.end() :]
        if EXPANSION.search(shown) or _BRACES.search(QUOTED.sub("", word)):
            return word if word[0] == "-" else UNKNOWN
    return plain(word)


def is_path(word: str) -> bool:
    """Return whether a word can be the path of a file that is changed."""
    return UNKNOWN not in word and word.lower() not in _NOWHERE and not word.startswith(_DEVICES)


def appended(path: str, text: str | None) -> FileEdit:
    """Return the edit that adds a text to the end of a file."""
    if not text:
        return FileEdit(path, "", "", False)
    lines = text.splitlines()
    return FileEdit(path, "", "", False, (Hunk(tuple(f"+{line}" for line in lines), at_end=True),), len(lines), 0)


def edited(path: str) -> FileEdit:
    """Return an edit without its strings: only the command says what changes."""
    return FileEdit(path, "", "", False)


def _each(make: Callable[[str], Action], options: Options) -> Writer:
    """Return a writer that does the same to each file it is given."""

    def write(words: list[str], _text: str | None) -> Changes:
        return [make(path) for path in options.split(words)[0] if is_path(path)]

    return write


def _into(folder: str, source: str) -> str:
    """Return the path of a file of the same name in a folder."""
    name = source.rstrip("/").rpartition("/")[2]
    if not name or name in (".", "..") or UNKNOWN in source:
        return UNKNOWN
    return name if folder in (".", "./") else f"{folder.rstrip('/')}/{name}"


def _pairs(options: Options, words: list[str]) -> list[tuple[str, str]]:
    """Return sources and targets of a program that moves or copies files."""
    operands, flags, given = options.split(words)
    folder = given.get("-t", given.get("--target-directory"))
    if folder is None:
        if len(operands) < 2:
            return []
        folder = operands.pop()
        is_folder = len(operands) > 1 or folder.endswith(("/", "/.", "/..")) or folder in (".", "..")
        if "T" in flags or not is_folder:
            return [(operands[0], folder)]
    return [(source, _into(folder, source)) for source in operands]


_MOVE = Options("tS", "target-directory suffix")
_INSTALL = Options("gmotS", "group mode owner target-directory suffix")


def _mv(words: list[str], _text: str | None) -> Changes:
    return [FileMove(source, to) for source, to in _pairs(_MOVE, words) if is_path(source) and is_path(to)]


def _cp(words: list[str], _text: str | None) -> Changes:
    return [FileWrite(to) for _, to in _pairs(_MOVE, words) if is_path(to)]


def _install(words: list[str], _text: str | None) -> Changes:
    _, flags, given = _INSTALL.split(words)
    if "d" in flags or "--directory" in given:
        return []
    return [FileWrite(to) for _, to in _pairs(_INSTALL, words) if is_path(to)]


def _ln(words: list[str], _text: str | None) -> Changes:
    operands, _, given = _MOVE.split(words)
    if len(operands) == 1 and not given:
        name = _into(".", operands[0])
        return [FileWrite(name)] if is_path(name) else []
    return _cp(words, None)


def _touch(words: list[str], _text: str | None) -> Changes:
    operands, flags, given = Options("drt", "date reference time").split(words)
    if "c" in flags or "--no-create" in given:
        return []
    return [FileWrite(path) for path in operands if is_path(path)]


def _truncate(words: list[str], _text: str | None) -> Changes:
    operands, _, given = Options("rs", "reference size").split(words)
    empty = given.get("-s", given.get("--size")) == "0"
    return [FileWrite(path, "") if empty else edited(path) for path in operands if is_path(path)]


def _tee(words: list[str], text: str | None) -> Changes:
    operands, flags, given = Options("", "output-error").split(words)
    adds = "a" in flags or "--append" in given
    return [appended(path, text) if adds else FileWrite(path, text) for path in operands if is_path(path)]


def _dd(words: list[str], _text: str | None) -> Changes:
    paths = [word[3:] for word in words if word.startswith("of=")]
    return [FileWrite(path) for path in paths if is_path(path)]


_SED = Options("efl", "expression file line-length")
_SUFFIX = re.compile(r"(?:\.[\w.-]{1,12}|~)?")


def _sed(words: list[str], _text: str | None) -> Changes:
    """`sed -i`, with the suffix in the same word, or as BSD has it in the next: `-i ''`, `-i .bak`."""
    kept: list[str] = []
    changes = False
    rest = iter(range(len(words)))
    for index in rest:
        word = words[index]
        if word.startswith("--in-place"):
            changes = True
        elif word[:1] == "-" and word[1:2] != "-" and "i" in word and _SED.letters.isdisjoint(word.partition("i")[0]):
            changes = True
            if word[-1] == "i" and index + 2 < len(words) and _SUFFIX.fullmatch(words[index + 1]):
                next(rest)
        else:
            kept.append(word)
    if not changes:
        return []
    operands, _, given = _SED.split(kept)
    has_script = not given.keys().isdisjoint(("-e", "-f", "--expression", "--file"))
    return [edited(path) for path in operands[0 if has_script else 1 :] if is_path(path)]


_IN_PLACE = re.compile(r"-[A-Za-z0-9]*?i(?P<suffix>\.\w+|~)?")
_SCRIPT = re.compile(r"-[a-zA-Z0-9]*[eE]")


def _perl(words: list[str], _text: str | None) -> Changes:
    """`perl -pi -e SCRIPT FILE…`, and Ruby's options, which are the same."""
    changes = scripted = False
    index = 0
    while index < len(words) and words[index][:1] == "-" and words[index] not in ("-", "--"):
        word = words[index]
        if _SCRIPT.fullmatch(word):
            changes = changes or "i" in word
            scripted = True
            index += 1
        elif word[:2] not in ("-M", "-I", "-r") and (found := _IN_PLACE.match(word)):
            changes = True
            scripted = scripted or word[found.end() :] == "e"
            index += word[found.end() :] == "e"
        index += 1
    operands = words[index + (words[index : index + 1] == ["--"]) :]
    return [edited(path) for path in operands[0 if scripted else 1 :] if is_path(path)] if changes else []


_PATCH = Options(
    "BDFVYdgioprxz",
    "prefix ifdef fuzz version-control directory get input output strip reject-file suffix reject-format",
)


def _number(text: str | None, otherwise: int | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() and len(text) < 4 else otherwise


def _patch(words: list[str], text: str | None) -> Changes:
    operands, flags, given = _PATCH.split(words)
    if "--dry-run" in given or "C" in flags:
        return []
    folder = given.get("-d", given.get("--directory", ""))
    found = changes_of(text or "", _number(given.get("-p", given.get("--strip")), None))
    if operands:  # the one file that the patch is for, whatever it says itself
        hunks = [action for action in found if isinstance(action, FileEdit)]
        path = operands[0]
        found = [FileEdit(path, "", "", False, *_counted(hunks)) if hunks else edited(path)] if is_path(path) else []
    if "R" in flags or "--reverse" in given:
        found = _without_hunks(found)
    return [seen_from(folder, action) for action in found]


def _counted(edits: list[FileEdit]) -> tuple[tuple[Hunk, ...], int, int]:
    hunks = tuple(hunk for each in edits for hunk in each.hunks)
    return hunks, sum(each.added or 0 for each in edits), sum(each.removed or 0 for each in edits)


def _without_hunks(actions: Changes) -> Changes:
    """Return edits of the same files: the patch is applied the other way round."""
    return [edited(action.file_path) for action in actions if isinstance(action, FileEdit | FileWrite | FileDelete)]


_APPLY = Options("pC", "directory exclude include whitespace build-fake-ancestor")
_ONLY_TOLD = frozenset({"--check", "--stat", "--numstat", "--summary", "--cached"})


def _git_apply(words: list[str], text: str | None) -> Changes:
    _, flags, given = _APPLY.split(words)
    if not _ONLY_TOLD.isdisjoint(given) and "--apply" not in given:
        return []
    found = changes_of(text or "", _number(given.get("-p"), 1))
    if "R" in flags or "--reverse" in given:
        found = _without_hunks(found)
    return [seen_from(given.get("--directory", ""), action) for action in found]


def _git_rm(words: list[str], _text: str | None) -> Changes:
    operands, flags, given = Options("", "pathspec-from-file").split(words)
    if "--cached" in given or "n" in flags or "--dry-run" in given:
        return []
    return [FileDelete(path) for path in operands if is_path(path)]


def _git_mv(words: list[str], text: str | None) -> Changes:
    _, flags, given = _MOVE.split(words)
    return [] if "n" in flags or "--dry-run" in given else _mv(words, text)


def _git_checkout(words: list[str], _text: str | None) -> Changes:
    """Only behind `--` it is certain that names are files and no branches."""
    at = words.index("--") if "--" in words else len(words)
    return [FileWrite(path) for path in words[at + 1 :] if is_path(path)]


def _git_restore(words: list[str], _text: str | None) -> Changes:
    operands, flags, given = Options("s", "source conflict pathspec-from-file").split(words)
    if ("S" in flags or "--staged" in given) and not ("W" in flags or "--worktree" in given):
        return []
    return [FileWrite(path) for path in operands if is_path(path)]


_GIT: dict[str, Writer] = {
    "apply": _git_apply,
    "rm": _git_rm,
    "mv": _git_mv,
    "checkout": _git_checkout,
    "restore": _git_restore,
}


def _git(words: list[str], text: str | None) -> Changes:
    """Behind `-C x` paths are x's."""
    at, where = 0, ""
    while at < len(words) and words[at][:1] == "-":
        if words[at] == "-C" and at + 1 < len(words):
            where = words[at + 1]
        at += 2 if words[at] in ("-C", "-c") else 1
    if UNKNOWN in where or at >= len(words) or (writer := _GIT.get(words[at])) is None:
        return []
    return [seen_from(where, action) for action in writer(words[at + 1 :], text)]


def seen_from(directory: str, action: Action) -> Action:
    """Return the action with its paths as seen from where the directory is seen from."""
    if not directory:
        return action
    match action:
        case FileWrite(path, content):
            return FileWrite(placed(directory, path), content)
        case FileDelete(path):
            return FileDelete(placed(directory, path))
        case FileMove(path, to):
            return FileMove(placed(directory, path), placed(directory, to))
        case FileEdit(path):
            return FileEdit(placed(directory, path), "", "", False, action.hunks, action.added, action.removed)
    return action


WRITERS: dict[str, Writer] = {
    "rm": _each(FileDelete, Options()),
    "unlink": _each(FileDelete, Options()),
    "mv": _mv,
    "cp": _cp,
    "ln": _ln,
    "install": _install,
    "touch": _touch,
    "truncate": _truncate,
    "tee": _tee,
    "sponge": _tee,
    "dd": _dd,
    "sed": _sed,
    "gsed": _sed,
    "perl": _perl,
    "ruby": _perl,
    "patch": _patch,
    "git": _git,
}
GIT_WRITERS = frozenset(_GIT)
