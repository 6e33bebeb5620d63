"""Files being read, as a line that moves: on a terminal, and only when it takes more than a second."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

_PATIENCE, _REFRESH = 1.0, 0.1


@contextmanager
def reading(what: str = "reading") -> Iterator[Callable[[str], None]]:
    """Call what it gives with the name of each file that is done."""
    shown = sys.stderr is not None and sys.stderr.isatty()
    bar: Bar | None = None
    due = monotonic() + _PATIENCE
    files = 0

    def seen(path: str) -> None:
        nonlocal bar, due, files
        files += 1
        if not shown or (now := monotonic()) < due:
            return
        due = now + _REFRESH
        if bar is None:
            from rich.console import Console
            from rich.progress import Progress, SpinnerColumn, TextColumn

            columns = SpinnerColumn(), TextColumn("{task.description}")
            bar = Progress(*columns, console=Console(stderr=True), transient=True)
            bar.add_task(what)
            bar.start()
        from rich.markup import escape

        bar.update(bar.task_ids[0], description=f"{what} {files:,} files  [dim]{escape(path[-60:])}[/dim]")

    try:
        yield seen
    finally:
        if bar is not None:
            bar.stop()
