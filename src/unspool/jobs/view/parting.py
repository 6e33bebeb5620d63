"""Where two prompts part, told by what the cache still served: for what neither a log nor a record shows.

The cache serves a beginning of the prompt. Each request before this one sent a beginning of it too, and its size is
known: so the longest of these that was served whole tells how far the prompts are alike.
"""

from collections.abc import Sequence

from msgspec import Struct

_SLACK = 0.005
_STEP = 256
"""Providers keep whole blocks: up to so much at the end may not be kept."""
_SHORTER = 0.9


class Step(Struct, frozen=True):
    """A request that this one goes on from, however far back."""

    number: int
    """In the graph, from 1."""
    tokens: int
    """Of its prompt."""
    messages: int
    prompted: bool
    """It brought a new prompt."""
    thought: bool
    """Its answer has thinking."""
    written: int = 0
    """Tokens that it wrote to the cache."""
    hour_long: int = 0
    """Those of them that live an hour."""


def served(read: int, path: Sequence[Step]) -> Step | None:
    """The latest request whose whole prompt was served."""
    least = read + max(_STEP, read * _SLACK)
    fitting = [step for step in path if 0 < step.tokens <= least]
    return max(fitting, key=lambda step: (step.tokens, step.number), default=None)


def why(read: int, tokens: int, path: Sequence[Step], prompted: bool, is_log: bool) -> str:
    """In words. `tokens` is the size of the whole prompt, `prompted` whether it brings a new question.

    The path ends in the parent; `is_log`: much of what was sent is not known. What is only likely is told as such.
    """
    parent, last = path[-1], served(read, path)
    unknown = " Neither the tools nor, mostly, the system prompt are known here." if is_log else ""
    if tokens < parent.tokens * _SHORTER:
        return (
            f"The prompt is {parent.tokens - tokens:,} tokens shorter than the one before it: something was taken out"
            f"{_behind(last)}."
        )
    if not read:
        changed = "one of these changed, or a setting, or " if is_log else ""
        return (
            f"Nothing was found, not even the tools and the system prompt, which stand first: {changed}the provider "
            f"dropped it, or served the call from another machine.{unknown}"
        )
    if last is None:
        return (
            f"Only the beginning was found, {_share(read, path[0])}. What follows was dropped, or the call was served "
            f"by another machine.{unknown}"
        )
    turn = _turn(path)
    if prompted and turn is not None and last == turn[0] and any(step.thought for step in turn):
        return (
            f"It was found as far as #{last.number} had sent it, message {last.messages}, where the turn before began: "
            "most likely, what the model thought in that turn is not sent any more with the new prompt."
        )
    if last == parent:
        return "All that was sent before was found; what differs is what the answer added."
    return (
        f"It was found as far as #{last.number} had sent it, message {last.messages}. Both prompts go on alike behind "
        f"that{', as far as is known,' if is_log else ','} and in time: the provider had not kept it yet, dropped it, "
        "or served the call from another machine."
    )


def _turn(path: Sequence[Step]) -> Sequence[Step] | None:
    """From the request that brought the latest prompt on."""
    for at in range(len(path) - 1, -1, -1):
        if path[at].prompted:
            return path[at:]
    return None


def _behind(last: Step | None) -> str:
    return "" if last is None else f", behind message {last.messages}"


def _share(read: int, first: Step) -> str:
    if not first.tokens:
        return "less than the first request sent"
    share = round(100 * read / first.tokens)
    return f"{min(99, share)} % of what #{first.number} sent{': mostly tools and system prompt' if share < 50 else ''}"
