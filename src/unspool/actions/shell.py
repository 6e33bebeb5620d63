r"""What shell commands read and search, without running them.

    cd src && rg -n 'class \w+' model | head; sed -n '10,20p' model/action.py
    →  Search("class \w+", path="src/model"), FileRead("src/model/action.py", offset=10, limit=11)

- A command that shows what is in files reads them; one that looks for text or names, or lists a directory, searches.
  Each file and each place to search is an action of its own.
- The beginning of a pipe says what is read. What follows only filters it, and is no search of its own unless it names
  files; a filter that takes a range of lines (`nl f | sed -n '1,9p'`) gives the read that range.
- Output that goes to a file shows nothing: `cat a > b` is no read. `find -delete`, `find -exec rm` and `… | xargs rm`
  are no search, `sed -i` is no read.
- Offsets count lines from 1; a negative one counts from the end, as `tail` does.
- Names that only the shell knows (`$f`, `$(…)`) are no paths to us.

What we do not know we pass over. Nothing here raises, and time grows with the length of a command, not faster.
"""

import re
import shlex
from itertools import pairwise

from unspool.actions.lexer import CLOSE, IN, OPEN, OPERATORS, OUT, PIPE, parts, plain
from unspool.actions.programs import PLAIN, PROGRAMS, Found, Program, filtered, harmless, placed
from unspool.model import Action
from unspool.model.action import FileRead, Search

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash"})
_BEFORE = frozenset({"then", "do", "else", "if", "elif", "while", "until", "{", "!"})
_PREFIXES = {
    "sudo": "ugUChpTr",
    "doas": "u",
    "env": "uSC",
    "time": "fo",
    "timeout": "ks",
    "nice": "n",
    "ionice": "cn",
    "nohup": "",
    "setsid": "",
    "command": "",
    "builtin": "",
    "exec": "a",
    "stdbuf": "ioe",
    "xargs": "IiPnLlsdEa",
}
"""Commands that run another, and their options that take a value."""
_TELLING = frozenset({*PROGRAMS, *_SHELLS, "ls-files"} - {"git"})
"""Without one of these words a command reads and searches nothing, unless it names a program by its path."""
_MOVING = ("cd", "pushd", "popd")
_NAMES = frozenset({*PROGRAMS, *_SHELLS, *_MOVING})
_TELLING_BYTES = frozenset(word.encode() for word in _TELLING)
_APART = bytes.maketrans(b";&|<>()\"'\\`$\x1c\x1d\x1e\x1f", b" " * 16)
"""Blanks for what cannot stand within such a word."""
_SHOWN = re.compile(r"sed -n (['\"]?)(\d{1,9}),(\d{1,9})p\1 ([\w./][\w./-]*)")
"""The commonest read of all, known at a glance."""
_GLUED = re.compile(r"['\"\\](?<=\w.)['\"\\]*+\w")
"""Words that only the shell puts together, as in `'tea'pot`."""
_PIECE = re.compile(r"\w+")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_DEEP = 5
_EACH = "{}"
"""The name under which xargs and find hand over what was found."""


def intents(command: str) -> tuple[Action, ...]:
    """What the command reads and searches, in order."""
    if command[:7] == "sed -n " and (shown := _SHOWN.fullmatch(command)):
        begin, end = int(shown[2]), int(shown[3])
        return (FileRead(shown[4], begin, max(end - begin + 1, 1)),)
    script = _Script()
    if command.isascii():
        raw = command.encode()
        letters = raw.translate(_APART)
        if _TELLING_BYTES.isdisjoint(letters.split()) and "bin/" not in command:  # so it is with half of all commands
            return ()
        if letters == raw and "\n" not in command and "#" not in command:
            script.command(command.split(), False, False, True)
            return tuple(script.found)
    script.run(command)
    found = script.found
    if found and _GLUED.search(command):
        return tuple([action for action in found if _is_told(action, command)])
    return tuple(found)


def _is_told(action: Action, command: str) -> bool:
    """Whether its words stand in the command as they are: who looks for a word must find it where it came from."""
    match action:
        case FileRead(file_path=path):
            texts: tuple[str | None, ...] = (path,)
        case Search(pattern=pattern, path=path):
            texts = pattern, path
        case _:
            return True
    return all(piece in command for text in texts if text for piece in _PIECE.findall(text))


def joined(argv: list[str]) -> str:
    """The command line of a list of words; where they only hand a script to a shell, the script."""
    if len(argv) >= 3:
        shell, flag = re.split(r"[/\\]", argv[0])[-1].lower().removesuffix(".exe"), argv[-2].lower()
        if shell in _SHELLS and len(argv) == 3 and flag[:1] == "-" and flag[-1:] == "c":
            return argv[2]
        if (shell in ("powershell", "pwsh") and flag in ("-command", "-c")) or (shell == "cmd" and flag == "/c"):
            return argv[-1]
    return shlex.join(argv)


class _Script:
    """A script as far as it was read."""

    directory = ""
    left = ""
    """Where it was before: `cd -` goes back there."""
    pipe = 0
    """Where the actions of this pipe begin."""
    source: int | None = None
    """Where the reads begin whose very lines are piped on, if they are."""
    deep = 0

    def __init__(self) -> None:
        self.found: Found = []
        self.outer: list[str] = []
        """Directories outside of the subshells that we are in."""
        self.pushed: list[str] = []

    def run(self, text: str) -> None:
        found = parts(text)
        for more, _, _ in found:
            if not _TELLING.isdisjoint(more):
                break
        else:
            if "bin/" not in text:
                return
        words: list[str] = []
        quoted, piped, shown, taken = False, False, True, None
        for more, special, operator in found:
            if more:
                if taken is not None:
                    target = more.pop(0)
                    shown = shown and taken != OUT
                    if taken == IN:
                        words.append(target)
                    taken = None
                if more and more[-1][0] == "#":
                    more.pop()
                words = words + more if words else more
                quoted = quoted or special
            if not operator:
                break
            kind = OPERATORS[operator]
            if kind >= IN:
                taken = kind
                continue
            if words:
                self.command(words, quoted, piped, shown)
                words, quoted, shown = [], False, True
            piped, taken = kind == PIPE, None
            if not piped:
                self.pipe, self.source = len(self.found), None
            if kind == OPEN:
                self.outer.append(self.directory)
            elif kind == CLOSE and self.outer:
                self.directory = self.outer.pop()
        if words:
            self.command(words, quoted, piped, shown)

    def command(self, words: list[str], quoted: bool, piped: bool, shown: bool) -> None:
        name, at, each = words[0], 0, False
        if name not in _NAMES:
            at, each = _start(words)
            if at >= len(words):
                return
            name = plain(words[at])
            if "/" in name:
                name = name.rpartition("/")[2]
        given = words[at + 1 :]
        if program := PROGRAMS.get(name):
            self.program(program, name, _arguments(given) if quoted else given, each, piped, shown)
        elif name in _SHELLS:
            self.shell(given)
        elif name in _MOVING:
            self.move(name, given)
        elif each and not harmless(name, ()):
            del self.found[self.pipe :]
        elif piped:
            self.source = None

    def program(self, program: Program, name: str, arguments: list[str], each: bool, piped: bool, shown: bool) -> None:
        if each:
            arguments.append(_EACH)
        found = program(arguments, piped)
        if each and not found and not harmless(name, arguments):
            del self.found[self.pipe :]
        elif piped and not found and self.source is not None:
            self.narrow(name, arguments)
        else:
            self.source = len(self.found) if name in PLAIN else None
            self.keep(found, shown, each)

    def keep(self, found: Found, shown: bool, each: bool) -> None:
        where = self.directory
        if shown and not where and not each:
            self.found += found
            return
        for action in found:
            if type(action) is FileRead:
                if shown and action.file_path != _EACH:
                    self.found.append(FileRead(placed(where, action.file_path), action.offset, action.limit))
            elif type(action) is Search:
                path = "" if action.path == _EACH else action.path or ""
                self.found.append(Search(action.pattern, path=placed(where, path) or None))

    def narrow(self, name: str, arguments: list[str]) -> None:
        """The reads at the head of the pipe get the lines that this filter lets through."""
        if name in PLAIN or self.source is None:
            return
        if lines := filtered(name, arguments):
            reads = [each for each in self.found[self.source :] if isinstance(each, FileRead)]
            self.found[self.source :] = [FileRead(each.file_path, *span) for each in reads for span in lines]
        self.source = None

    def shell(self, words: list[str]) -> None:
        """`bash -lc '…'`: a script of its own, in a directory of its own."""
        for flag, text in pairwise(words):
            if flag[0] == "-" and flag[1:2] != "-" and flag[-1] == "c" and self.deep < _DEEP:
                outer, directory, begin = self.outer, self.directory, len(self.found)
                self.outer = []
                self.deep += 1
                self.run(plain(text))
                self.deep -= 1
                self.outer, self.directory = outer, directory
                self.found[begin:] = [action for action in self.found[begin:] if not _is_each(action)]
                self.pipe, self.source = len(self.found), None
                return

    def move(self, name: str, words: list[str]) -> None:
        here = self.directory
        if name == "popd":
            self.directory = self.pushed.pop() if self.pushed else here
        else:
            to = next((word for word in words if word[0] != "-" or word == "-"), "~")
            self.directory = self.left if to == "-" else placed(here, plain(to))
        if name == "pushd":
            self.pushed.append(here)
        self.left = here


def _is_each(action: FileRead | Search) -> bool:
    return isinstance(action, FileRead) and action.file_path == _EACH


_EXPANDS = '$`"'
_VARIABLE = re.compile(r"\"?\$(?:\{?\w+\}?|\(.*)\"?|`.*", re.DOTALL)


def _arguments(words: list[str]) -> list[str]:
    """Without quotes, and without what only the shell knows."""
    return [
        plain(word) if "'" in word or '"' in word or "\\" in word else word
        for word in words
        if word[0] not in _EXPANDS or not _VARIABLE.fullmatch(word)
    ]


def _start(words: list[str]) -> tuple[int, bool]:
    """Where the command itself begins, behind assignments and commands that run another; and whether xargs runs it."""
    at, each = 0, False
    while at < len(words):
        word = words[at]
        if word in _BEFORE or ("=" in word and _ASSIGNED.match(word)):
            at += 1
            continue
        valued = _PREFIXES.get(word.rpartition("/")[2])
        if valued is None:
            break
        at += 1
        while at < len(words) and words[at][0] == "-":
            option = words[at]
            if word == "command" and option in ("-v", "-V"):
                return len(words), False
            at += 2 if len(option) == 2 and option[1] in valued else 1
        if word == "timeout":
            at += 1
        each = each or word == "xargs"
    return at, each
