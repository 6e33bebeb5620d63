r"""A shell's command line, taken apart: words as they are written, and the operators between them.

cd src && rg 'a|b' . 2>/dev/null   →   cd src  &&   rg 'a|b' .  2>   /dev/null
"""

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import TypeAlias

Part: TypeAlias = tuple[list[str], bool, str]
"""Words, whether there is more in them than plain letters, and the operator behind them, which the last has not."""

END, PIPE, OPEN, CLOSE, IN, HERE, STRING, OUT, BOTH, ERRORS, ASIDE = range(11)
OPERATORS = (
    {fd + sign: ASIDE for fd in ("", "0", "1", "2") for sign in ("<<<", "<<", "<<-", "<>", "<&", ">&", ">", ">>", ">|")}
    | dict.fromkeys((">", ">>", ">|", "1>", "1>>", "1>|", "&>", "&>>"), OUT)
    | dict.fromkeys((">&", "1>&"), BOTH)
    | dict.fromkeys(("2>", "2>>", "2>|"), ERRORS)
    | dict.fromkeys(("<", "0<"), IN)
    | dict.fromkeys(("<<", "<<-", "0<<", "0<<-"), HERE)
    | dict.fromkeys(("<<<", "0<<<"), STRING)
    | dict.fromkeys((";", "&", "&&", "||", ";;", ";;&", "\n"), END)
    | dict.fromkeys(("|", "|&"), PIPE)
    | dict.fromkeys(("(", "<(", ">("), OPEN)
    | {")": CLOSE}
)
"""Redirections take a word with them: of a here-document its text. Those aside (`<&`, `2>&`, …) change nothing."""

SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash"})
_QUOTED = r"""
      '[^']*+(?:'|\Z)
    | "[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)
    | \\(?:.|\Z)
    | \$'[^'\\]*+(?:\\.[^'\\]*+)*+(?:'|\\?\Z)
    | \$\((?:[^()]++|\([^()]*+\))*+\)
    | `[^`]*+(?:`|\Z)
    | \$
"""
"""What a word is made of beside plain letters."""
_WORD = rf"""(?:[^\s;&|<>()"'\\`$]++|{_QUOTED})++"""
_REDIRECTION = r"(?:<<<|<<-?|<>|<&|<\(|<|>>|>&|>\||>\(|>)"
_SEPARATOR = r"&>>?|&&|\|\||\|&|;;&?|[;&|()\n]"
_TOKENS = re.compile(
    rf"""
      [\w./-][^\s;&|<>()"'\\`$]*+(?=[ \n]|\Z)                          # a plain word: most are
    | [012]?{_REDIRECTION} | {_SEPARATOR}
    | \#[^\n]*+                                                      # a comment
    | {_WORD}
    """,
    re.DOTALL | re.VERBOSE,
)
_WORDS = re.compile(_WORD, re.DOTALL | re.VERBOSE)
_LETTERS = r"""[^;&|<>()"'\\`$\n]*+"""
_PARTS = re.compile(
    rf"""
      ({_LETTERS}(?:(?:'[^'\s]*+'|"[^"\\\s]*+"|({_QUOTED})){_LETTERS})*)  # up to an operator; what may hold a blank
      ({_REDIRECTION}|{_SEPARATOR}|\Z)
    """,
    re.DOTALL | re.VERBOSE,
)
_OUTWARD = frozenset({">", ">>", ">&", ">|"})
_DESCRIPTORS = frozenset("012")
_CONTINUED = "\\\n"


def parts(command: str) -> list[Part]:
    """The commands and redirections of a command line. A comment is the last word before the end of its line."""
    if "<" in command or "#" in command or ">(" in command:
        return list(_grouped(_tokens(command)))
    found: list[Part] = []
    for text, blank, operator in _PARTS.findall(command):
        words = _WORDS.findall(text) if blank else text.split()
        if blank and _CONTINUED in words:
            words = [word for word in words if word != _CONTINUED]
        quoted = blank != "" or "'" in text or '"' in text
        if operator in _OUTWARD and words and words[-1] in _DESCRIPTORS and text[-1] == words[-1]:
            found.append((words, quoted, words.pop() + operator))
        else:
            found.append((words, quoted, operator))
    return found


def _grouped(tokens: Iterable[str]) -> Iterator[Part]:
    words: list[str] = []
    is_text = False
    for token in tokens:
        if token in OPERATORS and not is_text:
            yield words, True, token
            words, is_text = [], OPERATORS[token] == HERE
        else:
            words.append(token)
            is_text = False
    yield words, True, ""


def _tokens(command: str) -> list[str]:
    if "<<" in command:
        return _with_documents(command)
    tokens: list[str] = _TOKENS.findall(command)
    return [token for token in tokens if token != _CONTINUED] if _CONTINUED in command else tokens


def _with_documents(command: str) -> list[str]:
    """Return the tokens of a command. After the operator of a here-document comes its text, in place of its tag."""
    tokens: list[str] = []
    waiting: list[tuple[int, str]] = []
    index, is_tag = 0, False
    while index < len(command):
        for match in _TOKENS.finditer(command, index):
            token = match[0]
            if token == _CONTINUED:
                continue
            if is_tag:
                waiting.append((len(tokens), token))
                tokens.append("")
                is_tag = False
                continue
            is_tag = OPERATORS.get(token) == HERE
            tokens.append(token)
            if token == "\n" and waiting:
                index = _fill(tokens, waiting, command, match.end())
                waiting.clear()
                break
        else:
            break
    return tokens


def _fill(tokens: list[str], waiting: list[tuple[int, str]], command: str, begin: int) -> int:
    """Put the texts of here-documents into their places, the first of which begins here; return where the last ends."""
    for place, written in waiting:
        tag = plain(written)
        stop, end = _document(command, begin, tag) if tag else (len(command), len(command))
        text = command[begin:stop]
        if tokens[place - 1][-1] == "-":
            text = _TABS.sub("", text)
        tokens[place] = _HIDDEN.sub(r"\1", text) if tag == written and "\\" in text else text
        begin = end
        if command[begin : begin + 1] == "\n" and place != waiting[-1][0]:
            begin += 1
    return begin


def _document(command: str, begin: int, tag: str) -> tuple[int, int]:
    """Return where the text of a here-document ends, and where the line with its tag does."""
    found = command.find(tag, begin)
    while found >= 0:
        end = found + len(tag)
        if command[found - 1] in "\n\t" and (end == len(command) or command[end] in "\r\n"):
            return command.rfind("\n", 0, found) + 1, end
        found = command.find(tag, end)
    return len(command), len(command)


_QUOTES = re.compile(
    r"""'([^']*+)'?|\$'([^'\\]*+(?:\\.[^'\\]*+)*+)'?|"([^"\\]*+(?:\\.[^"\\]*+)*+)"?|\\(.|\Z)""", re.DOTALL
)
_ESCAPED = re.compile(r'\\([$`"\\\n])')
_HIDDEN = re.compile(r"\\(?:([$`\\])|\n)")
"""What a backslash escapes in a here-document whose tag has no quotes."""
_TABS = re.compile(r"^\t+", re.MULTILINE)


def plain(word: str) -> str:
    """A word without its quotes."""
    if "'" not in word and '"' not in word and "\\" not in word:
        return word
    quote = word[0]
    if quote in "\"'" and word.find(quote, 1) == len(word) - 1 > 0 and (quote == "'" or "\\" not in word):
        return word[1:-1]
    return _QUOTES.sub(_unquoted, word)


def _unquoted(match: re.Match[str]) -> str:
    single, ansi, double, escaped = match.groups()
    if double is not None:
        return _ESCAPED.sub(r"\1", double) if "\\" in double else double
    return single or ansi or (escaped if escaped and escaped != "\n" else "")


def joined(argv: list[str]) -> str:
    """The command line of a list of words; where they only hand a script to a shell, the script."""
    if len(argv) >= 3:
        shell, flag = re.split(r"[/\\]", argv[0])[-1].lower().removesuffix(".exe"), argv[-2].lower()
        if shell in SHELLS and len(argv) == 3 and flag[:1] == "-" and flag[-1:] == "c":
            return argv[2]
        if (shell in ("powershell", "pwsh") and flag in ("-command", "-c")) or (shell == "cmd" and flag == "/c"):
            return argv[-1]
    return shlex.join(argv)
