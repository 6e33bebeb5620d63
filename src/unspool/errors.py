"""What can go wrong for the user, as a tree. Faults in data are notes, never one of these.

UnspoolError            exit status 2
├── InputNotFound       a path that is not there, or cannot be opened
├── MissingExtra        an optional package that a command needs
└── StrictFault         exit status 1: a data fault under --strict
"""


class UnspoolError(Exception):
    exit_status = 2


class InputNotFound(UnspoolError):
    pass


class MissingExtra(UnspoolError):
    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra {extra!r}: pip install 'unspool[{extra}]'")


class StrictFault(UnspoolError):
    exit_status = 1
