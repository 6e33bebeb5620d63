"""Options that several commands share."""

import math
from typing import TYPE_CHECKING, Any

import click

AGENTS = (
    "aider",
    "amp",
    "claude_code",
    "cline",
    "codex",
    "continue",
    "copilot_cli",
    "crush",
    "cursor",
    "droid",
    "gemini_cli",
    "goose",
    "iflow",
    "openclaw",
    "opencode",
    "pi",
    "qwen_code",
    "roo",
    "zed",
)
"""The agents whose logs we read: written down here, so that `--help` need not load their readers."""


if TYPE_CHECKING:
    _Choice = click.Choice[str]
    _Type = click.ParamType[float]
else:
    _Choice, _Type = click.Choice, click.ParamType  # older versions have no types


class _Agent(_Choice):
    """A name, with hyphens or underscores, or its beginning if only one agent's begins so."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = value.replace("-", "_").lower()
        matches = [agent for agent in AGENTS if agent == name] or [agent for agent in AGENTS if agent.startswith(name)]
        if name and len(matches) > 1:
            self.fail(f"{value!r} is the beginning of {', '.join(matches)}", param, ctx)
        return matches[0] if matches and name else super().convert(value, param, ctx)


AGENT = click.option("--agent", metavar="A", type=_Agent(AGENTS), help=f"Only this agent: {', '.join(AGENTS)}.")
COST = click.option("--cost", "costs", is_flag=True, help="Show the cost in US dollars, by list prices.")
JSON = click.option("--json", "as_json", is_flag=True, help="JSON lines, for programs.")
JOBS = click.option(
    "--jobs", metavar="N", type=click.IntRange(min=1), help="Processes to use; by default what pays for this much data."
)


def _set_max_record(_context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Set the variable that readers use, in this process and in those that it starts."""
    if value is None:
        return
    import os

    from unspool.sources.limits import VARIABLE, size_of

    try:
        size_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error), param=option) from error
    os.environ[VARIABLE] = value


MAX_RECORD = click.option(
    "--max-record",
    metavar="SIZE",
    expose_value=False,
    is_eager=True,
    callback=_set_max_record,
    help="Skip records larger than SIZE after decompression: lines, documents, rows of a database.  "
    "[default: $UNSPOOL_MAX_RECORD or 512MB]",
)


def as_text(value: str) -> str:
    """What is stored or sent. Bytes that are no text in this locale come from Python as halves of characters."""
    if value.isascii():
        return value
    from unspool.sources.files import legible

    return legible(value)


class _Span(_Type):
    """Seconds: `30`, `30s`, `500ms`, `2m`, `1h`."""

    name = "span"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        import re

        if isinstance(value, int | float):
            return float(value)
        found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?", str(value).strip())
        if found is None:
            self.fail(f"{value!r} is no span of time like 30s, 500ms or 2m", param, ctx)
        return float(found[1]) * {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}[found[2] or "s"]


SPAN = _Span()


class Seconds(click.FloatRange):
    """A time to wait: no time at all, or none that ends, is a slip of the finger."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True, max=7 * 24 * 3600)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return seconds
