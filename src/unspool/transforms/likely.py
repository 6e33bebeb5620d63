"""Whether what stands where a secret would is likely one: what rules ask of a value that they have found."""

import binascii
import re
from base64 import b64decode

from unspool.transforms.redaction.wordlike import is_unlike_words, wordlike

_PLACEHOLDERS = tuple(
    b"xxxx *** ... ---- yyour _your -your example placeholder changeme redacted dummy required 00000000".split()
)
_CHANGE_ME = re.compile(rb"change.?me")
_MIN_ANNOUNCED = 6
_MAX_NAME = 0.62
"""How much like words a value with digits may be: `Ed25519PublicKey` is more."""
_MAX_LENGTH = 200
"""How much of a value is looked at: however long a run of names and marks is, it costs no more than its length."""
_ITSELF = frozenset(b"password passwd pass pwd pw token secret mypassword my_password repo string".split())
_CLASSES = bytes(
    ord("a") if letter.islower() else ord("A") if letter.isupper() else ord("0") if letter.isdigit() else ord(".")
    for letter in (chr(byte) if byte < 128 else "." for byte in range(256))
)
"""Of each byte whether it is a small letter, a capital, a digit, or nothing of these."""
_CHANGES = (b"aA", b"a0", b"0a", b"0A", b"A0")


_NO_PASSWORD = re.compile(
    rb"[*!]?[a-z_][\w.]*\.\w+!?|[*!]?[\w.]+\.[A-Za-z_]+!?|[A-Za-z]+[?!]|\?[A-Za-z_ ]+|[\w.]+\(.*\)"
)
"""A path in code, and a type that GraphQL asks for: `String!`."""


def anything(_: bytes) -> bool:
    return True


def is_placeholder(value: bytes) -> bool:
    """Whether it only stands where a secret would. Plain searches: one expression of all of them costs many times more,
    and hostile text has a value at every third byte."""
    value = value.lower()
    return (
        value.startswith((b"%s", b"your"))
        or value.endswith((b"123456789", b"1234567890"))
        or any(word in value for word in _PLACEHOLDERS)
        or (b"change" in value and _CHANGE_ME.search(value) is not None)
    )


def is_random(value: bytes) -> bool:
    """Whether a machine made it: small letters, capitals and digits take turns, as in no name and no path."""
    value = value[:_MAX_LENGTH]
    if len(value) < 16:
        return False
    classes = value.translate(_CLASSES)
    if classes.count(b"0") < 2 or classes.count(b"a") + classes.count(b"A") < 2:
        return False
    return sum(map(classes.count, _CHANGES)) >= 0.15 * len(value) and not is_placeholder(value)


_NOT_NAMED = re.compile(
    rb"[0-9.,:/_-]+|.*(?:a-z|0-9).*|.*(?:Public|Private|Secret)Key|(?:sha|md|crc|xxh)[0-9]{1,4}[:=-].*|[^A-Za-z]*[A-Za-z]{0,3}[^A-Za-z]*",
    re.DOTALL,
)
"""Numbers, dates, classes of characters in an expression, and checksums that say what they are."""
_PATH = re.compile(rb"(?:[.~]{0,2}/)?(?:[A-Za-z0-9_.@-]{1,40}/)+[A-Za-z0-9_.@-]{0,40}")


def is_named(value: bytes) -> bool:
    """Return whether a value whose name says "secret" may be one: long enough, and unlike words.

    Digits are not required. Where the name says what it is, length and the order of the letters decide.
    """
    value = value[:_MAX_LENGTH]
    if is_random(value):
        return wordlike(value) < _MAX_NAME
    if is_placeholder(value) or _NOT_NAMED.fullmatch(value):
        return False
    if _PATH.fullmatch(value) and not any(map(is_unlike_words, value.split(b"/"))):
        return False
    return is_unlike_words(value)


def is_password(value: bytes) -> bool:
    """Whether it may be a password that somebody chose: no plain word, no path."""
    if stands_for(value):
        return False
    if is_random(value):
        return True
    if value.lower() in _COMMON:
        return True
    value = value[:_MAX_LENGTH]
    if b"/" in value or value[:1] in b".~,;&=)":
        return False
    if not re.search(rb"[0-9!@#%^*?$]", value):
        return value.isalpha() and is_named(value)
    classes = value.translate(_CLASSES)
    if classes.count(b"a") + classes.count(b"A") < 2 or _NO_PASSWORD.fullmatch(value):
        return False
    return not is_placeholder(value)


_ABOUT = re.compile(
    rb"(?i)(?:base|sha|md|utf|ascii|iso|argon|pbkdf|bcrypt|scrypt|aes|rsa|oauth|http|tls|ssl|ipv|v|step|part|user|line"
    rb"|option|python|x|rfc|cve|test)[-_]?[0-9]{1,4}(?:[-_.a-z0-9]{0,3}|[-_][a-z]+)|[\w-]+\.[a-z]{2,4}[0-9]?"
    rb"|[0-9]+(?:-?[a-z]+){1,3}|(?-i:[0-9a-z_]+(?:_[a-z]+)+[0-9]?)"
)
"""What sentences say of a password: how it is kept, how long it is, and in which file."""


def is_announced(value: bytes) -> bool:
    """Return whether "the password is …" continues with one, and not with how it is kept: base64-encoded."""
    if is_named(value):
        return True
    if (
        len(value) < _MIN_ANNOUNCED
        or is_placeholder(value)
        or stands_for(value)
        or _ABOUT.fullmatch(value)
        or _NO_PASSWORD.fullmatch(value)
    ):
        return False
    classes = value.translate(_CLASSES)
    return classes.count(b"0") > 0 and classes.count(b"a") + classes.count(b"A") > 1


_COMMON = frozenset(
    b"letmein qwerty qwertyuiop iloveyou sunshine princess dragon monkey football baseball superman batman starwars "
    b"welcome shadow master michael jordan harley ranger hunter buster soccer killer george charlie andrew daniel "
    b"jennifer joshua freedom whatever ginger cheese computer pepper maggie ashley nicole biteme summer winter flower "
    b"cookie banana orange silver mustang access hockey tigger matrix secret1 asdfgh asdfghjkl zxcvbn zxcvbnm loveme "
    b"lovely hello123 admin123 root123 test1234 pass1234 passw0rd pa55word postgres hunter2 s3cret s3cr3t".split()
)
"""Passwords that many people choose, in small letters."""
_STRONG = re.compile(
    rb"(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[^.:/(){}<>]{8,}|(?=.*[0-9])(?=.*[!@#$%^*])(?=.*[A-Za-z])[^:/(){}<>]{8,}",
    re.DOTALL,
)


def is_strong_password(value: bytes) -> bool:
    """Return whether a value has what rules for passwords ask for: where only the word `pass` says what it is."""
    return is_password(value) and _STRONG.fullmatch(value) is not None


_NO_WORD = frozenset(
    b"true false none null yes no on off string required optional hidden prompt empty unset disabled enabled default "
    b"text input value password passwd changeme change-me secret example test todo required! undefined".split()
)


def is_short_password(value: bytes) -> bool:
    """Return whether a value is a password where a variable of the environment says so: any word, however weak."""
    return not (
        stands_for(value)
        or is_placeholder(value)
        or value.lower() in _NO_WORD
        or value[:1] in b"./"
        or _NO_PASSWORD.fullmatch(value)
        or not any(letter in value for letter in b"abcdefghijklmnopqrstuvwxyz0123456789")
    )


_VARIABLE = re.compile(
    rb"\$[A-Za-z_]\w*|\$[0-9@*]?|%[A-Za-z_]\w*%|%[-0-9.]*[sdrv]|%\(\w+\)s|[{<].*|\*+|\$[({].*", re.DOTALL
)


def stands_for(value: bytes) -> bool:
    """Return whether a value only stands for a password: `$PASSWORD`, `{password}`, `%s`, `***`, or the word itself."""
    return _VARIABLE.fullmatch(value) is not None or value[:4].lower() == b"xxxx" or value.lower() in _ITSELF


def is_key(value: bytes) -> bool:
    """A key behind a prefix that class names in style sheets and branches begin with too."""
    return is_random(value) or (len(value) >= 40 and b"-" not in value[8:] and not is_placeholder(value))


def has_session(value: bytes) -> bool:
    return any(is_random(each.partition(b"=")[2]) for each in value.split(b";"))


def has_key(value: bytes) -> bool:
    """Whether there is a key between its first line and its last, and not only words."""
    return re.search(rb"[A-Za-z0-9+/\\]{40}", value) is not None


def is_private_key(value: bytes) -> bool:
    """Whether it is a private key in base64, as in the files of Kubernetes."""
    return b" PRIVATE KEY-----" in b64decode(value[:60])


def is_basic(value: bytes) -> bool:
    try:
        decoded = b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode().isprintable()
