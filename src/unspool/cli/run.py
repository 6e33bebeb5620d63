"""`unspool run`"""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pathlib import Path


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.option("-o", "--output", metavar="FILE", help="The trace to append to; by default a new one in our data folder.")
@click.option(
    "--agent",
    metavar="A",
    type=click.Choice(["aider", "claude", "codex", "gemini", "goose", "opencode", "pi", "qwen"]),
    help="Whose options COMMAND takes, if its name does not tell.",
)
@click.option("--target", metavar="URL", help="Forward everything there.")
@click.option("--upstream", "upstreams", metavar="NAME=URL", multiple=True, help="One more upstream, at /NAME/….")
@click.option("--compact", is_flag=True, help="One zstd stream: the file grows with what is new.")
@click.option("--redact-body", is_flag=True, help="Take keys, tokens and passwords out of bodies too.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing at the end.")
@click.option("--pretty", is_flag=True, help="Show what was recorded in the terminal, at the end.")
@click.option("--view", is_flag=True, help="Show what was recorded in the browser, at the end.")
@click.argument("command", metavar="[--] COMMAND…", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    command: tuple[str, ...],
    output: str | None,
    agent: str | None,
    target: str | None,
    upstreams: tuple[str, ...],
    compact: bool,
    redact_body: bool,
    quiet: bool,
    pretty: bool,
    view: bool,
) -> int:
    """Run an agent, or any program, and record what it says to its model.

    A recorder is started on a free port, and the command is pointed at it: by the variables that SDKs read, and what
    claude, codex, gemini, qwen, opencode, pi, aider and goose take beside these. It has the terminal to itself, and its
    exit status is ours. At the end we say what was recorded, and how to look at it.

    \b
    unspool run claude
    unspool run --pretty codex exec 'Which files are here?'
    unspool run -o trace.jsonl -- python ask.py
    """
    from pathlib import Path
    from time import time_ns

    from unspool.cli.telling import needed, summary, upstreams_of

    with needed():
        from unspool.jobs.record import Settings
        from unspool.jobs.run import run_recorded
        from unspool.recorder.pointing import agent_of

    if output == "-":
        raise click.UsageError("standard output is the command's: -o names a file")
    place = Path(output) if output else _place(agent or agent_of(command) or "command", compact)
    settings = Settings(place, target, upstreams_of(upstreams), compact=compact, redact_body=redact_body)
    began = time_ns() // 1_000_000
    ran = run_recorded(command, settings, lambda text: _tell(f"unspool: {text}"), agent)
    if ran.fault is not None:
        _tell(f"unspool: {ran.fault}")
    empty = not ran.counts.recorded and not place.stat().st_size
    if empty:
        place.unlink()
    if pretty and not empty:
        from unspool.cli.pretty import show_recorded

        show_recorded(str(place), began)
    if not quiet and ran.fault is None:
        if empty:
            _tell("unspool: no call was recorded: the command made none, or not through the recorder")
        else:
            _told(summary(ran.counts, str(place)), place)
    if view and not empty:
        from unspool.cli import unspool

        unspool.main(["view", str(place)], prog_name="unspool", standalone_mode=False)
    return ran.status


def _place(name: str, compact: bool) -> "Path":
    """A file of its own for each run, out of the way of what the agent works on."""
    from datetime import datetime

    from unspool.recorder.files import file_name
    from unspool.sources.home import data_folder

    now = datetime.now().astimezone()
    ending = ".jsonl.zst" if compact else ".jsonl"
    return data_folder() / "recordings" / f"{now:%Y-%m-%d}" / f"{file_name(name)}-{now:%H%M%S}{ending}"


def _tell(text: str) -> None:
    """Whether anybody can be told or not, the exit status is the command's."""
    from contextlib import suppress

    from unspool.cli.words import say

    with suppress(OSError):
        say(text)


def _told(lines: list[str], place: object) -> None:
    from shlex import quote

    for line in lines:
        _tell(f"unspool: {line}")
    file = quote(str(place))
    for way in (f"unspool pretty {file}", f"unspool view {file}", f"unspool cook {file} -o cooked.json"):
        _tell(click.style(f"  {way}", dim=True))
