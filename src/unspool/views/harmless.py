"""Texts that may hold anything, for a terminal."""

import re

_COLOR = re.compile("\x1b\\[[0-9;:]*m")


def safe(text: str, kept: str = "") -> str:
    """Without what would steer a terminal; these characters stay. Of colours nothing is left."""
    if text.isprintable():
        return text
    text = _COLOR.sub("", text)
    return "".join(letter if letter.isprintable() or letter in kept else "\N{REPLACEMENT CHARACTER}" for letter in text)
