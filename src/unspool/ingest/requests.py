"""One recorded call, by name: `FILE#ID`, or `FILE#N`, the N-th call of the file."""

import os
from pathlib import Path

from msgspec.structs import replace

from unspool.errors import InputNotFound, RequestNotFound
from unspool.ingest.facts import HOLDERS
from unspool.ingest.open import read_exchanges
from unspool.ingest.splitting import remembered
from unspool.model import Exchange, Note

_MARK = "#"


def is_request(name: str) -> bool:
    """Whether it names a call rather than a file or a session."""
    file, mark, call = name.rpartition(_MARK)
    return bool(mark and file and call) and not Path(name).exists()


def find_request(name: str) -> Exchange:
    """By its own id, or its response's; `r0`, `r1`, … as `unspool cook` names those without; or its number, from 1.

    What its provider remembered for it is there, as far as the file has it.
    """
    file, mark, call = name.rpartition(_MARK)
    if not is_request(name):
        raise RequestNotFound(f"{name}: name a recorded call as FILE#ID or FILE#N" if not mark else f"{name} is a file")
    if not Path(file).is_file():
        raise InputNotFound(f"{file}: {os.strerror(2)}")
    calls = [item for item in read_exchanges(file) if not isinstance(item, Note)]
    named = [at for at, each in enumerate(calls) if call in (each.id, each.response.id)]
    number = named[-1] if named else _place(call)  # the last try, where a call was repeated
    if number is None or not 0 <= number < len(calls):
        there = f"it has {len(calls):,}" if calls else "it has none"
        raise RequestNotFound(f"{file}: no recorded call is {call!r}; {there}")
    return _whole(calls, number)


def _whole(calls: list[Exchange], number: int) -> Exchange:
    *_, whole = remembered(calls[: number + 1])
    if whole.messages is calls[number].messages:
        return whole
    return replace(whole, settings={key: value for key, value in whole.settings.items() if key not in HOLDERS})


def _place(call: str) -> int | None:
    if call.isascii() and call.isdigit():
        return int(call[:18]) - 1
    if call[:1] == "r" and call[1:].isascii() and call[1:].isdigit():
        return int(call[1:19])
    return None
