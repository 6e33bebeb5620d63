"""`parquet`: a table with the columns that Hugging Face `datasets` makes of agents' traces. Needs pyarrow.

A row a record. `messages` and `tools` are lists of JSON, `metadata` and `trace` are JSON: plain columns would want all
tools to take the same arguments. Messages are as they stand, but that arguments are objects; `metadata.turns` says of
each what a record knows of it, above all whether to train on it. `trace` is empty: no record holds its log.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from unspool.errors import UnspoolError
from unspool.exports.content import Said, said, text_of
from unspool.exports.training import Encoded, Format, Losses, Options, alone
from unspool.model.record import TrainingRecord, TrainingTurn
from unspool.sources.jsontext import Unreadable, dumps, strict
from unspool.sources.values import iso_time

_LISTS = ("messages", "tools")
_VALUES = ("metadata", "trace")
_GROUP = 16 << 20
"""Bytes of JSON in a row group. Counted, so that the same rows give the same file, whoever joined them."""


def encode(record: TrainingRecord, _options: Options) -> Encoded:
    spoken = said(record, Losses())
    asked = [one for one in spoken if one.role == "user"]
    row = {
        "harness": record.agent,
        "session_id": record.session,
        "prompt": text_of(asked[0], Losses()) if asked else None,
        "messages": [_message(turn.message) for turn in record.turns],
        "tools": record.tools,
        "metadata": _metadata(record),
        "sent_at": _sent_at(spoken, asked),
        "num_user_messages": len(asked),
        "num_tool_calls": sum(len(one.calls) for one in spoken),
        "trace": None,
        "file_path": record.source,
    }
    return Encoded(record, [row] if record.turns else [], Losses())


def _message(message: dict[str, Any]) -> dict[str, Any]:
    calls = message.get("tool_calls")
    return message | {"tool_calls": [_call(call) for call in calls]} if isinstance(calls, list) else message


def _call(call: Any) -> Any:
    match call:
        case {"function": {"arguments": str(written)} as function}:
            try:
                value = strict(written)
            except Unreadable:
                return call
            return call | {"function": function | {"arguments": value}} if isinstance(value, dict) else call
    return call


def _sent_at(spoken: list[Said], asked: list[Said]) -> str | None:
    """When the first prompt was sent; few logs of calls tell, so else when the first message is known to have been."""
    times = [one.turn.time for one in (*asked[:1], *spoken) if one.turn.time is not None]
    return iso_time(times[0]) if times else None


def _metadata(record: TrainingRecord) -> dict[str, Any]:
    named = ("id", "relation", "parent", "call", "model", "scenario", "date")
    facts = {name: value for name in named if (value := getattr(record, name))}
    return facts | {"turns": [_turn(turn) for turn in record.turns]}


def _turn(turn: TrainingTurn) -> dict[str, Any]:
    facts: dict[str, Any] = msgspec.to_builtins(turn)
    del facts["message"]
    return {name: value for name, value in facts.items() if value is not None and value is not False}


def into_file(part: Path, final: Path, options: Options) -> None:
    """Rows, a line each → the table."""
    arrow, writing = _arrow()
    schema = _schema(options)
    with writing.ParquetWriter(final, schema, compression="zstd") as writer:
        for rows in _groups(part):
            columns = [_column(schema.field(name), [row.get(name) for row in rows]) for name in schema.names]
            writer.write_table(arrow.Table.from_arrays(columns, schema=schema), row_group_size=len(rows))


def _groups(part: Path) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    size = 0
    with part.open("rb") as file:
        for line in file:
            rows.append(strict(line))
            size += len(line)
            if size >= _GROUP:
                yield rows
                rows, size = [], 0
    if rows:
        yield rows


def _column(field: Any, values: list[Any]) -> Any:
    """JSON is made text here: only so are numbers, nulls and the order of keys what they were."""
    arrow, _ = _arrow()
    if field.name in _LISTS:
        texts = [None if value is None else [dumps(each) for each in value] for value in values]
        return _typed(arrow.array(texts, arrow.list_(arrow.string())), field.type)
    if field.name in _VALUES:
        return _typed(arrow.array(map(_text, values), arrow.string()), field.type)
    return arrow.array(values, field.type)


def _text(value: Any) -> str | None:
    return None if value is None else dumps(value)


def _typed(array: Any, wanted: Any) -> Any:
    return array if array.type == wanted else array.cast(wanted)


def _schema(options: Options) -> Any:
    arrow, _ = _arrow()
    text, number = arrow.string(), arrow.int64()
    json = arrow.json_() if options.json_columns == "json" else text
    return arrow.schema(
        {
            "harness": text,
            "session_id": text,
            "prompt": text,
            "messages": arrow.list_(json),
            "tools": arrow.list_(json),
            "metadata": json,
            "sent_at": text,
            "num_user_messages": number,
            "num_tool_calls": number,
            "trace": json,
            "file_path": text,
        }.items()
    )


def _arrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet module, which most people do without."""
    try:
        arrow, writing = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise UnspoolError("--to parquet needs pyarrow: pip install 'unspool[parquet]'") from error
    if not hasattr(arrow, "json_"):
        raise UnspoolError(f"--to parquet needs pyarrow 19 or newer, not {arrow.__version__}")
    return arrow, writing


form = Format(".parquet", alone(encode), into_file=into_file)
