"""A progress bar on a terminal, for work that takes more than a second."""

import sys
from collections.abc import Sequence
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING

from unspool.model import Exchange, Note
from unspool.sources.files import is_packed
from unspool.sources.storage import is_url, size

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE = 1.0
_REFRESH = 0.1


class Progress:
    """Call `seen` with each item read, or `passed` with bytes done. Draws nothing elsewhere than on a terminal."""

    def __init__(self, files: Sequence[str], shown: bool, whole: int | None = None) -> None:
        """`whole` is the number of bytes, where it is known."""
        self._files = files
        self.whole = whole
        self._passed = 0
        self._shown = shown and sys.stderr is not None and sys.stderr.isatty()
        self._next = monotonic() + _PATIENCE
        self._bar: Bar | None = None
        self._before: dict[str, int] = {}

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def seen(self, item: Exchange | Note) -> None:
        if self._is_time():
            self._draw(self._before.get(item.origin.file, 0) + item.origin.offset + item.origin.size)

    def passed(self, size: int) -> None:
        self._passed += size
        if self._is_time():
            self._draw(self._passed)

    def _is_time(self) -> bool:
        if not self._shown or (now := monotonic()) < self._next:
            return False
        self._next = now + _REFRESH
        if self._bar is None:
            self._bar = self._started()
        return True

    def _draw(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)

    def _started(self) -> "Bar":
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        whole = self._size() if self.whole is None else self.whole
        columns = TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn()
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        bar.add_task("read", total=whole or None)
        bar.start()
        return bar

    def _size(self) -> int:
        whole = 0
        for file in self._files:
            self._before[file] = whole
            whole += size(file)
        packed = any(file.endswith((".gz", ".zst")) if is_url(file) else is_packed(file) for file in self._files)
        return 0 if packed else whole  # offsets are those of the unpacked data: no share of the whole can be told
