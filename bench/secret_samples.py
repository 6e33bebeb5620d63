"""Draw secrets in their places: kind times place, from a seed."""

import random
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from secret_files import FILES
from secret_forms import FORMS, draw
from secret_places import ENCODED, NAMED, PASSWORDS, PLAIN, SENTENCES
from secret_words import NAMES, USERS, password, phrase, value

CARRIERS = ("tool result", "tool argument", "prompt", "thinking", "answer")


@dataclass(frozen=True)
class Sample:
    """One text with a secret in it."""

    group: str
    kind: str
    place: str
    carrier: str
    text: str
    secrets: tuple[str, ...]
    """What must not be left of the text, in any part that is half as long or longer."""

    def leaks(self, redacted: str) -> bool:
        """Whether half of a secret is left."""
        return any(_is_left(secret, redacted) for secret in self.secrets)


def _is_left(secret: str, text: str) -> bool:
    size = max((len(secret) + 1) // 2, min(6, len(secret)))
    return any(secret[start : start + size] in text for start in range(len(secret) - size + 1))


def places(lines: str) -> dict[str, str]:
    """Return the templates of a table by name, with line breaks and escape characters in them."""
    table = dict(line.split(None, 1) for line in lines.strip().splitlines())
    return {name: _unescaped(template) for name, template in table.items()}


def _unescaped(template: str) -> str:
    marks = {"n": "\n", "r": "\r", "t": "\t", "e": "\x1b", "\\": "\\"}
    return re.sub(r"\\([nrte\\])", lambda escape: marks[escape[1]], template)


def _camel(name: str) -> str:
    first, *others = name.lower().split("_")
    return first + "".join(map(str.title, others))


def _wrap(text: str, width: int, indent: str = "") -> str:
    return f"\n{indent}".join(text[start : start + width] for start in range(0, len(text), width))


def fill(template: str, secret: str, name: str, chance: random.Random) -> str:
    """Return a template with the secret, its name and its user in it."""
    half = len(secret) // 2
    dotenv = f"DEBUG=0\n{name}={secret}\nPORT=8080\n"
    encoded = b64encode(dotenv.encode()).decode()
    parts = {
        "S": secret,
        "N": name,
        "n": name.lower(),
        "k": name.lower().replace("_", "-"),
        "c": _camel(name),
        "U": chance.choice(USERS),
        "P": quote(secret, safe=""),
        "Q": "".join(f"%{byte:02X}" for byte in secret.encode()),
        "L": secret[:half],
        "R": secret[half:],
        "B": encoded,
        "W": _wrap(encoded, 76, "  "),
        "K": b64encode(secret.encode()).decode(),
        "H": _wrap(dotenv.encode().hex(), 60),
        "X": secret.encode().hex(),
        "Y": secret.encode().hex().upper(),
    }
    return re.sub(r"@([SNnkcUPQLRBWKHXY])(?![a-z])", lambda mark: parts[mark[1]], template)


def _kept(template: str, secret: str, text: str) -> tuple[str, ...]:
    """Return the forms of the secret that a place holds."""
    forms = [secret, quote(secret, safe="")]
    if "@L" in template:
        forms = [secret[: len(secret) // 2], secret[len(secret) // 2 :]]
    elif not any(form in text for form in forms):
        runs = re.findall(r"[A-Za-z0-9+/%]{20,}={0,2}", text)
        return tuple(runs)
    return tuple(form for form in dict.fromkeys(forms) if form in text)


def _file(template: str, chance: random.Random) -> tuple[str, tuple[str, ...]]:
    """Return a file, and the secrets that were drawn for it."""
    secrets: list[str] = []

    def drawn(mark: re.Match[str]) -> str:
        letter, form = mark[1], mark[2] or ""
        if letter == "F":
            secret = draw(form, chance)
        elif letter == "E":
            secret = b64encode(f"jane:{password(chance, '!#*')}".encode()).decode()
        elif letter == "M":
            secret = phrase(int(form), chance)
        else:
            alphabet, width, join = _LINES[letter]
            lines = [draw(f"{{{alphabet}{width}}}", chance) for _ in range(int(form))]
            secrets.extend(lines)
            return join.join(lines)
        secrets.append(secret)
        return secret

    text = re.sub(r"@([FEMDJIOXZ])(?:\{((?:[^{}]|\{[^{}]*\})*)\})?(?![a-z])", drawn, template)
    return text, tuple(secrets)


_LINES = {
    "D": ("b", 64, "\n"),
    "J": ("b", 64, "\\n"),
    "I": ("b", 64, "\n  "),
    "O": ("b", 64, " "),
    "X": ("h", 80, "\n"),
    "Z": ("h", 80, "\n  "),
}


def samples(seed: int) -> Iterator[Sample]:
    """Draw without end: each group has its share, and each kind and place of a group is as likely."""
    chance = random.Random(seed)
    files = places(FILES)
    tables = {"named": places(NAMED), "sentence": places(SENTENCES), "encoded": places(ENCODED)}
    passwords, plain = places(PASSWORDS), places(PLAIN)
    groups = [*FORMS, "named", "named", "password", "sentence", "encoded", "file", "file"]
    while True:
        group = chance.choice(groups)
        carrier = chance.choice(CARRIERS)
        if group == "file":
            place, template = chance.choice(list(files.items()))
            text, secrets = _file(template, chance)
            yield Sample(group, place, place, carrier, text, secrets)
            continue
        name = chance.choice(NAMES)
        if group in FORMS:
            kind, form = chance.choice(list(FORMS[group].items()))
            secret = draw(form, chance)
            table = {"alone": "@S"} if kind.endswith("named") or re.search(r"[\s'/|]|[a-zA-Z]=", form) else plain
        elif group == "password":
            kind, table = "password", passwords
        elif group == "sentence":
            kind, table = "sentence", tables[group]
        else:
            kind, table = group, tables[group]
            secret = value(chance)
        if group == "encoded":
            form = chance.choice([form for forms in FORMS.values() for name_, form in forms.items() if _bare(form)])
            secret = draw(form, chance)
        place, template = chance.choice(list(table.items()))
        if group in ("password", "sentence"):
            is_quoted = re.search(r"[\"'`]@S[\"'`]", template) is not None
            marks = (
                "-_.~*"
                if "://" in template or place in ("sqlplus", "jdbc-oracle")
                else "!#%^*-_+=.?@$&,;()"
                if is_quoted
                else "!#^*-_+.?@"
            )
            secret = password(chance, marks)
        text = fill(template, secret, name, chance)
        yield Sample(group, kind, place, carrier, text, _kept(template, secret, text))


def _bare(form: str) -> bool:
    """Whether a form is a key in one word, and long enough to be broken."""
    return re.fullmatch(r"[A-Za-z0-9_.-]*(\{[awhl]\d\d\}[A-Za-z0-9_.-]*)+", form) is not None and "=" not in form
