"""What every provider asks of the history that it is sent, whoever wrote it.

Stored turns are never changed, only what goes out:

    thinking and signatures      go back to whoever wrote them, and to nobody else; not where an answer ends in them
    ids of calls                 are there, are unique, and look as the provider wants them; results follow suit
    every call                   has a result, right behind it: where there is none, one that says so
    a result without its call    is said in words
    neighbours of one role       are one message, where the provider wants that
    documents                    are text where they are text; others only where the provider takes them

What a provider does not take is an error, which names the place, before anything is sent; or, if that is asked for, is
said in words, with a warning. The order of blocks is kept.
"""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from msgspec.structs import replace

from unspool.dialect import Asking
from unspool.errors import UnsupportedContent, WrongContext
from unspool.model import Block, Compaction, Context, Document, Other, Said, Text, Thinking, Tool, ToolResult, ToolUse
from unspool.wires.calls import Entry, answered, fit_name, in_words, tell_abandoned
from unspool.wires.values import ASIDES, medium_of

LARGEST = 100_000_000
"""Bytes of one document."""
OPENING = "(The conversation begins with the assistant.)"
"""Said where a provider wants a user's message first, and there is none."""
MARK = {"type": "ephemeral"}
_SPELLED = {"image/jpg": "image/jpeg", "image/pjpeg": "image/jpeg", "application/x-pdf": "application/pdf"}
"""Media types that many write, and no provider takes."""
_ANTHROPIC_IDS = ("srvtoolu_", "mcptoolu_")
_TEXTS = ("text/*", "application/json", "application/xml", "application/yaml", "application/x-yaml", "*+json", "*+xml")


def settle(context: Context, asking: Asking) -> list[Entry]:
    """The messages of a context, such that this provider takes them."""
    entries = [
        Entry(said.message.role, _own_blocks(said, asking), _where(said, number), said.cache)
        for number, said in enumerate(context.messages, 1)
    ]
    taken = answered(entries, asking)
    if asking.api == "claude":
        tell_abandoned(taken, asking)
    for entry in taken:
        entry.blocks = [found for block in entry.blocks for found in _taken(block, entry, asking)]
    if asking.api in ("claude", "responses"):
        _end_in_words(taken)
    settled: list[Entry] = []
    for entry in _handed_over(taken, asking):
        if entry.marked:
            _put_mark(entry.blocks)
        if asking.abilities.alternating and settled and settled[-1].role == entry.role:
            settled[-1].blocks += entry.blocks
        elif entry.blocks:
            settled.append(entry)
    first = next((entry.role for entry in settled if entry.role != "system"), None)
    if first is None:
        raise WrongContext("there is no message to answer")
    if asking.abilities.alternating and first == "assistant":
        settled.insert(0, Entry("user", [Text(OPENING)], "the beginning"))
    return settled


def _end_in_words(entries: list[Entry]) -> None:
    """Thinking that nothing came of goes back to nobody: an answer that ends in it is refused."""
    followed = False
    for entry in reversed(entries):
        if entry.role != "assistant":
            followed = False
            continue
        while entry.blocks and isinstance(entry.blocks[-1], Thinking) and not followed:
            del entry.blocks[-1]
        followed = followed or bool(entry.blocks)


def _handed_over(entries: list[Entry], asking: Asking) -> Iterator[Entry]:
    """Only users show pictures and papers, and Gemini's models: those of others go into the user's next message."""
    waiting: list[Block] = []
    for entry in entries:
        if waiting and entry.role == "user":
            answers = any(isinstance(block, ToolResult) for block in entry.blocks)  # they have to come first
            entry.blocks = entry.blocks + waiting if answers else waiting + entry.blocks
            waiting = []
        elif waiting:
            yield Entry("user", waiting, entry.where)
            waiting = []
        if entry.role == "system" or (entry.role == "assistant" and asking.api != "gemini"):
            waiting = _hand_over(entry)
        yield entry
    if waiting:
        yield Entry("user", waiting, entries[-1].where)


def _hand_over(entry: Entry) -> list[Block]:
    """What the next message has to show; here only words stay."""
    whose = "the assistant's message" if entry.role == "assistant" else "the system prompt"
    shown: list[Block] = []
    for number, block in enumerate(entry.blocks):
        if not isinstance(block, Document) or block.medium in ("audio", "video"):
            continue
        if block.source == "text":
            entry.blocks[number] = Text(as_text(block), extra=_mark(block))
        else:
            name = f"{block.medium} {len(shown) // 2 + 1}"
            entry.blocks[number] = Text(f"[{name} of this message follows]", extra=_mark(block))
            shown += [Text(f"{name} of {whose}:"), block]
    return shown


def _where(said: Said, number: int) -> str:
    return f"turn {said.turn}" if said.turn else f"message {number}"


def _own_blocks(said: Said, asking: Asking) -> list[Block]:
    """Of a message that nobody knows who wrote, what looks as if this provider could have."""
    foreign = said.api is not None and (said.api != asking.api or said.provider not in (None, asking.provider))
    foreign = foreign or (asking.api == "responses" and _lacks_reasoning(said, asking))
    blocks: list[Block] = []
    for block in map(_typed, said.message.blocks):
        if isinstance(block, Other) and block.kind in ASIDES:
            continue  # the tools that it brings are offered with the others
        if isinstance(block, Thinking):
            if not foreign and _can_go_back(block, asking, said.api is not None):
                blocks.append(block)
        elif foreign or not _can_be_own(block, said, asking):
            blocks += _neutral(block, asking, said)
        else:
            blocks.append(block)
    return blocks


def _typed(block: Block) -> Block:
    """With the media type as providers spell it. How sound and film are coded stays: it may tell the rate."""
    match block:
        case ToolResult():
            return replace(block, content=tuple(map(_typed, block.content)))
        case Document(media_type=str(written)):
            plain = written.strip().lower()
            plain = plain if plain.startswith(("audio/", "video/")) else plain.partition(";")[0].rstrip()
            plain = _SPELLED.get(plain, plain)
            if plain != written:
                medium = medium_of(plain) if block.medium == "document" else block.medium
                return replace(block, media_type=plain, medium=medium)
    return block


def _can_go_back(block: Thinking, asking: Asking, own: bool) -> bool:
    """Not without its signature, where there has to be one: a stream that broke off leaves none.

    Of thinking that nobody knows who wrote, a signature is Anthropic's, a cipher OpenAI's: it is what they look like.
    """
    match asking.api:
        case "claude":
            return bool(block.signature) or (block.redacted and bool(block.encrypted))
        case "gemini":
            return own and bool(block.signature)
        case "responses":
            return bool(block.encrypted)
    return own and bool(block.text) and asking.abilities.echo_reasoning


def _lacks_reasoning(said: Said, asking: Asking) -> bool:
    """Whether there was more than comes back: then OpenAI, which may have kept it, refuses items by their ids."""
    thoughts = (block for block in said.message.blocks if isinstance(block, Thinking))
    return not all(_can_go_back(block, asking, said.api is not None) for block in thoughts)


def _can_be_own(block: Block, said: Said, asking: Asking) -> bool:
    """What a provider ran itself it takes back, or knows what came of it; to others it is a call that nobody answers.

    Where nobody knows who ran it, Anthropic's is known by its id; what is no item of OpenAI's is told in words there.
    """
    match block:
        case ToolUse(server_side=True, id=id_) | ToolResult(server_side=True, call_id=id_):
            if asking.api == "claude" and said.api is None:
                return (id_ or "").startswith(_ANTHROPIC_IDS)
            return asking.api == "responses" or (said.api is not None and asking.api in ("claude", "gemini", "openai"))
    return True


def _neutral(block: Block, asking: Asking, said: Said) -> Iterable[Block]:
    """A block without what only its provider understands."""
    match block:
        case Text():
            yield Text(block.text, block.refusal, extra=_mark(block))
        case ToolUse(server_side=True) | ToolResult(server_side=True):
            who = said.api or "a provider"
            asking.warnings.append(f"{said.turn or 'a message'}: what {who} ran itself is sent as text")
            yield Text(in_words(block))
        case ToolUse() | Document():
            yield replace(block, signature=None, extra=_mark(block))
        case ToolResult():
            content = tuple(found for inner in block.content for found in _neutral(inner, asking, said))
            yield replace(block, content=content, signature=None, extra=_mark(block))
        case Compaction():
            yield Text(block.text)
        case Other():
            yield replace(block, known=False)
        case _:
            yield block


def _mark(block: Block) -> dict[str, object] | None:
    """Its cache mark: that is the user's, not the provider's."""
    return {"cache_control": block.extra["cache_control"]} if block.extra and "cache_control" in block.extra else None


def _put_mark(blocks: list[Block]) -> None:
    """On the last block that can bear one."""
    for number in reversed(range(len(blocks))):
        if not isinstance(blocks[number], Thinking):
            blocks[number] = replace(blocks[number], extra={"cache_control": MARK, **(blocks[number].extra or {})})
            return


def _taken(block: Block, entry: Entry, asking: Asking) -> Iterator[Block]:
    """What of a block the provider takes."""
    match block:
        case Text():
            if block.text and (asking.api != "claude" or not block.text.isspace()):  # most refuse an empty one
                yield block
        case Document():
            yield _document(block, entry, asking, asking.abilities.media)
        case ToolUse(server_side=True) | ToolResult(server_side=True) if asking.api == "openai":
            return  # hosts that run tools themselves tell of it, and take none of it back
        case ToolResult(server_side=False):
            yield from _result(block, entry, asking)
        case Other() if not block.known or asking.api not in ("claude", "responses"):
            yield _refused(block, f"block of type {block.kind}", entry, asking)
        case _:
            yield block


def _result(block: ToolResult, entry: Entry, asking: Asking) -> Iterator[Block]:
    """Media that a result may not hold follow behind it, where a message may hold them."""
    content: list[Block] = []
    behind: list[Block] = []
    abilities = asking.abilities
    for inner in block.content:
        if isinstance(inner, Document) and not _is_text(inner):
            if _fits(inner, abilities.result_media) or not _fits(inner, abilities.media):
                content.append(_document(inner, entry, asking, abilities.result_media))
            else:
                content.append(Text(f"[{inner.medium} {len(behind) // 2 + 1} of this result follows]"))
                behind += [
                    Text(f"{inner.medium} {len(behind) // 2 + 1} of {block.name or 'the tool'}'s result:"),
                    inner,
                ]
        else:
            content += _taken(inner, entry, asking)
    yield replace(block, content=tuple(content))
    yield from behind


def _document(block: Document, entry: Entry, asking: Asking, media: tuple[str, ...]) -> Block:
    size = len(block.data) * 3 // 4 if block.source == "base64" else len(block.data)
    if size > LARGEST:
        kind = block.media_type or block.medium
        raise UnsupportedContent(asking.title, kind, entry.where, f"over 100 MB ({size // 1_000_000:,} MB)")
    if _is_text(block):
        if block.source == "text":
            return block
        try:
            return replace(block, source="text", data=b64decode(block.data).decode())
        except ValueError:
            return _refused(block, f"{block.media_type} that is no UTF-8", entry, asking)
    if not _fits(block, media) or block.source == "none":
        return _refused(block, f"{block.media_type or block.medium}", entry, asking)
    if block.source == "url" and not asking.abilities.addresses:
        return _refused(block, f"{block.media_type or block.medium} by its address", entry, asking)
    return block


def _is_text(block: Document) -> bool:
    if block.source == "text":
        return True
    return block.source == "base64" and any(fnmatchcase(block.media_type or "", pattern) for pattern in _TEXTS)


def _fits(block: Document, media: tuple[str, ...]) -> bool:
    """Where nobody says of what type it is, it may be any of its kind."""
    if block.media_type is not None:
        return any(fnmatchcase(block.media_type, pattern) for pattern in media)
    kind = "application/" if block.medium == "document" else f"{block.medium}/"
    return any(pattern.startswith(kind) for pattern in media)


def _refused(block: Block, what: str, entry: Entry, asking: Asking) -> Text:
    if not asking.lenient:
        raise UnsupportedContent(asking.title, what, entry.where, "(--lenient says in words what it is)")
    asking.warnings.append(f"{entry.where}: {asking.title} takes no {what}, so it is sent as text")
    return Text(in_words(block))


def as_text(block: Block) -> str:
    """A block where a provider takes only text: a document that is text with its name, all else in words."""
    if not isinstance(block, Document) or block.source != "text":
        return in_words(block)
    told = {"name": block.name, "type": block.media_type if block.name else None}
    about = "".join(f' {key}="{value}"' for key, value in told.items() if value)
    return f"<document{about}>\n{block.data}\n</document>"


def data_url(block: Document) -> str:
    """Its address, or itself as one."""
    if block.source != "base64":
        return block.data
    return f"data:{block.media_type or 'application/octet-stream'};base64,{block.data}"


def searches(context: Context, tools: Sequence[Tool], asking: Asking) -> bool:
    """Whether the provider's own search is wanted, and there."""
    if not context.options.get("search"):
        return False
    abilities = asking.abilities
    missing = "search of its own" if not abilities.search else "search beside other tools"
    if abilities.search and (abilities.search_with_tools or not tools):
        return True
    if not asking.lenient:
        raise UnsupportedContent(asking.title, missing, "option `search`")
    asking.warnings.append(f"{asking.title} has no {missing}, so it does without")
    return False


def choice_of(context: Context, tools: Sequence[Tool], asking: Asking) -> str | None:
    """`auto`, `none`, `required`, or the name of a tool as it is sent; None where nothing was said."""
    mode = context.options.get("tool_mode")
    if mode is None or not (tools or context.options.get("search")):
        return None
    if mode in ("auto", "none", "required"):
        return str(mode)
    if mode == "any":
        return "required"
    if mode not in [tool.name for tool in tools]:
        known = ", ".join(tool.name for tool in tools)
        raise WrongContext(
            f"tool_mode {mode!r} is neither auto, none, required nor a tool; there are {known or 'none'}"
        )
    return fit_name(str(mode), asking)
