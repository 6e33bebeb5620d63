"""Tools that stand beside Codex's own: its memories, skills that lie elsewhere, the threads of the app around it.

Its notes and its history lie with the provider, and their files are none: they are called like tools that read such.
"""

from collections.abc import Mapping

from unspool.actions.shapes import Apart
from unspool.actions.vocabulary import Call, each, several
from unspool.model import Action
from unspool.model.action import Agent, FileRead, FileWrite, Search


class ReadMemory(Call, frozen=True, gc=False):
    renamed = ("path", "line_offset", "max_lines")
    path: str
    line_offset: int | None = None
    max_lines: int | None = None

    def action(self) -> Action:
        return FileRead(self.path, self.line_offset, self.max_lines)


class SearchMemories(Call, frozen=True, gc=False):
    queries: tuple[str, ...]
    path: str | None = None

    def action(self) -> Action:
        return Search(query=several(self.queries)[0], path=self.path)

    def actions(self) -> tuple[Action, ...]:
        return each(Search(query=query, path=self.path) for query in self.queries)


class ListMemories(Call, frozen=True, gc=False):
    path: str | None = None

    def action(self) -> Action:
        return Search(path=self.path)


class AddNote(Call, frozen=True, gc=False):
    renamed = ("filename", "note")
    filename: str
    note: str

    def action(self) -> Action:
        return FileWrite(self.filename, self.note)


class ReadSkill(Call, frozen=True, gc=False):
    """A file of a skill, or its first one."""

    uri: str | None = None
    resource: str | None = None
    package: str | None = None

    def action(self) -> Action:
        named = self.uri or self.resource or self.package
        if named is None:
            raise ValueError("nothing to read")
        return FileRead(named)


class ListSkills(Call, frozen=True, gc=False):
    def action(self) -> Action:
        return Search()


class OnThreads(Call, frozen=True, gc=False):
    """Other threads: to begin one, to write to it, to wait for it, to read it. A schedule writes to one later."""

    renamed = ("prompt", "title")
    prompt: str | None = None
    title: str | None = None

    def action(self) -> Action:
        return Agent(self.title, self.prompt)


class OnBoard(Call, frozen=True, gc=False):
    """Where the agents of a session write to all: to post, to read, to look for posts. Channels hold discussions."""

    renamed = ("text",)
    text: str | None = None

    def action(self) -> Action:
        return Agent(prompt=self.text)


_ON_BOARD = (
    "create_channel", "get_channels", "list_threads", "post", "read_post", "read_thread", "search_posts", "subscribe",
    "unsubscribe",
)  # fmt: skip
_KEPT_AFAR = {
    "history": ("list_items", "list_windows", "read_item", "search_contents"),
    "notes": ("append_to_file", "list_files_by_prefix", "read_file", "search_contents", "write_file"),
}
_ON_THREADS = (
    "automation_update", "create_thread", "fork_thread", "get_handoff_status", "handoff_thread",
    "list_archived_threads", "list_threads", "read_thread", "send_message_to_thread", "wait_threads",
)  # fmt: skip
EXTENSIONS: Mapping[str, type[Call]] = {
    "memories__read": ReadMemory,
    "memories__search": SearchMemories,
    "memories__list": ListMemories,
    "memories__add_ad_hoc_note": AddNote,
    "skills__read": ReadSkill,
    "skills__list": ListSkills,
    **{f"collaboration__{tool}": OnBoard for tool in _ON_BOARD},
    **{f"{place}__{tool}": Apart for place, tools in _KEPT_AFAR.items() for tool in tools},
    **{f"{host}__{tool}": OnThreads for host in ("codex_app", "codex_tui") for tool in _ON_THREADS},
}
