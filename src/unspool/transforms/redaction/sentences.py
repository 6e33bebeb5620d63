"""Passwords that a sentence announces, in many languages: "Das Passwort lautet: …"."""

import json

from unspool.transforms.likely import is_announced
from unspool.transforms.shapes import QUOTE, QUOTED, Rule

_ASCII = {
    "asswort": "asswort",
    "ennwort": "ennwort",
    "ot de passe": "ot de passe",
    "ontrase": r"ontrase(?:ñ|\\+u00[fF]1|n)a",
    "lave": r"(?<=[cC])(?<![A-Za-z].)lave",
    "enha": r"(?<=[sS])(?<![A-Za-z].)enha",
    "avra-passe": "avra-passe",
    "achtwoord": "achtwoord",
    "eslo ": "(?<=[hH])eslo",
    "eslo:": "(?<=[hH])eslo",
    "alasana": "alasana",
    "arola": r"(?<=[pP])arola(?: d.ordine)?",
    "assord": "(?<=[pP])assord(?:et)?",
    "gangskode": "gangskoden?",
    "ata sandi": "ata sandi",
    "elsz": r"(?<=[jJ])elsz(?:ó|\\+u00f3)",
}
_OTHER = (
    "asło ифр арол ωδικ 密码 密碼 口令 暗証番号 パスワード 비밀번호 암호 كلمة_المرور كلمة_السر "
    "סיסמה पासवर्ड รหัสผ่าน khẩu Şifre şifre ösenord گذرواژه"
).split()
_ENDS = {"арол": r"арол(?:[\x80-\xff]{2}){0,2}", "ωδικ": "ωδικός?(?: πρόσβασης)?"}
_VERBS = ("is was lautet ist war est es era é è to je on är er este είναι là adalah bu jest").split()
_ESCAPED_VERB = r"[a-z]{0,8}(?:\\+u[0-9a-f]{4}[a-z]{0,8}){1,12}"
"""A verb with letters that JSON escapes."""
_PARTICLES = "は|が|是|为|為|는|은|이|가|को"
_LINK = (
    rf"(?:[^\S\r\n]?(?:[:=]|：)[^\S\r\n]{{0,2}}|[^\S\r\n](?:—|–|-|->|→)[^\S\r\n]|[^\S\r\n]?(?:{_PARTICLES})(?::|：)?[^\S\r\n]?"
    rf"|[^\S\r\n](?:{'|'.join(_VERBS)}|{_ESCAPED_VERB})(?::|：)?[^\S\r\n]|\*\*(?::|：)?[^\S\r\n]?|(?::|：)\*\*[^\S\r\n]?)"
)
_SPOKEN = _LINK.replace("[:=]", ":", 1)
"""The same without `=`: `password=…` is no sentence."""
_FILLER = r"[a-z]{0,3}(?:[^\S\r\n][^\s:=\"'`\\]{1,30}){0,4}?"
_VALUE = rf"(?P<secret>(?<=[\"'`]){QUOTED}|[A-Za-z0-9!#$%^*+_.?@~-]{{5,80}}[A-Za-z0-9!#$%^*+_?@~-])"
_VALUE += r"(?=[\s,;.)\"'`\\<]|\Z|[^\x00-\x7f])"


def _escaped(word: str) -> str:
    """Return an expression for a word as JSON may write it."""
    return "".join(
        letter if letter.isascii() else rf"\\+u{json.dumps(letter)[3:-1]}" if len(json.dumps(letter)) == 8 else letter
        for letter in word
    )


def _announced(word: str) -> list[Rule]:
    """Return the rules for a word that is not ASCII: in UTF-8, and escaped in JSON."""
    word = word.replace("_", " ")
    pattern = _ENDS.get(word, word)
    tail = rf"{_FILLER}{_LINK}(?:{QUOTE})?{_VALUE}"
    rules = [Rule("password", (word,), pattern + tail, is_announced)]
    if not word.isascii():
        first = next(place for place, letter in enumerate(word) if not letter.isascii())
        literal = json.dumps(word[first])[2:7]
        link = rf"(?:{_LINK}|[^\S\r\n]?\\+u(?:ff1a|306f|662f|4e3a|70ba|b294|c740|2014|2013)[^\S\r\n]?)"
        filler = r"[a-z]{0,3}(?:\\+u[0-9a-f]{4}){0,3}(?:[^\S\r\n][^\s:=\"'`]{1,60}){0,4}?"
        rules.append(
            Rule(
                "password", (literal,), f"{_escaped(word[first:])[3:]}{filler}{link}(?:{QUOTE})?{_VALUE}", is_announced
            )
        )
    return rules


SENTENCES: tuple[Rule, ...] = (
    *(
        Rule("password", (literal,), rf"{word}{_FILLER}{_LINK}(?:{QUOTE})?{_VALUE}", is_announced)
        for literal, word in _ASCII.items()
    ),
    *(rule for word in _OTHER for rule in _announced(word)),
    Rule(
        "password",
        ("assword", "assphrase"),
        rf"ass(?:word|phrase){_FILLER}{_SPOKEN}(?:{QUOTE})?{_VALUE}",
        is_announced,
    ),
    Rule(
        "password",
        ("redential", "ogin with ", "og in with ", "ogin as ", "ign in with ", "ogin: "),
        r"(?:redentials?|og ?in|ign in)(?: (?:with|as|are|is|using|for))?:? {1,2}[A-Za-z0-9._@+-]{1,60} ?[/:] ?"
        rf"(?:{QUOTE})?{_VALUE}",
        is_announced,
    ),
)
