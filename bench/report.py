"""Rows of the result and how they are printed."""

from dataclasses import dataclass
from typing import TypeAlias

HEADER = (
    f"{'case':<22}{'input MB':>9}{'floor s':>9}{'job s':>9}{'ratio':>8}{'bound':>7}{'':>8}{'ns/byte':>9}{'peak MB':>13}"
)
WALL_HEADER = f"{'wall time':<22}{'input MB':>9}{'floor s':>9}{'job s':>9}{'ratio':>8}{'bound':>7}"
LINEAGE_HEADER = f"{'lineage':<22}{'cook s':>9}{'link s':>9}{'share':>9}{'bound':>8}"
LINEAGE_BOUND = 10.0
LATENCY_HEADER = f"{'latency':<22}{'median ms':>11}{'99 % ms':>9}{'bound':>7}"
FIGURE_HEADER = f"{'figure':<22}{'value':>9}{'bound':>9}"


@dataclass(frozen=True)
class Row:
    """A job against its floor. Without a bound there is no verdict."""

    case: str
    floor_cpu: float
    job_cpu: float
    input_bytes: int | None = None
    peak_bytes: int | None = None
    bound: float | None = None
    peak_bound: int | None = None
    most: float | None = None
    """CPU seconds that are allowed, whatever the floor."""

    @property
    def verdict(self) -> str:
        if self.bound is None and self.peak_bound is None and self.most is None:
            return ""
        slow = self.bound is not None and self.job_cpu > self.bound * self.floor_cpu
        slow = slow or (self.most is not None and self.job_cpu > self.most)
        large = self.peak_bound is not None and (self.peak_bytes or 0) > self.peak_bound * 1e6
        return "over" if slow or large else "ok"

    def __str__(self) -> str:
        size = f"{self.input_bytes / 1e6:.1f}" if self.input_bytes else ""
        rate = f"{self.job_cpu / self.input_bytes * 1e9:.2f}" if self.input_bytes else ""
        bound = "" if self.bound is None else f"{self.bound:.1f}"
        bound = bound if self.most is None else f"{self.most:.1f} s"
        peak = f"{self.peak_bytes / 1e6:.0f}" if self.peak_bytes else ""
        if self.peak_bound is not None:
            peak += f" (≤ {self.peak_bound})"
        return (
            f"{self.case:<22}{size:>9}{self.floor_cpu:>9.3f}{self.job_cpu:>9.3f}{self.job_cpu / self.floor_cpu:>8.2f}"
            f"{bound:>7}{self.verdict:>8}{rate:>9}{peak:>13}"
        )


@dataclass(frozen=True)
class WallRow:
    """A job in several processes against its floor in one: how long one waits."""

    case: str
    floor_wall: float
    job_wall: float
    input_bytes: int
    bound: float | None = None

    @property
    def verdict(self) -> str:
        if self.bound is None:
            return ""
        return "over" if self.job_wall > self.bound * self.floor_wall else "ok"

    def __str__(self) -> str:
        size, bound = f"{self.input_bytes / 1e6:.1f}", "" if self.bound is None else f"{self.bound:.1f}"
        times = f"{self.floor_wall:>9.3f}{self.job_wall:>9.3f}{self.job_wall / self.floor_wall:>8.2f}"
        return f"{self.case:<22}{size:>9}{times}{bound:>7}{self.verdict:>8}"


@dataclass(frozen=True)
class LineageRow:
    """The part of cooking that links requests."""

    case: str
    cook_cpu: float
    link_cpu: float

    @property
    def share(self) -> float:
        """Percent."""
        return 100 * self.link_cpu / self.cook_cpu

    @property
    def verdict(self) -> str:
        return "over" if self.share > LINEAGE_BOUND else "ok"

    def __str__(self) -> str:
        share, bound = f"{self.share:.1f} %", f"{LINEAGE_BOUND:.0f} %"
        return f"{self.case:<22}{self.cook_cpu:>9.3f}{self.link_cpu:>9.3f}{share:>9}{bound:>8}{self.verdict:>8}"


@dataclass(frozen=True)
class LatencyRow:
    """How long one waits for what happened to be shown."""

    case: str
    median_ms: float
    late_ms: float
    """At the 99th percentile."""
    bound: float

    @property
    def verdict(self) -> str:
        return "over" if self.late_ms > self.bound else "ok"

    def __str__(self) -> str:
        return f"{self.case:<22}{self.median_ms:>11.2f}{self.late_ms:>9.2f}{self.bound:>7.0f}{self.verdict:>8}"


@dataclass(frozen=True)
class FigureRow:
    """One number by itself, such as milliseconds of CPU after the start of the interpreter."""

    case: str
    value: float
    unit: str
    bound: float | None = None

    @property
    def verdict(self) -> str:
        if self.bound is None:
            return ""
        return "over" if self.value > self.bound else "ok"

    def __str__(self) -> str:
        bound = "" if self.bound is None else f"{self.bound:g}"
        return f"{self.case:<22}{self.value:>9.3g}{bound:>9} {self.unit:<17}{self.verdict}".rstrip()


AnyRow: TypeAlias = Row | WallRow | LineageRow | LatencyRow | FigureRow
