"""A recorded WebSocket over which Responses were asked for, as Codex does → a record for each of its calls.

The client says {"type": "response.create", "model": …, "input": […]}, the server sends the events of that answer, and
only then the client asks again: so the answers' ends tell which events belong to which call. Of several lanes
(`stream_id`) this holds for each. What a client says into an answer ({"type": "response.steer", …}) is a call too: it
is answered next, unless the server waits for the results of calls; then it goes before these. Results that an answer is
given while it is made ({"type": "response.inject", …}) stand in it, where the server took them.

Our recorder keeps messages and when they came; claude-tap keeps the events alone, and beside them the last call.
"""

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from unspool.ingest.envelope import Envelope, plain
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.values import count, listing, mapping, text_of, time_of

_ENDS = ("response.completed", "response.failed", "response.incomplete", "response.cancelled", "response.done", "error")
_EVENTS = "ws_events"
_STEER = "response.steer"
_INJECT = "response.inject"
_Said: TypeAlias = tuple[int, dict[str, Any]]
"""When, in milliseconds, and what."""


def is_socket(side: Any) -> bool:
    return list(side)[:2] == ["websocket", "messages"] or (bool(side.get(_EVENTS)) and "body" in side)


def calls_of(envelope: Envelope) -> list[dict[str, Any]]:
    """The calls, each as it would have been recorded over HTTP; none if something else was spoken."""
    request = mapping(envelope.get("request"))
    told, said = list(_said(request)), list(_said(envelope.get("response")))
    events = [event for _, event in said]
    asked = _asked(told, events)
    if not asked:
        return []
    timed = _EVENTS not in request
    given = _given(told, events)
    answers = [list(_with_given(answer, given)) if given else answer for answer in _by_lane(asked, said)]
    began = time_of(envelope.get("timestamp"))
    rest = {key: plain(value) for key, value in envelope.items() if key not in ("request", "response", "duration_ms")}
    rest |= {key: plain(request[key]) for key in request.keys() & {"method", "path"} - rest.keys()}
    return [
        {
            **rest,
            "timestamp": None if began is None else began + ms,
            "duration_ms": _end(answer) - ms if answer and timed else None,
            "request": {key: value for key, value in body.items() if key not in ("type", "stream_id")},
            "response": {"stream": True, "ws_events": [event for _, event in answer]} if answer else None,
        }
        for (ms, body), answer in zip(asked, answers, strict=True)
    ]


def _end(answer: list[_Said]) -> int:
    """News of other things may come behind it."""
    return next((ms for ms, event in answer if event.get("type") in _ENDS), answer[-1][0])


def _asked(said: Iterable[_Said], events: list[dict[str, Any]]) -> list[_Said]:
    """The calls, and what was said into answers, as calls of their own or before what the server waited for."""
    steered = [event for event in events if text_of(event.get("type")).startswith("response.steer.")]
    about = [(event.get("type"), mapping(event.get("steer"))) for event in steered]
    refused = [
        (each.get("previous_response_id"), each.get("input")) for kind, each in about if kind == f"{_STEER}.failed"
    ]
    waits = [each.get("previous_response_id") for kind, each in about if kind == f"{_STEER}.pending"]
    lanes = {text_of(mapping(event.get("response")).get("id")): event.get("stream_id") for event in events}
    asked: list[_Said] = []
    waiting: list[tuple[str, list[Any]]] = []
    for ms, body in said:
        before = text_of(body.get("previous_response_id"))
        if _is_call(body):
            queued = [item for of, given in waiting if of == before for item in given]
            asked.append((ms, {**body, "input": [*queued, *_items(body.get("input"))]} if queued else body))
        elif body.get("type") == _STEER and (before, body.get("input")) not in refused:
            given, last = _items(body.get("input")), asked[-1][1] if asked else {}
            if before in waits:
                waiting.append((before, given))
            elif last.get("type") == _STEER and last["previous_response_id"] == before:
                last["input"] += given
            else:
                asked.append((ms, {**body, "input": [*given], "stream_id": lanes.get(before)}))
    return asked


def _given(told: list[_Said], events: list[dict[str, Any]]) -> dict[str, list[list[Any]]]:
    """What answers were given while they were made, by their ids."""
    failed = [event for event in events if event.get("type") == f"{_INJECT}.failed"]
    refused = [(event.get("response_id"), event.get("input")) for event in failed]
    given: dict[str, list[list[Any]]] = {}
    for _, body in told:
        answer, items = body.get("response_id"), body.get("input")
        if body.get("type") == _INJECT and isinstance(items, list) and (answer, items) not in refused:
            given.setdefault(text_of(answer), []).append(items)
    return given


def _with_given(answer: list[_Said], given: dict[str, list[list[Any]]]) -> Iterator[_Said]:
    """The answer with what it was given as items of it, unless the server says them itself."""
    items = [mapping(event.get("item")) for _, event in answer]
    items += [mapping(item) for _, event in answer for item in listing(mapping(event.get("response")).get("output"))]
    known = [(item.get("type"), item.get("call_id")) for item in items]
    for ms, event in answer:
        yield ms, event
        if event.get("type") == f"{_INJECT}.created" and (waiting := given.get(text_of(event.get("response_id")))):
            for item in map(mapping, waiting.pop(0)):
                if (item.get("type"), item.get("call_id")) not in known:
                    yield ms, {"type": "response.output_item.done", "item": item}


def _items(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [] if given is None else [{"role": "user", "content": given}]


def _by_lane(asked: list[_Said], said: list[_Said]) -> list[list[_Said]]:
    """What was answered to each call: on one lane one after another, on several at the same time."""
    answers: list[list[_Said]] = [[] for _ in asked]
    for lane in dict.fromkeys(text_of(body.get("stream_id")) for _, body in asked):
        places = [at for at, (_, body) in enumerate(asked) if text_of(body.get("stream_id")) == lane]
        told = [each for each in said if text_of(each[1].get("stream_id")) == lane]
        for at, answer in zip(places, _answers([asked[at][0] for at in places], told), strict=True):
            answers[at] = answer
    return answers


def _answers(asked: list[int], said: Iterable[_Said]) -> list[list[_Said]]:
    """What was answered to each call. One that fails may say so twice, and nobody answers before he is asked."""
    answers: list[list[_Said]] = [[] for _ in asked]
    at, over, name = 0, False, None
    for ms, event in said:
        named = mapping(event.get("response")).get("id")
        if over and (named is None or named != name):
            if at + 1 < len(asked) and asked[at + 1] <= ms:
                at, over, name = at + 1, False, None
            elif named is not None:
                break  # to something that we do not know as a call
        answers[at].append((ms, event))
        over = over or event.get("type") in _ENDS
        name = named or name
    return answers


def _said(side: Any) -> Iterator[_Said]:
    """The objects that one side said, and when."""
    yield from ((0, event) for event in listing(plain(mapping(side).get(_EVENTS))) if isinstance(event, dict))
    for told in map(mapping, listing(plain(mapping(side).get("messages")))):
        try:
            value = loads(text_of(told.get("text")))
        except Unreadable:
            continue
        if isinstance(value, dict):
            yield count(told.get("ms")), value


def _is_call(said: dict[str, Any]) -> bool:
    """Other programs say the same of a conversation that the server holds: then there is nothing that was asked."""
    return said.get("type") == "response.create" and ("input" in said or "model" in said)
