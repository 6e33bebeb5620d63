"""Texts that may hold anything, for a terminal."""

import re

_COLOR = re.compile("\x1b\\[[0-9;:]*m")
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Blanks of all widths, and what joins letters, are none of it: languages and models write them."""


def safe(text: str, kept: str = "") -> str:
    """Without what would steer a terminal; these characters stay. Of colours nothing is left."""
    if text.isprintable():
        return text
    return _STEERING.sub(
        lambda found: found[0] if found[0] in kept else "\N{REPLACEMENT CHARACTER}", _COLOR.sub("", text)
    )


def safe_lines(text: str) -> str:
    """The same of a text of several lines: tabs and line ends stay."""
    return safe(text.replace("\r\n", "\n"), kept="\n\t")
