"""Shapes that rules of secrets are made of: what stands around a secret, and what a value may be."""

import re
from collections.abc import Callable
from typing import NamedTuple

from unspool.transforms.likely import anything

START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-F]{2})|(?<=[\[;0-9][0-9]m))"
"""Before a word: no letter or digit, unless it is the end of an escape, or of what colours a terminal."""
ALONE = rf"(?<![A-Za-z0-9_-]{{16}}){START}"
"""Before a key: the same, and no long run of letters, `_` and `-`, because that is base64 of something else."""
END = r"(?![A-Za-z0-9_-])"
LINE = r"(?:[ \r\n\t]|\\+[nrt])"
CONTINUED = r"(?:\\\r?\n|(?<!\\)(?:\\{3}|\\{6}|\\{12})n)(?:[ \t]|\\+t){0,40}"
"""A backslash at the end of a line, as shells join lines: in a text, in its JSON, and in the JSON of that."""
GAP = rf"{LINE}{{1,40}}"
MARGIN = r"(?:[ \r\n\t>|]|→|│|\\+(?:[nrt]|u2192|u2502)|[0-9]{1,6}(?=→|\t|\\+(?:t|u2192)|:| {0,2}(?:\||│|\\+u2502)))"
"""Between the lines of a key that a tool has numbered, or quoted."""

QUOTE = r"(?:\\*[\"'`]|\\+u002[27]|&(?:quot|apos|#3[49]|#x2[27]);|%2[27])"
OPEN = rf"[bfru@]?{QUOTE}{{1,3}}"
JOINED = rf"{QUOTE}(?:{LINE}|[A-Za-z0-9,.+;>#_/()]){{0,60}}{QUOTE}"
"""Between the lines of a key that code writes one by one: a text ends, and the next begins. In JSON so do elements of a
list, never a key and its value: what is left of it stays JSON."""
SPACES = r"\*{0,2}(?: |\t|\\+t|%20){0,40}"
MARK = rf"{SPACES}(?:=>|:=|[:=](?!=)|%3[AD]){SPACES}"
PAIR = rf"(?:(?:{QUOTE})?,?{LINE}{{1,40}}|{QUOTE},)(?:{QUOTE})?[Vv]alue(?:{QUOTE})?{MARK}(?:{QUOTE})?"
ELSE = rf"(?:: ?&?[A-Za-z|\[\]]{{1,20}} =| (?:\|\||\?\?)) {OPEN}"
_BLANK = r"(?:\r?\n|(?:\\+r)?\\+n)"
BETWEEN = "|".join(
    [
        rf"{QUOTE}\]?{MARK}{OPEN}",
        ELSE,
        rf"\]?{MARK}(?:{OPEN})?",
        r"(?P<tag>>)",
        PAIR,
        rf"</key>{LINE}{{0,40}}<string>",  # a property list
        rf"(?:{QUOTE})?{MARK}[|>][+-]?(?:{LINE}){{1,40}}",  # the value is in the next line of YAML
        rf"{MARK}{CONTINUED}",
        rf"{QUOTE}(?:[^\S\r\n]|;[^\r\n\\\"]{{0,80}})?{_BLANK}{{2}}",  # a field of a form
        rf"{QUOTE} \{{{LINE}{{1,40}}(?:type {{1,20}}= string{LINE}{{1,40}})?default {{1,20}}= {QUOTE}",  # Terraform
    ]
)
"""Between a name and its value. A value whose name is in quotation marks has them too, or it is no text but code.

Or they are the tag and the text of XML, or both are values: `name: DB_PASSWORD`, and `value: …` beside it. The name may
have a type, or the value be what is taken where there is none: `key: str = "…"`, `process.env.KEY || "…"`.
"""
SAID = (
    rf"(?:{QUOTE})?(?: is| was|:| =| is now| is set to| should be| =>| ->|\*\*:?| —| –)"
    rf"(?: \*\*)? {{1,2}}(?:{QUOTE})?|,(?:{QUOTE})?|[\t]|\\+t|{QUOTE}\] ?=> ?"
)
"""Between a name and a random value, in prose and in tables."""
NUMBERED = r"(?:[0-9]{1,8}\|)?"
SECOND = r"(?:[:|](?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,400}+)?"
"""What stands around a key that has a number before it, or two parts: `12|…`, `…:…`. The second is the secret one."""
ONE = r"(?>[A-Za-z0-9+/_.~!@#%^*?-][A-Za-z0-9+/_.~!@#%^*?$=-]{6,4000}[A-Za-z0-9+/_~!@#%^*$=-])"
VALUE = rf"(?P<secret>{ONE})(?![(\[{{])"
PARTED = rf"(?P<secret>{NUMBERED}{ONE}{SECOND})(?![(\[{{])"
QUOTED = r"[A-Za-z0-9+/_.~!@#%^*?$=,;&()-]{6,200}(?=\\*[\"'`]|\Z)"
CHOSEN = VALUE.replace("(?P<secret>", rf"(?P<secret>(?:(?<=[\"'`])|\A){QUOTED}|")
"""A password: between quotation marks with a few marks more, which elsewhere end a value."""
COOKIE = r"[A-Za-z0-9_.%-]{1,80}=[A-Za-z0-9+/_.~!@#%^*?$=:|-]{0,4000}+"
COOKIES = rf"{COOKIE}(?:; ?{COOKIE}){{0,40}}+"
SAME = r"(?:[^\0\n\r\\|;\"]|\\*\"(?![,:\]}])){0,300}?"
"""As little as may be, of one command, and in JSON of one string."""
SPACED = rf" {{1,2}}(?:{QUOTE})?"
DEFAULT = rf"{QUOTE}, {{0,40}}{QUOTE}(?=[^\"'`\\\s]{{8,4000}}+{QUOTE} {{0,2}}\))"
"""What is taken where a variable is not set, or what it is set to: `getenv("TOKEN", "…")`, `define('TOKEN', '…')`."""
GIVEN = rf"\({QUOTE}"
CELL = r" {0,40}\| {0,40}`?"
HASH = "[A-Za-z0-9./]"
PLAIN = r"[A-Za-z0-9_.*-]{1,80}"
CREDENTIALS = rf"(?P<secret>{NUMBERED}[A-Za-z0-9+/=._~-]{{7,8000}}[A-Za-z0-9+/=_~-]{SECOND})"


class Rule(NamedTuple):
    kind: str
    literals: tuple[str, ...]
    """One of these stands at the beginning of every match."""
    pattern: str
    """The secret, or its group `secret`."""
    accept: Callable[[bytes], bool] = anything
    back: int = 0
    """How many characters of the match stand before the literal."""
    before: str = ""
    """An expression that must match in the 300 bytes before the literal, on the same line: a command, or a header."""
    is_long: bool = False
    """Whether the rule is tried where a long word begins, and not wherever its literals stand."""
    lead: str = ""
    """An expression for the whole run of `[A-Za-z0-9_-]` before the literal. The run is a part of the secret."""


def prefixed(kind: str, prefixes: str, rest: str, accept: Callable[[bytes], bool] = anything) -> Rule:
    """Return a rule for a key that begins with one of the prefixes, and goes on with nothing but `rest`."""
    literals = tuple(prefixes.split())
    return Rule(kind, literals, rf"{ALONE}(?<![_-])(?:{'|'.join(map(re.escape, literals))}){rest}{END}", accept)


def long(kind: str, prefixes: str, rest: str, accept: Callable[[bytes], bool] = anything) -> Rule:
    """Return a rule as `prefixed` does, for keys with 24 characters in a row and a prefix of frequent letters.

    Looking for such prefixes in all text would cost too much. They are looked for where long words begin.
    """
    return prefixed(kind, prefixes, rest, accept)._replace(is_long=True)


def word(kind: str, pattern: str, accept: Callable[[bytes], bool] = anything) -> Rule:
    """Return a rule for a long word that has no fixed beginning, but a form of its own from its start to its end."""
    return Rule(kind, (), pattern + END, accept, is_long=True)
