"""What `unspool cook` says when it is done: every line accounted for, and each conversation in one row."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress

import click

from unspool.cli.words import fit, human, plural, terminal_width
from unspool.model import Cooked, CookedMessage, CookedRequest, Note, NoteKind, Usage
from unspool.views.harmless import safe
from unspool.wires import WIRES

_ROWS = 12
_NOTES = 8
_COST_WIDTH = 10
_REMINDERS = ("<", "# AGENTS.md instructions")
_LOST: tuple[NoteKind, ...] = ("unreadable", "skipped", "internal")


def say_summary(cooked: Cooked, files: int, costs: bool = False) -> None:
    """Print the summary on standard error; with `costs` also the cost of each conversation."""

    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"

    def say(text: str = "") -> None:
        with suppress(OSError):  # that nobody can hear it must not cost the work
            click.echo(text, err=True, color=False if plain else None)

    lost = Counter(note.kind for note in cooked.notes if note.kind in _LOST)
    lines = len(cooked.requests) + lost.total()
    parts = [plural(len(cooked.requests), "request"), *(f"{lost[kind]:,} {kind}" for kind in _LOST if lost[kind])]
    say(f"{plural(lines, 'record')} in {plural(files, 'file')}: {', '.join(parts)}")
    if cooked.requests:
        sent = sum(len(request.request_messages) for request in cooked.requests)
        tools = plural(len(cooked.tools), "tool")
        say(f"{plural(len(cooked.messages), 'different message')} ({sent:,} sent) and {tools}")
        say()
        for line in _conversations(cooked, costs):
            say(line)
    for line in _notes(cooked.notes):
        say(line)


def _conversations(cooked: Cooked, costs: bool) -> Iterable[str]:
    roots = _roots(cooked.requests)
    rows = {message.id: message for message in cooked.messages}
    columns = min(terminal_width(2), 120) - (_COST_WIDTH + 1 if costs else 0)
    width, narrow = max(columns - 57, 16), columns < 73
    heads = "" if narrow else f"  {'model':<20}  {'input':>7} {'cached':>7} {'output':>7}"
    heads += f" {'cost':>{_COST_WIDTH}}" if costs else ""
    yield click.style(f"{'conversation':<{width}}  {'requests':>8}{heads}", dim=True)
    for members in roots[:_ROWS]:
        title = fit(_title(members[0], rows), width)
        cost = f" {_cost(members):>{_COST_WIDTH}}" if costs else ""
        yield f"{title}  {len(members):>8,}{'' if narrow else _usage(members)}{cost}".rstrip()
        if branches := _branches(members):
            yield click.style(f"╰ {branches}", fg="cyan")
    if rest := roots[_ROWS:]:
        requests = plural(sum(map(len, rest)), "request")
        yield click.style(f"… and {plural(len(rest), 'more conversation')} with {requests}", dim=True)
    if costs and len(roots) > 1:
        yield click.style(f"all of them: {_cost(cooked.requests)}", dim=True)


def _cost(requests: list[CookedRequest]) -> str:
    from unspool.jobs.view.rows import cost_of_requests
    from unspool.views.money import dollars

    cost = cost_of_requests(requests)
    return dollars(cost.usd, complete=cost.complete, estimated=cost.estimated) if cost.usd is not None else "?"


def _usage(members: list[CookedRequest]) -> str:
    """Return model and tokens of a conversation."""
    models = list(dict.fromkeys(request.model for request in members if request.model))
    model = (models or ["?"])[0] + (f" +{len(models) - 1}" if len(models) > 1 else "")
    usages = [request.usage for request in members if request.usage]
    return f"  {fit(model, 20)}  {_tokens(usages):<23}"


def _roots(requests: Iterable[CookedRequest]) -> list[list[CookedRequest]]:
    """The requests of each conversation, the largest first. A retried first request belongs to the one it retries."""
    root: dict[str, str] = {}
    members: dict[str, list[CookedRequest]] = defaultdict(list)
    for request in requests:
        before = request.parent_id or request.retry_of
        root[request.id] = root.get(before, request.id) if before else request.id
        members[root[request.id]].append(request)
    return sorted(members.values(), key=len, reverse=True)


def _title(request: CookedRequest, rows: dict[str, CookedMessage]) -> str:
    """What the person asked: the first line of the last thing said, not of a reminder. In agents' logs what they put
    beside a prompt stands behind it."""
    said = [rows[row] for row in request.request_messages]
    asked = [row.content for row in said if row.role == "user" and not row.content.lstrip().startswith(_REMINDERS)]
    text = (asked or [row.content for row in said] or [""])[-1 if request.format in WIRES else 0].strip()
    return text.splitlines()[0] if text else "(nothing)"


def _tokens(usages: list[Usage]) -> str:
    if not usages:
        return ""
    numbers = (
        sum(usage.input + usage.cache_write for usage in usages),
        sum(usage.cache_read for usage in usages),
        sum(usage.output for usage in usages),
    )
    return " ".join(f"{human(number):>7}" for number in numbers)


def _branches(members: list[CookedRequest]) -> str:
    kinds: Counter[str | None] = Counter("retry" if request.retry_of else request.parent_reason for request in members)
    kinds["error"] = sum(request.error is not None for request in members)
    children = Counter(request.parent_id for request in members if request.parent_id and not request.retry_of)
    kinds["fork"] = sum(born - 1 for born in children.values())
    named = [
        ("fork", "forks"),
        ("retry", "retries"),
        ("edit", "edits"),
        ("switch", "switches"),
        ("compaction", "compactions"),
        ("error", "errors"),
    ]
    return ", ".join(plural(kinds[one], one, many) for one, many in named if kinds[one])


def _notes(notes: list[Note]) -> Iterable[str]:
    """The first notes, those of one file that say the same in one line."""
    if notes:
        yield ""
    groups: dict[tuple[str, str, str], list[Note]] = defaultdict(list)
    for note in notes:
        groups[note.kind, note.origin.file, note.reason].append(note)
    for (kind, _, reason), same in list(groups.items())[:_NOTES]:
        more = f" and {plural(len(same) - 1, 'more line')}" if len(same) > 1 else ""
        yield f"{click.style(f'{kind:<10}', fg='yellow')} {safe(f'{same[0].origin}{more}: {reason}')}"
    if rest := list(groups.values())[_NOTES:]:
        yield click.style(f"… and {plural(sum(map(len, rest)), 'more note')}: see --notes FILE", dim=True)
