"""The tool calls that a small JavaScript program makes, read without running it.

    const patch = ["*** Begin Patch", …].join("\\n");
    await tools.apply_patch(patch);
    text(await tools.exec_command({cmd: `cat ${file}`, workdir: "/repo"}));
    →  ("apply_patch", "*** Begin Patch\\n…"), ("exec_command", {"cmd": "cat ${file}", "workdir": "/repo"})

Literals are understood, and names that were given a literal. Any other expression stands as its source, in `${…}`:
what it will be only a run can tell. Likewise a call in a loop is one call.
"""

import re
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""What JSON could say; or a Source."""


class Source(str):
    """An expression that we did not understand."""

    __slots__ = ()


_SPACE = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))*+")
_NAME = re.compile(r"[A-Za-z_$][\w$]*+")
_NUMBER = re.compile(r"-?(?:0[xX][\da-fA-F]++|\d[\d_]*+(?:\.\d++)?(?:[eE][+-]?\d++)?)n?")
_STRING = re.compile(r"""'([^'\\\n]*+(?:\\.[^'\\\n]*+)*+)'|"([^"\\\n]*+(?:\\.[^"\\\n]*+)*+)\"""", re.DOTALL)
_TEMPLATE = re.compile(r"`([^`\\]*+(?:\\.[^`\\]*+)*+)`", re.DOTALL)
_SKIPPED = re.compile(
    r"""'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|`[^`\\]*+(?:\\.[^`\\]*+)*+`?"""
    r"|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|[()\[\]{},;+:]",
    re.DOTALL,
)
_CALL = re.compile(
    # What nobody closed goes on to the end, of the line or of all: a search that came back to try would take for ever.
    r"""'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"""
    r"|(?<=[(,=:!&|?;])[ ]*/(?![*/])(?:[^/\\\n\[]|\\.|\[[^\]\n]*+\]?)++/?"  # a regular expression may hold quotes
    r"|(?P<template>`[^`\\]*+(?:\\.[^`\\]*+)*+`?)"
    r"""|\btools\s*+(?:(?:\?\.)?\[\s*["'](?P<quoted>[\w.:-]++)["']\s*\]|\??\.\s*(?P<name>[\w$]++))\s*+\("""
    r"|(?<![\w$.])(?P<bare>[A-Za-z_]\w*+)\(",
    re.DOTALL,
)
_GIVEN = re.compile(r"\b(?:const|let|var)\s++([A-Za-z_$][\w$]*+)\s*+=(?!=)")
_TAKEN = re.compile(r"\b(?:const|let|var)\s*+\{([^{}]*+)\}\s*+=\s*+tools\b")
_ESCAPE = re.compile(r"\\(?:u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None, "undefined": None}
_UNKNOWN = Source("${…}")
_ENDS = ("", ",", ")", "]", "}", ";")
_METHOD = re.compile(r"\s*+\.(trim|join)\(")
_MORE = re.compile(r"[ \t]*+(?:[(\[.?`]|=>)")
_PLACE = re.compile(r"(?<!\\)\$\{\s*+([A-Za-z_$][\w$]*+)\s*+\}")
_DEEP = 40
_MANY = 200
_LONG = 4_000_000
"""A text that is put together of named parts may double with each; nobody writes one as long as this."""


def calls(program: str) -> list[tuple[str, Value]]:
    """Name and first argument of each call, in order."""
    return _Program(program).calls(program)


def plain(value: Value) -> Any:
    """The same, with every Source as the text that it is."""
    match value:
        case Source():
            return str(value)
        case list():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
    return value


def understood(value: Value) -> Value:
    """An object without the fields that only a run can tell."""
    if not isinstance(value, dict):
        return value
    return {key: item for key, item in value.items() if not isinstance(item, Source)}


def _character(match: re.Match[str]) -> str:
    wide, four, two, other = match.groups()
    if other is not None:
        return _ESCAPES.get(other, other)
    code = int(wide or four or two, 16)
    return chr(code) if code <= 0x10FFFF else "\ufffd"


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(_character, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Program:
    """A program, and what its names were given, as far as it was asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.given = {match[1]: match.end() for match in reversed(list(_GIVEN.finditer(text)))}
        self.known: dict[str, Value] = {}
        self.taken: dict[str, str] = {}
        for match in _TAKEN.finditer(text):
            for part in match[1].split(","):
                name, _, alias = part.partition(":")
                self.taken[(alias or name).strip()] = name.strip()

    def calls(self, text: str) -> list[tuple[str, Value]]:
        """Of the program, or of a part of it that has stood in a template string."""
        reader = _Reader(self, text)
        found: list[tuple[str, Value]] = []
        for match in _CALL.finditer(text):
            name = match["name"] or match["quoted"] or self.taken.get(match["bare"] or "")
            if name:
                reader.at = match.end()
                found.append((name, reader.argument()))
                if len(found) >= _MANY:
                    break
            elif match["template"] and "${" in match["template"]:
                found += self.calls(match["template"][1:-1].partition("${")[2])
        return found

    def lookup(self, name: str, depth: int) -> Value:
        """What a name was given, once."""
        if name not in self.known:
            if name not in self.given:
                return Source(f"${{{name}}}")
            self.known[name] = Source(f"${{{name}}}")  # where it is given itself
            reader = _Reader(self, self.text, self.given[name])
            value = reader.value(depth + 1)
            if not isinstance(value, Source):
                self.known[name] = value
        return self.known[name]


class _Reader:
    """Reads expressions, from one place in a text on."""

    def __init__(self, program: _Program, text: str, at: int = 0) -> None:
        self.program = program
        self.text = text
        self.at = at

    def space(self) -> str:
        """Past what says nothing; the character that follows."""
        if match := _SPACE.match(self.text, self.at):
            self.at = match.end()
        return self.text[self.at : self.at + 1]

    def argument(self) -> Value:
        return {} if self.space() in (")", "") else self.value(0)

    def value(self, depth: int) -> Value:
        """An expression, up to the comma or bracket that ends it."""
        self.space()
        start = self.at
        terms = [self.term(depth)]
        end = self.at
        while self.space() == "+":
            self.at += 1
            terms.append(self.term(depth))
            end = self.at
        if self.space() not in _ENDS and "\n" not in self.text[end : self.at]:
            self.at = start
            return self.source()
        if len(terms) == 1:
            return terms[0]
        texts = [str(term) for term in terms if isinstance(term, str | int | float)]
        if len(texts) < len(terms) or sum(map(len, texts)) > _LONG:
            return Source(f"${{{self.text[start:end]}}}")
        return "".join(texts)

    def term(self, depth: int) -> Value:
        self.space()
        start = self.at
        value = self.primary(depth) if depth < _DEEP else _UNKNOWN
        while value is not _UNKNOWN and (method := _METHOD.match(self.text, self.at)):
            self.at = method.end()
            if method[1] == "join" and isinstance(value, list):
                value = self.join(value, depth)
            elif method[1] == "trim" and isinstance(value, str):
                self.at += 1
                value = value.strip()
            else:
                value = _UNKNOWN
        if value is _UNKNOWN or _MORE.match(self.text, self.at):
            self.at = start
            return self.source("+")
        return value

    def join(self, parts: list[Value], depth: int) -> Value:
        between = "," if self.space() == ")" else self.value(depth + 1)
        if self.space() != ")" or not all(isinstance(part, str | int | float) for part in parts):
            return _UNKNOWN
        self.at += 1
        return str(between).join(map(str, parts))

    def primary(self, depth: int) -> Value:
        match self.space():
            case "'" | '"':
                if text := _STRING.match(self.text, self.at):
                    self.at = text.end()
                    return _unescaped(text[1] if text[1] is not None else text[2])
            case "`":
                return self.template(depth)
            case "[":
                return self.array(depth)
            case "{":
                return self.object(depth)
            case first if first == "-" or first.isdecimal():
                if number := _NUMBER.match(self.text, self.at):
                    self.at = number.end()
                    digits = number[0].replace("_", "").rstrip("n")
                    return int(digits, 0) if re.fullmatch(r"-?(?:0[xX].+|[1-9]\d{0,99}|0)", digits) else float(digits)
            case _:
                if name := _NAME.match(self.text, self.at):
                    self.at = name.end()
                    if name[0] == "String" and self.text.startswith(".raw`", self.at):
                        self.at += 4
                        return self.template(depth, raw=True)
                    return _WORDS[name[0]] if name[0] in _WORDS else self.program.lookup(name[0], depth)
        return _UNKNOWN

    def template(self, depth: int, *, raw: bool = False) -> Value:
        whole = _TEMPLATE.match(self.text, self.at)
        if not whole:
            return _UNKNOWN
        self.at = whole.end()
        parts = _PLACE.split(whole[1])
        if not raw:
            parts[::2] = [_unescaped(part) for part in parts[::2]]
        values = [self.program.lookup(name, depth) for name in parts[1::2]]
        parts[1::2] = [
            str(value) if isinstance(value, str | int | float) else f"${{{name}}}"
            for name, value in zip(parts[1::2], values, strict=True)
        ]
        return "".join(parts) if sum(map(len, parts)) <= _LONG else _UNKNOWN

    def array(self, depth: int) -> list[Value]:
        self.at += 1
        items: list[Value] = []
        while (following := self.space()) not in ("]", ""):
            before = self.at
            if following == ",":
                self.at += 1
            elif self.text.startswith("...", self.at):
                self.at += 3
                more = self.value(depth + 1)
                items += more if isinstance(more, list) else [more]
            else:
                items.append(self.value(depth + 1))
            self.at = max(self.at, before + 1)
        self.at += 1
        return items

    def object(self, depth: int) -> dict[str, Value]:
        self.at += 1
        fields: dict[str, Value] = {}
        while (following := self.space()) not in ("}", ""):
            before = self.at
            if following == ",":
                self.at += 1
            elif self.text.startswith("...", self.at):
                self.at += 3
                more = self.value(depth + 1)
                fields |= more if isinstance(more, dict) else {}
            elif name := _NAME.match(self.text, self.at):
                self.at = name.end()
                fields[name[0]] = self.field(depth, name[0])
            elif quoted := _STRING.match(self.text, self.at):
                self.at = quoted.end()
                key = _unescaped(quoted[1] if quoted[1] is not None else quoted[2])
                fields[key] = self.field(depth)
            else:  # a key that is computed, or no key at all
                self.source(":")
                self.field(depth)
            self.at = max(self.at, before + 1)
        self.at += 1
        return fields

    def field(self, depth: int, name: str = "") -> Value:
        """What stands behind a key; a key alone is a name for what it was given."""
        if self.space() == ":":
            self.at += 1
            return self.value(depth + 1)
        return self.program.lookup(name, depth) if self.space() in _ENDS else self.source()

    def source(self, stop: str = "") -> Source:
        """Past an expression that we do not understand; at most up to a character that goes on with it."""
        start, level = self.at, 0
        self.at = len(self.text)
        for token in _SKIPPED.finditer(self.text, start):
            sign = token[0]
            if level == 0 and (sign in _ENDS or sign == stop):
                self.at = token.start()
                break
            level += (sign in "([{") - (sign in ")]}")
        return Source(f"${{{self.text[start : self.at].strip()}}}")
