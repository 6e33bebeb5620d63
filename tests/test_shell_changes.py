"""What shell commands change: files that are written, edited, deleted and moved."""

import json
from pathlib import Path
from typing import TypeAlias

import pytest

from conftest import Run
from logs import Claude
from unspool.actions import vocabulary_for
from unspool.actions.shell import intents
from unspool.model import Action
from unspool.model.action import FileDelete, FileEdit, FileMove, FileRead, FileWrite, Hunk, Search
from unspool.views.diffs import changed_files

Changes: TypeAlias = list[Action]


def write(path: str, content: str | None = None) -> FileWrite:
    return FileWrite(path, content)


def edit(path: str) -> FileEdit:
    return FileEdit(path, "", "", False)


def append(path: str, *lines: str) -> FileEdit:
    hunk = Hunk(tuple(f"+{line}" for line in lines), at_end=True)
    return FileEdit(path, "", "", False, (hunk,), len(lines), 0)


def delete(path: str) -> FileDelete:
    return FileDelete(path)


def move(path: str, to: str) -> FileMove:
    return FileMove(path, to)


def changes(command: str) -> Changes:
    return [action for action in intents(command) if not isinstance(action, FileRead | Search)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("make > out.txt", [write("out.txt")]),
        ("make >out.txt", [write("out.txt")]),
        ("make >| out.txt", [write("out.txt")]),
        ("make 1> out.txt", [write("out.txt")]),
        ("make >> out.txt", [edit("out.txt")]),
        ("make 2> err.txt", [write("err.txt")]),
        ("make 2>> err.txt", [edit("err.txt")]),
        ("make > out.txt 2> err.txt", [write("out.txt"), write("err.txt")]),
        ("make > out.txt 2>&1", [write("out.txt")]),
        ("make &> all.txt", [write("all.txt")]),
        ("make &>> all.txt", [edit("all.txt")]),
        ("make >& all.txt", [write("all.txt")]),
        ("make > 'my file'", [write("my file")]),
        ("make > /tmp/a/b.log", [write("/tmp/a/b.log")]),
        ("> empty.txt", [write("empty.txt", "")]),
        (": > empty.txt", [write("empty.txt", "")]),
        ("true > empty.txt", [write("empty.txt", "")]),
        ("(make; make test) > out.txt", [write("out.txt")]),
        ("{ make; } > out.txt", [write("out.txt")]),
        ("for f in a b; do wc $f; done > out.txt", [write("out.txt")]),
        ("cat a b > c", [write("c")]),
        ("sort names | uniq > sorted", [write("sorted")]),
        ("make > 2026.log", [write("2026.log")]),
        ("make | grep -v x > out.txt", [write("out.txt")]),
        ("echo hello > a.txt", [write("a.txt", "hello\n")]),
        ("echo 'two words' > a.txt", [write("a.txt", "two words\n")]),
        ('echo "two words" b > a.txt', [write("a.txt", "two words b\n")]),
        ("echo -n hello > a.txt", [write("a.txt", "hello")]),
        ("echo -e 'a\\nb' > a.txt", [write("a.txt")]),
        ('echo "$HOME" > a.txt', [write("a.txt")]),
        ("echo '$HOME' > a.txt", [write("a.txt", "$HOME\n")]),
        ("echo $(date) > a.txt", [write("a.txt")]),
        ("echo * > a.txt", [write("a.txt")]),
        ("echo hello >> a.txt", [append("a.txt", "hello")]),
        ("printf 'hello' > a.txt", [write("a.txt", "hello")]),
        ("printf '%s\\n' one two > a.txt", [write("a.txt", "one\ntwo\n")]),
        ("printf 'a\\tb\\n100%%' > a.txt", [write("a.txt", "a\tb\n100%")]),
        ("printf '%d\\n' 5 > a.txt", [write("a.txt")]),
        ("printf 'a\\x41' > a.txt", [write("a.txt")]),
        ("> a.txt echo hello", [write("a.txt", "hello\n")]),
    ],
)
def test_output_that_goes_to_a_file_writes_it(command: str, expected: Changes) -> None:
    assert changes(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat > a.py <<'EOF'\nx = 1\n\ny = '$z'\nEOF", [write("a.py", "x = 1\n\ny = '$z'\n")]),
        ("cat <<EOF > a.py\nx = 1\nEOF\n", [write("a.py", "x = 1\n")]),
        ('cat <<"EOF" > a.py\nx = 1\nEOF\n', [write("a.py", "x = 1\n")]),
        ("cat <<\\EOF > a.py\nx = 1\nEOF\n", [write("a.py", "x = 1\n")]),
        ("cat > a.py <<EOF\ncost \\$5 `date` \\\\n\nEOF", [write("a.py", "cost $5 `date` \\n\n")]),
        ("cat > a.py << 'EOF'\ncost \\$5\nEOF", [write("a.py", "cost \\$5\n")]),
        ("cat > a.mk <<-EOF\n\tall:\n\t\tmake\n\tEOF\nls", [write("a.mk", "all:\nmake\n")]),
        ("cat > a <<A; cat > b <<B\n1\nA\n2\nB\n", [write("a", "1\n"), write("b", "2\n")]),
        (
            "cat > a <<A && cat > b <<B && rm c\n1\nA\n2\nB\nrm d",
            [write("a", "1\n"), write("b", "2\n"), delete("c"), delete("d")],
        ),
        ("cat > a <<EOF\nEOF\nrm b", [write("a", ""), delete("b")]),
        ("cat > a <<EOF\n|\nEOF", [write("a", "|\n")]),
        ("cat > a <<'EOF'\nno end", [write("a", "no end")]),
        ("cat >> a.txt <<'EOF'\none\ntwo\nEOF", [append("a.txt", "one", "two")]),
        ("cat <<'EOF' | tee a.txt\none\nEOF", [write("a.txt", "one\n")]),
        ("cat <<'EOF' | tee -a a.txt > /dev/null\none\nEOF", [append("a.txt", "one")]),
        ("cat <<'EOF' | sort > a.txt\none\nEOF", [write("a.txt")]),
        ("tee a.txt <<'EOF' >/dev/null\none\nEOF", [write("a.txt", "one\n")]),
        ("cat - > a.txt <<< 'one two'", [write("a.txt", "one two\n")]),
        ('cat > a.txt <<< "$x"', [write("a.txt")]),
        ("mkdir -p src && cat > src/a.py <<'EOF'\nrm -rf /\nEOF", [write("src/a.py", "rm -rf /\n")]),
        ("bash <<'EOF'\nrm a\ntouch b\nEOF\nrm c", [delete("a"), write("b"), delete("c")]),
        ("python3 <<'EOF'\nopen('a', 'w') > 5\nEOF", []),
        ("bash -lc \"cat > a.py <<'EOF'\nx = 1\nEOF\"", [write("a.py", "x = 1\n")]),
    ],
)
def test_here_documents_say_what_is_written(command: str, expected: Changes) -> None:
    assert changes(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("sed -i 's/a/b/' f", [edit("f")]),
        ("sed -i s/a/b/ f g", [edit("f"), edit("g")]),
        ("sed -i '' 's/a/b/' f", [edit("f")]),
        ('sed -i "" -e s/a/b/ f', [edit("f")]),
        ("sed -i .bak 's/a/b/' f", [edit("f")]),
        ("sed -i.bak 's/a/b/' f", [edit("f")]),
        ("sed -i -e s/a/b/ -e s/c/d/ f", [edit("f")]),
        ("sed -i -E 's/(a)/b/' f", [edit("f")]),
        ("sed -E -i 's/(a)/b/' f", [edit("f")]),
        ("sed -Ei 's/(a)/b/' f", [edit("f")]),
        ("sed -ni '1,5p' f", [edit("f")]),
        ("sed --in-place=.bak s/a/b/ f", [edit("f")]),
        ("sed --in-place s/a/b/ f", [edit("f")]),
        ("gsed -i s/a/b/ f", [edit("f")]),
        ("sed -i s/a/b/ f; sed -i s/c/d/ f; sed -i s/e/f/ g", [edit("f"), edit("g")]),
        ("sed -i '3i\\\nimport os' f", [edit("f")]),
        ("sed s/a/b/ f", []),
        ("sed -n 5p f", []),
        ("sed -e 's/-i/x/' f", []),
        ("sed -i 's/a/b/' $f", []),
        ("perl -pi -e 's/a/b/' f g", [edit("f"), edit("g")]),
        ("perl -i -pe 's/a/b/' f", [edit("f")]),
        ("perl -pi.bak -e 's/a/b/' f", [edit("f")]),
        ("perl -0pi -e 's/a\\n/b/' f", [edit("f")]),
        ("perl -i.orig -ne 'print unless /x/' f", [edit("f")]),
        ("perl -e 'print 1' f", []),
        ("perl script.pl f", []),
        ("ruby -pi -e 'gsub(/a/, \"b\")' f", [edit("f")]),
        ("truncate -s 0 log", [write("log", "")]),
        ("truncate --size=10 log", [edit("log")]),
    ],
)
def test_programs_that_edit_in_place(command: str, expected: Changes) -> None:
    assert changes(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rm a", [delete("a")]),
        ("rm -rf build dist", [delete("build"), delete("dist")]),
        ("rm -f -- -odd", [delete("-odd")]),
        ("/bin/rm a", [delete("a")]),
        ("sudo rm -f a", [delete("a")]),
        ("rm *.pyc", [delete("*.pyc")]),
        ("unlink a", [delete("a")]),
        ("rmdir a", []),
        ("mkdir a", []),
        ("git rm -r a b", [delete("a"), delete("b")]),
        ("git rm --cached a", []),
        ("mv a b", [move("a", "b")]),
        ("mv -f a b", [move("a", "b")]),
        ("mv a b dir", [move("a", "dir/a"), move("b", "dir/b")]),
        ("mv x/a dir/", [move("x/a", "dir/a")]),
        ("mv x/a .", [move("x/a", "a")]),
        ("mv x/a ..", [move("x/a", "../a")]),
        ("mv -t dir a b", [move("a", "dir/a"), move("b", "dir/b")]),
        ("mv --target-directory=dir a", [move("a", "dir/a")]),
        ("mv a", []),
        ("git mv a b", [move("a", "b")]),
        ("git -C sub mv a b", [move("sub/a", "sub/b")]),
        ("rm old && mv a b", [delete("old"), move("a", "b")]),
        ("cp a b", [write("b")]),
        ("cp -r a/x b/", [write("b/x")]),
        ("cp a b dir", [write("dir/a"), write("dir/b")]),
        ("cp a.py{,.bak}", []),
        ("touch a b", [write("a"), write("b")]),
        ("touch -c a", []),
        ("touch -d yesterday a", [write("a")]),
        ("install -m 755 a bin/a", [write("bin/a")]),
        ("install -d bin", []),
        ("ln -s a b", [write("b")]),
        ("ln -s ../x/a", [write("a")]),
        ("dd if=/dev/zero of=disk.img bs=1M count=1", [write("disk.img")]),
        ("tee a b", [write("a"), write("b")]),
        ("make | tee -a build.log", [edit("build.log")]),
        ("echo x | sudo tee /etc/a", [write("/etc/a", "x\n")]),
        ("git checkout -- a b", [write("a"), write("b")]),
        ("git checkout HEAD~1 -- a", [write("a")]),
        ("git checkout main", []),
        ("git checkout -b new", []),
        ("git restore a", [write("a")]),
        ("git restore --source=HEAD~1 a", [write("a")]),
        ("git restore --staged a", []),
        ("git restore -SW a", [write("a")]),
        ("git status > a", [write("a")]),
        ("npm install left-pad", []),
        ("pip install x", []),
    ],
)
def test_programs_that_make_remove_and_move_files(command: str, expected: Changes) -> None:
    assert changes(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd x && rm a", [delete("x/a")]),
        ("cd x && mv a /y/b && cp a ~/c", [move("x/a", "/y/b"), write("~/c")]),
        ("cd x && make > out", [write("x/out")]),
        ("(cd x && rm a) && rm b", [delete("x/a"), delete("b")]),
        ("cd x; cd -; rm a", [delete("a")]),
        ("bash -lc 'rm a' && rm b", [delete("a"), delete("b")]),
        ("bash -c 'make > a' > b", [write("a"), write("b")]),
        ("if [ -f a ]; then rm a; else touch a; fi", [delete("a"), write("a")]),
        ("for f in *.py; do sed -i s/a/b/ $f; done", []),
        ('for f in *.py; do sed -i s/a/b/ "$f"; mv "$f" "$f.bak"; done', []),
        ("for d in a b; do rm $d/x; done; rm $HOME/y", [delete("$HOME/y")]),
        ('while read -r f; do rm "$f/x"; done < list', []),
        ('for d in a b; do (cd "$d" && rm x); done', []),
        ('cd "$REPO" && rm a', [delete("$REPO/a")]),
        ('rm "$HOME/a" "${TMP}/b" $x "a$x" `which c` $(d) e', [delete("$HOME/a"), delete("${TMP}/b"), delete("e")]),
        ('mv a "$x"', []),
        ("mv $x dir/", []),
        ("cp $x a dir", [write("dir/a")]),
        ("rm {a,b}.txt", []),
        ("make > $log", []),
        ("find . -name '*.pyc' | xargs rm -f", []),
        ("find . -name '*.pyc' -delete", []),
        ("find . -name '*.py' -exec sed -i s/a/b/ {} +", []),
        ("rg -l a | xargs sed -i s/a/b/", []),
        ("ls | xargs -I{} mv {} old/", []),
        ("ls | xargs cp a b", []),
        ("find . | xargs wc -l > counts", [write("counts")]),
        ("make 2>&1", []),
        ("make > /dev/null 2>&1", []),
        ("make 2>/dev/null", []),
        ("make 1>&2", []),
        ("make >&2", []),
        ("make > /dev/stderr", []),
        ("[[ $a > 5 ]] && make", []),
        ("[[ a > b ]] && make", []),
        ("(( a > 5 ))", []),
        ("echo 'a > b'", []),
        ("python -c 'print(1 > 2)'", []),
        ("awk '{ if ($1 > 5) print }' f", []),
        ("git commit -m 'a -> b'", []),
        ("# rm a", []),
        ("echo rm a", []),
        ("make > 'te'pot.txt", []),  # a search for «tepot» would pass over the log, in which the word is not
        ("find . -name x | xargs -I{} sh -c 'rm {}'", []),
        ("rm a; exit 1", [delete("a")]),
        ("A=1 rm a", [delete("a")]),
        ("env A=1 rm a", [delete("a")]),
        ("time rm a", [delete("a")]),
        ("rm a &", [delete("a")]),
        ("rm . .. / -", []),
        ("rm a\nmv b c\n", [delete("a"), move("b", "c")]),
        ("rm \\\n  a \\\n  b", [delete("a"), delete("b")]),
        ("rm 'it'\\''s' \"a b\" c\\ d", [delete("it's"), delete("a b"), delete("c d")]),
        ("cat <<EOF | bash\nrm a\nEOF", [delete("a")]),
        ("diff <(sort a > b) c", [write("b")]),
        ("rm é.txt > ü.log", [delete("é.txt"), write("ü.log")]),
    ],
)
def test_the_language_around_changes(command: str, expected: Changes) -> None:
    assert changes(command) == expected


def test_actions_are_in_the_order_of_the_script() -> None:
    assert intents("cat a; sed -i s/x/y/ a; rg x src > found; rm b") == (
        FileRead("a"),
        edit("a"),
        Search("x", path="src"),
        write("found"),
        delete("b"),
    )


def test_a_filter_narrows_reads_and_keeps_changes() -> None:
    assert intents("cat a 2> err | head -5") == (FileRead("a", None, 5), write("err"))


def test_what_was_looked_for_is_forgotten_and_what_was_written_is_not() -> None:
    assert intents("rg -l a 2> err | xargs rm") == (write("err"),)


DIFF = """\
diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,2 +1,2 @@ def f():
 kept
-gone
+come
diff --git a/new.py b/new.py
new file mode 100644
--- /dev/null
+++ b/new.py
@@ -0,0 +1 @@
+x = 1
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1 +0,0 @@
--- y
diff --git a/here.py b/there.py
similarity index 90%
rename from here.py
rename to there.py
"""
HUNK = Hunk((" kept", "-gone", "+come"), ("-1,2 +1,2 @@ def f():",))
CHANGED = [
    FileEdit("src/a.py", "", "", False, (HUNK,), 1, 1),
    write("new.py", "x = 1\n"),
    delete("old.py"),
    move("here.py", "there.py"),
]
PLAIN = "--- a.py\t2026-01-01\n+++ a.py\t2026-01-02\n@@ -1,2 +1,2 @@ def f():\n kept\n-gone\n+come\n"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"git apply <<'EOF'\n{DIFF}EOF", CHANGED),
        (f"patch -p1 <<'EOF'\n{DIFF}EOF", CHANGED),
        (f"cat <<'EOF' | git apply -\n{DIFF}EOF", CHANGED),
        (f"cat > x.diff <<'EOF'\n{DIFF}EOF\ngit apply x.diff", [write("x.diff", DIFF), *CHANGED]),
        (f"cat > x.diff <<'EOF'\n{DIFF}EOF\npatch -p1 < x.diff", [write("x.diff", DIFF), *CHANGED]),
        (f"patch -p1 -i - <<'EOF' && rm b\n{DIFF}EOF", [*CHANGED, delete("b")]),
        (f"git apply --check <<'EOF'\n{DIFF}EOF", []),
        (f"patch --dry-run -p1 <<'EOF'\n{DIFF}EOF", []),
        (f"cd sub && patch -p0 <<'EOF'\n{PLAIN}EOF", [FileEdit("sub/a.py", "", "", False, (HUNK,), 1, 1)]),
        (f"patch x/b.py <<'EOF'\n{PLAIN}EOF", [FileEdit("x/b.py", "", "", False, (HUNK,), 1, 1)]),
        (f"git apply -R <<'EOF'\n{DIFF}EOF", [edit("src/a.py"), edit("new.py"), edit("old.py")]),
        ("git apply x.diff", []),
        ("patch -p1 < x.diff", []),
        ("patch a.py < x.diff", [edit("a.py")]),
        ("git apply <<'EOF'\nno diff\nEOF", []),
    ],
)
def test_diffs_that_are_applied(command: str, expected: Changes) -> None:
    assert changes(command) == expected


def test_long_here_documents_are_read_whole() -> None:
    text = "it's a line\n" * 20_000
    assert changes(f"cat > a.txt <<'EOF'\n{text}EOF\nrm b") == [write("a.txt", text), delete("b")]


def test_a_command_that_changes_files_is_shown_as_a_command(unspool: Run, tmp_path: Path) -> None:
    script = "cat > new.py <<'EOF'\nx = 1\nEOF\nrm old.py"
    log = Claude().user("Go").calls("t1", "Bash", command=script).result("t1", "rm: old.py: No such file", failed=True)
    path = log.save(tmp_path / "log.jsonl")
    (event,) = unspool("grep", "new.py", path, "--kind", "file_write", "--json").stdout.splitlines()
    content = json.loads(event)["content"]
    assert (content["kind"], content["arguments"]["command"]) == ("execute", script)
    assert content["actions"] == [
        {"kind": "file_write", "file_path": "new.py", "content": "x = 1\n"},
        {"kind": "file_delete", "file_path": "old.py"},
    ]
    shown = unspool("show", path).stdout.decode()
    assert "Bash  cat > new.py" in shown
    assert "No such file" in shown
    assert "+x = 1" not in shown
    boxes = unspool("pretty", path, "--style", "line").stdout.decode()
    assert "cat > new.py" in boxes
    assert "old.py deleted" not in shown + boxes


def test_edits_of_a_script_that_are_no_shell_commands_are_shown() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x = 1\n+x = 2\n*** End Patch\n"
    script = f"await tools.exec_command({{cmd: 'rm b.py'}}); await tools.apply_patch({json.dumps(patch)});"
    meaning = vocabulary_for("codex").read("exec", script)
    assert [type(action).__name__ for action in meaning.actions] == ["Execute", "FileDelete", "FileEdit"]
    assert [action.file_path for action in changed_files(meaning)] == ["a.py"]
