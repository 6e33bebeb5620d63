"""What can go wrong for the user, as a tree. Faults in data are notes, never one of these.

UnspoolError               exit status 2
├── InputNotFound          a path that is not there, or cannot be read
│   └── FileFault          a file that is too large, or that unspool fails to read
├── OutputNotWritable      a path that cannot be written
├── UnknownFormat          a name that no wire has, or a file that is no agent's log
├── SessionNotFound        a session's id that none has, or several
├── RequestNotFound        a recorded call that a file does not have
├── WrongPattern           a pattern that is no regular expression
├── EngineFailed           a cluster that cannot be had, or that gave up
├── CommandNotRun          exit status 126 or 127, as in shells: a command that cannot be run
├── StoreFault             a store that cannot be opened, read or written
├── TurnNotFound           a name or id that no turn has, or several
├── BookmarkTaken          a bookmark that another thread has, or a name that is none
├── WrongTurn              a turn that cannot be stored as it is given
├── CycleFound             turns that continue each other in a circle
├── WrongContext           JSON that is no context, no tools, no stream of a provider's
├── UnsupportedContent     something that a provider does not take; nothing was sent
├── NotConfigured          a provider, a pointer, a key or a server that is not set up
├── ServerFailed           an MCP server that does not start, or does not answer
├── ProviderFailed         exit status 3: a provider that refused, or broke off without an answer
├── MissingExtra           a part of unspool that was not installed
├── StrictFault            exit status 1: a fault in the data, under --strict
└── PartsMissing           exit status 1: shards that are not there to be joined
"""

from typing import Literal


class UnspoolError(Exception):
    exit_status = 2


class InputNotFound(UnspoolError):
    pass


class FileFault(InputNotFound):
    """Names a file and its fault; `kind` is that of the note that other commands write about it."""

    def __init__(self, message: str, kind: Literal["internal", "unreadable"] = "internal") -> None:
        self.kind = kind
        super().__init__(message)


class OutputNotWritable(UnspoolError):
    pass


class UnknownFormat(UnspoolError):
    pass


class SessionNotFound(UnspoolError):
    pass


class RequestNotFound(UnspoolError):
    pass


class WrongPattern(UnspoolError):
    pass


class EngineFailed(UnspoolError):
    pass


class CommandNotRun(UnspoolError):
    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.exit_status = status


class WrongContext(UnspoolError):
    pass


class UnsupportedContent(UnspoolError):
    """Names the provider, what it does not take, and the turn or the message that holds it."""

    def __init__(self, provider: str, what: str, where: str, why: str = "") -> None:
        self.provider, self.what, self.where = provider, what, where
        super().__init__(f"{where}: {provider} takes no {what}{f' {why}' if why else ''}")


class NotConfigured(UnspoolError):
    pass


class ServerFailed(UnspoolError):
    pass


class ProviderFailed(UnspoolError):
    exit_status = 3

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class StoreFault(UnspoolError):
    pass


class TurnNotFound(UnspoolError):
    pass


class BookmarkTaken(UnspoolError):
    pass


class WrongTurn(UnspoolError):
    pass


class CycleFound(UnspoolError):
    pass


class MissingExtra(UnspoolError):
    pass


class StrictFault(UnspoolError):
    exit_status = 1


class PartsMissing(UnspoolError):
    exit_status = 1
