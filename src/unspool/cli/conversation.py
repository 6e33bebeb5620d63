"""A conversation on a terminal: the answer on standard output as it comes, all else beside it."""

import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

import click

from unspool.cli.words import colour, human, say
from unspool.dialect import Piece
from unspool.model import Message, ToolResult, ToolUse, Turn
from unspool.sources.jsontext import Unreadable, dumps, loads
from unspool.threads.loop import Unattended, Verdict
from unspool.views.money import dollars
from unspool.views.pretty.look import more, short

if TYPE_CHECKING:
    from unspool.model import Usage

_SHOWN = 6
"""Lines of a result."""
_KEPT = {ord("\n"), ord("\t")}
_CONTROLS = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if code not in _KEPT}
"""What would steer a terminal: an answer may hold anything."""


class Conversation:
    """What the loop tells and asks. `as_json` prints each turn that is stored, and nothing as it comes."""

    def __init__(self, as_json: bool, approve_all: bool, thinking: bool) -> None:
        self._as_json, self._approve_all, self._thinking = as_json, approve_all, thinking
        self._always: set[str] = set()
        self._kind: str | None = None
        self._open = False
        """A line was begun, and not ended."""
        self.unwritten: str | None = None
        """Why standard output does not have all of it."""
        self._terminal = sys.stdout is not None and sys.stdout.isatty()
        self._dim = sys.stderr is not None and sys.stderr.isatty()

    def piece(self, piece: Piece) -> None:
        if self._as_json:
            return
        if piece.type is not None and piece.type != self._kind:
            self._begin(piece.type)
        if not piece.content:
            return
        if self._kind == "text":
            text = piece.content.translate(_CONTROLS) if self._terminal else piece.content
            self._write(text)
            self._open = not text.endswith("\n")
        elif self._kind == "thinking" and self._thinking and self._dim:
            click.echo(click.style(piece.content.translate(_CONTROLS), dim=True), nl=False, err=True, color=colour())
            self._open = not piece.content.endswith("\n")

    def _write(self, text: str) -> None:
        """To standard output. Whoever has seen enough, or a full disk, does not keep the answer from being stored."""
        try:
            click.echo(text, nl=False)
            if sys.stdout is not None:
                sys.stdout.flush()
        except OSError as error:
            if not isinstance(error, BrokenPipeError):
                self.unwritten = error.strerror
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _begin(self, kind: str) -> None:
        self._end_line()
        self._kind = kind

    def _end_line(self) -> None:
        if self._open and self._kind == "text":
            self._write("\n")
        elif self._open:
            click.echo(err=True)
        self._open = False

    def waiting(self, why: str, seconds: float) -> None:
        self._end_line()
        say(f"{why}; again in {seconds:.1f} s")

    def warn(self, text: str) -> None:
        self._end_line()
        say(f"unspool: {text}")

    def answered(self, turn: Turn, message: Message) -> None:
        self._end_line()
        self._kind = None
        if self._as_json:
            self._write(dumps(turn_record(turn, message)) + "\n")
            return
        say(click.style(account(turn), dim=True))

    def approve(self, call: ToolUse) -> Verdict:
        if self._approve_all or call.name in self._always:
            self._announce(call)
            return Verdict(True)
        asked = _keyboard()
        if asked is None:
            raise Unattended
        self._announce(call)
        with asked:
            return self._judge(call, asked)

    def _judge(self, call: ToolUse, asked: TextIO) -> Verdict:
        for _ in range(100):
            click.echo("  call it? [y]es, [n]o, [e]dit, [a]lways: ", nl=False, err=True)
            line = asked.readline()
            if not line:
                raise Unattended
            match line.strip().lower():
                case "y" | "yes":
                    return Verdict(True)
                case "a" | "always":
                    self._always.add(call.name)
                    return Verdict(True)
                case "n" | "no":
                    click.echo("  why not (the model is told; empty for no reason): ", nl=False, err=True)
                    return Verdict(False, asked.readline().strip())
                case "e" | "edit":
                    if (arguments := _edited(call.arguments or {}, asked)) is not None:
                        return Verdict(True, arguments=arguments)
        raise Unattended

    def _announce(self, call: ToolUse) -> None:
        self._end_line()
        say(f"{click.style('●', fg='cyan')} {click.style(_plain(call.name), bold=True)}")
        for line in _pretty(call.arguments).splitlines():
            say(f"  {line}")

    def given(self, call: ToolUse, result: ToolResult) -> None:
        if self._as_json:
            return
        mark = click.style("✗", fg="red") if result.is_error else click.style("✓", fg="green")
        lines = [line for block in result.content for line in told(block).splitlines()]
        say(f"{mark} {_plain(call.name)}")
        for line in lines[:_SHOWN]:
            say(click.style(f"  {short(line, 200)}", dim=True))
        if len(lines) > _SHOWN:
            say(click.style(f"  {more(len(lines) - _SHOWN)}", dim=True))

    def results(self, turn: Turn, message: Message) -> None:
        if self._as_json:
            self._write(dumps(turn_record(turn, message)) + "\n")


def turn_record(turn: Turn, message: Message) -> dict[str, Any]:
    """A turn for programs."""
    from unspool.wires.normalised import write_blocks, write_usage

    written: dict[str, Any] = {"id": turn.id, "role": turn.role, "content": write_blocks(message.blocks)}
    written |= {"continues": list(turn.continues), "head": turn.head}
    if (answer := turn.answer) is not None:
        written |= {
            "provider": answer.provider,
            "model": answer.model,
            "stop_reason": answer.stop.reason if answer.stop else None,
            "usage": write_usage(answer.usage) if answer.usage else None,
            "cost": answer.cost,
            "status": answer.status,
            "error": answer.error,
            "duration_ms": _duration(turn),
        }
    return written


def account(turn: Turn) -> str:
    """Which turn it is, who wrote it, what it took: one line."""
    answer = turn.answer
    if answer is None:
        return turn.id
    told = [f"{turn.id}{f' ({turn.head})' if turn.head else ''}", answer.model or "", tokens_of(answer.usage)]
    told.append("cost unknown" if answer.cost is None else dollars(answer.cost, 4))
    if (duration := _duration(turn)) is not None:
        told.append(f"{duration / 1000:.1f} s")
    if answer.stop is not None and answer.stop.reason not in ("end_turn", "tool_use"):
        told.append(f"stopped: {answer.stop.reason}")
    return " · ".join(filter(None, told))


def tokens_of(usage: "Usage | None") -> str:
    if usage is None:
        return "tokens unknown"
    counts = (
        ("in", usage.input),
        ("cached", usage.cache_read),
        ("written", usage.cache_write),
        ("out", usage.output),
    )
    return ", ".join(f"{human(number)} {what}" for what, number in counts if number or what in ("in", "out"))


def _duration(turn: Turn) -> int | None:
    answer = turn.answer
    if answer is None or answer.started is None or answer.ended is None:
        return None
    return answer.ended - answer.started


def _pretty(arguments: Any) -> str:
    import msgspec

    return _plain(msgspec.json.format(msgspec.json.encode(arguments), indent=2).decode())


def _plain(text: str) -> str:
    return text.translate(_CONTROLS)


def told(block: Any) -> str:
    """A block for people."""
    from unspool.wires.calls import in_words

    return _plain(in_words(block))


def _edited(arguments: dict[str, Any], asked: TextIO) -> dict[str, Any] | None:
    """The arguments as a person changes them: in the editor, or in one line where there is none."""
    if os.environ.get("VISUAL") or os.environ.get("EDITOR"):
        written = click.edit(_pretty(arguments), extension=".json")
        if written is None:
            return None
    else:
        click.echo("  the arguments as JSON, in one line: ", nl=False, err=True)
        written = asked.readline()
    try:
        value = loads(written)
    except Unreadable as error:
        say(f"  no JSON: {error}")
        return None
    if not isinstance(value, dict):
        say("  no JSON object")
        return None
    return value


def _keyboard() -> TextIO | None:
    """Where a person types, though standard input may hold the prompt; None where there is nobody."""
    if sys.stdin is not None and sys.stdin.isatty():
        return open(os.dup(sys.stdin.fileno()), encoding="utf-8")
    if sys.stderr is None or not sys.stderr.isatty():
        return None
    try:
        return open("/dev/tty", encoding="utf-8")
    except OSError:
        return None
