"""What secrets look like: one rule a kind, each with the literal that must stand in the text before it is tried.

Rules are for bytes: UTF-8 text, or JSON as it was written. None of the characters of a secret, nor of what tells it
from its surroundings, is one that JSON must escape, with three exceptions that the rules know. Quotation marks may have
backslashes before them; an escape such as `\\n` is no part of the word that follows; and the lines of a private key may
be parted by escapes. So a rule finds the same in a text, in its JSON, and in the JSON of that.
"""

import binascii
import re
from base64 import b64decode
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4})|(?<=%[0-9A-F]{2}))"
"""Before a word: no letter or digit, unless it is the end of an escape."""
_END = r"(?![A-Za-z0-9_-])"
_LINE = r"(?:[ \r\n\t]|\\+[nrt])"

_QUOTE = r"\\*[\"'`]"
_MARK = r" {0,2}(?:=>|:=|[:=](?!=)) {0,2}"
_BETWEEN = rf"(?:{_QUOTE}\]?{_MARK}{_QUOTE}|\]?{_MARK}(?:{_QUOTE})?)"
"""Between a name and its value. A value whose name is in quotation marks has them too, or it is no text but code."""
_VALUE = r"(?P<secret>(?>[A-Za-z0-9+/_.~!@#%^*?-][A-Za-z0-9+/_.~!@#%^*?$=-]{6,4000}[A-Za-z0-9+/_~!@#%^*$=-]))(?![(\[{])"
_CREDENTIALS = r"(?P<secret>[A-Za-z0-9+/=._~-]{7,8000}[A-Za-z0-9+/=_~-])"

_PLACEHOLDER = re.compile(
    rb"x{4}|\*{3}|\.{3}|-{4}|^%s|[y_-]your|^your|example|placeholder|change.?me|redacted|dummy|0{8}|1234567890?$",
    re.IGNORECASE,
)
_ENOUGH = 200
"""How much of a value is looked at: however long a run of names and marks is, it costs no more than its length."""
_LETTERS = re.compile(rb"[A-Za-z]")
_CHANGES = re.compile(rb"[a-z](?=[A-Z0-9])|[0-9](?=[A-Za-z])|[A-Z](?=[0-9])")


def _any(_: bytes) -> bool:
    return True


def _random(value: bytes) -> bool:
    """Whether a machine made it: small letters, capitals and digits take turns, as in no name and no path."""
    value = value[:_ENOUGH]
    if len(value) < 16 or _PLACEHOLDER.search(value):
        return False
    digits = len(value) - len(value.translate(None, b"0123456789"))
    letters = len(_LETTERS.findall(value))
    return digits >= 2 and letters >= 2 and len(_CHANGES.findall(value)) >= 0.15 * len(value)


def _password(value: bytes) -> bool:
    """Whether it may be a password that somebody chose: no plain word, no path."""
    if _random(value):
        return True
    value = value[:_ENOUGH]
    if b"/" in value or value[:1] in b".~" or _PLACEHOLDER.search(value):
        return False
    word = re.sub(rb"[^A-Za-z]", b"", value)
    return len(word) >= 2 and bool(re.search(rb"[0-9!@#%^*?$]", value)) and not re.fullmatch(rb"[\w.]+\.\w+", value)


def _variable(value: bytes) -> bool:
    """Whether it stands for something else: `$PASSWORD`, `{password}`, `%s`, `***`."""
    return value[:1] in b"$%{*" or value[:4].lower() == b"xxxx"


def _key(value: bytes) -> bool:
    """A key behind a prefix that class names in style sheets and branches begin with too."""
    return _random(value) or (len(value) >= 40 and not _PLACEHOLDER.search(value) and b"-" not in value[8:])


def _basic(value: bytes) -> bool:
    try:
        decoded = b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()


class Rule(NamedTuple):
    kind: str
    literals: tuple[str, ...]
    """One of these stands at the beginning of every match."""
    pattern: str
    """The secret, or its group `secret`."""
    accept: Callable[[bytes], bool] = _any
    back: int = 0
    """How many characters of the match stand before the literal."""


class Field(NamedTuple):
    """A secret that only its name tells: `NAME=value`, `"name": "value"`, or the value of an object's key."""

    kind: str
    literals: tuple[str, ...]
    name: str
    """From the literal to the name's end."""
    value: str = _VALUE
    accept: Callable[[bytes], bool] = _random

    @property
    def rule(self) -> Rule:
        return Rule(self.kind, self.literals, f"(?:{self.name}){_BETWEEN}{self.value}", self.accept)


def _names(*words: str, last: str = "") -> tuple[str, ...]:
    """Words without their first letter, which may be either, in the ways in which programs write them."""
    if not last:
        return tuple(name for word in words for name in (word[1:], word[1:].upper()))
    small = [word[1:] + join + last for word, join in product(words, ("", "_", "-"))]
    camel = [word[1:] + join + last.title() for word, join in product(words, ("", "_", "-"))]
    return (*small, *camel, *map(str.upper, small))


_PEM = r"[A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
_WORDS = r"[A-Za-z0-9_-]"
_USER = r"[A-Za-z0-9._~!$&()*+,;=%{}-]"

RULES: tuple[Rule, ...] = (
    Rule("anthropic-key", ("sk-",), rf"{_START}sk-ant-{_WORDS}{{20,400}}"),
    Rule("openai-key", ("sk-",), rf"{_START}sk-{_WORDS}{{20,400}}", _key),
    Rule("stripe-key", ("k_live_", "k_test_"), rf"{_START}[sr]k_(?:live|test)_[A-Za-z0-9]{{16,}}", back=1),
    Rule("groq-key", ("gsk_",), rf"{_START}gsk_[A-Za-z0-9]{{40,}}"),
    Rule("google-key", ("AIza",), rf"{_START}AIza{_WORDS}{{35}}{_END}"),
    Rule("google-secret", ("GOCSPX-",), rf"{_START}GOCSPX-{_WORDS}{{24,100}}"),
    Rule("aws-key", ("AKIA", "ASIA"), rf"{_START}A[KS]IA[A-Z0-9]{{16}}{_END}"),
    Rule("github-token", tuple(f"gh{letter}_" for letter in "pousr"), rf"{_START}gh[pousr]_[A-Za-z0-9]{{30,}}"),
    Rule("github-token", ("github_pat_",), rf"{_START}github_pat_[A-Za-z0-9_]{{22,300}}"),
    Rule("gitlab-token", ("glpat-",), rf"{_START}glpat-[A-Za-z0-9_.-]{{19,300}}[A-Za-z0-9_-]"),
    Rule(
        "slack-token",
        tuple(f"xox{letter}-" for letter in "abeprs"),
        rf"{_START}xox[abeprs]-[A-Za-z0-9-]{{10,400}}",
    ),
    Rule("slack-token", ("xapp-",), rf"{_START}xapp-[0-9]-[A-Za-z0-9-]{{20,400}}"),
    Rule("huggingface-token", ("hf_",), rf"{_START}hf_[A-Za-z0-9]{{30,}}"),
    Rule("npm-token", ("npm_",), rf"{_START}npm_[A-Za-z0-9]{{36,}}"),
    Rule("pypi-token", ("pypi-",), rf"{_START}pypi-{_WORDS}{{50,1000}}"),
    Rule("sendgrid-key", ("SG.",), rf"{_START}SG\.{_WORDS}{{16,32}}\.{_WORDS}{{16,100}}"),
    Rule("twilio-key", ("SK",), rf"{_START}SK[0-9a-f]{{32}}{_END}"),
    Rule(
        "azure-secret", ("Q~",), rf"{_START}[A-Za-z0-9_~.-]{{3}}[0-9]Q~[A-Za-z0-9_~.-]{{30,60}}[A-Za-z0-9_~-]", back=4
    ),
    Rule("jwt", ("eyJ",), rf"{_START}eyJ{_WORDS}{{8,1000}}+\.eyJ{_WORDS}{{8,16000}}+\.{_WORDS}*"),
    Rule(
        "private-key",
        ("-----BEGIN ",),
        rf"-----BEGIN {_PEM}(?:(?:[A-Za-z0-9+/=:, \r\n\t\\]|-(?!----)){{32,20000}}-----END {_PEM}"
        rf"|{_LINE}*[A-Za-z0-9+/=]{{40,}}(?:{_LINE}+[A-Za-z0-9+/=]{{16,}})*)",
    ),
)
"""Kinds that a secret tells by itself. They come first: the same key has the same placeholder, however it is named."""

FIELDS: tuple[Field, ...] = (
    Field("azure-key", ("ccountKey", "ccessKey"), r"cc(?:ount|ess)Key", r"(?P<secret>[A-Za-z0-9+/]{43,}={1,2})", _any),
    Field(
        "aws-secret",
        _names("secret"),
        r"(?i:ecret[_-]?access[_-]?key)",
        r"(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        _any,
    ),
    Field("password", ("assw", "ASSW"), r"(?i:assw(?:or)?d)", accept=_password),
    Field("password", ("_pass", "_PASS"), r"(?i:_pass)", accept=_password),
    Field("password", ("pwd", "Pwd", "PWD"), r"(?i:pwd)", accept=_password),
    Field("token", _names("token"), r"(?i:oken)"),
    Field("secret", _names("secret"), r"(?i:ecret(?:[_-]?key(?:[_-]base)?)?)"),
    Field("api-key", _names("api", "access", "account", last="key"), r"(?i:(?:pi|ccess|ccount)[_-]?key)"),
    Field(
        "authorization",
        _names("authorization"),
        r"(?i:uthorization)",
        rf"(?:(?i:bearer|basic|token|digest|apikey) +)?{_CREDENTIALS}",
        lambda value: _random(value) or _basic(value),
    ),
)

WEAK: tuple[Rule, ...] = (
    Rule("url-password", ("://",), rf"://{_USER}*+:(?P<secret>(?:{_USER}|:)++)@", lambda value: not _variable(value)),
    Rule("authorization", ("Bearer ",), rf"Bearer {{1,2}}{_CREDENTIALS}", _random),
    Rule("authorization", ("Basic ",), r"Basic {1,2}(?P<secret>[A-Za-z0-9+/]{8,}+={0,2})", _basic),
    *(field.rule for field in FIELDS),
)
"""Kinds that only their surroundings tell."""
