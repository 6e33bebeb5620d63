"""Tell random characters from words: by which letters follow each other."""

from itertools import pairwise

_FOLLOWING = """
a:bcdgilmnprstuy b:aeilou c:acehiklortu d:adeilorsu e:acdefglmnprstvx f:aefilo g:ehir h:aeiot i:abcdefglmnoprstvz k:e
l:adeilostuy m:aeiop n:acdefgiostu o:bcdgilmnoprstuvw p:aehiloprstu q:u r:acdeilmnorstuy s:acehilopstu t:acehilorstuy
u:abceilmnprst v:aei w:ai x:pt y:p z:e
"""
"""The 200 most frequent pairs of letters in names and prose: seven in eight pairs of a word, three in ten by chance."""
_PAIRS = frozenset((ord(entry[0]), ord(letter)) for entry in _FOLLOWING.split() for letter in entry[2:])
_LOWER = range(ord("a"), ord("z") + 1)
_UPPER = range(ord("A"), ord("Z") + 1)
_DIGITS = range(ord("0"), ord("9") + 1)
_MAX_WORDLIKE = 0.52
"""95 % of random texts of 16 small letters are below, 99.9 % of those with capitals or digits, and 2 % of names."""
_MAX_WORDLIKE_SHORT = 0.36
_MIN_LENGTH, _SHORT_LENGTH = 10, 14
_MIN_DISTINCT = 7


def wordlike(value: bytes) -> float:
    """Return the share of neighbouring letters that occur in words: 0 to 1. Digits beside letters do not.

    A capital after a small letter begins a word in names such as `apiKey`, and counts as no pair if it does.
    """
    natural = pairs = 0
    for first, second in pairwise(value):
        if first in _LOWER or first in _UPPER:
            if second in _LOWER or (second in _UPPER and first in _UPPER):
                pairs += 1
                natural += (first | 32, second | 32) in _PAIRS
            elif second in _UPPER or second in _DIGITS:
                pairs += 1
        elif first in _DIGITS and (second in _LOWER or second in _UPPER):
            pairs += 1
    return natural / pairs if pairs else 1.0


def is_unlike_words(value: bytes) -> bool:
    """Return whether no person would write such a name: it has many different characters, and few pairs of words."""
    if len(value) < _MIN_LENGTH or len(set(value)) < _MIN_DISTINCT:
        return False
    limit = _MAX_WORDLIKE_SHORT if len(value) < _SHORT_LENGTH else _MAX_WORDLIKE
    return wordlike(value) <= limit
