"""What shell commands read and search."""

import re
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unspool.actions import lexer
from unspool.actions.lexer import joined
from unspool.actions.shell import intents
from unspool.model.action import FileDelete, FileEdit, FileMove, FileRead, FileWrite, Search


def read(path: str, offset: int | None = None, limit: int | None = None) -> FileRead:
    return FileRead(path, offset, limit)


def search(pattern: str | None = None, path: str | None = None) -> Search:
    return Search(pattern, path=path)


def told(command: str) -> list[FileRead | Search]:
    return [action for action in intents(command) if isinstance(action, FileRead | Search)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a.py", [read("a.py")]),
        ("cat -n a.py b.py", [read("a.py"), read("b.py")]),
        ("cat -- -odd", [read("-odd")]),
        ("cat -", []),
        ("/bin/cat /etc/hosts", [read("/etc/hosts")]),
        ("nl -ba src/a.py", [read("src/a.py")]),
        ("nl -b a src/a.py", [read("src/a.py")]),
        ("less +20 notes.txt", [read("notes.txt")]),
        ("more notes.txt", [read("notes.txt")]),
        ("bat --style=plain -r 10:20 a.rs", [read("a.rs", 10, 11)]),
        ("bat -l rust --line-range :40 a.rs", [read("a.rs", None, 40)]),
        ("head a b", [read("a"), read("b")]),
        ("head -20 a", [read("a", None, 20)]),
        ("head -n 20 a", [read("a", None, 20)]),
        ("head -n20 a", [read("a", None, 20)]),
        ("head --lines=20 a", [read("a", None, 20)]),
        ("head -n -5 a", [read("a")]),
        ("head -c 100 a", [read("a")]),
        ("tail -n 20 a", [read("a", -20)]),
        ("tail -20 a", [read("a", -20)]),
        ("tail -n +20 a", [read("a", 20)]),
        ("tail +20 a", [read("a", 20)]),
        ("tail -f -n 5 log", [read("log", -5)]),
        ("sed -n '10,20p' a", [read("a", 10, 11)]),
        ("sed -n 10,20p a", [read("a", 10, 11)]),
        ('sed -n "10p" a', [read("a", 10, 1)]),
        ("sed -n '10,$p' a", [read("a", 10)]),
        ("sed -n '10,+5p' a", [read("a", 10, 6)]),
        ("sed -n -e '1,5p' a", [read("a", 1, 5)]),
        ("sed -n '1,5p;10,12p' a b", [read("a", 1, 5), read("a", 10, 3), read("b", 1, 5), read("b", 10, 3)]),
        ("sed -n '$p' a", [read("a", -1)]),
        ("sed 30q a", [read("a", None, 30)]),
        ("sed -n '/^def /p' a", [search("^def ", "a")]),
        ("sed -n '/begin/,/end/p' a", [read("a")]),
        ("sed 's/a/b/' a", [read("a")]),
        ("awk 'NR>=10 && NR<=20' a", [read("a", 10, 11)]),
        ("awk 'NR==10,NR==20 {print NR\": \"$0}' a", [read("a", 10, 11)]),
        ("awk 'NR > 9 && NR < 21' a", [read("a", 10, 11)]),
        ("awk 'NR==7' a", [read("a", 7, 1)]),
        ("awk '/error/' log", [search("error", "log")]),
        ("awk -F, '{print $1}' a.csv", [read("a.csv")]),
    ],
)
def test_what_shows_a_file_reads_it(command: str, expected: list[FileRead | Search]) -> None:
    assert told(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rg foo", [search("foo")]),
        ("rg -n 'a b|c' src tests", [search("a b|c", "src"), search("a b|c", "tests")]),
        ("rg -nC3 -g '!x/**' --type py foo src", [search("foo", "src")]),
        ("rg -n -A 3 -B3 foo", [search("foo")]),
        ("rg -e a -e b src", [search("a|b", "src")]),
        ("rg --regexp=a src", [search("a", "src")]),
        ("rg -- -x src", [search("-x", "src")]),
        ("rg foo -g '*.py'", [search("foo")]),
        ("rg --files", [search()]),
        ("rg --files -g '*.rs' src", [search("*.rs", "src")]),
        ("rg -l foo", [search("foo")]),
        ("rg -f patterns.txt src", [search(None, "src")]),
        ("rg --version", []),
        ("grep -rn --include='*.py' foo .", [search("foo", ".")]),
        ("grep -R foo", [search("foo")]),
        ("grep -n foo a b", [search("foo", "a"), search("foo", "b")]),
        ("grep -e foo -- a", [search("foo", "a")]),
        ("grep foo", []),
        ("egrep 'a|b' x", [search("a|b", "x")]),
        ("fgrep a x", [search("a", "x")]),
        ("ag foo lib", [search("foo", "lib")]),
        ("ag -g '\\.py$'", [search("\\.py$")]),
        ("ack --type=py foo", [search("foo")]),
        ("git grep -n foo -- src", [search("foo", "src")]),
        ("git -C sub --no-pager grep foo", [search("foo", "sub")]),
        ("git ls-files src", [search(None, "src")]),
        ("git -C sub ls-files", [search(None, "sub")]),
        ("git status", []),
        ("git log --grep foo", []),
        ("find . -name '*.py' -type f", [search("*.py", ".")]),
        ("find a b -maxdepth 2", [search(None, "a"), search(None, "b")]),
        ("find", [search()]),
        ("find . -name '*.py' -o -iname '*.pyi'", [search("*.py|*.pyi", ".")]),
        (r"find . \( -path ./x -prune \) -o -name '*.py' -not -name 'z*'", [search("*.py", ".")]),
        ("find . -name '*.py' -exec grep -l foo {} +", [search("*.py", "."), search("foo", ".")]),
        ("find . -type f -exec wc -l {} \\;", [search(None, ".")]),
        ("fd", [search()]),
        ("fd -e py test src", [search("test", "src")]),
        ("fd -e py", [search("py")]),
        ("fdfind -H conf /etc", [search("conf", "/etc")]),
        ("ls", [search()]),
        ("ls -la src tests", [search(None, "src"), search(None, "tests")]),
        ("tree -L 2 -I node_modules src", [search(None, "src")]),
        ("tree -P '*.py'", [search("*.py")]),
    ],
)
def test_what_looks_for_something_searches(command: str, expected: list[FileRead | Search]) -> None:
    assert told(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "",
        "   ",
        "# cat a",
        "make test",
        "pytest -q tests/test_cat.py",
        "echo cat a",
        "echo 'x; cat a'",
        "python -c \"import os; print(open('cat a').read())\"",
        "wc -l a",
        "stat a",
        "diff a b",
        "which rg",
        "command -v rg",
        "cat > a",
        "cat >> a <<'EOF'\ncat b\nEOF",
        "cat a b > c",
        "cat a 1>b",
        "cat a &> b",
        "cat a >/dev/null",
        "sed -i 's/a/b/' f",
        "sed -i.bak -e s/a/b/ f",
        "sed --in-place s/a/b/ f",
        "sed -n",
        "awk '{print > \"out\"}' f",
        "find . -name '*.pyc' -delete",
        "find . -name x -exec rm {} +",
        "find . -name x -exec sed -i s/a/b/ {} \\;",
        "find . -name x | xargs rm -f",
        "find . -name x -print0 | xargs -0 sed -i s/a/b/",
        "fd -e tmp -x rm",
        "git ls-files -z | xargs -0 prettier --write",
        "for f in a b; do cat $f; done",
        "cat $(git diff --name-only)",
        'cat "$f" ${g} `which x`',
    ],
)
def test_what_reads_and_searches_nothing(command: str) -> None:
    assert told(command) == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a | grep x", [read("a")]),
        ("ps aux | grep x", []),
        ("git log | rg fix | head -3", []),
        ("rg foo src | head -50", [search("foo", "src")]),
        ("cat a | grep x b", [read("a"), search("x", "b")]),
        ("nl -ba a | sed -n '5,9p'", [read("a", 5, 5)]),
        ("cat a | head -20", [read("a", None, 20)]),
        ("cat a b | tail -n 3", [read("a", -3), read("b", -3)]),
        ("cat a | nl | sed -n '2,3p'", [read("a", 2, 2)]),
        ("cat a | awk 'NR<=5'", [read("a", None, 5)]),
        ("cat a | grep x | head -2", [read("a")]),
        ("cat a | sort | head -2", [read("a")]),
        ("rg --files | rg test", [search()]),
        ("find . -name '*.py' | xargs grep -n foo", [search("*.py", "."), search("foo")]),
        ("find . -name '*.py' | xargs wc -l", [search("*.py", ".")]),
        ("rg -l foo | xargs -I {} cat {}", [search("foo")]),
        ("ls |& tee out", [search()]),
        ("cat < a", [read("a")]),
        ("grep x < a", [search("x", "a")]),
        ("cat a 2>/dev/null", [read("a")]),
        ("cat a 2>&1 | head", [read("a")]),
        ("rg foo > out.txt", [search("foo")]),
        ("diff <(cat a) <(cat b)", [read("a"), read("b")]),
    ],
)
def test_pipes_and_redirections(command: str, expected: list[FileRead | Search]) -> None:
    assert told(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd x && cat a", [read("x/a")]),
        ("cd x && cat ./a /etc/b ~/c", [read("x/a"), read("/etc/b"), read("~/c")]),
        ("cd x && rg foo", [search("foo", "x")]),
        ("cd x && rg foo .", [search("foo", "x")]),
        ("cd x/ && cd y; ls", [search(None, "x/y")]),
        ("cd 'my dir' && cat a", [read("my dir/a")]),
        ("cd /r\ncat a", [read("/r/a")]),
        ("(cd x && ls) && cat a", [search(None, "x"), read("a")]),
        ("cd x || exit 1; cat a", [read("x/a")]),
        ("pushd x >/dev/null && cat a", [read("x/a")]),
        ("pushd x; cat a; popd; cat b", [read("x/a"), read("b")]),
        ("cd && cat a", [read("~/a")]),
        ("cd x && cat a; cd - && cat b", [read("x/a"), read("b")]),
        ("cd -P x && cat a", [read("x/a")]),
        ('cd x && cd "$TOP" && cat a', [read("$TOP/a")]),
        ("find . -name x | xargs -I{} sh -c 'cat {}'", [search("x", ".")]),
        ("bash -lc 'cd x; cat a'; cat b", [read("x/a"), read("b")]),
        ("cd x && bash -c 'cat a'", [read("x/a")]),
        ("/bin/zsh -lc \"sed -n '1,5p' a\"", [read("a", 1, 5)]),
        ('sh -c "bash -lc \'cat \\"a b\\"\'"', [read("a b")]),
        ("FOO=1 BAR='x y' rg z", [search("z")]),
        ("env -u A FOO=1 cat a", [read("a")]),
        ("sudo -u me cat a", [read("a")]),
        ("time cat a", [read("a")]),
        ("timeout -k 5 10s rg z", [search("z")]),
        ("nice -n 5 nohup cat a &", [read("a")]),
        ("pwd && ls; cat a || cat b", [search(), read("a"), read("b")]),
        ("make\ncat log", [read("log")]),
        ("if [ -f a ]; then cat a; else cat b; fi", [read("a"), read("b")]),
        ("! cat a", [read("a")]),
        ("{ cat a; }", [read("a")]),
        ("cat a # cat b", [read("a")]),
        ("cat \\\n  a \\\n  b", [read("a"), read("b")]),
        ("cat 'it'\\''s' \"a\\\"b\" c\\ d $'e\\'f'", [read("it's"), read('a"b'), read("c d"), read("e\\'f")]),
        ('cat "$HOME/a" src/*.py', [read("$HOME/a"), read("src/*.py")]),
        ("cat a > b && cat c", [read("c")]),
        ("python - <<'EOF'\ncat x\nEOF\ncat y", [read("y")]),
        ("cat <<EOF > f\ncat x\nEOF", []),
        ("cat <<-'A' <<B; cat y\ncat x\n\tA\ncat z\nB\ncat w", [read("y"), read("w")]),
        ("cat <<EOF\ncat x", []),
        ('cat <<""; ls\ncat x\n', [search()]),
        ("cat a 2>&1 | head -n 5; ls 2>/dev/null", [read("a", None, 5), search()]),
        ("cat a <<< 'cat b'", [read("a")]),
        ("grep '<<EOF' a && cat b", [search("<<EOF", "a"), read("b")]),
        ("cat 'unclosed", [read("unclosed")]),
    ],
)
def test_the_language_around_commands(command: str, expected: list[FileRead | Search]) -> None:
    assert told(command) == expected


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["ls", "-la", "my dir"], "ls -la 'my dir'"),
        (["echo", "it's", ""], "echo 'it'\"'\"'s' ''"),
        (["bash", "-lc", "cd x && cat 'a b'"], "cd x && cat 'a b'"),
        (["/bin/zsh", "-c", "ls"], "ls"),
        (["powershell.exe", "-NoProfile", "-Command", "Get-Content a"], "Get-Content a"),
        ([r"C:\Windows\cmd.exe", "/c", "dir"], "dir"),
        (["bash", "run.sh", "x"], "bash run.sh x"),
        (["bash", "-lc", "cat $0", "a"], "bash -lc 'cat $0' a"),
        ([], ""),
    ],
)
def test_the_line_of_a_list_of_words(argv: list[str], line: str) -> None:
    assert joined(argv) == line


WORDS = st.sampled_from(
    [
        *("cat", "rg", "grep", "find", "sed", "awk", "head", "tail", "ls", "fd", "git", "xargs", "bash", "cd", "env"),
        *("-n", "-e", "--", "-", "-exec", "-c", "-lc", "-20", "--files", "+", "+5", "1,5p", "NR>=1", "{}", "a b"),
        *("|", ";", "&&", "||", "&", "(", ")", "<", ">", "2>&1", "<<", "<<-", "<<<", "EOF", "\n", "'", '"', "\\", "$("),
        *("`", "$f", "#", "", "é", "=", "A=1", "timeout", "command", "sudo"),
        *("rm", "mv", "cp", "tee", "-a", "touch", "-i", "perl", "-pi", "patch", "-p1", "dd", "of=x", "install", "ln"),
        *("apply", "checkout", "restore", "--", "echo", "printf", ">", ">>", ">|", "&>", ">&", "for", "read", "a.py"),
        *(
            "--- a/x\n",
            "+++ b/x\n",
            "@@ -1 +1 @@\n",
            "-a\n",
            "+b\n",
            "diff --git a/x b/y\n",
            "rename from x\n",
            "{a,b}",
        ),
        *("bat", "-r", "9" * 5000, f"+{'9' * 5000}", f"-{'9' * 5000}", f"1:{'9' * 5000}"),
    ]
)


@given(st.text() | st.lists(WORDS).map(" ".join) | st.lists(WORDS).map("".join))
def test_no_text_is_too_odd(command: str) -> None:
    for action in intents(command):
        assert isinstance(action, FileRead | Search | FileWrite | FileEdit | FileDelete | FileMove)


@given(st.text() | st.lists(WORDS).map(" ".join) | st.lists(WORDS).map("".join))
def test_a_command_line_is_the_same_by_its_operators_and_by_its_words(command: str) -> None:
    """Where nothing is to be passed over, it is taken apart by its operators: faster, and to the same effect."""
    found = [token for words, _, operator in lexer.parts(command) for token in (*words, operator) if token]
    assert found == [token for token in lexer._tokens(command) if token]


@given(st.lists(WORDS).map(" ".join))
def test_words_that_are_told_to_be_plain_are(command: str) -> None:
    plain = [word for words, quoted, _ in lexer.parts(command) for word in words if not quoted]
    assert plain == [lexer.plain(word) for word in plain if word[0] not in "$`"]


@given(st.lists(st.text(), max_size=5))
def test_words_that_were_joined_are_told_apart_again(words: list[str]) -> None:
    argv = ["cat", "--", *[word.replace("$", "").replace("`", "") for word in words]]
    assert [action.file_path for action in told(joined(argv)) if isinstance(action, FileRead)] == [
        word for word in argv[2:] if word not in ("", "-")
    ]


@pytest.mark.parametrize(
    "piece",
    [
        "'",
        '"',
        "$(",
        "(",
        "`",
        "\\",
        "<<A\n",
        "<<",
        "bash -c '",
        "cat a | ",
        "cd x && ",
        'cat "$(',
        "a=",
        "$'",
        "{ ",
        "-e ",
    ],
)
def test_time_grows_with_the_length_only(piece: str) -> None:
    start = time.process_time()
    intents("cat " + piece * (60_000 // len(piece)))
    assert time.process_time() - start < 20


@given(st.lists(WORDS | st.sampled_from(["kettle", "'tea'", "pot", "\\\n", "saucer.py"])).map("".join))
def test_all_words_of_actions_are_in_the_command(command: str) -> None:
    """A search skips a log if a word that must be in an action is not in its bytes: so none may be put together."""
    for action in intents(command):
        for word in re.findall(r"[A-Za-z0-9]{4,}", msgspec.json.encode(action).decode().replace("\\n", " ")):
            assert word in command or word in _OWN, action


_OWN = "kind file_read file_write file_edit file_delete file_move search execute pattern file_path path offset limit "
_OWN += "content old_string new_string replace_all hunks lines context at_end added removed true false"
