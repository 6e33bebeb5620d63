"""Whether real agents did their task through the recorder: what `make clients` left, checked.

python bench/clients.py OUT

OUT/<client>/ holds upstream.jsonl, what the scripted upstream saw, and trace.jsonl, what the recorder wrote. Each
request must be in the trace, and the trace must cook to one connected conversation, with the answers of the upstream.
"""

import json
import sys
from pathlib import Path

from unspool.jobs.cook import cook

_ANSWER = "All done: **greeting.txt** now says hello twice."
_GREETING = "hello\nhello"


def checked(client: Path) -> list[str]:
    """What is wrong; nothing if all is well."""
    wrong = []
    sent = len((client / "upstream.jsonl").read_text().splitlines())
    records = [json.loads(line) for line in (client / "trace.jsonl").read_text().splitlines()]
    calls = [record for record in records if record["method"] == "POST"]
    if len(calls) != sent:
        wrong.append(f"{sent} requests reached the upstream, {len(calls)} are in the trace")
    cooked = cook(client / "trace.jsonl")
    wrong += [f"note: {note.reason}" for note in cooked.notes]
    roots = [request for request in cooked.requests if request.parent_id is None and request.tools]
    if len(roots) != 1:
        wrong.append(f"{len(roots)} conversations with tools, not one")
    texts = {message.id: message.content or "" for message in cooked.messages}
    if not any(_ANSWER in texts[answer] for answer in cooked.requests[-1].response_messages):
        wrong.append("the last answer is not the upstream's")
    written = client / "home" / "project" / "greeting.txt"
    if not written.exists() or _GREETING not in written.read_text():
        wrong.append("greeting.txt does not say hello twice")
    return wrong


def main() -> None:
    failed = False
    for client in sorted(path.parent for path in Path(sys.argv[1]).glob("*/trace.jsonl")):
        wrong = checked(client)
        failed = failed or bool(wrong)
        records = (client / "trace.jsonl").read_text().splitlines()
        print(f"{client.name:<10} {len(records)} calls  {'; '.join(wrong) or 'one connected conversation, task done'}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
