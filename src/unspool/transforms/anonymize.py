"""E-mail addresses whose people cannot be told, but still be told apart.

The part before the `@` becomes sixteen letters and digits of a keyed hash: the same address has the same replacement,
on each run and on each machine that has the key. The domain stays, in small letters. Addresses of repositories
(`git@host`) name nobody, and URLs must still lead to the same place, so both are left alone; but what a URL asks for,
behind its `?` or `#`, may be somebody's address like any other.
"""

import hmac
import re
from collections import Counter
from string import ascii_lowercase, digits
from typing import Any

_LETTERS = (ascii_lowercase + digits).encode()
_LENGTH = 16
_LONGEST = 64
"""Of the part before the @, says RFC 5321; and no URL with an @ is looked back at further than _REACH."""
_REACH = 2000

_AT = re.compile(rb"@(?<=[A-Za-z0-9_%+-]@)(?=[A-Za-z0-9])")
_ANY_AT = re.compile(rb"@(?<=[A-Za-z0-9_%+-]@)(?=[A-Za-z0-9])|%40")
"""Queries of URLs have it as %40. What may stand around it is asked at once: a run of nothing else costs no seconds."""
_LOCAL = re.compile(rb"[A-Za-z0-9._+%-]*\Z")
_LOCAL_IN_QUERY = re.compile(rb"(?:(?<=%[0-9A-Fa-f]{2})|(?<![A-Za-z0-9._+%-]))[A-Za-z0-9._+-]*\Z")
"""There %3D and the like stand between a name and what is before it."""
_ESCAPE = re.compile(rb"(?<=\\)(?:[nrtbf]|u[0-9a-fA-F]{4})")
"""Of JSON. It is no part of the name that follows it, even where a text only looks like JSON: see `secrets`."""
_DOMAIN = re.compile(
    rb"(?![0-9]x\.|[0-9]+\.[0-9]+[.-])"  # icon@2x.png, lodash@4.17.x
    rb"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}(?![A-Za-z0-9_@-])"
)
_NOT_IN_PLACE = re.compile(rb"[^!$-&(*+\-./0-9:;=@A-Z\[\]^_a-z{}~]")
"""What cannot stand in the part of a URL that says where it leads."""


class Anonymizer:
    def __init__(self, key: bytes) -> None:
        self._key = key
        self.counts: Counter[str] = Counter()
        """How many addresses were replaced."""

    def text(self, text: str) -> str:
        if "@" not in text and "%40" not in text:
            return text
        data = text.encode("utf-8", "surrogatepass")
        anonymous = self.raw(data)
        return text if anonymous is data else anonymous.decode("utf-8", "surrogatepass")

    def values(self, value: Any) -> Any:
        """Any JSON value without addresses. Keys stay; what holds no address is not copied."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            items = [self.values(inner) for inner in value]
            return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        if isinstance(value, dict):
            changed = {key: new for key, inner in value.items() if (new := self.values(inner)) is not inner}
            return {**value, **changed} if changed else value
        return value

    def raw(self, data: bytes) -> bytes:
        """JSON as it was written, or UTF-8 text."""
        pieces: list[bytes] = []
        end = 0
        for mark in (_AT if b"%40" not in data else _ANY_AT).finditer(data):
            at, behind = mark.span()
            local = _local(data, at, _LOCAL if behind - at == 1 else _LOCAL_IN_QUERY)
            domain = _DOMAIN.match(data, behind) if local else None
            if local and domain and local.lower() != b"git" and not _in_url(data, at):
                pieces += [data[end : at - len(local)], self._hashed(local, domain[0], mark[0])]
                end = domain.end()
        return b"".join([*pieces, data[end:]]) if pieces else data

    def _hashed(self, local: bytes, domain: bytes, at: bytes) -> bytes:
        self.counts["email"] += 1
        address = local + b"@" + domain
        number = int.from_bytes(hmac.digest(self._key, address.lower(), "sha256"))
        name = bytearray()
        for _ in range(_LENGTH):
            number, letter = divmod(number, len(_LETTERS))
            name.append(_LETTERS[letter])
        return bytes(name) + at + domain.lower()


def _local(data: bytes, at: int, pattern: re.Pattern[bytes]) -> bytes:
    """What stands before the @, up to what cannot be part of an address."""
    found = pattern.search(data, max(0, at - _LONGEST - 6), at)
    start = found.start() if found else at
    escape = _ESCAPE.match(data, start, at)
    local = data[escape.end() if escape else start : at].lstrip(b".")
    return local if len(local) <= _LONGEST and not local.endswith(b".") else b""


def _in_url(data: bytes, at: int) -> bool:
    start = data.rfind(b"://", max(0, at - _REACH), at)
    return start >= 0 and not _NOT_IN_PLACE.search(data, start, at)
