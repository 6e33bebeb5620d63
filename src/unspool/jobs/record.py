"""Record: a proxy in front of the APIs, and what it saw in a file."""

import gc
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from unspool.errors import OutputNotWritable, UnspoolError
from unspool.ingest.outputs import output_for, trace_output
from unspool.recorder.callers import Callers
from unspool.recorder.calls import Counts
from unspool.recorder.files import SessionFiles, StandardOutput, Trace, open_trace
from unspool.recorder.proxy import Proxy
from unspool.recorder.recording import Recorder
from unspool.recorder.routing import Routes
from unspool.recorder.serving import Stopping, allow_files, drain, is_loopback, listening, port_of, run
from unspool.sources.composing import Recorded
from unspool.sources.files import DASH

Say = Callable[[str], None]


class Settings(Struct):
    """What `unspool record` is told."""

    output: Path
    target: str | None = None
    upstreams: Mapping[str, str] = {}
    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None
    allow_origin: tuple[str, ...] = ()
    by_session: bool = False
    compact: bool = False
    redact_body: bool = False
    strict: bool = False
    durable: bool = False
    timeout: float | None = None
    patience: float = 30.0


def record(settings: Settings, say: Say, ready: Say, seen: Callable[[Recorded], None] | None = None) -> Counts:
    """Until it is told to stop. `ready` is called with the recorder's address, `seen` with each record."""
    is_new = not settings.output.exists()
    proxy = prepared(settings, say, seen)
    proxy.recorder.start()
    allow_files()
    gc.freeze()  # what was imported is never garbage, and looking at it all would hold up a call for milliseconds

    async def serve() -> None:
        stopping = Stopping()
        async with listening(proxy.client, settings.host, settings.port) as server:
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            ready(f"http://{host}:{port_of(server)}")
            await stopping.asked.wait()
            server.close()
            await drain(proxy, say, settings.patience, stopping.at_once)

    try:
        run(serve())
    finally:
        proxy.recorder.close()
        proxy.recorder.counts.foreign = proxy.callers.refused
        if is_new and settings.output.is_file() and not settings.output.stat().st_size:
            settings.output.unlink()  # nothing came, or nobody could call us: nothing is left behind
    return proxy.recorder.counts


def prepared(settings: Settings, say: Say, seen: Callable[[Recorded], None] | None = None) -> Proxy:
    """All that can be wrong with the settings is found here, before anything listens."""
    if settings.token is None and not is_loopback(settings.host):
        raise UnspoolError(
            f"{settings.host} can be reached from other machines: set a token, in --token or $UNSPOOL_RECORD_TOKEN"
        )
    _refuse_logs(settings)
    routes = Routes(settings.target, settings.upstreams, settings.token)
    redact = None
    if settings.redact_body:
        from unspool.sources.keys import key
        from unspool.transforms.redact import Redactor

        redact = Redactor(key()).raw
    recorder = Recorder(
        _trace(settings), say, strict=settings.strict, durable=settings.durable, redact=redact, seen=seen
    )
    callers = Callers(settings.host, settings.allow_origin, checks_host=settings.token is None, say=say)
    return Proxy(routes, recorder, settings.timeout, callers)


def _refuse_logs(settings: Settings) -> None:
    """Refuse to write where agents keep their logs, and to append to one of them."""
    place = str(settings.output)
    if settings.by_session:
        output_for(place, names=["2026-03-02/session.jsonl"])
    else:
        trace_output(place)


def _trace(settings: Settings) -> Trace:
    if str(settings.output) == DASH:
        if sys.stdout is None:
            raise OutputNotWritable("standard output is closed")
        return StandardOutput()
    if not settings.by_session:
        return open_trace(settings.output, settings.compact)
    try:
        settings.output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputNotWritable(f"{settings.output}: {error.strerror}") from error
    return SessionFiles(settings.output)
