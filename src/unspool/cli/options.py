"""Options that several commands share."""

from typing import TYPE_CHECKING

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
else:
    _Choice = click.Choice  # older versions have no types


class _Agent(_Choice):
    """A name, with hyphens or underscores, or its beginning if only one agent's begins so."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = value.replace("-", "_").lower()
        matches = [agent for agent in AGENTS if agent == name] or [agent for agent in AGENTS if agent.startswith(name)]
        return matches[0] if len(matches) == 1 else super().convert(value, param, ctx)


AGENT = click.option("--agent", metavar="A", type=_Agent(AGENTS), help=f"Only this agent: {', '.join(AGENTS)}.")
JSON = click.option("--json", "as_json", is_flag=True, help="JSON lines, for programs.")
JOBS = click.option(
    "--jobs", metavar="N", type=click.IntRange(min=1), help="Processes to use; by default what pays for this much data."
)
