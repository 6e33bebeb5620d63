"""Secrets that a file, an address, a call or a command's output shows to be one, where no name says it."""

import re

from unspool.transforms.likely import is_named, is_password
from unspool.transforms.shapes import LINE, QUOTE, VALUE, Rule

_H = r"[0-9a-f]"
_OUTPUT = rf"[^\n\\]{{0,200}}(?:{LINE}){{1,3}}{VALUE}(?=\s|\\|\Z|[\"'`])"
"""The rest of a command's line, and its first line of output."""
_BODY = rf"[A-Za-z0-9+/]{{16,}}(?:(?:{LINE}){{1,20}}[A-Za-z0-9+/]{{16,}})*={{0,2}}"
_WORD = r"(?:[0-9]{1,2}[.)] ?)?[a-z]{3,8}"
_NOT_MNEMONIC = frozenset(
    b"the and for are was were has had been being you your with from into then than there their they which what where "
    b"how its our not but his her them these those must should would could may might does did".split()
)
_CODE = r"[a-z0-9]{4,6}-[a-z0-9]{4,6}(?:-[a-z0-9]{4,6})?"


def _is_mnemonic(value: bytes) -> bool:
    """Return whether words may recover a wallet: as many as such phrases have, and none that only sentences have."""
    words = re.findall(rb"[a-z]+", re.sub(rb"\\+[nrt]", b" ", value))
    return len(words) in (12, 15, 18, 21, 24) and _NOT_MNEMONIC.isdisjoint(words) and len(set(words)) > len(words) // 2


def _has_digits(value: bytes) -> bool:
    return re.search(rb"[0-9]", value) is not None and re.search(rb"[a-z]{2}|[a-z][0-9]", value) is not None


DER: tuple[Rule, ...] = tuple(
    Rule("private-key", (literal,), re.escape(literal) + _BODY, lead=lead)
    for literal, lead in (
        ("IBADANBgkqhkiG9w0BAQEFAASC", "MII[A-Za-z0-9]{1,3}"),
        ("IBAAKC", "MII[A-Za-z0-9]{1,3}"),
        ("IBAAKB", "MII[A-Za-z0-9]{1,3}"),
        ("IBAzCC", "MII[A-Za-z0-9]{1,3}"),
        ("AgEAMBMGByqGSM49AgEG", "MIGH|MIGT|MIG2|MIG[A-Za-z0-9]"),
        ("CAQEEI", "MH[A-Za-z0-9]"),
        ("CAQAwBQYDK2Vw", "MC4|ME[A-Za-z0-9]"),
    )
)
"""Private keys in base64, by the first bytes of their structure: RSA, PKCS#8, PKCS#12, and elliptic curves."""

CONTEXTS: tuple[Rule, ...] = (
    Rule("api-key", ("ppid=", "PPID="), rf"(?<=[aA])(?i:ppid)=(?P<secret>{_H}{{32}})"),
    Rule("api-key", ("?key=", "&key="), rf"[?&]key={VALUE}", is_named),
    Rule("authorization", ("?code=", "&code="), r"[?&]code=(?P<secret>[A-Za-z0-9._~/%-]{20,400})", is_named),
    Rule(
        "url-signature",
        ("ignature=",),
        rf"ignature=(?:{QUOTE})?(?P<secret>(?:[A-Za-z0-9+/_-]|%[0-9A-Fa-f]{{2}}){{24,800}}={{0,2}})",
        is_named,
    ),
    Rule(
        "token",
        ("SAMLResponse=", "SAMLRequest="),
        r"SAML[A-Z][a-z]+=(?P<secret>(?:[A-Za-z0-9+/_-]|%[0-9A-F]{2}){40,60000}={0,2})",
    ),
    Rule("authorization", ("Digest ",), rf"Digest [^\n]{{0,600}}?response=\\*\"(?P<secret>{_H}{{32,64}})"),
    Rule(
        "cookie",
        ("E\t/",),
        rf"(?<=TRU|ALS)E\t/[^\t\n]{{0,100}}\t[A-Z]{{4,5}}\t[0-9]{{1,12}}\t[^\t\n]{{1,100}}\t{VALUE}",
        is_named,
    ),
    Rule(
        "cookie",
        ("E\\t/",),
        rf"(?<=TRU|ALS)E\\t/[^\\]{{0,100}}\\t[A-Z]{{4,5}}\\t[0-9]{{1,12}}\\t[^\\]{{1,100}}\\t{VALUE}",
        is_named,
    ),
    Rule(
        "secret",
        ("Fernet(", "Wallet(", "from_key(", "fromSecretKey(", "SecretKeySpec(", "HMAC("),
        rf"(?:Fernet|Wallet|from_key|fromSecretKey|SecretKeySpec|HMAC)\((?:[bru])?{QUOTE}{VALUE}",
        lambda value: is_named(value) and len(value) >= 32,
    ),
    Rule(
        "password",
        (
            "op read ",
            "pass show ",
            "initial-password",
            "get secret",
            "print-access-token",
            "get password",
            "auth:token",
            "output -raw",
        ),
        r"(?:op read|pass show|initial-password|get secret|print-access-token|get password|auth:token|output -raw)"
        rf"{_OUTPUT}",
        is_named,
    ),
    Rule(
        "private-key",
        ("wg genkey", "wg genpsk", "pwgen"),
        rf"(?:wg gen[a-z]{{3}}|pwgen){_OUTPUT}",
        is_named,
    ),
    Rule(
        "secret",
        ("master.key", "production.key", "credentials.key"),
        rf"[a-z]{{6,12}}\.key[^\n\\A-Za-z0-9]{{0,3}}(?:{LINE}){{1,3}}(?P<secret>{_H}{{32}})(?![0-9a-z])",
    ),
    Rule(
        "secret",
        ("SecureString",),
        rf"SecureString\\*\",(?:{LINE}){{0,40}}\\*\"Value\\*\": ?\\*\"{VALUE}",
        is_password,
    ),
    Rule("password", ("random_password",), rf"random_password[^\0]{{1,400}}?result\\*\": ?\\*\"{VALUE}", is_password),
    Rule("secret", ("nseal Key ",), r"nseal Key [0-9]{1,2}: {1,3}(?P<secret>[A-Za-z0-9+/]{40,70}={0,2})"),
    Rule("private-key", ("AQAAABAAAA",), r"AQAAABAAAA[A-Za-z0-9+/]{30,400}={0,2}(?=\})"),
    Rule(
        "recovery-code",
        ("ecovery code", "ackup code"),
        rf"(?:ecovery|ackup) codes?(?: is| are)?:?(?:{LINE}|[`\"'*-]){{1,6}}"
        rf"(?P<secret>{_CODE}(?:(?:[,;]|{LINE}){{1,4}}(?:[0-9]{{1,2}}[.)] ?)?{_CODE}){{0,20}})",
        _has_digits,
    ),
    Rule(
        "mnemonic",
        tuple(
            name.replace("@", " ")
            for name in (
                "nemonic NEMONIC eed@phrase eed_phrase SEED_PHRASE eedPhrase ecovery@phrase ecovery_phrase "
                "ecoveryPhrase RECOVERY_PHRASE ecret@phrase ecret_phrase ackup@phrase SECRET_PHRASE allet@words "
                "eed@words ecovery@words"
            ).split()
        ),
        rf"[A-Za-z_ ]{{7,15}}(?: ?(?:is|are|words|was))?[^\w]{{0,4}}(?:{LINE}|{QUOTE}|[:=(]){{1,12}}"
        rf"(?P<secret>{_WORD}(?:(?:,|{LINE}){{1,3}}{_WORD}){{11,23}})(?![a-z])",
        _is_mnemonic,
    ),
)
