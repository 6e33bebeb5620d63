"""Which user of this machine has opened a connection."""

import os
from pathlib import Path

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LOCAL, _REMOTE, _UID = 1, 2, 7
"""Columns of these tables."""


def is_another_user(peer: int, own: int) -> bool:
    """Return whether another user than ours, or root, has connected from the port `peer` to our port `own`.

    Only Linux says so. Elsewhere, and if the connection is not listed, the answer is no.
    """
    user = _user_of(peer, own)
    return user is not None and user not in (os.getuid(), 0)


def _user_of(peer: int, own: int) -> int | None:
    ends = f":{peer:04X}", f":{own:04X}"
    for table in _TABLES:
        try:
            lines = Path(table).read_text("ascii").splitlines()[1:]
        except OSError:  # no Linux, or no IPv6
            continue
        for columns in map(str.split, lines):
            if columns[_LOCAL].endswith(ends[0]) and columns[_REMOTE].endswith(ends[1]):
                return int(columns[_UID])
    return None
