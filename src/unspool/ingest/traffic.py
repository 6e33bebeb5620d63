"""Recorded traffic → exchanges. A record is a JSON object with a `request` object in it; all else may be missing."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from unspool.dialect import SHAPE, Body, Record, Signs, Wire
from unspool.errors import UnknownFormat
from unspool.ingest.decoding import Decoding
from unspool.ingest.envelope import Envelope, plain
from unspool.ingest.facts import BESIDE, models, path_of, previous_of, resumed_by, status_of
from unspool.ingest.known import Cut, KnownRuns
from unspool.ingest.net import fault_note
from unspool.ingest.novelty import Novelty
from unspool.ingest.outcomes import Outcomes
from unspool.ingest.pairing import Named, Pairing
from unspool.ingest.replies import one_answer, read_reply, reply_of
from unspool.ingest.sockets import calls_of, is_socket
from unspool.ingest.wrapping import is_no_json, opened, unwrapped
from unspool.model import Exchange, Message, Note, Response, Tool
from unspool.sources.jsontext import Unreadable, dumps, joined, mend, strict
from unspool.sources.values import listing, number, time_of
from unspool.wires import WIRES, likeliest_wire, wire_for, wire_of_answer

AUTO = "auto"
_FACTS = ("id", "timestamp", "duration_ms", "request", "response", "error", "status")
_TOOL_KEYS = tuple(dict.fromkeys(key for wire in WIRES.values() for key in wire.tool_keys))
_ITEM_KEYS = {wire.items for wire in WIRES.values()}
_ASKING = ("GET", "HEAD", "OPTIONS", "DELETE")
"""Calls that have no body, such as for a list of models: recorders keep them too, and nothing was said in them."""
_NOTHING: tuple[Any, ...] = (None, "", [])
"""What stands in place of a system prompt where there is none."""
_ANSWER = re.compile(r"/(response|interaction)s/([^/?]+)(?:\?|$)")
_MOST = 7 / 8
"""The share of a line's messages that must be new to make it news."""
_encode = msgspec.json.encode


class Traffic:
    """Reads one record after another, and remembers what they share."""

    def __init__(self, wire: str = AUTO) -> None:
        if wire not in (AUTO, *WIRES):
            raise UnknownFormat(f"{wire!r} is not one of {', '.join((AUTO, *WIRES))}")
        self._wire = WIRES.get(wire)
        self._runs = KnownRuns(keys=_ITEM_KEYS)
        self._decoding = Decoding()
        self._novelty = Novelty()
        self._outcomes = Outcomes()
        self._named: Named = {}
        self._awaited: set[str] = set()
        """Answers that are made in the background, and were not there yet."""
        self._unfinished: dict[str, tuple[Message, ...]] = {}
        """What was said so far in answers that stopped before their end, by their tokens."""

    def read(self, record: Record) -> Iterator[Exchange | Note]:
        """Yield an exchange and notes about its odd parts, or one note that says why there is none. Never raises."""
        try:
            yield from self._read(record)
        except Exception as error:
            yield fault_note(error, record.origin)

    def _read(self, record: Record) -> Iterator[Exchange | Note]:
        faults = self._decoding.faults = []
        cut = self._runs.cut(record.data)
        new = False
        if cut:
            exchange = self._exchange(record, opened(cut.line), cut)
        else:
            exchange = self._news(record) if self._novelty.expected else None
            new = exchange is not None
        if exchange is None:
            faults.clear()
            envelope = self._envelope(record)
            if envelope is None:
                return
            if isinstance(envelope, Note):
                yield from self._apart(record, envelope)
                return
            if is_socket(envelope["request"]):
                calls = calls_of(envelope)
                for call in calls:
                    yield from self.read(Record(_encode(call), record.origin))
                if not calls:
                    yield Note("skipped", "no call: a WebSocket over which no Responses were asked for", record.origin)
                return
            if is_no_json(envelope["request"]):
                yield Note("skipped", "no call: what was sent is no JSON, and was kept as it is", record.origin)
                return
            before = self._decoding.decoded
            exchange = self._exchange(record, envelope, None)
            new = exchange is not None and _MOST * len(exchange.messages) <= self._decoding.decoded - before
        self._novelty.add(new)
        if exchange is not None:
            if exchange.settings.get("background") and exchange.response.id and exchange.response.stop is None:
                self._awaited.add(exchange.response.id)
            yield exchange
        for kind, reason in dict.fromkeys(faults):
            yield Note(kind, reason, record.origin)

    def _envelope(self, record: Record) -> Envelope | Note | None:
        """The record as a call, with care; why it is none; or None for a call in which nothing can be said."""
        envelope = opened(record.data)
        if envelope is None:
            try:
                envelope = opened(mend(record.data))
            except Unreadable as fault:
                return Note("unreadable", f"no JSON: {fault}", record.origin)
            self._decoding.faults.append(("repaired", "JSON with faults in its text, read after mending them"))
        if envelope is not None:
            envelope = self._fetched(envelope)
            if isinstance(envelope.get("request"), dict):
                return envelope
            if envelope.get("method") in _ASKING and envelope.get("request") is None:
                return None
        return Note("skipped", "no call: no JSON object with a `request` object in it", record.origin)

    def _apart(self, record: Record, note: Note) -> Iterator[Exchange | Note]:
        """What stands in a line that is no JSON because writes broke off in it: whole calls, each by itself."""
        places, alone = joined(record.data) if note.kind == "unreadable" else ([], False)
        yield Note("repaired", "several records in one line", record.origin) if alone and len(places) > 1 else note
        for begin, end in places:
            place = replace(record.origin, offset=record.origin.offset + begin, size=end - begin)
            yield from self.read(Record(record.data[begin:end], place))

    def _fetched(self, envelope: Envelope) -> Envelope:
        """An answer that was made in the background and fetched when it was there goes on from the call that asked."""
        found = _ANSWER.search(path_of(envelope)) if self._awaited and envelope.get("request") is None else None
        response = envelope.get("response")
        if found is None or found[2] not in self._awaited or not isinstance(response, dict):
            return envelope
        if response.get("status") in ("queued", "in_progress"):
            return envelope
        self._awaited.discard(found[2])
        return {**envelope, "request": {f"previous_{found[1]}_id": found[2]}}

    def _news(self, record: Record) -> Exchange | None:
        """The record decoded in one scan, nothing of it remembered; None where more care is needed.

        A fault is noted once for each distinct item, and only what is remembered tells which were seen before: so a
        line with any fault needs care.
        """
        try:
            envelope = strict(record.data)
        except Unreadable:
            return None
        if not isinstance(envelope, dict) or unwrapped(envelope) is not envelope:
            return None
        exchange = self._exchange(record, envelope, None, whole=True)
        return None if self._decoding.faults else exchange

    def _exchange(
        self, record: Record, envelope: Envelope | None, cut: Cut | None, whole: bool = False
    ) -> Exchange | None:
        """None when a cut line turns out to have been cut in the wrong place, or a whole one is hard to recognise."""
        if envelope is None or not isinstance(request := envelope.get("request"), dict) or is_no_json(request):
            return None
        response, error = envelope.get("response"), envelope.get("error")
        if not whole:
            response, error = plain(response), plain(error)
        reply, path = reply_of(response), path_of(envelope)
        definitions = [_encode(tool) for key in _TOOL_KEYS for tool in listing(request.get(key))]
        definitions += _configured(request.get("toolConfig"))
        tools = b"\n".join(definitions)
        signs = Signs(path, request, b"" if whole else tools, reply.sign)
        wire = self._recognised(signs, cut is None and not whole)
        if wire is None:
            return None
        messages = self._new(wire, request) if whole else self._messages(record, wire, request, cut)
        if messages is None:
            return None
        offered = self._decoding.tools(wire, definitions, b"whole " + tools if whole else tools, messages)
        dialect = self._dialect(wire, signs, messages, offered)
        if whole:
            self._decoding.forget(messages)
        status = status_of(envelope, response, error)
        aside = bool(BESIDE.search(path))
        answering = wire_of_answer(wire, reply.sign)
        read = read_reply(answering, reply, error, status, aside)
        self._decoding.faults += read.faults
        answer = read.response
        if answer.alternatives and answering.name == "openai" and request.get("n") in (None, 1):
            answer = one_answer(answer)
        if answering.name != dialect:
            answer = replace(answer, wire=answering.name)
        messages, answer = self._paired(messages, answer)
        if envelope.get("interrupted") is True and reply.events is None and not isinstance(reply.body, dict):
            answer = replace(answer, interrupted=True)
        if not messages and not aside and _may_say(wire, request):
            self._decoding.faults.append(("odd", f"nothing of the request was read: {', '.join(request)[:60]}"))
        settings = _settings(wire, request)
        begun = self._begun(settings, answer)
        exchange = Exchange(
            origin=record.origin,
            wire=dialect,
            messages=messages + begun,
            tools=offered,
            response=answer,
            failure=read.failure,
            id=_identifier(envelope.get("id")) or _identifier(envelope.get("request_id")),
            model=next(models(request, path, answer.model), None),
            timestamp=self._time(envelope.get("timestamp")),
            duration_ms=self._duration(envelope.get("duration_ms")),
            status=status,
            path=path.partition("?")[0],
            settings=settings,
            extra={key: plain(value) for key, value in envelope.items() if key not in _FACTS} or None,
        )
        return self._outcomes.judge(exchange)

    def _begun(self, settings: dict[str, Any], answer: Response) -> tuple[Message, ...]:
        """What the model had said before, where a request says the same once more to hear the rest (Gemini)."""
        begun = self._unfinished.get(resumed_by(settings) or "", ()) if previous_of(settings) is None else ()
        if token := resumed_by(answer.extra or {}):
            self._unfinished[token] = begun + answer.messages
        return begun

    def _recognised(self, signs: Signs, items: bool) -> Wire | None:
        """The record's wire. None if only the bytes of its items could tell, and not all of them are there."""
        return self._wire or wire_for(signs) or (likeliest_wire(signs) if items else None)

    def _dialect(self, wire: Wire, signs: Signs, messages: Sequence[Message], tools: tuple[Tool, ...]) -> str:
        """Return the name of the API that a request is written in, where gateways mix the forms of several.

        One block of Anthropic's makes it Anthropic's. Otherwise messages and tools of another API decide, if nothing
        but the answer spoke for the wire that was chosen.
        """
        if self._wire or not self._decoding.mixed:
            return wire.name
        names = self._decoding.foreign(messages, tools)
        if not names or "claude" in names:
            return "claude" if names else wire.name
        own = wire.claims(signs) >= SHAPE or self._decoding.calls_in(messages)
        return wire.name if own else min(names)

    def _new(self, wire: Wire, request: dict[str, Any]) -> tuple[Message, ...]:
        """The messages of a request that was decoded whole."""
        values = [(key, request[key]) for key in wire.heads if request.get(key) not in _NOTHING]
        items = request.get(wire.items)
        if isinstance(items, list):
            values += [(wire.items, item) for item in items]
        elif items is not None:
            values.append((wire.items, items))
        decode, check = self._decoding.decode, self._decoding.check
        return tuple([check(decode(wire, slot, value)) for slot, value in values])

    def _messages(self, record: Record, wire: Wire, request: Body, cut: Cut | None) -> tuple[Message, ...] | None:
        items = request.get(wire.items)
        if cut is not None and (not isinstance(items, list) or cut.run.wire != wire.name or not cut.fits(items)):
            return None
        decode = self._decoding.messages
        heads = [
            message
            for key in wire.heads
            if request.get(key) not in _NOTHING
            for message in decode(wire, key, [_encode(request[key])])
        ]
        if items is None:
            return tuple(heads)
        if not isinstance(items, list):
            return (*heads, *decode(wire, wire.items, [_encode(items)]))
        known: Sequence[Message] = ()
        at = len(items)
        if cut is not None:
            known, at = cut.run.messages[cut.first : cut.first + cut.count], cut.first
            del items[at]
        data = list(map(bytes, items))
        said = [*decode(wire, wire.items, data[:at]), *known, *decode(wire, wire.items, data[at:])]
        self._runs.learn(record.data, cut, data, said, wire.name)
        return (*heads, *said)

    def _paired(self, messages: tuple[Message, ...], answer: Response) -> tuple[tuple[Message, ...], Response]:
        """Calls and results that lack ids get them; nearly all requests have none such."""
        unnamed = self._decoding.unnamed
        answers = (answer.messages, *answer.alternatives)
        for said in answers:
            for each in said:
                self._decoding.check(each)
        if not unnamed or unnamed.isdisjoint([each for said in (messages, *answers) for each in said]):
            return messages, answer
        pairing = Pairing(self._named)
        messages = pairing.name(messages)
        first, *others = [pairing.branch().name(said) for said in answers]
        return messages, replace(answer, messages=first, alternatives=tuple(others))

    def _duration(self, given: Any) -> float | None:
        duration = number(given)
        if duration is None and given is not None:
            self._decoding.faults.append(("odd", f"the duration {plain(given)!r} is no number"))
        return duration

    def _time(self, given: Any) -> int | None:
        timestamp = time_of(given)
        if timestamp is None and given is not None:
            self._decoding.faults.append(("odd", f"the timestamp {plain(given)!r} is no time"))
        return timestamp


def _may_say(wire: Wire, request: dict[str, Any]) -> bool:
    """Whether a request without messages is of a kind that we do not know: it holds something, and leans on nothing.

    Or of another API than we were told.
    """
    if any(request.get(key) not in _NOTHING for key in _ITEM_KEYS if key != wire.items):
        return True
    leans = {"input", "messages", "contents", "prompt", "previous_response_id", "previous_interaction_id"}
    return leans.isdisjoint(request) and any(
        isinstance(value, str | list | dict) for key, value in request.items() if key not in ("model", "system")
    )


def _configured(config: Any) -> list[bytes]:
    """Tools that stand below a key, as Bedrock's do; what Gemini keeps there are no tools."""
    tools = plain(config["tools"]) if isinstance(config, dict) and "tools" in config else None
    return [_encode(tool) for tool in listing(tools) if not (isinstance(tool, dict) and "cachePoint" in tool)]


def _identifier(value: Any) -> str | None:
    if value is None or value == "":
        return None
    return value if isinstance(value, str) else dumps(plain(value))


def _settings(wire: Wire, request: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a request that are neither messages, nor tools, nor the model."""
    handled = {*wire.heads, wire.items, *(key for key in _TOOL_KEYS if isinstance(request.get(key), list))}
    if isinstance(request.get("model"), str):
        handled.add("model")
    return {key: plain(value) for key, value in request.items() if key not in handled}
