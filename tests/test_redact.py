import json
import os
import re
import stat
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from secret_kinds import HARMLESS, HEX, PEM, R36, SECRETS, TOLD
from secret_samples import samples
from unspool.errors import OutputNotWritable
from unspool.sources.home import data_folder
from unspool.sources.keys import key
from unspool.transforms.redact import Redactor
from unspool.transforms.redaction.names import FIELDS
from unspool.transforms.secrets import RULES, WEAK

KEY = b"a key"


@pytest.mark.parametrize("rule", [*RULES, *WEAK, *FIELDS], ids=lambda rule: rule.kind)
def test_every_rule_names_its_literals_and_matches_nothing_without_one(rule: Any) -> None:
    if getattr(rule, "is_long", False) and not rule.literals:
        return  # it has a form from its start to its end, and is tried on each long word
    assert rule.literals
    assert all(len(literal) >= 2 for literal in rule.literals)
    pattern = re.compile(rule.rule.pattern if hasattr(rule, "rule") else rule.pattern)
    back = getattr(rule, "back", 0)
    for _, before, secret, after in [*TOLD, *(("", "", secret, "") for _, secret in SECRETS)]:
        for found in pattern.finditer(before + secret + after):
            # a capital more or less is no literal of ours: it would not be looked for
            assert found[0].startswith(rule.literals, back), found[0]


def test_every_rule_is_tried() -> None:
    redactor = Redactor(KEY)
    for secret in [*(secret for _, secret in SECRETS), *(before + secret + after for _, before, secret, after in TOLD)]:
        redactor.text(secret)
    for sample in islice(samples(seed=1), 5000):
        redactor.text(sample.text)
    assert set(redactor.counts) == {"encoded-secret", "kubernetes-secret", *(rule.kind for rule in (*RULES, *WEAK))}


@pytest.mark.parametrize(("kind", "secret"), SECRETS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("key: ", "."),
        ("\n", "\n"),
        ("é", "é"),
        ("api_key=", ""),
        ('"', '"'),
        ("a\t", "\\"),
        ("(", ")"),
        ("%2F", "&"),
    ],
)
def test_a_secret_that_tells_itself_is_found_wherever_it_stands(
    kind: str, secret: str, before: str, after: str
) -> None:
    redactor = Redactor(KEY)
    alone = redactor.text(secret)
    assert re.fullmatch(rf"\[REDACTED:{kind}:[0-9a-f]{{4}}\]", alone)
    assert redactor.text(before + secret + after) == before + alone + after
    assert redactor.counts == {kind: 2}


@pytest.mark.parametrize(("kind", "before", "secret", "after"), TOLD)
def test_a_secret_that_its_name_tells_is_found(kind: str, before: str, secret: str, after: str) -> None:
    redactor = Redactor(KEY)
    redacted = redactor.text(f"x {before}{secret}{after}")
    assert re.fullmatch(re.escape(f"x {before}[REDACTED:{kind}:") + "[0-9a-f]{4}]" + re.escape(after), redacted)
    assert redactor.counts == {kind: 1}


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_stays(text: str) -> None:
    redactor = Redactor(KEY)
    assert redactor.text(text) is text
    data = json.dumps([text]).encode()
    assert redactor.raw(data) is data


def test_the_placeholder_depends_on_the_secret_and_the_key() -> None:
    one, two = f"ghp_{R36}", f"ghp_{R36[::-1]}"
    first = Redactor(KEY)
    assert first.text(one) == Redactor(KEY).text(one)
    assert first.text(one) != first.text(two)
    assert first.text(one) != Redactor(b"another").text(one)
    assert first.text(f"a {one} b {two} c {one}").count(first.text(one)) == 2


def test_values_are_copied_only_where_they_change_and_keys_tell_secrets() -> None:
    token = f"ghp_{R36}"
    value = {token: "x", "list": [{"a": "plain", "b": 1}, {"c": token}], "password": "Tr0ub4dor", "token": None}
    redacted = Redactor(KEY).values(value)
    assert [name[:23] for name in redacted if redacted[name] == "x"] == ["[REDACTED:github-token:"]
    assert redacted["list"][0] is value["list"][0]  # type: ignore[index]
    assert redacted["list"][1]["c"].startswith("[REDACTED:github-token:")
    assert redacted["password"].startswith("[REDACTED:password:")
    assert value["password"] == "Tr0ub4dor"
    clean = {"a": [1, {"b": "token=$X"}], "password": "none"}
    assert Redactor(KEY).values(clean) is clean


def test_a_private_key_has_one_placeholder_in_a_text_and_in_json() -> None:
    redactor = Redactor(KEY)
    for text in (PEM, PEM.replace("\n", "\r\n"), json.dumps(PEM)[1:-1], json.dumps(json.dumps(PEM))[3:-3]):
        assert redactor.text(text) == redactor.text(PEM)


PIECES = st.sampled_from(
    [secret for _, secret in SECRETS]
    + [piece for _, before, secret, after in TOLD for piece in (before, secret, before + secret + after)]
    + [
        "\n",
        "\t",
        '"',
        "'",
        "\\",
        "\\n",
        " ",
        "é",
        "\x7f",
        "\x01",
        "😀",
        "[",
        "@",
        ":",
        "=",
        "-",
        "_",
        "x1",
        "A",
        "n",
        "u00e9",
    ]
    + [word for text in HARMLESS for word in text.split(" ")]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=8).map("".join)
NAMES = st.sampled_from(
    ["content", "password", "API_KEY", "apiKey", "a token", "Authorization", "SecretAccessKey", "tokens", "x\n"]
)
VALUES = st.recursive(
    TEXTS | st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=400)
@given(VALUES)
def test_raw_json_and_values_agree_at_any_depth(value: Any) -> None:
    redactor = Redactor(KEY)
    expected = redactor.values(value)
    for options in ({"ensure_ascii": True}, {"ensure_ascii": False}, {"separators": (",", ":")}):
        once = json.dumps(value, **options)
        assert json.loads(redactor.raw(once.encode())) == expected
        twice = json.dumps([once], **options)
        assert json.loads(json.loads(redactor.raw(twice.encode()))[0]) == expected
        assert json.loads(redactor.values([once])[0]) == expected


@settings(max_examples=400)
@given(VALUES)
def test_redacting_twice_changes_nothing(value: Any) -> None:
    redactor = Redactor(KEY)
    once = redactor.values(value)
    assert redactor.values(once) is once


def test_long_texts_are_searched_to_their_end() -> None:
    """Where bytes are rare, where they are not, and where one turns into the other."""
    redactor = Redactor(KEY)
    for filler in ("word ", "KzJ_-k:w ", "AKIB ghp- tokem "):
        for size in (10, 10_000, 300_000):
            text = filler * (size // len(filler))
            redacted = redactor.text(f"{text}ghp_{R36} {text}token={HEX} {text}AKIAZ7Q2LM4N8PXR3TVW")
            assert redacted.count("[REDACTED:") == 3, (filler, size)


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSPOOL_KEY", raising=False)
    monkeypatch.setenv("UNSPOOL_HOME", str(tmp_path / "a" / "b"))
    made = key()
    assert len(made) == 64
    assert key() == made
    file = tmp_path / "a" / "b" / "key"
    assert [path.name for path in file.parent.iterdir()] == ["key"]
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    monkeypatch.setenv("UNSPOOL_KEY", file.read_text().strip())
    assert key() == made
    monkeypatch.setenv("UNSPOOL_KEY", "schlüssel")
    assert key() == "schlüssel".encode()


def test_programs_that_make_the_key_at_once_get_the_same(tmp_path: Path) -> None:
    code = "from unspool.sources.keys import key; print(key().decode())"
    environment = {**os.environ, "UNSPOOL_HOME": str(tmp_path / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("UNSPOOL_KEY", None)
    running = [
        subprocess.Popen([sys.executable, "-S", "-c", code], env=environment, stdout=subprocess.PIPE) for _ in range(6)
    ]
    told = {program.communicate(timeout=60)[0] for program in running}
    assert len(told) == 1
    assert len(told.pop().strip()) == 64


def test_the_data_folder_is_the_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("UNSPOOL_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert data_folder() == tmp_path / "unspool"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert data_folder() == Path.home() / "Library" / "Application Support" / "unspool"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert data_folder() == tmp_path / "local" / "unspool"


def test_a_key_that_cannot_be_kept_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSPOOL_KEY", raising=False)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("UNSPOOL_HOME", str(tmp_path / "file"))
    with pytest.raises(OutputNotWritable, match="set UNSPOOL_KEY"):
        key()
    monkeypatch.setenv("UNSPOOL_HOME", str(tmp_path))
    (tmp_path / "key").write_text("\n")
    with pytest.raises(OutputNotWritable, match="is empty"):
        key()


@pytest.mark.parametrize(
    "piece",
    [
        "sk-",
        "eyJ-",
        "token=",
        "token=a1",
        "xoxb-1-",
        "pypi-",
        "://a:",
        PEM[:40],
        "Q~abc8",
        "cookie=",
        "mysql ",
        '"' + PEM[:40],
    ],
)
def test_no_text_costs_more_than_a_multiple_of_its_length(piece: str) -> None:
    """Runs that are all beginnings: a rule that read on to their end at each would take minutes."""
    started = time.process_time()
    Redactor(KEY).text(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 10


def test_a_command_does_not_go_on_in_the_next_string_of_json() -> None:
    value = {"a": "docker login -u jane", "b": f"ssh -p {R36}", "c": 'mysql -h "db" -u root -pTr0ub4dor'}
    expected = Redactor(KEY).values(value)
    assert expected["b"] == value["b"]
    assert "Tr0ub4dor" not in expected["c"]
    assert json.loads(Redactor(KEY).raw(json.dumps(value).encode())) == expected


@pytest.mark.parametrize("piece", ["xoxb-aaaaaaaaaa", "sk-ant-aaaa", "sk-a1B2c3D4e5", "password=hunter2x1"])
def test_a_run_of_one_key_is_searched_once_and_not_again_for_each_piece(piece: str) -> None:
    redactor = Redactor(KEY)
    assert redactor.text(piece * 1000).count("[REDACTED:") == 1
    assert redactor.counts.total() == 1


@pytest.mark.parametrize(("plain", "escaped"), [("/", "\\/"), ("+", "\\u002B"), ("=", "\\u003d")])
def test_escapes_that_json_does_not_need_hide_no_secret(plain: str, escaped: str) -> None:
    value = f"AWS_SECRET_ACCESS_KEY={R36[:18]}/{R36[18:]}+ab"
    written = json.dumps({"content": value}).replace(plain, escaped).encode()
    assert json.loads(written) == {"content": value}
    redacted = Redactor(KEY).raw(written)
    assert json.loads(redacted)["content"].startswith("AWS_SECRET_ACCESS_KEY=[REDACTED:aws-secret:")
    harmless = json.dumps({"content": "a/b+c=d \\/ \\\\u002B"}).replace(plain, escaped).encode()
    assert Redactor(KEY).raw(harmless) == harmless


def test_a_secret_in_colours_and_one_that_is_named_by_another_value() -> None:
    key = f"ghp_{R36}"
    assert key not in Redactor(KEY).text(f"\x1b[32m{key}\x1b[0m \x1b[38;5;214m{key}\x1b[0m")
    listed = {"env": [{"name": "DB_PASSWORD", "value": "Tr0ub4dor"}, {"name": "SHELL", "value": "Tr0ub4dor"}]}
    first, second = Redactor(KEY).values(listed)["env"]
    assert first["value"].startswith("[REDACTED:password:")
    assert second["value"] == "Tr0ub4dor"
