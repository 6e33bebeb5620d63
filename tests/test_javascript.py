"""The tool calls of a JavaScript program."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.actions.javascript import Source, calls, plain, understood


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("text(1)", []),
        ("await tools.a();", [("a", {})]),
        ('tools.a({"cmd": "x", "n": [1, -2.5, 1_000, 0x10], "t": true, "u": null})',
         [("a", {"cmd": "x", "n": [1, -2.5, 1000, 16], "t": True, "u": None})]),
        ("tools.a({cmd: 'it\\'s', b: `two\nlines \\`q\\``,})", [("a", {"cmd": "it's", "b": "two\nlines `q`"})]),
        ('tools.a("\\u00e9\\u{1F600}\\ud83d\\ude00\\x41\\n\\q")', [("a", "é😀😀A\nq")]),
        ("tools['a']({}); tools?.b?.({}); tools [\"c\"] ( {} )", [("a", {}), ("c", {})]),
        ("const p = `x`;\ntools.a(p)", [("a", "x")]),
        ("const p = ['a', 'b'].join('\\n')\ntools.a(p.trim())", [("a", "a\nb")]),
        ("const d = '/r'; tools.a({cmd: 'cd ' + d + ' && ' + quote(x) + `; ls ${d}/${e}`})",
         [("a", {"cmd": "cd /r && ${quote(x)}; ls /r/${e}"})]),
        ("tools.a({cmd: String.raw`\\d+ ${f}`})", [("a", {"cmd": "\\d+ ${f}"})]),
        ("tools.a({cmd, ...rest, f() { return {x: 1} }, [k]: 2, 'b c': 3})",
         [("a", {"cmd": "${cmd}", "f": "${() { return {x: 1} }}", "b c": 3})]),
        ("const o = {a: 1}; tools.a({...o, b: (x, y) => ({x, y})})", [("a", {"a": 1, "b": "${(x, y) => ({x, y})}"})]),
        ("await Promise.all([tools.a({n: 1}), tools.b({n: 2})])", [("a", {"n": 1}), ("b", {"n": 2})]),
        ("const {exec_command, view_image: look} = tools; exec_command({cmd: 'x'}); look({path: 'y'})",
         [("exec_command", {"cmd": "x"}), ("view_image", {"path": "y"})]),
        ("// tools.a({})\n/* tools.b({}) */ const s = 'tools.c({})'; s.replace(/'/g, ''); tools.d({})", [("d", {})]),
        ("text(`out: ${(await tools.a({n: 1})).output}`)", [("a", {"n": 1})]),
        ("for (const f of files) await tools.a({f: f})", [("a", {"f": "${f}"})]),
        ("const a = a; const b = [c]; const c = b; tools.x(a); tools.y(c)", [("x", "${a}"), ("y", ["${c}"])]),
        ("tools.a({cmd: 'cut o", [("a", {"cmd": "${'cut o}"})]),
        ("tools.a(", [("a", {})]),
    ],
)  # fmt: skip
def test_the_calls_of_a_program(program: str, expected: list[tuple[str, Any]]) -> None:
    assert calls(program) == expected


def test_what_only_a_run_can_tell_is_told_apart() -> None:
    [(_, value)] = calls("tools.a({cmd: 'x', ms: 2 * n, in: [y]})")
    assert isinstance(value["ms"], Source)
    assert understood(value) == {"cmd": "x", "in": ["${y}"]}
    assert [type(text) for text in (plain(value)["ms"], plain(value)["in"][0])] == [str, str]


PIECES = [
    "tools.a(",
    "tools.x({",
    "[",
    "{",
    "(",
    "`${",
    "`",
    "'",
    '"',
    "/*",
    "//",
    "const a=a+a;",
    "a+",
    "...",
    ".join(",
    "/",
]


@pytest.mark.parametrize("piece", PIECES)
def test_no_program_takes_long(piece: str) -> None:
    start = time.process_time()
    calls(piece * 2000)
    calls("tools.a(" + piece * 2000)
    doubling = ";".join(f"const a{n}=a{n + 1}+a{n + 1}" for n in range(60)) + ";const a60='xx';tools.x(a0)"
    calls(doubling)
    assert time.process_time() - start < 20


@given(
    st.text()
    | st.lists(st.sampled_from([*PIECES, ")", "]", "}", ",", ":", " ", "\n", "a", "+", "\\", "1"])).map("".join)
)
def test_no_program_is_too_odd(program: str) -> None:
    calls(program)
