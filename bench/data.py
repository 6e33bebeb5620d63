"""The cases: what each one's input is, and what it may cost. Run as a program, it writes the input of one case.

python bench/data.py CASE FILE [--quick]
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from prose import Prose
from traffic import Chat, MarkedClaude, chat_tools, claude_tools

_SEED = "unspool 1"
_SYSTEM_SIZE = 6000


@dataclass(frozen=True)
class Case:
    """`lines(prose, count)` are the lines of the input; `count` is in calls or in conversations, as the case says."""

    lines: Callable[[Prose, int], Iterator[bytes]]
    count: int
    quick_count: int
    """For a first look; 0 leaves the case out."""
    bound: float | None = None
    """CPU of the job as a multiple of the floor's."""
    peak_bound: int | None = None
    """MB."""
    lineage: bool = False
    """Whether the share of lineage is measured too."""
    peers: bool = False
    """Whether the input is small enough for other tools."""


def growing(prose: Prose, calls: int) -> Iterator[bytes]:
    """One conversation."""
    chat = Chat(prose, chat_tools(prose), prose.text(_SYSTEM_SIZE))
    yield from map(chat.call, range(calls))


def marks(prose: Prose, calls: int) -> Iterator[bytes]:
    """One conversation whose cache marks move with each call."""
    chat = MarkedClaude(prose, claude_tools(prose), prose.text(_SYSTEM_SIZE))
    yield from map(chat.call, range(calls))


def key_order(prose: Prose, calls: int) -> Iterator[bytes]:
    """One conversation whose objects have their keys in one of two orders, by turns."""
    chat = Chat(prose, chat_tools(prose), prose.text(_SYSTEM_SIZE), two_orders=True)
    yield from map(chat.call, range(calls))


def volatile_system(prose: Prose, calls: int) -> Iterator[bytes]:
    """One conversation whose system message tells the time."""
    chat = Chat(prose, chat_tools(prose), prose.text(_SYSTEM_SIZE), clock=True)
    yield from map(chat.call, range(calls))


def distinct(prose: Prose, calls: int) -> Iterator[bytes]:
    """Calls of 60 messages each (the answer is one of them), all of them new."""
    yield from _distinct(prose, calls, talk=True)


def distinct_tools(prose: Prose, calls: int) -> Iterator[bytes]:
    """The same with a tool call and its result in every three messages."""
    yield from _distinct(prose, calls, talk=False)


def _distinct(prose: Prose, calls: int, talk: bool) -> Iterator[bytes]:
    tools = chat_tools(prose)
    for number in range(calls):
        chat = Chat(prose, tools, prose.text(2000), talk=talk)
        for _ in range(19):
            chat.skip()
        yield chat.call(number)


def unrelated(prose: Prose, conversations: int) -> Iterator[bytes]:
    """Conversations of 15 calls, one after another; they share nothing but their tools."""
    tools = chat_tools(prose)
    for conversation in range(conversations):
        chat = Chat(prose, tools, prose.text(2000))
        for turn in range(15):
            yield chat.call(15 * conversation + turn)


def unrelated_mixed(prose: Prose, conversations: int) -> Iterator[bytes]:
    """The same, in rounds: the first call of each conversation, the second call of each, and so on."""
    tools = chat_tools(prose)
    chats = [Chat(prose, tools, prose.text(2000)) for _ in range(conversations)]
    for number in range(15 * conversations):
        yield chats[number % conversations].call(number)


def short_messages(prose: Prose, conversations: int) -> Iterator[bytes]:
    """Conversations of 20 calls with short messages, all of one program: same tools, same system message."""
    tools, system = chat_tools(prose), prose.text(2000)
    for conversation in range(conversations):
        chat = Chat(prose, tools, system, size=200)
        for turn in range(20):
            yield chat.call(20 * conversation + turn)


CASES = {
    "grow-100": Case(growing, 100, quick_count=100, peers=True),
    "grow-300": Case(growing, 300, quick_count=0, bound=1.0, lineage=True),
    "grow-1000": Case(growing, 1000, quick_count=0, bound=1.0, peak_bound=200),
    "marks": Case(marks, 300, quick_count=60, bound=1.1),
    "key-order": Case(key_order, 300, quick_count=60, bound=1.1),
    "volatile-system": Case(volatile_system, 300, quick_count=60, bound=1.1),
    "distinct": Case(distinct, 700, quick_count=80, bound=4.0, lineage=True),
    "distinct-tools": Case(distinct_tools, 700, quick_count=80, bound=4.0, lineage=True),
    "unrelated": Case(unrelated, 200, quick_count=20, bound=2.5, lineage=True),
    "unrelated-mixed": Case(unrelated_mixed, 200, quick_count=20, bound=2.5),
    "requests-10000": Case(short_messages, 500, quick_count=50, lineage=True),
}


def write(name: str, path: Path, quick: bool) -> None:
    case = CASES[name]
    with path.open("wb") as file:
        file.writelines(case.lines(Prose(f"{_SEED} {name}"), case.quick_count if quick else case.count))


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]), quick="--quick" in sys.argv)
