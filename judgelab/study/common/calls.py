"""Calls that gave nothing: how many of a panel's, and about whose texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
LOST = {
    "unread_calls": "could not be read",
    "failed_calls": "failed",
    "unknown_calls": "are of items recorded as incomplete, or without a value",
}


def calls_of(scored: ScoredPanel) -> tuple[dict[str, int], NDArray[np.int64]] | None:
    """Counts of a panel, and [agents] the calls about a text of the agent that gave nothing.

    ``unknown_calls`` were recorded without a value, or left out with the rest of their item;
    ``one_order_pairs`` have a verdict in one of their two orders, ``dropped_pairs`` no score. None
    for a mechanism that asks nothing, or one call for each text.
    """
    data = scored.measured
    there = np.array([[t is not None for t in row] for row in scored.panel.texts], dtype=np.bool_)
    both = there[:, :, None] & there[:, None, :] & ~np.eye(there.shape[1], dtype=np.bool_)
    recorded = [data[name].values for name in RECORDED if name in data]
    if "calls" in data.attrs:
        found = {key: int(data.attrs[key]) for key in COUNTED}
        by_item = data[MISSING].values if MISSING in data else np.zeros(there.shape, dtype=int)
        by_agent = np.asarray(by_item.sum(axis=0), dtype=np.int64)
    elif recorded:
        without = both & np.isnan(recorded[0])
        found = dict.fromkeys(COUNTED, 0) | {"calls": int(both.sum())}
        if lost := int(without.sum()):
            found["unknown_calls"] = lost
        by_agent = without.sum(axis=(0, 1)) + without.sum(axis=(0, 2))
    else:
        return None
    one_order, dropped = _pairs(scored, both)
    return {**found, "one_order_pairs": one_order, "dropped_pairs": dropped}, by_agent


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


def call_entries(panels: Panels) -> dict[str, Value]:
    """``<panel>/calls``, ``<panel>/failed_calls``, ... of a summary."""
    return {
        f"{name}/{key}": count
        for name, one in panels.items()
        if (calls := calls_of(one)) is not None
        for key, count in calls[0].items()
    }


def missing_calls(panels: Panels) -> Iterator[str]:
    """A sentence for each panel of which calls gave nothing."""
    for name, one in panels.items():
        if (calls := calls_of(one)) is None:
            continue
        counts = calls[0]
        lost = {what: counts[key] for key, what in LOST.items() if counts.get(key)}
        if lost:
            yield (
                f"{sum(lost.values()):,} of {counts['calls']:,} calls on the {name} panel gave "
                f"nothing ({', '.join(f'{count:,} {what}' for what, count in lost.items())}): "
                f"{counts['one_order_pairs']:,} pairs count by one order, "
                f"{counts['dropped_pairs']:,} are left out."
            )


def by_agent(panels: Panels) -> Mapping[str, NDArray[np.int64]]:
    """Panel -> [agents] calls without a result; empty where none is known to be about an agent."""
    known = {name: calls_of(one) for name, one in panels.items()}
    found = {name: calls[1] for name, calls in known.items() if calls is not None}
    return found if any(lost.any() for lost in found.values()) else {}
