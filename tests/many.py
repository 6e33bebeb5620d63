"""A folder of invented logs with something of everything: what every way to squash it must make the same of."""

import json
import shutil
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
SECRET = "sk-ant-api03-" + "aB3dE5fG7h" * 9
WORDS = "the parcel of the second customer was weighed twice because its label could not be read by the old scanner"
LONG = " ".join(f"{word}{number}" for number in range(12) for word in WORDS.split())


def says(role: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def entry(session: str, second: int, messages: list[dict[str, Any]], *answers: str) -> dict[str, Any]:
    choices = [{"index": at, "message": says("assistant", text)} for at, text in enumerate(answers)]
    return {
        "timestamp": f"2026-03-02T10:00:{second:02}Z",
        "session_id": session,
        "request": {"model": "m", "messages": messages},
        "response": {"id": f"r{second}", "choices": choices},
    }


def write(folder: Path, name: str, *entries: Any) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in entries))
    return path


def session(folder: Path, name: str, text: str, session: str = "s") -> Path:
    """Grows, has a retry, and a question that was asked in another way."""
    asked = [says("system", "Be brief."), says("user", text)]
    return write(
        folder,
        name,
        entry(session, 1, asked, "Poor."),
        entry(session, 2, asked, "Good."),
        entry(session, 3, [*asked, says("assistant", "Good."), says("user", f"{SECRET} for ada@example.com")], "Done."),
        entry(session, 4, [asked[0], says("user", f"{text} Again.")], "Otherwise."),
    )


def many(folder: Path) -> Path:
    for number in range(12):
        day = f"2026-03-{number % 3 + 1:02}"
        session(folder, f"{day}/parcel-{number}.jsonl", f"{number}: {WORDS} and weighed {number} grams")
    session(folder, "2026-03-01/twin-a.jsonl", WORDS)
    session(folder, "2026-03-03/twin-b.jsonl", WORDS)
    session(folder, "2026-03-02/near.jsonl", f"{LONG} at noon")
    session(folder, "2026-03-03/nearer.jsonl", f"{LONG} at night")
    write(folder, "2026-03-02/broken.jsonl", entry("s", 1, [says("user", "a")], "b"), f'{{"request": {SECRET}', "[]")
    write(folder, "2026-03-03/backwards.jsonl", entry("s", 9, [says("user", "a")], "b"), entry("s", 1, [], "c"))
    write(folder, "zzz/empty.jsonl")
    shutil.copytree(ROOT / "samples", folder / "others")
    return folder


def long_sessions(folder: Path, number: int) -> Path:
    """Such that a near-duplicates filter is busy for a while with each."""
    for at in range(number):
        words = " ".join(f"word{(at * 7919 + place * place) % 99_991}" for place in range(60_000))
        write(folder, f"long-{at:03}.jsonl", entry(f"s{at}", 1, [says("user", words)], words[::-1]))
    return folder


def records(out: Path) -> list[dict[str, Any]]:
    """Those that a run of squash wrote."""
    return [json.loads(line) for file in sorted(out.glob("*.jsonl")) for line in file.read_text().splitlines()]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
