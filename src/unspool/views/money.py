"""Amounts of money for people: the one place that formats US dollars."""

_MAX_DIGITS = 9


def dollars(usd: float | None, digits: int = 2, complete: bool = True, estimated: bool = False) -> str:
    """Return an amount such as `$1.20`, `~$1.20`, `≥ $1.20` or `<$0.01`; `unknown` without one.

    `~` marks an amount that holds an agent's own estimate. `≥` marks one that leaves out calls without a price.
    """
    if usd is None:
        return "unknown"
    while not complete and 0 < usd < _half(digits) and digits < _MAX_DIGITS:
        digits += 1  # a lower bound cannot be written as "less than"
    amount = f"<${10.0**-digits:.{digits}f}" if 0 < usd < _half(digits) else f"${usd:,.{digits}f}"
    return f"{'' if complete else '≥ '}{'~' if estimated else ''}{amount}"


def _half(digits: int) -> float:
    """Return half of the smallest amount that has so many decimal digits: what is less would be written as 0."""
    return 0.5 * 10.0**-digits
