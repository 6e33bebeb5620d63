"""Texts that may hold anything, for a terminal."""


def safe(text: str, kept: str = "") -> str:
    """Without what would steer a terminal; these characters stay."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter in kept else "\N{REPLACEMENT CHARACTER}" for letter in text)
