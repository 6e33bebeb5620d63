"""What commands print, where a script says it: here-documents and words that the shell does not change."""

import re

from unspool.actions.lexer import plain

HIDDEN = re.compile(r"'[^']*+'|\\.", re.DOTALL)
"""Where nothing is expanded."""
QUOTED = re.compile(r"'[^']*+'|\"[^\"]*+\"|\\.", re.DOTALL)
EXPANSION = re.compile(r"\$[\w{(@*#?!'\"-]|`")
_FORMAT = re.compile(r"(?!-)(?:[^%\\]|%%|\\[nt\\])*")
"""A text that `printf` prints without further arguments."""
_ESCAPE = re.compile(r"%%|\\[nt\\]")
_MEANT = {"%%": "%", r"\n": "\n", r"\t": "\t", "\\\\": "\\"}
_PLAIN_WORD = re.compile(r"[\w./:,=+@%-]*")
SPEAKING = frozenset({"cat", "echo", "printf", "tee", ":", "true"})
"""Programs whose output can be worked out from the script."""


def is_literal(word: str) -> bool:
    """Return whether the shell changes nothing in a word but its quotes."""
    if EXPANSION.search(HIDDEN.sub("", word)):
        return False
    return _PLAIN_WORD.fullmatch(QUOTED.sub("", word)) is not None


def output_of(name: str, words: list[str], text: str | None) -> str | None:
    """Return what a command prints, or None if that is not known. `text` is its standard input."""
    if name in ("", ":", "true"):
        return ""
    if name == "cat":
        return text if all(word == "-" for word in words) else None
    if name == "tee":
        return text
    if not all(map(is_literal, words)):
        return None
    values = list(map(plain, words))
    if name == "echo":
        end = "" if values[:1] == ["-n"] else "\n"
        values = values[1:] if values[:1] == ["-n"] else values
        return None if values[:1] and values[0][:1] == "-" else " ".join(values) + end
    if values[:1] == ["%s\\n"]:
        return "".join(f"{value}\n" for value in values[1:])
    if len(values) != 1 or not _FORMAT.fullmatch(values[0]):
        return None
    return _ESCAPE.sub(lambda found: _MEANT[found[0]], values[0])
