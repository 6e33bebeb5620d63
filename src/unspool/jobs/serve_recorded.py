"""Serve-recorded: a recording in place of the API, so that a program can be tested without a network."""

from collections.abc import Callable, Sequence

from unspool.errors import InputNotFound
from unspool.recorder.callers import Callers
from unspool.recorder.replay_server import Replay, Served
from unspool.recorder.replaying import Recordings
from unspool.recorder.serving import Stopping, listening, port_of, run
from unspool.sources.files import expand
from unspool.sources.records import read_records


def load(paths: Sequence[str]) -> Recordings:
    recordings = Recordings()
    for path in expand(paths):
        recordings.add(read_records(path))
    if not len(recordings):
        raise InputNotFound(f"no recorded call in {', '.join(paths)}")
    return recordings


def serve(
    recordings: Recordings,
    port: int,
    ready: Callable[[str], None],
    seen: Callable[[Served], None],
    timed: bool = False,
    in_order: bool = False,
    callers: Callers | None = None,
) -> None:
    """Until it is told to stop. Only this machine is served."""
    replay = Replay(recordings, timed, in_order, seen, callers)

    async def forever() -> None:
        stopping = Stopping()
        async with listening(replay.connection, "127.0.0.1", port) as server:
            ready(f"http://127.0.0.1:{port_of(server)}")
            await stopping.asked.wait()

    run(forever())
