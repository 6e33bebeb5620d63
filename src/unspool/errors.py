"""What can go wrong for the user, as a tree. Faults in data are notes, never one of these.

UnspoolError               exit status 2
├── InputNotFound          a path that is not there, or cannot be read
├── OutputNotWritable      a path that cannot be written
├── UnknownFormat          a name that no wire has, or a file that is no agent's log
├── SessionNotFound        a session's id that none has, or several
├── WrongPattern           a pattern that is no regular expression
├── EngineFailed           a cluster that cannot be had, or that gave up
├── CommandNotRun          exit status 126 or 127, as in shells: a command that cannot be run
├── StrictFault            exit status 1: a fault in the data, under --strict
└── PartsMissing           exit status 1: shards that are not there to be joined
"""


class UnspoolError(Exception):
    exit_status = 2


class InputNotFound(UnspoolError):
    pass


class OutputNotWritable(UnspoolError):
    pass


class UnknownFormat(UnspoolError):
    pass


class SessionNotFound(UnspoolError):
    pass


class WrongPattern(UnspoolError):
    pass


class EngineFailed(UnspoolError):
    pass


class CommandNotRun(UnspoolError):
    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.exit_status = status


class StrictFault(UnspoolError):
    exit_status = 1


class PartsMissing(UnspoolError):
    exit_status = 1
