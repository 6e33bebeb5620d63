"""Shell commands as agents run them: three in ten have a pipe, two in ten are several commands, one in fifty is a
script over many lines."""

from prose import Prose

_SIMPLE = {
    "git status --short": 6,
    "git diff --stat": 6,
    "git {word} -- {path}": 12,
    "git log --oneline -{number}": 6,
    "git show {word}:{path}": 4,
    "sed -n '{number},{more}p' {path}": 19,
    "rg -n \"{word}_{word}|{word}\" {word} -g '*.py'": 9,
    "gh pr view {number} --json {word},{word}": 10,
    "find {word} -name '{word}*' -type f": 4,
    "npm run {word} -- {path}": 6,
    "python -m pytest {path} -q -k '{word} and not {word}'": 4,
    "cat {path}": 3,
    "ls -la {word}/{word}": 3,
    "nl -ba {path}": 2,
    "node -e \"console.log(require('./{path}').{word})\"": 3,
    "mkdir -p {word}/{word}": 1,
}
_FILTERS = ("head -n {number}", "sed -n '1,{number}p'", "rg {word}", "wc -l", "jq '.{word}[] | .{word}'", "sort -u")


def command(prose: Prose) -> str:
    line = _simple(prose)
    if prose.chance(0.3):
        line = f"{line} | {_filled(prose, _FILTERS[prose.number(0, len(_FILTERS) - 1)])}"
    if prose.chance(0.19):
        line = f"cd {prose.word()} && {line}"
    if prose.chance(0.1):
        line = f"{line}; {_simple(prose)}"
    if prose.chance(0.02):
        line = f"python - <<'EOF'\n{prose.text(600)}\nEOF"
    return line


def _simple(prose: Prose) -> str:
    return _filled(prose, prose.pick(_SIMPLE))


def _filled(prose: Prose, pattern: str) -> str:
    number = prose.number(1, 400)
    filled = pattern.replace("{number}", str(number)).replace("{more}", str(number + prose.number(5, 200)))
    while "{word}" in filled:
        filled = filled.replace("{word}", prose.word(), 1)
    return filled.replace("{path}", prose.path())
