"""What grows, told to every browser that looks: server-sent events."""

import asyncio
from collections.abc import AsyncIterator

import msgspec

from unspool.jobs.view.catalog import Catalog

_INTERVAL = 1.0
_QUIET = 15.0
"""Seconds after which a comment is sent, so that a browser that is gone is noticed."""


_OVER = b""
_BEHIND = 200
"""News that wait for a browser which does not take them. Then its stream ends; it asks again, and catches up."""


class Live:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._queues: set[asyncio.Queue[bytes]] = set()
        self._watch: asyncio.Task[None] | None = None

    def end(self) -> None:
        """End all streams: the server ends, or nobody watches any more."""
        for queue in self._queues:
            _end(queue)

    async def listen(self) -> AsyncIterator[bytes]:
        """One browser's stream. Files are watched as long as anybody listens."""
        queue: asyncio.Queue[bytes] = asyncio.Queue(_BEHIND)
        self._queues.add(queue)
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._watching())
        try:
            yield b"retry: 2000\n\n"
            while True:
                try:
                    told = await asyncio.wait_for(queue.get(), _QUIET)
                except TimeoutError:
                    told = b": still here\n\n"
                if told is _OVER:
                    return
                yield told
        finally:
            self._queues.discard(queue)

    async def _watching(self) -> None:
        try:
            while self._queues:
                grown, new = await asyncio.to_thread(self._catalog.refresh)
                told = [b"event: grown\ndata: %b\n\n" % msgspec.json.encode(each) for each in grown]
                told += [b"event: home\ndata: {}\n\n"] if new else []
                for queue in self._queues:
                    _put(queue, told)
                await asyncio.sleep(_INTERVAL)
        finally:
            self.end()  # after a fault of ours nothing more would come: browsers ask again, and are watched for again


def _put(queue: asyncio.Queue[bytes], told: list[bytes]) -> None:
    if queue.qsize() + len(told) > _BEHIND:
        _end(queue)
        return
    for message in told:
        queue.put_nowait(message)


def _end(queue: asyncio.Queue[bytes]) -> None:
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(_OVER)
