"""`unspool ask`"""

import os
import signal
import stat
import sys
from typing import TYPE_CHECKING, Any

import click

from unspool.cli.options import Seconds, as_text
from unspool.cli.thread import MOVE

if TYPE_CHECKING:
    from unspool.threads.loop import Outcome


@click.command("ask")
@click.argument("prompt", metavar="[PROMPT]", type=as_text, required=False)
@click.option(
    "-c",
    "--continues",
    metavar="HEADISH",
    type=as_text,
    multiple=True,
    help="The turn or bookmark to go on from; several are joined.",
)
@click.option(
    "-p",
    "--provider",
    "pointer",
    metavar="PTR|PROVIDER/MODEL",
    type=as_text,
    help="Whom to ask; else as in the thread.",
)
@click.option("-b", "--bookmark", metavar="NAME", type=as_text, help="Bookmark the thread; the bookmark follows it.")
@MOVE
@click.option("-a", "--attach", "files", metavar="FILE", multiple=True, help="A file to send with the prompt.")
@click.option("-s", "--system", metavar="TEXT", type=as_text, help="A system prompt.")
@click.option("--servers", metavar="A,B", type=as_text, help="MCP servers whose tools may be called; '' for none.")
@click.option("--search/--no-search", default=None, help="The provider's own search.")
@click.option("--tool-mode", metavar="M", type=as_text, help="auto, none, required, or the name of a tool.")
@click.option("--no-tools", is_flag=True, help="Without the tools that came with a recorded call, from here on.")
@click.option("--cache", is_flag=True, help="Ask the provider to keep everything up to this prompt at hand.")
@click.option("--resume", is_flag=True, help="Go on where a thread was cut off: with its calls, or with its answer.")
@click.option("-y", "--yes", is_flag=True, help="Allow every call of a tool.")
@click.option("--lenient", is_flag=True, help="Say in words what the provider does not take, with a warning.")
@click.option("--max-tokens", metavar="N", type=click.IntRange(min=1), help="How long an answer may be.")
@click.option(
    "--rounds", metavar="N", type=click.IntRange(min=1), default=100, help="Calls to the model, at most: 100."
)
@click.option("--timeout", metavar="S", type=Seconds(), default=600.0, help="Seconds to wait while nothing comes: 600.")
@click.option("--no-thinking", is_flag=True, help="Do not show the model's thinking.")
@click.option("--json", "as_json", is_flag=True, help="Each answer, and the results of its calls, as JSON lines.")
def command(
    prompt: str | None,
    continues: tuple[str, ...],
    pointer: str | None,
    bookmark: str | None,
    move: bool,
    files: tuple[str, ...],
    system: str | None,
    servers: str | None,
    search: bool | None,
    tool_mode: str | None,
    no_tools: bool,
    cache: bool,
    resume: bool,
    yes: bool,
    lenient: bool,
    max_tokens: int | None,
    rounds: int,
    timeout: float,
    no_thinking: bool,
    as_json: bool,
) -> None:
    """Ask a model, in a new thread or from any turn of one. The answer goes to standard output as it comes.

    Without PROMPT, or with -, it is read from standard input. Prompt, answer, calls of tools and their results are
    stored as turns. What is set with -p, --servers, --search and --tool-mode holds for the thread from there on. Exit
    status 3 if the answer broke off or calls wait for somebody to allow them: `--resume` goes on from there.

    \b
    unspool ask -p anthropic/claude-sonnet-4-5 -b trip "Oslo or Rome?"
    unspool ask -c trip -p gemini/gemini-2.5-pro "And by train?"
    git diff | unspool ask -s "Review this."
    """
    from unspool.cli.conversation import Conversation
    from unspool.jobs.ask import Wish, ask

    if resume and (prompt or files or system or bookmark or cache):
        raise click.UsageError(
            "--resume takes no prompt, and nothing that goes with one: what was cut off is asked again"
        )
    wish = Wish(
        prompt=None if resume else _prompt(prompt, files),
        continues=continues,
        bookmark=bookmark,
        move=move,
        system=system,
        files=files,
        options=_options(pointer, servers, search, tool_mode, no_tools),
        cache=cache,
        resume=resume,
        lenient=lenient,
        max_tokens=max_tokens,
        rounds=rounds,
        patience=timeout,
    )
    conversation = Conversation(as_json, yes, not no_thinking)
    outcome = ask(wish, conversation)
    _tell_unread(prompt, files)
    _end(outcome, conversation.unwritten)


def _prompt(given: str | None, files: tuple[str, ...]) -> str | None:
    """As it was given; else what standard input holds, unless that is attached, or is a keyboard."""
    from unspool.sources.files import stdin_text

    if given not in (None, "-"):
        return given
    if "-" in files:
        return None
    if given is None and sys.stdin is not None and sys.stdin.isatty():
        if files:
            return None
        raise click.UsageError("what is to be asked? Give a PROMPT, or write it to standard input")
    return stdin_text()


def _tell_unread(prompt: str | None, files: tuple[str, ...]) -> None:
    """That something was piped in beside a prompt. It is not read: it may be meant for somebody else."""
    if prompt in (None, "-") or "-" in files or sys.stdin is None or os.name != "posix":
        return
    import fcntl
    import termios

    from unspool.cli.words import say

    if stat.S_ISFIFO(os.fstat(0).st_mode) and any(fcntl.ioctl(0, termios.FIONREAD, bytes(4))):
        say("what was piped in was not sent: `-a -` sends it before the prompt")


def _options(
    pointer: str | None, servers: str | None, search: bool | None, tool_mode: str | None, no_tools: bool
) -> dict[str, Any]:
    """What holds from here on. What is switched off is taken away."""
    options: dict[str, Any] = {}
    if pointer is not None:
        options["provider_ptr"] = pointer
    if servers is not None:
        options["servers"] = [name.strip() for name in servers.split(",") if name.strip()]
    if search is not None:
        options["search"] = search or None
    if tool_mode is not None:
        options["tool_mode"] = tool_mode or None
    if no_tools:
        options["tools"] = None
    return options


def _end(outcome: "Outcome", unwritten: str | None) -> None:
    """Say why it is not over, how to go on, and with which status."""
    from unspool.cli.words import say

    here = outcome.turn.id
    if unwritten is not None:
        say(f"unspool: standard output: {unwritten}; what was said is in `unspool thread show {here}`")
    if outcome.halted is not None:
        say(f"unspool: {_why(outcome, here)}")
        click.get_current_context().exit(128 + signal.SIGINT if outcome.halted == "person" else 3)
    if unwritten is not None:
        click.get_current_context().exit(2)


def _why(outcome: "Outcome", here: str) -> str:
    again = f"`unspool ask --resume -c {here}`"
    match outcome.halted:
        case "person":
            return f"interrupted; {again} goes on"
        case "refused":
            return f"{outcome.error}; {again} asks again"
        case "unattended":
            return f"calls wait to be allowed: {again}, with --yes or at a terminal"
        case "unserved":
            give = f"give its result with `unspool thread add --turns - -c {here}`"
            without = f"go on without it: `unspool ask -c {here} PROMPT`"
            return f"{outcome.error} was called, and nobody here carries it out: {give}, or {without}"
        case "too long":
            return f"stopped after as many calls to the model as --rounds allows; {again} goes on"
    return f"the answer broke off{f': {outcome.error}' if outcome.error else ''}; {again} asks again"
