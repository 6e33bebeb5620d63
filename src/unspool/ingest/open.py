"""The way in: paths → exchanges and notes, whatever the files hold."""

import os
from collections.abc import Iterator

from unspool.errors import InputNotFound
from unspool.ingest.traffic import AUTO, Traffic
from unspool.model import Exchange, Note, Origin
from unspool.sources.files import expand
from unspool.sources.records import read_records


def read_exchanges(*inputs: str | os.PathLike[str], wire: str = AUTO) -> Iterator[Exchange | Note]:
    """Each call in the files, folders or `-` (standard input), in their order, and notes on what was not read."""
    traffic = Traffic(wire)
    named = {os.fspath(given) for given in inputs}
    for path in expand(inputs):
        try:
            for record in read_records(path):
                if isinstance(record, Note):
                    yield record
                else:
                    yield from traffic.read(record)
        except InputNotFound as error:
            if path in named:
                raise
            yield Note("unreadable", str(error), Origin(path, 0, 0, 0))  # one file of a folder
