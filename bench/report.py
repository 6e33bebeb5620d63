"""Rows of the result and how they are printed."""

from dataclasses import dataclass

HEADER = (
    f"{'case':<22}{'input MB':>9}{'floor s':>9}{'job s':>9}{'ratio':>8}{'bound':>7}{'':>8}{'ns/byte':>9}{'peak MB':>13}"
)
LINEAGE_HEADER = f"{'lineage':<22}{'cook s':>9}{'link s':>9}{'share':>9}{'bound':>8}"
LINEAGE_BOUND = 10.0


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

    @property
    def verdict(self) -> str:
        if self.bound is None and self.peak_bound is None:
            return ""
        slow = self.bound is not None and self.job_cpu > self.bound * self.floor_cpu
        large = self.peak_bound is not None and (self.peak_bytes or 0) > self.peak_bound * 1e6
        return "over" if slow or large else "ok"

    def __str__(self) -> str:
        size = f"{self.input_bytes / 1e6:.1f}" if self.input_bytes else ""
        rate = f"{self.job_cpu / self.input_bytes * 1e9:.2f}" if self.input_bytes else ""
        bound = "" if self.bound is None else f"{self.bound:.1f}"
        peak = f"{self.peak_bytes / 1e6:.0f}" if self.peak_bytes else ""
        if self.peak_bound is not None:
            peak += f" (≤ {self.peak_bound})"
        return (
            f"{self.case:<22}{size:>9}{self.floor_cpu:>9.3f}{self.job_cpu:>9.3f}{self.job_cpu / self.floor_cpu:>8.2f}"
            f"{bound:>7}{self.verdict:>8}{rate:>9}{peak:>13}"
        )


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
