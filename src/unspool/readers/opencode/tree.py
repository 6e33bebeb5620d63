"""OpenCode's older store: a file for each session, each message and each part. A session is read from its own file.

storage/session/<project>/<session>.json                     {id, directory, title, version, parentID}
storage/message/<session>/<message>.json                     {id, sessionID, role, …}
storage/part/<message>/<part>.json                           {id, messageID, type, …}

project/<name>/storage/session/info/<session>.json           the same in the first versions
project/<name>/storage/session/message/<session>/<message>.json
project/<name>/storage/session/part/<session>/<message>/<part>.json
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unspool.dialect import Head, Record
from unspool.model import Event, Facts, Note, Origin
from unspool.readers.documents import read_json
from unspool.readers.log import Log
from unspool.readers.opencode.conversation import AGENT, Conversation
from unspool.sources.jsontext import Unreadable, loads
from unspool.sources.storage import noticed
from unspool.sources.values import listing, mapping


def claims(head: Head) -> bool:
    return _kind(head.document) is not None


def _kind(value: Any) -> str | None:
    match value:
        case {"id": str(), "sessionID": str(), "messageID": str(), "type": str()}:
            return "part"
        case {"id": str(), "sessionID": str(), "role": "user" | "assistant"} if "content" not in value:
            return "message"
        case {"id": str(session), "title": str(), "version": str(), "time": {"created": _}}:
            return "session" if session.startswith("ses") and "messages" not in value else None
    return None


class Store:
    """The folders around one file of the store."""

    def __init__(self, path: str, kind: str | None) -> None:
        file = Path(path)
        self.first = file.parent.name == "info"
        up = 2 + (kind == "part" and file.parent.parent.parent.name == "part") - (kind == "session" and self.first)
        self._root = file.parents[min(up, len(file.parents) - 1)]

    def session(self, session: str) -> Path | None:
        """The file of the session, if it is there."""
        if not _is_name(session):
            return None
        name = f"{session}.json"
        return next(
            (file for file in (self._root / "info" / name, *self._root.glob(f"session/*/{name}")) if file.is_file()),
            None,
        )

    def messages(self, session: str) -> list[Path]:
        return _files(self._root / "message" / session) if _is_name(session) else []

    def message(self, session: str, message: str) -> bool:
        return (
            _is_name(session) and _is_name(message) and (self._root / "message" / session / f"{message}.json").is_file()
        )

    def parts(self, session: str, message: str) -> list[Path]:
        if not (_is_name(session) and _is_name(message)):
            return []
        return _files(self._root / "part" / message) or _files(self._root / "part" / session / message)


def _is_name(given: str) -> bool:
    """Whether it names a file in a folder, and nothing outside of it."""
    return 0 < len(given) < 200 and given == Path(given).name and not set(given) & set("*?[\0")


def _files(folder: Path) -> list[Path]:
    """Their names are their order: ids grow with time."""
    return sorted(folder.glob("*.json")) if folder.is_dir() else []


def beside(path: str) -> Iterator[str]:
    """The messages and parts of a session; the parts of a message whose session is lost."""
    value = read_json(path)
    kind = _kind(value)
    store = Store(path, kind)
    if kind == "session":
        for file in store.messages(value["id"]):
            yield str(file)
            yield from map(str, store.parts(value["id"], file.stem))
    elif kind == "message":
        yield from map(str, store.parts(value["sessionID"], value["id"]))


def kin(path: str) -> Iterator[str]:
    """The sessions of sub-agents, which stand beside it like any other."""
    if _kind(read_json(path)) == "session":
        for file in _files(Path(path).parent):
            if str(file) != path and isinstance(mapping(read_json(file)).get("parentID"), str):
                yield str(file)


def payload(value: Any, event: Event) -> Any:
    """Events come from the file of their message or part."""
    told = read_json(event.origin.file)
    return value if told is None else told


class Tree:
    def __init__(self, path: str) -> None:
        self._path = path
        self._log = Log(AGENT)
        self._conversation = Conversation(self._log)

    @property
    def sessions(self) -> dict[str, Facts]:
        return self._log.sessions

    def feed(self, record: Record) -> list[Event | Note]:
        value = self._log.value(record)
        kind = _kind(value)
        store = Store(self._path, kind)
        match kind:
            case "session":
                self._session(value, store)
            case "message" if store.session(value["sessionID"]) is None:
                self._message(value, store)
            case "part" if not store.message(value["sessionID"], value["messageID"]):
                if store.session(value["sessionID"]) is None:
                    self._part_alone(value)
            case None:
                self._log.note("skipped", "neither a session nor a message nor a part")
        return self._log.take()

    def close(self) -> list[Event | Note]:
        return []

    def _session(self, info: dict[str, Any], store: Store) -> None:
        self._ancestors(info, store)
        self._conversation.session(info)
        session = info["id"]
        for file in store.messages(session):
            if (told := self._opened(file)) is not None:
                self._message({"sessionID": session, **told}, store)

    def _ancestors(self, info: dict[str, Any], store: Store) -> None:
        """Whose sub-agent the session is: the files of those above it say so."""
        for _ in range(32):
            session, parent = info.get("id"), info.get("parentID")
            if not isinstance(session, str) or not isinstance(parent, str):
                return
            self._conversation.belongs(session, parent)
            above = store.session(parent)
            info = mapping(read_json(above)) if above else {}

    def _message(self, info: dict[str, Any], store: Store) -> None:
        message = self._conversation.message(info)
        for file in store.parts(message.session, message.id):
            if (told := self._opened(file)) is not None:
                self._conversation.part(message, told)
        for part in listing(info.get("parts")):  # the first versions kept them inside
            self._conversation.part(message, part)
        self._conversation.end(message)

    def _part_alone(self, part: dict[str, Any]) -> None:
        """Its message is lost, and with it whose part it is: only the model's texts carry their times."""
        role = "user" if part["type"] == "text" and "time" not in part else "assistant"
        message = self._conversation.lost(part["id"], part["sessionID"], role)
        self._conversation.part(message, part)
        self._conversation.end(message)

    def _opened(self, file: Path) -> dict[str, Any] | None:
        try:
            data = noticed(file).read_bytes()
            self._log.origin = Origin(str(file), 1, 0, len(data))
            value = loads(data)
        except (OSError, *Unreadable):
            self._log.origin = Origin(str(file), 1, 0, 0)
            self._log.note("unreadable", "no JSON")
            return None
        if not isinstance(value, dict):
            self._log.note("odd", "a file of the store that holds no object")
            return None
        return value
