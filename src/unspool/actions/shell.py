r"""What shell commands read, search and change, without running them.

    cd src && rg -n 'class \w+' model | head; sed -n '10,20p' model/action.py
    →  Search("class \w+", path="src/model"), FileRead("src/model/action.py", offset=10, limit=11)

    cat > a.py <<'EOF' && rm b.py    →  FileWrite("a.py", …), FileDelete("b.py")

- A command that shows what is in files reads them; one that looks for text or names, or lists a directory, searches.
  Each file and each place to search is an action of its own.
- The beginning of a pipe says what is read. What follows only filters it, and is no search of its own unless it names
  files; a filter that takes a range of lines (`nl f | sed -n '1,9p'`) gives the read that range.
- Output that goes to a file shows nothing: `cat a > b` is no read. `find -delete`, `find -exec rm` and `… | xargs rm`
  are no search, `sed -i` is no read.
- Offsets count lines from 1; a negative one counts from the end, as `tail` does.
- A redirection writes its file, or edits it if it appends. What is written is known of here-documents, `echo` and
  `printf`, as they are written: variables stay variables. Programs that change files are in `writers`.
- Names that only the shell knows (`$f`, `$(…)`) are no paths to us.

What we do not know we pass over. Nothing here raises, and time grows with the length of a command, not faster.
"""

import re
from itertools import pairwise

from unspool.actions.lexer import (
    BOTH,
    CLOSE,
    ERRORS,
    HERE,
    IN,
    OPEN,
    OPERATORS,
    OUT,
    PIPE,
    SHELLS,
    STRING,
    parts,
    plain,
)
from unspool.actions.outputs import SPEAKING, is_literal, output_of
from unspool.actions.programs import PLAIN, PROGRAMS, Found, Program, filtered, harmless, placed
from unspool.actions.standing import standing_in
from unspool.actions.writers import (
    GIT_WRITERS,
    UNKNOWN,
    WRITERS,
    Changes,
    appended,
    is_path,
    seen_from,
    value_of,
)
from unspool.model import Action
from unspool.model.action import FileRead, FileWrite, Search

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
_TELLING = frozenset({*PROGRAMS, *WRITERS, *GIT_WRITERS, *SHELLS, "ls-files"} - {"git"})
"""A command without these words and without a redirection does nothing to files, unless it names a program by its path.
"""
_TO_FILES = frozenset(sign for sign, kind in OPERATORS.items() if kind in (OUT, BOTH, ERRORS))
_REDIRECTED = re.compile(r">(?:[>|]?[ \t]*+(?!/dev/|[&(>|\n]|$)|&[ \t]*+(?![\d-]))")
"""Output that may go to a file."""
_MOVING = ("cd", "pushd", "popd")
_NAMES = frozenset({*PROGRAMS, *WRITERS, *SHELLS, *_MOVING})
_VARYING = ("for", "read")
"""Commands that give variables one value after another."""
_TELLING_BYTES = frozenset(word.encode() for word in _TELLING)
_APART = bytes.maketrans(b";&|<>()\"'\\`$\x1c\x1d\x1e\x1f", b" " * 16)
"""Blanks for what cannot stand within such a word."""
_SHOWN = re.compile(r"sed -n (['\"]?)(\d{1,9}),(\d{1,9})p\1 ([\w./][\w./-]*)")
"""The commonest read of all, known at a glance."""
_ASSIGNED = re.compile(r"[A-Za-z_]\w*\+?=")
_DEEP = 5
_EACH = "{}"
"""The name under which xargs and find hand over what was found."""


def intents(command: str) -> tuple[Action, ...]:
    """Return the actions of a command on files, in order: reads, searches and changes."""
    if command[:7] == "sed -n " and (shown := _SHOWN.fullmatch(command)):
        begin, end = int(shown[2]), int(shown[3])
        return (FileRead(shown[4], begin, max(end - begin + 1, 1)),)
    script = _Script()
    if command.isascii():
        raw = command.encode()
        letters = raw.translate(_APART)
        is_silent = _TELLING_BYTES.isdisjoint(letters.split()) and "bin/" not in command  # half of all commands are
        if is_silent and (">" not in command or not _REDIRECTED.search(command)):
            return ()
        if letters == raw and "\n" not in command and "#" not in command:
            script.command(command.split(), False, False, True)
            return tuple(script.found)
    script.run(command)
    return standing_in(command, script.found)


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
    text: str | None = None
    """What the command gets as its standard input, if the script says it."""
    piped_text: str | None = None
    """Output of the command before it in the pipe, or None if that is not known."""
    is_group = False
    """Whether a subshell ended here. A redirection or pipe may follow."""

    def __init__(self) -> None:
        self.targets: list[tuple[str, str]] = []
        """Redirections of the command: operators and words."""
        self.inputs: list[str] = []
        """Files that the command gets as its standard input, and those that the command that runs got."""
        self.read: list[str] = []
        self.varying: set[str] = set()
        """Variables of loops."""
        self.written: dict[str, str] = {}
        """The contents of files that the script wrote, by path."""
        self.found: Found = []
        self.outer: list[str] = []
        """Directories outside of the subshells that we are in."""
        self.pushed: list[str] = []

    def run(self, text: str) -> None:
        found = parts(text)
        for more, _, operator in found:
            if operator in _TO_FILES or not _TELLING.isdisjoint(more):
                break
        else:
            if "bin/" not in text:
                return
        words: list[str] = []
        quoted, piped, shown, taken = False, False, True, ""
        for more, special, operator in found:
            if more:
                if taken:
                    target = more.pop(0)
                    shown = self.redirect(taken, target) and shown
                    if OPERATORS[taken] == IN:
                        words = [*words, target]
                    taken = ""
                if more and more[-1][0] == "#":
                    more.pop()
                words = words + more if words else more
                quoted = quoted or special
            if not operator:
                break
            kind = OPERATORS[operator]
            if kind >= IN:
                taken = operator
                continue
            if words or self.targets:
                self.command(words, quoted, piped, shown, feeds=kind == PIPE)
                words, quoted, shown = [], False, True
            piped, taken, self.is_group = kind == PIPE, "", kind == CLOSE
            if not piped:
                self.pipe, self.source, self.piped_text = len(self.found), None, None
            if kind == OPEN:
                self.outer.append(self.directory)
            elif kind == CLOSE and self.outer:
                self.directory = self.outer.pop()
        if words or self.targets:
            self.command(words, quoted, piped, shown)

    def redirect(self, operator: str, target: str) -> bool:
        """Note a redirection of the command; return whether its output is still shown."""
        kind = OPERATORS[operator]
        if kind == HERE:
            self.text = target
        elif kind == STRING:
            self.text = f"{plain(target)}\n" if is_literal(target) else None
        elif kind == IN:
            self.inputs.append(target)
        elif kind in (OUT, ERRORS) or (kind == BOTH and not target.isdecimal() and target != "-"):
            self.targets.append((operator, target))
            return kind == ERRORS
        return True

    def command(self, words: list[str], quoted: bool, piped: bool, shown: bool, feeds: bool = False) -> None:
        """Add what a command does; `feeds` says whether its output goes to another one."""
        text = self.text if self.text is not None or not piped else self.piped_text
        targets, inputs = self.targets, self.inputs
        self.text = self.piped_text = None
        self.targets, self.inputs, self.read = [], [], inputs
        name, given = self.reading(words, quoted, piped, shown, text) if words else ("", [])
        if inputs:
            given = [word for word in given if not any(word is path for path in inputs)]
        if not (targets or feeds):
            return
        is_known = (name in SPEAKING or not words) and not (self.is_group or inputs)
        text = output_of(name, given, text) if is_known else None
        self.piped_text = text if shown else None
        if targets and words[:1] != ["[["]:
            self.change(self.redirected(targets, text))

    def reading(
        self, words: list[str], quoted: bool, piped: bool, shown: bool, text: str | None
    ) -> tuple[str, list[str]]:
        """Add what the command does but for its redirections; return its name and what it is given."""
        name, at, each = words[0], 0, False
        if name not in _NAMES:
            at, each = _start(words)
            if at >= len(words):
                return "", []
            name = plain(words[at])
            if "/" in name:
                name = name.rpartition("/")[2]
        given, begin = words[at + 1 :], len(self.found)
        if program := PROGRAMS.get(name):
            self.program(program, name, _arguments(given) if quoted else given, each, piped, shown)
        elif name in SHELLS:
            self.shell(given, text)
        elif name in _MOVING:
            self.move(name, given)
        elif name in _VARYING:
            self.varying.update(given[:1] if name == "for" else given)
        elif each and not harmless(name, ()):
            self.drop_search()
        elif piped:
            self.source = None
        # `sed` and `git` either look at files or change them, and `git` mostly does neither.
        if name in WRITERS and len(self.found) == begin and (name != "git" or not GIT_WRITERS.isdisjoint(given)):
            self.write(name, given, each, text)
        return name, given

    def write(self, name: str, given: list[str], each: bool, text: str | None) -> None:
        """Add the changes of a program that changes files."""
        words = [word for word in given if not any(word is path for path in self.read)] if self.read else given
        values = [value_of(word, self.varying) for word in words]
        if each:
            values.append(UNKNOWN)
        if text is None and self.written:
            text = self.patch_for(values)
        self.change(WRITERS[name](values, text))

    def patch_for(self, words: list[str]) -> str | None:
        """Return the text of a file that the script wrote, if the command is given one."""
        paths = [placed(self.directory, word) for word in (*words, *map(plain, self.read))]
        return next((self.written[path] for path in paths if path in self.written), None)

    def redirected(self, targets: list[tuple[str, str]], text: str | None) -> Changes:
        """Return what redirections write; the text is that of the command's output, if it is known."""
        found: Changes = []
        for operator, target in targets:
            path = value_of(target, self.varying)
            if not is_path(path) or path.isdecimal() or path[0] == "=":  # a comparison
                continue
            content = None if OPERATORS[operator] == ERRORS else text
            found.append(appended(path, content) if ">>" in operator else FileWrite(path, content))
        return found

    def change(self, changes: Changes) -> None:
        """Add changes of files, with their paths as seen from outside of the script."""
        directory = self.directory
        if changes and directory and UNKNOWN in value_of(f"{directory}/", self.varying):
            return
        for action in changes:
            change = seen_from(directory, action)
            if self.found[-1:] == [change]:  # ten times `sed -i` on one file are one edit of it
                continue
            self.found.append(change)
            if isinstance(change, FileWrite) and change.content:
                self.written[change.file_path] = change.content

    def drop_search(self) -> None:
        """Forget what the pipe looked for: another program changes what was found."""
        self.found[self.pipe :] = [
            action for action in self.found[self.pipe :] if not isinstance(action, FileRead | Search)
        ]

    def program(self, program: Program, name: str, arguments: list[str], each: bool, piped: bool, shown: bool) -> None:
        if each:
            arguments.append(_EACH)
        found = program(arguments, piped)
        if each and not found and not harmless(name, arguments):
            self.drop_search()
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
            behind = self.found[self.source :]
            reads = [FileRead(each.file_path, *span) for each in behind if isinstance(each, FileRead) for span in lines]
            changes = [each for each in behind if not isinstance(each, FileRead | Search)]
            self.found[self.source :] = [*reads, *changes]
        self.source = None

    def shell(self, words: list[str], text: str | None) -> None:
        """`bash -lc '…'`, or `bash <<'EOF'`: a script of its own, in a directory of its own."""
        script = next(
            (plain(word) for flag, word in pairwise(words) if flag[:1] == "-" != flag[1:2] and flag[-1] == "c"), None
        )
        if script is None and not any(word[:1] != "-" for word in words):
            script = text
        if script is None or self.deep >= _DEEP:
            return
        outer, directory, begin = self.outer, self.directory, len(self.found)
        self.outer = []
        self.deep += 1
        self.run(script)
        self.deep -= 1
        self.outer, self.directory = outer, directory
        self.found[begin:] = [action for action in self.found[begin:] if not _is_each(action)]
        self.pipe, self.source = len(self.found), None

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


def _is_each(action: Action) -> bool:
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
