"""Find the secrets in a text: where they start and end, and of what kind they are.

Most text holds no secret, and to learn that is all that costs. Each rule names literals. Each literal is looked for by
one of its rarer bytes, all literals with the same byte in one go. Only where a literal stands are its rules tried.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from unspool.transforms.redaction import headless, kubernetes
from unspool.transforms.redaction.broken import continued, first_half, joined
from unspool.transforms.redaction.names import FIELDS, Field
from unspool.transforms.redaction.views import views
from unspool.transforms.redaction.words import Keys, encoded_text, word_start
from unspool.transforms.scanning import holds
from unspool.transforms.secrets import RULES, WEAK
from unspool.transforms.shapes import Rule

_NEEDLES = (
    *map(str.encode, "J~XZzQKWGBIC"),
    *(
        word.replace("@", " ").encode()
        for word in (
            "assw hrase HRASE ecret :// oken edential enha lave ogin login E\t/ E\\t/ key pass PASS auth sql mqctl "
            "pw Pwd htwo nwort words in@with gh fm sntry sm_ SSHA SAMLRe code= eslo SecureString"
        ).split(" ")
    ),
    *map(str.encode, "k-"),
    b"$",
)
"""Bytes by which literals are looked for, the rarest first. A literal that has none of these is looked for whole."""
_SHORT = 8192
"""Bytes: a shorter text is swept in one go."""
_LONG = 300
"""Bytes: no key is longer."""
_LEFT = re.compile(rb"[A-Za-z0-9+/_.~%=-]*")
_WORD_LEFT = re.compile(rb"[A-Za-z0-9_-]*")
_RUN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_ESCAPED = re.compile(rb"[nrtbf]|u[0-9a-fA-F]{4}")
_LINE_END = re.compile(rb"\n|\r|\0|\\+[nr](?![a-z])")
_QUOTES = re.compile(rb"""[\\"'`]{1,8}""")
_BEFORE = 300
_LINE_ENDS = (b"\n", b"\r", b"\\")
_LAST = len(RULES) + len(WEAK)
"""The rank of what no rule finds."""
_DEPTH = 2
"""How often what was decoded is decoded again."""


_NOT_BEFORE = {b"oken": rb"(?!s[^A-Za-z]|=[A-Za-z0-9]{1,6}[&\s,;)])"}
"""What may not stand after a byte: numbers of tokens, and values that are too short, are most of what logs hold."""


class Span(NamedTuple):
    """A secret in a text."""

    start: int
    rank: int
    """The number of its rule: where two begin, the earlier rule knows better."""
    end: int
    kind: str


_Find = Callable[[bytes, int], list[tuple[int, int]]]


class _Tried(NamedTuple):
    """A rule, ready to be tried where one of its literals stands."""

    find: _Find
    kind: str
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
        self._rests = rests
        self._rules = rules
        self._tried: dict[int, list[tuple[bytes, int, _Tried]]] = {}

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """Return the expression for all literals. It is made when the byte first occurs: some take milliseconds."""
        around = b"|".join(
            re.escape(rest) + _look_back(group, len(self.byte + rest)) for rest, group in self._rests.items()
        )
        return re.compile(re.escape(self.byte) + _NOT_BEFORE.get(self.byte, b"") + b"(?:%b)" % around)

    def tried(self, number: int) -> list[tuple[bytes, int, _Tried]]:
        """Return the rules that may hold where a literal stands, by its number."""
        if number not in self._tried:
            self._tried[number] = _beside(self.literals[number], self.literals, self.byte, self._rules)
        return self._tried[number]

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
        if rule.is_long:
            continue
        find = _finder(rule, is_strong=rank < len(RULES))
        for literal in rule.literals:
            tried[literal.encode()].append(_Tried(find, rule.kind, rank))
    for literal in kubernetes.LITERALS:
        tried[literal.encode()].append(_Tried(_kubernetes, "kubernetes-secret", _LAST))
    for literal in headless.LITERALS:
        tried[literal.encode()].append(_Tried(headless.key_before, "private-key", _LAST))
    return tried


def _kubernetes(data: bytes, place: int) -> list[tuple[int, int]]:
    return list(kubernetes.entries(data, place))


def _compiled(pattern: str) -> Callable[[], re.Pattern[bytes]]:
    return cache(lambda: re.compile(pattern.encode()))


def _finder(rule: Rule, is_strong: bool) -> _Find:
    """Return the function that looks for the rule's secret, given the place of a literal."""
    accept, back = rule.accept, rule.back
    may_break = is_strong and not rule.lead and rule.kind != "private-key"

    pattern: re.Pattern[bytes] | None = None
    group: str | int = 0
    lead = re.compile(rule.lead.encode()) if rule.lead else None
    before = _compiled(rule.before) if rule.before else None

    def find(data: bytes, place: int) -> list[tuple[int, int]]:
        nonlocal pattern, group
        place -= back
        if place < 0:
            return []
        if pattern is None:  # an expression takes milliseconds to make, and most are never needed
            pattern = re.compile(rule.pattern.encode())
            group = "secret" if "secret" in pattern.groupindex else 0
        found = pattern.match(data, place)
        if found is None:
            return _find_broken(data, place, pattern.match, accept) if may_break and group == 0 else []
        start, end = found.span(group)
        if lead is not None:
            start = _led(data, place, lead)
            if start < 0:
                return []
        if not accept(data[start:end]) or (before is not None and not before().search(_line_before(data, place))):
            return []
        return [(start, continued(data, end, is_strong))]

    return find


def _find_broken(
    data: bytes, place: int, match: Callable[[bytes, int], re.Match[bytes] | None], accept: Callable[[bytes], bool]
) -> list[tuple[int, int]]:
    """Find a key that is broken over two lines, too early for its rule."""
    if (parts := joined(data, place)) is None:
        return []
    word, size, second = parts
    left = data[max(0, place - 8) : place]
    found = match(left + word, len(left))
    if found is None or found.end() - len(left) <= size or not accept(found[0]):
        return []
    return [(place, second + found.end() - len(left) - size)]


def _led(data: bytes, place: int, lead: re.Pattern[bytes]) -> int:
    """Return where the run before a place starts, if it is what the rule asks for; else -1."""
    before = data[max(0, place - _BEFORE) : place]
    start = place - (len(before) - len(before.rstrip(_RUN)))
    if start and data[start - 1 : start] == b"\\" and (escape := _ESCAPED.match(data, start)):
        start = escape.end()
    return start if lead.fullmatch(data, start, place) else -1


def _line_before(data: bytes, place: int) -> bytes:
    return _LINE_END.split(data[max(0, place - _BEFORE) : place])[-1]


def _ending(field: Field) -> str:
    """A name that ends as the field's does, and holds one of its literals: what a search would find in JSON."""
    return rf"(?={'|'.join(map(re.escape, field.literals))})(?:{field.name})\Z"


_ALL = _searches(_by_literal())
_ESCAPE = re.compile(rb"u[0-9a-f]{4}")
_SEARCHES = tuple(search for search in _ALL if search.byte.isascii() and not _ESCAPE.fullmatch(search.byte))
_ASCII = bytes(range(128))
_FOREIGN = tuple((search, search.byte.translate(None, _ASCII)) for search in _ALL if not search.byte.isascii())
_ESCAPED_FOREIGN = tuple(search for search in _ALL if _ESCAPE.fullmatch(search.byte))
"""Searches for words that are not ASCII: most text has none of their letters, nor escapes that write them in JSON."""
_KEYS = Keys([(rank, rule) for rank, rule in enumerate(RULES) if rule.is_long])


@cache
def _named() -> list[tuple[Field, re.Pattern[str], re.Pattern[bytes]]]:
    """Return each field with an expression for its name, and one for its value."""
    return [(field, re.compile(_ending(field)), re.compile(field.value.encode())) for field in FIELDS]


def spans_of(data: bytes, name: str | None = None, depth: int = 0) -> list[Span]:
    """Return the secrets in a text, in order: keys with a form of their own, and those of weak rules if there are none.

    A text is also read without its colours and its percent escapes, and an encoded text as what it says.
    """
    spans = [*_direct(data), *_long_words(data, depth)]
    for view in views(data):
        spans += [
            Span(view.origin(span.start), span.rank, view.origin(span.end - 1) + 1, span.kind)
            for span in (*_direct(view.plain), *_long_words(view.plain, depth))
        ]
    if name is not None and (named := value_span(data, name)):
        spans.append(named)
    strong = [span for span in spans if span.rank < len(RULES)]
    return _apart(strong or spans, data)


def _direct(data: bytes) -> list[Span]:
    spans: list[Span] = []
    short = len(data) < _SHORT
    searches = _SEARCHES
    if not data.isascii():
        letters = data.translate(None, _ASCII)
        searches = (*searches, *(search for search, foreign in _FOREIGN if foreign in letters))
    if holds(data, b"\\u"):
        searches = (*searches, *_ESCAPED_FOREIGN)
    for search in searches:
        if not short and len(search.byte) > 1 and not holds(data, search.byte):  # `find` is fast for single bytes only
            continue
        if (place := data.find(search.byte)) < 0:
            continue
        last = None
        for hit in search.pattern.finditer(data, place) if short else search.hits(data, place):
            if last is not None and last.start <= hit.start() < last.end:  # a run of beginnings is one secret
                continue
            for literal, before, tried in search.tried((hit.lastindex or 1) - 1):
                place = hit.start() - before
                if place < 0 or not data.startswith(literal, place):
                    continue
                if found := tried.find(data, place):
                    spans += [Span(start, tried.rank, end, tried.kind) for start, end in found]
                    last = spans[-1] if tried.rank < len(RULES) else last
                    break
    return spans


def _long_words(data: bytes, depth: int) -> Iterator[Span]:
    """Yield the long words that are keys, or that say a secret in base64 or in hexadecimal."""
    done = 0
    for start, end in _KEYS.candidates(data):
        if start < done:
            continue
        place = word_start(data, start)
        start = max(start, place)  # noqa: PLW2901  (an escape such as `\n` is no part of a word)
        if key := _KEYS.find(data, place, start, end):
            done, rank, kind = key
            yield Span(place, rank, continued(data, done, is_strong=True), kind)
        elif broken := _broken_word(data, place, start, end):
            done = broken.end
            yield broken
        elif depth < _DEPTH and (said := encoded_text(data, start, end)):
            done, text = said
            if spans_of(text, depth=depth + 1):
                yield Span(start, _LAST, done, "encoded-secret")


def _broken_word(data: bytes, place: int, start: int, end: int) -> Span | None:
    """Return the key of which a long word at the end or at the start of a line is a part."""
    if data[end : end + 1] in _LINE_ENDS:
        first = place
    elif start and data[start - 1 : start] in _LINE_ENDS:
        first = first_half(data, place)
    else:
        return None
    if first < 0 or (parts := joined(data, first)) is None:
        return None
    text, size, second = parts
    key = _KEYS.find(text, 0, 0, len(text))
    return Span(first, key[1], second + key[0] - size, key[2]) if key and key[0] > size else None


def value_span(data: bytes, name: str) -> Span | None:
    """Return the secret that a value is by its name."""
    for rank, field, value in fields(name):
        for start in {0, _quotes_end(data)}:
            if (found := value.match(data, start)) and field.accept(found["secret"]):
                return Span(found.start("secret"), rank, found.end("secret"), field.kind)
    return None


def _quotes_end(data: bytes) -> int:
    """Return where a value starts after quotation marks: in an escaped text they are taken for those around it."""
    found = _QUOTES.match(data)
    return found.end() if found else 0


@lru_cache(4096)
def fields(name: str) -> list[tuple[int, Field, re.Pattern[bytes]]]:
    """Those that an object's key names, with their ranks among the rules that it stands for."""
    return [
        (rank, field, value)
        for rank, (field, named, value) in enumerate(_named(), len(RULES) + len(WEAK) - len(FIELDS))
        if (found := named.search(name)) and (not field.before or re.search(field.before, name[: found.start()]))
    ]


def _apart(spans: list[Span], data: bytes) -> list[Span]:
    """Return the spans in order, and of those that overlap the first.

    A span that is longer than any key ends where its rule has read enough. So does one that a word goes on after. What
    is left would begin the next secret, again and again, so it goes with it.
    """
    apart: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.rank, -span.end)):
        if not apart or span.start >= apart[-1].end:
            is_long = span.end - span.start >= _LONG and span.kind not in ("private-key", "encoded-secret")
            left = (_LEFT if is_long else _WORD_LEFT).match(data, span.end) if is_long or _is_key(span) else None
            apart.append(span._replace(end=left.end()) if left else span)
    return apart


def _is_key(span: Span) -> bool:
    return span.rank < len(RULES) and span.kind != "private-key"
