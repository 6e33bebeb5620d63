"""`unspool serve-recorded`"""

import click


@click.command("serve-recorded")
@click.argument("traces", metavar="FILE…", nargs=-1, required=True)
@click.option("--port", metavar="N", type=click.IntRange(0, 65535), default=8080, help="8080; 0 takes a free one.")
@click.option(
    "--allow-origin",
    metavar="URL",
    multiple=True,
    help="Accept calls from web pages of this origin, such as http://localhost:3000; may be several.",
)
@click.option("--timing", is_flag=True, help="Let answers take as long as they took, piece by piece; else all at once.")
@click.option("--in-order", is_flag=True, help="Compare no bodies: the first call to a path gets its first answer, …")
@click.option("--json", "as_json", is_flag=True, help="What happens, as JSON lines on standard output.")
@click.option("-q", "--quiet", is_flag=True, help="No line for each request.")
def command(
    traces: tuple[str, ...],
    port: int,
    allow_origin: tuple[str, ...],
    timing: bool,
    in_order: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Answer like the API that was recorded, so that a program can be tested without a network.

    A request is answered with what was answered to the same request when it was recorded: the same method, path and
    body; of several, one after another. A request that was not recorded gets 404, with the recorded one that comes
    nearest, and what differs.

    \b
    unspool serve-recorded trace.jsonl --port 8080 &
    OPENAI_BASE_URL=http://127.0.0.1:8080/v1 pytest
    """
    from unspool.cli.telling import event, needed
    from unspool.cli.words import one_line, plural, say

    with needed():
        from unspool.jobs.serve_recorded import load, serve
        from unspool.recorder.callers import Callers
        from unspool.recorder.replay_server import Served

    recordings = load(traces)

    def ready(url: str) -> None:
        if as_json:
            event("listening", {"url": url, "calls": len(recordings)})
        elif not quiet:
            skipped = f" ({plural(recordings.skipped, 'line')} that are none)" if recordings.skipped else ""
            say(f"{plural(len(recordings), 'recorded call')}{skipped}, served at {url}")

    def seen(served: Served) -> None:
        found = served.recording
        if as_json:
            facts = {"method": served.method, "path": served.path, "status": served.status}
            event("request", {**facts, "recorded": found and {"id": found.id, "origin": str(found.origin)}})
        elif not quiet:
            missing = "refused" if served.status in (403, 421) else "not recorded"
            told = f"as {found.origin}" if found else click.style(missing, fg="red")
            say(f"{served.status}  {served.method:<4} {one_line(served.path)}  {told}")

    callers = Callers(origins=allow_origin, say=lambda text: say(f"unspool: {text}"))
    serve(recordings, port, ready, seen, timing, in_order, callers)
