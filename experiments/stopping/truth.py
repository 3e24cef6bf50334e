"""Values of known mean, looked at after every ten of 400: how often is the mean ever outside?

Beside the sequences stand the intervals of one look, looked at as often.

Run: ``python -m experiments.stopping.truth [--rows 2000]``
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from experiments.stopping.orders import RESULTS
from experiments.trust.results import Row, write
from judgelab.stats.intervals.arrays import Floats
from judgelab.stats.intervals.ends import mean_ends
from judgelab.stats.sequential.ends import Bounds, sequence_ends

ITEMS, EVERY = 400, 10
Law = tuple[Callable[[np.random.Generator, tuple[int, int]], Floats], float, Bounds | None]
LAWS: dict[str, Law] = {
    "0 or 1, one in two": (lambda g, s: (g.random(s) < 0.5) * 1.0, 0.5, (0, 1)),
    "0 or 1, one in twenty": (lambda g, s: (g.random(s) < 0.05) * 1.0, 0.05, (0, 1)),
    "shares about .8": (lambda g, s: g.beta(8, 2, s), 0.8, (0, 1)),
    "half credits": (lambda g, s: g.choice([0, 0.5, 1], s, p=[0.1, 0.3, 0.6]), 0.75, (0, 1)),
    "no bounds: normal": (lambda g, s: g.normal(size=s), 0.0, None),
    "no bounds: t, 3 degrees": (lambda g, s: g.standard_t(3, size=s), 0.0, None),
    "no bounds: skewness 1 (gamma)": (lambda g, s: g.gamma(4, size=s), 4.0, None),
    "no bounds: skewness 2 (exponential)": (lambda g, s: g.exponential(size=s), 1.0, None),
    "no bounds: skewness 6 (lognormal)": (lambda g, s: g.lognormal(size=s), np.exp(0.5), None),
}


def row_of(law: str, rows: int) -> Row:
    """Of one law."""
    draw, mean, bounds = LAWS[law]
    x = draw(np.random.default_rng(3), (rows, ITEMS))
    low, high = sequence_ends(x, 0.95, bounds)
    ever = np.zeros(rows, np.bool_)
    for n in range(EVERY, ITEMS + 1, EVERY):
        one = mean_ends(x[:, :n])
        ever |= (one[0] > mean) | (one[1] < mean)
    sizes = {}
    for n in (50, 100, 400):
        first, last = sequence_ends(x[:500, :n], 0.95, bounds)
        one = mean_ends(x[:500, :n])
        sizes[f"width in widths of one look, {n} items"] = float(
            np.nanmean(last - first) / np.nanmean(one[1] - one[0])
        )
    outside = float(np.mean((low > mean) | (high < mean)))
    return {
        "values": law,
        "ever outside": outside,
        "one look, repeated": float(ever.mean()),
    } | sizes


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw and write."""
    parser = argparse.ArgumentParser(description="Sequences on known truth.")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    write("truth", [row_of(law, given.rows) for law in LAWS], {"rows": given.rows}, given.out)


if __name__ == "__main__":
    main()
