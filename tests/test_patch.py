"""The apply_patch grammar: what is read, what it means, and how it is found in shell commands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.actions.patch import (
    Add,
    Delete,
    ParsedPatch,
    Update,
    action_of,
    actions_of,
    applied,
    carried,
    hunks_of,
    parse,
)
from unspool.model.action import FileDelete, FileEdit, FileMove, FileWrite, Hunk

WHOLE = """*** Begin Patch
*** Environment ID: box-7
*** Add File: docs/new.md
+# Title
+
+text
*** Delete File: docs/old.md
*** Update File: src/a.py
*** Move to: src/b.py
@@ class A:
@@     def f(self):
 keep
-gone
+come
+more

 after
@@
-last
*** End of File
*** Update File: src/c.py
 import os
+import re
*** End Patch
"""


def patch(*lines: str) -> str:
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def files(text: str) -> tuple[Add | Delete | Update, ...]:
    return parse(text).files


def test_the_whole_grammar() -> None:
    parsed = parse(WHOLE)
    assert parsed == ParsedPatch(
        files=(
            Add("docs/new.md", "# Title\n\ntext\n"),
            Delete("docs/old.md"),
            Update(
                "src/a.py",
                "src/b.py",
                (
                    Hunk((" keep", "-gone", "+come", "+more", " ", " after"), ("class A:", "def f(self):")),
                    Hunk(("-last",), at_end=True),
                ),
            ),
            Update("src/c.py", None, (Hunk((" import os", "+import re")),)),
        ),
        raw=WHOLE,
        environment="box-7",
    )


def test_one_action_a_file_in_order_and_two_for_one_that_moves() -> None:
    actions = actions_of(parse(WHOLE))
    assert [type(action) for action in actions] == [FileWrite, FileDelete, FileEdit, FileMove, FileEdit]
    assert actions[0] == FileWrite("docs/new.md", "# Title\n\ntext\n")
    assert actions[1] == FileDelete("docs/old.md")
    first = actions[2]
    assert isinstance(first, FileEdit)
    assert (first.file_path, first.old_string, first.new_string, first.replace_all) == ("src/a.py", "", "", False)
    assert (len(first.hunks), first.added, first.removed) == (2, 2, 2)
    assert actions[3] == FileMove("src/a.py", "src/b.py")


def test_a_move_without_hunks_is_only_a_move() -> None:
    parsed = parse(patch("*** Update File: a", "*** Move to: b"))
    assert actions_of(parsed) == (FileMove("a", "b"),)
    assert parsed.fault is None


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["*** Update File: a", "@@", "+x"], "edit a"),
        (["*** Add File: a", "+x"], "write a"),
        (["*** Delete File: gone", "*** Add File: a", "+x"], "write a"),
        (["*** Delete File: gone", "*** Update File: a", "@@", "+x", "*** Add File: b", "+y"], "edit a"),
        (["*** Delete File: a", "*** Delete File: b"], "delete a"),
    ],
)
def test_the_first_header_that_adds_or_updates_stands_for_the_patch(lines: list[str], expected: str) -> None:
    text = patch(*lines)
    assert (
        action_of(parse(text))
        == {
            "edit a": FileEdit("a", "", text, False),
            "write a": FileWrite("a", text),
            "delete a": FileDelete("a"),
        }[expected]
    )


@pytest.mark.parametrize(
    "text",
    [
        "\n  *** Begin Patch  \n*** Add File: a\n+x\n *** End Patch \n\n",
        "*** Begin Patch\r\n*** Add File: a\r\n+x\r\n*** End Patch\r\n",
        "<<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF\n",
        '<<"PATCH"\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nPATCH',
        "<<EOF\n*** Begin Patch\n  *** Add File:   a  \n+x\n*** End Patch\nEOF",
        "*** Begin Patch\n\n*** Add File: a\n+x\n*** End Patch\ntrailing words",
    ],
)
def test_what_codex_lets_through_is_no_fault(text: str) -> None:
    parsed = parse(text)
    assert parsed.files == (Add("a", "x\n"),)
    assert (parsed.complete, parsed.fault, parsed.raw) == (True, None, text)


def test_a_path_keeps_its_blanks_and_colons() -> None:
    assert files(patch("*** Delete File: my docs/a: b.md")) == (Delete("my docs/a: b.md"),)


def test_an_empty_file_is_a_file() -> None:
    assert files(patch("*** Add File: a", "*** Add File: b", "+")) == (Add("a", ""), Add("b", "\n"))


def test_a_patch_may_quote_a_patch() -> None:
    text = patch("*** Update File: doc.md", "@@", " *** Begin Patch", "+*** Add File: x", " *** End Patch", "-old")
    assert files(text) == (
        Update("doc.md", None, (Hunk((" *** Begin Patch", "+*** Add File: x", " *** End Patch", "-old")),)),
    )


def test_unusual_line_breaks_stay_in_their_line() -> None:
    assert files(patch("*** Add File: a", "+one\u2028two\x0cthree")) == (Add("a", "one\u2028two\x0cthree\n"),)


def test_text_that_was_cut_off_is_read_as_far_as_it_goes() -> None:
    parsed = parse("*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n@@ f\n-y\n+")
    assert parsed.files == (Add("a", "x\n"), Update("b", None, (Hunk(("-y", "+"), ("f",)),)))
    assert not parsed.complete
    assert parsed.fault == "the last line is not '*** End Patch'"


@pytest.mark.parametrize(
    ("text", "expected", "fault"),
    [
        (
            patch("*** Update File: a", "@@", "forgot the blank", "+x"),
            Update("a", None, (Hunk((" forgot the blank", "+x")),)),
            "line 4 of a hunk begins with neither",
        ),
        (patch("*** Add File: a", "+x", "y"), Add("a", "x\ny\n"), "line 4 of a new file does not begin with '+'"),
        (patch("*** Add File: a", "+x", "", ""), Add("a", "x\n"), "line 4 of a new file"),
        (patch("*** Update File: a"), Update("a", None, ()), "nothing is changed in 'a'"),
        (patch("*** Update File: a", "@@ f"), Update("a", None, ()), "a hunk without lines: 'f'"),
        ("*** Update File: a\n@@\n+x", Update("a", None, (Hunk(("+x",)),)), "the first line is not"),
        (patch("words", "*** Delete File: a"), Delete("a"), "line 2 is no file header: 'words'"),
    ],
)
def test_what_codex_would_refuse_is_read_and_told(text: str, expected: Add | Delete | Update, fault: str) -> None:
    parsed = parse(text)
    assert parsed.files == (expected,)
    assert (parsed.fault or "").startswith(fault)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no patch: the first line"),
        ("bad", "no patch: the first line"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b", "no patch: the first line"),
        ("Here you go:\n*** Begin Patch\n*** Delete File: a\n*** End Patch", "no patch: the first line"),
        ("*** Begin Patch\n*** End Patch", "a patch without files"),
        ("*** Begin Patch\nbad\n*** End Patch", "line 2 is no file header: 'bad'"),
        ("*** Begin Patch\n*** Add File: \n+x\n*** End Patch", "line 2 is no file header"),
        ("<<'EOF'", "no patch"),
    ],
)
def test_text_that_is_no_patch_says_why(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r"^" + reason):
        parse(text)


PIECES = st.sampled_from(
    [
        *("*** Begin Patch", "*** End Patch", "*** End of File", "*** Add File: a", "*** Delete File: b", "<<'EOF'"),
        *("*** Update File: c", "*** Move to: d", "*** Environment ID: e", "@@", "@@ f", "@@g", "EOF", "", " "),
        *("+x", "-y", " z", "w", "\\ No newline at end of file", " *** End Patch", "***", "\r", "+\u2028"),
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES | st.text(max_size=5)).map("\n".join)))
def test_the_parser_raises_nothing_but_a_value_error(text: str) -> None:
    try:
        parsed = parse(text)
    except ValueError:
        return
    assert parsed.files
    assert len(actions_of(parsed)) >= len(parsed.files)
    action_of(parsed)


@given(
    st.lists(PIECES | st.text(max_size=5)).map("\n".join), st.sampled_from(["", "apply_patch <<EOF\n", 'apply_patch "'])
)
def test_finding_patches_in_a_command_never_raises(text: str, before: str) -> None:
    found = carried(before + text)
    if found:
        assert found.actions()
        found.action()


LINE = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=20)


@given(st.lists(st.tuples(st.sampled_from(" +-"), LINE), min_size=1), st.lists(LINE), LINE)
def test_what_is_written_is_read_again(hunk: list[tuple[str, str]], content: list[str], context: str) -> None:
    lines = tuple(sign + text for sign, text in hunk)
    text = patch("*** Update File: u", f"@@ {context}", *lines, "*** Add File: n", *("+" + line for line in content))
    said = (context.strip(),) if context.strip() else ()
    update, add = files(text)
    assert update == Update("u", None, (Hunk(lines, said),))
    assert add == Add("n", "".join(line + "\n" for line in content))


# In shell commands.

SMALL = patch("*** Update File: a", "@@", "-1", "+2")


@pytest.mark.parametrize(
    ("command", "path"),
    [
        (("apply_patch", SMALL), "a"),
        (("applypatch", f"<<'EOF'\n{SMALL}\nEOF\n"), "a"),
        (("/usr/bin/apply_patch", SMALL), "a"),
        (("bash", "-lc", f"apply_patch <<'EOF'\n{SMALL}\nEOF\n"), "a"),
        (("zsh", "-lc", f"cd x && apply_patch <<'PATCH'\n{SMALL}\nPATCH"), "x/a"),
        (("/bin/sh", "-c", f"cd 'my dir'; apply_patch <<\"EOF\"\n{SMALL}\nEOF"), "my dir/a"),
        (f"apply_patch <<'EOF'\n{SMALL}\nEOF", "a"),
        (f"apply_patch <<-EOF\r\n{SMALL}\r\nEOF\r\n", "a"),
        (f'apply_patch "{SMALL}"', "a"),
        (f"apply_patch '{SMALL}\n'", "a"),
        (f'cd "x y" &&\n apply_patch "\n{SMALL}\n"', "x y/a"),
        (SMALL, "a"),
    ],
)
def test_a_command_that_is_a_patch(command: str | tuple[str, ...], path: str) -> None:
    found = applied(command)
    assert found
    assert found.alone
    assert found.actions() == (FileEdit(path, "", "", False, (Hunk(("-1", "+2")),), 1, 1),)
    action = found.action()
    assert isinstance(action, FileEdit)
    assert action.file_path == "a"  # as its header says
    assert parse(action.new_string).files == files(SMALL)


def test_an_absolute_path_needs_no_directory() -> None:
    found = applied(f"cd /repo && apply_patch <<'EOF'\n{patch('*** Delete File: /tmp/a')}\nEOF")
    assert found
    assert found.actions() == (FileDelete("/tmp/a"),)


def test_a_quoted_patch_loses_its_backslashes() -> None:
    inner = patch("*** Add File: a", r"+echo \"\$HOME\" \`x\` \\n")
    found = applied(f'apply_patch "{inner}"')
    assert found
    assert found.actions() == (FileWrite("a", 'echo "$HOME" `x` \\n\n'),)


@pytest.mark.parametrize(
    "command",
    [
        f"apply_patch <<'EOF'\n{SMALL}\nEOF\npytest -q",
        f"apply_patch <<'EOF' && echo done\n{SMALL}\nEOF",
        f"git stash; apply_patch <<'EOF'\n{SMALL}\nEOF",
        f"cat <<'EOF' | apply_patch\n{SMALL}\nEOF",
        f"bash -lc \"apply_patch <<'EOF'\n{SMALL}\nEOF\"",
    ],
)
def test_a_command_that_does_more_than_its_patch(command: str) -> None:
    found = carried(command)
    assert found
    assert not found.alone
    assert [type(action) for action in found.actions()] == [FileEdit]


def test_two_patches_in_one_command() -> None:
    second = patch("*** Add File: b", "+y")
    deleted = patch("*** Delete File: z")
    found = carried(f"apply_patch <<'A'\n{deleted}\nA\ncd d && apply_patch <<'B'\n{second}\nB\n")
    assert found
    assert found.actions() == (FileDelete("z"), FileWrite("d/b", "y\n"))
    assert found.action() == FileWrite("b", second)


def test_a_command_that_was_cut_off() -> None:
    found = carried("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x")
    assert found
    assert found.actions() == (FileWrite("a", "x\n"),)
    unended = carried("apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\nEOF")
    assert unended
    assert unended.actions() == (FileWrite("a", "x\n"),)


@pytest.mark.parametrize(
    "command",
    [
        f"cat > /tmp/p.patch <<'EOF'\n{SMALL}\nEOF",
        f"python - <<'EOF'\ntext = '''{patch('*** Add File: a', '+run apply_patch now')}'''\nEOF",
        "rg -n 'apply_patch|[*]{3} Begin Patch' src",
        "grep '*** Begin Patch' log; which apply_patch",
        "git apply x.patch",
        ("apply_patch", "no patch"),
        ("apply_patch",),
        ("echo", SMALL),
    ],
)
def test_a_command_that_applies_no_patch(command: str | tuple[str, ...]) -> None:
    assert applied(command) is None


def test_the_hunks_of_a_unified_diff() -> None:
    diff = (
        "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@ def f():\n keep\n--- old\n+++ new\n"
        "@@ -9 +9 @@\n-a\n\\ No newline at end of file\n+b\n"
    )
    assert hunks_of(diff) == (
        Hunk((" keep", "--- old", "+++ new"), ("-1,2 +1,2 @@ def f():",)),
        Hunk(("-a", "+b"), ("-9 +9 @@",)),
    )


@given(st.text())
def test_any_text_has_hunks_or_none(text: str) -> None:
    hunks_of(text)
