"""Calls that gave nothing: how many of a panel's, and about whose texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.core.result import Value
from judgelab.core.scores import MISSING
from judgelab.mechanism.texts import judged_pairs
from judgelab.stats.intervals.arrays import Mask
from judgelab.study.common.panels import COUNTED, Panels, ScoredPanel

RECORDED = ("verdict", "conditional")
"""Measurements of ordered pairs whose calls were not counted when they were made (recorded ones):
of a pair of texts without a value it is not known why."""


@dataclass(frozen=True)
class Calls:
    """What became of the calls behind the scores of a panel.

    Attributes:
        asked, failed: all calls, and those without an answer.
        unread: answered, but not with any of the replies asked for.
        unknown: recorded without a value, or left out with the rest of their item.
        one_order: pairs of texts (unordered) with a verdict in one of their two orders.
        dropped: pairs of texts without a score, and choices without a verdict in either order.
        by_agent: [agents] calls without a result in which a text of the agent took part.
    """

    asked: int
    failed: int
    unread: int
    unknown: int
    one_order: int
    dropped: int
    by_agent: NDArray[np.int64]

    @property
    def missing(self) -> int:
        """Calls without a result."""
        return self.unread + self.failed + self.unknown


def calls_of(scored: ScoredPanel) -> Calls | None:
    """The calls of a panel; None for a mechanism that asks nothing, or one call for each text."""
    data = scored.measured
    there = np.array([[t is not None for t in row] for row in scored.panel.texts], dtype=np.bool_)
    both = there[:, :, None] & there[:, None, :] & ~np.eye(there.shape[1], dtype=np.bool_)
    recorded = [data[name].values for name in RECORDED if name in data]
    if "calls" in data.attrs:
        asked, failed, unread = (int(data.attrs[key]) for key in COUNTED)
        unknown = 0
        by_item = data[MISSING].values if MISSING in data else np.zeros(there.shape, dtype=int)
        by_agent = np.asarray(by_item.sum(axis=0), dtype=np.int64)
    elif recorded:
        without = both & np.isnan(recorded[0])
        asked, unread, failed, unknown = int(both.sum()), 0, 0, int(without.sum())
        by_agent = without.sum(axis=(0, 1)) + without.sum(axis=(0, 2))
    else:
        return None
    return Calls(asked, failed, unread, unknown, *_pairs(scored, both), by_agent)


def _pairs(scored: ScoredPanel, both: Mask) -> tuple[int, int]:
    """Unordered pairs of present texts with one order read, and those with nothing."""
    scores, upper = scored.scores, np.triu(both)
    if "verdict" in scored.measured:
        read = ~np.isnan(scored.measured["verdict"].values)
        orders = read.astype(int) + np.swapaxes(read, 1, 2)
        return int((upper & (orders == 1)).sum()), int((upper & (orders == 0)).sum())
    if scores.directed is not None:
        wanted = judged_pairs(scored.panel) & both
        return 0, int((wanted & np.isnan(scores.directed.values)).sum())
    return 0, 0 if scores.pair is None else int((upper & np.isnan(scores.pair.values)).sum())


def calls_of_each(panels: Panels) -> dict[str, Calls]:
    """Panel -> its calls, where they are counted."""
    return {name: calls for name, one in panels.items() if (calls := calls_of(one)) is not None}


def call_entries(panels: Panels) -> dict[str, Value]:
    """``<panel>/calls``, ``<panel>/failed_calls``, ... of a summary."""
    made: dict[str, Value] = {}
    for name, calls in calls_of_each(panels).items():
        made |= {
            f"{name}/calls": calls.asked,
            f"{name}/unread_calls": calls.unread,
            f"{name}/failed_calls": calls.failed,
            **({f"{name}/unknown_calls": calls.unknown} if calls.unknown else {}),
            f"{name}/one_order_pairs": calls.one_order,
            f"{name}/dropped_pairs": calls.dropped,
        }
    return made


def missing_calls(panels: Panels) -> Iterator[str]:
    """A sentence for each panel of which calls gave nothing."""
    for name, calls in calls_of_each(panels).items():
        if calls.missing:
            kinds = {"could not be read": calls.unread, "failed": calls.failed}
            kinds["are of items recorded as incomplete, or without a value"] = calls.unknown
            yield (
                f"{calls.missing:,} of {calls.asked:,} calls on the {name} panel gave nothing "
                f"({', '.join(f'{count:,} {what}' for what, count in kinds.items() if count)}): "
                f"{calls.one_order:,} pairs count by one order, {calls.dropped:,} are left out."
            )


def by_agent(panels: Panels) -> Mapping[str, NDArray[np.int64]]:
    """Panel -> [agents] calls without a result; empty where none is known to be about an agent."""
    found = {name: calls.by_agent for name, calls in calls_of_each(panels).items()}
    return found if any(lost.any() for lost in found.values()) else {}
