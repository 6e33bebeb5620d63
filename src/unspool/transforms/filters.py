"""Which records are good enough to train on. A filter is a name, or a measure with a bound:

    ends-on-answer      the last message is an answer: words of the model, and no call
    calls-answered      every call has a result
    arguments-fit       the arguments of every call are JSON, and fit the schema of the tool (needs jsonschema)
    no-length-stop      no answer was cut off by a limit of tokens
    no-loops            the same as loops<3
    no-duplicates       no other record says exactly the same
    errors<=0.3         the share of tool results that failed
    turns>=2            prompts that were answered; an agent's steps in between count as one
    steps>=2            messages of the model
    loops<3             how often one call got one result, at most
    tokens<=8000        see `counting`
    near-duplicates<0.9 no other record has this share of its runs of words in common: see `duplicates`

A measure takes any of < <= > >= (quote it: < means something to a shell). A record is asked of one filter after another
in the order given, and dropped by the first that has a reason. Duplicates come last wherever they stand, when all other
records are known: so no record is dropped for the sake of one that is itself dropped.
"""

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from unspool.errors import UnspoolError
from unspool.model.identity import fingerprint
from unspool.model.record import TrainingRecord
from unspool.transforms.counting import load_tokenizer, other_parts, text_of, tokens_of
from unspool.transforms.duplicates import LEAST_SIMILAR, Mark, mark_of, repeats
from unspool.transforms.schemas import Schemas, answered, arguments_or_text, calls_of

Judge: TypeAlias = Callable[[TrainingRecord], str | None]
"""Why a record is to be dropped, in words that can be counted: the same for all records of a kind."""

_loads = msgspec.json.Decoder().decode


class WrongFilter(UnspoolError):
    """A filter that there is not, or with a number that makes no sense."""


class Filter:
    """One condition. Made by `parse_filter`; pickled as its text."""

    def __init__(
        self, text: str, judge: Judge | None, alike: float | None = None, tokenizer: str | None = None
    ) -> None:
        self.text = text
        self.alike = alike
        """Of a filter of duplicates, which no record can be asked for by itself: how alike, 1 for exactly."""
        self._judge = judge
        self._tokenizer = tokenizer

    def reason(self, record: TrainingRecord) -> str | None:
        """Why the record is dropped; None if it is kept."""
        why = self._judge(record) if self._judge else None
        return f"{self.text}: {why}" if why else None

    def __reduce__(self) -> tuple[Any, ...]:
        return parse_filter, (self.text, self._tokenizer)

    def __repr__(self) -> str:
        return f"parse_filter({self.text!r})"


class Chain:
    """Filters in the order given, what they let pass, and how much each dropped for which reason."""

    def __init__(self, filters: Iterable[Filter]) -> None:
        self.filters = tuple(filters)
        self.kept = 0
        self.dropped: Counter[str] = Counter()
        self.marks: list[Mark] = []
        """Of what passed, if there is a filter of duplicates: `repeated` takes those of all shards together."""
        self._near = any(_is_near(one) for one in self.filters)
        self._marking = self._near or any(one.alike is not None for one in self.filters)

    def reason(self, record: TrainingRecord) -> str | None:
        """Why the record is dropped, which is counted; None if it is kept."""
        for one in self.filters:
            if why := one.reason(record):
                self.dropped[why] += 1
                return why
        self.kept += 1
        if self._marking:
            self.marks.append(mark_of(record, near=self._near))
        return None


def repeated(filters: Iterable[Filter], marks: Iterable[Mark]) -> dict[str, str]:
    """The ids of records to drop as duplicates, of all that every other filter let pass, each with the reason."""
    left = list(marks)
    found: dict[str, str] = {}
    for one in filters:
        if one.alike is not None:
            near = _is_near(one)
            gone = repeats(left, one.alike if near else None)
            found |= dict.fromkeys(sorted(gone), f"{one.text}: another record says {'nearly ' if near else ''}the same")
            left = [mark for mark in left if mark.id not in gone]
    return found


def parse_filter(text: str, tokenizer: str | None = None) -> Filter:
    """A filter by its text; `tokenizer` is the path of a tokenizer file, for `tokens`. WrongFilter if there is none."""
    text = "".join(text.split())
    if text == "no-duplicates":
        return Filter(text, None, alike=1.0)
    if text == "arguments-fit":
        return Filter(text, _arguments_fit())
    if text in _NAMED:
        return Filter(text, _NAMED[text])
    parts = re.fullmatch(r"([a-z-]+)(<=|>=|<|>)(.*)", text)
    if parts is None or parts[1] not in (*_MEASURES, _NEAR):
        if text in _MEASURES or text == _NEAR:
            raise WrongFilter(f"{text!r} needs a bound, such as {_EXAMPLES[text]!r}")
        raise WrongFilter(f"there is no filter {text!r}: there are {', '.join(FILTERS)}")
    name, sign, written = parts.groups()
    number = _number(text, name, written)
    if name == _NEAR:
        if sign != "<":
            raise WrongFilter(f"{text!r}: {_NEAR} takes only <, such as {_EXAMPLES[_NEAR]!r}")
        return Filter(text, None, alike=number)
    if name == "tokens":
        return Filter(text, _bounded(name, _tokens(tokenizer), sign, number), tokenizer=tokenizer)
    return Filter(text, _bounded(name, _MEASURES[name], sign, number))


def _number(text: str, name: str, written: str) -> float:
    if not re.fullmatch(r"\d+(\.\d+)?|\.\d+", written):
        raise WrongFilter(f"{text!r}: {written!r} is no number")
    number = float(written)
    if name == _NEAR and not LEAST_SIMILAR <= number <= 1:
        raise WrongFilter(f"{text!r}: {name} takes a share from {LEAST_SIMILAR} to 1")
    if name == "errors" and number > 1:
        raise WrongFilter(f"{text!r}: {name} takes a share from 0 to 1")
    if name not in (_NEAR, "errors") and not number.is_integer():
        raise WrongFilter(f"{text!r}: {name} takes a whole number")
    return number


def _is_near(one: Filter) -> bool:
    return one.text.startswith(_NEAR)


def _bounded(name: str, measure: Callable[[TrainingRecord], float], sign: str, number: float) -> Judge:
    holds = _SIGNS[sign]
    why = f"too {'many' if sign.startswith('<') else 'few'} {name}"

    def judge(record: TrainingRecord) -> str | None:
        return None if holds(measure(record), number) else why

    return judge


def _ends_on_answer(record: TrainingRecord) -> str | None:
    last = record.turns[-1].message if record.turns else {}
    role = last.get("role")
    if role != "assistant":
        return "it is empty" if not record.turns else f"it ends on {_ENDS.get(str(role), 'something else')}"
    if last.get("tool_calls") or last.get("function_call"):
        return "it ends on a call"
    return None if text_of(last).strip() or any(other_parts(last)) else "the last answer is empty"


_ENDS: Mapping[str, str] = {
    "user": "a prompt",
    "tool": "a result",
    "function": "a result",
    "system": "a system prompt",
    "developer": "a system prompt",
}


def _calls_answered(record: TrainingRecord) -> str | None:
    """Ids may be missing, or used again: a result answers the first call with its id that has none yet."""
    waiting: list[str | None] = []
    for message in record.messages:
        match message.get("role"):
            case "assistant":
                waiting += [call.id for call in calls_of(message)]
            case "tool" | "function":
                wanted = answered(message)
                if wanted in waiting:
                    waiting.remove(wanted)
    return "a call has no result" if waiting else None


def _arguments_fit() -> Judge:
    schemas = Schemas()

    def judge(record: TrainingRecord) -> str | None:
        return next((misfit.kind for misfit in schemas.misfits(record)), None)

    return judge


def _no_length_stop(record: TrainingRecord) -> str | None:
    cut = any(turn.stop in ("max_tokens", "context_exceeded") for turn in record.turns)
    return "an answer was cut off" if cut else None


def _errors(record: TrainingRecord) -> float:
    results = [message for message in record.messages if message.get("role") in ("tool", "function")]
    return sum(map(failed, results)) / len(results) if results else 0.0


def failed(result: dict[str, Any]) -> bool:
    """Whether a tool's result says that it failed. Where no field says so, its first words must, or its JSON."""
    for field in ("is_error", "isError"):
        if isinstance(said := result.get(field), bool):
            return said
    text = text_of(result).strip()
    if text[:1] == "{":
        try:
            value = _loads(text)
        except (ValueError, RecursionError):
            return False
        return _tells_failure(value) if isinstance(value, dict) else False
    return _FAILED.match(text) is not None


_FAILED = re.compile(
    r"(?:<tool_use_error>|Error\b|ERROR\b|error:|fatal:|Traceback \(most recent call last\)"
    r"|(?:Exit code|exit code|Process exited with code|Command failed with exit code):? *-?0*[1-9])"
)
"""How agents and shells begin when something went wrong. A mere mention further on is no failure."""


def _tells_failure(value: dict[str, Any]) -> bool:
    if value.get("is_error") is True or value.get("isError") is True or value.get("success") is False:
        return True
    if value.get("error"):
        return True
    metadata = value.get("metadata")
    codes = [holder.get("exit_code") for holder in (value, metadata) if isinstance(holder, dict)]
    return any(isinstance(code, int) and code != 0 for code in codes)


def _turns(record: TrainingRecord) -> int:
    """Runs of the model's messages; results do not end a run."""
    number, speaking = 0, False
    for message in record.messages:
        match message.get("role"):
            case "assistant":
                number += not speaking
                speaking = True
            case "user" | "system" | "developer":
                speaking = False
    return number


def _steps(record: TrainingRecord) -> int:
    return sum(message.get("role") == "assistant" for message in record.messages)


def _loops(record: TrainingRecord) -> int:
    """The most often that one call got one result, wherever: a loop of two calls is a loop too."""
    waiting: list[tuple[str | None, str]] = []
    seen: Counter[tuple[str, str]] = Counter()
    for message in record.messages:
        match message.get("role"):
            case "assistant":
                made = calls_of(message)
                waiting += [(call.id, fingerprint([call.name, arguments_or_text(call)])) for call in made]
            case "tool" | "function":
                wanted = answered(message)
                place = next((place for place, (key, _) in enumerate(waiting) if key == wanted), None)
                if place is not None:
                    seen[waiting.pop(place)[1], fingerprint(message.get("content"))] += 1
    return max(seen.values(), default=0)


def _tokens(tokenizer: str | None) -> Callable[[TrainingRecord], float]:
    loaded = load_tokenizer(tokenizer) if tokenizer else None

    def measure(record: TrainingRecord) -> float:
        return tokens_of(record, loaded).number

    return measure


_NEAR = "near-duplicates"
_SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
_NAMED: Mapping[str, Judge] = {
    "ends-on-answer": _ends_on_answer,
    "calls-answered": _calls_answered,
    "no-length-stop": _no_length_stop,
    "no-loops": _bounded("loops", _loops, "<", 3),
}
_MEASURES: Mapping[str, Callable[[TrainingRecord], float]] = {
    "errors": _errors,
    "turns": _turns,
    "steps": _steps,
    "loops": _loops,
    "tokens": _tokens(None),
}
_EXAMPLES = {
    "errors": "errors<=0.3",
    "turns": "turns>=2",
    "steps": "steps>=2",
    "loops": "loops<3",
    "tokens": "tokens<=8000",
    _NEAR: "near-duplicates<0.9",
}
FILTERS: Sequence[str] = ("arguments-fit", "no-duplicates", *_NAMED, *_EXAMPLES.values())
"""All that exist, those with a bound as an example."""
