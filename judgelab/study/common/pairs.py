"""Pairs of texts of which a verdict or a score is missing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judgelab.core.result import Value
from judgelab.mechanism.texts import judged_pairs
from judgelab.study.common.panels import Panels, ScoredPanel


def _lacking(scored: ScoredPanel) -> tuple[int, int] | None:
    """Pairs of texts with a verdict in one of their two orders, and pairs with nothing.

    None for a mechanism that holds no text against another.
    """
    if not any("peer" in values.dims for values in scored.measured.data_vars.values()):
        return None
    there = np.array([[t is not None for t in row] for row in scored.panel.texts], dtype=np.bool_)
    both = there[:, :, None] & there[:, None, :] & ~np.eye(there.shape[1], dtype=np.bool_)
    scores, upper = scored.scores, np.triu(both)
    if "verdict" in scored.measured:
        read = ~np.isnan(scored.measured["verdict"].values)
        orders = read.astype(int) + np.swapaxes(read, 1, 2)
        return int((upper & (orders == 1)).sum()), int((upper & (orders == 0)).sum())
    if scores.directed is not None:
        wanted = judged_pairs(scored.panel) & both
        return 0, int((wanted & np.isnan(scores.directed.values)).sum())
    return 0, 0 if scores.pair is None else int((upper & np.isnan(scores.pair.values)).sum())


def pair_entries(panels: Panels) -> dict[str, Value]:
    """``<panel>/one_order_pairs`` and ``<panel>/dropped_pairs`` of a summary."""
    return {
        f"{name}/{key}": count
        for name, one in panels.items()
        if (lacking := _lacking(one)) is not None
        for key, count in zip(("one_order_pairs", "dropped_pairs"), lacking, strict=True)
    }


def missing_pairs(panels: Panels) -> Iterator[str]:
    """A sentence for each panel of which pairs lack something."""
    for name, one in panels.items():
        one_order, dropped = _lacking(one) or (0, 0)
        if one_order or dropped:
            yield (
                f"On the {name} panel {one_order:,} pairs of texts count by one order and "
                f"{dropped:,} are left out, as verdicts or scores of them are missing."
            )
