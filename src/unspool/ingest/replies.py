"""The response side of a record: a body, a stream in one of the forms recorders keep, or nothing."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from unspool.dialect import Wire
from unspool.ingest.failures import failure_in_body, failure_of, is_refused
from unspool.model import Document, Failure, Form, Message, NoteKind, Other, Response, Text, ToolUse
from unspool.sources.jsontext import Unreadable, dumps, loads, objects
from unspool.sources.sse import Broken, events

_ANSWERS = {
    "choices": "openai",
    "candidates": "gemini",
    "content": "claude",
    "output": "responses",
    "outputs": "interactions",
    "steps": "interactions",
}
"""Where the APIs have their answers: an empty one says nothing, and is understood; so is one of the API's own."""
_ABOUT = {
    *("id", "object", "created", "model", "role", "type", "status", "usage", "input_tokens", "totalTokens"),
    *("usageMetadata", "modelVersion", "responseId", "createTime", "usage_metadata", "model_version", "response_id"),
}
"""What an answer says of itself."""
_EVENT_LISTS = ("json_array", "ws_events", "sse_events", "events", "chunks")


class Reply(Struct):
    """What came back: a body, or the events of a stream. Both None: nothing."""

    body: Any = None
    events: list[Any] | None = None
    text: str | None = None
    """An answer that is neither JSON nor a stream."""
    file: str | None = None
    """An answer that is no text, as base64."""

    @property
    def sign(self) -> Any:
        """What a wire can recognise: the body, or the first event that says something."""
        if self.events is None:
            return self.body
        return next((event for event in self.events if isinstance(event, dict) and event.get("type") != "ping"), None)


def reply_of(response: Any) -> Reply:
    match response:
        case {"sse_lines": list(lines)}:
            return _from_stream("\n".join(line if isinstance(line, str) else dumps(line) for line in lines))
        case {"sse_lines": str(text)}:
            return _from_stream(text)
        case {"raw": str(text)} if len(response) <= 2:
            return _from_text(text) if text.strip() else Reply()
        case {"base64": str(data)} if len(response) <= 2:
            return _from_bytes(data)
        case str() if response.strip():
            return _from_text(response)
        case dict():
            for key in _EVENT_LISTS:
                if isinstance(listed := response.get(key), list):
                    if _are_texts(listed):
                        return _from_pieces(listed)
                    return Reply(events=[inner for event in listed for inner in _unwrapped(event)])
        case list() if _are_texts(response):
            return _from_pieces(response)
        case [dict(), *_]:  # Gemini without alt=sse streams one JSON array
            return Reply(events=response)
    return Reply(body=response or None)


def _are_texts(listed: list[Any]) -> bool:
    return bool(listed) and all(isinstance(piece, str) for piece in listed)


def _from_pieces(pieces: list[str]) -> Reply:
    """What arrived piece by piece: with its line ends, cut anywhere; or line by line."""
    return _from_text(("" if any("\n" in piece for piece in pieces) else "\n").join(pieces))


def _from_text(text: str) -> Reply:
    """An answer that a recorder kept as text: JSON, a stream, a torn array of chunks, or words."""
    try:
        if text.lstrip()[:1] in ("{", "["):
            return reply_of(loads(text))
    except Unreadable:
        if text.lstrip()[:1] == "[" and (whole := list(objects(text))):
            return Reply(events=whole)
    found = list(events(text))
    return Reply(events=found) if any(isinstance(event, dict) for event in found) else Reply(text=text)


def _from_bytes(data: str) -> Reply:
    """An answer that is no text: Bedrock's stream, or a file."""
    import base64
    import binascii

    from unspool.sources.eventstream import frames, is_event_stream

    try:
        whole = base64.b64decode(data)
    except binascii.Error:
        return Reply(text=data)
    return Reply(events=list(frames(whole))) if is_event_stream(whole) else Reply(file=data)


def _from_stream(text: str) -> Reply:
    """What was recorded as a stream: an error may have come in its place, as a body over several lines."""
    found = list(events(text))
    if any(isinstance(event, Broken) for event in found) and not any(isinstance(event, dict) for event in found):
        body = _from_text(text)
        return body if body.text is None or not text.lstrip().startswith("data:") else Reply(events=found)
    if text.lstrip()[:1] == "[" and (whole := list(objects(text))):  # Gemini's array of chunks, line by line
        return Reply(events=whole)
    return Reply(events=found)


def _unwrapped(event: Any) -> list[Any]:
    """Some recorders keep {"event": …, "data": …} for each event."""
    match event:
        case {"data": dict(data)} if "type" not in event:
            return [data]
        case {"data": str(data)} if "type" not in event:
            return list(events(f"data: {line}" for line in data.splitlines()))
    return [event]


class Read(Struct):
    """What a reply was read as, and what in it was not understood."""

    response: Response
    failure: Failure | None
    faults: list[tuple[NoteKind, str]]


def read_reply(wire: Wire, reply: Reply, error: Any, status: int | None, aside: bool = False) -> Read:
    """`aside`: the call is no part of a conversation, so its answer need not say anything."""
    faults: list[tuple[NoteKind, str]] = []
    failure = failure_of(error)
    response = Response()
    if reply.events is not None:
        folded = wire.fold(reply.events)
        response = replace(wire.answer(folded.body), stream=True, interrupted=not folded.complete)
        failure = failure or failure_of(folded.error or (is_refused(folded.body) and folded.body))
        faults += [("unknown", f"a stream event of the unknown kind {kind!r}") for kind in folded.unknown]
        faults += [
            ("odd", f"a stream event is no JSON: {text[:60]!r}") for text in reply.events if isinstance(text, Broken)
        ]
    elif isinstance(reply.body, dict):
        response = wire.answer(reply.body)
        failure = failure or failure_in_body(reply.body, status)
    elif reply.text is not None or reply.body is not None:
        broken = status is not None and status >= 400
        failure = failure or failure_in_body(reply.body, status) or (failure_of(reply.text) if broken else None)
        if failure is None:
            response = Response((_as_text(reply),))
            faults.append(("odd", "the response is no JSON object: kept as text"))
    elif failure is None and reply.file is None and status is not None and status >= 400:
        failure = Failure(f"status {status}, and nothing more", {"status": status})
    if failure is None and not response.messages and (files := tuple(_files(reply))):
        response = replace(response, messages=(Message("assistant", files),), interrupted=False)
    if not aside and failure is None and (unread := _unread(wire, reply, response, faults)):
        kept = Other("response", unread, known=True)
        response = replace(response, messages=(Message("assistant", (kept,)),))
        faults = [("unknown", f"an answer in a form that {wire.name} does not have, kept as it is")]
    return Read(response, failure, faults)


def one_answer(response: Response) -> Response:
    """Choices that nobody asked for: some hosts (GitHub Copilot) give a text and its calls as one each."""
    said = [message for each in (response.messages, *response.alternatives) for message in each]
    blocks = tuple([block for message in said for block in message.blocks])
    texts = sum(any(type(block) is Text for block in message.blocks) for message in said)
    if texts > 1 or not any(type(block) is ToolUse for block in blocks):
        return response
    form: Form = next((message.form for message in said if message.form != "none"), "none")
    stop = response.stop and replace(response.stop, reason="tool_use")
    return replace(response, messages=(Message("assistant", blocks, form),), alternatives=(), stop=stop)


def _files(reply: Reply) -> Iterator[Document]:
    """An answer that is a file, or a list of pictures that were asked for."""
    if reply.file is not None:
        yield Document("document", "base64", reply.file)
    pictures = reply.body.get("data") if isinstance(reply.body, dict) else None
    for picture in pictures if isinstance(pictures, list) else ():
        match picture:
            case {"b64_json": str(data)}:
                yield Document("image", "base64", data)
            case {"url": str(url)}:
                yield Document("image", "url", url)
    for event in reply.events or ():
        match event:
            case {"type": "image_generation.completed" | "image_edit.completed", "b64_json": str(data)}:
                yield Document("image", "base64", data)


def _unread(wire: Wire, reply: Reply, response: Response, faults: list[tuple[NoteKind, str]]) -> Any:
    """An answer of which nothing was understood: what it says, whole."""
    if response.messages or response.stop is not None:
        return None
    if reply.events is not None:
        strange = any(kind == "unknown" for kind, _ in faults) and response.id is None
        return [str(event) if isinstance(event, str) else event for event in reply.events] if strange else None
    body = reply.body if isinstance(reply.body, dict) else {}
    said = {key: body[key] for key in _ANSWERS if isinstance(body.get(key), list)}
    if body.get("object") in ("list", "conversation"):
        return None
    if any(not parts or _ANSWERS[key] == wire.name for key, parts in said.items()):
        return None
    return body if body.keys() - _ABOUT else None


def _as_text(reply: Reply) -> Message:
    text = reply.text if reply.text is not None else dumps(reply.body)
    return Message("assistant", (Text(text),), "string")
