"""The styles by name, and what they have in common."""

from collections.abc import Iterator
from typing import Literal, Protocol, TypeAlias

from unspool.views.pretty.look import Look
from unspool.views.pretty.moments import Moment

Name: TypeAlias = Literal["box", "line", "markdown", "json"]


class Style(Protocol):
    def show(self, moment: Moment) -> Iterator[str]:
        """The lines to print for the moment, without their ends."""

    def close(self) -> Iterator[str]:
        """Those that end it all."""


def style_of(name: Name, look: Look) -> Style:
    match name:
        case "box":
            from unspool.views.pretty.boxes import Boxes

            return Boxes(look)
        case "line":
            from unspool.views.pretty.lines import Lines

            return Lines(look)
        case "markdown":
            from unspool.views.pretty.summary import Summary

            return Summary(look)
        case "json":
            from unspool.views.pretty.records import Records

            return Records()
