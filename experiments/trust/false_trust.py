"""How often a test calls a judge better than a control that it only equals.

Ten judges of gain exactly 0, labels that come one by one, and a test that may be looked at once or
after every ten labels: the share of simulated panels in which any judge passes. The betting p of
``trust`` is computed here a second time, step by step as the paper has it (Waudby-Smith and Ramdas
2010.09686), so that the library's is checked by code that shares nothing with it.

Run: ``python -m experiments.trust.false_trust [--panels 4000]``
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from experiments.trust.results import Row, write

Floats = NDArray[np.float64]
Tested = Callable[[Floats], Floats]
"""From gains [panels, judges, labels] to p values [panels, judges, labels] after every label."""

JUDGES, LABELS, EVERY, FIRST, ALPHA = 10, (30, 50, 100, 200), 10, 30, 0.05


def zero_one(rng: np.random.Generator, panels: int, labels: int) -> Floats:
    """Judge and control are each right half the time; all judges face the one control."""
    right = rng.integers(0, 2, (panels, JUDGES + 1, labels)).astype(float)
    return np.asarray(right[:, 1:] - right[:, :1])


def half_credits(rng: np.random.Generator, panels: int, labels: int) -> Floats:
    """Half a credit more on .4 of the items, one credit less on .2: mean 0, median 0 or above."""
    u = rng.random((panels, JUDGES, labels))
    return np.where(u < 0.4, 0.5, np.where(u < 0.6, -1.0, 0.0))


def rare_losses(rng: np.random.Generator, panels: int, labels: int) -> Floats:
    """A tenth of a credit more on 10 items of 11, one credit less on the other: mean 0."""
    return np.where(rng.random((panels, JUDGES, labels)) < 1 / 11, -1.0, 0.1)


def two_judges_in_one(rng: np.random.Generator, panels: int, labels: int) -> Floats:
    """All judges say the same."""
    one = rng.integers(0, 2, (panels, 1, labels)) - 0.5
    return np.broadcast_to(one, (panels, JUDGES, labels)).copy()


LAWS: Mapping[str, Callable[[np.random.Generator, int, int], Floats]] = {
    "0/1 credits": zero_one,
    "half credits": half_credits,
    "rare losses": rare_losses,
    "copies of one judge": two_judges_in_one,
}


def betting_p(gains: Floats) -> Floats:
    """p after every label [..., labels]: one over the largest wealth so far, at most 1.

    The bet on label t is mean / mean square of the gains before it, with one pseudo-gain 0 in the
    mean and one pseudo-value .25 in the mean square, cut to [0, .75].
    """
    wealth = np.ones(gains.shape[:-1])
    most, total, squares = wealth.copy(), np.zeros_like(wealth), np.full_like(wealth, 0.25)
    made = np.empty(gains.shape)
    for t in range(gains.shape[-1]):
        g = gains[..., t]
        bet = np.clip((total / (t + 1)) / (squares / (t + 1)), 0.0, 0.75)
        wealth = wealth * (1 + bet * g)
        total, squares = total + g, squares + g * g
        most = np.maximum(most, wealth)
        made[..., t] = 1 / most
    return made


def t_p(gains: Floats) -> Floats:
    """One-sided p of Student's t after every label; 1 without spread."""
    n = np.arange(1, gains.shape[-1] + 1)
    mean = gains.cumsum(axis=-1) / n
    variance = np.maximum((gains**2).cumsum(axis=-1) - n * mean**2, 0) / np.maximum(n - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(variance > 0, mean / np.sqrt(variance / n), -np.inf)
    return np.where(n > 1, 1 - stdtr(np.maximum(n - 1, 1), t), 1.0)


def reordered_p(gains: Floats) -> Floats:
    """The betting p where nobody knows which label came first: each look has an order of its own.

    Labels are in the order of a hash of their names, so that later ones come between earlier ones.
    """
    order = np.random.default_rng(0).permutation(gains.shape[-1])
    made = np.ones(gains.shape)
    for labels in range(FIRST, gains.shape[-1] + 1, EVERY):
        made[..., labels - 1] = betting_p(gains[..., order[order < labels]])[..., -1]
    return made


def point_p(gains: Floats) -> Floats:
    """0 where the mean is above 0, else 1: no test at all."""
    return np.where(gains.cumsum(axis=-1) > 0, 0.0, 1.0)


def holm_any(p: Floats, alpha: float = ALPHA) -> NDArray[np.bool_]:
    """[...] whether Holm passes any of [..., judges]: the smallest is at most alpha / judges."""
    return np.asarray(p.min(axis=-1) <= alpha / p.shape[-1])


@dataclass(frozen=True)
class Rule:
    """A way to call judges better, and when one looks."""

    name: str
    test: Tested
    holm: bool
    looks: bool


RULES = (
    Rule("point estimate above 0", point_p, holm=False, looks=False),
    Rule("t for each judge", t_p, holm=False, looks=False),
    Rule("t, Holm", t_p, holm=True, looks=False),
    Rule("t, Holm, a look every 10", t_p, holm=True, looks=True),
    Rule("betting, Holm, a look every 10", betting_p, holm=True, looks=True),
    Rule("betting, Holm, a look every 10, turns unknown", reordered_p, holm=True, looks=True),
)


def passed(rule: Rule, p: Floats, labels: int) -> NDArray[np.bool_]:
    """[panels] in which some judge passes with so many labels; p [panels, judges, labels]."""
    ends = np.arange(FIRST, labels + 1, EVERY) if rule.looks else np.array([labels])
    at = np.moveaxis(p[..., ends - 1], -1, 1)  # panels, looks, judges
    found = holm_any(at) if rule.holm else np.asarray((at <= ALPHA).any(axis=-1))
    return np.asarray(found.any(axis=-1))


def shares(panels: int, seed: int = 1) -> list[Row]:
    """A row for each law, number of labels and rule."""
    rows: list[Row] = []
    for law, draw in LAWS.items():
        gains = draw(np.random.default_rng(seed), panels, max(LABELS))
        for rule in RULES:
            p = rule.test(gains)
            for labels in LABELS:
                share = float(passed(rule, p, labels).mean())
                rows.append({"law": law, "labels": labels, "rule": rule.name, "trusted": share})
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Simulate and write."""
    parser = argparse.ArgumentParser(description="False trust, by rule.")
    parser.add_argument("--panels", type=int, default=4000)
    parser.add_argument("--out", type=Path, default=None)
    given = parser.parse_args(arguments)
    write("false_trust", shares(given.panels), {"panels": given.panels}, given.out)


if __name__ == "__main__":
    main()
