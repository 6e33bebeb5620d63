"""Secrets out, placeholders in: on the way out, never before hashing.

`[REDACTED:anthropic-key:3f2a]` tells the kind and four digits of a keyed hash: the same secret has the same placeholder
everywhere, and without the key nobody can try which secret it was.

Most text holds no secret, and to learn that is all that costs. Each rule names literals; each literal is looked for by
one of its rarer bytes, all those with the same byte in one go; only where a literal stands are its rules tried.
"""

import hmac
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from unspool.transforms.scanning import holds
from unspool.transforms.secrets import FIELDS, RULES, WEAK, Field

_NEEDLES = (*map(str.encode, "J~XZzQKWqGBICk:w-_"), b"login", b"auth", b"ass", b"SS", b"$")
"""What literals are looked for by, the rarest first. A literal that has none of these is looked for whole."""
_SHORTEST = 8
"""Nothing shorter holds a secret."""
_SHORT = 8192
"""So little is swept at once."""
_LONG = 300
_LEFT = re.compile(rb"[A-Za-z0-9+/_.~%=-]*")
_FOLDED = re.compile(r"\\+(?:[nrt]|u2192|u2502)?|\s|→|│".encode())
"""What parts the lines of a private key, in a text or in JSON."""


_NEEDLESS = re.compile(
    rb"(?<!\\)((?:\\\\)*+)\\(?:(/)"
    rb"|u00(2[013-5789a-fA-F]|3[0-9abdfABDF]|[46][0-9a-fA-F]|5[0-9abd-fABD-F]|7[0-9a-eA-E]))"
)
"""Escapes in JSON of what needs none, but for `&`, `<` and `>`: those are no part of a secret, and often written so."""


class _Span(NamedTuple):
    start: int
    rank: int
    """Of its rule: where two begin, the earlier rule knows better."""
    end: int
    kind: str


class _Tried(NamedTuple):
    """A rule, ready to be matched where one of its literals stands."""

    match: Callable[[bytes, int], re.Match[bytes] | None]
    accept: Callable[[bytes], bool]
    kind: str
    group: str | int
    back: int
    rank: int


class _Search:
    """All literals with one byte in common: where it stands, and which of them stands around it.

    More than one may: `-key ` and `pi-key`. A hit tells one of them, and `tried` the rules of all that may stand there.
    """

    def __init__(self, byte: bytes, literals: list[bytes], rules: dict[bytes, list[_Tried]]) -> None:
        self.byte = byte
        rests: dict[bytes, list[bytes]] = defaultdict(list)
        for literal in literals:
            rests[literal[literal.index(byte) + len(byte) :]].append(literal)
        self.literals = [literal for group in rests.values() for literal in group]
        around = b"|".join(re.escape(rest) + _look_back(group, len(byte + rest)) for rest, group in rests.items())
        self.pattern = re.compile(re.escape(byte) + b"(?:%b)" % around)
        self.tried = [_beside(literal, literals, byte, rules) for literal in self.literals]

    def hits(self, data: bytes, place: int) -> Iterator[re.Match[bytes]]:
        """One place after another while the byte is rare, then in one sweep, which is slower to pass over nothing."""
        for _ in range(4 + len(data) // 1024):
            if hit := self.pattern.match(data, place):
                yield hit
            place = data.find(self.byte, place + 1)
            if place < 0:
                return
        yield from self.pattern.finditer(data, place)


def _look_back(literals: list[bytes], known: int) -> bytes:
    """Which of the literals ends here, as the number of an empty group; `known` bytes of their ends are certain.

    First whether any may, by the letters that they have in each place: nearly all that is no literal ends there.
    """
    shared = min(map(len, literals))
    places = zip(*(literal[-shared:-known] for literal in literals), strict=True)
    letters = b"".join(b"[%b]" % re.escape(bytes(sorted(set(place)))) for place in places)
    guard = b"(?<=%b%b)" % (letters, re.escape(literals[0][-known:])) if letters else b""
    return guard + b"(?:%b)" % b"|".join(b"(?<=%b)()" % re.escape(literal) for literal in literals)


def _beside(
    literal: bytes, literals: list[bytes], byte: bytes, rules: dict[bytes, list[_Tried]]
) -> list[tuple[bytes, int, _Tried]]:
    """The rules of all literals that may stand where this one does, strong ones first; and where each begins."""
    before, _, after = literal.partition(byte)
    found = []
    for other in literals:
        left, _, right = other.partition(byte)
        if (left.endswith(before) or before.endswith(left)) and (right.startswith(after) or after.startswith(right)):
            found += [(other, len(left), rule) for rule in rules[other]]
    return sorted(found, key=lambda each: each[2].rank)


def _searches(rules: dict[bytes, list[_Tried]]) -> list[_Search]:
    groups: dict[bytes, list[bytes]] = defaultdict(list)
    for literal in sorted(rules):
        byte = next((needle for needle in _NEEDLES if needle in literal), literal)
        groups[byte].append(literal)
    return [_Search(byte, literals, rules) for byte, literals in groups.items()]


def _by_literal() -> dict[bytes, list[_Tried]]:
    """The rules of each literal, in their order: strong ones first."""
    tried: dict[bytes, list[_Tried]] = defaultdict(list)
    for rank, rule in enumerate((*RULES, *WEAK)):
        pattern = re.compile(rule.pattern.encode())
        group = "secret" if pattern.groupindex else 0
        for literal in rule.literals:
            tried[literal.encode()].append(_Tried(pattern.match, rule.accept, rule.kind, group, rule.back, rank))
    return tried


def _ending(field: Field) -> str:
    """A name that ends as the field's does, and holds one of its literals: what a search would find in JSON."""
    return rf"(?={'|'.join(map(re.escape, field.literals))})(?:{field.name})\Z"


_SEARCHES = _searches(_by_literal())
_NAMED = [(field, re.compile(_ending(field)), re.compile(field.value.encode())) for field in FIELDS]


class Redactor:
    def __init__(self, key: bytes) -> None:
        self._key = key
        self.counts: Counter[str] = Counter()
        """How many secrets of each kind were taken out."""

    def text(self, text: str) -> str:
        return self._text(text, None)

    def values(self, value: Any) -> Any:
        """Any JSON value without its secrets. Keys stay; what holds no secret is not copied."""
        return self._values(value, None)

    def raw(self, data: bytes) -> bytes:
        """JSON as it was written, or UTF-8 text. The rules know the escapes that JSON needs.

        Needless ones (PHP's `\\/`, .NET's `\\u002B`) may hide a secret. If so they are undone: no value changes.
        """
        if (b"\\/" in data or b"\\u00" in data) and _NEEDLESS.search(data):
            plain = _NEEDLESS.sub(_undone, data)
            if _spans(plain, None) != _spans(data, None):
                data = plain
        return self._redacted(data, None)

    def _values(self, value: Any, name: str | None) -> Any:
        """All strings of a value are searched as one, because searching many short ones would cost several times more.

        Only in what turns out to hold a secret are those of its parts searched.
        """
        if isinstance(value, str):
            return self._text(value, name)
        texts: list[str] = []
        if not _gather(value, texts) and not _spans(_bytes("\0".join(texts)), None):
            return value
        if isinstance(value, dict):
            return {key: self._values(inner, _called(value, key)) for key, inner in value.items()}
        return [self._values(inner, None) for inner in value]

    def _text(self, text: str, name: str | None) -> str:
        if len(text) < _SHORTEST:
            return text
        data = _bytes(text)
        redacted = self._redacted(data, name)
        return text if redacted is data else redacted.decode("utf-8", "surrogatepass")

    def _redacted(self, data: bytes, name: str | None) -> bytes:
        """Again until nothing is found: what is left beside a placeholder must not become a secret the next time."""
        while spans := _spans(data, name):
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
        for key, inner in value.items():
            if not isinstance(inner, str):
                if _gather(inner, texts):
                    return True
            elif len(inner) >= _SHORTEST:
                name = _called(value, key)
                if _fields(name) and _value_span(_bytes(inner), name):
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
    if key != "value":
        return key
    name = value.get("name") or value.get("key")
    return name if isinstance(name, str) else key


def _spans(data: bytes, name: str | None) -> list[_Span]:
    """The secrets in it, in order: those that tell themselves, and only if there are none, those that others tell."""
    spans: list[_Span] = []
    short = len(data) < _SHORT
    for search in _SEARCHES:
        if not short and len(search.byte) > 1 and not holds(data, search.byte):  # `find` is fast for single bytes only
            continue
        if (place := data.find(search.byte)) < 0:
            continue
        last = None
        for hit in search.pattern.finditer(data, place) if short else search.hits(data, place):
            if last is not None and last.start <= hit.start() < last.end:  # a run of beginnings is one secret
                continue
            for literal, before, (match, accept, kind, group, back, rank) in search.tried[(hit.lastindex or 1) - 1]:
                place = hit.start() - before
                if (
                    place >= back
                    and data.startswith(literal, place)
                    and (found := match(data, place - back))
                    and accept(found[group])
                ):
                    spans.append(_Span(found.start(group), rank, found.end(group), kind))
                    last = spans[-1] if rank < len(RULES) else last
                    break
    if name is not None and (span := _value_span(data, name)):
        spans.append(span)
    strong = [span for span in spans if span.rank < len(RULES)]
    return _apart(strong or spans, data)


def _value_span(data: bytes, name: str) -> _Span | None:
    for rank, field, value in _fields(name):
        if (found := value.match(data)) and field.accept(found["secret"]):
            return _Span(found.start("secret"), rank, found.end("secret"), field.kind)
    return None


@lru_cache(4096)
def _fields(name: str) -> list[tuple[int, Field, re.Pattern[bytes]]]:
    """Those that an object's key names, with their ranks among the rules that it stands for."""
    return [
        (rank, field, value)
        for rank, (field, named, value) in enumerate(_NAMED, len(RULES) + len(WEAK) - len(FIELDS))
        if named.search(name)
    ]


def _apart(spans: list[_Span], data: bytes) -> list[_Span]:
    """In order, and of those that overlap the first.

    One that is longer than any key ends where its rule has read enough. What is left of it would begin the next secret,
    again and again, so it goes with it.
    """
    apart: list[_Span] = []
    for span in sorted(spans):
        if not apart or span.start >= apart[-1].end:
            is_long = span.end - span.start >= _LONG and span.kind != "private-key"
            left = _LEFT.match(data, span.end) if is_long else None
            apart.append(span._replace(end=left.end()) if left else span)
    return apart
