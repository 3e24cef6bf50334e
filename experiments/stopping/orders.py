"""Rankings that stop: replays of recorded scores in 500 random orders of their items.

What the full run says are the means of all items. A replay says the same where no order that it
calls sure is the other way round in the full run; with ``top=1``, where its best is that of the
full run (or, where ties are settled, less than a tenth of the scale below it). Beside it stands a
fixed sample as a planner would draw it: as many items as show a difference of a tenth of the scale
with probability .8 to a t test, from the true spread.

Run: ``python -m experiments.stopping.orders --data DIR [--replays 500]``
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments.stopping.panels import Recorded, orders
from experiments.trust.results import Row, write
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.trust.planner import room_for_difference
from judgelab.study.common.stopping import Stop

RESULTS = Path(__file__).parent / "results"
LEVEL = 0.95
DIFFERENCE = 0.1
"""That the planner's sample is to show, as a share of the scale."""
NEAR = 0.1
"""Share of the scale below which a difference does not matter, where ties count as settled."""


def stops(scale: float) -> list[tuple[str, Stop]]:
    """Question -> how to stop."""
    asked: dict[str, dict[str, object]] = {
        "whole order": {},
        "whole order, ties below .1": {"width": NEAR * scale},
        "who is best": {"top": 1},
        "who is best, ties below .1": {"top": 1, "width": NEAR * scale},
    }
    return [
        (question, Stop(order=0.95, target=target, **more))  # type: ignore[arg-type]
        for question, more in asked.items()
        for target in ("population", "pool")
    ]


def replay(recorded: Recorded, stop: Stop, order: Floats) -> tuple[Floats, Floats]:
    """(scores [items, competitors] with NaN where not asked, who was in at the end)."""
    scores, n = recorded.scores[order], 0
    asked = np.full(scores.shape, np.nan)
    who = np.ones(scores.shape[1], np.bool_)
    while n < len(scores) and who.any():
        more = slice(n, n + stop.batch)
        asked[more, who] = scores[more, who]
        n = min(n + stop.batch, len(scores))
        who = stop.needed(asked[:n], LEVEL, recorded.bounds, len(scores))
    return asked[:n], who


def said(recorded: Recorded, stop: Stop, asked: Floats) -> tuple[bool, bool, float]:
    """(same as the full run, a sure order is wrong, share of pairs that are open)."""
    full = np.nanmean(recorded.scores, axis=0)
    found = stop.standing(asked, LEVEL, recorded.bounds, len(recorded.scores))
    wrong = bool((found.above & (full[:, None] < full[None] - 1e-12)).any())
    pairs = len(full) * (len(full) - 1)
    if stop.top is None:
        return not wrong, wrong, found.open.sum() / pairs
    left = found.rank_low == 1
    mean = np.where(left, np.nanmean(asked, axis=0), -np.inf)
    below = stop.width or 0.0
    return bool(full[mean.argmax()] >= full.max() - below - 1e-12), wrong, float(left.sum() > 1)


def planned(recorded: Recorded) -> int:
    """Items of the planner's sample: of the median variance of a difference of two."""
    x, scale = recorded.scores, recorded.bounds[1] - recorded.bounds[0]
    first, second = np.triu_indices(x.shape[1], 1)
    variance = float(np.median(np.nanvar(x[:, first] - x[:, second], axis=0, ddof=1))) / scale**2
    return min(len(x), math.ceil(variance / room_for_difference(DIFFERENCE)))


def of_sample(recorded: Recorded, n: int, order: Floats, top: int | None) -> bool:
    """Whether means of the first n items order all, or the best, as the full run does."""
    full, part = np.nanmean(recorded.scores, axis=0), np.nanmean(recorded.scores[order[:n]], axis=0)
    if top is not None:
        return bool(full[part.argmax()] >= full.max() - 1e-12)
    above = part[:, None] > part[None]
    return not bool((above & (full[:, None] < full[None] - 1e-12)).any())


def rows_of(recorded: Recorded, replays: int) -> list[Row]:
    """One for each way to stop."""
    items, competitors = recorded.scores.shape
    sample, rows = planned(recorded), []
    for question, stop in stops(recorded.bounds[1] - recorded.bounds[0]):
        rng = np.random.default_rng(1)
        made = []
        for _ in range(replays):
            order = rng.permutation(items)
            asked, _ = replay(recorded, stop, order)
            calls = (~np.isnan(asked)).sum() / (~np.isnan(recorded.scores)).sum()
            fixed = of_sample(recorded, sample, order, stop.top)
            made.append((*said(recorded, stop, asked), calls, fixed))
        same, wrong, left, calls, fixed = np.mean(made, axis=0)
        rows.append(
            {
                "data": recorded.name,
                "items": items,
                "compared": competitors,
                "question": question,
                "sure of": stop.target,
                "same as the full run": float(same),
                "a sure order was wrong": float(wrong),
                "left open": float(left),
                "calls saved": 1 - float(calls),
                "planner: saved": 1 - sample / items,
                "planner: same": float(fixed),
            }
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Replay and write."""
    parser = argparse.ArgumentParser(description="Rankings that stop.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--replays", type=int, default=500)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    rows = []
    for recorded in orders(given.data):
        rows += rows_of(recorded, given.replays)
        write("orders", rows, {"replays": given.replays}, given.out)


if __name__ == "__main__":
    main()
