"""Shapes that rules of secrets are made of: what stands around a secret, and what a value may be."""

from collections.abc import Callable
from typing import NamedTuple

from unspool.transforms.likely import anything

START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-F]{2})|(?<=[\[;0-9][0-9]m))"
"""Before a word: no letter or digit, unless it is the end of an escape, or of what colours a terminal."""
END = r"(?![A-Za-z0-9_-])"
LINE = r"(?:[ \r\n\t]|\\+[nrt])"
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
PAIR = rf"(?:{QUOTE})?,?{LINE}{{1,40}}(?:{QUOTE})?value(?:{QUOTE})?{MARK}(?:{QUOTE})?"
ELSE = rf"(?:: ?&?[A-Za-z|\[\]]{{1,20}} =| (?:\|\||\?\?)) {OPEN}"
BETWEEN = rf"{QUOTE}\]?{MARK}{OPEN}|{ELSE}|\]?{MARK}(?:{OPEN})?|(?P<tag>>)|{PAIR}"
"""Between a name and its value. A value whose name is in quotation marks has them too, or it is no text but code.

Or they are the tag and the text of XML, or both are values: `name: DB_PASSWORD`, and `value: …` beside it. The name may
have a type, or the value be what is taken where there is none: `key: str = "…"`, `process.env.KEY || "…"`.
"""
NUMBERED = r"(?:[0-9]{1,8}\|)?"
SECOND = r"(?:[:|](?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,400}+)?"
"""What stands around a key that has a number before it, or two parts: `12|…`, `…:…`. The second is the secret one."""
ONE = r"(?>[A-Za-z0-9+/_.~!@#%^*?-][A-Za-z0-9+/_.~!@#%^*?$=-]{6,4000}[A-Za-z0-9+/_~!@#%^*$=-])"
VALUE = rf"(?P<secret>{ONE})(?![(\[{{])"
PARTED = rf"(?P<secret>{NUMBERED}{ONE}{SECOND})(?![(\[{{])"
QUOTED = r"[A-Za-z0-9+/_.~!@#%^*?-][A-Za-z0-9+/_.~!@#%^*?$=,;&-]{7,199}(?=\\*[\"'`]|\Z)"
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
