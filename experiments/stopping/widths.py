"""AUC whose interval is to be so narrow: replays in 500 random orders of the items.

The full run's figure is the mean AUC of all items. Beside it stands a fixed sample of the planner's
size for the same width, from the true spread, with the interval over items of one look.

Run: ``python -m experiments.stopping.widths --data DIR [--replays 500]``
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.stopping.orders import LEVEL, RESULTS, replay
from experiments.stopping.panels import Recorded, aucs
from experiments.trust.results import Row, write
from judgelab.stats.intervals.ends import share_ends
from judgelab.stats.sequential.ends import sequence_ends
from judgelab.stats.trust.planner import room_for_width
from judgelab.study.common.stopping import Stop

WIDTHS, SHARE = (0.1, 0.05), (0.0, 1.0)


def rows_of(recorded: Recorded, replays: int) -> list[Row]:
    """One for each width and target."""
    auc, rows = recorded.scores[:, 0], []
    truth, items = float(auc.mean()), len(auc)
    for width in WIDTHS:
        wanted = float(auc.var(ddof=1)) / room_for_width(width / 2)
        sample = min(items, max(3, math.ceil(wanted)))
        for target in ("population", "pool"):
            stop = Stop(width=width, target=target)  # type: ignore[arg-type]
            rng = np.random.default_rng(2)
            drawn = np.array([rng.permutation(auc) for _ in range(replays)]).T
            # every replay is a competitor of its own, asked until its interval is narrow
            asked, open_ = replay(Recorded(recorded.name, drawn, SHARE), stop, np.arange(items))
            low, high = sequence_ends(asked.T, LEVEL, SHARE, stop.of(items, SHARE))
            held = np.mean((low - 1e-6 <= truth) & (truth <= high + 1e-6))
            asked_items = (~np.isnan(asked)).sum(axis=0).mean()
            first, last = share_ends(drawn[:sample].T)
            fixed = np.mean((first <= truth) & (truth <= last))
            reached = 1 - open_.mean()
            rows.append(
                {
                    "data": recorded.name,
                    "items": items,
                    "AUC": truth,
                    "width": width,
                    "sure of": target,
                    "interval holds the full run's AUC": float(held),
                    "width reached": float(reached),
                    "calls saved": 1 - float(asked_items) / items,
                    "planner: saved": 1 - sample / items,
                    "planner: holds": float(fixed),
                }
            )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Replay and write."""
    parser = argparse.ArgumentParser(description="Widths that stop.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--replays", type=int, default=500)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    rows = [row for one in aucs(given.data) for row in rows_of(one, given.replays)]
    write("widths", rows, {"replays": given.replays}, given.out)


if __name__ == "__main__":
    main()
