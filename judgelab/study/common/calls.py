"""Calls that gave nothing: how many of a panel's, and about whose texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgelab.core.result import Value
from judgelab.core.scores import MISSING
from judgelab.mechanism.texts import judged_pairs
from judgelab.study.common.panels import Panels, ScoredPanel

RECORDED = ("verdict", "conditional")
"""Measurements of ordered pairs whose calls were not counted when they were made (recorded ones):
of a pair of texts without a value it is not known why."""


@dataclass(frozen=True)
class Calls:
    """What became of the calls behind the scores of a panel.

    Attributes:
        asked: all calls.
        unread: answered, but not with any of the replies asked for.
        failed: without an answer.
        unknown: recorded without a value, or left out with the rest of their item.
        one_order: pairs of texts (unordered) with a verdict in one of their two orders.
        dropped: pairs of texts without a score, and choices without a verdict in either order.
        by_agent: [agents] calls without a result in which a text of the agent took part.
    """

    asked: int
    unread: int
    failed: int
    unknown: int
    one_order: int
    dropped: int
    by_agent: NDArray[np.int64]

    @property
    def missing(self) -> int:
        """Calls without a result."""
        return self.unread + self.failed + self.unknown

    @property
    def entries(self) -> dict[str, int]:
        """For a summary or a row of a table."""
        return {
            "calls": self.asked,
            "unread_calls": self.unread,
            "failed_calls": self.failed,
            **({"unknown_calls": self.unknown} if self.unknown else {}),
            "one_order_pairs": self.one_order,
            "dropped_pairs": self.dropped,
        }


def calls_of(scored: ScoredPanel) -> Calls | None:
    """The calls of a panel; None for a mechanism that asks nothing, or one call for each text."""
    data = scored.measured
    there = np.array([[t is not None for t in row] for row in scored.panel.texts], dtype=np.bool_)
    both = there[:, :, None] & there[:, None, :] & ~np.eye(there.shape[1], dtype=np.bool_)
    recorded = [data[name].values for name in RECORDED if name in data]
    if "calls" in data.attrs:
        keys = ("calls", "unread_calls", "failed_calls")
        asked, unread, failed = (int(data.attrs[key]) for key in keys)
        unknown = 0
        by_item = data[MISSING].values if MISSING in data else np.zeros(there.shape, dtype=int)
        by_agent = np.asarray(by_item.sum(axis=0), dtype=np.int64)
    elif recorded:
        without = both & np.isnan(recorded[0])
        asked, unread, failed, unknown = int(both.sum()), 0, 0, int(without.sum())
        by_agent = without.sum(axis=(0, 1)) + without.sum(axis=(0, 2))
    else:
        return None
    one_order, dropped = _pairs(scored, both)
    return Calls(asked, unread, failed, unknown, one_order, dropped, by_agent)


def calls_of_each(panels: Panels) -> dict[str, Calls]:
    """Panel -> its calls, where they are counted."""
    found = {name: calls_of(one) for name, one in panels.items()}
    return {name: calls for name, calls in found.items() if calls is not None}


def call_entries(panels: Panels) -> dict[str, Value]:
    """``<panel>/calls``, ``<panel>/failed_calls``, ... of a summary."""
    found = calls_of_each(panels).items()
    return {f"{name}/{key}": n for name, calls in found for key, n in calls.entries.items()}


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


def _pairs(scored: ScoredPanel, both: NDArray[np.bool_]) -> tuple[int, int]:
    """Unordered pairs of present texts with one order read, and those with nothing."""
    upper = np.triu(both)
    if "verdict" in scored.measured:
        read = ~np.isnan(scored.measured["verdict"].values)
        orders = read.astype(int) + np.swapaxes(read, 1, 2)
        return int((upper & (orders == 1)).sum()), int((upper & (orders == 0)).sum())
    if scored.scores.directed is not None:
        wanted = judged_pairs(scored.panel) & both
        return 0, int((wanted & np.isnan(scored.scores.directed.values)).sum())
    if scored.scores.pair is None:
        return 0, 0
    return 0, int((upper & np.isnan(scored.scores.pair.values)).sum())


def by_agent(panels: Panels) -> Mapping[str, NDArray[np.int64]]:
    """Panel -> [agents] calls without a result; empty where none is known to be about an agent."""
    found = {name: one for name, one in calls_of_each(panels).items() if one.by_agent.any()}
    return {name: calls.by_agent for name, calls in calls_of_each(panels).items() if found}
