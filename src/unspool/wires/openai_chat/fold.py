"""A stream of chat completion chunks → the completion that the same call would have given without streaming."""

from collections.abc import Iterable
from typing import Any

from unspool.dialect import Folded
from unspool.sources.sse import DONE
from unspool.sources.values import count, listing, mapping, string, text_of
from unspool.wires.openai_chat import ollama
from unspool.wires.openai_chat.decode import DETAILS, EXECUTED
from unspool.wires.values import kind_of

_NEWEST = ("usage", "x_groq", "timings")
"""What counts, and is told again as it grows."""


def fold(events: Iterable[Any]) -> Folded:
    events = list(events)
    if any(ollama.speaks(mapping(event)) for event in events[:2]):
        return ollama.fold(events)
    body: dict[str, Any] = {}
    folded = Folded(body, complete=False)
    choices: dict[int, _Choice] = {}
    unknown: set[str] = set()
    for event in events:
        if isinstance(event, str):
            folded.complete = folded.complete or event == DONE
            continue
        match mapping(event):
            case {"choices": list(chunks), **rest}:
                for key in _NEWEST:
                    if isinstance(rest.get(key), dict):
                        body[key] = _newer(mapping(body.get(key)), rest[key])
                body.update({key: value for key, value in rest.items() if value and not body.get(key)})
                for chunk in chunks:
                    if isinstance(chunk, dict):
                        choices.setdefault(count(chunk.get("index")), _Choice()).add(chunk)
                        # OpenRouter says of each choice what broke it.
                        folded.error = chunk.get("error") or folded.error
            case {"usage": _} | {"id": _} as rest:
                body.update(rest)
            case {"error": _}:
                pass
            case _:
                unknown.add(kind_of(event))
        if isinstance(event, dict) and event.get("error"):
            folded.error = event
    body["choices"] = [choices[index].whole(index) for index in sorted(choices)]
    if choices and all(choice.finish for choice in choices.values()):
        folded.complete = True
    folded.unknown = tuple(sorted(unknown))
    return folded


def _newer(known: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """What counts now. A gateway that counts once more, and only zeros or less than all, takes nothing back."""
    if any(map(count, known.values())) and not any(map(count, told.values())):
        return known
    return {**known, **{key: value for key, value in told.items() if value is not None or key not in known}}


class _Choice:
    """One choice as it grows. Calls are kept by their index, in the order in which they began."""

    def __init__(self) -> None:
        self.texts: dict[str, list[str]] = {}
        self.spoken: dict[str, list[str]] = {}
        self.calls: dict[int, dict[str, Any]] = {}
        self.pieces: dict[int, list[str]] = {}
        self.rest: dict[str, Any] = {}
        self.parts: list[Any] = []
        self.finish: str | None = None
        self.about: dict[str, Any] = {}
        self.all_zero = False
        self.in_deltas = False

    def add(self, chunk: dict[str, Any]) -> None:
        self.finish = string(chunk.get("finish_reason")) or self.finish
        for key, value in chunk.items():
            if key == "logprobs" and isinstance(value, dict):
                known = self.about[key] = mapping(self.about.get(key))
                for name, tokens in value.items():
                    known.setdefault(name, []).extend(listing(tokens))
            elif value is not None and key not in ("delta", "text", "message"):
                self.about[key] = value
        delta = chunk.get("delta") or chunk.get("message") or {"content": chunk.get("text")}
        if self.in_deltas and not chunk.get("delta") and chunk.get("message"):
            self._begin_again()
        self.in_deltas = self.in_deltas or bool(chunk.get("delta"))
        self._say(mapping(delta))

    def _begin_again(self) -> None:
        """Behind its deltas some hosts say the whole message once more (MiniMax, Perplexity)."""
        self.texts, self.spoken, self.calls, self.pieces, self.rest, self.parts = {}, {}, {}, {}, {}, []

    def _say(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            match key, value:
                case _, None:
                    continue
                case "content", str() if self.parts:
                    self.parts.append({"type": "text", "text": value})
                case "role", _:
                    self.rest[key] = value
                case _, str():
                    self.texts.setdefault(key, []).append(value)
                case "content", list():
                    self.parts.extend(value)
                case "tool_calls", list():
                    for call in _placed(value) if len(value) > 1 else value:
                        self._call(mapping(call))
                case "function_call", dict():
                    self._call({"legacy": True, "function": value})
                case _, list():
                    pieces = self.rest[key] = listing(self.rest.get(key))
                    pieces.extend(value)
                case "audio", dict():
                    self._speak(value)
                case _:
                    self.rest[key] = value

    def _call(self, delta: dict[str, Any]) -> None:
        kind = "custom" if "custom" in delta else "function"
        index = self._index(delta)
        call = self.calls.setdefault(index, {kind: {}})
        inner = mapping(delta.get(kind))
        call.update({k: v for k, v in delta.items() if v is not None and k not in (kind, "index") and not call.get(k)})
        about = call.setdefault(kind, {})
        text = inner.get("arguments" if kind == "function" else "input")
        about.update({k: v for k, v in inner.items() if v and k not in ("arguments", "input") and not about.get(k)})
        self.pieces.setdefault(index, []).append(text_of(text))

    def _index(self, delta: dict[str, Any]) -> int:
        """Whose delta it is. Some hosts leave the index out, and some give every call the index 0: then ids decide."""
        named, newest = delta.get("id"), max(self.calls, default=-1)
        given = delta.get("index")
        if isinstance(given, str) and given.isdecimal() and len(given) < 10:
            given = int(given)
        begins = isinstance(given, int) and given not in self.calls and mapping(delta.get("function")).get("name")
        if named and not begins:  # two calls of one tool may have one id
            known = [index for index, call in self.calls.items() if call.get("id") == named]
            if known:
                return given if given in known else known[0]
        if not isinstance(given, int):
            another = named or not self.calls or self._is_another(newest, mapping(delta.get("function")))
            return newest + 1 if another else newest
        if named:
            taken = bool(self.calls.get(given, {}).get("id"))
            self.all_zero = self.all_zero or taken
            return newest + 1 if taken else given
        if self._is_another(given, mapping(delta.get("function"))):
            self.all_zero = True
            return newest + 1
        return newest if self.all_zero else given

    def _is_another(self, index: int, function: dict[str, Any]) -> bool:
        """Whether a delta without an id begins one more call at this index: told by its name, or as both are whole."""
        if not (name := function.get("name")):
            return False
        last = max(self.calls, default=-1) if self.all_zero else index
        begun = mapping(self.calls.get(last, {}).get("function")).get("name")
        if not begun or name != begun:
            return bool(begun)
        return text_of(function.get("arguments")).startswith("{") and "".join(self.pieces[last]).endswith("}")

    def _speak(self, delta: dict[str, Any]) -> None:
        audio = self.rest["audio"] = mapping(self.rest.get("audio"))
        for key, value in delta.items():
            if key in ("data", "transcript") and isinstance(value, str):
                audio.setdefault(key, "")
                self.spoken.setdefault(key, []).append(value)
            else:
                audio[key] = value

    def whole(self, index: int) -> dict[str, Any]:
        said = self.rest | {key: "".join(pieces) for key, pieces in self.texts.items()}
        said |= {key: _joined(said[key]) for key in DETAILS if isinstance(said.get(key), list)}
        if isinstance(ran := said.get(EXECUTED), list):  # each is told when it begins, and once more when it has ended
            numbers = (string(mapping(each).get("index")) or f"at {place}" for place, each in enumerate(ran))
            said[EXECUTED] = list(dict(zip(numbers, ran, strict=True)).values())
        if self.spoken:
            said["audio"] = mapping(said.get("audio")) | {key: "".join(pieces) for key, pieces in self.spoken.items()}
        if self.parts:
            lead = [{"type": "text", "text": said["content"]}] if said.get("content") else []
            said["content"] = lead + _joined(self.parts)
        calls = []
        for number in sorted(self.calls):
            call, text = self.calls[number], "".join(self.pieces[number])
            call["custom" if "custom" in call else "function"]["input" if "custom" in call else "arguments"] = text
            calls.append(call)
        if calls and calls[0].get("legacy"):
            said["function_call"] = calls[0]["function"]
        elif calls:
            said["tool_calls"] = calls
        return self.about | {"index": index, "message": said}


def _placed(calls: list[Any]) -> list[Any]:
    """Several calls in one delta that say neither an index nor a name: their places in it say which they are."""
    if any(mapping(call).get(key) is not None for call in calls for key in ("index", "id")):
        return calls
    return [{**mapping(call), "index": place} for place, call in enumerate(calls)]


def _alike(part: dict[str, Any], last: dict[str, Any]) -> bool:
    return part.get("type") == last.get("type") and part.get("index") is None


def _joined(parts: list[Any]) -> list[Any]:
    """Neighbouring pieces of one kind as one part: Mistral streams lists of parts, others thoughts without a number."""
    whole: list[Any] = []
    for part in parts:
        last = whole[-1] if whole else None
        if isinstance(part, dict) and isinstance(last, dict) and _alike(part, last):
            for key in ("text", "thinking", "summary"):
                match last.get(key), part.get(key):
                    case str(one), str(more):
                        whole[-1] = last | part | {key: one + more}
                        break
                    case list(begun), list(rest):
                        whole[-1] = last | {key: begun + rest}
                        break
            else:
                whole.append(part)
        else:
            whole.append(part)
    return whole
