"""Shares in words that somebody who knows no statistics can repeat."""

from __future__ import annotations

import math

from judgelab.stats.intervals.estimate import Estimate


def times(share: float) -> str:
    """``93 times in 100``."""
    return f"{hundredth(share)} times in 100"


def between(found: Estimate) -> str:
    """``93 times in 100 (91 to 95)``; without an interval the first alone."""
    if not math.isfinite(found.low):
        return times(found.value)
    return f"{times(found.value)} ({hundredth(found.low)} to {hundredth(found.high)})"


def hundredth(share: float) -> str:
    """A share in hundredths; never ``-0``."""
    if share != share:
        return "an unknown number of"
    shown = f"{100 * share:.0f}"
    if shown not in ("0", "-0") or abs(share) < 1e-9:
        return "0" if shown == "-0" else shown
    return f"{100 * share:.1f}" if abs(share) >= 5e-4 else "0"


def counted(n: int, thing: str = "item") -> str:
    """``1 item``, ``30 items``."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"
