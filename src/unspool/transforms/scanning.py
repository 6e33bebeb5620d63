"""Is a word in these bytes? Asked of gigabytes.

`bytes.find` looks at two gigabytes a second, the C library's `strstr` at ten times as many where it has the processor
compare many bytes at once. It stops at a NUL, which no JSON holds: where there is one, Python looks once more.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import cache


def holds(data: bytes, word: bytes) -> bool:
    find = _strstr()
    if find is None or b"\0" in word:
        return word in data
    return find(data, word) is not None or (b"\0" in data and word in data)


@cache
def _strstr() -> Callable[[bytes, bytes], int | None] | None:
    """None where it is not known to be faster, or cannot be reached by its name."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        find = ctypes.PyDLL(None).strstr
    except (AttributeError, OSError):
        return None
    find.argtypes, find.restype = (ctypes.c_char_p, ctypes.c_char_p), ctypes.c_void_p
    return find
