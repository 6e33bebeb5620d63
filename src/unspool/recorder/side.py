"""Reading from a connection, which several reasons may hold up at once."""

import asyncio


class Side(asyncio.Protocol):
    """One end of the proxy. Its reading goes on when nothing holds it up any more."""

    transport: asyncio.Transport
    is_open = False

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._holds: set[str] = set()

    def hold(self, why: str) -> None:
        if not self._holds and self.is_open:
            self.transport.pause_reading()
        self._holds.add(why)

    def release(self, why: str) -> None:
        if why in self._holds:
            self._holds.discard(why)
            if not self._holds and self.is_open:
                self.transport.resume_reading()

    def release_all(self) -> None:
        for why in list(self._holds):
            self.release(why)
