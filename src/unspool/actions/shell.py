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
from collections.abc import Iterator
from itertools import pairwise

from unspool.actions.programs import PLAIN, PROGRAMS, Found, filtered, harmless, placed
from unspool.model import Action
from unspool.model.action import FileRead, Search

_TOKEN = re.compile(
    r"""
      [\w./-][^\s;&|<>()"'\\`$]*+(?=[ \n]|\Z)                          # a plain word: most are
    | [012]?(?:<<<|<<-?|<>|<&|<\(|<|>>|>&|>\||>\(|>) | &>>?          # redirections
    | &&|\|\||\|&|;;&?|[;&|()\n]                                     # what separates commands
    | \#[^\n]*+                                                      # a comment
    | (?: [^\s;&|<>()"'\\`$]++                                       # a word, of pieces
        | '[^']*+(?:'|\Z)
        | "[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)
        | \\(?:.|\Z)
        | \$'[^'\\]*+(?:\\.[^'\\]*+)*+(?:'|\\?\Z)
        | \$\((?:[^()]++|\([^()]*+\))*+\)
        | `[^`]*+(?:`|\Z)
        | \$
      )++
    """,
    re.DOTALL | re.VERBOSE,
)
_END, _PIPE, _OPEN, _CLOSE, _IN, _OUT, _ASIDE = range(7)
_OPERATORS = (
    {
        fd + sign: _ASIDE
        for fd in ("", "0", "1", "2")
        for sign in ("<<<", "<<", "<<-", "<>", "<&", ">&", ">", ">>", ">|")
    }
    | dict.fromkeys((">", ">>", ">|", "1>", "1>>", "1>|", "&>", "&>>"), _OUT)
    | dict.fromkeys(("<", "0<"), _IN)
    | dict.fromkeys((";", "&", "&&", "||", ";;", ";;&", "\n"), _END)
    | dict.fromkeys(("|", "|&"), _PIPE)
    | dict.fromkeys(("(", "<(", ">("), _OPEN)
    | {")": _CLOSE}
)
"""Redirections take a word with them; those aside (`2>`, `>&`, …) change nothing for us."""

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
_KNOWN = frozenset({*PROGRAMS, *_SHELLS, *_BEFORE, *_PREFIXES, "cd", "pushd"})
_FIRST = re.compile(r"\s*(?:[^\s;&|<>()\"'\\`$=]*/)?([^\s;&|<>()\"'\\`$=/]+)(?:\s|\Z)")
_SHOWN = re.compile(r"sed -n (['\"]?)(\d{1,9}),(\d{1,9})p\1 ([\w./][\w./-]*)")
"""The commonest read of all, known at a glance."""
_GLUED = re.compile(r"\w['\"\\]+\w")
"""Words that only the shell puts together, as in `'tea'pot`."""
_PIECE = re.compile(r"\w+")
_COMPOUND = re.compile(r"[;&|\n(]")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_CONTINUED = "\\\n"
_DEEP = 5
_EACH = "{}"
"""The name under which xargs and find hand over what was found."""


def intents(command: str) -> tuple[Action, ...]:
    """What the command reads and searches, in order."""
    if shown := _SHOWN.fullmatch(command):
        begin, end = int(shown[2]), int(shown[3])
        return (FileRead(shown[4], begin, max(end - begin + 1, 1)),)
    first = _FIRST.match(command)
    if first and first[1] not in _KNOWN and not _COMPOUND.search(command):
        return ()
    script = _Script()
    script.run(command)
    if not _GLUED.search(command):
        return tuple(script.found)
    return tuple(found for found in script.found if _is_told(found, command))


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


def _tokens(command: str) -> list[str]:
    tokens = list(_outside(command)) if "<<" in command else _TOKEN.findall(command)
    return [token for token in tokens if token != _CONTINUED] if _CONTINUED in command else tokens


def _outside(command: str) -> Iterator[str]:
    """The tokens of a command without its heredocs, whose bodies are passed over unread."""
    at, tags, wanted = 0, [], False
    while at < len(command):
        for match in _TOKEN.finditer(command, at):
            token = match[0]
            if wanted:
                tags.append(_plain(token))
                wanted = False
            elif token[-2:] == "<<" or token[-3:] == "<<-":
                wanted = token[0] not in "\"'\\"
            else:
                yield token
                if token == "\n" and tags:
                    at, tags = _behind(command, match.end(), tags), []
                    break
        else:
            return


def _behind(command: str, at: int, tags: list[str]) -> int:
    """Where the heredocs with these tags end, the first of which begins here."""
    for tag in tags:
        found = command.find(tag, at)
        while found >= 0:
            end = found + len(tag)
            if command[found - 1] in "\n\t" and (end == len(command) or command[end] in "\r\n"):
                break
            found = command.find(tag, end or 1)
        if found < 0 or not tag:
            return len(command)
        at = end
    return at


_QUOTED = re.compile(
    r"""'([^']*+)'?|\$'([^'\\]*+(?:\\.[^'\\]*+)*+)'?|"([^"\\]*+(?:\\.[^"\\]*+)*+)"?|\\(.|\Z)""", re.DOTALL
)
_ESCAPED = re.compile(r'\\([$`"\\\n])')


def _plain(word: str) -> str:
    """A word without its quotes."""
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    quote = word[0]
    if quote in "\"'" and word.find(quote, 1) == len(word) - 1 > 0 and (quote == "'" or "\\" not in word):
        return word[1:-1]
    return _QUOTED.sub(_unquoted, word)


def _unquoted(match: re.Match[str]) -> str:
    single, ansi, double, escaped = match.groups()
    if double is not None:
        return _ESCAPED.sub(r"\1", double) if "\\" in double else double
    return single or ansi or (escaped if escaped and escaped != "\n" else "")


class _Script:
    """A script as far as it was read."""

    __slots__ = ("deep", "directory", "found", "outer", "pipe", "source")

    def __init__(self) -> None:
        self.found: Found = []
        self.directory = ""
        self.outer: list[str] = []
        """Directories outside of the subshells that we are in."""
        self.pipe = 0
        """Where the actions of this pipe begin."""
        self.source: int | None = None
        """Where the reads begin whose very lines are piped on, if they are."""
        self.deep = 0

    def run(self, text: str) -> None:
        tokens = _tokens(text)
        if _TELLING.isdisjoint(tokens) and "bin/" not in text:
            return
        if _OPERATORS.keys().isdisjoint(tokens):
            self.command([token for token in tokens if token[0] != "#"], False, True)
            return
        words: list[str] = []
        piped, shown, taken = False, True, None
        for token in tokens:
            kind = _OPERATORS.get(token)
            if kind is None:
                if taken is not None:
                    shown = shown and taken != _OUT
                    if taken == _IN:
                        words.append(token)
                    taken = None
                elif token[0] != "#":
                    words.append(token)
            elif kind >= _IN:
                taken = kind
            else:
                if words:
                    self.command(words, piped, shown)
                    words, shown = [], True
                piped, taken = kind == _PIPE, None
                if not piped:
                    self.pipe, self.source = len(self.found), None
                if kind == _OPEN:
                    self.outer.append(self.directory)
                elif kind == _CLOSE and self.outer:
                    self.directory = self.outer.pop()
        if words:
            self.command(words, piped, shown)

    def command(self, words: list[str], piped: bool, shown: bool) -> None:
        at, each = _start(words)
        if at >= len(words):
            return
        name = _plain(words[at])
        if "/" in name:
            name = name.rpartition("/")[2]
        if name in _SHELLS:
            self.shell(words[at + 1 :])
        elif name in ("cd", "pushd"):
            self.move(words[at + 1 :])
        elif program := PROGRAMS.get(name):
            arguments = [
                _plain(word) for word in words[at + 1 :] if word[0] not in _EXPANDS or not _VARIABLE.fullmatch(word)
            ]
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
        elif each and not harmless(name, ()):
            del self.found[self.pipe :]
        elif piped:
            self.source = None

    def keep(self, found: Found, shown: bool, each: bool) -> None:
        where = self.directory
        if shown and not where and not each:
            self.found += found
            return
        for action in found:
            match action:
                case FileRead(path, offset, limit):
                    if shown and path != _EACH:
                        self.found.append(FileRead(placed(where, path), offset, limit))
                case Search(pattern, _, path):
                    path = None if path == _EACH else path
                    self.found.append(Search(pattern, path=placed(where, path or "") or None))

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
                self.run(_plain(text))
                self.deep -= 1
                self.outer, self.directory = outer, directory
                self.found[begin:] = [action for action in self.found[begin:] if not _is_each(action)]
                self.pipe, self.source = len(self.found), None
                return

    def move(self, words: list[str]) -> None:
        target = next((_plain(word) for word in words if word[0] != "-"), "~")
        self.directory = placed(self.directory, target)


def _is_each(action: FileRead | Search) -> bool:
    return isinstance(action, FileRead) and action.file_path == _EACH


_EXPANDS = '$`"'
_VARIABLE = re.compile(r"\"?\$(?:\{?\w+\}?|\(.*)\"?|`.*", re.DOTALL)


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
