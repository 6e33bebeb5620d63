"""What programs of the shell read and search, by their arguments.

A program is a function from its words, and whether something is piped into it, to actions. Paths are as written.
"""

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

from unspool.actions.options import Options
from unspool.model import Action
from unspool.model.action import FileRead, Search

Found: TypeAlias = list[Action]
Program: TypeAlias = Callable[[list[str], bool], Found]
Range: TypeAlias = tuple[int | None, int | None]
"""Offset and limit, in lines."""


def _reads(paths: Iterable[str], ranges: Iterable[Range]) -> Found:
    return [FileRead(path, *lines) for path in paths if path and path != "-" for lines in ranges]


def _searches(pattern: str | None, paths: list[str]) -> Found:
    if not paths:
        return [Search(pattern)]
    return [Search(pattern, path=path) for path in paths]


def _search(options: Options, *, names: str = "--files", globs: tuple[str, ...] = (), tree: bool = True) -> Program:
    """A program that looks for text. `names` makes it list files; `tree`: where no path is named, it searches all."""

    def program(words: list[str], piped: bool) -> Found:
        operands, flags, given = options.split(words)
        if "--help" in given or "--version" in given:
            return []
        if names in given:
            glob = given[names] or next((given[each] for each in globs if each in given), None)
            return _searches(glob, operands)
        pattern = given.get("-e", given.get("--regexp"))
        if pattern is None and "-f" not in given and "--file" not in given:
            if not operands:
                return []
            pattern = operands.pop(0)
        # What is piped in is searched, where no path is named: a filter, no search of the tree.
        if not operands and (piped or not (tree or _is_recursive(flags, given))):
            return []
        return _searches(pattern, operands)

    return program


def _is_recursive(flags: str, given: dict[str, str]) -> bool:
    return "r" in flags or "R" in flags or "--recursive" in given or "--dereference-recursive" in given


_CONTEXT = "after-context before-context context max-count regexp file"
_rg = _search(
    Options(
        "efgtTABCmMjdrE",
        f"{_CONTEXT} glob iglob type type-not max-columns threads max-depth maxdepth replace encoding sort sortr color "
        "colors pre pre-glob type-add type-clear max-filesize engine ignore-file path-separator context-separator",
    ),
    globs=("-g", "--glob", "--iglob", "-t", "--type"),
)
_grep = _search(Options("efABCmdD", f"{_CONTEXT} include exclude exclude-dir exclude-from label"), tree=False)
_ag = _search(
    Options("eABCGmpWg", f"{_CONTEXT} ignore ignore-dir depth pager file-search-regex type ignore-file"), names="-g"
)
_git_grep = _search(Options("efABCmO", f"{_CONTEXT} max-depth threads"))


def _find(words: list[str], piped: bool) -> Found:  # noqa: ARG001
    at = 0
    while at < len(words) and (words[at] in ("-H", "-L", "-P") or words[at].startswith(("-O", "-D"))):
        at += 1
    paths: list[str] = []
    while at < len(words) and words[at][:1] != "-" and words[at] not in ("(", "!"):
        paths.append(words[at])
        at += 1
    test = words[at:]
    patterns: list[str] = []
    inner: Found = []
    for index, word in enumerate(test):
        if word == "-delete" or (word.startswith(("-exec", "-ok")) and not _runs_harmless(test[index + 1 :])):
            return []
        value = test[index + 1] if index + 1 < len(test) else ""
        if word in _FIND_NAMES:
            if test[index - 1 : index] not in (["!"], ["-not"]) and test[index + 2 : index + 3] != ["-prune"]:
                patterns.append(value)
        elif word in ("-exec", "-execdir") and (program := PROGRAMS.get(value.rpartition("/")[2])):
            stop = next((end for end, last in enumerate(test[index:], index) if last in (";", "+")), len(test))
            asked = [each.pattern for each in program(test[index + 2 : stop], False) if isinstance(each, Search)]
            inner += [each for pattern in asked if pattern for each in _searches(pattern, paths)]
    return _searches("|".join(patterns) or None, paths) + inner


_FIND_NAMES = frozenset("-name -iname -path -ipath -wholename -iwholename -regex -iregex".split())
_QUIET = frozenset(
    "echo printf wc stat file basename dirname du md5sum sha1sum sha256sum shasum test readlink sort".split()
)


def harmless(name: str, words: Iterable[str]) -> bool:
    """The program may be run over all that was found, and it was still only a search."""
    if name == "sed":
        return not any(word.startswith(("-i", "--in-place")) for word in words)
    return name in _QUIET or name in PROGRAMS


def _runs_harmless(words: list[str]) -> bool:
    return bool(words) and harmless(words[0].rpartition("/")[2], words)


_FD = Options(
    "etdEcjSoxXC",
    "extension type max-depth maxdepth min-depth exact-depth exclude color threads size changed-within changed-before "
    "search-path base-directory exec exec-batch format owner",
)


def _fd(words: list[str], piped: bool) -> Found:  # noqa: ARG001
    for at, word in enumerate(words):
        if word in ("-x", "-X", "--exec", "--exec-batch"):
            if not _runs_harmless(words[at + 1 :]):
                return []
            words = words[:at]
            break
    operands, _, options = _FD.split(words)
    if "--help" in options or "--version" in options:
        return []
    pattern = operands.pop(0) if operands else options.get("-e", options.get("--extension"))
    if where := options.get("--search-path", options.get("--base-directory", options.get("-C"))):
        operands.append(where)
    return _searches(pattern or None, operands)


def _lister(options: Options, pattern: str | None = None) -> Program:
    def program(words: list[str], piped: bool) -> Found:  # noqa: ARG001
        operands, _, given = options.split(words)
        if "--help" in given or "--version" in given:
            return []
        return _searches(given.get(pattern) if pattern else None, operands)

    return program


def _reader(options: Options) -> Program:
    def program(words: list[str], piped: bool) -> Found:  # noqa: ARG001
        operands, flags, given = options.split(words)
        said = given.get("-r", given.get("--line-range")) if "r" not in flags else None
        return _reads(operands, [_colons(said)] if said else _ALL)

    return program


_ALL: list[Range] = [(None, None)]
"""The lines of what is read whole."""


def _pager(words: list[str], piped: bool) -> Found:
    return _plain([word for word in words if not _STARTED.fullmatch(word)], piped)


_STARTED = re.compile(r"\+(?:\d+|/.*|G)")
"""Where a pager is to begin."""


def _colons(said: str) -> Range:
    """bat's `10:20`."""
    first, last = map(_line_number, said.partition(":")[::2])
    return first, last if first is None or last is None else last - first + 1


def _line_number(written: str) -> int | None:
    return int(written) if written.isdecimal() and len(written) < 10 else None  # no file has more lines


_HEAD = Options("nc", "lines bytes")
_TAIL = Options("ncs", "lines bytes pid sleep-interval")
_COUNT = re.compile(r"-(\d+)[qv]*")


def _counted(words: list[str], options: Options) -> tuple[list[str], str | None]:
    """Operands, and the count of lines as it is written; `-20` is the old way of it."""
    old = None
    if words and (match := _COUNT.fullmatch(words[0])):
        old, words = match[1], words[1:]
    operands, _, given = options.split(words)
    if "-c" in given or "--bytes" in given:
        return operands, None
    return operands, given.get("-n", given.get("--lines", old))


def _head_lines(words: list[str]) -> tuple[list[str], list[Range]]:
    operands, count = _counted(words, _HEAD)
    return operands, [(None, _line_number(count or ""))]


def _tail_lines(words: list[str]) -> tuple[list[str], list[Range]]:
    operands, count = _counted(words, _TAIL)
    if operands and re.fullmatch(r"\+\d+", operands[0]):
        count = operands.pop(0)
    count = count or ""
    if count[:1] == "+":
        return operands, [(_line_number(count[1:]), None)]
    last = _line_number(count)
    return operands, [(-last, None) if last else (None, None)]


_SED = Options("efl", "expression file line-length")
_PRINTED = re.compile(r"(\d{1,9})(?:,(?:(\d{1,9})|\$|\+(\d{1,9})))?(?:p|!d)")
_BETWEEN = re.compile(r"[;\n|]")
_QUIT = re.compile(r"(\d{1,9})q")
_MATCHED = re.compile(r"/((?:[^/\\]|\\.)+)/I?\s*(?:p|\{\s*print;?\s*\})?")


def _sed_parts(words: list[str]) -> tuple[str, list[str], bool] | None:
    """Script, files, and whether only what the script prints is shown. None where files are changed."""
    operands, flags, options = _SED.split(words)
    if "i" in flags or "--in-place" in options:
        return None
    script = options.get("-e", options.get("--expression"))
    if script is None:
        script = operands.pop(0) if operands and "-f" not in options else ""
    return script, operands, "n" in flags or "--quiet" in options or "--silent" in options


def _printed(match: re.Match[str]) -> Range:
    first, last, more = match.groups()
    begin = int(first)
    if last:
        return begin, max(int(last) - begin + 1, 1)
    return begin, int(more) + 1 if more else None if "$" in match[0] else 1


def _sed_ranges(script: str, quiet: bool) -> list[Range]:
    if whole := _PRINTED.fullmatch(script):
        return [_printed(whole)]
    ranges: list[Range] = []
    for part in _BETWEEN.split(script.replace(" ", "")):
        if match := _PRINTED.fullmatch(part):
            ranges.append(_printed(match))
        elif part == "$p":
            ranges.append((-1, None))
        elif match := _QUIT.fullmatch(part):
            if not quiet:
                ranges.append((None, int(match[1])))
        elif part:
            return [(None, None)]
    return ranges or [(None, None)]


def _sed_lines(words: list[str]) -> tuple[list[str], list[Range]] | None:
    if not (parts := _sed_parts(words)):
        return None
    script, files, quiet = parts
    return files, _sed_ranges(script, quiet)


def _sed(words: list[str], piped: bool) -> Found:  # noqa: ARG001
    parts = _sed_parts(words)
    if not parts or not parts[1]:
        return []
    script, files, quiet = parts
    if quiet and script[:1] == "/" and script[-1] == "p" and (match := _MATCHED.fullmatch(script)):
        return _searches(match[1], files)
    return _reads(files, _sed_ranges(script, quiet))


_AWK = Options("Fvf", "field-separator assign file")
_NUMBER = re.compile(r"NR\s*(==|>=|<=|>|<)\s*(\d{1,9})")
_WRITES = re.compile(r">\s*\"|system\s*\(|\|\s*\"")


def _awk_lines(words: list[str]) -> tuple[list[str], list[Range]] | None:
    operands, _, options = _AWK.split(words)
    text = "" if "-f" in options or "--file" in options or not operands else operands.pop(0)
    if _WRITES.search(text):
        return None
    first = last = None
    for sign, number in _NUMBER.findall(text):
        line = int(number)
        if sign in ("==", ">=", ">") and first is None:
            first = line + (sign == ">")
        if sign in ("==", "<=", "<"):
            last = line - (sign == "<")
    if first is not None and last is not None and last >= first:
        return operands, [(first, last - first + 1)]
    return operands, [(first, last)]


def _awk(words: list[str], piped: bool) -> Found:  # noqa: ARG001
    lines = _awk_lines(words)
    if not lines:
        return []
    operands, _, _ = _AWK.split(words)
    if len(operands) > 1 and (match := _MATCHED.fullmatch(operands[0])):
        return _searches(match[1], lines[0])
    return _reads(*lines)


def filtered(name: str, words: list[str]) -> list[Range] | None:
    """The lines that a filter lets through, if it is one that counts them."""
    lines = _LINES[name](words) if name in _LINES else None
    if not lines or lines[0] or lines[1] in ([], [(None, None)]):
        return None
    return lines[1]


_LINES: dict[str, Callable[[list[str]], tuple[list[str], list[Range]] | None]] = {
    "head": _head_lines,
    "tail": _tail_lines,
    "sed": _sed_lines,
    "awk": _awk_lines,
}
_plain = _reader(Options())
_bat = _reader(Options("rlHm", "line-range language theme style paging highlight-line color tabs wrap decorations"))
_ls = _lister(Options("wIT", "ignore hide width tabsize"))
PLAIN = frozenset({"cat", "nl"})
"""What they show are the lines of the file, one for one: a filter behind them counts lines of the file."""
PROGRAMS: dict[str, Program] = {
    "cat": _plain,
    "tac": _plain,
    "less": _pager,
    "more": _pager,
    "nl": _reader(Options("bnswvifhdl")),
    "bat": _bat,
    "batcat": _bat,
    "head": lambda words, _: _reads(*_head_lines(words)),
    "tail": lambda words, _: _reads(*_tail_lines(words)),
    "sed": _sed,
    "gsed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "rg": _rg,
    "grep": _grep,
    "egrep": _grep,
    "fgrep": _grep,
    "zgrep": _grep,
    "ggrep": _grep,
    "ag": _ag,
    "ack": _ag,
    "find": _find,
    "fd": _fd,
    "fdfind": _fd,
    "ls": _ls,
    "eza": _ls,
    "exa": _ls,
    "tree": _lister(Options("LIPoTH", "filelimit charset"), "-P"),
}


def git(words: list[str], piped: bool) -> Found:
    """`git grep` and `git ls-files`; behind `-C x` paths are x's."""
    at, where = 0, ""
    while at < len(words) and words[at][:1] == "-":
        if words[at] == "-C" and at + 1 < len(words):
            where = words[at + 1]
        at += 2 if words[at] in ("-C", "-c") else 1
    match words[at : at + 1]:
        case ["grep"]:
            found = _git_grep(words[at + 1 :], False)
        case ["ls-files"]:
            found = _ls(words[at + 1 :], piped)
        case _:
            return []
    return [
        Search(each.pattern, path=placed(where, each.path or "") or None) for each in found if isinstance(each, Search)
    ]


def placed(directory: str, path: str) -> str:
    """A path as seen from where the directory is seen from. What a variable holds may begin anywhere."""
    if not directory or path[:1] in ("/", "~", "$", "\\") or path[1:2] == ":":
        return path
    if path in (".", "./", ""):
        return directory
    return f"{directory.rstrip('/')}/{path.removeprefix('./')}"


PROGRAMS["git"] = git
