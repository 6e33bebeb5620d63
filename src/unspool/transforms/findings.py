"""What a check found in a record."""

from typing import Literal, TypeAlias

from msgspec import Struct

Severity: TypeAlias = Literal["ERROR", "WARNING", "INFO"]
"""Errors and warnings are faults of the data. INFO marks an ordinary fact that a trainer may want to know."""


class Finding(Struct, frozen=True, gc=False):
    """One fault, or a fact with the number of times that it holds.

    The message of a fact names neither tools nor places, so that a report can add up facts that are alike.
    """

    severity: Severity
    rule: str
    message: str
    count: int = 1


def error(rule: str, message: str) -> Finding:
    return Finding("ERROR", rule, message)


def warning(rule: str, message: str) -> Finding:
    return Finding("WARNING", rule, message)


def fact(rule: str, message: str, count: int = 1) -> Finding:
    return Finding("INFO", rule, message, count)
