"""The contracts between the parts: what a record is, what a wire must know, and what a reader."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from msgspec import Raw, Struct

from unspool.model import Context, Event, Facts, Message, Note, Origin, Response, Tool

Scalar: TypeAlias = str | int | float | bool | None
Body: TypeAlias = dict[str, list[Raw] | dict[str, Raw] | Scalar]
"""A JSON object, decoded one level deep: lists and objects inside it are still bytes."""


class Record(Struct, frozen=True):
    """One raw unit of a foreign file, and where it stood."""

    data: bytes
    origin: Origin
    value: Any = None
    """What the data says, where somebody had to decode it already."""


class Signs(Struct, frozen=True):
    """What tells one wire's traffic from another's, before anything is decoded."""

    path: str
    """Of the URL, where the record names one."""
    request: Body
    tools: bytes
    """The tool definitions, one after another."""
    response: Any
    """The response body, decoded; of a stream, its first event."""


class Folded(Struct):
    """A stream put together again: the body that the same call would have given without streaming."""

    body: dict[str, Any]
    complete: bool
    error: Any = None
    unknown: tuple[str, ...] = ()
    """Types of events that we do not know."""


class Wire(Struct, frozen=True):
    """One API dialect. Every function takes any JSON value and never raises: what it cannot read it keeps."""

    name: str
    claims: Callable[[Signs], int]
    """How strongly the path and the request speak for this wire; 0 is not at all."""
    answers: Callable[[Any], int]
    """How strongly a response body, or the first event of a stream, speaks for this wire; 0 is not at all."""
    tool_marks: tuple[bytes, ...]
    """Bytes that only this wire's tool definitions hold: looked for where no claim is strong."""
    marks: re.Pattern[bytes] | None
    """Bytes that only items of this wire hold: looked for where nothing else is strong."""
    heads: tuple[str, ...]
    """Keys of the request whose value is one message: the system prompt."""
    items: str
    """The key of the request whose value is the list of messages."""
    decode: Callable[[str, Any], Message]
    """One item, by the key it stood under. Pure: the same value gives the same message."""
    tools: Callable[[Any], Iterable[Tool]]
    """One element of the tools array; Gemini keeps several tools in one."""
    tool_keys: tuple[str, ...]
    answer: Callable[[dict[str, Any]], Response]
    fold: Callable[[Iterable[Any]], Folded]
    owns: Callable[[Any], bool] = lambda _item: False
    """Whether an item, or the definition of a tool, has a form that is this wire's. Never raises.

    Asked only where several wires have the same key for items.
    """


class Abilities(Struct, frozen=True):
    """What a provider takes. Patterns of media types are those of a shell: `image/*`."""

    media: tuple[str, ...] = ()
    """Media that a message may hold. What is text is always sent as text."""
    result_media: tuple[str, ...] = ()
    """Media that a tool's result may hold; others that `media` has go into a message behind it."""
    addresses: bool = True
    """Media may be named by an address."""
    search: bool = False
    search_with_tools: bool = False
    call_ids: str = r".+"
    """What ids of calls look like, as a regular expression."""
    nameless_calls: bool = False
    """A call need not have an id: results are told by their order."""
    tool_names: str = r"[a-zA-Z0-9_-]{1,64}"
    alternating: bool = False
    """Neighbours of one role must be one message."""
    cache_marks: int = 0
    """How many a request may hold."""
    schema_without: frozenset[str] = frozenset()
    """Keywords of JSON Schema that are refused."""
    echo_reasoning: bool = False
    """Reasoning that came as plain text goes back with the message it came with."""
    max_tokens_key: str = "max_tokens"


class Asking(Struct):
    """What a request is prepared for, and what had to be changed on the way."""

    provider: str
    api: str
    """The name of the wire."""
    abilities: Abilities
    title: str = ""
    """The provider's name for people."""
    model: str | None = None
    max_tokens: int | None = None
    search_tool: str | None = None
    """Where the provider has several: the one to use."""
    settings: dict[str, Any] = {}
    """Further keys of the body."""
    lenient: bool = False
    """Say in words what the provider does not take, in place of failing."""
    warnings: list[str] = []


class Piece(Struct, frozen=True, omit_defaults=True):
    """What one event of a stream adds to what is shown: a block begins (`type`), or goes on (`content` alone)."""

    type: str | None = None
    name: str | None = None
    id: str | None = None
    content: str | None = None


class Speaker(Struct, frozen=True):
    """The other direction of a wire: what to send, and what to show of what comes back."""

    prepare: Callable[[Context, Sequence[Tool], Asking], dict[str, Any]]
    """The whole body of a request; streamed. Raises UnsupportedContent."""
    show: Callable[[Any], Iterable[Piece]]
    """Of one event. Never raises."""


CERTAIN, PATH, SHAPE, HINT = 16, 8, 3, 1
"""Weights of clues: a form that only this API has, the URL, the shape of a body, a name."""


class Head(Struct, frozen=True):
    """The beginning of a file: what tells whose log it is. The name of a file never decides alone."""

    path: str
    lines: tuple[dict[str, Any], ...] = ()
    """The first objects of JSON lines."""
    document: Any = None
    """The value of a file that is one JSON document, be it in one line or in many."""
    tables: Mapping[str, frozenset[str]] = {}
    """The tables of a database and their columns."""
    text: str = ""
    """The beginning of a file that is none of these."""


class Decoder(Protocol):
    """Reads one log, record after record, and remembers what it must. Bad records give notes; it never raises.

    The same decoder serves a finished file and one that still grows. Who follows a file feeds whole lines: a last line
    without its end waits until the end is there. At a pause `close` may be called, and `feed` again when more comes.
    What a pause gave out is not taken back: words that went on come as a rest or once more whole, and what a call did
    comes behind it. But no key comes twice, no chain breaks, and no token is counted twice. A database is fed to its
    end.
    """

    @property
    def sessions(self) -> dict[str, Facts]:
        """What the log said so far of its sessions: one in most, many in a database."""

    def feed(self, record: Record) -> Iterable[Event | Note]:
        """What the record brought. Events that need a later record to be whole may wait for it."""

    def close(self) -> Iterable[Event | Note]:
        """What still waited: the file is at its end, or nothing came for a while."""


class Reader(Struct, frozen=True):
    """One agent's log, or its live stream."""

    name: str
    agent: str
    """The agent's name: several readers may serve one, for its generations and its live stream."""
    title: str
    """As people know it."""
    claims: Callable[[Head], bool]
    """Whether the file is such a log; only one reader may say so."""
    decoder: Callable[[str], Decoder]
    """A decoder for the file of that path."""
    places: Callable[[Mapping[str, str], Path], Iterable["Place"]] = lambda _environment, _home: ()
    """Where the agent keeps its logs, by its environment variables and the home folder."""
    document: bool = False
    """The file is one JSON document, and is fed as one record whose value is decoded already."""
    rows: Callable[[str], Iterator[Record | Note]] | None = None
    """How a database is taken apart; other files are fed line by line."""
    unfold: Callable[[Any], Any] = lambda value: value
    """A decoded record as `payload` wants it, once for all events that came from it."""
    payload: Callable[[Any, Event], Any] = lambda value, _event: value
    """The part of such a record that the event came from."""
    beside: Callable[[str], Iterable[str]] = lambda _path: ()
    """Other files that the decoder reads with this one: if they change, what was read has changed."""
    kin: Callable[[str], Iterable[str]] = lambda _path: ()
    """Other logs near this one that may hold streams of the same session: its sub-agents."""
    inherited: Callable[[str], Iterable[Event]] = lambda _path: ()
    """What a log goes on from that it does not tell: of a fork, what the other session said before it."""
    decode: Callable[[bytes], list[Any]] | None = None
    """Decodes many lines at once, or a document that bears the mark, which is then the only value. The decoder is fed
    the values, each that of an object; any line that is none comes as bytes, and a document that does not fit as it
    is."""
    mark: re.Pattern[bytes] | None = None
    """How its files begin, and no other's: whose they are can be told without decoding them. Documents that begin alike
    may be those of programs that were copied from one another, which keep the same things."""
    refers: Callable[[str], bytes] = lambda _path: b""
    """Bytes by which the log refers to further files that `beside` does not name; none if there are no such files."""
    pieced: bool = False
    """Texts come in pieces that are put together: a word need not stand whole in the file."""


class Place(Struct, frozen=True):
    """A folder, and the patterns of the names of the logs below it."""

    folder: Path
    patterns: tuple[str, ...]
