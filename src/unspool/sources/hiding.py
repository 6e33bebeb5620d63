"""What may hold a key is hidden from people: in addresses, and by what it is called."""

import re

_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^@/\s]+@")
_ASKED = re.compile(r"([?&][^=&#\s'\"]+=)[^&#\s'\"]+")
_SECRET = re.compile(r"key|token|secret|passw|auth|credential|header|cookie", re.IGNORECASE)


def without_keys(text: str) -> str:
    """A text in which there may be addresses: without their passwords, and what they ask with."""
    return _ASKED.sub(r"\1…", _PASSWORD.sub(r"\1…@", text))


def may_hold_key(name: str) -> bool:
    """Whether it is called like a key: an argument, a variable, a header."""
    return _SECRET.search(name) is not None
