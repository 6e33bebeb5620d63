"""What the user calls the run."""

from msgspec import Struct


class Banner(Struct, frozen=True, gc=False):
    title: str | None = None
    description: str | None = None
    url: str | None = None
