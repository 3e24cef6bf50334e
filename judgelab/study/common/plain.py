"""Shares in words that somebody who knows no statistics can repeat."""

from __future__ import annotations

import math
from collections.abc import Sequence

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
    return "0" if shown == "-0" else shown


def counted(n: int, thing: str = "item") -> str:
    """``1 item``, ``30 items``."""
    return f"{n:,} {thing}{'' if n == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def some(names: Sequence[str], most: int = 4) -> str:
    """The first names, and how many more there are."""
    if len(names) <= most + 1:
        return listed(names)
    return f"{', '.join(names[:most])} and {len(names) - most} more"
