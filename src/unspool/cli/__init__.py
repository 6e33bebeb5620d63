"""The command line: one module a command, imported when it is called."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TextIO

import click

from unspool import __version__
from unspool.errors import UnspoolError

# Name → what `unspool --help` says of it; the module of the same name has the command.
COMMANDS = {
    "record": "Record API traffic: a proxy that changes nothing, one line a call.",
    "run": "Run an agent, and record what it says to its model.",
    "serve-recorded": "Answer as the recorded API did, without a network.",
    "cook": "Turn recorded API traffic or agents' logs into a deduplicated graph of their conversations.",
    "squash": "Turn session logs into training data: one conversation a line.",
    "pretty": "Watch an agent's run live: in the terminal, in a CI log, in Slack.",
    "sources": "Where each agent keeps its logs on this machine, and what there is.",
    "sessions": "List the sessions of coding agents, newest first.",
    "show": "One session as a readable transcript.",
    "view": "See conversations in the browser.",
    "export": "Conversations as pages or Markdown, to be shared.",
    "grep": "Search the events of agents' logs.",
    "tools": "Which tools agents called, with which arguments.",
    "ask": "Ask a model: in a new thread, or from any turn of one.",
    "thread": "Conversations of your own: list, show, fork, remove them, or take them from logs and traffic.",
    "context": "What a model is given: a thread's messages and options, as JSON.",
    "document": "Store files as turns of a thread.",
    "replay": "Send recorded calls again, and compare the answers.",
    "provider": "Who answers: providers, pointers to their models, keys.",
    "servers": "MCP servers, whose tools models may call.",
    "request": "The body of a request to any provider, without sending it.",
    "response": "A provider's stream of events as one answer.",
    "store": "Check the store that threads are kept in; write it to a folder, read it from one.",
}


class ClosedPipe(Exception):
    """Whoever read our output has seen enough."""


@contextmanager
def _closed_pipes() -> Iterator[None]:
    """click would make them exit status 1."""
    try:
        yield
    except BrokenPipeError as error:
        raise ClosedPipe from error


class Lazy(click.Group):
    """Lists the commands without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"unspool.cli.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches  # not at every start

            if meant := get_close_matches(name, COMMANDS, n=1):
                ctx.fail(f"No such command '{name}'. Did you mean '{meant[0]}'?")
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with _closed_pipes():  # this command's own help is shown here
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with _closed_pipes():
            return super().invoke(ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="unspool %(version)s")
@click.pass_context
def unspool(ctx: click.Context) -> None:
    """The conversations of LLM programs and coding agents: recorded, read, cooked into one graph.

    \b
    unspool sessions       what the agents on this machine have done
    unspool show latest    the newest session, as a transcript
    unspool view           all of them in the browser
    unspool run claude     record what an agent says to its model
    """
    ctx.obj = __version__  # for commands that write it down


def run() -> None:
    """Run the command with the exit statuses that the documentation promises."""
    try:
        status = unspool.main(prog_name="unspool", standalone_mode=False)
    except UnspoolError as error:
        _say(f"unspool: {error}")
        status = error.exit_status
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        _say("unspool: interrupted")
        status = 128 + signal.SIGINT
    except OSError as error:  # help that could not be shown, a file that nobody looked for before
        _say(f"unspool: {'' if error.filename is None else f'{error.filename}: '}{error.strerror}")
        status = 2
    except ClosedPipe:
        _close(sys.stdout)
        status = 0
    if not _close(sys.stdout):
        status = status or 2
    _close(sys.stderr)
    os._exit(status or 0)  # all is written, and the system frees memory faster than Python does object by object


def _say(text: str) -> None:
    click.echo(text, err=True)


def _close(stream: TextIO | None) -> bool:
    """Whether all that was said went out. What did not is dropped: Python would complain once more at its end."""
    if stream is None:
        return True
    try:
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    return True
