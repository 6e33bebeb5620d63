"""JSON lines, as every command prints them with --json: one compact object a line."""

from collections.abc import Iterable

import click
import msgspec


def echo(values: Iterable[object]) -> None:
    encode = msgspec.json.Encoder().encode
    for value in values:
        click.echo(encode(value))
