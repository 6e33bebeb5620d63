"""Names that say that their value is a secret: `NAME=value`, `"name": "value"`, or the key of an object."""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from unspool.transforms.likely import (
    anything,
    has_session,
    is_basic,
    is_named,
    is_password,
    is_short_password,
    is_strong_password,
)
from unspool.transforms.shapes import (
    BETWEEN,
    CELL,
    CHOSEN,
    COOKIES,
    CREDENTIALS,
    DEFAULT,
    GIVEN,
    PARTED,
    SAID,
    VALUE,
    Rule,
)


class Field(NamedTuple):
    """A secret that only its name tells: `NAME=value`, `"name": "value"`, or the value of an object's key."""

    kind: str
    literals: tuple[str, ...]
    name: str
    """From the literal to the name's end."""
    value: str = PARTED
    accept: Callable[[bytes], bool] = is_named
    before: str = ""
    between: str = ""
    """What stands between the name and its value, if it is not what usually does."""

    @property
    def rule(self) -> Rule:
        """Return the rule that finds the field in a text."""
        if self.between:
            pattern = f"(?:{self.name})(?:{self.between}){self.value}"
            return Rule(self.kind, self.literals, pattern, self.accept, before=self.before)
        closed = r"(?(tag)(?=<|\\+u003c))"
        between = BETWEEN if self.accept in _PASSWORDS else f"{BETWEEN}|{DEFAULT}|{GIVEN}|{CELL}|{SAID}"
        pattern = f"(?:{self.name}){_SUFFIX}(?:{between}){self.value}{closed}"
        return Rule(self.kind, self.literals, pattern, self.accept, before=self.before)


_PASSWORDS = (is_password, is_strong_password, is_short_password)
_SUFFIX = (
    r"(?:[_-]?(?i:prod(?:uction)?|stag(?:e|ing)|dev|test|live|old|new|value|backup|primary|secondary|main"
    r"|base64|b64|hex|v?[0-9]{1,3})(?![A-Za-z]))?"
)
"""After a name: where or when its value holds, as in `API_KEY_PROD` and `token2`."""


def _names(*words: str, last: str = "") -> tuple[str, ...]:
    """Words without their first letter, which may be either, in the ways in which programs write them."""
    if not last:
        return tuple(name for word in words for name in (word[1:], word[1:].upper()))
    small = [word[1:] + join + last for word, join in product(words, ("", "_", "-"))]
    title = [join + last.title() for join in ("", "_", "-")]
    mixed = [first[1:] + rest for word in words for first in (word, word.upper()) for rest in title]
    return (*small, *mixed, *map(str.upper, small))


_KEYS = (
    "encryption signing master private auth admin openai subscription app license service deploy write consumer shared "
    "fernet hmac jwt session webhook search merchant cipher crypt client server integration publish agent bot maps "
    "gateway provisioning webhook rpc unseal root recovery vault"
).split()
_KEY_NAME = rf"(?i:(?:{'|'.join(sorted({word[1:] for word in _KEYS}))})[_-]?key)"

_SHORT = r"(?P<secret>[A-Za-z0-9!@#%^*+_.?-]{4,40})(?=[\s\"'\\]|\Z)"
_ENV = r"(?:\A|\s|[\"']|\\[nt])(?:[A-Z][A-Z0-9_]{0,40})?\Z"
_NO_PAGE = (
    r"\A(?!.*(?i:continuation|page|next|previous|request|starting|publickey|change|purchase|action|sync|resume|cursor|progress"
    r"|idempotency|pagination|scroll|pad|eos|bos|unk|mask|stop|special)[_ -]?[tT]\Z)"
)
"""Tokens of lists and of models are no secrets."""

FIELDS: tuple[Field, ...] = (
    Field(
        "azure-key", ("ccountKey", "ccessKey"), r"cc(?:ount|ess)Key", r"(?P<secret>[A-Za-z0-9+/]{43,}={1,2})", anything
    ),
    Field(
        "aws-secret",
        _names("secret"),
        r"(?i:ecret[ _-]?access[ _-]?key)(?: \[[A-Za-z0-9*]{1,24}\])?",
        r"(?P<secret>[A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        anything,
    ),
    Field("password", ("assw", "ASSW"), r"(?i:assw(?:or)?d)", CHOSEN, is_password),
    Field(
        "password",
        ("assw", "ASSW"),
        r"(?i:assw(?:or)?d)",
        CHOSEN,
        is_password,
        r"\|[ `*]*[A-Za-z_ ]{0,40}\Z",
        between=CELL,
    ),
    Field("password", ("_pass", "_PASS", "SSHPASS", "CLI_AUTH"), r"(?i:_pass)|SSHPASS|CLI_AUTH", CHOSEN, is_password),
    Field("password", ("pwd", "Pwd", "PWD"), r"(?i:pwd)", CHOSEN, is_password),
    Field("password", ("assphrase", "ASSPHRASE", "assPhrase"), r"(?i:assphrase)", CHOSEN, is_password),
    Field("password", ("pass",), "(?<![A-Za-z0-9_.-])pass", rf"(?:(?<=[\"'`])|\A){CHOSEN}", is_password),
    Field("password", ("pass", "PASS"), r"(?<![A-Za-z0-9_.-])(?i:pass)", VALUE, is_strong_password),
    Field(
        "password",
        ("_PASSWORD", "_PASS", "_PWD"),
        "_(?:PASSWORD|PASS|PWD)",
        _SHORT,
        is_short_password,
        _ENV,
        between="=(?:[\"'])?",
    ),
    Field("secret", ("SECRET",), "SECRET(?:_KEY)?", CHOSEN, is_password),
    Field("secret", ("_SALT",), "_SALT"),
    Field("token", _names("token"), r"(?i:oken)(?:[_-]?(?i:secret|key))?", before=_NO_PAGE),
    Field(
        "secret",
        _names("secret"),
        r"(?<!:[0-9]{12}:s)(?<!\*:s)"
        r"(?i:ecret(?:[_-]?(?:key|seed)(?:[_-]base)?|[_-]?string|[_-]?(?:access[_-]?)?key|[_-]?hash|[ _-]id)?)",
    ),
    Field(
        "api-key",
        _names("api", "access", "account", last="key"),
        r"(?i:(?:pi|ccess|ccount)[_-]?key)(?:[_-]?(?i:secret))?",
    ),
    Field("secret", _names(*_KEYS, last="key"), _KEY_NAME, accept=is_named),
    Field(
        "secret",
        ("_KEY",),
        "_KEY",
        accept=is_named,
        before=r"(?<![A-Za-z0-9_])(?!\w*(?:PUBLIC|PRIMARY|FOREIGN|PARTITION|SORT|CACHE|IDEMPOTENCY|ROW|HASH|GROUP|ROUTING"
        r"|OBJECT|S3|LOOKUP|UNIQUE|STORAGE|REGISTRY|HOT|HKEY))[A-Z][A-Z0-9_]{1,60}\Z",
    ),
    Field("credential", _names("credential"), r"(?i:redentials?)"),
    Field("cookie", _names("cookie"), r"(?i:ookie)", rf"(?P<secret>{COOKIES})", has_session),
    Field("authorization", ("auth",), "auth", r"(?P<secret>[A-Za-z0-9+/]{8,}+={0,2})", is_basic),
    Field(
        "authorization",
        _names("authorization"),
        r"(?i:uthorization)",
        rf"(?:[A-Za-z][A-Za-z0-9-]{{1,30}}(?: |%20|\+){{1,3}})?{CREDENTIALS}",  # a scheme may be anybody's: SSWS
        lambda value: is_named(value) or is_basic(value),
    ),
)
