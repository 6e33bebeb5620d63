"""`unspool pretty`"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from unspool.cli.options import MAX_RECORD, SPAN

if TYPE_CHECKING:
    from unspool.jobs.pretty.output import Tee
    from unspool.jobs.pretty.watch import Listener, Watched
    from unspool.views.pretty.look import Look

STYLES = ("box", "line", "markdown", "json")
FORMATS = ("amp", "claude", "codex", "cursor", "droid", "gemini", "goose", "opencode", "pi", "qwen")
"""Written down here, so that `--help` need not load their readers."""
_PREFIX = "CCPRETTY_"
_COMMAND = "unspool.pretty.command"


class _BeforeCommand(click.Command):
    """What stands behind `--` is a command to run, options and all."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            args, ctx.meta[_COMMAND] = args[:at], tuple(args[at + 1 :])
        return super().parse_args(ctx, args)


@click.command("pretty", cls=_BeforeCommand)
@click.argument("file", default="-", metavar="[FILE] [-- COMMAND…]")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Whose stream it is; by default its first lines tell."
)
@click.option("--style", type=click.Choice(STYLES), default="box", help="How it looks; box is the default.")
@click.option("--queue", is_flag=True, help="A tool's call and result in one box, with status and duration.")
@click.option(
    "--orphan-after", type=SPAN, default="30s", help="When a call without a result is ORPHANED (30s; 0: never)."
)
@click.option("--one-tool-at-a-time", is_flag=True, help="A new call interrupts the one that is open.")
@click.option("--thinking", is_flag=True, help="All of the thinking, not a line of it.")
@click.option("--full", is_flag=True, help="Cut nothing: whole outputs, diffs, thinking, and what the model was shown.")
@click.option(
    "--width", metavar="N", type=click.IntRange(min=24), help="Columns; by default the terminal's, up to 120."
)
@click.option("--color", type=click.Choice(("auto", "always", "never")), default="auto", help="auto: on a terminal.")
@click.option("--follow", is_flag=True, help="Go on with what is added to FILE, as `tail -f` does.")
@click.option(
    "--speed",
    metavar="X",
    type=click.FloatRange(min=0),
    default=0.0,
    help="Replay FILE in its own time (1), faster or slower; 0, at once, is the default.",
)
@click.option("--tee", metavar="FILE", help="Keep the raw stream in this file.")
@click.option("--exit-code", is_flag=True, help="The run's own: 0 success, 1 failed, 3 ended without a result.")
@click.option(
    "--env-file",
    metavar="FILE",
    is_flag=False,
    flag_value=".env",
    help="Read CCPRETTY_ variables from it too; without a name from .env.",
)
@click.option("--resume-slack-thread", is_flag=True, help="Go on in the thread that was begun last.")
@click.option("--slack-deadline", type=SPAN, default="15s", help="How long Slack is waited for at the end (15s).")
@click.option("--slack-dry-run", is_flag=True, help="Print the calls to Slack, and make none.")
@MAX_RECORD
@click.pass_context
def command(context: click.Context, /, file: str, style: Any, exit_code: bool, **options: Any) -> None:
    """Watch an agent's run, live: what it says, the tools it uses and what came of them, what it cost.

    Reads the stream that the agent prints (standard input, a log, or the output of COMMAND) and shows each thing that
    happens as soon as it does. Claude Code, Codex, Gemini CLI, OpenCode, Cursor, Goose, Pi, Qwen Code, Amp and Droid
    are told apart by their first lines; lines that are no JSON pass through. Recorded calls are shown as the run that
    made them.

    \b
    claude -p "Mend the tests" --output-format stream-json --verbose | unspool pretty
    unspool pretty --queue --exit-code -- codex exec --json "Mend the tests"
    unspool pretty run.jsonl --speed 1

    CCPRETTY_TITLE, CCPRETTY_DESCRIPTION and CCPRETTY_URL name the run; with CCPRETTY_SLACK_TOKEN and
    CCPRETTY_SLACK_CHANNEL it is told in Slack too (needs unspool[slack]).
    """
    import gc

    from unspool.cli.words import say
    from unspool.jobs.pretty.output import Output
    from unspool.jobs.pretty.watch import Wanted, watch
    from unspool.views.pretty.styles import style_of

    command: tuple[str, ...] | None = context.meta.get(_COMMAND)
    _check(context, file, command, options)
    gc.freeze()
    environment = _environment(options["env_file"])
    wanted = Wanted(
        file,
        command or (),
        options["form"],
        options["follow"],
        options["speed"],
        options["orphan_after"],
        options["one_tool_at_a_time"],
        until_result=exit_code,
    )
    tee = _tee(options["tee"], None if command else file)
    if not command and file == "-" and sys.stdin.isatty():
        say("reading from the terminal; a stream is piped in, named as FILE, or made by a command behind --")
    seen = watch(wanted, style_of(style, _look(environment, options)), Output(1), tee, _listeners(environment, options))
    _report(seen)
    status = seen.status or (seen.outcome if exit_code else 0)
    context.exit(status or (2 if tee is not None and tee.failed else 0))


def _check(context: click.Context, file: str, command: tuple[str, ...] | None, options: Mapping[str, Any]) -> None:
    from unspool.errors import InputNotFound, OutputNotWritable

    if command == ():
        raise click.UsageError("no command behind --", context)
    if command is not None and file != "-":
        raise click.UsageError(f"either a FILE ({file}) or a command ({command[0]}), not both", context)
    if options["follow"] and file == "-":
        raise click.UsageError("--follow needs a FILE", context)
    if options["speed"] and (file == "-" or options["follow"]):
        raise click.UsageError("--speed is for a FILE that is replayed", context)
    if sys.stdout is None:
        raise OutputNotWritable("standard output is closed")
    if sys.stdin is None and file == "-" and command is None:
        raise InputNotFound("standard input is closed")


def _environment(file: str | None) -> dict[str, str]:
    """Only what is meant for us. The environment itself goes before a file."""
    found = {}
    if file is not None:
        from unspool.cli.dotenv import variables_in

        found = {name: value for name, value in variables_in(file).items() if name.startswith(_PREFIX)}
    return found | {name: value for name, value in os.environ.items() if name.startswith(_PREFIX)}


def show_recorded(path: str, since: int) -> None:
    """The calls of a trace that began since then, on standard error: the output is that of the program that made them.

    Whoever closed it, or stops us, has seen enough.
    """
    from unspool.jobs.pretty.output import Output
    from unspool.jobs.pretty.watch import Wanted, watch
    from unspool.views.pretty.styles import style_of

    if sys.stderr is None:
        return
    options = {"width": None, "color": "auto", "full": False, "thinking": False, "queue": True}
    look = _look({}, options, descriptor=2)
    with suppress(OSError):
        _report(watch(Wanted(path, since=since), style_of("box", look), Output(2), None, []))


def _look(environment: Mapping[str, str], options: Mapping[str, Any], descriptor: int = 1) -> "Look":
    from unspool.views.pretty.look import NARROWEST, WIDEST, WIDTH, Look

    terminal = os.isatty(descriptor)
    width = options["width"]
    if width is None:
        columns = _columns(descriptor) if terminal or os.environ.get("COLUMNS") else None
        width = WIDTH if columns is None else max(NARROWEST, min(columns, WIDEST))
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    color = {"always": True, "never": False}.get(options["color"], terminal and not plain)
    pinned = terminal and os.environ.get("TERM") != "dumb"
    return Look(width, color, pinned, options["full"], options["thinking"], options["queue"], _banner(environment))


def _columns(descriptor: int) -> int | None:
    """Those of the terminal, or as COLUMNS has it; None if neither says anything sensible."""
    given = os.environ.get("COLUMNS", "")
    try:
        return int(given) if given.isdecimal() and int(given) else os.get_terminal_size(descriptor).columns or None
    except OSError:
        return None


def _banner(environment: Mapping[str, str]) -> Any:
    from unspool.views.pretty.banner import Banner

    return Banner(*(environment.get(f"{_PREFIX}{name}") or None for name in ("TITLE", "DESCRIPTION", "URL")))


def _tee(path: str | None, source: str | None) -> "Tee | None":
    from unspool.cli.words import say
    from unspool.errors import OutputNotWritable
    from unspool.ingest.outputs import output_for
    from unspool.jobs.pretty.output import Tee

    if path is None:
        return None
    output_for(path, [source] if source is not None else []).release()
    try:
        return Tee(open(path, "wb"), say)  # open until the end
    except OSError as error:
        raise OutputNotWritable(f"{path}: {error.strerror}") from error


def _listeners(environment: Mapping[str, str], options: Mapping[str, Any]) -> "list[Listener]":
    """Slack, where it is set up or asked for."""
    asked = options["slack_dry_run"] or options["resume_slack_thread"]
    if not asked and not any(name.startswith(f"{_PREFIX}SLACK_") for name in environment):
        return []
    from unspool.cli.words import say
    from unspool.jobs.slack.listener import Wishes, listener

    wishes = Wishes(options["resume_slack_thread"], options["slack_deadline"], options["slack_dry_run"])
    slack = listener(environment, _banner(environment), wishes, say)
    return [] if slack is None else [slack]


def _report(seen: "Watched") -> None:
    """What was not understood, beside the data."""
    from unspool.cli.words import plural, say

    for what, counts in (("not known and passed over", seen.run.unknown), ("not understood", seen.run.faults)):
        if counts:
            told = ", ".join(f"{reason} ({number:,})" for reason, number in counts.most_common(5))
            more = f" and {plural(len(counts) - 5, 'more kind', 'more kinds')}" if len(counts) > 5 else ""
            say(f"{plural(counts.total(), 'record')} {what}: {told}{more}")
