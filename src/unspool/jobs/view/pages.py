"""What the viewer is sent. `web/src/types.gen.ts` has the same types, made from these.

A reel is what can be opened: the recorded calls of a path, one session of an agent, or a thread with its forks.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from unspool.model import CacheMiss, Note, Origin, Usage
from unspool.model.action import Kind
from unspool.transforms.prices import Cost

ReelKind: TypeAlias = Literal["trace", "session", "thread"]
RowKind: TypeAlias = Literal["prompt", "tools", "answer", "error", "empty"]
"""What a request is best told by: what was asked, the tools that its answer calls, or what it says."""
Reason: TypeAlias = Literal["continues", "retry", "edit", "compaction", "switch", "agent"]
"""`ParentReason`, and: a sub-agent, begun by a call of the parent."""


class ReelRow(Struct, omit_defaults=True):
    """One reel in the list."""

    id: str
    kind: ReelKind
    name: str
    """Of the path, or what was asked first."""
    agent: str | None = None
    project: str | None = None
    start: int | None = None
    """Milliseconds since 1970, as all times here."""
    end: int | None = None
    model: str | None = None
    requests: int | None = None
    """None until it was read."""
    turns: int = 0
    tools: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    """None where no price is known."""
    priced: bool = True
    """Whether the cost is of all calls; else some have no price."""
    estimated: bool = False
    """Whether some of the cost is an agent's own estimate, because there is no list price."""
    size: int = 0
    """Bytes of its files."""
    session: str | None = None
    """The agent's own id; of a thread, a turn's."""
    at: str | None = None
    """Of a thread: the request that was asked for, where it is opened."""


class Home(Struct):
    """The first page: all reels, newest first."""

    reels: list[ReelRow]
    version: str
    live: bool
    """Whether what grows is told: not so in a page that was exported."""
    redacted: dict[str, int] | None = None
    """Of an export: how many secrets of which kind were taken out. None: nothing was looked for."""


class GraphRow(Struct, omit_defaults=True):
    """One request in the graph. Others are named by their number in it."""

    id: str
    title: str
    kind: RowKind
    root: int
    """The first request of its conversation."""
    parent: int | None = None
    reason: Reason | None = None
    label: str = ""
    """Of a sub-agent: what it was asked, in short."""
    call: str | None = None
    """Of a sub-agent: the id of the tool call that began it."""
    retry_of: int | None = None
    does: str = ""
    """What the answer does, where the title is what was asked."""
    model: str | None = None
    agent: str | None = None
    time: int | None = None
    duration: float | None = None
    """Milliseconds."""
    usage: Usage | None = None
    cost: float | None = None
    estimated: bool = False
    """The cost is the agent's own estimate, because there is no list price."""
    uncounted: bool = False
    """A recorded call that was answered, and nothing tells how many tokens that took."""
    added: int | None = None
    """Tokens that the prompt has more than the parent's."""
    missed: int = 0
    """Tokens that the parent's prompt had, and that were not read from the cache."""
    tools: list[str] = []
    """Names of the tools that the answer calls."""
    failed: bool = False
    """A tool call of the answer failed."""
    error: str | None = None
    """Why the request failed."""
    stop: str | None = None
    messages: int = 0


class Graph(Struct):
    """Rows from `start` on; ask again for the rest."""

    version: int
    total: int
    start: int
    rows: list[GraphRow]
    notes: list[Note] = []
    """What was not understood, the first hundred; with the first page."""
    note_count: int = 0
    uncached: list[str] = []
    """Models of which several calls could have been served from a cache, and none was: not one read, not one write."""


class Call(Struct, omit_defaults=True):
    """A tool call, and what it means."""

    name: str
    id: str | None
    kind: Kind
    does: str
    """In one line: the command, the file."""
    arguments: str
    """As JSON, indented."""
    diff: str = ""
    """What it changes: lines that begin with a blank, `-` or `+`."""
    path: str | None = None
    added: int | None = None
    removed: int | None = None
    cut: int = 0
    """Characters that were left out, of the arguments or the diff: ask for the whole."""


class Picture(Struct):
    medium: str
    media_type: str | None
    data: str | None
    """A `data:` address; None for what is only named, or is no picture that a browser shows."""
    name: str


class MessageCard(Struct, omit_defaults=True):
    """One message, ready to be shown."""

    id: str
    role: str
    text: str = ""
    cut: int = 0
    """Characters of the text that were left out: ask for the whole."""
    lines: int = 0
    """Of the whole text."""
    calls: list[Call] = []
    answers: str | None = None
    """The id of the call that it is the result of."""
    is_error: bool | None = None
    pictures: bool = False
    """It holds images: ask for them."""
    aside: bool = False
    """Of a user's message: nobody typed it, the agent put it there."""


class RequestPage(Struct, omit_defaults=True):
    """One request: its messages by id. What is new in it, whoever shows it compares with the parent's."""

    id: str
    number: int
    messages: list[str]
    answer: list[str]
    tools: list[str]
    alternatives: list[list[str]] = []
    children: list[int] = []
    format: str = ""
    status: int | None = None
    stream: bool = False
    interrupted: bool = False
    stop_reason: str | None = None
    raw_stop_reason: str | None = None
    response_id: str | None = None
    response_model: str | None = None
    usage: Usage | None = None
    cost: Cost | None = None
    first_byte: float | None = None
    """Milliseconds until the answer began, where it was recorded."""
    error: Any = None
    origin: Origin | None = None
    notes: list[Note] = []
    event: str | None = None
    """Of a session: the card in the transcript that it begins with."""


class ToolPage(Struct, omit_defaults=True):
    id: str
    name: str
    description: str
    parameters: str
    """A JSON Schema, indented."""
    is_server_side: bool = False


CacheState: TypeAlias = Literal["first", "hit", "missed", "off", "unknown"]


class CacheReport(Struct, omit_defaults=True):
    """Whether the prompt cache served what the parent's prompt had, and if not, why."""

    state: CacheState
    words: list[str]
    """In sentences."""
    expected: int = 0
    read: int = 0
    missed: int = 0
    cost: float | None = None
    """What the tokens that were missed cost more than if they had been read from the cache."""
    provider: CacheMiss | None = None
    """The provider's own reason."""
    lifetimes: list[int] = []
    """Seconds for which parts of the parent's prompt are cached after their last use, where that is known."""
    before: str = ""
    after: str = ""
    """Where one thing changed: what it was, and what it became."""


class Original(Struct, omit_defaults=True):
    """The record as it stands in its file."""

    settings: str
    """All keys of the request but messages and tools, as JSON."""
    raw: str
    """The record as JSON, indented; cut where it is very long."""
    curl: str
    size: int
    cut: int = 0


class Card(Struct, omit_defaults=True):
    """One thing in a transcript."""

    kind: str
    """prompt, thinking, said, call, notice, agent, end, result."""
    key: str
    """What it is named by: stable while the log grows."""
    depth: int = 0
    text: str = ""
    cut: int = 0
    lines: int = 0
    level: str = "info"
    call: Call | None = None
    result: str | None = None
    result_cut: int = 0
    result_lines: int = 0
    failed: bool = False
    open: bool = False
    """A call without a result."""
    seconds: float | None = None
    time: int | None = None
    request: str | None = None
    """The request that produced it."""
    count: int = 0
    """Of a sub-agent: how many cards are its own. They follow."""
    message: str | None = None
    """Of recorded traffic: the message whose whole text can be asked for."""
    pictures: bool = False
    place: str | None = None
    """Of recorded traffic: the place of its pictures, `<request>/m3`; `a3` in an answer."""


class TurnRow(Struct, omit_defaults=True):
    """A prompt in the index, and what came of it."""

    at: int
    """The number of its card."""
    prompt: str
    outcome: str = ""
    tools: dict[str, int] = {}
    failed: int = 0
    usage: Usage = Usage()
    cost: float | None = None
    priced: bool = True
    """Whether the cost is of all calls."""
    estimated: bool = False
    """Whether some of the cost is an agent's own estimate."""
    time: int | None = None


class Transcript(Struct):
    """Cards from `start` on."""

    version: int
    total: int
    start: int
    cards: list[Card]
    turns: list[TurnRow] = field(default_factory=list)
    agents: list[tuple[int, int]] = field(default_factory=list)
    """Of each sub-agent, where its card stands and how many cards follow that are its own."""
    asides: list[tuple[int, int]] = field(default_factory=list)
    """The same of runs of what nobody typed: where the first stands, and how many more follow."""
    errors: list[int] = field(default_factory=list)
    """The numbers of cards that tell of a failure."""
    found: int | None = None
    """The number of the card that was asked for by its name."""


class Hit(Struct, omit_defaults=True):
    """Where a word stands."""

    reel: str
    where: str
    """prompt, assistant, tool, result, title, …"""
    before: str
    match: str
    after: str
    title: str = ""
    request: str | None = None
    time: int | None = None


class Found(Struct):
    hits: list[Hit]
    more: bool = False


class Grown(Struct):
    """Something grew: rows of the graph before `kept` are what they were."""

    reel: str
    version: int
    kept: int
    total: int


ALL = (Home, Graph, RequestPage, MessageCard, ToolPage, CacheReport, Original, Picture, Transcript, Found, Grown)
