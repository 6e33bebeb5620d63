"""Amounts of money for people: the one place that formats US dollars."""


def dollars(usd: float | None, digits: int = 2, complete: bool = True, estimated: bool = False) -> str:
    """Return an amount such as `$1.20`, `~$1.20`, `≥ $1.20` or `<$0.01`; `unknown` without one.

    `~` marks an amount that holds an agent's own estimate. `≥` marks one that leaves out calls without a price.
    """
    if usd is None:
        return "unknown"
    least, amount = 10.0**-digits, f"${usd:,.{digits}f}"
    if 0 < usd < least / 2:  # of an incomplete sum only the lower bound is true
        amount = f"<${least:.{digits}f}" if complete else "$0"
    return f"{'' if complete else '≥ '}{'~' if estimated else ''}{amount}"
