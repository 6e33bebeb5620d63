r"""A shell's command line, taken apart: words as they are written, and the operators between them.

cd src && rg 'a|b' . 2>/dev/null   →   cd src  &&   rg 'a|b' .  2>   /dev/null
"""

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

Part: TypeAlias = tuple[list[str], bool, str]
"""Words, whether there is more in them than plain letters, and the operator behind them, which the last has not."""

END, PIPE, OPEN, CLOSE, IN, OUT, ASIDE = range(7)
OPERATORS = (
    {fd + sign: ASIDE for fd in ("", "0", "1", "2") for sign in ("<<<", "<<", "<<-", "<>", "<&", ">&", ">", ">>", ">|")}
    | dict.fromkeys((">", ">>", ">|", "1>", "1>>", "1>|", "&>", "&>>"), OUT)
    | dict.fromkeys(("<", "0<"), IN)
    | dict.fromkeys((";", "&", "&&", "||", ";;", ";;&", "\n"), END)
    | dict.fromkeys(("|", "|&"), PIPE)
    | dict.fromkeys(("(", "<(", ">("), OPEN)
    | {")": CLOSE}
)
"""Redirections take a word with them; those aside (`2>`, `>&`, …) change nothing for us."""

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
    for token in tokens:
        if token in OPERATORS:
            yield words, True, token
            words = []
        else:
            words.append(token)
    yield words, True, ""


def _tokens(command: str) -> list[str]:
    tokens = list(_outside(command)) if "<<" in command else _TOKENS.findall(command)
    return [token for token in tokens if token != _CONTINUED] if _CONTINUED in command else tokens


def _outside(command: str) -> Iterator[str]:
    """The tokens of a command without its heredocs, whose bodies are passed over unread."""
    at, tags, wanted = 0, [], False
    while at < len(command):
        for match in _TOKENS.finditer(command, at):
            token = match[0]
            if wanted:
                tags.append(plain(token))
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
        if not tag:
            return len(command)
        found = command.find(tag, at)
        while found >= 0:
            end = found + len(tag)
            if command[found - 1] in "\n\t" and (end == len(command) or command[end] in "\r\n"):
                break
            found = command.find(tag, end)
        if found < 0:
            return len(command)
        at = end
    return at


_QUOTES = re.compile(
    r"""'([^']*+)'?|\$'([^'\\]*+(?:\\.[^'\\]*+)*+)'?|"([^"\\]*+(?:\\.[^"\\]*+)*+)"?|\\(.|\Z)""", re.DOTALL
)
_ESCAPED = re.compile(r'\\([$`"\\\n])')


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
