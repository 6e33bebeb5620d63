"""Whether the arguments of a call fit the schema of the tool that it names.

The schemas come with the data: MCP servers and agents wrote them. So they are read by `jsonschema`, which knows the
newest draft, runs no code made from a schema, and here never goes to the network for a `$ref`. (`fastjsonschema` is 25
times as fast, and fails on all three; one call takes 0.1 ms here.) A tool without a schema, or with one that is itself
wrong, takes any object: that is no fault of the call. Nor is a pattern that could be tried for years ever tried.
"""

import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from unspool.errors import UnspoolError
from unspool.model.identity import fingerprint
from unspool.model.record import TrainingRecord

_REMEMBERED = 1024
"""Schemas that are kept compiled: a compiled one takes some kilobytes."""

_REPEATED = re.compile(r"\)(?:[*+]|\{[0-9]*,(?:[0-9]{2,})?\})")
"""In a pattern, a group that repeats without a bound: the wrong text may cost it years."""
_SHORT = 1000
"""Of a longer text any pattern may cost minutes."""

_loads = msgspec.json.Decoder().decode


class Call(Struct, frozen=True):
    """A call in any of the forms that the chat API has had."""

    id: str | None
    name: str
    arguments: Any
    """As they stand: a JSON text, or what somebody has made of it."""
    free: bool = False
    """Its argument is a text of the tool's own making, not JSON."""


def calls_of(message: dict[str, Any]) -> list[Call]:
    """The calls of a message in order; what has no name is none."""
    listed = message.get("tool_calls")
    found = [_call(call) for call in listed] if isinstance(listed, list) else []
    match message.get("function_call"):
        case {"name": str(name), **rest}:
            found.append(Call(None, name, rest.get("arguments")))
    return [call for call in found if call is not None]


def _call(value: object) -> Call | None:
    match value:
        case {"function": {"name": str(name), **rest}, **call}:
            return Call(_id(call), name, rest.get("arguments"))
        case {"custom": {"name": str(name), **rest}, **call}:
            return Call(_id(call), name, rest.get("input"), free=True)
    return None


def _id(call: Mapping[Any, Any], field: str = "id") -> str | None:
    value = call.get(field)
    return value if isinstance(value, str) and value else None


def answered(result: dict[str, Any]) -> str | None:
    """The id of the call that a result answers, if it says."""
    return _id(result, "tool_call_id")


def arguments_of(call: Call) -> Any:
    """The arguments as a value; none at all, or an empty text, is no arguments. ValueError for what is no JSON."""
    if call.free or not isinstance(call.arguments, str):
        return {} if call.arguments is None else call.arguments
    if not call.arguments.strip():
        return {}
    try:
        return _loads(call.arguments)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def arguments_or_text(call: Call) -> Any:
    """The same; what is no JSON as it was written."""
    try:
        return arguments_of(call)
    except ValueError:
        return call.arguments


class Misfit(Struct, frozen=True):
    message: int
    """The place of the message in the record, from 0."""
    tool: str
    kind: str
    """Why, in words that can be counted."""
    detail: str = ""


class Schemas:
    """Judges calls, and remembers the schemas that it has seen. Takes jsonschema, and says so if it is not there."""

    def __init__(self) -> None:
        try:
            self._package = importlib.import_module("jsonschema")
            self._nothing = importlib.import_module("referencing").Registry()
        except ImportError as error:
            raise UnspoolError("arguments-fit needs the package jsonschema: pip install 'unspool[filters]'") from error
        self._compiled: dict[str, Any] = {}

    def misfits(self, record: TrainingRecord) -> Iterator[Misfit]:
        schemas, complete = _schemas(record.tools)
        for place, message in enumerate(record.messages):
            if message.get("role") == "assistant":
                for call in calls_of(message):
                    kind, detail = self._judge(call, schemas, complete)
                    if kind:
                        yield Misfit(place, call.name, kind, detail)

    def _judge(self, call: Call, schemas: dict[str, Any], complete: bool) -> tuple[str, str]:
        if complete and call.name not in schemas:
            return "a call of a tool that is not there", ""
        if call.free:
            return "", ""
        try:
            arguments = arguments_of(call)
        except ValueError as error:
            return "arguments are no JSON", str(error)
        if not isinstance(arguments, dict):
            return "arguments are no object", ""
        schema = schemas.get(call.name)
        fault = self._fault(schema, arguments) if isinstance(schema, dict) else None
        return ("arguments do not fit the schema", fault) if fault else ("", "")

    def _fault(self, schema: dict[str, Any], arguments: dict[str, Any]) -> str | None:
        validator = self._validator(schema)
        try:
            for error in validator.iter_errors(arguments) if validator else ():
                return f"{error.json_path}: {error.message}"
        except Exception:  # a $ref to nowhere or to itself, a pattern that Python cannot read: the schema is wrong
            return None
        return None

    def _validator(self, schema: dict[str, Any]) -> Any:
        key = fingerprint(schema)
        if key not in self._compiled:
            if len(self._compiled) >= _REMEMBERED:
                self._compiled.clear()
            self._compiled[key] = self._compile(_plain(schema))
        return self._compiled[key]

    def _compile(self, schema: dict[str, Any]) -> Any:
        package = self._package
        draft = package.validators.validator_for(schema, default=package.Draft202012Validator)
        try:
            draft.check_schema(schema)
        except Exception:  # SchemaError, or whatever an odd schema does to the check itself
            return None
        patient = package.validators.extend(draft, {"pattern": _bounded(draft.VALIDATORS["pattern"])})
        return patient(schema, registry=self._nothing)


def _bounded(judge: Callable[..., Any]) -> Callable[..., Any]:
    """The keyword `pattern`, but for what could cost more than the answer is worth: that fits."""

    def pattern(validator: Any, written: Any, value: Any, schema: Any) -> Any:
        dear = (isinstance(value, str) and len(value) > _SHORT) or _REPEATED.search(str(written))
        return () if dear else judge(validator, written, value, schema)

    return pattern


def _schemas(tools: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], bool]:
    """Schemas by the tool's name, None where there is none; and whether these are all tools that could be called."""
    found: dict[str, Any] = {}
    complete = bool(tools)
    for tool in tools:
        match tool:
            case {"function": {"name": str(name), **rest}} | {"custom": {"name": str(name), **rest}}:
                found.setdefault(name, rest.get("parameters"))
            case {"name": str(name), **rest}:
                found.setdefault(name, rest.get("parameters", rest.get("input_schema")))
            case _:  # a provider's own, such as a whole MCP server: its calls have any name
                complete = False
    return found, complete


def _plain(schema: Any) -> Any:
    """As JSON Schema writes it: Gemini shouts the types, and OpenAPI has `nullable`."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: value if key in _VALUES else _plain(value) for key, value in schema.items()}
    named = plain.get("patternProperties")
    if isinstance(named, dict) and any(map(_REPEATED.search, named)):  # who knows what else may stand there
        plain = {key: value for key, value in plain.items() if key not in ("patternProperties", "additionalProperties")}
    kind = plain.get("type")
    if isinstance(kind, str) and kind.isupper():
        plain["type"] = kind = kind.lower()
    if plain.get("nullable") is True and isinstance(kind, str):
        plain["type"] = [kind, "null"]
        if isinstance(values := plain.get("enum"), list) and None not in values:
            plain["enum"] = [*values, None]
    return plain


_VALUES = frozenset({"enum", "const", "default", "examples", "example", "required"})
"""Keywords whose value is data, not a schema."""
