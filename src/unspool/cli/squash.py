"""`unspool squash`"""

from typing import TYPE_CHECKING, Any

import click

from unspool.cli.options import AGENT, JOBS, MAX_RECORD

if TYPE_CHECKING:
    from unspool.jobs.squash import Squashed

FORMATS = ("messages", "openai", "hf", "axolotl", "sharegpt", "hermes", "swe-xml", "atif", "sts", "parquet")
"""Written down here, so that `--help` need not load them."""
_SCALE = ("engine", "address", "shards", "shard", "plan", "merge", "resume", "keep_parts")
_WITH_MERGE = {"merge", "logs", "output", "rejects", "keep_parts", "quiet"}


@click.command("squash", short_help="Session logs → training data.")
@click.argument("logs", metavar="[LOGS…]", nargs=-1)
@click.option("-o", "--output", metavar="OUT", help="The folder or URL to write to; made if it is not there.")
@click.option(
    "--strategy",
    type=click.Choice(("snapshot", "tree")),
    default="snapshot",
    show_default=True,
    help="One record from the fullest request of a session, or one for each branch of its conversations.",
)
@click.option("--to", type=click.Choice(FORMATS), default="messages", show_default=True, help="The format of records.")
@click.option("-s", "--single-file", is_flag=True, help="All records in one file, conversations.jsonl.")
@click.option(
    "--group-by", type=click.Choice(("date", "scenario")), help="One file a date (default), or one a scenario."
)
@click.option(
    "-j",
    "--json-tool-calls",
    "inline",
    is_flag=True,
    help="Calls and results as <tool_call> and <tool_result> in the text.",
)
@click.option(
    "--json-columns",
    type=click.Choice(("json", "string")),
    default="json",
    show_default=True,
    help="Of parquet: typed as JSON, or as text for readers that do not know that type (`datasets` before 4.8).",
)
@click.option("--completions", is_flag=True, help="Of hf: a row of prompt and completion for each message to train on.")
@click.option("--clean-up", type=click.Choice(("goose",)), help="Take this agent's noise out of every entry.")
@click.option("--anonymize/--no-anonymize", help="Replace the names in e-mail addresses, the same on each run.")
@click.option("--redact/--no-redact", default=True, help="Replace keys, tokens and passwords (default).")
@click.option(
    "--tools-from",
    type=click.Choice(("all", "last")),
    default="all",
    show_default=True,
    help="Tools of all kept entries, the first definition of each name; or of the last entry alone.",
)
@click.option(
    "--filter",
    "filters",
    metavar="F",
    multiple=True,
    help="Only records that are so: ends-on-answer, calls-answered, arguments-fit, no-length-stop, no-loops, "
    "no-duplicates, 'errors<=0.3', 'turns>=2', 'steps>=2', 'loops<3', 'tokens<=8000', 'near-duplicates<0.9'.",
)
@click.option("--tokenizer", metavar="FILE", help="A tokenizer.json: counts tokens where usage was not recorded.")
@click.option(
    "--pairs", is_flag=True, help="Preference pairs from retries, in place of records; needs --strategy tree."
)
@click.option("--rejects", metavar="FILE", help="Write lines and sessions that gave no record there, as JSON lines.")
@click.option("--strict", is_flag=True, help="Write nothing, and exit with 1, if any line or session is at fault.")
@AGENT
@JOBS
@click.option(
    "--engine", type=click.Choice(("local", "ray")), default="local", help="Processes here, or a Ray cluster."
)
@click.option("--address", metavar="A", help="Of the Ray cluster; else $RAY_ADDRESS, else Ray is started here.")
@click.option("--resume", is_flag=True, help="Go on where a run with shards ended: only what is missing or changed.")
@click.option("--shards", metavar="N", type=click.IntRange(1, 99_999), help="Cut the input into so many shards.")
@click.option("--shard", metavar="I/N", help="Squash only shard I of N, for --merge to join: what a scheduler runs.")
@click.option("--plan", is_flag=True, help="Only cut the input into --shards N: shards need not list all of it then.")
@click.option("--merge", is_flag=True, help="Join the shards in OUT.")
@click.option("--keep-parts", is_flag=True, help="Keep what shards wrote in OUT/parts, for a later --resume.")
@click.option("-q", "--quiet", is_flag=True, help="No summary on standard error.")
@MAX_RECORD
@click.pass_context
def command(context: click.Context, /, logs: tuple[str, ...], output: str | None, quiet: bool, **options: Any) -> None:
    """Turn session logs into training data: one record for each conversation.

    LOGS are files, folders or URLs of such (s3://…): session files (JSON lines, each a request with its whole history,
    and the response), other recorded API traffic, agents' logs; or sessions by id. Without LOGS, all that --agent has
    kept here.
    OUT gets the records and four reports: tool-usage.csv, integrity-report.json and .txt, summary.json.

    \b
    unspool squash proxy_logs/ -o training/
    unspool squash proxy_logs/ -o training/ --group-by scenario --json-tool-calls
    unspool squash proxy_logs/ -o training/ --shard 3/16     # on one of several machines, and then:
    unspool squash --merge training/
    """
    import gc
    import signal
    import sys

    # Schedulers send it: nothing half-written stays in OUT.
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))
    if options["merge"]:
        _refuse_beside_merge(context)
        logs, output = _only_out(logs, output)
    if output is None:
        raise click.UsageError("name the folder to write to with -o")
    if not options["merge"]:
        _refuse(logs, options)
    gc.disable()  # nothing here is cyclic
    scale = {name: options.pop(name) for name in _SCALE}
    rejects, agent, jobs = options.pop("rejects"), options.pop("agent"), options.pop("jobs")
    if any(scale[name] for name in _SCALE if name != "engine") or scale["engine"] != "local":
        from unspool.cli import sharding

        squashed = sharding.run(logs, output, options, rejects, agent, jobs, quiet, **scale)
    else:
        squashed = _squash(logs, output, options, rejects, agent, jobs, quiet)
    if not quiet and squashed is not None:
        _say(squashed, output)


def _squash(
    logs: tuple[str, ...],
    output: str,
    options: dict[str, Any],
    rejects: str | None,
    agent: str | None,
    jobs: int | None,
    quiet: bool,
) -> "Squashed":
    from unspool.cli.progress import Progress
    from unspool.jobs.squash import squash_tasks, tasks
    from unspool.jobs.squash.settings import Settings
    from unspool.sources.copies import copies

    with copies():
        todo = tasks(logs, output, options["strategy"], agent)
        with Progress([task.path for task in todo], shown=not quiet) as progress:
            return squash_tasks(todo, output, Settings(**options), rejects, jobs, progress.passed)


def _only_out(logs: tuple[str, ...], output: str | None) -> tuple[tuple[str, ...], str]:
    """`--merge OUT`, or `--merge -o OUT`."""
    named = [*logs, *([output] if output else [])]
    if len(named) != 1:
        raise click.UsageError("--merge takes one folder, the OUT of its shards")
    return (), named[0]


def _refuse_beside_merge(context: click.Context) -> None:
    """What shards were made with is known from them."""
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in _WITH_MERGE and source not in (None, click.core.ParameterSource.DEFAULT):
            raise click.UsageError(
                f"--merge does not go with --{name.replace('_', '-')}: shards know how they were made"
            )


def _refuse(logs: tuple[str, ...], options: dict[str, Any]) -> None:
    """What does not go together. Sets how records are grouped, where nobody said."""
    if not logs and options["agent"] is None:
        raise click.UsageError("name LOGS, or an agent with --agent")
    if options["single_file"] and options["group_by"]:
        raise click.UsageError("--single-file and --group-by cannot go together")
    if options["pairs"] and (options["strategy"] != "tree" or options["to"] != "messages" or options["filters"]):
        raise click.UsageError("--pairs goes with --strategy tree, and with no other format or filter")
    if options["inline"] and options["to"] != "messages":
        raise click.UsageError("--json-tool-calls is for the format `messages`")
    if options["completions"] and options["to"] != "hf":
        raise click.UsageError("--completions is for the format `hf`")
    if options["json_columns"] != "json" and options["to"] != "parquet":
        raise click.UsageError("--json-columns is for the format `parquet`")
    if options["tokenizer"] and not any(text.strip().startswith("tokens") for text in options["filters"]):
        raise click.UsageError("--tokenizer is for the filter `tokens`")
    if options["address"] and options["engine"] != "ray":
        raise click.UsageError("--address is for --engine ray")
    options["group_by"] = options["group_by"] or "date"


def _say(squashed: "Squashed", output: str) -> None:
    from unspool.cli.words import plural, say
    from unspool.views.harmless import safe

    say(f"{plural(squashed.inputs, 'session file')}: {plural(squashed.records, 'record')} in {safe(output)}")
    for name, number in list(squashed.files.items())[:12]:
        say(f"  {number:>7,}  {safe(name)}")
    if len(squashed.files) > 12:
        say(f"  … and {plural(len(squashed.files) - 12, 'more file')}")
    for what, number in squashed.counts.items():
        if what not in ("sessions kept", "entries kept", "entries read"):
            say(f"{click.style(f'{number:>9,}', fg='yellow')}  {what}")
    where = ": see integrity-report.txt there" if squashed.errors or squashed.warnings else ""
    say(f"integrity: {plural(squashed.errors, 'error')}, {plural(squashed.warnings, 'warning')}{where}")
