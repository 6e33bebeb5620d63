"""Secrets out, placeholders in: on the way out, never before hashing.

`[REDACTED:anthropic-key:3f2a]` tells the kind and four digits of a keyed hash: the same secret has the same placeholder
everywhere, and without the key nobody can try which secret it was.
"""

import hmac
import re
from collections import Counter
from typing import Any

from unspool.transforms.redaction import kubernetes
from unspool.transforms.redaction.spans import fields, spans_of, value_span

_SHORTEST = 8
"""Nothing shorter holds a secret."""
_SHORTEST_KEY = 16
"""No shorter name of an object's member is a key of a service."""
_NAMES = ("name", "key", "Name", "Key", "id")
_BETWEEN = '"\n'
"""Joins strings that are searched as one. A secret may end at a quotation mark, at the end of a line or of the text:
no rule may find less in the joined strings than in each of them."""
_FOLDED = re.compile(r"\\+(?:[nrt]|u2192|u2502)?|\s|→|│".encode())
"""What parts the lines of a private key, in a text or in JSON."""


_NEEDLESS = re.compile(
    rb"(?<!\\)((?>(?:\\\\)*))\\(?:(/)"
    rb"|u00(2[013-5789a-fA-F]|3[0-9abdfABDF]|[46][0-9a-fA-F]|5[0-9abd-fABD-F]|7[0-9a-eA-E]))"
)
"""Escapes in JSON of what needs none, but for `&`, `<` and `>`: those are no part of a secret, and often written so."""


class Redactor:
    def __init__(self, key: bytes) -> None:
        self._key = key
        self.counts: Counter[str] = Counter()
        """How many secrets of each kind were taken out."""

    def text(self, text: str) -> str:
        return self._text(text, None)

    def values(self, value: Any) -> Any:
        """Return any JSON value without its secrets, in names of members too. A clean value is not copied."""
        return self._values(value, None)

    def raw(self, data: bytes) -> bytes:
        """JSON as it was written, or UTF-8 text. The rules know the escapes that JSON needs.

        Needless ones (PHP's `\\/`, .NET's `\\u002B`) may hide a secret. If so they are undone: no value changes.
        """
        if (b"\\/" in data or b"\\u00" in data) and _NEEDLESS.search(data):
            plain = _NEEDLESS.sub(_undone, data)
            if spans_of(plain, None) != spans_of(data, None):
                data = plain
        return self._redacted(data, None)

    def _values(self, value: Any, name: str | None) -> Any:
        """All strings of a value are searched as one, because searching many short ones would cost several times more.

        Only in what turns out to hold a secret are those of its parts searched.
        """
        if isinstance(value, str):
            return self._text(value, name)
        texts: list[str] = []
        if not _gather(value, texts) and not spans_of(_bytes(_BETWEEN.join(texts)), None):
            return value
        redacted = self._object(value) if isinstance(value, dict) else [self._values(inner, None) for inner in value]
        return value if redacted == value else redacted  # only together did the texts look like a secret

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        is_secret = kubernetes.is_secret(value)
        redacted: dict[str, Any] = {}
        for key, inner in value.items():
            name = self._text(key, None) if isinstance(key, str) else key
            while name in redacted:  # two secrets of one kind may have the same four digits
                name += "'"
            if is_secret and key in kubernetes.DATA_KEYS and isinstance(inner, dict):
                redacted[name] = {entry: self._entry(data) for entry, data in inner.items()}
            else:
                redacted[name] = self._values(inner, _called(value, key))
        return redacted

    def _entry(self, value: Any) -> Any:
        """Return a value of a Kubernetes Secret without what it says."""
        if not isinstance(value, str) or not kubernetes.is_entry(_bytes(value)):
            return self._values(value, None)
        return self._placeholder("kubernetes-secret", _bytes(value)).decode()

    def _text(self, text: str, name: str | None) -> str:
        if len(text) < _SHORTEST:
            return text
        data = _bytes(text)
        redacted = self._redacted(data, name)
        return text if redacted is data else redacted.decode("utf-8", "surrogatepass")

    def _redacted(self, data: bytes, name: str | None) -> bytes:
        """Again until nothing is found: what is left beside a placeholder must not become a secret the next time."""
        while spans := spans_of(data, name):
            pieces, end = [], 0
            for span in spans:
                pieces += [data[end : span.start], self._placeholder(span.kind, data[span.start : span.end])]
                end = span.end
            data = b"".join([*pieces, data[end:]])
        return data

    def _placeholder(self, kind: str, secret: bytes) -> bytes:
        self.counts[kind] += 1
        digest = hmac.digest(self._key, _FOLDED.sub(b"", secret), "sha256")
        return f"[REDACTED:{kind}:{digest.hex()[:4]}]".encode()


def _undone(escape: re.Match[bytes]) -> bytes:
    return escape[1] + (escape[2] or bytes.fromhex(escape[3].decode()))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _gather(value: Any, texts: list[str]) -> bool:
    """Add the strings in it to `texts`, unless one is a secret by its key: then True."""
    if isinstance(value, dict):
        if kubernetes.is_secret(value):
            return True
        for key, inner in value.items():
            if len(key) >= _SHORTEST_KEY:
                texts.append(key)
            if not isinstance(inner, str):
                if _gather(inner, texts):
                    return True
            elif len(inner) >= _SHORTEST:
                name = _called(value, key)
                if fields(name) and value_span(_bytes(inner), name):
                    return True
                texts.append(inner)
    elif isinstance(value, list):
        for inner in value:
            if isinstance(inner, str):
                texts.append(inner)
            elif _gather(inner, texts):
                return True
    return False


def _called(value: dict[str, Any], key: str) -> str:
    """What a value is called: by its key, or by another value, as in `{"name": "DB_PASSWORD", "value": …}`."""
    if key.lower() != "value":
        return key
    name = next(filter(None, map(value.get, _NAMES)), None)
    return name if isinstance(name, str) else key
